#include "apps/ledger_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <spdlog/fmt/fmt.h>
#include <algorithm>
#include <atomic>
#include <csignal>
#include <nlohmann/json.hpp>
#include <random>
#include <thread>

#include "apps/files.h"
#include "base/error.h"
#include "base/outward_text.h"
#include "dp/analytic_gaussian.h"
#include "dp/any_accountant.h"
#include "tests/apps/temporary_folder.h"

namespace trefoil::apps {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

constexpr double kDelta = 1e-5;
constexpr double kNoCap = 1e6;
const std::string kData(64, 'a');

/// Without sampling, since its curve takes the accountant no time.
dp::TrainingRecord RecordOf(const std::string& run, std::int64_t steps) {
  return {.job_hash = "ab",
          .run_id = run,
          .events = {dp::DpSgdSteps{.steps = steps,
                                    .sampling_rate = 1,
                                    .sigma = 50,
                                    .sensitivity = 0.5,
                                    .clip = 0.5,
                                    .limits = {{1000, 1000, 1000}, {1000, 1000, 1000}},
                                    .party_deviation = 1e6,
                                    .coordinates = 100}}};
}

BudgetRequest RequestOf(const std::string& run, std::int64_t steps, double cap = kNoCap) {
  return {.data = kData, .name = "job", .record = RecordOf(run, steps), .epsilon_cap = cap, .delta = kDelta};
}

double Insider(std::int64_t steps) {
  dp::PrivacyFilter filter(dp::MakeFilterTerms(dp::FilterMode::kRdp, kDelta));
  filter.Add(dp::FilterCharges(RecordOf("1", steps), true));
  return filter.Epsilon();
}

double SpentIn(const fs::path& file) {
  const auto view = ReadLedger(file);
  return view.ledger
      .Spent(view.ledger.TermsAt(kDelta), [&](std::size_t job) { return view.may_be_alive[job]; })
      .insider;
}

/// Steps that a job of the ledger is charged.
std::int64_t Charged(const LedgerView& view, std::size_t job) {
  const auto& record = dp::Ledger::Charged(view.ledger.jobs()[job], view.may_be_alive[job]);
  return record.events.empty() ? 0 : std::get<dp::DpSgdSteps>(record.events.at(0)).steps;
}

std::string ErrorOf(const std::function<void()>& body) {
  try {
    body();
  } catch (const std::exception& error) {
    return error.what();
  }
  return "no error";
}

TEST(LedgerFile, ReservesAnnouncesAndSettles) {
  const TemporaryFolder folder;
  const auto file = folder.path() / "l";
  LedgerFile ledger(file);
  EXPECT_EQ(fs::status(file).permissions(), fs::perms::owner_read | fs::perms::owner_write);
  const auto answer = ledger.Reserve(RequestOf("1", 100));
  EXPECT_EQ(answer.spent, 0);
  EXPECT_EQ(answer.after, Insider(100));
  EXPECT_EQ(SpentIn(file), Insider(100));  // in full while it is under way
  ledger.Announce(RecordOf("1", 50));
  EXPECT_EQ(SpentIn(file), Insider(100));
  ledger.Announce(RecordOf("1", 100));
  const auto head = ledger.Settle(RecordOf("1", 100), dp::JobEnd::kDone);
  const auto view = ReadLedger(file);
  EXPECT_EQ(view.head, head);
  EXPECT_EQ(view.lines, 5U);
  EXPECT_FALSE(view.may_be_alive[0]);
  EXPECT_EQ(SpentIn(file), Insider(100));
}

TEST(LedgerFile, ChargesWhatWasAnnouncedToAJobThatStops) {
  const TemporaryFolder folder;
  const auto file = folder.path() / "l";
  {
    LedgerFile ledger(file);
    (void)ledger.Reserve(RequestOf("1", 100));
    ledger.Announce(RecordOf("1", 30));
    ledger.Stop();
    ledger.Stop();  // once is enough
    (void)ledger.Reserve(RequestOf("2", 100));
    ledger.Announce(RecordOf("2", 20));
  }  // as if it died
  auto view = ReadLedger(file);
  EXPECT_EQ(Charged(view, 0), 30);
  EXPECT_EQ(Charged(view, 1), 20);
  EXPECT_FALSE(view.ledger.jobs()[1].ended);
  LedgerFile next(file);
  (void)next.Reserve(RequestOf("3", 1));
  view = ReadLedger(file);
  EXPECT_EQ(view.ledger.jobs()[1].ended, dp::JobEnd::kDied);
  EXPECT_EQ(Charged(view, 1), 20);
}

/// Of the ledger of test records: so many noisy counts.
BudgetRequest EvaluationOf(const std::string& run, std::size_t planned, std::size_t before) {
  const dp::GaussianReleases count{.count = 1, .coordinates = 1, .sigma = 25, .party_deviation = 1e6};
  auto request = RequestOf(run, 1);
  request.record.events.assign(planned, count);
  request.before = request.record;
  request.before.events.assign(before, count);
  return request;
}

// All three have gone back to a copy from before the evaluation, of which none of them knows any more.
TEST(LedgerFile, RefusesAnOldCopyOfARunThatWasEvaluatedSince) {
  const TemporaryFolder folder;
  const auto file = folder.path() / "l";
  {
    LedgerFile ledger(file);
    const auto request = EvaluationOf("1", 1, 0);
    (void)ledger.Reserve(request);
    (void)ledger.Settle(request.record, dp::JobEnd::kDone);
  }
  const auto before = ReadTextFile(file, "a ledger");
  EXPECT_THAT(
      ErrorOf([&] { (void)LedgerFile(file).Reserve(EvaluationOf("1", 1, 0)); }),
      HasSubstr("found run 1 resumed after 0 steps and 0 other releases, expected at least the 0 steps "
                "and 1 other releases that it executed: all three have an old copy"));
  EXPECT_EQ(ReadTextFile(file, "a ledger"), before);
  const double once = SpentIn(file);
  (void)LedgerFile(file).Reserve(EvaluationOf("1", 2, 1));  // a run that goes on is charged both
  EXPECT_EQ(SpentIn(file), once);                           // of which the second has not begun
}

TEST(LedgerFile, KeepsTheCapOverJobsByComposingRecords) {
  const TemporaryFolder folder;
  const auto file = folder.path() / "l";
  const double cap = Insider(250);
  ASSERT_GT(2 * Insider(100), cap);  // a sum of epsilons would refuse the second job
  LedgerFile ledger(file);
  for (const char* run : {"1", "2"}) {
    (void)ledger.Reserve(RequestOf(run, 100, cap));
    (void)ledger.Settle(RecordOf(run, 100), dp::JobEnd::kDone);
  }
  const auto before = ReadTextFile(file, "a ledger");
  const auto error = ErrorOf([&] { (void)ledger.Reserve(RequestOf("3", 51, cap)); });
  EXPECT_EQ(error, fmt::format("{}: epsilon {} is spent, and with this job ({} alone) it would be {}, "
                               "expected at most the cap {} (insider, delta 1e-05)",
                               file.string(), DigitsAbove(Insider(200), 6), DigitsAbove(Insider(51), 6),
                               DigitsAbove(Insider(251), 6), cap));
  EXPECT_THROW((void)ledger.Reserve(RequestOf("3", 51, cap)), BudgetError);
  EXPECT_THROW((void)AskLedger(file, RequestOf("3", 51, cap)), BudgetError);
  EXPECT_EQ(ReadTextFile(file, "a ledger"), before);  // nothing is reserved
  EXPECT_NEAR(AskLedger(file, RequestOf("3", 50, cap * (1 + 1e-12))).spent, Insider(200), 1e-12);
  (void)ledger.Reserve(RequestOf("3", 50, cap * (1 + 1e-12)));
  auto without_noise = RequestOf("4", 1);
  std::get<dp::DpSgdSteps>(without_noise.record.events[0]).sigma = 0;
  EXPECT_THROW((void)LedgerFile(file).Reserve(without_noise), BudgetError);
}

/// What version 0.1 wrote: a job that is done, and one that died after it had announced 40 of 100 steps.
fs::path Version1Ledger(const TemporaryFolder& folder) {
  const auto file = folder.path() / "old";
  fs::copy_file(fs::path(TREFOIL_SOURCE_DIR) / "tests/apps/ledger-version-1.jsonl", file);
  fs::permissions(file, fs::perms::owner_read | fs::perms::owner_write);
  return file;
}

TEST(LedgerFile, GoesOnBehindTheLinesOfVersion1AndChangesNoneOfThem) {
  const TemporaryFolder folder;
  const auto file = Version1Ledger(folder);
  const auto before = ReadTextFile(file, "a ledger");
  EXPECT_FALSE(ReadLedger(file).ledger.terms());
  EXPECT_EQ(ReadLedger(file).ledger.jobs().size(), 2U);
  EXPECT_NEAR(SpentIn(file), Insider(140), 1e-9);
  auto closed = RequestOf("3", 10);
  closed.mode = dp::FilterMode::kClosed;
  EXPECT_THROW((void)LedgerFile(file).Reserve(closed), ConfigError);
  EXPECT_EQ(ReadTextFile(file, "a ledger"), before);
  LedgerFile ledger(file);
  EXPECT_NEAR(ledger.Reserve(RequestOf("3", 10)).after, Insider(150), 1e-9);
  (void)ledger.Settle(RecordOf("3", 10), dp::JobEnd::kDone);
  const auto after = ReadTextFile(file, "a ledger");
  EXPECT_EQ(after.substr(0, before.size()), before);
  EXPECT_NE(after.find("\"kind\":\"filter\"", before.size()), std::string::npos);
  EXPECT_EQ(ReadLedger(file).ledger.terms(), dp::MakeFilterTerms(dp::FilterMode::kRdp, kDelta));
  EXPECT_NEAR(SpentIn(file), Insider(150), 1e-9);
}

TEST(LedgerFile, KeepsModeAndDeltaThatItWasOpenedWith) {
  const TemporaryFolder folder;
  const auto file = folder.path() / "l";
  LedgerFile ledger(file);
  ledger.Open(kData, dp::MakeFilterTerms(dp::FilterMode::kGdp, kDelta));
  EXPECT_THROW(ledger.Open(kData, dp::MakeFilterTerms(dp::FilterMode::kRdp, kDelta)), ConfigError);
  auto other = RequestOf("1", 10);
  other.mode = dp::FilterMode::kRdp;
  EXPECT_THROW((void)ledger.Reserve(other), ConfigError);
  other = RequestOf("1", 10);
  other.delta = 1e-6;
  EXPECT_THROW((void)ledger.Reserve(other), ConfigError);
  other.delta = kDelta * (1 + 0x1p-40);
  EXPECT_THAT(ErrorOf([&] { (void)ledger.Reserve(other); }),
              HasSubstr("found delta 1.0000000000009096e-05 asked for, expected 1e-05, which was fixed"));
  // 2,500 Gaussians of multiplier 50 are one of multiplier 1.
  EXPECT_NEAR(ledger.Reserve(RequestOf("1", 2500)).after, dp::AnalyticGaussianEpsilon(1, 0.5 * kDelta), 1e-5);
  (void)ledger.Settle(RecordOf("1", 2500), dp::JobEnd::kDone);
  auto sampled = RequestOf("2", 1);
  std::get<dp::DpSgdSteps>(sampled.record.events[0]).sampling_rate = 0.5;
  EXPECT_THROW((void)ledger.Reserve(sampled), BudgetError);
}

/// A job that is calibrated to epsilon 3 by loss distributions.
dp::TrainingRecord CalibratedTo3(const std::string& run) {
  auto record = RecordOf(run, 500);
  auto& steps = std::get<dp::DpSgdSteps>(record.events[0]);
  steps.sampling_rate = 0.02;
  steps.sigma = dp::CalibrateNoiseMultiplier(3, kDelta, 0.02, 500, dp::AccountantKind::kPld) * (1 + 1e-9);
  return record;
}

TEST(LedgerFile, ClosedTakesAJobThatFillsTheCapByLossDistributions) {
  const TemporaryFolder folder;
  auto request = RequestOf("1", 1, 3);
  request.record = CalibratedTo3("1");
  EXPECT_THROW((void)LedgerFile(folder.path() / "rdp").Reserve(request), BudgetError);
  const auto file = folder.path() / "l";
  LedgerFile ledger(file);
  EXPECT_LE(ledger.Enter({request}).after, 3);
  EXPECT_THROW((void)ledger.Enter({request}),
               BudgetError);  // twice is beyond the cap, and nothing is entered
  EXPECT_EQ(ReadLedger(file).ledger.entered().size(), 1U);
  auto more = request;
  std::get<dp::DpSgdSteps>(more.record.events[0]).steps = 501;
  EXPECT_THROW((void)ledger.Reserve(more), BudgetError);
  EXPECT_THROW((void)ledger.Reserve(RequestOf("2", 1, 3)), BudgetError);
  (void)ledger.Reserve(request);
  (void)ledger.Settle(request.record, dp::JobEnd::kDone);
  auto again = request;
  again.record.run_id = "2";
  EXPECT_THROW((void)ledger.Reserve(again), BudgetError);
  EXPECT_THROW((void)ledger.Enter({again}), ConfigError);  // nothing after the first result
}

TEST(LedgerFile, CountsAJobUnderWayInFullForAnother) {
  const TemporaryFolder folder;
  const auto file = folder.path() / "l";
  LedgerFile first(file);
  (void)first.Reserve(RequestOf("1", 100));
  LedgerFile second(file);
  EXPECT_EQ(second.Reserve(RequestOf("2", 10)).spent, Insider(100));
  first.Announce(RecordOf("1", 40));  // behind what the second wrote
  second.Announce(RecordOf("2", 10));
  first.Stop();
  (void)second.Settle(RecordOf("2", 10), dp::JobEnd::kDone);
  EXPECT_NEAR(SpentIn(file), Insider(50), 1e-12);
}

TEST(LedgerFile, LosesNoEntryOfJobsAtTheSameTime) {
  const TemporaryFolder folder;
  const auto file = folder.path() / "l";
  constexpr int kThreads = 4;
  constexpr int kJobs = 10;
  std::vector<std::thread> threads;
  for (int thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([&, thread] {
      for (int job = 0; job < kJobs; ++job) {
        LedgerFile ledger(file);
        const auto run = fmt::format("{}{}", thread, job);
        (void)ledger.Reserve(RequestOf(run, 2));
        ledger.Announce(RecordOf(run, 1));
        (void)ledger.Settle(RecordOf(run, 2), dp::JobEnd::kDone);
      }
    });
  }
  for (auto& thread : threads) thread.join();
  const auto view = ReadLedger(file);
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
  std::array<std::optional<LedgerFile>, 8> ledgers;
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

TEST(LedgerFile, IsOfOneDataSet) {
  const TemporaryFolder folder;
  const auto file = folder.path() / "l";
  LedgerFile ledger(file);
  (void)ledger.Reserve(RequestOf("1", 1));
  auto other = RequestOf("2", 1);
  other.data = std::string(64, 'b');
  EXPECT_THROW((void)LedgerFile(file).Reserve(other), DataError);
  EXPECT_THAT(ErrorOf([&] { (void)AskLedger(file, other); }),
              HasSubstr("found data of SHA-256 " + other.data + ", expected " + kData));
}

TEST(LedgerFile, RefusesAnUnprotectedOrChangedOrReplacedFile) {
  const TemporaryFolder folder;
  const auto file = folder.path() / "l";
  LedgerFile ledger(file);
  (void)ledger.Reserve(RequestOf("1", 10));
  fs::permissions(file, fs::perms(0644));
  EXPECT_THAT(ErrorOf([&] { LedgerFile again(file); }), HasSubstr("found mode 0644, expected 0600"));
  fs::permissions(file, fs::perms(0600));

  auto text = ReadTextFile(file, "a ledger");
  text[text.find("\"steps\":10") + 8] = '2';
  folder.Write("l", text);  // in place
  EXPECT_THAT(ErrorOf([&] { (void)LedgerFile(file).Reserve(RequestOf("2", 1)); }),
              HasSubstr("l: line 2: found another hash than that of the line"));
  EXPECT_THAT(ErrorOf([&] { (void)ReadLedger(file); }), HasSubstr("l: line 2:"));
  folder.Write("l", "");
  EXPECT_THAT(ErrorOf([&] { ledger.Announce(RecordOf("1", 5)); }), HasSubstr("became shorter"));
  fs::remove(file);
  folder.Write("l", "");
  EXPECT_THAT(ErrorOf([&] { ledger.Announce(RecordOf("1", 5)); }), HasSubstr("was replaced"));
  EXPECT_THAT(ErrorOf([&] { LedgerFile none(folder.path() / "no/l"); }), HasSubstr("expected a ledger"));
  EXPECT_THAT(ErrorOf([&] { (void)ReadLedger(folder.path() / "no"); }), HasSubstr("expected a ledger"));
  EXPECT_THAT(ErrorOf([&] { (void)ReadLedger(folder.path()); }), HasSubstr("is a folder"));
}

// Cut at every byte, as a crash of the machine may do to what was not on disk yet: what is left is charged at
// least as before the last entry, and the next job goes on.
TEST(LedgerFile, GoesOnAfterACutAnywhere) {
  const TemporaryFolder folder;
  const auto file = folder.path() / "l";
  {
    LedgerFile ledger(file);
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
    LedgerFile next(file);
    const auto before = ReadLedger(file);
    // The line feed alone may be lacking.
    ASSERT_EQ(before.lines, static_cast<std::size_t>(std::count_if(ends.begin(), ends.end(),
                                                                   [&](auto end) { return end <= size; })));
    ASSERT_EQ(before.torn > 0, size > 0 && text[size - 1] != '\n' && text[size] != '\n') << size;
    const double spent = size < ends[2] ? 0 : Insider(60);
    ASSERT_EQ(next.Reserve(RequestOf("2", 1)).spent, spent) << size;
    const auto after = ReadLedger(file);
    ASSERT_EQ(after.torn, 0U);
    ASSERT_EQ(after.ledger.jobs().back().reserved.run_id, "2");
  }
}

TEST(LedgerFile, CutsOffATornLineThatIsLongerThanTheNext) {
  const TemporaryFolder folder;
  const auto file = folder.path() / "l";
  (void)LedgerFile(file).Reserve(RequestOf("1", 100));
  folder.Write("l", ReadTextFile(file, "a ledger") + std::string(20'000, '{'));
  ASSERT_EQ(ReadLedger(file).torn, 20'000U);

  (void)LedgerFile(file).Reserve(RequestOf("2", 1));

  const auto after = ReadLedger(file);
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
      LedgerFile ledger(file);
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
    const int first = fs::exists(file) ? static_cast<int>(ReadLedger(file).ledger.jobs().size()) + 1 : 1;
    const pid_t child = fork();
    if (child == 0) RunJobs(file, *seen, first);
    usleep(static_cast<useconds_t>(random() % 25'000));
    ASSERT_EQ(kill(child, SIGKILL), 0);
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFSIGNALED(status)) << "the jobs failed by themselves";
    if (!fs::exists(file)) continue;

    const auto view = ReadLedger(file);  // unbroken, or the torn end of one line
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

}  // namespace
}  // namespace trefoil::apps
