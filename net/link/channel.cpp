#include "net/link/channel.h"

#include <linux/sockios.h>
#include <sys/ioctl.h>

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "net/link/io_lock.h"
#include "net/mesh/wording.h"

namespace trefoil::net {
namespace {

constexpr std::size_t kBatchBytes = std::size_t{1} << 17;
constexpr int kTicksPerSilence = 8;
constexpr int kTicksPerHeartbeat = 2;
constexpr std::chrono::milliseconds kEndLinger{1000};
// After a failed write the reason may still be on its way in: an ABORT that the peer sent before it closed.
constexpr std::chrono::milliseconds kWriteErrorGrace{1000};

/// Bytes that the system has of this end, and the other one has not acknowledged.
int Unacknowledged(tcp::socket& socket) {
  int bytes = 0;
  if (ioctl(socket.native_handle(), SIOCOUTQ, &bytes) != 0) return 0;
  return bytes;
}

}  // namespace

Channel::Channel(tcp::socket socket, std::shared_ptr<const TlsContext> tls, TlsRole role)
    : socket_(std::move(socket)),
      io_(IoLock::Of(socket_.get_executor().context())),
      tls_(std::move(tls), role),
      timer_(socket_.get_executor()),
      ticker_(socket_.get_executor()),
      address_(DescribeOtherEnd(socket_)) {
  ErrorCode ignored;
  socket_.set_option(tcp::no_delay(true), ignored);
  socket_.non_blocking(true, ignored);
}

void Channel::Secure(std::chrono::milliseconds deadline, SecuredHandler done) {
  const std::lock_guard lock(io_);
  state_ = State::kSecuring;
  secured_ = std::move(done);
  timer_.expires_after(deadline);
  timer_.async_wait([self = shared_from_this(), deadline](const ErrorCode& error) {
    const std::lock_guard waited(self->io_);
    if (!error && self->state_ == State::kSecuring) {
      self->FailHandshake("no TLS handshake within " + DescribeDuration(deadline) + " (timeouts.handshake)");
    }
  });
  AdvanceHandshake();
}

void Channel::AdvanceHandshake() {
  try {
    const bool done = tls_.Handshake();
    Pump();
    if (!done) return ReadMore();
  } catch (const TlsError& error) {
    return FailHandshake(error.what());
  }
  state_ = State::kSecured;
  timer_.cancel();
  std::exchange(secured_, nullptr)({});
}

void Channel::FailHandshake(const std::string& cause) {
  const auto done = std::exchange(secured_, nullptr);
  Close(kEndLinger);  // the peer is told why by a TLS alert
  done(cause);
}

void Channel::Open(std::chrono::milliseconds silence, FrameHandler on_frame, EndHandler on_end) {
  const std::lock_guard lock(io_);
  state_ = State::kOpen;
  silence_ = silence;
  Handle(std::move(on_frame), std::move(on_end));
  StartTicking();
  // Not from within the caller: what has already arrived may end the channel.
  asio::post(socket_.get_executor(), [self = shared_from_this()] { self->Deliver(); });
}

void Channel::Handle(FrameHandler on_frame, EndHandler on_end) {
  const std::lock_guard lock(io_);
  handlers_ = std::make_shared<const Handlers>(Handlers{std::move(on_frame), std::move(on_end)});
}

void Channel::Post(FrameType type, Bytes payload, Lane lane, std::uint32_t depth) {
  const std::uint64_t length = payload.size();
  bool was_empty = false;
  {
    const std::lock_guard lock(mutex_);
    if (!accepts_) return;
    was_empty = outbox_.empty() && offline_outbox_.empty();
    auto& box = lane < kLanes ? outbox_ : offline_outbox_;
    box.push_back(
        {.header = {.type = type, .lane = lane, .depth = depth, .length = length, .session = session_},
         .payload = std::move(payload)});
  }
  if (!was_empty || (length <= kBatchBytes && SendNow())) return;
  asio::post(socket_.get_executor(), [self = shared_from_this()] { self->Pump(); });
}

void Channel::BeginSession(const SessionId& session) {
  {
    const std::lock_guard lock(mutex_);
    session_ = session;
  }
  Post(FrameType::kReady, {});
}

void Channel::Pause() {
  const std::lock_guard lock(io_);
  paused_ = true;
}

void Channel::LimitPayload(std::uint64_t bytes) {
  const std::lock_guard lock(io_);
  reader_.LimitPayload(bytes);
}

int Channel::party() const {
  const std::lock_guard lock(io_);
  return tls_.party();
}

void Channel::Resume() {
  const std::lock_guard lock(io_);
  if (!std::exchange(paused_, false)) return;
  quiet_ticks_ = 0;
  asio::post(socket_.get_executor(), [self = shared_from_this()] { self->Deliver(); });
}

void Channel::Close(std::chrono::milliseconds linger) {
  const std::lock_guard io_lock(io_);
  if (!BeginClosing()) return;
  timer_.expires_after(linger);
  timer_.async_wait([self = shared_from_this()](const ErrorCode& error) {
    if (!error) self->Drop();
  });
  ReadMore();
  Pump();
}

void Channel::Finish(std::chrono::milliseconds silence) {
  const std::lock_guard io_lock(io_);
  if (!BeginClosing()) return;
  silence_ = silence;
  quiet_ticks_ = 0;
  ReadMore();
  Pump();
  DropWhereNothingIsTaken();
}

// False where there is nothing left to wait for.
bool Channel::BeginClosing() {
  if (state_ == State::kClosing || state_ == State::kClosed) return false;
  const bool has_tls = state_ == State::kSecured || state_ == State::kOpen;
  state_ = State::kClosing;
  said_goodbye_ = !has_tls;
  {
    const std::lock_guard lock(mutex_);
    accepts_ = false;
  }
  handlers_.reset();
  ticker_.cancel();
  if (write_error_) Drop();
  return !write_error_;
}

// In ticks, as while it is open. What the system has taken is not yet what the peer has: on a slow line that
// is seconds' worth.
void Channel::DropWhereNothingIsTaken() {
  if (state_ != State::kClosing) return;
  timer_.expires_after(std::max(silence_ / kTicksPerSilence, std::chrono::milliseconds(1)));
  timer_.async_wait([self = shared_from_this()](const ErrorCode& error) {
    const std::lock_guard lock(self->io_);
    if (error || self->state_ != State::kClosing) return;
    const int left = Unacknowledged(self->socket_);
    const bool wrote_some = std::exchange(self->wrote_some_, false);
    const bool taken = std::exchange(self->unacknowledged_, left) != left || wrote_some;
    self->quiet_ticks_ = taken ? 0 : self->quiet_ticks_ + 1;
    if (self->quiet_ticks_ >= kTicksPerSilence) return self->Drop();
    self->DropWhereNothingIsTaken();
  });
}

void Channel::Drop() {
  const std::lock_guard io_lock(io_);
  state_ = State::kClosed;
  handlers_.reset();
  secured_ = nullptr;
  {
    const std::lock_guard lock(mutex_);
    accepts_ = false;
  }
  timer_.cancel();
  ticker_.cancel();
  ErrorCode ignored;
  socket_.close(ignored);
}

void Channel::ReadMore() {
  if (reading_ || state_ == State::kClosed) return;
  reading_ = true;
  const std::span<std::byte> space = tls_.Space();
  socket_.async_read_some(asio::buffer(space.data(), space.size()),
                          [self = shared_from_this()](const ErrorCode& error, std::size_t count) {
                            const std::lock_guard lock(self->io_);
                            self->reading_ = false;
                            self->OnRead(error, count);
                          });
}

void Channel::OnRead(const ErrorCode& error, std::size_t count) {
  if (state_ == State::kClosed) return;
  end_of_input_ = static_cast<bool>(error);
  if (state_ == State::kClosing) {  // what still comes is of no use, but must be read so that the peer gets
                                    // our last words
    if (!error) return ReadMore();
    if (sent_end_ || write_error_ || error != asio::error::eof) Drop();
    return;
  }
  if (error) {
    const std::string cause = DescribeError(error);
    return state_ == State::kSecuring ? FailHandshake(cause) : End({Ending::Kind::kLost, cause});
  }
  quiet_ticks_ = 0;
  tls_.Filled(count);
  if (state_ == State::kSecuring) return AdvanceHandshake();
  Deliver();
}

void Channel::Deliver() {
  const std::lock_guard lock(io_);
  try {
    while (state_ == State::kOpen && !paused_) {
      const std::size_t count = tls_.Read(reader_.Space());
      if (count == 0) break;
      std::optional<Frame> frame = reader_.Filled(count);
      if (!frame) continue;
      paused_ = frame->header.type == FrameType::kReady;
      const auto handlers = handlers_;  // kept alive while it runs: it may replace itself
      handlers->on_frame(*std::move(frame));
    }
  } catch (const TlsError& error) {
    return End({Ending::Kind::kLost, error.what()});
  } catch (const ProtocolError& error) {
    return End({Ending::Kind::kGarbage, error.what()});
  }
  if (state_ != State::kOpen || paused_) return;
  Pump();  // TLS itself may have something to answer
  if (tls_.closed_by_peer()) {
    return End(
        {reader_.between_frames() ? Ending::Kind::kClean : Ending::Kind::kLost, "closed the connection"});
  }
  ReadMore();
}

void Channel::End(const Ending& ending) {
  if (state_ != State::kOpen) return;
  const auto handlers = std::exchange(handlers_, nullptr);
  handlers->on_end(ending);
  Close(kEndLinger);
}

void Channel::Pump() {
  const std::lock_guard lock(io_);
  if (writing_ || write_error_ || state_ == State::kClosed) return;
  try {
    FillOutput();
  } catch (const TlsError& error) {
    return state_ == State::kOpen ? End({Ending::Kind::kLost, error.what()}) : Drop();
  }
  if (output_.empty()) {
    if (state_ == State::kClosing) FinishWriting();
    return;
  }
  WriteOn(0);
}

// In the thread that posts, unless the I/O thread is at work on the channel or a write is under way. False if
// the I/O thread has to see to it.
bool Channel::SendNow() {
  const std::unique_lock lock(io_, std::try_to_lock);
  if (!lock.owns_lock() || state_ != State::kOpen || writing_ || write_error_) return false;
  try {
    FillOutput();
  } catch (const TlsError& failure) {
    asio::post(socket_.get_executor(), [self = shared_from_this(), cause = std::string(failure.what())] {
      const std::lock_guard io_lock(self->io_);
      self->End({Ending::Kind::kLost, cause});
    });
    return true;
  }
  ErrorCode error;
  const std::size_t sent = output_.empty() ? 0 : socket_.write_some(asio::buffer(output_), error);
  if (error && error != asio::error::would_block) {
    writing_ = true;
    asio::post(socket_.get_executor(), [self = shared_from_this(), error] { self->OnWritten(error); });
    return true;
  }
  if (sent < output_.size()) {
    WriteOn(sent);
    return true;
  }
  idle_ticks_ = 0;
  return !HasFrames();
}

// Writes the output from that byte on, as much at a time as the socket takes: Asio alone would write 64 KiB
// and then turn to other work.
void Channel::WriteOn(std::size_t from) {
  writing_ = true;
  asio::async_write(
      socket_, asio::buffer(output_) + from,
      [this, size = output_.size(), before = std::size_t{0}](const ErrorCode& error,
                                                             std::size_t written) mutable {
        wrote_some_ = wrote_some_ || written > before;
        before = written;
        return error ? 0 : size;
      },
      [self = shared_from_this()](const ErrorCode& error, std::size_t) { self->OnWritten(error); });
}

void Channel::FillOutput() {
  const bool has_tls =
      state_ == State::kSecured || state_ == State::kOpen || (state_ == State::kClosing && !said_goodbye_);
  if (has_tls) {
    batch_bytes_ = 0;
    while (batch_bytes_ < kBatchBytes && StageFrames()) {
    }
    tls_.Write(staging_);
    staging_.clear();
  }
  tls_.TakeOutput(output_);
}

// Encrypts the next frame, or as much of it as this batch has room for; false if there is none.
bool Channel::StageFrames() {
  if (!has_current_) {
    std::optional<Frame> next = NextFrame();
    if (!next) return false;
    current_ = *std::move(next);
    current_.header.sequence = next_sequence_++;
    has_current_ = true;
    staged_of_current_ = 0;
    Encrypt(EncodeHeader(current_.header));
  }
  const std::size_t room = kBatchBytes - std::min(kBatchBytes, batch_bytes_);
  const std::span<const std::byte> rest = std::span(current_.payload).subspan(staged_of_current_);
  const std::size_t count = std::min(rest.size(), room);
  Encrypt(rest.first(count));
  staged_of_current_ += count;
  if (staged_of_current_ == current_.payload.size()) {
    has_current_ = false;
    current_ = {};
  }
  return true;
}

// What is dealt is for later steps: it waits while there is anything else.
std::optional<Frame> Channel::NextFrame() {
  const std::lock_guard lock(mutex_);
  auto& box = outbox_.empty() ? offline_outbox_ : outbox_;
  if (box.empty()) return std::nullopt;
  std::optional<Frame> frame = std::move(box.front());
  box.pop_front();
  return frame;
}

bool Channel::HasFrames() {
  const std::lock_guard lock(mutex_);
  return has_current_ || !outbox_.empty() || !offline_outbox_.empty();
}

// Fills records: what is less than one waits in `staging_` for more, whole ones are encrypted from where they
// are.
void Channel::Encrypt(std::span<const std::byte> bytes) {
  constexpr std::size_t kRecord = TlsSession::kRecordBytes;
  batch_bytes_ += bytes.size();
  if (!staging_.empty() || bytes.size() < kRecord) {
    const auto begun = bytes.first(std::min(bytes.size(), kRecord - staging_.size()));
    staging_.insert(staging_.end(), begun.begin(), begun.end());
    bytes = bytes.subspan(begun.size());
    if (staging_.size() < kRecord) return;
    tls_.Write(staging_);
    staging_.clear();
  }
  const std::size_t whole = bytes.size() / kRecord * kRecord;
  tls_.Write(bytes.first(whole));
  staging_.insert(staging_.end(), bytes.begin() + static_cast<std::ptrdiff_t>(whole), bytes.end());
}

void Channel::OnWritten(const ErrorCode& error) {
  const std::lock_guard lock(io_);
  writing_ = false;
  if (state_ == State::kClosed) return;
  if (!error) {
    idle_ticks_ = 0;
    return Pump();
  }
  write_error_ = error;
  if (state_ == State::kClosing && end_of_input_) return Drop();
  if (state_ != State::kOpen) return;  // the reading side or the timer finishes it
  timer_.expires_after(kWriteErrorGrace);
  timer_.async_wait([self = shared_from_this()](const ErrorCode& cancelled) {
    const std::lock_guard waited(self->io_);
    if (!cancelled) self->End({Ending::Kind::kLost, DescribeError(self->write_error_)});
  });
}

void Channel::FinishWriting() {
  if (!std::exchange(said_goodbye_, true)) {
    tls_.CloseNotify();
    return Pump();
  }
  if (std::exchange(sent_end_, true)) return;
  ErrorCode ignored;
  socket_.shutdown(tcp::socket::shutdown_send, ignored);
  if (end_of_input_) Drop();
}

void Channel::StartTicking() {
  ticker_.expires_after(std::max(silence_ / kTicksPerSilence, std::chrono::milliseconds(1)));
  ticker_.async_wait([self = shared_from_this()](const ErrorCode& error) {
    const std::lock_guard waited(self->io_);
    if (!error && self->state_ == State::kOpen) self->Tick();
  });
}

// Time is counted in ticks, each armed after the one before: a pause of this process itself is not held
// against the peer.
void Channel::Tick() {
  if (!paused_ && ++quiet_ticks_ >= kTicksPerSilence) {
    return End({Ending::Kind::kLost, "silent for " + DescribeDuration(silence_) + " (timeouts.peer)"});
  }
  if (++idle_ticks_ >= kTicksPerHeartbeat && !writing_) {
    idle_ticks_ = 0;
    Post(FrameType::kHeartbeat, {});
  }
  StartTicking();
}

}  // namespace trefoil::net
