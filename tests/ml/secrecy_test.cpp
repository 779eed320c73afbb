// Secrecy of a whole DP-SGD step, and of the classification on shares, as far as a test can show it, in the
// manner of tests/protocols/secrecy_test.cpp: over sessions with fresh keys, whatever a party receives is
// uniform, and so are its sums and differences with what else it receives and with its own PRG words, for two
// secrets (all features, labels and weights) at the edges. Noise is left out: it would hide what must be
// hidden without it.
//
// False alarms: a check fails with probability at most 1e-16; every test here makes at most 2e8 checks, and
// there are fewer than 25: at most one choice of keys in two million makes any of them fail. Keys are fixed,
// so a run repeats.

#include <gtest/gtest.h>

#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "dp/laws/trial_law.h"
#include "ml/dpsgd/adaptive_clip.h"
#include "ml/dpsgd/dp_sgd.h"
#include "ml/noise/noisy_counts.h"
#include "ml/noise/noisy_sum.h"
#include "ml/noise/noisy_votes.h"
#include "ml/on_deposits/deposited_squares.h"
#include "ml/on_shares/best_trial.h"
#include "ml/on_shares/classifier_average.h"
#include "ml/on_shares/column_squares.h"
#include "ml/on_shares/correct_counts.h"
#include "ml/on_shares/ensemble_transfer.h"
#include "ml/on_shares/score_histogram.h"
#include "protocols/arithmetic/multiply.h"
#include "tests/protocols/secrecy_runs.h"
#include "tests/support/ml_test.h"
#include "tests/support/secrecy/view.h"

