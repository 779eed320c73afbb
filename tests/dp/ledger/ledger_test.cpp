#include "dp/ledger/ledger.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "tests/support/error_text.h"

namespace trefoil::dp {
namespace {

using Json = nlohmann::json;
using testing::HasSubstr;

constexpr double kLedgerDelta = 1e-5;
const FilterTerms kTerms = MakeFilterTerms(FilterMode::kRdp, kLedgerDelta);
const auto kNone = [](std::size_t) { return false; };
const auto kAll = [](std::size_t) { return true; };

DpSgdSteps Steps(std::int64_t steps) {
  return {.steps = steps,
          .sampling_rate = 0.01,
          .sigma = 1.5,
          .sensitivity = 0.5,
          .clip = 0.5,
          .limits = {{1000, 1000, 1000}, {1000, 1000, 1000}},
          .party_deviation = 1e6,
          .coordinates = 100};
}

TrainingRecord RecordOf(const std::string& run, std::vector<RecordedEvent> events) {
  return {.job_hash = "ab", .run_id = run, .events = std::move(events)};
}

TrainingRecord RecordOf(const std::string& run, std::int64_t steps) { return RecordOf(run, {Steps(steps)}); }

/// `executed`: by earlier sessions of a run that the ledger does not know.
Json Reservation(const TrainingRecord& record, const TrainingRecord& executed = {}) {
  return Ledger::ReserveEntry({.time = "2026-01-31T12:00:00Z",
                               .name = "job",
                               .delta = kLedgerDelta,
                               .epsilon_cap = 3,
                               .reserved = record,
                               .announced = executed,
                               .executed = {}});
}

Json Settlement(const TrainingRecord& record, JobEnd ended = JobEnd::kDone) {
  return Ledger::SettleEntry(record, ended, kLedgerDelta, "2026-01-31T12:01:00Z");
}

/// What the filter of a ledger says of a record alone.
EpsilonPair Filtered(const TrainingRecord& record) {
  PrivacyFilter outsider(kTerms);
  PrivacyFilter insider(kTerms);
  outsider.Add(FilterCharges(record, false));
  insider.Add(FilterCharges(record, true));
  return {outsider.Epsilon(), insider.Epsilon()};
}

/// A ledger after these entries.
Ledger After(const std::vector<Json>& entries) {
  Ledger ledger;
  ledger.Apply(Ledger::DataEntry(std::string(64, 'a'), kTerms));
  for (const auto& entry : entries) ledger.Apply(entry);
  return ledger;
}

std::string ErrorOf(const std::vector<Json>& entries) {
  return testing_support::ErrorText<DataError>([&] { (void)After(entries); });
}

TEST(Ledger, ComposesRecordsAndNotEpsilons) {
  std::vector<Json> entries;
  for (const char* run : {"1", "2", "3", "4"}) {
    entries.push_back(Reservation(RecordOf(run, 500)));
    entries.push_back(Settlement(RecordOf(run, 500)));
  }
  const auto ledger = After(entries);
  const auto spent = ledger.Spent(kTerms, kAll);
  const auto one = Filtered(RecordOf("1", 500));
  const auto all = Filtered(RecordOf("1", 2000));
  EXPECT_NEAR(spent.insider, all.insider, 1e-12 * all.insider);
  EXPECT_NEAR(spent.outsider, all.outsider, 1e-12 * all.outsider);
  EXPECT_LT(spent.insider, 3 * one.insider);
  EXPECT_GT(spent.insider, one.insider);
  const auto more = RecordOf("5", 500);
  EXPECT_NEAR(ledger.Spent(kTerms, kAll, &more).insider, Filtered(RecordOf("1", 2500)).insider, 1e-9);
}

TEST(Ledger, ChargesAJobByWhatIsKnownOfIt) {
  const auto insider = [](const TrainingRecord& record) { return Filtered(record).insider; };
  std::vector<Json> entries{Reservation(RecordOf("1", 100))};
  EXPECT_EQ(After(entries).Spent(kTerms, kAll).insider, insider(RecordOf("1", 100)));  // in full
  EXPECT_EQ(After(entries).Spent(kTerms, kNone).insider, 0);  // dead, before it said that it would begin
  entries.push_back(Ledger::AnnounceEntry(RecordOf("1", 20)));
  entries.push_back(Ledger::AnnounceEntry(RecordOf("1", 40)));
  EXPECT_EQ(After(entries).Spent(kTerms, kAll).insider, insider(RecordOf("1", 100)));
  EXPECT_EQ(After(entries).Spent(kTerms, kNone).insider, insider(RecordOf("1", 40)));
  entries.push_back(Settlement(RecordOf("1", 40), JobEnd::kStopped));
  const auto ledger = After(entries);
  EXPECT_EQ(ledger.Spent(kTerms, kAll).insider, insider(RecordOf("1", 40)));
  ASSERT_EQ(ledger.jobs().size(), 1U);
  EXPECT_EQ(ledger.jobs()[0].ended, JobEnd::kStopped);
  EXPECT_EQ(ledger.jobs()[0].name, "job");
  EXPECT_EQ(ledger.data(), std::string(64, 'a'));
}

TEST(Ledger, HasNoGuaranteeWhereAJobHasNone) {
  auto steps = Steps(1);
  steps.sigma = 0;
  const auto record = RecordOf("1", {steps});
  const auto entry = Reservation(record);
  EXPECT_TRUE(entry.at("epsilon_insider").is_null());
  EXPECT_EQ(After({entry}).Spent(kTerms, kAll).insider, std::numeric_limits<double>::infinity());
}

TEST(Ledger, RefusesEntriesOutOfOrder) {
  const auto reserve = Reservation(RecordOf("1", 100));
  const auto settle = Settlement(RecordOf("1", 100));
  EXPECT_THAT(ErrorOf({settle}), HasSubstr("a run that is not under way"));
  EXPECT_THAT(ErrorOf({reserve, reserve}), HasSubstr("a run that reserved before"));
  EXPECT_THAT(ErrorOf({reserve, settle, settle}), HasSubstr("a run that is not under way"));
  EXPECT_THAT(ErrorOf({reserve, settle, reserve}), HasSubstr("a run that reserved before"));
  EXPECT_THAT(ErrorOf({reserve, settle, Ledger::AnnounceEntry(RecordOf("1", 100))}),
              HasSubstr("not under way"));
  EXPECT_THAT(ErrorOf({Ledger::DataEntry(std::string(64, 'b'), kTerms)}),
              HasSubstr("\"data\" first, and once"));
  Ledger empty;
  EXPECT_THROW(empty.Apply(reserve), DataError);
}

TEST(Ledger, RefusesMoreThanWasReservedAndLessThanWasAnnounced) {
  const auto reserve = Reservation(RecordOf("1", {LocalTraining{.steps = 3}, Steps(100)}));
  const auto announced = [](std::vector<RecordedEvent> events) {
    return Ledger::AnnounceEntry(RecordOf("1", std::move(events)));
  };
  EXPECT_EQ(ErrorOf({reserve, announced({LocalTraining{.steps = 3}, Steps(100)})}), "");
  EXPECT_EQ(ErrorOf({reserve, announced({LocalTraining{.steps = 3}})}), "");
  EXPECT_THAT(ErrorOf({reserve, announced({LocalTraining{.steps = 3}, Steps(101)})}),
              HasSubstr("more than the run reserved"));
  EXPECT_THAT(ErrorOf({reserve, announced({LocalTraining{.steps = 2}})}), HasSubstr("more than"));
  EXPECT_EQ(ErrorOf({reserve, announced({Steps(100)})}), "");  // costs no more
  auto quieter = Steps(100);
  quieter.sigma = 1.4;
  EXPECT_THAT(ErrorOf({reserve, announced({LocalTraining{.steps = 3}, quieter})}), HasSubstr("more than"));
  auto often = Steps(100);
  often.max_participation = 1;
  EXPECT_THAT(ErrorOf({reserve, announced({LocalTraining{.steps = 3}, often})}), HasSubstr("more than"));
  const auto later = announced({LocalTraining{.steps = 3}, Steps(50)});
  EXPECT_THAT(ErrorOf({reserve, later, announced({LocalTraining{.steps = 3}, Steps(49)})}),
              HasSubstr("less than"));
  EXPECT_THAT(ErrorOf({reserve, later, Settlement(RecordOf("1", {LocalTraining{.steps = 3}, Steps(49)}))}),
              HasSubstr("less than was announced"));
}

TEST(Ledger, RefusesWhatIsNotWellFormed) {
  const auto good = Reservation(RecordOf("1", 100));
  const auto with = [&](const char* key, const Json& value) {
    auto entry = good;
    entry[key] = value;
    return ErrorOf({entry});
  };
  EXPECT_EQ(with("name", "other"), "");
  EXPECT_THAT(with("kind", "x"), HasSubstr("kind \"x\""));
  EXPECT_THAT(with("kind", 1), HasSubstr("kind that is no text"));
  EXPECT_THAT(with("delta", 1), HasSubstr("delta 1"));
  EXPECT_THAT(with("delta", 0), HasSubstr("delta 0"));
  EXPECT_THAT(with("epsilon_cap", "3"), HasSubstr("no number"));
  EXPECT_THAT(with("record", 3), HasSubstr("training record"));
  EXPECT_THAT(with("more", 3), HasSubstr("an unknown key"));
  EXPECT_THAT(ErrorOf({Json(3)}), HasSubstr("no kind"));
  auto lacking = good;
  lacking.erase("time");
  EXPECT_THAT(ErrorOf({lacking}), HasSubstr("no time"));
  auto settle = Settlement(RecordOf("1", 100));
  settle["ended"] = "well";
  EXPECT_THAT(ErrorOf({good, settle}), HasSubstr("\"done\", \"stopped\" or \"died\""));
  Ledger empty;
  auto data = Ledger::DataEntry("abc", kTerms);
  EXPECT_THROW(empty.Apply(data), DataError);
  data = Ledger::DataEntry(std::string(64, 'a'), kTerms);
  data["version"] = 3;
  EXPECT_THROW(empty.Apply(data), DataError);
}

Json Resumption(const TrainingRecord& planned, const TrainingRecord& executed) {
  return Ledger::ResumeEntry({.time = "2026-01-31T12:02:00Z",
                              .name = {},
                              .delta = kLedgerDelta,
                              .epsilon_cap = 4,
                              .reserved = planned,
                              .announced = executed,
                              .executed = {}});
}

TEST(Ledger, LetsARunGoOnAfterItEndedAndChargesAllThatItExecuted) {
  const auto announce = [](std::int64_t steps) { return Ledger::AnnounceEntry(RecordOf("1", steps)); };
  // Died after 33 steps, of which 40 were announced; resumed from step 30.
  for (const bool settled : {false, true}) {
    std::vector<Json> entries{Reservation(RecordOf("1", 100)), announce(40)};
    if (settled) entries.push_back(Settlement(RecordOf("1", 40), JobEnd::kDied));
    entries.push_back(Resumption(RecordOf("1", 103), RecordOf("1", 33)));
    auto ledger = After(entries);
    ASSERT_EQ(ledger.jobs().size(), 1U);
    const LedgerJob& job = ledger.jobs()[0];
    EXPECT_EQ(job.name, "job");
    EXPECT_EQ(job.epsilon_cap, 4);
    EXPECT_FALSE(job.ended);
    EXPECT_EQ(ToJson(Ledger::Charged(job, true)), ToJson(RecordOf("1", 103)));
    EXPECT_EQ(ToJson(Ledger::Charged(job, false)), ToJson(RecordOf("1", 33)));
    ledger.Apply(announce(35));
    ledger.Apply(announce(103));
    ledger.Apply(Settlement(RecordOf("1", 103)));
    EXPECT_EQ(ledger.Spent(kTerms, kNone).insider, Filtered(RecordOf("1", 103)).insider);
  }
}

TEST(Ledger, ChargesARunThatItDidNotKnowAllThatItHasExecuted) {
  auto ledger = After({Reservation(RecordOf("1", 103), RecordOf("1", 33))});
  const LedgerJob& job = ledger.jobs().at(0);
  EXPECT_EQ(ToJson(Ledger::Charged(job, true)), ToJson(RecordOf("1", 103)));
  EXPECT_EQ(ToJson(Ledger::Charged(job, false)), ToJson(RecordOf("1", 33)));
  EXPECT_EQ(ToJson(job.certain), ToJson(RecordOf("1", 33)));
  EXPECT_THROW(ledger.Apply(Settlement(RecordOf("1", 32), JobEnd::kStopped)), DataError);
  ledger.Apply(Settlement(RecordOf("1", 33), JobEnd::kStopped));
  EXPECT_EQ(ErrorOf({Reservation(RecordOf("1", 103), RecordOf("1", 104))}),
            "found more than the run reserved, expected no more");
  EXPECT_FALSE(Reservation(RecordOf("1", 103)).contains("executed"));
}

TEST(Ledger, RefusesToResumeWhatWasNotReservedOrSaysTooMuch) {
  const auto reservation = Reservation(RecordOf("1", 100));
  auto other_job = RecordOf("1", 103);
  other_job.job_hash = "cd";
  EXPECT_THROW((void)After({reservation, Resumption(RecordOf("2", 103), RecordOf("2", 33))}), DataError);
  EXPECT_THROW((void)After({reservation, Resumption(other_job, other_job)}), DataError);
  EXPECT_THROW((void)After({reservation, Resumption(RecordOf("1", 103), RecordOf("1", 104))}), DataError);
  EXPECT_THROW((void)After({Resumption(RecordOf("1", 103), RecordOf("1", 33))}), DataError);
}

TEST(Ledger, RefusesToResumeAnOldCopyOfARun) {
  const auto announce = [](std::int64_t steps) { return Ledger::AnnounceEntry(RecordOf("1", steps)); };
  const auto resume = [](std::int64_t steps) { return Resumption(RecordOf("1", 200), RecordOf("1", steps)); };
  // Announcing 40 says that 20 were executed; of the other 20 that is not known, however the job ended.
  for (const bool died : {false, true}) {
    std::vector<Json> entries{Reservation(RecordOf("1", 100)), announce(20), announce(40)};
    if (died) entries.push_back(Settlement(RecordOf("1", 40), JobEnd::kDied));
    entries.push_back(resume(19));
    EXPECT_THAT(ErrorOf(entries), HasSubstr("found less of a run than it executed"));
    entries.back() = resume(20);
    EXPECT_EQ(ErrorOf(entries), "");
  }
  const std::vector<Json> done{Reservation(RecordOf("1", 100)), announce(100),
                               Settlement(RecordOf("1", 100))};
  auto entries = done;
  entries.push_back(resume(99));
  EXPECT_THAT(ErrorOf(entries), HasSubstr("found less of a run than it executed"));
  // What was counted once is not forgotten either.
  entries = done;
  entries.push_back(resume(130));
  entries.push_back(resume(129));
  EXPECT_THAT(ErrorOf(entries), HasSubstr("found less of a run than it executed"));
  EXPECT_EQ(ToJson(After(done).jobs()[0].certain), ToJson(RecordOf("1", 100)));
}

// A noisy evaluation is no step: it would be done again, and charged once.
TEST(Ledger, RefusesToResumeAnOldCopyOfARunThatWasEvaluatedSince) {
  const GaussianReleases count{.count = 1, .coordinates = 1, .sigma = 25, .party_deviation = 1e6};
  const auto counts = [&](std::size_t times) {
    return RecordOf("1", std::vector<RecordedEvent>(times, count));
  };
  std::vector<Json> entries{Reservation(counts(1)), Settlement(counts(1))};
  entries.push_back(Resumption(counts(1), counts(0)));
  EXPECT_THAT(ErrorOf(entries), HasSubstr("found less of a run than it executed"));
  entries.back() = Resumption(counts(2), counts(1));
  EXPECT_EQ(ErrorOf(entries), "");
  entries.push_back(Resumption(counts(1), counts(0)));
  EXPECT_THAT(ErrorOf(entries), HasSubstr("found less of a run than it executed"));
  // Of what was reserved alone nothing is known to have been executed.
  EXPECT_EQ(ErrorOf({Reservation(counts(1)), Resumption(counts(1), counts(0))}), "");
}

TEST(Ledger, AsksForARunThatGoesOnInPlaceOfWhatItHasOfIt) {
  const auto ledger = After({Reservation(RecordOf("1", 100)), Ledger::AnnounceEntry(RecordOf("1", 40)),
                             Reservation(RecordOf("2", 10))});
  const auto planned = RecordOf("1", 103);
  EXPECT_NEAR(ledger.Spent(kTerms, kAll, &planned).insider,
              Filtered(RecordOf("3", {Steps(103), Steps(10)})).insider, 1e-12);
  EXPECT_EQ(ledger.JobOf("2"), 1U);
  EXPECT_EQ(ledger.JobOf("3"), std::nullopt);
}

/// As today's program's predecessor wrote it.
Json DataOfVersion1() { return {{"kind", "data"}, {"version", 1}, {"sha256", std::string(64, 'a')}}; }

TEST(Ledger, ComposesWhatVersion1EnteredByTheFilterToo) {
  Ledger ledger;
  ledger.Apply(DataOfVersion1());
  ledger.Apply(Reservation(RecordOf("1", 500)));
  ledger.Apply(Settlement(RecordOf("1", 500)));
  EXPECT_FALSE(ledger.terms());
  EXPECT_EQ(ledger.TermsAt(kLedgerDelta), kTerms);
  EXPECT_EQ(ledger.Spent(kTerms, kAll).insider, Filtered(RecordOf("1", 500)).insider);
  EXPECT_GT(ledger.Spent(kTerms, kAll).insider, Epsilons(RecordOf("1", 500), kLedgerDelta).insider);
  EXPECT_THROW(ledger.Apply(Ledger::FilterEntry(MakeFilterTerms(FilterMode::kClosed, kLedgerDelta))),
               DataError);
  ledger.Apply(Ledger::FilterEntry(kTerms));
  EXPECT_EQ(ledger.terms(), kTerms);
  EXPECT_THROW(ledger.Apply(Ledger::FilterEntry(kTerms)), DataError);
  ledger.Apply(Reservation(RecordOf("2", 100)));
  EXPECT_EQ(ledger.jobs().size(), 2U);
}

TEST(FilterCharges, TakeAnApproximatePureReleaseAsAPureOneThatMayFail) {
  const auto record =
      RecordOf("1", {ApproximateReleases{.count = 2, .epsilon = 3, .failure = 1e-8}, Steps(1)});
  const auto events = FilterCharges(record, true);
  ASSERT_EQ(events.size(), 2 + InsiderEvents(Steps(1)).size());
  EXPECT_EQ(std::get<PureDp>(events[0]).count, 2);
  EXPECT_NEAR(std::get<IndependentFailure>(events[1]).probability, (1 + std::exp(3.0)) * 1e-8, 1e-20);
  EXPECT_EQ(std::get<IndependentFailure>(events[1]).count, 2);
  const auto known =
      RecordOf("1", {ApproximateReleases{.count = 1, .epsilon = 3, .failure = 1e-8, .insiders = false}});
  EXPECT_EQ(std::get<IndependentFailure>(FilterCharges(known, true)[1]).probability, 1);
}

TEST(Ledger, KeepsTheFilterThatItWasOpenedWith) {
  auto ledger = After({});
  EXPECT_EQ(ledger.terms(), kTerms);
  EXPECT_THROW(ledger.Apply(Ledger::FilterEntry(kTerms)), DataError);
  const auto other = ledger.TermsAt(1e-6);
  EXPECT_EQ(other.delta, 1e-6);
  EXPECT_NEAR(other.delta_cut, 5e-7, 1e-20);
  EXPECT_EQ(other.orders, kTerms.orders);
}

EnteredJob Entered(std::int64_t steps) {
  return {.time = "2026-01-31T12:00:00Z", .name = "job", .record = RecordOf("0", steps)};
}

TEST(Ledger, ClosedTakesEnteredJobsOnceAndChargesThemWhole) {
  const auto terms = MakeFilterTerms(FilterMode::kClosed, kLedgerDelta);
  Ledger ledger;
  ledger.Apply(Ledger::DataEntry(std::string(64, 'a'), terms));
  EXPECT_THROW(ledger.Apply(Reservation(RecordOf("1", 100))), DataError);
  for (int k = 0; k < 2; ++k) ledger.Apply(Ledger::EnterEntry(Entered(100), kLedgerDelta));
  const double both = Epsilons(RecordOf("1", 200), kLedgerDelta, AccountantKind::kPld).insider;
  EXPECT_NEAR(ledger.Spent(terms, kAll).insider, both, 1e-9);
  EXPECT_THROW(ledger.Apply(Reservation(RecordOf("1", 101))), DataError);
  ledger.Apply(Reservation(RecordOf("1", 100)));
  EXPECT_EQ(ledger.entered()[0].run_id, "1");
  EXPECT_THROW(ledger.Apply(Ledger::EnterEntry(Entered(1), kLedgerDelta)), DataError);
  ledger.Apply(Settlement(RecordOf("1", 30), JobEnd::kStopped));
  EXPECT_NEAR(ledger.Spent(terms, kNone).insider, both, 1e-9);  // what was not executed is charged, too
  ledger.Apply(Resumption(RecordOf("1", 100), RecordOf("1", 30)));
  EXPECT_THROW(ledger.Apply(Resumption(RecordOf("1", 110), RecordOf("1", 30))), DataError);
  ledger.Apply(Reservation(RecordOf("2", 100)));
  EXPECT_THROW(ledger.Apply(Reservation(RecordOf("3", 1))), DataError);
  EXPECT_THAT(ErrorOf({Ledger::EnterEntry(Entered(1), kLedgerDelta)}), HasSubstr("that is not closed"));
}

TEST(Ledger, HasTheDataSetsOfOnePopulation) {
  const std::string first(64, 'a');
  const auto declared = [](char digit, const char* name = "patients", bool equal = false) {
    return Ledger::PopulationEntry(
        {.time = "2026-01-31T12:00:00Z", .sha256 = std::string(64, digit), .equal_by_chance = equal}, name);
  };
  const auto ledger =
      After({Reservation(RecordOf("1", 100)), declared('b'), declared('c', "patients", true)});
  EXPECT_EQ(ledger.population(), "patients");
  EXPECT_EQ(ledger.data(), first);
  EXPECT_TRUE(ledger.IsOf(first));
  EXPECT_FALSE(ledger.IsDeclared(first));
  EXPECT_TRUE(ledger.IsOf(std::string(64, 'b')));
  EXPECT_FALSE(ledger.IsOf(std::string(64, 'd')));
  ASSERT_EQ(ledger.members().size(), 2U);
  EXPECT_TRUE(ledger.members()[1].equal_by_chance);
  EXPECT_EQ(ledger.Spent(kTerms, kAll).insider,
            Filtered(RecordOf("1", 100)).insider);  // a name costs nothing
  EXPECT_FALSE(After({}).IsOf(std::string(64, 'b')));

  EXPECT_THAT(ErrorOf({declared('b'), declared('c', "visitors")}), HasSubstr("found another population"));
  EXPECT_THAT(ErrorOf({declared('b'), declared('b')}), HasSubstr("declared before"));
  EXPECT_THAT(ErrorOf({declared('b', "")}), HasSubstr("without a name"));
  auto entry = declared('b');
  entry["sha256"] = "ab";
  EXPECT_THAT(ErrorOf({entry}), HasSubstr("of another length"));
  entry = declared('b');
  entry["equal_by_chance"] = 1;
  EXPECT_THAT(ErrorOf({entry}), HasSubstr("another equal_by_chance"));
}

TEST(IsWithin, CountsBatchesByHowOftenTheyWereExecuted) {
  const auto batches = [](std::int64_t steps, std::int64_t executions) {
    auto taken = Steps(steps);
    taken.sampling = SamplingMode::kPublic;
    taken.executions = executions;
    return taken;
  };
  const auto most = RecordOf("1", {batches(20, 1), batches(10, 3)});
  EXPECT_TRUE(IsWithin(RecordOf("1", {batches(30, 1)}), most));
  EXPECT_TRUE(IsWithin(RecordOf("1", {batches(20, 1), batches(10, 2)}), most));
  EXPECT_TRUE(IsWithin(RecordOf("1", {batches(25, 1), batches(5, 3)}), most));
  EXPECT_FALSE(IsWithin(RecordOf("1", {batches(31, 1)}), most));
  EXPECT_FALSE(IsWithin(RecordOf("1", {batches(11, 2)}), most));
  EXPECT_FALSE(IsWithin(RecordOf("1", {batches(1, 4)}), most));
  EXPECT_EQ(StepsIn(most), 50);
}

TEST(IsWithin, CountsEventsInAnyOrder) {
  const LocalTraining local{.steps = 3, .sampling_rate = 0.1, .sigma = 2};
  auto taken = Steps(10);
  taken.sampling = SamplingMode::kPublic;
  taken.max_participation = 4;
  const auto most = RecordOf("1", {local, Steps(10), local, Steps(20), taken});
  EXPECT_TRUE(IsWithin(RecordOf("1", {Steps(30), local, local}), most));
  EXPECT_FALSE(IsWithin(RecordOf("1", {Steps(31)}), most));
  EXPECT_FALSE(IsWithin(RecordOf("1", {local, local, local}), most));
  EXPECT_FALSE(IsWithin(RecordOf("1", {NoisyEvaluation{.sigma = 1}}), most));
  taken.max_participation = 5;
  EXPECT_FALSE(IsWithin(RecordOf("1", {taken}), most));
  auto louder = Steps(1);
  louder.sigma = 1.4;
  EXPECT_FALSE(IsWithin(RecordOf("1", {louder}), most));
}

}  // namespace
}  // namespace trefoil::dp
