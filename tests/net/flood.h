#pragma once
#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace trefoil::net::testing_support {

/// Opens connections to a port of the loopback interface and says nothing, from addresses of that interface
/// (127.x.y.z), taken in turn: `per_second` of them, for at most `limit`, with at most 512 open at once.
class Flood {
 public:
  Flood(std::uint16_t port, std::vector<std::string> sources, int per_second, std::chrono::seconds limit);
  ~Flood();
  Flood(const Flood&) = delete;
  Flood& operator=(const Flood&) = delete;

  /// Connections opened so far.
  [[nodiscard]] int opened() const { return opened_; }

 private:
  void Run(std::uint16_t port, const std::vector<std::string>& sources, int per_second,
           std::chrono::seconds limit);

  std::atomic<bool> over_{false};
  std::atomic<int> opened_{0};
  std::thread thread_;  // last: it uses the others
};

/// Carries connections to a port of the loopback interface, as if it were far away: every byte takes `delay`
/// in either direction, and so does the opening. They come from `source`, an address of that interface.
class DelayRelay {
 public:
  DelayRelay(std::uint16_t target, std::string source, std::chrono::milliseconds delay);
  ~DelayRelay();
  DelayRelay(const DelayRelay&) = delete;
  DelayRelay& operator=(const DelayRelay&) = delete;

  [[nodiscard]] std::uint16_t port() const { return port_; }

 private:
  void Run();

  std::uint16_t target_;
  std::string source_;
  std::chrono::milliseconds delay_;
  int listener_ = -1;
  std::uint16_t port_ = 0;
  std::atomic<bool> over_{false};
  std::thread thread_;  // last: it uses the others
};

}  // namespace trefoil::net::testing_support
