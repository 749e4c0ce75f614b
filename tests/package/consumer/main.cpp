#include <rouse/stream.hpp>
#include <rouse/thread.hpp>
#include <rouse/vm.hpp>

int main() {
  rouse::vm vm;
  const int result = vm.run([] {
    auto thread = rouse::spawn([] { return 42; });
    return thread.get();
  });
  return result == 42 ? 0 : 1;
}
