#pragma once
#include <array>
#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "net/link/asio.h"
#include "net/link/frame_reader.h"
#include "net/link/tls_session.h"

namespace trefoil::net {

/// How a channel ended.
struct Ending {
  enum class Kind {
    kClean,    ///< the peer said that it sends no more, and everything it sent has been delivered
    kLost,     ///< the connection broke or went silent
    kGarbage,  ///< the peer sent something that is not a frame, or not the next one
  };
  Kind kind = Kind::kLost;
  std::string cause;
};

/// A channel that is closed because of a failure is dropped after this time at the latest.
constexpr std::chrono::milliseconds kLinger{1000};

/// One TCP connection with TLS on it, carrying frames both ways, with heartbeats. All functions but Post are
/// called on the I/O thread, and so are the handlers. Post sends at once where nothing is in the way: to wake
/// the I/O thread for each message would take longer. Order of calls: Secure, then Open, any number of
/// Handle, Post, BeginSession and Resume, at last Close (or Drop). A channel keeps itself alive as long as an
/// operation of its is under way.
class Channel : public std::enable_shared_from_this<Channel> {
 public:
  /// Called with an empty text when the TLS handshake is done, else with the cause of the failure.
  using SecuredHandler = std::function<void(const std::string& failure)>;
  using FrameHandler = std::function<void(Frame frame)>;
  /// Called once, unless Close or Drop came first. The channel closes itself afterwards.
  using EndHandler = std::function<void(const Ending& ending)>;

  Channel(tcp::socket socket, std::shared_ptr<const TlsContext> tls, TlsRole role);

  void Secure(std::chrono::milliseconds deadline, SecuredHandler done);
  /// Begins to carry frames. A peer from which nothing comes for `silence` is lost.
  void Open(std::chrono::milliseconds silence, FrameHandler on_frame, EndHandler on_end);
  /// Replaces the handlers.
  void Handle(FrameHandler on_frame, EndHandler on_end);

  /// Sends a frame or queues it; from any thread. What is dealt (OfflineLane) lets everything else that waits
  /// pass. Ignored once the channel is closing.
  void Post(FrameType type, Bytes payload, Lane lane = 0, std::uint32_t depth = 0);
  /// Queues a kReady frame; it and everything posted later belong to `session`.
  void BeginSession(const SessionId& session);

  /// A kReady frame is delivered and then nothing more until Resume, so that the session's first messages
  /// find their reader.
  void Resume();
  /// Delivers nothing until Resume.
  void Pause();
  void LimitPayload(std::uint64_t bytes);

  /// Sends what is queued, says good-bye and waits until the peer has, too; after `linger` the connection is
  /// dropped anyway. No handler is called any more.
  void Close(std::chrono::milliseconds linger);
  /// The same, however long all takes, unless the peer takes no byte of it for `silence`.
  void Finish(std::chrono::milliseconds silence);
  /// Drops the connection at once.
  void Drop();

  /// The party that the handshake authenticated.
  [[nodiscard]] int party() const;
  /// The other end's IP address.
  [[nodiscard]] const std::string& address() const { return address_; }

 private:
  enum class State { kFresh, kSecuring, kSecured, kOpen, kClosing, kClosed };
  struct Handlers {
    FrameHandler on_frame;
    EndHandler on_end;
  };

  void AdvanceHandshake();
  void FailHandshake(const std::string& cause);
  void ReadMore();
  void OnRead(const ErrorCode& error, std::size_t count);
  void Deliver();
  void End(const Ending& ending);
  void Pump();
  bool SendNow();
  void WriteOn(std::size_t from);
  void FillOutput();
  [[nodiscard]] std::optional<Frame> NextFrame();
  [[nodiscard]] bool HasFrames();
  bool StageFrames();
  void Encrypt(std::span<const std::byte> bytes);
  void OnWritten(const ErrorCode& error);
  void FinishWriting();
  bool BeginClosing();
  void DropWhereNothingIsTaken();
  void StartTicking();
  void Tick();

  tcp::socket socket_;
  std::recursive_mutex& io_;  // guards all but the outboxes: the I/O thread waits for it, Post only tries
  TlsSession tls_;
  asio::steady_timer timer_;  // handshake, then what Close or Finish allows
  asio::steady_timer ticker_;
  std::string address_;
  State state_ = State::kFresh;
  SecuredHandler secured_;
  std::shared_ptr<const Handlers> handlers_;
  FrameReader reader_;
  bool reading_ = false;
  bool paused_ = false;
  bool end_of_input_ = false;

  std::mutex mutex_;  // guards the next four
  std::deque<Frame> outbox_;
  std::deque<Frame> offline_outbox_;
  SessionId session_{};
  bool accepts_ = true;

  Frame current_;  // being staged
  std::size_t staged_of_current_ = 0;
  bool has_current_ = false;
  std::uint64_t next_sequence_ = 0;
  Bytes staging_;  // less than a record
  std::size_t batch_bytes_ = 0;
  Bytes output_;
  bool writing_ = false;
  bool said_goodbye_ = false;
  bool sent_end_ = false;
  ErrorCode write_error_;

  bool wrote_some_ = false;  // since the last look
  int unacknowledged_ = 0;   // bytes, at the last look

  std::chrono::milliseconds silence_{0};
  int quiet_ticks_ = 0;
  int idle_ticks_ = 0;
};

}  // namespace trefoil::net
