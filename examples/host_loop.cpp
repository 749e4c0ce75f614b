// A program with an event loop of its own: it watches one descriptor of the VM among its others, and lets the
// VM run whenever that is readable. Another OS thread hands work in.
#include <rouse/vm.hpp>

#include <chrono>
#include <cstdio>
#include <poll.h>
#include <thread>

int main() {
  using namespace std::chrono_literals;

  rouse::vm vm;
  int left = 3; // only this OS thread touches it: the jobs run in run_ready()

  std::thread outside([remote = vm.make_remote(), &left] {
    for (int job = 1; job <= 3; ++job)
      remote.post([job, &left] {
        rouse::this_thread::sleep_for(job * 5ms); // blocks this job, and not the loop
        std::printf("job %d has slept\n", job);
        --left;
      });
  });

  pollfd watched[] = {{vm.event_descriptor(), POLLIN, 0}}; // and whatever else the program waits for
  while (left > 0) {
    if (poll(watched, std::size(watched), -1) < 0) continue; // a signal
    if (watched[0].revents != 0) vm.run_ready();
  }
  outside.join();
  std::puts("the loop ends");
}
