// Ledgers of jobs at the same time, and of processes and machines that die: no entry is lost, doubled or cut.

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <spdlog/fmt/fmt.h>
#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <random>
#include <thread>

#include "base/error.h"
#include "base/files/files.h"
#include "tests/apps/ledger_requests.h"
#include "tests/apps/temporary_folder.h"

namespace trefoil::apps {
namespace {

namespace fs = std::filesystem;

TEST(LedgerFile, LosesNoEntryOfJobsAtTheSameTime) {
  const TemporaryFolder folder;
  const auto file = folder.path() / "l";
  constexpr int kThreads = 4;
  constexpr int kJobs = 10;
  std::vector<std::thread> threads;
  for (int thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([&, thread] {
      for (int job = 0; job < kJobs; ++job) {
        runtime::LedgerFile ledger(file);
        const auto run = fmt::format("{}{}", thread, job);
        (void)ledger.Reserve(RequestOf(run, 2));
        ledger.Announce(RecordOf(run, 1));
        (void)ledger.Settle(RecordOf(run, 2), dp::JobEnd::kDone);
      }
    });
  }
  for (auto& thread : threads) thread.join();
  const auto view = runtime::ReadLedger(file);
  EXPECT_EQ(view.lines, 1U + 3 * kThreads * kJobs);
  EXPECT_EQ(view.ledger.jobs().size(), static_cast<std::size_t>(kThreads * kJobs));
  for (const auto& job : view.ledger.jobs()) EXPECT_EQ(job.ended, dp::JobEnd::kDone);
  EXPECT_NEAR(SpentIn(file), Insider(2 * kThreads * kJobs), 1e-9);
}

// Jobs at the same time cannot pass the cap together where each would alone.
TEST(LedgerFile, GrantsTheLastPartOfABudgetOnce) {
  const TemporaryFolder folder;
  const auto file = folder.path() / "l";
  std::atomic<int> granted = 0;
  std::vector<std::thread> threads;
  std::array<std::optional<runtime::LedgerFile>, 8> ledgers;
  for (int k = 0; k < 8; ++k) {
    threads.emplace_back([&, k] {
      auto& ledger = ledgers.at(static_cast<std::size_t>(k)).emplace(file);
      try {
        (void)ledger.Reserve(RequestOf(fmt::format("{}", k), 100, Insider(150)));
        ++granted;
      } catch (const BudgetError&) {
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(granted, 1);
}

// Cut at every byte, as a crash of the machine may do to what was not on disk yet: what is left is charged at
// least as before the last entry, and the next job goes on.
TEST(LedgerFile, GoesOnAfterACutAnywhere) {
  const TemporaryFolder folder;
  const auto file = folder.path() / "l";
  {
    runtime::LedgerFile ledger(file);
    (void)ledger.Reserve(RequestOf("1", 100));
    ledger.Announce(RecordOf("1", 60));
    (void)ledger.Settle(RecordOf("1", 60), dp::JobEnd::kStopped);
  }
  const auto text = ReadTextFile(file, "a ledger");
  std::vector<std::size_t> ends;
  for (std::size_t at = 0; at < text.size(); ++at)
    if (text[at] == '\n') ends.push_back(at);
  ASSERT_EQ(ends.size(), 4U);
  for (std::size_t size = 0; size < text.size(); ++size) {
    folder.Write("l", text.substr(0, size));
    runtime::LedgerFile next(file);
    const auto before = runtime::ReadLedger(file);
    // The line feed alone may be lacking.
    ASSERT_EQ(before.lines, static_cast<std::size_t>(std::count_if(ends.begin(), ends.end(),
                                                                   [&](auto end) { return end <= size; })));
    ASSERT_EQ(before.torn > 0, size > 0 && text[size - 1] != '\n' && text[size] != '\n') << size;
    const double spent = size < ends[2] ? 0 : Insider(60);
    ASSERT_EQ(next.Reserve(RequestOf("2", 1)).spent, spent) << size;
    const auto after = runtime::ReadLedger(file);
    ASSERT_EQ(after.torn, 0U);
    ASSERT_EQ(after.ledger.jobs().back().reserved.run_id, "2");
  }
}

TEST(LedgerFile, CutsOffATornLineThatIsLongerThanTheNext) {
  const TemporaryFolder folder;
  const auto file = folder.path() / "l";
  (void)runtime::LedgerFile(file).Reserve(RequestOf("1", 100));
  folder.Write("l", ReadTextFile(file, "a ledger") + std::string(20'000, '{'));
  ASSERT_EQ(runtime::ReadLedger(file).torn, 20'000U);

  (void)runtime::LedgerFile(file).Reserve(RequestOf("2", 1));

  const auto after = runtime::ReadLedger(file);
  EXPECT_EQ(after.torn, 0U);
  EXPECT_EQ(after.ledger.jobs().back().reserved.run_id, "2");
}

/// What the killed process has done, seen by the one that killed it.
struct Seen {
  std::atomic<int> run{0};       ///< that reserved last, counted from 1
  std::atomic<int> executed{0};  ///< its steps
  std::atomic<int> settled{0};   ///< runs whose settlement returned
};

constexpr int kSteps = 40;
constexpr int kAhead = 10;

/// Jobs one after the other, until it is killed.
[[noreturn]] void RunJobs(const fs::path& file, Seen& seen, int first) {
  try {
    for (int run = first;; ++run) {
      runtime::LedgerFile ledger(file);
      const auto id = fmt::format("{:04}", run);
      (void)ledger.Reserve(RequestOf(id, kSteps));
      seen.executed = 0;
      seen.run = run;
      for (int step = 1; step <= kSteps; ++step) {
        if (step % kAhead == 1) ledger.Announce(RecordOf(id, step + kAhead - 1));
        seen.executed = step;
      }
      (void)ledger.Settle(RecordOf(id, kSteps), dp::JobEnd::kDone);
      seen.settled = run;
    }
  } catch (...) {
    _exit(1);
  }
}

/// Until a process has executed a step of a job from number `first` on: on a slow machine it may not have
/// begun at an instant that is drawn beforehand.
void WaitForStep(const Seen& seen, int first) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while ((seen.run < first || seen.executed == 0) && std::chrono::steady_clock::now() < deadline) usleep(200);
}

// 200 times a process is killed (SIGKILL) that writes to a ledger, at an instant drawn from a fixed seed, and
// the next goes on with it.
TEST(LedgerFile, SurvivesAKillAtAnyInstant) {
  const TemporaryFolder folder;
  auto* seen = static_cast<Seen*>(
      mmap(nullptr, sizeof(Seen), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  ASSERT_NE(seen, MAP_FAILED);
  std::mt19937_64 random(11);
  int died_in_between = 0;
  constexpr int kKills = 200;
  constexpr int kKillsALedger = 20;
  fs::path file;
  for (int kill_number = 0; kill_number < kKills; ++kill_number) {
    if (kill_number % kKillsALedger == 0) {
      file = folder.path() / fmt::format("l{}", kill_number);
      new (seen) Seen;
    }
    const int first =
        fs::exists(file) ? static_cast<int>(runtime::ReadLedger(file).ledger.jobs().size()) + 1 : 1;
    const pid_t child = fork();
    if (child == 0) RunJobs(file, *seen, first);
    if (kill_number % 2 == 0) WaitForStep(*seen, first);
    usleep(static_cast<useconds_t>(random() % 25'000));
    ASSERT_EQ(kill(child, SIGKILL), 0);
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFSIGNALED(status)) << "the jobs failed by themselves";
    if (!fs::exists(file)) continue;

    const auto view = runtime::ReadLedger(file);  // unbroken, or the torn end of one line
    const auto& jobs = view.ledger.jobs();
    // Whatever returned is there, once; one more may be.
    ASSERT_GE(static_cast<int>(jobs.size()), seen->run.load());
    ASSERT_LE(static_cast<int>(jobs.size()), std::max(seen->run.load(), first - 1) + 1);
    for (std::size_t k = 0; k < jobs.size(); ++k) {
      const int run = static_cast<int>(k) + 1;
      ASSERT_EQ(jobs[k].reserved.run_id, fmt::format("{:04}", run));
      ASSERT_FALSE(view.may_be_alive[k]);
      if (run >= first && run <= seen->settled) {
        ASSERT_EQ(jobs[k].ended, dp::JobEnd::kDone);
      }
      if (run == seen->run && run > seen->settled) {
        ASSERT_GE(Charged(view, k), seen->executed.load());
        ASSERT_LE(Charged(view, k), seen->executed.load() + kAhead);
        if (!jobs[k].ended && seen->executed > 0) ++died_in_between;
      }
    }
  }
  EXPECT_GT(died_in_between, kKills / 10);
  munmap(seen, sizeof(Seen));
}

/// A data set for the number of its declaration: 64 digits.
runtime::BudgetRequest DeclarationOf(int number) {
  auto request = RequestOf("1", "patients", 'a', {static_cast<std::uint64_t>(number)});
  request.data = fmt::format("{:064}", number);
  request.population->data = request.data;
  return request;
}

/// Declares one data set after another, until it is killed.
[[noreturn]] void DeclareData(const fs::path& file, std::atomic<int>& declared, int first) {
  try {
    for (int number = first;; ++number) {
      (void)runtime::LedgerFile(file).Declare(DeclarationOf(number));
      declared = number;
    }
  } catch (...) {
    _exit(1);
  }
}

// What returned is declared, and of what is declared the records are known: none can pass for another
// population's.
TEST(LedgerFile, SurvivesAKillWhileDataIsDeclared) {
  const TemporaryFolder folder;
  const auto file = folder.path() / "l";
  auto* declared = static_cast<std::atomic<int>*>(
      mmap(nullptr, sizeof(std::atomic<int>), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  ASSERT_NE(declared, MAP_FAILED);
  new (declared) std::atomic<int>(0);
  std::mt19937 random(3);
  std::size_t members = 0;
  for (int kill_number = 0; kill_number < 40; ++kill_number) {
    const int first = static_cast<int>(members) + 1;
    const pid_t child = fork();
    if (child == 0) DeclareData(file, *declared, first);
    usleep(static_cast<useconds_t>(random() % 10'000));
    ASSERT_EQ(kill(child, SIGKILL), 0);
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFSIGNALED(status)) << "the declarations failed by themselves";
    if (!fs::exists(file)) continue;
    const auto ledger = runtime::ReadLedger(file).ledger;
    members = ledger.members().size();
    ASSERT_GE(static_cast<int>(members), declared->load());
    ASSERT_LE(static_cast<int>(members), std::max(declared->load(), first - 1) + 1);
    const runtime::KnownRecords records(file);
    for (int number = 1; number <= static_cast<int>(members); ++number) {
      const auto request = DeclarationOf(number);
      ASSERT_TRUE(ledger.IsDeclared(request.data));
      ASSERT_TRUE(records.Knows(*request.population));
    }
  }
  EXPECT_GT(members, 0U);
  munmap(declared, sizeof(std::atomic<int>));
}

}  // namespace
}  // namespace trefoil::apps
