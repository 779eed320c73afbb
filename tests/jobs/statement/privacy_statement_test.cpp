#include "jobs/statement/privacy_statement.h"

#include <gmock/gmock.h>
#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/error.h"
#include "base/outward_text.h"

namespace trefoil::jobs {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

dp::DpSgdSteps Steps() {
  return {.steps = 439,
          .sampling = dp::SamplingMode::kOwnerPoisson,
          .sampling_rate = 0.034,
          .sigma = 1.25,
          .sensitivity = 2.5,
          .clip = 2,
          .limits = {.capacity = {1000, 1000, 1000}, .max_batch = {80, 80, 80}},
          .party_deviation = 1e5,
          .coordinates = 7850};
}

std::vector<StatementEntry> StatementOf(std::vector<dp::RecordedEvent> events, dp::Promise promise = {}) {
  return PrivacyStatement({.record = {.job_hash = "00",
                                      .run_id = "00",
                                      .events = std::move(events),
                                      .promise = std::move(promise)},
                           .delta = 1e-5});
}

const StatementEntry* Find(const std::vector<StatementEntry>& statement, const std::string& key) {
  const auto found = std::find_if(statement.begin(), statement.end(),
                                  [&](const StatementEntry& entry) { return entry.key == key; });
  return found == statement.end() ? nullptr : &*found;
}

double NumberOf(const std::vector<StatementEntry>& statement, const std::string& key) {
  const auto* entry = Find(statement, key);
  return entry != nullptr && entry->number ? *entry->number : std::numeric_limits<double>::quiet_NaN();
}

std::string SentenceOf(const std::vector<StatementEntry>& statement, const std::string& key) {
  const auto* entry = Find(statement, key);
  return entry == nullptr ? "" : entry->sentence;
}

TEST(PrivacyStatement, SaysWhatAnAdaptiveClipOpens) {
  auto steps = Steps();
  EXPECT_EQ(Find(StatementOf({steps}), "clip_counts"), nullptr);
  steps.clip_count_sigma = 12.8;
  EXPECT_EQ(NumberOf(StatementOf({steps}), "clip_counts"), 12.8);
  EXPECT_THAT(SentenceOf(StatementOf({steps}), "clip_counts"),
              HasSubstr("All three parties also see at each step"));
  EXPECT_THAT(SentenceOf(StatementOf({steps}), "dpsgd_steps"),
              HasSubstr("for both together worth 1.25 times what one record changes"));
  EXPECT_THAT(SentenceOf(StatementOf({steps}), "noise_multiplier"), HasSubstr("sum and count together"));
  EXPECT_THAT(SentenceOf(StatementOf({steps}), "sensitivity"), HasSubstr("the first clip"));
}

TEST(PrivacyStatement, GivesBothEpsilonsAndWhatTheyRestOn) {
  const auto statement = StatementOf({Steps()});
  const auto epsilons = dp::Epsilons({.job_hash = {}, .run_id = {}, .events = {Steps()}}, 1e-5);
  EXPECT_EQ(NumberOf(statement, "epsilon_outsider"), epsilons.outsider);
  EXPECT_EQ(NumberOf(statement, "epsilon_insider"), epsilons.insider);
  EXPECT_EQ(NumberOf(statement, "delta"), 1e-5);
  EXPECT_EQ(NumberOf(statement, "dpsgd_steps"), 439);
  EXPECT_EQ(NumberOf(statement, "noise_multiplier"), 1.25);
  EXPECT_EQ(NumberOf(statement, "sensitivity"), 2.5);
  EXPECT_EQ(NumberOf(statement, "sampling"), 0.034);
  for (const auto* key :
       {"promise", "neighbours", "unit", "accountant", "assumes_one_corrupt", "assumes_private_coins",
        "assumes_sums_seen", "assumes_sensitivity", "assumes_public_job", "not_covered"}) {
    EXPECT_NE(SentenceOf(statement, key), "") << key;
  }
  EXPECT_EQ(Find(statement, "warning"), nullptr);
}

TEST(PrivacyStatement, SaysWhereTheUnitIsAGroup) {
  auto steps = Steps();
  EXPECT_THAT(SentenceOf(StatementOf({steps}), "unit"), HasSubstr("One record"));
  steps.limits.group_rows = 4;
  const auto statement = StatementOf({steps}, {.unit = dp::PrivacyUnit::kGroup});
  EXPECT_THAT(SentenceOf(statement, "unit"), HasSubstr("same key, of which a file has at most 4."));
  EXPECT_THAT(SentenceOf(statement, "sensitivity"), HasSubstr("that a group adds"));
  EXPECT_THAT(SentenceOf(statement, "sampling"), HasSubstr("each of its groups, all rows of it or none,"));
  dp::GaussianReleases sum{.count = 1, .coordinates = 10, .sigma = 4, .party_deviation = 1000};
  const dp::Promise of_groups{.unit = dp::PrivacyUnit::kGroup};
  EXPECT_THAT(SentenceOf(StatementOf({sum}, of_groups), "unit"), HasSubstr("as many as the job says"));
  sum.group_rows = 6;
  EXPECT_THAT(SentenceOf(StatementOf({sum}, of_groups), "unit"), HasSubstr("of which a file has at most 6."));
}

TEST(PrivacyStatement, SaysWhatTheRecordPromises) {
  using dp::Neighbours;
  using dp::PrivacyUnit;
  const auto of = [](PrivacyUnit unit, Neighbours neighbours) {
    return StatementOf({Steps()}, {.unit = unit, .neighbours = neighbours});
  };
  for (const auto unit : {PrivacyUnit::kRecord, PrivacyUnit::kJointRecord, PrivacyUnit::kGroup,
                          PrivacyUnit::kTeacher, PrivacyUnit::kOwner}) {
    const auto added = SentenceOf(of(unit, Neighbours::kAdded), "neighbours");
    const auto replaced = SentenceOf(of(unit, Neighbours::kReplaced), "neighbours");
    EXPECT_THAT(added, Not(HasSubstr("replaced")));
    EXPECT_THAT(added, HasSubstr("capacities are constants of the job"));
    EXPECT_THAT(replaced, Not(HasSubstr("added")));
    EXPECT_THAT(replaced, testing::AnyOf(HasSubstr("replaced by another"), HasSubstr("are others")));
  }
  EXPECT_THAT(SentenceOf(of(PrivacyUnit::kJointRecord, Neighbours::kAdded), "neighbours"),
              HasSubstr("at all three parties"));
  EXPECT_THAT(SentenceOf(of(PrivacyUnit::kTeacher, Neighbours::kReplaced), "unit"), HasSubstr("A teacher"));
  const auto owner = of(PrivacyUnit::kOwner, Neighbours::kReplaced);
  EXPECT_THAT(SentenceOf(owner, "neighbours"), HasSubstr("one owner's records, all of them"));
  EXPECT_THAT(SentenceOf(owner, "unit"), HasSubstr("An owner: all its records"));
}

TEST(PrivacyStatement, NamesTheUnitThatBothEpsilonsAreAbout) {
  using dp::PrivacyUnit;
  const std::vector<std::pair<PrivacyUnit, std::string>> names{{PrivacyUnit::kRecord, "a record"},
                                                               {PrivacyUnit::kGroup, "a group"},
                                                               {PrivacyUnit::kTeacher, "a teacher"},
                                                               {PrivacyUnit::kOwner, "an owner"}};
  for (const auto& [unit, name] : names) {
    const auto statement = StatementOf({Steps()}, {.unit = unit});
    EXPECT_THAT(SentenceOf(statement, "epsilon_insider"), HasSubstr(" about " + name + " of another. "));
    EXPECT_THAT(SentenceOf(statement, "epsilon_outsider"), HasSubstr(" protects " + name + ": "));
  }
}

TEST(PrivacyStatement, SaysThatARecordDoesNotSay) {
  const auto statement =
      PrivacyStatement({.record = {.job_hash = "00", .run_id = "00", .events = {Steps()}}, .delta = 1e-5});
  for (const auto* key : {"neighbours", "unit", "warning"})
    EXPECT_THAT(SentenceOf(statement, key), HasSubstr("Not stated by the record")) << key;
  EXPECT_THAT(SentenceOf(statement, "epsilon_insider"), HasSubstr(" about a unit of another. "));
  EXPECT_THAT(ToText(statement), Not(HasSubstr("added or removed")));
}

TEST(PrivacyStatement, ShowsATerminalNoCommandsOfARecord) {
  const auto text = ToText(StatementOf({Steps()}, {.warnings = {"\x1b[31mred \u009b31m \u202eback"}}));
  EXPECT_THAT(text, HasSubstr("[31mred \\u{9b}31m \\u{202e}back\n"));
  for (const auto* command : {"\x1b", "\u009b", "\u202e"}) EXPECT_THAT(text, Not(HasSubstr(command)));
}

TEST(PrivacyStatement, SaysWhatHoldsForSeveralRowsAndNeverKTimesEpsilon) {
  const dp::TrainingRecord record{
      .job_hash = {}, .run_id = {}, .events = {Steps()}, .promise = dp::Promise{}};
  const auto rows = EpsilonsOfRows(record, 1e-5);
  ASSERT_EQ(rows.size(), 4U);
  EXPECT_EQ(rows[0].epsilon_insider, dp::Epsilons(record, 1e-5).insider);
  EXPECT_EQ(rows[2].rows, 5);
  EXPECT_EQ(rows[2].epsilon_outsider, dp::EpsilonsOfUnits(record, 5, 1e-5).outsider);
  EXPECT_EQ(rows[3].delta, 1e-5);
  StatementSource source{.record = record, .delta = 1e-5, .rows = rows};
  const auto statement = PrivacyStatement(source);
  EXPECT_THAT(SentenceOf(statement, "several_rows"), StartsWith("Somebody with k rows, at one owner"));
  EXPECT_THAT(SentenceOf(statement, "several_rows"), HasSubstr("at delta 1e-05"));
  EXPECT_THAT(SentenceOf(statement, "several_rows"), HasSubstr(ToText(rows, FirstEpsilon::kOutsider)));
  EXPECT_THAT(ToText(statement), Not(HasSubstr("about k times")));
  const auto json = ToJson(rows);
  EXPECT_EQ(json.at(3).at("k"), 10);
  EXPECT_EQ(json.at(3).at("epsilon_insider"), rows[3].epsilon_insider);
}

TEST(SeveralRows, AreOfTheUnitAndTheNeighboursThatTheRecordPromises) {
  using dp::Neighbours;
  using dp::PrivacyUnit;
  const std::vector<RowsEpsilon> rows{{1, 1, 1, 1e-5}};
  struct Case {
    PrivacyUnit unit;
    const char* who;
    const char* units;
    bool whole;  // all data of somebody who is no row
  };
  for (const auto& [unit, who, units, whole] :
       {Case{PrivacyUnit::kRecord, "Somebody with k rows, at one owner or at several, is", "rows", false},
        Case{PrivacyUnit::kGroup, "Somebody with k groups, at one owner or at several, is", "groups", false},
        Case{PrivacyUnit::kJointRecord, "Somebody with k rows of the joint table is", "rows", false},
        Case{PrivacyUnit::kTeacher, "Somebody in the data of k teachers is", "teachers", true},
        Case{PrivacyUnit::kOwner, "Somebody in the records of k owners is", "owners", true}}) {
    dp::TrainingRecord record{
        .job_hash = {}, .run_id = {}, .events = {}, .promise = dp::Promise{.unit = unit}};
    const auto added = RowsSentence(record, rows);
    EXPECT_THAT(added, StartsWith(who));
    EXPECT_THAT(added, HasSubstr(fmt::format("all k {0} added or all k removed: k = 1", units)));
    EXPECT_THAT(added, Not(HasSubstr("replaced")));
    record.promise->neighbours = Neighbours::kReplaced;
    const auto replaced = RowsSentence(record, rows);
    EXPECT_THAT(replaced, StartsWith(who));
    EXPECT_THAT(replaced, HasSubstr(fmt::format("{}all k {} replaced by others: k = 1",
                                                whole ? "1e-05, the data of " : "1e-05, ", units)));
    EXPECT_THAT(replaced, Not(HasSubstr("added")));
    EXPECT_EQ(PrivacyStatement({.record = record, .delta = 1e-5, .rows = rows})[6].title,
              fmt::format("Several {}", units));
  }
  const dp::TrainingRecord silent{.job_hash = {}, .run_id = {}, .events = {}};
  EXPECT_THAT(RowsSentence(silent, rows), HasSubstr("the record does not state in what way"));
  EXPECT_THAT(RowsSentence(silent, rows), Not(HasSubstr("added")));
}

TEST(SeveralRows, OfAVerticalPartitionAreFirstOfValuesInKnownRecords) {
  auto steps = Steps();
  steps.sampling = dp::SamplingMode::kPublic;
  steps.max_participation = 18;
  steps.vertical = true;
  const dp::TrainingRecord record{.job_hash = {},
                                  .run_id = {},
                                  .events = {steps},
                                  .promise = dp::Promise{.unit = dp::PrivacyUnit::kJointRecord}};
  const auto sentence = RowsSentence(record, {{1, 2, 30, 1e-5}});
  EXPECT_THAT(sentence, HasSubstr("for an insider other values of another party in all k rows"));
  EXPECT_THAT(sentence,
              HasSubstr("for an outsider all k rows added or all k removed: k = 1: 30 insider, 2 out"));
}

TEST(PrivacyStatement, OfAVerticalPartitionPromisesInsidersNothingOfWhoTakesPart) {
  auto steps = Steps();
  steps.sampling = dp::SamplingMode::kPublic;
  steps.max_participation = 18;
  steps.vertical = true;
  const auto statement = StatementOf({steps}, {.unit = dp::PrivacyUnit::kJointRecord});
  EXPECT_THAT(SentenceOf(statement, "epsilon_insider"), HasSubstr("in a record that it knows to be there"));
  const auto presence = SentenceOf(statement, "epsilon_insider_presence");
  EXPECT_THAT(presence, HasSubstr("whether a record or padding is in a slot, all others being in theirs"));
  EXPECT_THAT(presence, HasSubstr("Who takes part its keys tell it."));
}

TEST(SeveralRows, AreRoundedUp) {
  const std::vector<RowsEpsilon> rows{
      {1, 2.71801, 0, 1e-5}, {2, 47.6401, 70.8901, 1e-5}, {5, 1.23401e-3, INFINITY, 1e-5}};
  EXPECT_EQ(
      ToText(rows, FirstEpsilon::kOutsider),
      "k = 1: 2.719 outsider, 0 insider; k = 2: 47.65 outsider, 70.9 insider; k = 5: 0.001235 outsider, "
      "infinite insider");
}

TEST(PrivacyStatement, SplitsDelta) {
  auto steps = Steps();
  const double cut_batches = 439 * dp::OverflowProbability(steps.limits, 0.034);
  ASSERT_GT(cut_batches, 0);
  const auto cut = SentenceOf(StatementOf({steps}), "delta");
  const auto taken = DigitsAbove(cut_batches, 3);
  EXPECT_THAT(cut, HasSubstr(taken + " against the outsider and " + taken + " against the insider"));
  // What is within a total variation costs (1 + e^epsilon) times as much.
  const dp::ApproximateReleases releases{.count = 1, .epsilon = 0.5, .failure = 1e-7};
  const auto approximate = DigitsAbove((1 + std::exp(0.5)) * 1e-7, 3) + " against the outsider";
  EXPECT_THAT(SentenceOf(StatementOf({releases}), "delta"), HasSubstr(approximate));
  EXPECT_THAT(SentenceOf(StatementOf({steps}), "dpsgd_steps"), HasSubstr("draws above 80, 80 and 80"));
  steps.limits.max_batch = steps.limits.capacity;
  EXPECT_THAT(SentenceOf(StatementOf({steps}), "delta"), HasSubstr("nothing against the outsider"));
  EXPECT_THAT(SentenceOf(StatementOf({steps}), "dpsgd_steps"), HasSubstr("no batch is cut"));
}

TEST(PrivacyStatement, ClaimsNoAmplificationForInsidersWherePartiesSeeTheCoins) {
  auto steps = Steps();
  steps.sampling = dp::SamplingMode::kPublic;
  steps.max_participation = 37;
  const auto statement = StatementOf({steps});
  EXPECT_THAT(SentenceOf(statement, "sampling"), HasSubstr("no amplification and counts 37 releases"));
  EXPECT_EQ(Find(statement, "assumes_private_coins"), nullptr);
}

TEST(PrivacyStatement, CountsOnNoCoinsWhereEveryStepTakesAllRows) {
  auto steps = Steps();
  steps.sampling_rate = 1;
  const auto statement = StatementOf({steps});
  EXPECT_THAT(SentenceOf(statement, "sampling"), HasSubstr("takes all rows of every owner"));
  EXPECT_EQ(Find(statement, "assumes_private_coins"), nullptr);
  EXPECT_NE(Find(StatementOf({Steps()}), "assumes_private_coins"), nullptr);
  // No coin chooses the records of these, and those of a tuning are its trials'.
  const dp::NoisyEvaluation evaluation{.sigma = 25, .party_deviation = 1e6};
  const dp::GaussianReleases sums{.count = 1, .coordinates = 10, .sigma = 4, .party_deviation = 1000};
  const auto tuning = [&](const dp::DpSgdSteps& each) {
    return dp::Tuning{.trials = {{.count = 2, .events = {each, evaluation}}}, .weights = {1, 1}};
  };
  EXPECT_EQ(Find(StatementOf({steps, evaluation, sums, tuning(steps)}), "assumes_private_coins"), nullptr);
  EXPECT_NE(Find(StatementOf({tuning(Steps())}), "assumes_private_coins"), nullptr);
}

TEST(PrivacyStatement, NamesOwnersOfDepositsAsAdversariesWithTheirEpsilons) {
  auto steps = Steps();
  steps.sampling = dp::SamplingMode::kFull;
  steps.sampling_rate = 1;
  steps.limits.max_batch = steps.limits.capacity;
  const auto statement = StatementOf({steps}, {.deposited = true});
  const auto epsilons = dp::Epsilons({.job_hash = {}, .run_id = {}, .events = {steps}}, 1e-5);
  EXPECT_EQ(NumberOf(statement, "epsilon_owner"), epsilons.outsider);
  EXPECT_EQ(NumberOf(statement, "epsilon_owner_and_party"), epsilons.insider);
  EXPECT_GT(epsilons.insider, epsilons.outsider);
  EXPECT_THAT(SentenceOf(statement, "epsilon_insider"), HasSubstr("about a record of an owner"));
  EXPECT_THAT(SentenceOf(statement, "sampling"),
              HasSubstr("all rows there are, so that nothing is amplified"));
  EXPECT_THAT(SentenceOf(statement, "assumes_deposits"), HasSubstr("Of owners nothing"));
  EXPECT_THAT(SentenceOf(statement, "assumes_public_job"),
              HasSubstr("in ledgers of their owners' populations at parties that keep such"));
  EXPECT_EQ(Find(statement, "assumes_private_coins"), nullptr);
  const auto of_parties = StatementOf({steps});
  for (const auto* key : {"epsilon_owner", "epsilon_owner_and_party", "assumes_deposits"})
    EXPECT_EQ(Find(of_parties, key), nullptr) << key;
}

TEST(PrivacyStatement, OfDepositedBatchesSaysWhatAnOwnerMayDoAndWhoKnowsWhoseCoins) {
  auto steps = Steps();
  steps.sampling = dp::SamplingMode::kDeposited;
  steps.limits = {{600, 0, 0}, {80, 0, 0}};
  steps.executions = 2;
  const auto statement = StatementOf({steps}, {.deposited = true});
  const auto epsilons = dp::Epsilons({.job_hash = {}, .run_id = {}, .events = {steps}}, 1e-5);
  EXPECT_EQ(NumberOf(statement, "epsilon_owner"), epsilons.outsider);
  EXPECT_EQ(NumberOf(statement, "epsilon_owner_and_party"), epsilons.insider);
  const auto sampling = SentenceOf(statement, "sampling");
  EXPECT_THAT(sampling, HasSubstr("before it deposits them, each record into each with probability 0.034"));
  EXPECT_THAT(sampling, HasSubstr("An owner may also fill the 80 rows that its batch has in every step"));
  EXPECT_THAT(SentenceOf(statement, "dpsgd_steps"), HasSubstr("an owner's draws above 80 rows are cut"));
  EXPECT_THAT(SentenceOf(statement, "executions"), HasSubstr("for whoever does not see the coins"));
  EXPECT_NE(Find(statement, "assumes_private_coins"), nullptr);
  steps.sampling_rate = 1;
  const auto all = StatementOf({steps}, {.deposited = true});
  EXPECT_THAT(SentenceOf(all, "sampling"), HasSubstr("so that nothing is amplified. An owner may also fill"));
  EXPECT_EQ(Find(all, "assumes_private_coins"), nullptr);
}

TEST(PrivacyStatement, SaysPlainlyThatThereIsNoGuarantee) {
  auto steps = Steps();
  steps.sigma = 0;
  const auto statement = StatementOf({steps});
  EXPECT_THAT(ToText(statement), HasSubstr("Epsilon, insider        infinite: no guarantee\n"));
  EXPECT_TRUE(ToJson(statement)[0].at("number").is_null());
  EXPECT_THAT(ToText(StatementOf({Steps()})), Not(HasSubstr("infinite")));
}

TEST(PrivacyStatement, SaysOfReleasesWhatIsTrueOfThem) {
  const auto pure = StatementOf({dp::PureReleases{.count = 1, .epsilon = 0.5}});
  EXPECT_DOUBLE_EQ(NumberOf(pure, "epsilon_insider"), 0.5);
  EXPECT_DOUBLE_EQ(NumberOf(pure, "epsilon_outsider"), 0.5);
  EXPECT_THAT(SentenceOf(pure, "epsilon_outsider"), HasSubstr("The same as for an insider"));
  EXPECT_THAT(SentenceOf(pure, "assumes_sums_seen"), HasSubstr("sees all noisy numbers"));
  EXPECT_EQ(Find(pure, "assumes_private_coins"), nullptr);
  EXPECT_THAT(ToText(pure), Not(HasSubstr("clip")));

  EXPECT_EQ(Find(pure, "epsilon_replaced"), nullptr);
  const auto reports = StatementOf({dp::PureReleases{.count = 1, .epsilon = 0.5, .replaced = 1}});
  EXPECT_DOUBLE_EQ(NumberOf(reports, "epsilon_insider"), 0.5);
  EXPECT_EQ(NumberOf(reports, "epsilon_replaced"), 1);

  const auto counts = StatementOf({dp::LaplaceCounts{.count = 400, .rate = 0.1}});
  EXPECT_LT(NumberOf(counts, "epsilon_outsider"), 0.7 * NumberOf(counts, "epsilon_insider"));
  EXPECT_THAT(SentenceOf(counts, "epsilon_outsider"), HasSubstr("three parties make up its noise"));
  EXPECT_THAT(SentenceOf(counts, "laplace_counts"), HasSubstr("less at every delta above 0"));
  for (const auto& statement : {pure, reports, counts}) {
    EXPECT_THAT(ToText(statement), Not(HasSubstr("adds nothing")));
    EXPECT_THAT(ToText(statement), Not(HasSubstr("does not lower")));
  }

  const auto gaussian =
      StatementOf({dp::GaussianReleases{.count = 1, .coordinates = 10, .sigma = 4, .party_deviation = 1000}});
  EXPECT_LT(NumberOf(gaussian, "epsilon_outsider"), NumberOf(gaussian, "epsilon_insider"));
  EXPECT_THAT(SentenceOf(gaussian, "epsilon_outsider"), HasSubstr("1.2247 times"));
  EXPECT_THAT(SentenceOf(gaussian, "gaussian_releases"), HasSubstr("Each of 10 coordinates"));
  EXPECT_THAT(ToText(gaussian), HasSubstr("Gaussian releases       1\n"));
  EXPECT_EQ(Find(gaussian, "assumes_private_coins"), nullptr);

  dp::ApproximateReleases approximate{.count = 1, .epsilon = 0.5, .failure = 1e-7};
  const auto parts = StatementOf({approximate});
  EXPECT_EQ(NumberOf(parts, "epsilon_outsider"), NumberOf(parts, "epsilon_insider"));
  EXPECT_THAT(SentenceOf(parts, "epsilon_outsider"), HasSubstr("The same as for an insider"));
  approximate.insiders = false;
  const auto published = StatementOf({approximate});
  EXPECT_TRUE(std::isinf(NumberOf(published, "epsilon_insider")));
  EXPECT_THAT(SentenceOf(published, "epsilon_insider"), HasSubstr("It may know all of the noise."));
  EXPECT_THAT(ToText(published), Not(HasSubstr("1.2247")));
}

TEST(PrivacyStatement, TellsApartWhatOpensBeforeTheSteps) {
  dp::GaussianReleases opened{.count = 1, .coordinates = 514, .sigma = 5, .party_deviation = 1e6};
  opened.of = dp::ReleasedFor::kRanges;
  auto means = opened;
  means.of = dp::ReleasedFor::kMeans;
  auto counts = opened;
  counts.of = dp::ReleasedFor::kClassCounts;
  const auto statement = StatementOf({opened, means, counts, Steps()});
  std::vector<std::string> titles;
  for (const auto& entry : statement) {
    if (entry.key == "gaussian_releases") titles.push_back(entry.title + ": " + entry.sentence);
  }
  const std::string noise =
      "Each of 514 coordinates, with noise of 5 times the most that one unit of privacy changes.";
  EXPECT_THAT(
      titles,
      testing::ElementsAre(
          "Noisy counts of ranges: By which all three parties find ranges of columns, before the rest. " +
              noise,
          "Noisy sums of means: From which means follow, and scales of a table's columns, before the first "
          "step. " +
              noise,
          "Noisy counts of classes: From which weights of classes follow, before the first step. " + noise));
}

TEST(PrivacyStatement, IsByTheAccountantThatItNames) {
  const dp::TrainingRecord record{.job_hash = "", .run_id = "", .events = {Steps()}};
  const auto by = [&](dp::AccountantKind kind) {
    return PrivacyStatement({.record = record, .delta = 1e-5, .accountant = kind});
  };
  const auto pld = by(dp::AccountantKind::kPld);
  EXPECT_EQ(NumberOf(pld, "epsilon_insider"), dp::Epsilons(record, 1e-5, dp::AccountantKind::kPld).insider);
  EXPECT_LT(NumberOf(pld, "epsilon_insider"), NumberOf(StatementOf({Steps()}), "epsilon_insider"));
  EXPECT_GT(NumberOf(pld, "accountant_error"), 0);
  EXPECT_THAT(SentenceOf(pld, "accountant"), HasSubstr("pld: "));
  const auto pea = by(dp::AccountantKind::kPea);
  EXPECT_THAT(SentenceOf(pea, "accountant"), HasSubstr("without amplification"));
  EXPECT_THAT(SentenceOf(pea, "sampling"), HasSubstr("the accountant counts on nothing of it"));
  EXPECT_EQ(Find(pea, "assumes_private_coins"), nullptr);
}

TEST(ReleasesStatement, SaysWhatItsSamplingAssumes) {
  const auto sampled = ReleasesStatement(0.01, dp::AccountantKind::kPld, 0.002);
  EXPECT_THAT(SentenceOf(sampled, "sampling"), HasSubstr("coins that the adversary does not see"));
  EXPECT_THAT(SentenceOf(sampled, "accountant"), HasSubstr("at most 0.002 above"));
  EXPECT_NE(SentenceOf(sampled, "neighbours"), "");
  EXPECT_THAT(SentenceOf(ReleasesStatement(1, dp::AccountantKind::kRdp, 0), "sampling"),
              HasSubstr("nothing is amplified"));
}

TEST(PrivacyStatement, NamesEveryEventAndWarning) {
  const dp::LocalTraining local{.steps = 200, .sampling_rate = 0.1, .sigma = 4, .deviation = 100};
  const dp::NoisySelection selection{
      .candidates = 4, .sampling_rate = 0.1, .sigma = 5, .limits = Steps().limits, .party_deviation = 100};
  const dp::NoisyEvaluation evaluation{.sigma = 8, .party_deviation = 100};
  const auto statement =
      StatementOf({local, selection, Steps(), evaluation}, {.warnings = {"first", "second"}});
  EXPECT_EQ(NumberOf(statement, "local_training"), 200);
  EXPECT_EQ(NumberOf(statement, "noisy_selection"), 4);
  EXPECT_EQ(NumberOf(statement, "test_records"),
            dp::TestSetEpsilons({.job_hash = {}, .run_id = {}, .events = {evaluation}}, 1e-5).insider);
  const double of_outsider =
      dp::TestSetEpsilons({.job_hash = {}, .run_id = {}, .events = {evaluation}}, 1e-5).outsider;
  EXPECT_THAT(SentenceOf(statement, "test_records"),
              HasSubstr(DigitsAbove(of_outsider, 6) + " for an outsider"));
  EXPECT_EQ(Find(StatementOf({Steps()}), "test_records"), nullptr);
  EXPECT_EQ(statement.back().sentence, "second");
}

TEST(PrivacyStatement, SaysOfEachEventWhoseNoiseProtects) {
  const dp::LocalTraining local{.steps = 200, .sampling_rate = 0.1, .sigma = 4, .deviation = 100};
  const dp::PureReleases size{.count = 1, .epsilon = 0.1};
  const dp::GaussianReleases weights{.count = 1, .coordinates = 10, .sigma = 4, .party_deviation = 1000};
  const dp::LaplaceCounts counts{.count = 4, .rate = 0.1};
  const auto outsiders = [](const std::vector<dp::RecordedEvent>& events) {
    return SentenceOf(StatementOf(events), "epsilon_outsider");
  };
  EXPECT_THAT(outsiders({local, Steps()}),
              HasSubstr("1.2247 times the noise multiplier; of local training the owner's own noise alone, "
                        "at its multiplier."));
  EXPECT_THAT(SentenceOf(StatementOf({local, Steps()}), "epsilon_insider"),
              HasSubstr("remains: the noise multiplier; of local training the owner's own noise alone, at "
                        "its multiplier."));
  EXPECT_THAT(outsiders({size, weights}),
              HasSubstr("multiplier; of releases with an epsilon of their own what noise a third party adds "
                        "is not counted."));
  EXPECT_THAT(outsiders({counts, weights}),
              HasSubstr("multiplier; of noisy counts the parts of all three parties make up the noise."));
  EXPECT_THAT(outsiders({local}), HasSubstr(" Of local training the owner's own noise alone"));
  EXPECT_THAT(outsiders({local}), Not(HasSubstr("1.2247")));
  EXPECT_THAT(outsiders({Steps()}), HasSubstr("1.2247 times the noise multiplier."));
}

TEST(PrivacyStatement, OfASampledSumTellsOfNoTrainingAlone) {
  const auto statement = StatementOf({Steps()});
  ASSERT_NE(Find(statement, "dpsgd_steps"), nullptr);
  EXPECT_EQ(Find(statement, "dpsgd_steps")->title, "Noisy sums");
  EXPECT_THAT(SentenceOf(statement, "dpsgd_steps"), HasSubstr("a sum of clipped vectors, in a training the"));
  EXPECT_THAT(SentenceOf(statement, "assumes_sensitivity"), Not(HasSubstr("local training")));
  const dp::LocalTraining local{.steps = 200, .sampling_rate = 0.1, .sigma = 4, .deviation = 100};
  EXPECT_THAT(SentenceOf(StatementOf({local, Steps()}), "assumes_sensitivity"), HasSubstr("local training"));
}

TEST(PrivacyStatement, HasTheSameEntriesAsTextAndJson) {
  const auto statement = StatementOf({Steps()});
  const auto json = ToJson(statement);
  ASSERT_EQ(json.size(), statement.size());
  const auto text = ToText(statement);
  for (std::size_t i = 0; i < statement.size(); ++i) {
    EXPECT_EQ(json[i].at("key"), statement[i].key);
    EXPECT_EQ(json[i].contains("number"), statement[i].number.has_value());
    EXPECT_THAT(text, HasSubstr(statement[i].title));
  }
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 96U) << line;
}

TEST(PrivacyStatement, RefusesADeltaOutsideItsDomain) {
  EXPECT_THROW((void)PrivacyStatement({.record = {}, .delta = 1}), ConfigError);
}

}  // namespace
}  // namespace trefoil::jobs
