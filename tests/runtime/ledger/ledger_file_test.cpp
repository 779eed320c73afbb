#include "runtime/ledger/ledger_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <spdlog/fmt/fmt.h>

#include "base/error.h"
#include "base/files/files.h"
#include "base/outward_text.h"
#include "dp/accounting/analytic_gaussian.h"
#include "dp/accounting/any_accountant.h"
#include "tests/apps/ledger_requests.h"
#include "tests/apps/temporary_folder.h"
#include "tests/support/limited_files.h"

namespace trefoil::runtime {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

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

// The party file names another ledger, or an older copy, or its first one, between two sessions.
TEST(LedgerFile, ChargesWhatARunThatItDoesNotKnowHasExecuted) {
  const TemporaryFolder folder;
  const auto file = folder.path() / "l";
  auto request = RequestOf("1", 20);
  request.before = RecordOf("1", 3);
  {
    LedgerFile ledger(file);
    (void)ledger.Reserve(request);
    ledger.Stop();  // before the first step
  }
  EXPECT_EQ(Charged(ReadLedger(file), 0), 3);
  request.record.run_id = request.before.run_id = "2";
  (void)LedgerFile(file).Reserve(request);  // as if it died
  (void)LedgerFile(file).Reserve(RequestOf("3", 1));
  const auto view = ReadLedger(file);
  EXPECT_EQ(view.ledger.jobs()[1].ended, dp::JobEnd::kDied);
  EXPECT_EQ(Charged(view, 1), 3);
  request.before = RecordOf("2", 2);
  EXPECT_THROW((void)LedgerFile(file).Reserve(request), ConfigError);  // an old copy
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

// Another version of the program may choose other noise for the same job.
TEST(LedgerFile, RefusesARunThatGoesOnWithOtherNoise) {
  const TemporaryFolder folder;
  const auto file = folder.path() / "l";
  {
    LedgerFile ledger(file);
    (void)ledger.Reserve(RequestOf("1", 100));
    ledger.Announce(RecordOf("1", 20));
    ledger.Announce(RecordOf("1", 40));
  }
  auto request = RequestOf("1", 100);
  request.before = RecordOf("1", 40);
  for (auto* record : {&request.record, &request.before})
    std::get<dp::DpSgdSteps>(record->events[0]).sigma = 51;
  EXPECT_THAT(ErrorOf([&] { (void)LedgerFile(file).Reserve(request); }),
              HasSubstr("found run 1 resumed with other noise or batches than it was executed with"));
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

TEST(LedgerFile, EntersAllJobsOrNoneWhereTheDiskIsFull) {
  const TemporaryFolder folder;
  const auto file = folder.path() / "l";
  const std::vector<BudgetRequest> jobs{RequestOf("", 10), RequestOf("", 20), RequestOf("", 30)};
  EXPECT_EQ(WithLimitedFiles(2000, [&] { (void)LedgerFile(file).Enter(jobs); }), 0);
  EXPECT_EQ(ReadTextFile(file, "a ledger"), "");
  (void)LedgerFile(file).Enter(jobs);
  const auto whole = ReadTextFile(file, "a ledger");
  EXPECT_EQ(ReadLedger(file).ledger.entered().size(), 3U);
  EXPECT_LT(whole.find('\n', whole.find("\"enter\"")), 2000U);  // one would have had room
  EXPECT_GT(whole.size(), 2000U);
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

TEST(LedgerFile, IsOfOneDataSet) {
  const TemporaryFolder folder;
  const auto file = folder.path() / "l";
  LedgerFile ledger(file);
  (void)ledger.Reserve(RequestOf("1", 1));
  auto other = RequestOf("2", 1);
  other.data = std::string(64, 'b');
  EXPECT_THROW((void)LedgerFile(file).Reserve(other), DataError);
  const auto error = ErrorOf([&] { (void)AskLedger(file, other); });
  EXPECT_THAT(error, HasSubstr("found other data than the ledger's: a ledger is of one data set"));
  EXPECT_THAT(error, Not(HasSubstr(other.data.substr(0, 8))));  // party.log and the status page have the text
  EXPECT_THAT(error, Not(HasSubstr(kData.substr(0, 8))));
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

TEST(LedgerFile, ChargesTheDataSetsOfAPopulationToOneBudget) {
  const TemporaryFolder folder;
  const auto file = folder.path() / "patients.jsonl";
  const auto run = [&](BudgetRequest request) {
    LedgerFile ledger(file);
    const auto answer = ledger.Reserve(request);
    (void)ledger.Settle(request.record, dp::JobEnd::kDone);
    return answer;
  };
  EXPECT_EQ(run(RequestOf("1", "patients", 'a', {1, 2})).spent, 0);  // a new ledger takes its first data set
  const auto corrected = RequestOf("2", "patients", 'b', {1, 3});
  const auto before = ReadTextFile(file, "a ledger");
  for (const auto& refused :
       {ErrorOf([&] { (void)run(corrected); }), ErrorOf([&] { (void)AskLedger(file, corrected); })})
    EXPECT_THAT(
        refused,
        AllOf(HasSubstr("data that was not declared to be of population \"patients\": if whoever is in it "
                        "may be in that population's other files, run: trefoil ledger declare, or "
                        "Party.declare of Python; else"),
              Not(HasSubstr(corrected.data.substr(0, 8)))));
  EXPECT_EQ(ReadTextFile(file, "a ledger"), before);
  EXPECT_TRUE(LedgerFile(file).Declare(corrected));
  EXPECT_FALSE(LedgerFile(file).Declare(corrected));
  EXPECT_EQ(AskLedger(file, corrected).spent, Insider(100));
  EXPECT_EQ(run(corrected).spent, Insider(100));
  EXPECT_NEAR(SpentIn(file), Insider(200), 1e-12);
  auto unnamed = RequestOf("3", 100);  // whose party file names no population
  EXPECT_NEAR(run(unnamed).spent, Insider(200), 1e-12);
  unnamed = RequestOf("4", 100);
  unnamed.data = std::string(64, 'c');
  EXPECT_THAT(ErrorOf([&] { (void)run(unnamed); }),
              HasSubstr("not declared to be of population \"patients\""));
  EXPECT_THAT(
      ErrorOf([&] { (void)run(RequestOf("5", "visitors", 'a', {})); }),
      HasSubstr("found population \"visitors\" asked for, expected \"patients\", whose ledger it is"));
  EXPECT_EQ(ReadLedger(file).ledger.members().size(), 2U);
}

TEST(LedgerFile, RefusesRecordsOfAnotherPopulation) {
  const TemporaryFolder folder;
  (void)LedgerFile(folder.path() / "patients").Reserve(RequestOf("1", "patients", 'a', {1, 2}));
  const auto file = folder.path() / "visitors";
  auto request = RequestOf("1", "visitors", 'b', {2, 3});
  for (const auto& refused : {ErrorOf([&] { (void)LedgerFile(file).Reserve(request); }),
                              ErrorOf([&] { (void)LedgerFile(file).Declare(request); }),
                              ErrorOf([&] { (void)AskLedger(file, request); })})
    EXPECT_THAT(refused, HasSubstr("found records that population \"patients\" has, too"));
  EXPECT_EQ(ReadTextFile(file, "a ledger"), "");
  request.population->by_chance = true;
  EXPECT_TRUE(LedgerFile(file).Declare(request));
  EXPECT_TRUE(ReadLedger(file).ledger.members()[0].equal_by_chance);
  request.population->by_chance = false;
  (void)LedgerFile(file).Reserve(request);
}

// A ledger that was kept before it had a population: its data set is the first of it.
TEST(LedgerFile, NamesThePopulationOfALedgerThatHasNone) {
  const TemporaryFolder folder;
  const auto file = folder.path() / "l";
  (void)LedgerFile(file).Reserve(RequestOf("1", 100));
  EXPECT_THAT(ErrorOf([&] { (void)LedgerFile(file).Reserve(RequestOf("2", "patients", 'b', {1})); }),
              HasSubstr("not declared to be of population \"patients\""));
  EXPECT_EQ(ReadLedger(file).ledger.population(), "");
  (void)LedgerFile(file).Reserve(RequestOf("2", "patients", 'a', {1}));
  EXPECT_EQ(ReadLedger(file).ledger.population(), "patients");
  const auto old = Version1Ledger(folder);
  auto request = RequestOf("3", "others", 'c', {5});
  EXPECT_THAT(ErrorOf([&] { (void)LedgerFile(old).Declare(request); }),
              HasSubstr("declared first, so that its records"));
  request.data = request.population->data = ReadLedger(old).ledger.data();
  EXPECT_TRUE(LedgerFile(old).Declare(request));
  const auto ledger = ReadLedger(old).ledger;
  EXPECT_EQ(ledger.jobs().size(), 2U);
  EXPECT_TRUE(ledger.terms().has_value());
  EXPECT_TRUE(ledger.IsOf(request.data));
  EXPECT_TRUE(ledger.IsOf(ledger.data()));
}

}  // namespace
}  // namespace trefoil::runtime
