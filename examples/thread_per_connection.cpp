// An echo server with a thread for each connection, written the simple way: read, write, repeat. Stopping it
// is closing its streams. The connections are socket pairs, since this version has no listeners.
#include <rouse/stream.hpp>
#include <rouse/vm.hpp>

#include <cstdio>
#include <string>
#include <vector>

namespace {

// Serves one connection and says why it ended.
std::string serve(rouse::stream connection) {
  char buffer[4096];
  try {
    while (std::size_t size = connection.read_some(buffer)) connection.write_all({buffer, size});
    return "the client has gone";
  } catch (const rouse::stream_closed& error) {
    return error.what();
  }
}

class server {
 public:
  // Starts a thread for a new connection. \returns the client's end
  rouse::stream connect() {
    auto [ours, theirs] = rouse::socketpair();
    connections_.push_back({ours, rouse::spawn(serve, ours)});
    return theirs;
  }

  // Wakes every thread that is blocked, and waits for all of them.
  void stop() {
    for (connection& c : connections_) c.stream.close();
    for (connection& c : connections_) std::printf("connection ended: %s\n", c.thread.get().c_str());
  }

 private:
  struct connection {
    rouse::stream stream;
    rouse::task<std::string> thread;
  };
  std::vector<connection> connections_;
};

std::string ask(rouse::stream& s, const std::string& question) {
  s.write_all(question);
  std::string answer(question.size(), ' ');
  s.read_exactly(answer);
  return answer;
}

} // namespace

int main() {
  rouse::vm vm;
  vm.run([] {
    server echo;
    rouse::stream anna = echo.connect();
    rouse::stream bert = echo.connect();
    std::printf("anna hears: %s\n", ask(anna, "hello").c_str());
    std::printf("bert hears: %s\n", ask(bert, "good evening").c_str());

    anna.close();
    rouse::this_thread::yield(); // her server thread sees the end of the stream, and ends
    echo.stop();                 // bert's is blocked in a read

    char byte;
    const bool ended = bert.read_some({&byte, 1}) == 0;
    std::puts(ended ? "bert sees the end of the stream" : "bert hears something");
  });
}
