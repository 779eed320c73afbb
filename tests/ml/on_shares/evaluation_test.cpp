#include "ml/on_shares/evaluation.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "base/error.h"
#include "ml/on_shares/held_out.h"
#include "tests/reference/plain_classifier.h"
#include "tests/support/ml_test.h"

namespace trefoil::ml {
namespace {

using mpc::RingMatrix;
using namespace testing_support;  // NOLINT(google-build-using-namespace): test helpers only

struct EvaluationCase {
  std::string name;
  std::vector<std::int64_t> hidden{};
  Loss loss = Loss::kOneVsRest;
  int classes = 3;
  int fraction_bits = 16;
  protocols::Form comparison = protocols::Form::kBulk;
  double threshold = 0.5;
};

void PrintTo(const EvaluationCase& c, std::ostream* out) { *out << c.name; }

TrainingSettings SettingsOf(const EvaluationCase& c) {
  TrainingSettings settings = SmallSettings();
  settings.hidden = c.hidden;
  settings.loss = c.loss;
  settings.threshold = c.threshold;
  settings.classes = c.classes;
  settings.fraction_bits = c.fraction_bits;
  // of the steps' rows, never of those that are evaluated
  if (c.hidden.empty()) settings.row_fraction_bits = 8;
  settings.comparison = c.comparison;
  settings.activation_bound = 4;
  settings.delta_bound = 2;
  if (c.loss == Loss::kSquared) settings.logit_bound = 2;
  if (c.loss != Loss::kSoftmax) settings.truncation = protocols::Rounding::kExact;
  settings.evaluation = EvaluationSettings{.test = {.holder = 1, .rows = 60}, .to = {0, 2}};
  return settings;
}

/// Evaluates `weights` on shares; the test records are the holder's.
std::array<MeasuredPart<EvaluationResult>, 3> Evaluated(const StepPlan& plan, const OwnRecords& test,
                                                        const RingMatrix& weights) {
  return RunParties(Seed{6}, [&](mpc::Context& party) {
    const mpc::FixedShare shared(InsecureDeal(party, weights), plan.settings.fraction_bits);
    const OwnRecords own = party.self() == plan.settings.evaluation->test.holder ? test : OwnRecords{};
    MeasuredPart<EvaluationResult> part;
    part.measured =
        protocols::Measure(party, [&] { part.value = EvaluateOnShares(party, plan, shared, own); });
    return part;
  });
}

/// A model that is right on some records and wrong on others.
RingMatrix SomeWeights(const StepPlan& plan) {
  const LayerShape shape = ShapeOfWeights(plan);
  return RandomSigned(8, shape.inputs, shape.outputs, plan.settings.fraction_bits);
}

class EvaluateTest : public testing::TestWithParam<EvaluationCase> {};

TEST_P(EvaluateTest, OpensTheExactCountToThoseNamedAtTheDeclaredCost) {
  const TrainingSettings settings = SettingsOf(GetParam());
  const StepPlan plan = MakeStepPlan(settings, GetParam().comparison);
  EXPECT_EQ(MaskBitsBeside(plan), GetParam().name.rfind("network_binary", 0) == 0);
  const OwnRecords test = MakeRecords(settings, 9, 60);
  const RingMatrix weights = SomeWeights(plan);
  const auto parts = Evaluated(plan, test, weights);

  const auto expected = static_cast<double>(
      reference::PlainCorrect(plan, EncodeRecords(WithWholeRows(plan), test, AllRows(test), 60), weights));
  // A network's layers round by coins with softmax, so that a record near an edge may go the other way.
  const bool coins = settings.loss == Loss::kSoftmax && !settings.hidden.empty();
  for (const std::size_t party : {0U, 2U}) {
    ASSERT_TRUE(parts[party].value.correct);
    EXPECT_NEAR(*parts[party].value.correct, expected, coins ? 1 : 0);
    EXPECT_EQ(parts[party].value.records, 60);
  }
  EXPECT_FALSE(parts[1].value.correct);
  EXPECT_GT(expected, 5);
  EXPECT_LT(expected, 55);
  const CostFigures measured = Figures(parts);
  EXPECT_EQ(measured, Figures(EvaluateOnSharesCost(plan)));
  for (std::size_t party = 0; party < 3; ++party)
    EXPECT_EQ(parts[party].value.bytes_sent, measured.bytes_sent[party] + measured.bytes_offline[party]);
}

INSTANTIATE_TEST_SUITE_P(
    Models, EvaluateTest,
    testing::Values(EvaluationCase{"three_classes"}, EvaluationCase{"binary", {}, Loss::kOneVsRest, 2},
                    EvaluationCase{"binary_squared", {}, Loss::kSquared, 2},
                    EvaluationCase{"threshold", {}, Loss::kOneVsRest, 2, 16, protocols::Form::kBulk, 0.58},
                    EvaluationCase{"softmax_f12", {}, Loss::kSoftmax, 5, 12},
                    EvaluationCase{"network", {6, 5}},
                    EvaluationCase{"network_softmax", {6}, Loss::kSoftmax, 3},
                    EvaluationCase{"network_binary", {6}, Loss::kOneVsRest, 2},
                    EvaluationCase{
                        "network_binary_latency", {6}, Loss::kOneVsRest, 2, 20, protocols::Form::kLatency}),
    [](const auto& info) { return info.param.name; });

TEST(Evaluate, AddsEveryPartysNoiseToTheCount) {
  TrainingSettings settings = SettingsOf(EvaluationCase{.name = "noisy", .classes = 2});
  settings.evaluation->test.rows = 1;
  settings.evaluation->sigma = 1000;
  settings.evaluation->to = {0, 1, 2};
  const StepPlan plan = MakeStepPlan(settings);
  // The noise is the system's. n squares of three parties' noise have a mean of 3/2 sigma^2, within 6.5 times
  // sqrt(2 / n) of it but for 1.2e-9 (chi-square with n degrees, by Wilson and Hilferty's approximation); two
  // parties' would have 1 sigma^2, and the count itself, 0 or 1, moves nothing.
  constexpr int kRuns = 1000;
  const auto counts = RunParties(Seed{6}, [&](mpc::Context& party) {
    const mpc::FixedShare weights(InsecureDeal(party, SomeWeights(plan)), plan.settings.fraction_bits);
    const OwnRecords own = party.self() == 1 ? MakeRecords(settings, 9, 1) : OwnRecords{};
    std::vector<double> opened;
    for (int run = 0; run < kRuns; ++run)
      opened.push_back(EvaluateOnShares(party, plan, weights, own).correct.value());
    return opened;
  });
  EXPECT_EQ(counts[0], counts[1]);
  EXPECT_EQ(counts[0], counts[2]);
  double squares = 0;
  for (const double count : counts[0]) squares += count * count / 1e6 / kRuns;
  EXPECT_NEAR(squares, 1.5, 1.5 * 6.5 * std::sqrt(2.0 / kRuns));
}

/// In which bin the prediction of output k of a row's logits is.
std::size_t PlainBin(const StepPlan& plan, const std::vector<std::int64_t>& logits, std::size_t k) {
  const auto bins = static_cast<double>(plan.settings.evaluation->bins);
  std::size_t bin = 0;
  if (plan.settings.loss == Loss::kSoftmax) {
    double all = 0;
    for (const auto logit : logits)
      all += std::exp(std::ldexp(static_cast<double>(logit - logits[k]), -2 * plan.settings.fraction_bits));
    for (double edge = 1; edge < bins; ++edge) bin += 1 / all > edge / bins ? 1 : 0;
    return bin;
  }
  for (double edge = 1; edge < bins; ++edge) bin += reference::IsAbove(plan, logits[k], edge / bins) ? 1 : 0;
  return bin;
}

/// `moved`: how many records may be in another place, each in one number less and in one more.
void ExpectCounts(const std::vector<double>& found, const std::vector<double>& expected, int moved = 0) {
  ASSERT_EQ(found.size(), expected.size());
  double away = 0;
  for (std::size_t k = 0; k < found.size(); ++k) {
    const double difference = std::abs(std::round(found[k]) - expected[k]);
    EXPECT_LE(difference, moved) << k;
    away += difference;
  }
  EXPECT_LE(away, 2 * moved);
}

class HistogramTest : public testing::TestWithParam<EvaluationCase> {};

TEST_P(HistogramTest, CountsTestRecordsByClassAndPredictionAtTheDeclaredCost) {
  TrainingSettings settings = SettingsOf(GetParam());
  settings.evaluation->sigma = 0.001;  // a count's noise has deviation 0.0017: half a record is 289 of them
  settings.evaluation->bins = 20;
  settings.evaluation->confusion = settings.classes > 2;
  const StepPlan plan = MakeStepPlan(settings, GetParam().comparison);
  const OwnRecords test = MakeRecords(settings, 9, 60);
  const RingMatrix weights = SomeWeights(plan);
  const auto parts = Evaluated(plan, test, weights);
  const RingMatrix encoded = EncodeRecords(WithWholeRows(plan), test, AllRows(test), 60);
  const auto outputs = static_cast<std::size_t>(plan.columns);
  const auto classes = static_cast<std::size_t>(settings.classes);
  std::vector<double> expected(40 * outputs, 0);
  std::vector<double> table(classes > 2 ? classes * classes : 0);
  double correct = 0;
  for (mpc::Index row = 0; row < 60; ++row) {
    const auto label = static_cast<std::size_t>(reference::PlainLabel(plan, encoded, row));
    const auto found = static_cast<std::size_t>(reference::PlainClass(plan, encoded, row, weights));
    const auto logits = reference::PlainLogits(plan, encoded, row, weights);
    for (std::size_t k = 0; k < outputs; ++k) {
      const bool yes = label == (outputs == 1 ? 1 : k);
      ++expected[40 * k + (yes ? 20 : 0) + PlainBin(plan, logits, k)];
    }
    if (!table.empty()) ++table[label * classes + found];
    correct += found == label ? 1 : 0;
  }
  for (const std::size_t party : {0U, 2U}) {
    // Of softmax some of the 240 probabilities may lie as near to an edge as its error.
    ExpectCounts(parts[party].value.histogram, expected, settings.loss == Loss::kSoftmax ? 4 : 0);
    ExpectCounts(parts[party].value.confusion, table);
    EXPECT_NEAR(parts[party].value.correct.value(), correct, 0.5);
  }
  EXPECT_TRUE(parts[1].value.histogram.empty());
  EXPECT_TRUE(parts[1].value.confusion.empty());
  EXPECT_FALSE(parts[1].value.correct);
  EXPECT_GT(std::count_if(expected.begin(), expected.end(), [](double count) { return count > 0; }), 5);
  EXPECT_EQ(Figures(parts), Figures(EvaluateOnSharesCost(plan)));
}

INSTANTIATE_TEST_SUITE_P(
    Models, HistogramTest,
    testing::Values(EvaluationCase{"one_vs_rest", {}, Loss::kOneVsRest, 2},
                    EvaluationCase{"threshold", {}, Loss::kOneVsRest, 2, 16, protocols::Form::kBulk, 0.35},
                    EvaluationCase{"squared", {}, Loss::kSquared, 2},
                    EvaluationCase{"network", {6}, Loss::kOneVsRest, 2, 20}, EvaluationCase{"three_classes"},
                    EvaluationCase{"softmax", {}, Loss::kSoftmax, 4},
                    EvaluationCase{"network_of_four_classes", {6}, Loss::kOneVsRest, 4, 20}),
    [](const auto& info) { return info.param.name; });

class ConfusionTest : public testing::TestWithParam<EvaluationCase> {};

TEST_P(ConfusionTest, CountsTestRecordsByClassAndClassTheyAreTakenForAtTheDeclaredCost) {
  TrainingSettings settings = SettingsOf(GetParam());
  settings.evaluation->sigma = 0.001;  // as above
  settings.evaluation->confusion = true;
  const StepPlan plan = MakeStepPlan(settings, GetParam().comparison);
  const OwnRecords test = MakeRecords(settings, 9, 60);
  const RingMatrix weights = SomeWeights(plan);
  const auto parts = Evaluated(plan, test, weights);
  const RingMatrix encoded = EncodeRecords(WithWholeRows(plan), test, AllRows(test), 60);
  const auto classes = static_cast<std::size_t>(settings.classes);
  std::vector<double> expected(classes * classes, 0);
  double correct = 0;
  for (mpc::Index row = 0; row < 60; ++row) {
    const auto label = static_cast<std::size_t>(reference::PlainLabel(plan, encoded, row));
    const auto found = static_cast<std::size_t>(reference::PlainClass(plan, encoded, row, weights));
    ++expected[label * classes + found];
    correct += label == found ? 1 : 0;
  }
  for (const std::size_t party : {0U, 2U}) {
    ExpectCounts(parts[party].value.confusion, expected);
    EXPECT_NEAR(parts[party].value.correct.value(), correct, 0.5);
  }
  EXPECT_TRUE(parts[1].value.confusion.empty());
  EXPECT_FALSE(parts[1].value.correct);
  EXPECT_GT(std::count_if(expected.begin(), expected.end(), [](double count) { return count > 0; }), 2);
  EXPECT_EQ(Figures(parts), Figures(EvaluateOnSharesCost(plan)));
}

INSTANTIATE_TEST_SUITE_P(
    Models, ConfusionTest,
    testing::Values(EvaluationCase{"three_classes"}, EvaluationCase{"softmax", {}, Loss::kSoftmax, 4},
                    EvaluationCase{"threshold", {}, Loss::kOneVsRest, 2, 16, protocols::Form::kBulk, 0.58},
                    EvaluationCase{"network", {6}, Loss::kOneVsRest, 3, 20}),
    [](const auto& info) { return info.param.name; });

TEST(EvaluationEvents, ChargeAConfusionTableOnceWithTheNoiseOfItsSensitivity) {
  TrainingSettings settings = SettingsOf(EvaluationCase{.name = "confusion", .classes = 3});
  settings.evaluation->sigma = 2;
  settings.evaluation->confusion = true;
  const auto events = EvaluationEvents(MakeStepPlan(settings));
  ASSERT_EQ(events.size(), 1U);
  const auto& event = std::get<dp::NoisyEvaluation>(events[0]);
  EXPECT_EQ(event.sigma, 2);
  EXPECT_EQ(event.coordinates, 9);
  EXPECT_NEAR(event.party_deviation, std::ldexp(2, 16), 2);
}

/// What is opened beside c histograms of two numbers that move each: a record in one cell of the table.
TEST(EvaluationEvents, ChargeHistogramsOfManyClassesOnceWithTheNoiseOfTheirSensitivity) {
  TrainingSettings settings = SettingsOf(EvaluationCase{.name = "classes", .classes = 3});
  settings.evaluation->sigma = 2;
  settings.evaluation->confusion = true;
  settings.evaluation->bins = 10;
  const auto events = EvaluationEvents(MakeStepPlan(settings));
  ASSERT_EQ(events.size(), 1U);
  const auto& event = std::get<dp::NoisyEvaluation>(events[0]);
  EXPECT_EQ(event.sigma, 2);
  EXPECT_EQ(event.coordinates, 9 + 3 * 2 * 10);
  EXPECT_NEAR(event.party_deviation, std::ldexp(2 * std::sqrt(8.0 / 2), 16), 2);
  EXPECT_NEAR(CountsDeviation(settings), std::sqrt(3.0) * event.party_deviation / 65536, 1e-4);
}

TEST(EvaluationSettings, RefuseAConfusionTableWithoutNoiseOrBesideBinsOfTwoClasses) {
  TrainingSettings settings = SettingsOf(EvaluationCase{.name = "confusion", .classes = 2});
  settings.evaluation->confusion = true;
  EXPECT_THROW((void)MakeStepPlan(settings), ConfigError);
  settings.evaluation->sigma = 1;
  EXPECT_NO_THROW((void)MakeStepPlan(settings));
  settings.evaluation->bins = 10;
  EXPECT_THROW((void)MakeStepPlan(settings), ConfigError);
}

TEST(EvaluationSettings, TakeBinsOfManyClassesBesideATableOfOneAgainstTheRest) {
  TrainingSettings settings = SettingsOf(EvaluationCase{.name = "classes", .classes = 3});
  settings.evaluation->sigma = 1;
  settings.evaluation->bins = 7;
  EXPECT_THROW((void)MakeStepPlan(settings), ConfigError);
  settings.evaluation->confusion = true;
  EXPECT_NO_THROW((void)MakeStepPlan(settings));
  settings.evaluation->choose_threshold = true;
  EXPECT_THROW((void)MakeStepPlan(settings), ConfigError);
  settings.evaluation->choose_threshold = false;
  settings.loss = Loss::kSquared;
  EXPECT_THROW((void)MakeStepPlan(settings), ConfigError);
  settings.loss = Loss::kSoftmax;
  settings.truncation = protocols::Rounding::kStochastic;
  EXPECT_NO_THROW((void)MakeStepPlan(settings));
}

/// What is opened beside each other moves by what the noise is for, and by no more, over all pairs of these
/// records.
TEST(EvaluationSensitivity, IsReachedByARecordThatMovesInEveryHistogramAndInTheTable) {
  TrainingSettings settings = SettingsOf(EvaluationCase{.name = "classes", .classes = 3});
  settings.evaluation =
      EvaluationSettings{.test = {.holder = 1, .rows = 1}, .sigma = 1e-4, .bins = 2, .confusion = true};
  const StepPlan plan = MakeStepPlan(settings);
  const auto counts_of = [&](int label, int seed) {
    OwnRecords record = MakeRecords(settings, seed, 1);
    record.y[0] = label;
    const auto result = Evaluated(plan, record, SomeWeights(plan))[0].value;
    std::vector<double> all = result.confusion;
    all.insert(all.end(), result.histogram.begin(), result.histogram.end());
    for (double& count : all) count = std::round(count);
    return all;
  };
  std::vector<std::vector<double>> found;
  for (int label = 0; label < 3; ++label)
    for (int seed = 1; seed <= 8; ++seed) found.push_back(counts_of(label, seed));
  double farthest = 0;
  for (const auto& one : found) {
    for (const auto& other : found) {
      double squares = 0;
      for (std::size_t k = 0; k < one.size(); ++k) squares += (one[k] - other[k]) * (one[k] - other[k]);
      farthest = std::max(farthest, squares);
    }
  }
  EXPECT_EQ(farthest, 8);  // 2 c + 2
}

TEST(Evaluate, AddsNoiseOfTheHistogramsSensitivityToEachOfItsCounts) {
  TrainingSettings settings = SettingsOf(EvaluationCase{.name = "noisy", .classes = 2});
  settings.evaluation = EvaluationSettings{.test = {.holder = 1, .rows = 1}, .sigma = 1000, .bins = 10};
  const StepPlan plan = MakeStepPlan(settings);
  // 1,000 squares of mean 2 * 3/2 sigma^2, within the same tolerance as of the count above, and each count
  // alone within ten times sqrt(2 / 50) of it but for 1e-9 (fifty squares, twenty counts).
  constexpr int kRuns = 50;
  const auto opened = RunParties(Seed{6}, [&](mpc::Context& party) {
    const mpc::FixedShare weights(InsecureDeal(party, SomeWeights(plan)), plan.settings.fraction_bits);
    const OwnRecords own = party.self() == 1 ? MakeRecords(settings, 9, 1) : OwnRecords{};
    std::vector<double> squares(20, 0);
    for (int run = 0; run < kRuns; ++run) {
      const auto result = EvaluateOnShares(party, plan, weights, own);
      for (std::size_t k = 0; k < squares.size(); ++k)
        squares[k] += result.histogram.at(k) * result.histogram.at(k) / 1e6 / kRuns;
    }
    return squares;
  })[0];
  double mean = 0;
  for (const double square : opened) {
    EXPECT_GT(square, 0.5);
    EXPECT_LT(square, 3 * (1 + 10 * std::sqrt(2.0 / kRuns)));
    mean += square / 20;
  }
  EXPECT_NEAR(mean, 3, 3 * 6.5 * std::sqrt(2.0 / (20 * kRuns)));
}

TEST(EvaluationEvents, ChargeAHistogramOnceWithTheNoiseOfItsSensitivity) {
  TrainingSettings settings = SettingsOf(EvaluationCase{.name = "bins", .classes = 2});
  settings.evaluation->sigma = 2;
  settings.evaluation->bins = 10;
  const auto events = EvaluationEvents(MakeStepPlan(settings));
  ASSERT_EQ(events.size(), 1U);
  const auto& event = std::get<dp::NoisyEvaluation>(events[0]);
  EXPECT_EQ(event.sigma, 2);
  EXPECT_EQ(event.coordinates, 20);
  EXPECT_NEAR(event.party_deviation, std::ldexp(2, 16), 2);
}

TEST(EvaluationEvents, ChargeNoisyCountsOnly) {
  TrainingSettings settings = SettingsOf(EvaluationCase{.name = "events"});
  EXPECT_TRUE(EvaluationEvents(MakeStepPlan(settings)).empty());
  settings.evaluation->sigma = 2;
  const auto events = EvaluationEvents(MakeStepPlan(settings));
  ASSERT_EQ(events.size(), 1U);
  const auto& event = std::get<dp::NoisyEvaluation>(events[0]);
  EXPECT_EQ(event.sigma, 2);
  EXPECT_NEAR(event.party_deviation, std::ldexp(2 / std::sqrt(2.0), 16), 2);
  settings.evaluation->sigma = 1.7e-4;  // a party's deviation is 7.9 lattice units
  EXPECT_THROW((void)EvaluationEvents(MakeStepPlan(settings)), ConfigError);
  settings.evaluation->sigma = 1.75e-4;  // 8.1
  EXPECT_EQ(EvaluationEvents(MakeStepPlan(settings)).size(), 1U);
  settings.evaluation.reset();
  EXPECT_TRUE(EvaluationEvents(MakeStepPlan(settings)).empty());
}

TEST(Train, EvaluatesAfterTheRecordAndChargesNoTrainingRecord) {
  TrainingSettings settings = SmallSettings();
  settings.sigma = 0.5;
  settings.clip = 2;
  settings.steps = 60;
  const double epsilon = MakePlan(settings).epsilon_insider;
  settings.evaluation = EvaluationSettings{.test = {.holder = 2, .rows = 90}, .sigma = 1};
  settings.release_to = {0};
  EXPECT_EQ(MakePlan(settings).epsilon_insider, epsilon);
  const OwnRecords test = MakeRecords(settings, 99, 90);
  const auto results = RunParties(Seed{1}, [&](mpc::Context& party) {
    const OwnRecords own = MakeRecords(settings, 10 + static_cast<std::uint64_t>(party.self()), 40);
    return Train(party, settings, own,
                 {.on_step = [](const StepReport&) {}, .on_record = [](const dp::TrainingRecord&) {}},
                 {.test = party.self() == 2 ? test : OwnRecords{}, .validation = {}});
  });
  for (const TrainingResult& result : results) {
    ASSERT_TRUE(result.evaluation && result.evaluation->correct);
    EXPECT_GT(*result.evaluation->correct, 50);  // guessing gives 30; noise of deviation 1.2
    ASSERT_EQ(result.record.events.size(), 2U);
    EXPECT_TRUE(std::holds_alternative<dp::NoisyEvaluation>(result.record.events[1]));
    EXPECT_EQ(dp::Epsilons(result.record, 1e-5).insider, epsilon);
    EXPECT_LT(dp::TestSetEpsilons(result.record, 1e-5).insider, 10);
  }
}

/// One feature of +-1/2, which says the class of four records in five.
OwnRecords TwoGroups(mpc::Index count) {
  OwnRecords records{.x = decltype(OwnRecords::x)(count, 1), .y = {}};
  for (mpc::Index row = 0; row < count; ++row) {
    const int group = static_cast<int>(row % 2);
    records.x(row, 0) = static_cast<float>(group) - 0.5F;
    records.y.push_back(row / 2 % 5 == 0 ? 1 - group : group);
  }
  return records;
}

// The best fit of 0 and 1 is 0.2 and 0.8 in the two groups: what is right lies on two sides of 1/2, not of 0.
TEST(Train, TellsTwoClassesApartByTheSquaredLossOnSharesAndInTheClear) {
  TrainingSettings settings = SmallSettings();
  settings.features = 1;
  settings.classes = 2;
  settings.loss = Loss::kSquared;
  settings.expected_batch = 120;  // all records in every step
  settings.clip = 8;
  settings.steps = 60;
  settings.evaluation = EvaluationSettings{.test = {.holder = 0, .rows = 40}};
  // A unit of one feature answers on one side of 0, by the sign of its first weight: of 20 units all do so on
  // the same side, and the network tells no classes apart, with probability 2^-19. The more units, the
  // steeper the loss: a rate of 1 would drive all of them to where they answer no more.
  for (const auto& hidden : {std::vector<std::int64_t>{}, {20}}) {
    settings.hidden = hidden;
    settings.learning_rate = hidden.empty() ? 1 : 0.1;
    const OwnRecords own = TwoGroups(40);
    const auto results = RunParties(Seed{1}, [&](mpc::Context& party) {
      return Train(party, settings, own,
                   {.on_step = [](const StepReport&) {}, .on_record = [](const dp::TrainingRecord&) {}},
                   {.test = party.self() == 0 ? own : OwnRecords{}, .validation = {}});
    });
    EXPECT_EQ(results[0].evaluation->correct, 32) << hidden.size();
    if (!hidden.empty()) continue;
    const Model& model = results[0].model.value();
    EXPECT_NEAR(model.weights(0, 0), 0.6, 0.02);
    EXPECT_NEAR(model.bias(0), 0, 0.02);
  }
}

TEST(Train, RefusesTestRecordsThatAreNotAsDeclared) {
  TrainingSettings settings = SmallSettings();
  settings.evaluation = EvaluationSettings{.test = {.holder = 0, .rows = 5}};
  EXPECT_THROW((void)RunParties(Seed{1},
                                [&](mpc::Context& party) {
                                  return Train(party, settings, MakeRecords(settings, 1, 10),
                                               {.on_step = [](const StepReport&) {},
                                                .on_record = [](const dp::TrainingRecord&) {}});
                                }),
               DataError);
}

TEST(MakePlan, RefusesAnEvaluationWhoseLogitsCouldLeaveTheRing) {
  TrainingSettings settings = SmallSettings();
  settings.fraction_bits = 24;
  settings.learning_rate = 4000;
  settings.steps = 1000;
  (void)MakePlan(settings);  // the sigmoid takes logits modulo its period
  settings.evaluation = EvaluationSettings{.test = {.holder = 0, .rows = 5}};
  EXPECT_THROW((void)MakePlan(settings), ConfigError);
}

}  // namespace
}  // namespace trefoil::ml
