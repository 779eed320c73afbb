#pragma once
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "net/link/asio.h"
#include "net/link/channel.h"
#include "net/start/handshake.h"

namespace trefoil::net {

/// What came of greeting a peer: its hello, or why there is none.
struct Greeted {
  std::optional<Hello> hello;
  std::string job;    ///< the peer's job text, if it is to be compared and differs
  std::string cause;  ///< if there is no hello
};

/// Exchanges hellos with the peer of a secured channel and, where the jobs differ, the jobs' texts. Opens the
/// channel and leaves it open, but for a failure, after which it closes. Lives as long as the channel's
/// handlers: until `done`, which is called on the I/O thread and must give the channel new ones or close it,
/// or until somebody else closes the channel.
class Greeting : public std::enable_shared_from_this<Greeting> {
 public:
  using DoneHandler = std::function<void(const Greeted& result)>;

  /// `hello.receiver` and the clock are filled in here.
  static void Begin(const std::shared_ptr<Channel>& channel, asio::io_context& io, Hello hello,
                    std::string job_json, std::chrono::milliseconds deadline,
                    std::chrono::milliseconds silence, DoneHandler done);

  Greeting(std::shared_ptr<Channel> channel, asio::io_context& io, Hello hello, std::string job_json,
           DoneHandler done);

 private:
  void Start(std::chrono::milliseconds deadline, std::chrono::milliseconds silence);
  void OnFrame(const Frame& frame);
  void OnHello(const Frame& frame);
  void Finish(const Greeted& result);
  void Fail(const std::string& cause);

  std::shared_ptr<Channel> channel_;
  asio::steady_timer timer_;
  Hello mine_;
  std::string job_json_;
  DoneHandler done_;
  std::optional<Hello> theirs_;
};

/// Milliseconds since 1970 by this machine's clock, as a Hello tells it.
[[nodiscard]] std::int64_t WallClockMilliseconds();

}  // namespace trefoil::net
