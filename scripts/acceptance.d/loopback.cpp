// What the kernel's loopback takes: the floor under three parties that share one machine.
// Usage: loopback
// Prints a line of JSON: microseconds from one process to another (half of a ping-pong of 100 bytes, the
// median of 20,000), both pinned to one core, to a core each, and not pinned; and nanoseconds of processor
// time, of both sides together, that a byte takes in writes and reads of 128 KiB, the pieces of
// net/link/channel.cpp.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

namespace {

constexpr std::size_t kPiece = std::size_t{1} << 17;
constexpr std::size_t kMessage = 100;
constexpr int kPieces = 8192;
constexpr int kTurns = 20000;

[[noreturn]] void Fail(const char* what) {
  std::perror(what);
  std::exit(1);
}

void Pin(int core) {
  if (core < 0) return;
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(core, &set);
  if (sched_setaffinity(0, sizeof set, &set) != 0) Fail("loopback: sched_setaffinity");
}

/// Both ends of a connection over loopback.
struct Connection {
  int here = -1;
  int there = -1;
};

Connection Connect() {
  const int listener = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* any = reinterpret_cast<sockaddr*>(&address);
  if (bind(listener, any, size) != 0 || listen(listener, 1) != 0 || getsockname(listener, any, &size) != 0)
    Fail("loopback: listen");
  Connection connection;
  connection.here = socket(AF_INET, SOCK_STREAM, 0);
  if (connect(connection.here, any, size) != 0) Fail("loopback: connect");
  connection.there = accept(listener, nullptr, nullptr);
  close(listener);
  const int on = 1;
  for (const int end : {connection.here, connection.there})
    setsockopt(end, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  return connection;
}

void WriteAll(int socket, const char* data, std::size_t size) {
  while (size > 0) {
    const ssize_t count = write(socket, data, size);
    if (count <= 0) Fail("loopback: write");
    data += count;
    size -= static_cast<std::size_t>(count);
  }
}

void ReadAll(int socket, char* data, std::size_t size) {
  while (size > 0) {
    const ssize_t count = read(socket, data, size);
    if (count <= 0) Fail("loopback: read");
    data += count;
    size -= static_cast<std::size_t>(count);
  }
}

/// Runs `child` in a process of its own and `parent` in this one.
template <typename Parent, typename Child>
void InTwo(Parent parent, Child child) {
  const pid_t process = fork();
  if (process < 0) Fail("loopback: fork");
  if (process == 0) {
    child();
    _exit(0);
  }
  parent();
  waitpid(process, nullptr, 0);
}

/// Microseconds one way.
double HandOver(int parents_core, int childs_core) {
  const Connection connection = Connect();
  std::vector<char> message(kMessage);
  std::vector<double> taken;
  InTwo(
      [&] {
        Pin(parents_core);
        for (int turn = 0; turn < kTurns; ++turn) {
          const auto begin = std::chrono::steady_clock::now();
          WriteAll(connection.here, message.data(), kMessage);
          ReadAll(connection.here, message.data(), kMessage);
          taken.push_back(
              std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - begin).count());
        }
      },
      [&] {
        Pin(childs_core);
        for (int turn = 0; turn < kTurns; ++turn) {
          ReadAll(connection.there, message.data(), kMessage);
          WriteAll(connection.there, message.data(), kMessage);
        }
      });
  std::nth_element(taken.begin(), taken.begin() + kTurns / 2, taken.end());
  return taken[kTurns / 2] / 2;
}

double ProcessorSeconds(int who) {
  rusage usage{};
  getrusage(who, &usage);
  return static_cast<double>(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
         1e-6 * static_cast<double>(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

/// Nanoseconds of processor time a byte, at both sides together.
double OfAByte() {
  const Connection connection = Connect();
  std::vector<char> piece(kPiece);
  const double before = ProcessorSeconds(RUSAGE_SELF) + ProcessorSeconds(RUSAGE_CHILDREN);
  InTwo(
      [&] {
        for (int k = 0; k < kPieces; ++k) WriteAll(connection.here, piece.data(), kPiece);
      },
      [&] {
        for (int k = 0; k < kPieces; ++k) ReadAll(connection.there, piece.data(), kPiece);
      });
  const double after = ProcessorSeconds(RUSAGE_SELF) + ProcessorSeconds(RUSAGE_CHILDREN);
  return 1e9 * (after - before) / (static_cast<double>(kPiece) * kPieces);
}

}  // namespace

int main() {
  const double one_core = HandOver(0, 0);
  const double two_cores = HandOver(0, 1);
  const double free = HandOver(-1, -1);
  std::printf("{\"one_core_us\": %.2f, \"two_cores_us\": %.2f, \"free_us\": %.2f, \"ns_a_byte\": %.4f}\n",
              one_core, two_cores, free, OfAByte());
}
