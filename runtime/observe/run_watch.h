#pragma once
#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "base/error.h"
#include "net/mesh/mesh.h"
#include "runtime/observe/run_metrics.h"

namespace trefoil::runtime {

/// When a noted signal ends what runs over the links: a training between two steps, which it does by itself;
/// a job without steps at once.
enum class StopWhen { kBetweenSteps, kAtOnce };

/// Says when a line about something slow is due: once it has taken `first`, and again whenever that has
/// doubled.
class SlowLines {
 public:
  explicit SlowLines(std::chrono::milliseconds first) : first_(first), next_(first) {}
  /// `age`: how long it has taken so far; zero: it is over.
  [[nodiscard]] bool Due(std::chrono::milliseconds age);

 private:
  std::chrono::milliseconds first_;
  std::chrono::milliseconds next_;
};

/// Looks after a run that is connected, from a thread of its own, as long as it lives. It tells the metrics
/// and the operator where the run waits long for a peer, its storage or its program; and it sees to it that
/// the first signal ends the run there, too: a wait for a peer by giving up the links, which tells the peers,
/// and a call of the system that does not come back by ending the process, after the peers have been told.
class RunWatch {
 public:
  /// A line for the operator; may block, and is called in a thread that has nothing else to do.
  using Tell = std::function<void(const std::string& line)>;

  /// What takes longer than `slow` is told, and given up after a signal. `metrics` may be null: the operator
  /// alone is told then. Pre: NoteStopSignals; all must outlive the object.
  RunWatch(net::MeshTransport& mesh, RunMetrics* metrics, std::chrono::milliseconds slow, Tell tell);
  ~RunWatch();
  RunWatch(const RunWatch&) = delete;
  RunWatch& operator=(const RunWatch&) = delete;

  /// Runs `body`, which computes over the links. Throws StoppedError where a signal ended it, else what
  /// `body` throws.
  void Run(StopWhen when, const std::function<void()>& body);
  /// What a NetworkError of such a body means, where a signal is behind it.
  [[nodiscard]] std::optional<StoppedError> Stopped();

 private:
  void Watch();
  void LookAtPeers();
  void LookAtCalls();
  void LookAtConsoles();
  void LookAtSignal();
  void GiveUp(const std::string& why);
  [[noreturn]] void EndProcess(const std::string& what) const;
  void Queue(std::string line);
  void Speak();

  net::MeshTransport& mesh_;
  RunMetrics* metrics_;
  std::chrono::milliseconds slow_;
  Tell tell_;
  std::array<SlowLines, net::kParties> peer_lines_;
  std::array<std::chrono::milliseconds, net::kParties> told_{};  // of a wait that goes on
  SlowLines call_lines_;
  bool output_is_read_ = true;
  bool error_is_read_ = true;
  std::atomic<bool> at_once_{false};
  std::chrono::steady_clock::time_point signalled_;

  std::mutex mutex_;  // guards the next four
  std::condition_variable changed_;
  std::deque<std::string> lines_;
  std::string given_up_;
  bool over_ = false;
  std::jthread speaker_;  // last: they end before what they use does
  std::jthread watcher_;
};

}  // namespace trefoil::runtime
