#include "runtime/observe/run_watch.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <utility>

#include "base/console.h"
#include "base/error.h"
#include "base/error_report.h"
#include "base/threads/blocking_call.h"
#include "runtime/party_session.h"
#include "runtime/stop_signals.h"

namespace trefoil::runtime {
namespace {

/// How long a signal may go unseen.
constexpr std::chrono::milliseconds kPause{100};

std::string WholeSeconds(std::chrono::milliseconds age) { return fmt::format("{} s", age.count() / 1000); }

}  // namespace

bool SlowLines::Due(std::chrono::milliseconds age) {
  if (age < first_) next_ = first_;
  if (age < next_) return false;
  while (next_ <= age) next_ *= 2;
  return true;
}

RunWatch::RunWatch(net::MeshTransport& mesh, RunMetrics* metrics, std::chrono::milliseconds slow, Tell tell)
    : mesh_(mesh),
      metrics_(metrics),
      slow_(slow),
      tell_(std::move(tell)),
      peer_lines_{SlowLines(slow), SlowLines(slow), SlowLines(slow)},
      call_lines_(slow),
      speaker_([this] { Speak(); }),
      watcher_([this] { Watch(); }) {}

RunWatch::~RunWatch() {
  const std::lock_guard lock(mutex_);
  over_ = true;
  changed_.notify_all();
}

void RunWatch::Run(StopWhen when, const std::function<void()>& body) {
  at_once_ = when == StopWhen::kAtOnce;
  try {
    body();
  } catch (const NetworkError&) {
    if (const auto stopped = Stopped()) throw StoppedError(*stopped);
    throw;
  }
}

std::optional<StoppedError> RunWatch::Stopped() {
  const std::lock_guard lock(mutex_);
  const int signal = StopSignal();
  if (given_up_.empty() && (!at_once_ || signal == 0)) return std::nullopt;
  return StoppedError(signal, given_up_.empty() ? fmt::format("stopped by signal {}", signal) : given_up_);
}

void RunWatch::Watch() {
  std::unique_lock lock(mutex_);
  while (!over_) {
    lock.unlock();
    LookAtPeers();
    LookAtCalls();
    LookAtConsoles();
    LookAtSignal();
    lock.lock();
    if (!over_) changed_.wait_for(lock, kPause);
  }
}

void RunWatch::LookAtPeers() {
  for (int peer = 0; peer < net::kParties; ++peer) {
    if (peer == mesh_.self()) continue;
    const auto index = static_cast<std::size_t>(peer);
    const auto age = mesh_.WaitingFor(peer);
    if (metrics_ != nullptr) metrics_->SetWaiting(peer, age >= slow_ ? age : std::chrono::milliseconds(0));
    if (peer_lines_.at(index).Due(age)) {
      Queue(fmt::format("waiting {} for party {}: its link stands, but it sends nothing that the job needs",
                        WholeSeconds(age), peer));
      told_.at(index) = age;
    } else if (age < told_.at(index)) {
      Queue(fmt::format("party {} goes on, after {} or more", peer, WholeSeconds(told_.at(index))));
      told_.at(index) = {};
    }
  }
}

void RunWatch::LookAtCalls() {
  const auto call = BlockingCall::Oldest();
  const bool slow = call && call->age >= slow_;
  const bool program = call && call->of == BlockingCall::Of::kProgram;
  constexpr std::chrono::milliseconds kNone{0};
  if (metrics_ != nullptr) {
    metrics_->SetStorage(slow && !program ? call->age : kNone, slow && !program ? call->what : std::string());
    metrics_->SetProgram(slow && program ? call->age : kNone, slow && program ? call->what : std::string());
  }
  if (call_lines_.Due(call ? call->age : kNone))
    Queue(fmt::format("{} has taken {}: {}", call->what, WholeSeconds(call->age),
                      program ? "the peers wait, too" : "the storage does not answer"));
}

/// The log has it, though the console does not.
void RunWatch::LookAtConsoles() {
  const auto look = [this](const Console& console, bool& is_read) {
    if (!is_read || console.dropped() == 0) return;
    is_read = false;
    Queue(console.name().string() + " is not read: lines are missing there, and the run goes on without");
  };
  look(StandardOutput(), output_is_read_);
  look(StandardError(), error_is_read_);
}

void RunWatch::LookAtSignal() {
  if (StopSignal() == 0) return;
  const auto now = std::chrono::steady_clock::now();
  if (signalled_ == std::chrono::steady_clock::time_point()) signalled_ = now;
  const auto stopped = fmt::format("stopped by signal {}", StopSignal());
  if (at_once_) GiveUp(stopped);
  for (int peer = 0; peer < net::kParties; ++peer) {
    if (peer == mesh_.self()) continue;
    if (const auto age = mesh_.WaitingFor(peer); age >= slow_)
      GiveUp(fmt::format("{} after waiting {} for party {}", stopped, WholeSeconds(age), peer));
  }
  const auto call = BlockingCall::Oldest();
  if (!call || call->age < slow_ || now - signalled_ < std::min(slow_, 2 * kPause)) return;
  const auto what = fmt::format("{} while {} had taken {}", stopped, call->what, WholeSeconds(call->age));
  GiveUp(what);
  EndProcess(what);
}

/// The first call counts.
void RunWatch::GiveUp(const std::string& why) {
  {
    const std::lock_guard lock(mutex_);
    if (!given_up_.empty()) return;
    given_up_ = why;
  }
  mesh_.Abort({.code = net::AbortCode::kStopped});
}

/// As the second signal would: no thread could be waited for.
void RunWatch::EndProcess(const std::string& what) const {
  ReportLastError(what);
  EndBySignal(StopSignal());
}

void RunWatch::Queue(std::string line) {
  const std::lock_guard lock(mutex_);
  lines_.push_back(std::move(line));
  changed_.notify_all();
}

void RunWatch::Speak() {
  std::unique_lock lock(mutex_);
  while (!over_) {
    changed_.wait(lock, [this] { return over_ || !lines_.empty(); });
    while (!lines_.empty()) {
      const auto line = std::exchange(lines_.front(), {});
      lines_.pop_front();
      lock.unlock();
      tell_(line);
      lock.lock();
    }
  }
}

}  // namespace trefoil::runtime