namespace trefoil::ml {
namespace {

using mpc::Index;
using mpc::RingMatrix;
using mpc::Word;
using protocols::Form;
using namespace testing_support;  // NOLINT(google-build-using-namespace): test helpers only

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr int kSessions = 60;
#else
constexpr int kSessions = 1'000;
#endif
constexpr std::uint64_t kMaxChecks = 200'000'000;

struct StepCase {
  std::string name;
  Loss loss = Loss::kOneVsRest;
  Clipping clipping = Clipping::kFactorised;
  Form form = Form::kBulk;
  std::vector<std::int64_t> hidden{};
  double momentum = 0;
  bool in_words = false;                ///< rows of words
  bool in_half_words = false;           ///< rows of 32 bits
  std::vector<double> class_weights{};  ///< of two classes
  std::int64_t features_of_two = 0;     ///< of two classes: how many there are
};

void PrintTo(const StepCase& step, std::ostream* out) { *out << step.name; }

/// Everything held by party 0 and 2 in one component, as the trivial sharings of other tests.
mpc::ArithShare InOneComponent(const mpc::Context& party, const RingMatrix& values) {
  const RingMatrix zero = RingMatrix::Zero(values.rows(), values.cols());
  return {party.self() == 0 ? values : zero, party.next() == 0 ? values : zero};
}

void ExpectUniformViews(const protocols::ProtocolCase& step, std::uint8_t seed, int fraction_bits) {
  UniformityChecker checker;
  for (const Word secret : {Word{0}, (Word{1} << fraction_bits) - 1}) {
    const std::array<View, 3> views = protocols::ViewsOfSessions(step, Seed{seed++}, kSessions, secret);
    for (const View& view : views) {
      EXPECT_GE(view.size(), 10U);
      CheckUniform(view, checker);
    }
  }
  for (const std::string& failure : checker.failures()) ADD_FAILURE() << "not uniform: " << failure;
  EXPECT_LE(checker.checks(), kMaxChecks) << "the stated probability of a false alarm does not hold";
}

class StepSecrecyTest : public testing::TestWithParam<StepCase> {};

TEST_P(StepSecrecyTest, ReceivesNothingButUniformWordsOverSessions) {
  TrainingSettings settings = SmallSettings();
  settings.features = 1;  // 8 weights: whole words, whatever their width
  settings.classes = 4;
  settings.loss = GetParam().loss;
  settings.clipping = GetParam().clipping;
  settings.hidden = GetParam().hidden;
  settings.momentum = GetParam().momentum;
  if (GetParam().features_of_two > 0) {
    settings.features = GetParam().features_of_two;
    settings.classes = 2;
    settings.class_weights = GetParam().class_weights;
  }
  if (GetParam().in_half_words) {
    settings.row_fraction_bits = 8;
    settings.error_fraction_bits = 10;
  }
  StepPlan plan = MakeStepPlan(settings, GetParam().form);
  if (GetParam().in_words) plan = WithWholeRows(std::move(plan));
  EXPECT_EQ(plan.row_bits == 32, GetParam().in_half_words);
  EXPECT_EQ(HasNarrowRows(plan), settings.clipping != Clipping::kPublished && !GetParam().in_words);
  EXPECT_EQ(MaskBitsBeside(plan), settings.classes == 2 && !settings.hidden.empty());
  protocols::ProtocolCase step;
  step.run = [&plan](mpc::Context& party, Index rows, Word secret) {
    const RingMatrix all = RingMatrix::Constant(rows, EncodedColumns(plan), secret);
    const LayerShape shape = ShapeOfWeights(plan);
    const RingMatrix weights = RingMatrix::Constant(shape.inputs, shape.outputs, Word{3} * secret);
    const Batch batch = InItsBits(plan, ToBatch(plan, InOneComponent(party, all)));
    TrainingState start = StartFrom({InOneComponent(party, weights), plan.settings.fraction_bits});
    start.velocity = start.weights;
    (void)DpSgdStep(party, plan, batch, start, NoNoise(plan));
    return protocols::Output{};
  };
  ExpectUniformViews(step, 41, plan.settings.fraction_bits);
}

/// All of a step on an adaptive clip but the opening of its count, on narrow rows and on whole ones.
class AdaptiveClipSecrecy : public testing::TestWithParam<bool> {};

TEST_P(AdaptiveClipSecrecy, ReceivesNothingButUniformWordsOverSessions) {
  TrainingSettings settings = SmallSettings();
  settings.features = 1;
  settings.classes = 4;
  settings.adaptive.emplace();
  StepPlan plan = MakeStepPlan(settings);
  EXPECT_TRUE(HasNarrowRows(plan));
  if (GetParam()) plan = WithWholeRows(std::move(plan));
  protocols::ProtocolCase step;
  step.run = [&plan](mpc::Context& party, Index rows, Word secret) {
    const RingMatrix all = RingMatrix::Constant(rows, EncodedColumns(plan), secret);
    const LayerShape shape = ShapeOfWeights(plan);
    const mpc::FixedShare weights(
        InOneComponent(party, RingMatrix::Constant(shape.inputs, shape.outputs, Word{3} * secret)),
        plan.settings.fraction_bits);
    const Batch batch = InItsBits(plan, ToBatch(plan, InOneComponent(party, all)));
    const auto sums = AdaptiveGradient(party, plan, batch, weights, -50);
    (void)protocols::Reshare(party, CountToOpen(plan, sums.within));
    TrainingState start = StartFrom(weights);
    start.velocity = weights;
    start.clip_at = -50;
    (void)ApplyUpdate(party, plan, start, sums.gradient);
    return protocols::Output{};
  };
  ExpectUniformViews(step, 53, plan.settings.fraction_bits);
}

INSTANTIATE_TEST_SUITE_P(InWords, AdaptiveClipSecrecy, testing::Bool());

/// What evaluation, validation and predictions do to records before their result is opened.
TEST(ClassificationSecrecy, ReceivesNothingButUniformWordsOverSessions) {
  TrainingSettings settings = SmallSettings();
  settings.features = 2;
  const StepPlan plan = MakeStepPlan(settings);
  protocols::ProtocolCase count;
  count.run = [&plan](mpc::Context& party, Index rows, Word secret) {
    const RingMatrix all = RingMatrix::Constant(rows, EncodedColumns(plan), secret);
    const LayerShape shape = ShapeOfWeights(plan);
    const RingMatrix weights = RingMatrix::Constant(shape.inputs, shape.outputs, Word{3} * secret);
    const Batch batch = ToBatch(plan, InOneComponent(party, all));
    const mpc::FixedShare model(InOneComponent(party, weights), plan.settings.fraction_bits);
    (void)CorrectCounts(party, batch, Logits(party, plan, batch.x, model), kClassifiedWidth);
    return protocols::Output{};
  };
  ExpectUniformViews(count, 47, plan.settings.fraction_bits);
}

/// The same where a histogram of predictions is opened, or one for each class.
class HistogramSecrecy : public testing::TestWithParam<int> {};

TEST_P(HistogramSecrecy, ReceivesNothingButUniformWordsOverSessions) {
  TrainingSettings settings = SmallSettings();
  settings.features = 2;
  settings.classes = GetParam();
  settings.evaluation = EvaluationSettings{
      .test = {.holder = 1, .rows = 1}, .sigma = 1, .bins = 4, .confusion = settings.classes > 2};
  const StepPlan plan = MakeStepPlan(settings);
  protocols::ProtocolCase count;
  count.run = [&plan](mpc::Context& party, Index rows, Word secret) {
    const Batch batch =
        ToBatch(plan, InOneComponent(party, RingMatrix::Constant(rows, EncodedColumns(plan), secret)));
    const mpc::FixedShare model(
        InOneComponent(party, RingMatrix::Constant(3, plan.columns, Word{3} * secret)),
        plan.settings.fraction_bits);
    const mpc::AdditiveShare counts = ScoreHistogram(party, plan, batch, Logits(party, plan, batch.x, model));
    (void)protocols::Reshare(party, counts);
    return protocols::Output{};
  };
  ExpectUniformViews(count, 61, plan.settings.fraction_bits);
}

INSTANTIATE_TEST_SUITE_P(Classes, HistogramSecrecy, testing::Values(2, 3));

/// What is done to the parties' votes before a winner is opened, here to nobody.
TEST(VoteSecrecy, ReceivesNothingButUniformWordsOverSessions) {
  protocols::ProtocolCase votes;
  votes.run = [](mpc::Context& party, Index rows, Word secret) {
    const mpc::ArithShare counts = protocols::InputSum(party, RingMatrix::Constant(rows, 3, secret));
    (void)OpenNoisyWinners(party, counts, RingMatrix::Zero(rows, 3), 24, {});
    return protocols::Output{};
  };
  ExpectUniformViews(votes, 49, 16);
}

/// And before it is opened whether the most votes pass a threshold.
TEST(ThresholdSecrecy, ReceivesNothingButUniformWordsOverSessions) {
  protocols::ProtocolCase votes;
  votes.run = [](mpc::Context& party, Index rows, Word secret) {
    const mpc::ArithShare counts = InOneComponent(party, RingMatrix::Constant(rows, 3, secret));
    (void)NoisyMaxBelow(party, counts, RingMatrix::Zero(rows, 1), 1000, 24);
    return protocols::Output{};
  };
  ExpectUniformViews(votes, 59, 16);
}

/// The same of counts, of parties' own and of shares.
TEST(CountSecrecy, ReceivesNothingButUniformWordsOverSessions) {
  protocols::ProtocolCase counts;
  counts.run = [](mpc::Context& party, Index rows, Word secret) {
    const RingMatrix own = RingMatrix::Constant(rows, 1, secret);
    (void)OpenNoisyCounts(party, own, RingMatrix::Zero(rows, 1), {});
    (void)OpenNoisyCounts(party, mpc::AdditiveShare(own), RingMatrix::Zero(rows, 1), {});
    return protocols::Output{};
  };
  ExpectUniformViews(counts, 53, 60);
}

/// Sums of vectors, of parties' own and of shares, opened to nobody: all shares that they are made of.
TEST(SumSecrecy, ReceivesNothingButUniformWordsOverSessions) {
  protocols::ProtocolCase sums;
  sums.run = [](mpc::Context& party, Index rows, Word secret) {
    const RingMatrix own = RingMatrix::Constant(rows, 1, secret);
    (void)NoisySum(party, own, RingMatrix::Zero(rows, 1), {});
    (void)NoisySum(party, mpc::AdditiveShare(own), RingMatrix::Zero(rows, 1), {});
    return protocols::Output{};
  };
  ExpectUniformViews(sums, 61, 60);
}

/// The products of parties' columns of the same rows, opened to nobody.
TEST(ColumnSquaresSecrecy, ReceivesNothingButUniformWordsOverSessions) {
  const SquaresShape shape{.features = 3};
  protocols::ProtocolCase squares;
  squares.run = [&](mpc::Context& party, Index rows, Word secret) {
    for (const int target_party : {2, 0}) {
      const SquaresColumns columns{.features = {1, 1, 1}, .target_party = target_party};
      const RingMatrix own = RingMatrix::Constant(rows, columns.width(shape, party.self()), secret);
      const auto sum = SumOfColumnSquares(party, shape, columns, own, rows);
      (void)NoisySum(party, sum, RingMatrix::Zero(shape.numbers(), 1), {});
    }
    return protocols::Output{};
  };
  ExpectUniformViews(squares, 69, 16);
}

/// The products of rows on shares, whose targets are rounded, opened to nobody.
TEST(DepositedSquaresSecrecy, ReceivesNothingButUniformWordsOverSessions) {
  const DepositedScale scale{.fraction_bits = 16};
  const SquaresShape shape{.features = 2, .unit = scale.unit()};
  protocols::ProtocolCase squares;
  squares.run = [&](mpc::Context& party, Index rows, Word secret) {
    const auto deposited = protocols::Input(
        party, 0, party.self() == 0 ? RingMatrix::Constant(rows, 4, secret % 2) : RingMatrix(), {rows, 4});
    const auto sum = SumOfDepositedSquares(party, shape, scale, DepositedLabels::kTargets, {deposited});
    (void)NoisySum(party, sum, RingMatrix::Zero(shape.numbers(), 1), {});
    return protocols::Output{};
  };
  ExpectUniformViews(squares, 71, 16);
}

/// Without the messages of which some bit is the same in all sessions: those that do not fill their words.
View FullOf(const View& view) {
  View full;
  for (const Sight& sight : view) {
    bool varies = true;
    for (std::size_t k = 0; k < sight.columns(); ++k) {
      Word any = 0;
      for (const Word word : sight.column(k)) any |= word;
      varies = varies && any == ~Word{0};
    }
    if (varies || !sight.received) full.push_back(sight);
  }
  return full;
}

/// A tuning's choice: which trials compete, and the best of them. With one secret all scores are equal and
/// the first that competes is chosen, with the other the last. Messages that fill their words are uniform, and
/// all are of one law for both secrets. How BestTrial counts records is in ClassificationSecrecy.
TEST(ChoiceSecrecy, ReceivesNothingThatDependsOnModelsAndScoresOverSessions) {
  constexpr Index kModels = 8;
  const auto weights = dp::TrialLaw(kModels, 3);
  protocols::ProtocolCase choice;
  choice.run = [&](mpc::Context& party, Index rows, Word secret) {
    std::vector<mpc::ArithShare> models;
    RingMatrix scores(kModels, 1);
    for (Index k = 0; k < kModels; ++k) {
      scores(k, 0) = secret * static_cast<Word>(k);
      models.push_back(InOneComponent(party, RingMatrix::Constant(rows, 1, scores(k, 0))));
    }
    const mpc::BoolShare competing = DrawCompeting(party, weights);
    (void)ChooseCompeting(party, models, InOneComponent(party, scores), competing);
    return protocols::Output{};
  };
  UniformityChecker checker;
  const auto views = protocols::ViewsOfSessions(choice, Seed{73}, kSessions, 0);
  const auto others = protocols::ViewsOfSessions(choice, Seed{74}, kSessions, (Word{1} << 16) - 1);
  for (std::size_t self = 0; self < views.size(); ++self) {
    EXPECT_GE(FullOf(views[self]).size(), 10U);
    CheckUniform(FullOf(views[self]), checker);
    CheckUniform(FullOf(others[self]), checker);
    CheckAlike(views[self], others[self], checker);
  }
  for (const std::string& failure : checker.failures()) ADD_FAILURE() << "tells something: " << failure;
  EXPECT_LE(checker.checks(), kMaxChecks) << "the stated probability of a false alarm does not hold";
}

/// One owner's size and weights, and every party's noises. Of several owners' sizes the smallest is found by
/// RowMaximum and RowArgMax, whose views tests/protocols/secrecy_test.cpp checks; with one all messages are
/// of whole words.
class ClassifierSumSecrecyTest : public testing::TestWithParam<bool> {};

TEST_P(ClassifierSumSecrecyTest, ReceivesNothingButUniformWordsOverSessions) {
  protocols::ProtocolCase sums;
  sums.run = [](mpc::Context& party, Index weights, Word secret) {
    const bool published = GetParam();
    const AverageShape shape{.owners = {0, 1, 0},
                             .weights = weights,
                             .min_sizes = {1, 40, 20'000},
                             .margin = 3,
                             .noisy_size = true,
                             .width = 64};
    const Index owners = shape.owners.at(static_cast<std::size_t>(party.self()));
    OwnAverage own{.sizes = RingMatrix::Constant(owners, 1, secret),
                   .weights = RingMatrix::Constant(1, weights, secret)};
    own.noise.values() = RingMatrix::Constant(published ? owners : 3, weights, secret);
    const mpc::ArithShare sum =
        published ? PublishedClassifierSum(party, shape, own) : NoisyClassifierSum(party, shape, own);
    (void)AverageOfSum(party, shape, sum, 30);
    return protocols::Output{};
  };
  ExpectUniformViews(sums, 55, 16);
}

INSTANTIATE_TEST_SUITE_P(Noises, ClassifierSumSecrecyTest, testing::Bool(), [](const auto& info) {
  return info.param ? std::string("AsPublished") : std::string("Sound");
});

/// Steps on votes; the public rows are nobody's secret.
TEST(TransferSecrecy, ReceivesNothingButUniformWordsOverSessions) {
  constexpr Index kRows = 64;  // the elements of a session
  const auto plan =
      MakeTransferPlan({.owners = 150, .rows = kRows, .features = 2, .lambda = 0.2, .steps = 2});
  const auto encoded = EncodeTransferRows(plan, Eigen::MatrixXd::Constant(kRows, 2, 0.5));
  protocols::ProtocolCase steps;
  steps.run = [&](mpc::Context& party, Index rows, Word secret) {
    (void)MinimiseTransferRisk(party, plan, encoded, RingMatrix::Constant(rows, 1, secret));
    return protocols::Output{};
  };
  ExpectUniformViews(steps, 49, 16);
}

INSTANTIATE_TEST_SUITE_P(
    Steps, StepSecrecyTest,
    testing::Values(
        StepCase{.name = "Bulk"}, StepCase{.name = "Latency", .form = Form::kLatency},
        StepCase{.name = "WholeRows", .in_words = true},
        StepCase{.name = "RowsOfHalfWords", .in_half_words = true},
        // of one column 8 weights, too
        StepCase{.name = "WeighedClasses", .class_weights = {0.5, 1}, .features_of_two = 7},
        StepCase{.name = "Squared", .loss = Loss::kSquared},
        StepCase{.name = "SquaredLatency", .loss = Loss::kSquared, .form = Form::kLatency},
        StepCase{.name = "Examples", .clipping = Clipping::kExamples},
        StepCase{.name = "Published", .clipping = Clipping::kPublished},
        // 16 weights
        StepCase{.name = "Network", .form = Form::kLatency, .hidden = {2}},
        StepCase{.name = "NetworkOfTwoClasses",  // 8 weights
                 .form = Form::kLatency,
                 .hidden = {1},
                 .features_of_two = 5},
        StepCase{.name = "NetworkOnWholeRows", .form = Form::kLatency, .hidden = {2}, .in_words = true},
        StepCase{.name = "Momentum", .clipping = Clipping::kExamples, .momentum = 0.5}),
    [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace trefoil::ml
