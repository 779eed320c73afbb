#include "net/start/greeting.h"

#include <utility>

#include "base/error.h"
#include "net/mesh/wording.h"

namespace trefoil::net {
namespace {

Bytes ToBytes(const std::string& text) {
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

std::string ToText(const Bytes& bytes) { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }

}  // namespace

void Greeting::Begin(const std::shared_ptr<Channel>& channel, asio::io_context& io, Hello hello,
                     std::string job_json, std::chrono::milliseconds deadline,
                     std::chrono::milliseconds silence, DoneHandler done) {
  hello.receiver = channel->party();
  hello.clock_milliseconds = WallClockMilliseconds();
  std::make_shared<Greeting>(channel, io, hello, std::move(job_json), std::move(done))
      ->Start(deadline, silence);
}

Greeting::Greeting(std::shared_ptr<Channel> channel, asio::io_context& io, Hello hello, std::string job_json,
                   DoneHandler done)
    : channel_(std::move(channel)),
      timer_(io),
      mine_(hello),
      job_json_(std::move(job_json)),
      done_(std::move(done)) {}

void Greeting::Start(std::chrono::milliseconds deadline, std::chrono::milliseconds silence) {
  timer_.expires_after(deadline);
  // Only the channel's handlers keep the greeting alive, so that a channel closed by others ends it, and its
  // timer.
  timer_.async_wait([weak = weak_from_this(), deadline](const ErrorCode& error) {
    if (error) return;
    if (const auto self = weak.lock())
      self->Fail("no greeting within " + DescribeDuration(deadline) + " (timeouts.handshake)");
  });
  channel_->Post(FrameType::kHello, EncodeHello(mine_));
  channel_->Open(
      silence, [self = shared_from_this()](const Frame& frame) { self->OnFrame(frame); },
      [self = shared_from_this()](const Ending& ending) { self->Fail(ending.cause); });
}

void Greeting::OnFrame(const Frame& frame) {
  if (frame.header.type == FrameType::kHeartbeat) return;
  if (!theirs_ && frame.header.type == FrameType::kHello) return OnHello(frame);
  if (theirs_ && frame.header.type == FrameType::kJob) {
    const std::string job = ToText(frame.payload);
    if (HashJob(job) != theirs_->job) throw ProtocolError("a job that is not the one announced");
    return Finish({.hello = theirs_, .job = job, .cause = {}});
  }
  throw ProtocolError("unexpected frame while greeting");
}

void Greeting::OnHello(const Frame& frame) {
  theirs_ = DecodeHello(frame.payload);
  const bool other_program = theirs_->version != mine_.version || theirs_->sender != mine_.receiver ||
                             theirs_->receiver != mine_.sender;  // its job is of no interest then
  if (other_program || !JobsDiffer(mine_, *theirs_)) {
    return Finish({.hello = theirs_, .job = {}, .cause = {}});
  }
  channel_->Post(FrameType::kJob, ToBytes(job_json_));
}

void Greeting::Finish(const Greeted& result) {
  timer_.cancel();
  if (const auto done = std::exchange(done_, nullptr)) done(result);
}

void Greeting::Fail(const std::string& cause) {
  if (!done_) return;
  channel_->Close(kLinger);
  Finish({.hello = std::nullopt, .job = {}, .cause = cause});
}

std::int64_t WallClockMilliseconds() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::milliseconds>(now).count();
}

}  // namespace trefoil::net
