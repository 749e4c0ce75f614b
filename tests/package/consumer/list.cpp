// There are programs that include list.c, so it has to come along.
#include <ccan/list/list.c>
#include <ccan/list/list.h>

namespace {

struct job {
  int number;
  list_node link;
};

} // namespace

int main() {
  LIST_HEAD(jobs);
  job first{1, {}};
  job second{2, {}};
  list_add_tail(&jobs, &first.link);
  list_add_tail(&jobs, &second.link);

  int seen = 0;
  job* entry = nullptr;
  list_for_each(&jobs, entry, link) seen = seen * 10 + entry->number;
  return seen == 12 ? 0 : 1;
}
