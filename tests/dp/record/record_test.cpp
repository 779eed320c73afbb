#include "dp/record/record.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <tuple>

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "dp/accounting/analytic_gaussian.h"
#include "dp/laws/closeness.h"
#include "tests/dp/mnist_records.h"
#include "tests/dp/not_finite.h"

namespace trefoil::dp {
namespace {

TEST(Events, ChargeTheOutsiderForThreePartiesNoise) {
  const auto events = OutsiderEvents(MnistRecord());
  ASSERT_EQ(events.size(), 3U);
  EXPECT_EQ(Noise(events).sampling_rate, 2048.0 / 60000);
  EXPECT_DOUBLE_EQ(Noise(events).noise_multiplier, 1.1 * std::sqrt(1.5));
  EXPECT_EQ(Noise(events).count, 439);
  EXPECT_EQ(Closeness(events).bound, ClosenessCharge(3, 1e9, 7850, 439).bound);
  EXPECT_EQ(Closeness(events).count, 439);
  EXPECT_EQ(Cutting(events).probability, PoissonOverflowProbability(19999, 2048.0 / 60000, 849));
  EXPECT_EQ(Cutting(events).count, 439);
}

TEST(Events, ChargeTheInsiderForTwoPartiesNoise) {
  auto steps = MnistSteps();
  steps.party_deviation = 1.5;
  const auto events = InsiderEvents(steps);
  EXPECT_EQ(Noise(events).sampling_rate, 2048.0 / 60000);
  EXPECT_EQ(Noise(events).noise_multiplier, ContinuousMultiplier(1.1, std::sqrt(2.0) * 1.5));
  EXPECT_EQ(Noise(events).count, 439);
  EXPECT_EQ(Closeness(events).bound, ClosenessCharge(2, 1.5, 7850, 439).bound);
  EXPECT_EQ(Cutting(events).count, 439);
}

TEST(Events, DoNotAmplifyForAnInsiderWhoSeesTheCoins) {
  auto steps = MnistSteps();
  steps.sampling = SamplingMode::kPublic;
  steps.max_participation = 31;
  EXPECT_EQ(Noise(InsiderEvents(steps)).sampling_rate, 1);
  EXPECT_EQ(Noise(InsiderEvents(steps)).count, 31);
  EXPECT_EQ(Closeness(InsiderEvents(steps)).count, 31);
  EXPECT_EQ(Closeness(InsiderEvents(steps, 2)).count, 62) << "two records may be in as many executions";
  EXPECT_EQ(Closeness(InsiderEvents(steps, 1000)).count, 439) << "of all that there are";
  EXPECT_EQ(Noise(OutsiderEvents(steps)).sampling_rate, 2048.0 / 60000);
  EXPECT_EQ(Noise(OutsiderEvents(steps)).count, 439);
}

// No coin is there that anybody could not see.
TEST(Events, DoNotAmplifyForAnybodyWhereEveryBatchHasAllRows) {
  auto steps = MnistSteps();
  steps.sampling = SamplingMode::kFull;
  for (const auto& events : {InsiderEvents(steps), OutsiderEvents(steps)}) {
    EXPECT_EQ(Noise(events).sampling_rate, 1);
    EXPECT_EQ(Noise(events).count, 439);
    EXPECT_EQ(Closeness(events).count, 439);
  }
  EXPECT_DOUBLE_EQ(Noise(InsiderEvents(steps)).noise_multiplier, 1.1);
  EXPECT_DOUBLE_EQ(Noise(OutsiderEvents(steps)).noise_multiplier, 1.1 * std::sqrt(1.5));
}

// Owners drew the rows and tell nobody: a party knows its own noise, and no more of the coins than an
// outsider.
TEST(Events, AmplifyForEverybodyWhereOwnersDepositedTheirBatches) {
  auto steps = MnistSteps();
  steps.sampling = SamplingMode::kDeposited;
  steps.limits = {{600, 0, 0}, {40, 0, 0}};
  for (const std::int64_t executions : {1, 3}) {
    steps.executions = executions;
    const double fewer = std::sqrt(static_cast<double>(executions));
    for (const auto& [events, parties, multiplier] :
         {std::tuple{InsiderEvents(steps), 2, 1.1},
          std::tuple{OutsiderEvents(steps), 3, 1.1 * std::sqrt(1.5)}}) {
      EXPECT_EQ(Noise(events).sampling_rate, 2048.0 / 60000);
      EXPECT_DOUBLE_EQ(Noise(events).noise_multiplier, multiplier / fewer);
      EXPECT_EQ(Noise(events).count, 439) << "batches, however often each was executed";
      EXPECT_EQ(Closeness(events).bound, ClosenessCharge(parties, 1e9, 7850, 439).bound);
      EXPECT_EQ(Closeness(events).count, 439 * executions) << "draws of noise";
      EXPECT_EQ(Cutting(events).probability, PoissonOverflowProbability(599, 2048.0 / 60000, 39));
      EXPECT_EQ(Cutting(events).count, 439);
    }
  }
}

// Two records of one person at two owners, which is worse here than both at one.
TEST(Events, ChargeCutBatchesOfAnyOwnersWhereTheyDepositedThem) {
  auto steps = MnistSteps();
  steps.sampling = SamplingMode::kDeposited;
  steps.sampling_rate = 0.8;
  steps.limits = {{12, 0, 0}, {11, 0, 0}};
  for (const auto& events : {OutsiderEvents(steps, 2), InsiderEvents(steps, 2)})
    EXPECT_NEAR(Cutting(events).probability, 2 * std::pow(0.8, 11), 1e-5);
  EXPECT_NEAR(Cutting(OutsiderEvents(steps)).probability, std::pow(0.8, 11), 1e-5);
}

TEST(Record, OfDepositedBatchesHasTheLimitsOfOneOwner) {
  auto steps = MnistSteps();
  steps.sampling = SamplingMode::kDeposited;
  steps.limits = {{600, 0, 0}, {40, 0, 0}};
  steps.executions = 2;
  const auto json = ToJson({.job_hash = "ab", .run_id = "cd", .events = {steps}});
  EXPECT_EQ(json.at("events").at(0).at("sampling"), "deposited");
  const auto read = std::get<DpSgdSteps>(FromJson(json).events.at(0));
  EXPECT_EQ(read.sampling, SamplingMode::kDeposited);
  EXPECT_EQ(read.executions, 2);
  for (const auto& [key, value] :
       std::vector<std::pair<std::string, nlohmann::json>>{{"capacity", {600, 1, 0}},
                                                           {"max_batch", {40, 0, 1}},
                                                           {"max_group_rows", 2},
                                                           {"partition", "vertical"}}) {
    auto changed = json;
    changed["events"][0][key] = value;
    EXPECT_THROW((void)FromJson(changed), DataError) << key;
  }
}

TEST(Record, OfFullBatchesSaysNothingOfARate) {
  auto steps = MnistSteps();
  steps.sampling = SamplingMode::kFull;
  steps.sampling_rate = 1;
  steps.limits.max_batch = steps.limits.capacity;
  const auto json = ToJson({.job_hash = "ab", .run_id = "cd", .events = {steps}});
  EXPECT_EQ(json.at("events").at(0).at("sampling"), "full");
  EXPECT_EQ(std::get<DpSgdSteps>(FromJson(json).events.at(0)).sampling, SamplingMode::kFull);
  EXPECT_EQ(Cutting(OutsiderEvents(steps)).probability, 0);
  for (const auto& [key, value] : std::vector<std::pair<std::string, nlohmann::json>>{
           {"sampling_rate", 0.5}, {"max_batch", {1, 2, 3}}, {"max_participation", 500}, {"executions", 2}}) {
    auto changed = json;
    changed["events"][0][key] = value;
    EXPECT_THROW((void)FromJson(changed), DataError) << key;
  }
}

TEST(Events, ChargeAnInsiderOfAVerticalPartitionForOtherValuesOfAKnownRecord) {
  auto steps = MnistSteps();
  steps.sampling = SamplingMode::kPublic;
  steps.max_participation = 31;
  steps.vertical = true;
  EXPECT_DOUBLE_EQ(Noise(InsiderEvents(steps)).noise_multiplier, 0.55);
  EXPECT_EQ(Noise(InsiderEvents(steps)).count, 31);
  EXPECT_DOUBLE_EQ(Noise(OutsiderEvents(steps)).noise_multiplier, 1.1 * std::sqrt(1.5));
  const TrainingRecord record{"a", "b", {steps}};
  auto whole_rows = steps;
  whole_rows.vertical = false;
  EXPECT_EQ(*PresenceEpsilon(record, 1e-5), Epsilons({"a", "b", {whole_rows}}, 1e-5).insider);
  EXPECT_LT(*PresenceEpsilon(record, 1e-5), Epsilons(record, 1e-5).insider);
  EXPECT_FALSE(PresenceEpsilon(MnistRecord(), 1e-5));
  EXPECT_EQ(ToJson(record).at("events").at(0).at("partition"), "vertical");
  EXPECT_TRUE(std::get<DpSgdSteps>(FromJson(ToJson(record)).events.at(0)).vertical);
  EXPECT_FALSE(ToJson(MnistRecord()).at("events").at(0).contains("partition"));
  auto json = ToJson(record);
  json["events"][0]["sampling"] = "owner-poisson";
  EXPECT_THROW((void)FromJson(json), DataError);
}

/// epsilon at delta of one sampled Gaussian, rate q and multiplier s, in closed form: where the density of
/// the mixture is above e^epsilon times that of the noise alone.
double ExactOfOneBatch(double q, double s, double delta) {
  const auto tail = [](double x) { return std::erfc(x / std::sqrt(2.0)) / 2; };
  const auto delta_at = [&](double epsilon) {
    const double x = s * s * std::log((std::exp(epsilon) - 1 + q) / q) + 0.5;
    return (1 - q) * tail(x / s) + q * tail((x - 1) / s) - std::exp(epsilon) * tail(x / s);
  };
  double low = 1e-6;
  double high = 40;
  for (int k = 0; k < 100; ++k) {
    const double middle = (low + high) / 2;
    (delta_at(middle) > delta ? low : high) = middle;
  }
  return high;
}

// A resumed run does steps again on the same rows: a record is in all of their executions or in none.
TEST(Epsilons, ChargeABatchExecutedTwiceAsOneReleaseWithLessNoise) {
  for (const auto& [rate, multiplier, executions, delta, exact] :
       {std::tuple{0.034, 0.85, 2, 1e-5, 3.2224}, std::tuple{0.1, 1.2, 3, 1e-6, 4.4428}}) {
    DpSgdSteps steps{.steps = 1,
                     .sampling = SamplingMode::kPublic,
                     .sampling_rate = rate,
                     .sigma = multiplier / std::sqrt(1.5),
                     .sensitivity = 1,
                     .clip = 1,
                     .limits = {{1000, 1000, 1000}, {1000, 1000, 1000}},
                     .max_participation = executions,
                     .party_deviation = 1e9,
                     .coordinates = 10};
    steps.executions = executions;
    const auto epsilons = Epsilons({"ab", "cd", {steps}}, delta, AccountantKind::kPld);
    EXPECT_NEAR(ExactOfOneBatch(rate, multiplier / std::sqrt(executions), delta), exact, 1e-4);
    EXPECT_GE(epsilons.outsider, exact - 1e-4);
    EXPECT_NEAR(epsilons.outsider, exact, 1e-3);
    EXPECT_GE(Epsilons({"ab", "cd", {steps}}, delta).outsider, epsilons.outsider);
    // As independent releases they would seem to cost less than half of it.
    steps.executions = 1;
    steps.steps = executions;
    EXPECT_LT(Epsilons({"ab", "cd", {steps}}, delta, AccountantKind::kPld).outsider, exact / 2);
    // Who sees the coins counts releases, however they are spread.
    EXPECT_NEAR(Epsilons({"ab", "cd", {steps}}, delta, AccountantKind::kPld).insider, epsilons.insider, 1e-9);
  }
}

// The same of batches that owners deposited, where a party does not know the coins either: by integrals.
TEST(Epsilons, ChargeADepositedBatchExecutedTwiceAsOneReleaseForAParty) {
  for (const auto& [rate, multiplier, executions, delta] :
       {std::tuple{0.034, 0.85, 2, 1e-5}, std::tuple{0.1, 1.2, 3, 1e-6}, std::tuple{0.2, 1.0, 1, 1e-5}}) {
    DpSgdSteps steps{.steps = 1,
                     .sampling = SamplingMode::kDeposited,
                     .sampling_rate = rate,
                     .sigma = multiplier,
                     .sensitivity = 1,
                     .clip = 1,
                     .limits = {{1000, 0, 0}, {1000, 0, 0}},
                     .party_deviation = 1e9,
                     .coordinates = 10};
    steps.executions = executions;
    const auto epsilons = Epsilons({"ab", "cd", {steps}}, delta, AccountantKind::kPld);
    const double fewer = std::sqrt(static_cast<double>(executions));
    EXPECT_NEAR(epsilons.insider, ExactOfOneBatch(rate, multiplier / fewer, delta), 1e-3);
    EXPECT_NEAR(epsilons.outsider, ExactOfOneBatch(rate, multiplier * std::sqrt(1.5) / fewer, delta), 1e-3);
    EXPECT_GE(Epsilons({"ab", "cd", {steps}}, delta).insider, epsilons.insider);
  }
}

TEST(Record, TakesTestRecordsOutAsPlainGaussians) {
  const TrainingRecord record{"ab",
                              "cd",
                              {MnistSteps(), NoisyEvaluation{.sigma = 20, .party_deviation = 1e6},
                               NoisyEvaluation{.sigma = 30, .party_deviation = 1e6}}};
  const auto counts = TestSetRecord(record);
  ASSERT_EQ(counts.events.size(), 2U);
  EXPECT_EQ(std::get<GaussianReleases>(counts.events[1]).sigma, 30);
  EXPECT_EQ(counts.run_id, "cd");
  EXPECT_EQ(counts.promise.value().unit, PrivacyUnit::kRecord);
  EXPECT_EQ(counts.promise.value().neighbours, Neighbours::kReplaced);
  EXPECT_NEAR(TestSetEpsilons(record, 1e-5).insider,
              AnalyticGaussianEpsilon(1 / std::sqrt(1.0 / 400 + 1.0 / 900), 1e-5), 1e-6);
}

TEST(Events, ChargeLocalTrainingToEverybodyAlike) {
  for (const auto& events : {OutsiderEvents(MnistLocalTraining()), InsiderEvents(MnistLocalTraining())}) {
    ASSERT_EQ(events.size(), 1U);
    EXPECT_EQ(Noise(events).sampling_rate, 0.03);
    EXPECT_EQ(Noise(events).noise_multiplier, 2.5);
    EXPECT_EQ(Noise(events).count, 100);
  }
  auto coarse = MnistLocalTraining();
  coarse.deviation = 9;
  EXPECT_EQ(Noise(InsiderEvents(coarse)).noise_multiplier, ContinuousMultiplier(2.5, 9));
}

TEST(Events, ChargeASelectionForTwoOrThreePartiesNoise) {
  auto selection = MnistSelection();
  selection.party_deviation = 1.5;
  const auto outsider = OutsiderEvents(selection);
  const auto insider = InsiderEvents(selection);
  EXPECT_DOUBLE_EQ(Noise(outsider).noise_multiplier,
                   ContinuousMultiplier(5 * std::sqrt(1.5), std::sqrt(3.0) * 1.5));
  EXPECT_DOUBLE_EQ(Noise(insider).noise_multiplier, ContinuousMultiplier(5, std::sqrt(2.0) * 1.5));
  EXPECT_EQ(Noise(insider).sampling_rate, 0.1);
  EXPECT_EQ(Noise(insider).count, 1);
  EXPECT_EQ(Closeness(outsider).bound, ClosenessCharge(3, 1.5, 4, 1).bound);
  EXPECT_EQ(Closeness(insider).bound, ClosenessCharge(2, 1.5, 4, 1).bound);
  EXPECT_EQ(Cutting(insider).probability, PoissonOverflowProbability(19999, 0.1, 2199));
  EXPECT_EQ(Cutting(insider).count, 1);
}

TEST(Epsilons, AddTheCurvesOfUnlikeEventsOrderByOrder) {
  auto steps = MnistSteps();
  steps.limits.max_batch = steps.limits.capacity;
  auto selection = MnistSelection();
  selection.limits.max_batch = selection.limits.capacity;
  const auto pair = Epsilons({"a", "b", {MnistLocalTraining(), selection, steps}}, 1e-5);

  const auto by_hand = [&](double factor) {
    std::vector<double> curve;
    for (const double order : DefaultRdpOrders()) {
      curve.push_back(100 * SampledGaussianRdp(0.03, 2.5, order) +
                      SampledGaussianRdp(0.1, 5 * factor, order) +
                      439 * SampledGaussianRdp(2048.0 / 60000, 1.1 * factor, order));
    }
    return RdpToEpsilon(DefaultRdpOrders(), curve, 1e-5).epsilon;
  };
  // Never below, and above by no more than the curves are rounded up.
  EXPECT_GE(pair.insider, by_hand(1));
  EXPECT_NEAR(pair.insider, by_hand(1), 1e-7);
  EXPECT_GE(pair.outsider, by_hand(std::sqrt(1.5)));
  EXPECT_NEAR(pair.outsider, by_hand(std::sqrt(1.5)), 1e-7);
  // Less than the sum of what each costs alone, more than the steps.
  const auto alone = Epsilons({"a", "b", {steps}}, 1e-5);
  EXPECT_GT(pair.insider, alone.insider + 0.01);
  EXPECT_LT(pair.insider, alone.insider + Epsilons({"a", "b", {MnistLocalTraining()}}, 1e-5).insider +
                              Epsilons({"a", "b", {selection}}, 1e-5).insider);
}

TEST(Epsilons, AreTheAccountantsWithWhatCuttingCosts) {
  const auto pair = Epsilons(MnistRecord(), 1e-5);
  EXPECT_LT(pair.outsider, pair.insider);

  RdpAccountant outsider;
  outsider.Add(SampledGaussian{2048.0 / 60000, 1.1 * std::sqrt(1.5), 439});
  const double reserve = 439 * PoissonOverflowProbability(19999, 2048.0 / 60000, 849);
  EXPECT_NEAR(pair.outsider, outsider.Epsilon(1e-5 - reserve).epsilon, 1e-8);
  EXPECT_GT(pair.outsider, outsider.Epsilon(1e-5).epsilon);
}

TEST(Epsilons, MeetTheTargetOfACalibrationByRemainingDelta) {
  auto steps = MnistSteps();
  const double remaining = RemainingDelta(1e-5, steps.steps, steps.sampling_rate, steps.limits);
  const double sigma = CalibrateNoiseMultiplier(3, remaining, steps.sampling_rate, steps.steps);

  steps.sigma = sigma / std::sqrt(1.5);
  EXPECT_LE(Epsilons({"a", "b", {steps}}, 1e-5).outsider, 3 * (1 + 1e-9));
  steps.sigma = sigma;
  EXPECT_LE(Epsilons({"a", "b", {steps}}, 1e-5).insider, 3 * (1 + 1e-9));
  steps.sigma = sigma * 0.999;
  EXPECT_GT(Epsilons({"a", "b", {steps}}, 1e-5).insider, 3);
}

TEST(Epsilons, ComposeARunThatWasResumed) {
  auto first = MnistSteps();
  auto second = MnistSteps();
  first.steps = 100;
  second.steps = 339;
  const auto parts = Epsilons({"a", "b", {first, second}}, 1e-5);
  const auto whole = Epsilons(MnistRecord(), 1e-5);
  EXPECT_NEAR(parts.outsider, whole.outsider, 1e-9);
  EXPECT_NEAR(parts.insider, whole.insider, 1e-9);
}

TEST(Epsilons, AreInfiniteWithoutNoiseAndZeroWithoutSteps) {
  auto steps = MnistSteps();
  steps.sigma = 0;
  steps.party_deviation = 0;
  EXPECT_EQ(Epsilons({"a", "b", {steps}}, 1e-5).insider, kInfinity);
  EXPECT_EQ(Epsilons({"a", "b", {steps}}, 1e-5).outsider, kInfinity);
  EXPECT_EQ(Epsilons({"a", "b", {}}, 1e-5).insider, 0);
}

TEST(Record, SaysOfAHistogramOfTestRecordsHowManyNumbersWereOpened) {
  const TrainingRecord record{
      "ab",
      "cd",
      {NoisyEvaluation{.sigma = 4, .party_deviation = 1e6, .coordinates = 20}, NoisyEvaluation{.sigma = 4}}};
  const auto json = ToJson(record);
  EXPECT_EQ(json.at("events")[0].at("coordinates"), 20);
  EXPECT_FALSE(json.at("events")[1].contains("coordinates"));
  const auto back = FromJson(json);
  EXPECT_EQ(std::get<NoisyEvaluation>(back.events[0]).coordinates, 20);
  EXPECT_EQ(std::get<NoisyEvaluation>(back.events[1]).coordinates, 1);
  EXPECT_EQ(std::get<GaussianReleases>(TestSetRecord(back).events[0]).coordinates, 20);
}

TEST(TestSetEpsilons, AreOfThePlainGaussianForTheTestRecordsAlone) {
  TrainingRecord record{"ab", "cd", {MnistSelection()}};
  const auto before = Epsilons(record, 1e-5);
  EXPECT_TRUE(std::isinf(TestSetEpsilons(record, 1e-5).insider));
  record.events.emplace_back(NoisyEvaluation{.sigma = 4, .party_deviation = 185363});
  EXPECT_EQ(Epsilons(record, 1e-5).insider, before.insider);
  EXPECT_EQ(Epsilons(record, 1e-5).outsider, before.outsider);
  PldAccountant plain;  // the Gaussian's exact formula
  plain.Add(SampledGaussian{1, ContinuousMultiplier(4, std::sqrt(2.0) * 185363), 1});
  const auto epsilons = TestSetEpsilons(record, 1e-5);
  EXPECT_DOUBLE_EQ(epsilons.insider, plain.Epsilon(1e-5).epsilon);
  RdpAccountant wider;
  wider.Add(SampledGaussian{1, ContinuousMultiplier(4, std::sqrt(2.0) * 185363), 1});
  EXPECT_LT(epsilons.insider, 0.95 * wider.Epsilon(1e-5).epsilon);
  EXPECT_LT(epsilons.outsider, epsilons.insider);
  const auto back = FromJson(ToJson(record));
  EXPECT_EQ(std::get<NoisyEvaluation>(back.events.at(1)).sigma, 4);
  EXPECT_EQ(TestSetEpsilons(back, 1e-5).insider, epsilons.insider);
  record.events.emplace_back(NoisyEvaluation{.sigma = 4, .party_deviation = 185363});
  EXPECT_GT(TestSetEpsilons(record, 1e-5).insider, epsilons.insider);
}

TEST(Events, ChargePureReleasesToEverybodyAlikeAndGaussianOnesToTwoOrThreeParties) {
  const RecordedEvent pure = PureReleases{.count = 3, .epsilon = 0.5};
  for (const auto& events : {OutsiderEvents(pure), InsiderEvents(pure)}) {
    ASSERT_EQ(events.size(), 1U);
    EXPECT_EQ(std::get<PureDp>(events[0]).epsilon, 0.5);
    EXPECT_EQ(std::get<PureDp>(events[0]).count, 3);
  }
  const RecordedEvent counts = LaplaceCounts{.count = 6, .rate = 0.0625};
  EXPECT_EQ(std::get<PureDp>(InsiderEvents(counts).at(0)).epsilon, 0.0625);
  EXPECT_EQ(std::get<PureDp>(InsiderEvents(counts).at(0)).count, 6);
  EXPECT_EQ(std::get<ThreeLaplaceParts>(OutsiderEvents(counts).at(0)).rate, 0.0625);
  EXPECT_EQ(std::get<ThreeLaplaceParts>(OutsiderEvents(counts).at(0)).count, 6);
  const RecordedEvent gaussian =
      GaussianReleases{.count = 7, .coordinates = 10, .sigma = 4, .party_deviation = 20};
  for (const auto& [events, factor, parties] :
       {std::tuple{OutsiderEvents(gaussian), std::sqrt(1.5), 3}, {InsiderEvents(gaussian), 1.0, 2}}) {
    EXPECT_EQ(Noise(events).sampling_rate, 1);
    // Each party's 20 units of noise leave a continuous Gaussian of variance 400 parties - 4 (closeness.h).
    EXPECT_DOUBLE_EQ(Noise(events).noise_multiplier, 4 * factor * std::sqrt(1 - 4 / (400.0 * parties)));
    EXPECT_EQ(Noise(events).count, 7);
    EXPECT_EQ(Closeness(events).bound, ClosenessCharge(parties, 20, 10, 7).bound);
    EXPECT_EQ(Closeness(events).count, 7);
  }
}

TEST(Events, ChargeApproximateReleasesWithTheirFailureAndInsidersWhereTheyArePromisedSomething) {
  ApproximateReleases releases{.count = 2, .epsilon = 0.5, .failure = 1e-7, .insiders = false};
  const auto outsider = OutsiderEvents(RecordedEvent(releases));
  EXPECT_EQ(std::get<PureDp>(outsider.at(0)).epsilon, 0.5);
  EXPECT_EQ(std::get<PureDp>(outsider.at(0)).count, 2);
  EXPECT_EQ(std::get<TotalVariation>(outsider.at(1)).distance, 1e-7);
  EXPECT_EQ(std::get<TotalVariation>(outsider.at(1)).count, 2);
  const auto epsilons = Epsilons({"a", "b", {releases}}, 1e-5);
  EXPECT_DOUBLE_EQ(epsilons.outsider, 1);
  EXPECT_TRUE(std::isinf(epsilons.insider));
  releases.insiders = true;
  EXPECT_DOUBLE_EQ(Epsilons({"a", "b", {releases}}, 1e-5).insider, 1);
  // Failures of 2e-7 cost (1 + e) times that: more than this delta.
  EXPECT_TRUE(std::isinf(Epsilons({"a", "b", {releases}}, 7e-7).insider));
}

TEST(Events, ChargeWhatHasNoBoundWithoutBound) {
  TrainingRecord record{"a", "b", {MnistSteps()}};
  EXPECT_FALSE(HasUnbounded(record.events));
  record.events.emplace_back(UnboundedReleases{.count = 1});
  EXPECT_TRUE(HasUnbounded(record.events));
  for (const auto kind : {AccountantKind::kRdp, AccountantKind::kPld, AccountantKind::kPea}) {
    EXPECT_TRUE(std::isinf(Epsilons(record, 1e-5, kind).outsider));
    EXPECT_TRUE(std::isinf(Epsilons(record, 1e-5, kind).insider));
  }
  const auto json = ToJson(record);
  EXPECT_EQ(json.at("events")[1], nlohmann::json({{"kind", "unbounded_releases"}, {"count", 1}}));
  EXPECT_TRUE(std::isinf(Epsilons(FromJson(json), 1e-5).outsider));
  // Noise is calibrated for the rest.
  record.events = Bounded(record.events);
  EXPECT_EQ(Epsilons(record, 1e-5).insider, Epsilons(MnistRecord(), 1e-5).insider);
}

Tuning FourTrials() {
  return {
      .trials = {{.count = 3, .events = {MnistSteps(), NoisyEvaluation{.sigma = 20, .party_deviation = 1e6}}},
                 {.count = 1,
                  .events = {MnistSteps(), NoisyEvaluation{.sigma = 20, .party_deviation = 1e6}}}},
      .weights = {4, 2, 1, 1}};
}

/// The steps of a trial have the curve that they have by themselves; what may go wrong in any trial goes to
/// delta.
TEST(Events, ChargeATuningForTheBestOfItsTrialsAndFailuresOfAll) {
  const auto events = InsiderEvents(FourTrials());
  ASSERT_EQ(events.size(), 4U);
  const auto& best = std::get<BestOfTrials>(events[0]);
  ASSERT_EQ(best.trials.size(), 2U);
  EXPECT_EQ(best.trials[0].count, 3);
  EXPECT_EQ(best.weights, FourTrials().weights);
  const auto one = InsiderEvents(MnistSteps());
  ASSERT_EQ(best.trials[0].each.size(), 2U);
  EXPECT_EQ(std::get<SampledGaussian>(best.trials[0].each[0]).noise_multiplier, Noise(one).noise_multiplier);
  EXPECT_EQ(std::get<MaxDivergence>(best.trials[0].each[1]).bound, Closeness(one).bound);
  EXPECT_EQ(std::get<IndependentFailure>(events[1]).count, 3 * 439);
  EXPECT_EQ(std::get<IndependentFailure>(events[2]).count, 439);
  EXPECT_EQ(std::get<IndependentFailure>(events[1]).probability, Cutting(one).probability);
  EXPECT_EQ(std::get<IndependentFailure>(events[3]).probability, std::ldexp(6, -60));
  EXPECT_NO_THROW(CheckEvent(events[0]));
  const auto outside = std::get<BestOfTrials>(OutsiderEvents(FourTrials())[0]);
  EXPECT_DOUBLE_EQ(std::get<SampledGaussian>(outside.trials[1].each[0]).noise_multiplier,
                   1.1 * std::sqrt(1.5));
}

TEST(Epsilons, OfATuningAreAboveATrainingAndBelowAllItsTrials) {
  const auto one = Epsilons(MnistRecord(), 1e-5);
  const auto tuned = Epsilons({"ab", "cd", {FourTrials()}}, 1e-5);
  const auto all = Epsilons({"ab", "cd", std::vector<RecordedEvent>(4, MnistSteps())}, 1e-5);
  EXPECT_GT(tuned.insider, 1.1 * one.insider);
  EXPECT_LT(tuned.insider, 0.9 * all.insider);
  EXPECT_LT(tuned.outsider, tuned.insider);
}

/// A count moves by one, whatever was trained; of a count without noise nothing is promised.
TEST(TestSetEpsilons, OfATuningAreOfTheBestOfItsCounts) {
  const TrainingRecord record{"ab", "cd", {FourTrials()}};
  const auto epsilons = TestSetEpsilons(record, 1e-5);
  RdpAccountant best;
  best.Add(
      BestOfTrials{.trials = {{.count = 4, .each = {SampledGaussian{1, 20, 1}}}}, .weights = {4, 2, 1, 1}});
  best.Add(IndependentFailure{std::ldexp(6, -60), 1});
  EXPECT_NEAR(epsilons.insider, best.Epsilon(1e-5).epsilon, 1e-6);
  EXPECT_LT(epsilons.outsider, epsilons.insider);
  auto exact = FourTrials();
  exact.trials[1].events.pop_back();
  EXPECT_TRUE(std::isinf(TestSetEpsilons({"ab", "cd", {exact}}, 1e-5).outsider));
}

TEST(RecordAccountant, AgreesStepByStepAndRefusesWhatIsOutsideItsDomain) {
  RecordAccountant accountant;
  auto one = MnistSteps();
  one.steps = 1;
  for (int step = 0; step < 439; ++step) accountant.Add(one);
  EXPECT_NEAR(accountant.Epsilons(1e-5).insider, Epsilons(MnistRecord(), 1e-5).insider, 1e-9);
  one.sampling_rate = 2;
  EXPECT_THROW(accountant.Add(one), ConfigError);
}

}  // namespace
}  // namespace trefoil::dp
