#include "runtime/observe/run_watch.h"

#include <gtest/gtest.h>

#include <atomic>
#include <condition_variable>
#include <csignal>
#include <filesystem>
#include <mutex>
#include <thread>
#include <vector>

#include "base/error.h"
#include "base/threads/blocking_call.h"
#include "runtime/party_session.h"
#include "runtime/stop_signals.h"

namespace trefoil::runtime {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

TEST(SlowLines, AreDueAtFirstAndWheneverThatHasDoubled) {
  SlowLines lines{seconds(10)};
  EXPECT_FALSE(lines.Due(seconds(9)));
  EXPECT_TRUE(lines.Due(seconds(10)));
  EXPECT_FALSE(lines.Due(seconds(19)));
  EXPECT_TRUE(lines.Due(seconds(20)));
  EXPECT_TRUE(lines.Due(seconds(90)));
  EXPECT_FALSE(lines.Due(seconds(159)));
  EXPECT_TRUE(lines.Due(seconds(160)));
  EXPECT_FALSE(lines.Due(milliseconds(0)));  // it is over
  EXPECT_TRUE(lines.Due(seconds(11)));
}

/// Party 0's links, over which nothing ever comes; it has waited as long as the test says.
class SilentMesh : public net::MeshTransport {
 public:
  SilentMesh() : MeshTransport(0) {}
  [[nodiscard]] const net::SessionId& session() const override { return session_; }
  [[nodiscard]] const net::JobHash& job() const override { return job_; }
  [[nodiscard]] milliseconds WaitingFor(int peer) const override {
    return peer == 2 ? waited.load() : milliseconds(0);
  }
  [[nodiscard]] std::optional<net::PeerLoss> Loss() const override { return {}; }
  void Abort(net::AbortReason reason) noexcept override {
    const std::lock_guard lock(mutex_);
    aborted_ = true;
    code = reason.code;
    changed_.notify_all();
  }
  void Interrupt() noexcept override {}
  void Finish() override { (void)Read(2, 0); }

  std::atomic<milliseconds> waited{milliseconds(0)};
  std::atomic<net::AbortCode> code{};

 protected:
  void Write(int, net::Message) override {}
  net::Message Read(int peer, net::Lane) override {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return aborted_; });
    throw NetworkError(peer, "the link was closed by this party");
  }

 private:
  net::SessionId session_{};
  net::JobHash job_{};
  std::mutex mutex_;
  std::condition_variable changed_;
  bool aborted_ = false;
};

class RunWatchTest : public testing::Test {
 protected:
  RunWatchTest() { party_.id = 0; }

  std::unique_ptr<RunWatch> Watch() { return WatchWith(&metrics_); }
  std::unique_ptr<RunWatch> WatchWith(RunMetrics* metrics) {
    return std::make_unique<RunWatch>(mesh_, metrics, seconds(2), [this](const std::string& line) {
      const std::lock_guard lock(mutex_);
      lines_.push_back(line);
    });
  }
  bool WaitForLine(const std::string& part) {
    for (int i = 0; i < 1000; ++i) {
      {
        const std::lock_guard lock(mutex_);
        for (const auto& line : lines_) {
          if (line.find(part) != std::string::npos) return true;
        }
      }
      std::this_thread::sleep_for(milliseconds(10));
    }
    return false;
  }

  SilentMesh mesh_;
  jobs::PartyFile party_;
  RunMetrics metrics_{party_, "party.toml"};
  std::mutex mutex_;
  std::vector<std::string> lines_;
};

