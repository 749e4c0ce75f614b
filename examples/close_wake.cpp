// Two threads are blocked on one pipe, and a third closes it.
#include <rouse/stream.hpp>
#include <rouse/vm.hpp>

#include <cstdio>

int main() {
  rouse::vm().run([] {
    auto [reader, writer] = rouse::pipe();
    auto read = [stream = reader](int number) mutable {
      try {
        char byte;
        stream.read_exactly({&byte, 1}); // nothing is ever written
      } catch (const rouse::stream_closed& error) {
        std::printf("reader %d: %s\n", number, error.what());
      }
    };
    rouse::spawn(read, 1);
    rouse::spawn(read, 2);
    rouse::this_thread::yield(); // both run until they block
    reader.close();              // wakes both, and waits until both have let go
    std::puts("closed");
  });
}
