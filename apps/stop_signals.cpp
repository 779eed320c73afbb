#include "apps/stop_signals.h"

#include <spdlog/fmt/fmt.h>

#include <chrono>
#include <condition_variable>
#include <csignal>
#include <mutex>

#include "apps/party_session.h"
#include "base/background_thread.h"
#include "base/error.h"

namespace trefoil::apps {
namespace {

/// How long a signal may go unseen.
constexpr std::chrono::milliseconds kPause{100};

volatile std::sig_atomic_t noted = 0;

/// Gives up the links once a signal has been noted, as long as it lives.
class StopWatch {
 public:
  explicit StopWatch(net::MeshTransport& mesh) : mesh_(mesh), thread_([this] { Watch(); }) {}
  ~StopWatch() {
    const std::lock_guard lock(mutex_);
    over_ = true;
    changed_.notify_one();
  }
  StopWatch(const StopWatch&) = delete;
  StopWatch& operator=(const StopWatch&) = delete;

 private:
  void Watch() {
    {
      std::unique_lock lock(mutex_);
      while (!over_ && StopSignal() == 0) changed_.wait_for(lock, kPause);
      if (over_) return;
    }
    mesh_.Abort({.code = net::AbortCode::kStopped});
  }

  net::MeshTransport& mesh_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool over_ = false;
  BackgroundThread thread_;  // last: it ends before what it uses does
};

}  // namespace

void NoteStopSignals() {
  struct sigaction before {};
  const bool hang_up = sigaction(SIGHUP, nullptr, &before) == 0 && before.sa_handler != SIG_IGN;
  struct sigaction action {};
  action.sa_handler = [](int signal) { noted = signal; };
  action.sa_flags = static_cast<int>(SA_RESETHAND | SA_RESTART);
  for (const int signal : {SIGINT, SIGTERM}) sigaction(signal, &action, nullptr);
  if (hang_up) sigaction(SIGHUP, &action, nullptr);
}

int StopSignal() { return noted; }

void RunUntilStopped(net::MeshTransport& mesh, const std::function<void()>& body) {
  try {
    const StopWatch watch(mesh);
    body();
  } catch (const NetworkError&) {
    if (StopSignal() == 0) throw;
    throw StoppedError(fmt::format("stopped by signal {}", StopSignal()));
  }
}

}  // namespace trefoil::apps