TEST_F(RunWatchTest, NamesThePeerThatIsWaitedFor) {
  metrics_.SetReady(true);
  const auto watch = Watch();
  mesh_.waited = milliseconds(1900);
  std::this_thread::sleep_for(milliseconds(250));
  EXPECT_EQ(metrics_.Answer("/readyz").status, 200U);
  mesh_.waited = seconds(7);
  EXPECT_TRUE(WaitForLine("waiting 7 s for party 2"));
  EXPECT_EQ(metrics_.Answer("/readyz").status, 503U);
  EXPECT_EQ(metrics_.Answer("/readyz").body, "waiting 7 s for party 2\n");
  EXPECT_NE(metrics_.Answer("/metrics").body.find("trefoil_waiting_seconds{peer=\"2\"} 7\n"),
            std::string::npos);
  mesh_.waited = milliseconds(0);
  EXPECT_TRUE(WaitForLine("party 2 goes on, after 7 s or more"));
  EXPECT_EQ(metrics_.Answer("/readyz").status, 200U);
}

TEST_F(RunWatchTest, NamesThePeerToTheOperatorWhereThereAreNoMetrics) {
  const auto watch = WatchWith(nullptr);
  mesh_.waited = seconds(7);
  EXPECT_TRUE(WaitForLine("waiting 7 s for party 2"));
}

TEST_F(RunWatchTest, NamesACallThatDoesNotComeBack) {
  metrics_.SetReady(true);
  const auto watch = Watch();
  const std::filesystem::path file = "runs/first/record.json";
  const BlockingCall call("writing", file);
  EXPECT_TRUE(WaitForLine("writing runs/first/record.json has taken 2 s: the storage does not answer"));
  EXPECT_EQ(metrics_.Answer("/readyz").body.find("writing runs/first/record.json has taken "), 0U);
}

TEST_F(RunWatchTest, NamesTheProgramThatIsWaitedFor) {
  metrics_.SetReady(true);
  const auto watch = Watch();
  const std::filesystem::path what = "the program's vectors";
  const BlockingCall call("waiting for", what, BlockingCall::Of::kProgram);
  EXPECT_TRUE(WaitForLine("waiting for the program's vectors has taken 2 s: the peers wait, too"));
  EXPECT_EQ(metrics_.Answer("/readyz").body.find("waiting for the program's vectors has taken "), 0U);
  const auto numbers = metrics_.Answer("/metrics").body;
  EXPECT_NE(numbers.find("trefoil_storage_seconds 0\n"), std::string::npos);
  EXPECT_EQ(numbers.find("trefoil_program_seconds 0\n"), std::string::npos);
  EXPECT_NE(numbers.find("\ntrefoil_program_seconds "), std::string::npos);
}

// Each in a process of its own, which gets the signal.
TEST_F(RunWatchTest, TheFirstSignalEndsAWaitForAPeer) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto run = [&] {
    NoteStopSignals();
    const auto watch = Watch();
    mesh_.waited = seconds(34);
    (void)std::raise(SIGTERM);
    try {
      watch->Run(StopWhen::kBetweenSteps, [&] { (void)mesh_.Receive(2, 1); });
    } catch (const StoppedError& error) {
      const bool right = std::string(error.what()) == "stopped by signal 15 after waiting 34 s for party 2";
      std::_Exit(right && error.signal() == SIGTERM && mesh_.code.load() == net::AbortCode::kStopped ? 0 : 2);
    }
    std::_Exit(3);
  };
  EXPECT_EXIT(run(), testing::ExitedWithCode(0), "");
}

TEST_F(RunWatchTest, TheFirstSignalEndsACallThatDoesNotComeBack) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto run = [&] {
    NoteStopSignals();
    const auto watch = Watch();
    const std::filesystem::path file = "runs/first/record.json";
    const BlockingCall call("writing", file);
    (void)std::raise(SIGTERM);
    for (int i = 0; i < 600; ++i) std::this_thread::sleep_for(milliseconds(100));
    std::_Exit(3);
  };
  EXPECT_EXIT(run(), testing::KilledBySignal(SIGTERM),
              "stopped by signal 15 while writing runs/first/record.json had taken 2 s");
}

}  // namespace
}  // namespace trefoil::runtime
