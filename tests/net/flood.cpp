#include "flood.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <deque>
#include <stdexcept>
#include <utility>

namespace trefoil::net::testing_support {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kMaxOpen = 512;

sockaddr_in AddressOf(const std::string& host, std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  if (inet_pton(AF_INET, host.c_str(), &address.sin_addr) != 1) throw std::runtime_error("no address");
  return address;
}

/// Begins a connection from `source`; -1 where the system allows none.
int Begin(const std::string& source, std::uint16_t port) {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (fd < 0) return -1;
  // No port stays taken after the end.
  const linger reset{.l_onoff = 1, .l_linger = 0};
  setsockopt(fd, SOL_SOCKET, SO_LINGER, &reset, sizeof(reset));
  const auto from = AddressOf(source, 0);
  const auto to = AddressOf("127.0.0.1", port);
  if (bind(fd, reinterpret_cast<const sockaddr*>(&from), sizeof(from)) == 0 &&
      (connect(fd, reinterpret_cast<const sockaddr*>(&to), sizeof(to)) == 0 || errno == EINPROGRESS))
    return fd;
  close(fd);
  return -1;
}

/// What is on its way in one direction.
struct Pipe {
  int from = -1;
  int to = -1;
  struct Piece {
    Clock::time_point due;
    std::string bytes;
  };
  std::deque<Piece> pieces;
  bool ended = false;   // `from` has closed
  bool closed = false;  // and `to` knows

  void Take(std::chrono::milliseconds delay) {
    std::array<char, 16384> buffer{};
    while (!ended) {
      const auto count = recv(from, buffer.data(), buffer.size(), MSG_DONTWAIT);
      if (count < 0 && (errno == EAGAIN || errno == EINTR)) return;
      ended = count <= 0;
      pieces.push_back(
          {Clock::now() + delay, std::string(buffer.data(), ended ? 0 : static_cast<std::size_t>(count))});
    }
  }

  void Give() {
    while (!closed && !pieces.empty() && pieces.front().due <= Clock::now()) {
      auto& bytes = pieces.front().bytes;
      if (bytes.empty()) {
        shutdown(to, SHUT_WR);
        closed = true;
        return;
      }
      const auto count = send(to, bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
      if (count < 0 && (errno == EAGAIN || errno == EINTR)) return;
      if (count < 0) {
        closed = true;
        return;
      }
      bytes.erase(0, static_cast<std::size_t>(count));
      if (bytes.empty()) pieces.pop_front();
    }
  }
};

/// One connection and what it goes on to.
struct Pair {
  int near = -1;
  int far = -1;
  Clock::time_point opens;
  std::array<Pipe, 2> pipes;

  void Step(const std::string& source, std::uint16_t target, std::chrono::milliseconds delay) {
    if (far < 0) {
      if (Clock::now() < opens) return;
      far = Begin(source, target);
      pipes[0].from = pipes[1].to = near;
      pipes[0].to = pipes[1].from = far;
      return;  // the connection may not stand yet
    }
    for (auto& pipe : pipes) {
      pipe.Take(delay);
      pipe.Give();
    }
  }
  [[nodiscard]] bool Over() const { return far >= 0 && pipes[0].closed && pipes[1].closed; }
  void Close() const {
    close(near);
    if (far >= 0) close(far);
  }
};

}  // namespace

Flood::Flood(std::uint16_t port, std::vector<std::string> sources, int per_second, std::chrono::seconds limit)
    : thread_([this, port, sources = std::move(sources), per_second, limit] {
        Run(port, sources, per_second, limit);
      }) {}

Flood::~Flood() {
  over_ = true;
  thread_.join();
}

void Flood::Run(std::uint16_t port, const std::vector<std::string>& sources, int per_second,
                std::chrono::seconds limit) {
  const auto start = Clock::now();
  std::deque<int> open;
  for (std::size_t begun = 0; !over_ && Clock::now() - start < limit;) {
    const std::chrono::duration<double> elapsed = Clock::now() - start;
    while (static_cast<double>(begun) < elapsed.count() * per_second && !over_) {
      const int fd = Begin(sources[begun++ % sources.size()], port);
      if (fd < 0) continue;
      ++opened_;
      open.push_back(fd);
      if (open.size() <= kMaxOpen) continue;
      close(open.front());
      open.pop_front();
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  for (const int fd : open) close(fd);
}

DelayRelay::DelayRelay(std::uint16_t target, std::string source, std::chrono::milliseconds delay)
    : target_(target), source_(std::move(source)), delay_(delay) {
  listener_ = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  auto address = AddressOf("127.0.0.1", 0);
  socklen_t size = sizeof(address);
  auto* any = reinterpret_cast<sockaddr*>(&address);
  if (listener_ < 0 || bind(listener_, any, size) != 0 || listen(listener_, 16) != 0 ||
      getsockname(listener_, any, &size) != 0)
    throw std::runtime_error("relay: no port");
  port_ = ntohs(address.sin_port);
  thread_ = std::thread([this] { Run(); });
}

DelayRelay::~DelayRelay() {
  over_ = true;
  thread_.join();
  close(listener_);
}

void DelayRelay::Run() {
  std::vector<Pair> pairs;
  while (!over_) {
    const int near = accept4(listener_, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (near >= 0) pairs.push_back({.near = near, .far = -1, .opens = Clock::now() + delay_, .pipes = {}});
    for (auto& pair : pairs) pair.Step(source_, target_, delay_);
    std::erase_if(pairs, [](const Pair& pair) {
      if (pair.Over()) pair.Close();
      return pair.Over();
    });
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  for (const auto& pair : pairs) pair.Close();
}

}  // namespace trefoil::net::testing_support
