#include "ml/dpsgd/hidden_layers.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <utility>

#include "base/error.h"
#include "ml/clear/local_training.h"
#include "ml/dpsgd/initial_weights.h"
#include "protocols/arithmetic/multiply.h"
#include "tests/reference/plain_network.h"
#include "tests/support/fixed_key.h"
#include "tests/support/ml_test.h"
#include "tests/support/sensitivity_search.h"

namespace trefoil::ml {
namespace {

using mpc::Index;
using mpc::RingMatrix;
using mpc::Word;
using protocols::Form;
using protocols::Rounding;
using namespace testing_support;  // NOLINT(google-build-using-namespace): test helpers only

struct HiddenCase {
  std::string name;
  std::vector<std::int64_t> hidden;
  Loss loss = Loss::kOneVsRest;
  int classes = 3;
  Form form = Form::kBulk;
  Rounding truncation = Rounding::kStochastic;
  int fraction_bits = 16;
  double clip = 0.5;
  std::vector<double> class_weights{};
  std::optional<int> row_fraction_bits{};
};

void PrintTo(const HiddenCase& c, std::ostream* out) { *out << c.name; }

StepPlan PlanOf(const HiddenCase& c) {
  TrainingSettings settings = SmallSettings();
  settings.features = 4;
  settings.hidden = c.hidden;
  settings.loss = c.loss;
  settings.classes = c.classes;
  settings.truncation = c.truncation;
  settings.fraction_bits = c.fraction_bits;
  settings.clip = c.clip;
  settings.class_weights = c.class_weights;
  settings.row_fraction_bits = c.row_fraction_bits;
  settings.activation_bound = 4;
  settings.delta_bound = 2;
  settings.learning_rate = 2;
  if (c.loss == Loss::kSquared) settings.logit_bound = 2;
  return MakeStepPlan(settings, c.form);
}

RingMatrix FirstWeights(const StepPlan& plan) {
  RandomStream coins(FixedKey(7));
  return InitialWeights(plan, coins);
}

class NetworkTest : public testing::TestWithParam<HiddenCase> {};

TEST_P(NetworkTest, HasNarrowRows) { EXPECT_TRUE(HasNarrowRows(PlanOf(GetParam()))); }

TEST_P(NetworkTest, CostsWhatItDeclares) {
  const StepPlan plan = PlanOf(GetParam());
  const OwnRecords records = MakeRecords(plan.settings, 1, 10);
  const Outcome outcome = RunOn(
      Seed{1},
      [&](mpc::Context& party) {
        return std::pair{InItsBits(plan, DealBatch(party, plan, records, 12)),
                         DealStart(party, plan, FirstWeights(plan))};
      },
      [&](mpc::Context& party, const auto& in) {
        return DpSgdStep(party, plan, in.first, in.second, NoNoise(plan)).weights.ring();
      });
  EXPECT_EQ(outcome.cost, Figures(DpSgdStepCost(plan, 12)));
}

TEST_P(NetworkTest, LeavesTheWeightsExactlyWhenTheBatchIsPadding) {
  const StepPlan plan = PlanOf(GetParam());
  // Biases that a constant 1 in an upper layer would pass on.
  const RingMatrix weights = RandomSigned(2, ShapeOfWeights(plan).inputs, 1, plan.settings.fraction_bits + 1);
  const Outcome outcome = RunOn(
      Seed{2},
      [&](mpc::Context& party) {
        const mpc::ArithShare padding = InsecureDeal(party, RingMatrix::Zero(16, EncodedColumns(plan)));
        return std::pair{InItsBits(plan, ToBatch(plan, padding)), DealStart(party, plan, weights)};
      },
      [&](mpc::Context& party, const auto& in) {
        return DpSgdStep(party, plan, in.first, in.second, NoNoise(plan)).weights.ring();
      });
  EXPECT_TRUE((outcome.value == weights).all());
}

TEST_P(NetworkTest, NeverExceedsItsCertificateAndComesCloseToIt) {
  const StepPlan plan = PlanOf(GetParam());
  SensitivitySearch search(plan, 1);
  const dp::Uint256 largest = search.Climb(30).squared_norm;
  EXPECT_TRUE(WithinCertificate(plan, largest)) << ShareOfCertificate(plan, largest);
  EXPECT_TRUE(WithinFivePercent(plan, largest)) << ShareOfCertificate(plan, largest);
}

TEST_P(NetworkTest, StaysWithinItsCertificateForWeightsAtTheEdgesOfTheRing) {
  const StepPlan plan = PlanOf(GetParam());
  constexpr Index kRows = 60;
  const OwnRecords records = MakeRecords(plan.settings, 2, kRows);
  const std::array<Word, 4> edges{Word{1} << 63, (Word{1} << 63) - 1, Word{1} << 62, Word{3} << 62};
  std::vector<RingMatrix> weights;
  for (Index k = 0; k < kRows; ++k) {
    RingMatrix random = RandomWords(static_cast<std::uint64_t>(k + 1), ShapeOfWeights(plan).inputs, 1);
    if (k % 3 != 0) {
      for (Index j = 0; j < random.size(); ++j) random.data()[j] = edges[random.data()[j] % edges.size()];
    }
    weights.push_back(std::move(random));
  }
  weights[1].setConstant(edges[0]);
  weights[2].setConstant(edges[1]);
  const RingMatrix encoded = EncodeRecords(plan, records, AllRows(records), kRows);
  const RingMatrix sums = Contributions(plan, Seed{1}, encoded, weights);
  const RingMatrix padding =
      Contributions(plan, Seed{2}, RingMatrix::Zero(kRows, EncodedColumns(plan)), weights);
  for (Index row = 0; row < kRows; ++row) {
    const dp::Uint256 squared = SquaredNorm(sums.row(row));
    EXPECT_TRUE(WithinCertificate(plan, squared))
        << "row " << row << ": " << ShareOfCertificate(plan, squared);
  }
  EXPECT_GT(SquaredNorm(sums), 0);
  EXPECT_EQ(SquaredNorm(padding), 0);
}

/// The bounds that the certificate is made of, each for any weights.
TEST_P(NetworkTest, KeepsActivationsAndDeltasWithinTheirBoundsForAnyWeights) {
  const StepPlan plan = PlanOf(GetParam());
  const OwnRecords records = MakeRecords(plan.settings, 3, 50);
  const int f = plan.settings.fraction_bits;
  const RingMatrix weights = RandomWords(5, ShapeOfWeights(plan).inputs, 1);
  const Outcome outcome = RunOn(
      Seed{3},
      [&](mpc::Context& party) {
        return std::pair{InItsBits(plan, DealBatch(party, plan, records, 50)),
                         DealStart(party, plan, weights)};
      },
      [&](mpc::Context& party, const auto& in) {
        const ForwardPass pass = RunForward(party, plan, in.first, in.second.weights);
        const mpc::FixedShare errors = PredictionErrors(party, plan, in.first, pass.logits);
        const auto deltas = RunBackward(party, plan, pass, in.second.weights, errors);
        return Stacked(Transposed(pass.inputs[0]), Transposed(deltas[0]));
      });
  const Eigen::MatrixXd values = mpc::Decode(outcome.value, f);
  const auto size = static_cast<Index>(plan.settings.hidden[0]);
  EXPECT_GE(values.topRows(size).minCoeff(), 0);
  EXPECT_LE(values.topRows(size).maxCoeff(), plan.settings.activation_bound);
  EXPECT_EQ(values.row(size).minCoeff(), 1);
  EXPECT_EQ(values.row(size).maxCoeff(), 1);
  EXPECT_LE(values.bottomRows(size).cwiseAbs().maxCoeff(), plan.settings.delta_bound);
  EXPECT_GT(values.topRows(size).maxCoeff(), 0);
}

INSTANTIATE_TEST_SUITE_P(
    Models, NetworkTest,
    testing::Values(
        HiddenCase{"one_layer", {5}}, HiddenCase{"latency", {5}, Loss::kOneVsRest, 3, Form::kLatency},
        HiddenCase{"two_layers_softmax", {4, 3}, Loss::kSoftmax, 3, Form::kLatency},
        HiddenCase{"binary_exact", {5}, Loss::kOneVsRest, 2, Form::kLatency, Rounding::kExact},
        HiddenCase{"squared_f12", {5}, Loss::kSquared, 3, Form::kLatency, Rounding::kStochastic, 12},
        HiddenCase{
            "weighted", {4}, Loss::kSoftmax, 3, Form::kLatency, Rounding::kStochastic, 16, 0.5, {0.1, 2, 1}},
        HiddenCase{"f20", {3}, Loss::kOneVsRest, 2, Form::kLatency, Rounding::kStochastic, 20},
        HiddenCase{.name = "row_f4", .hidden = {4}, .form = Form::kLatency, .row_fraction_bits = 4},
        HiddenCase{.name = "row_f9_exact",
                   .hidden = {4, 3},
                   .loss = Loss::kSquared,
                   .form = Form::kLatency,
                   .truncation = Rounding::kExact,
                   .row_fraction_bits = 9},
        HiddenCase{.name = "row_f9_binary",
                   .hidden = {4},
                   .classes = 2,
                   .form = Form::kLatency,
                   .row_fraction_bits = 9},
        // Squared norms of deltas are a few hundred units, so that rounding them matters.
        HiddenCase{"small_clip", {5}, Loss::kOneVsRest, 2, Form::kLatency, Rounding::kExact, 16, 0.1}),
    [](const auto& info) { return info.param.name; });

struct NarrowCase {
  std::vector<std::int64_t> hidden;
  Form form = Form::kBulk;
  std::optional<int> row_fraction_bits{};
  double momentum = 0;
  int classes = 3;
  bool target = false;   ///< in place of classes, with Huber's loss
  bool weights = false;  ///< of classes and of records
};

void PrintTo(const NarrowCase& c, std::ostream* out) {
  *out << c.hidden.size() << " layers, rows of " << c.row_fraction_bits.value_or(16) << ", "
       << (c.target ? "a target" : std::to_string(c.classes) + " classes");
}

class NarrowNetworkTest : public testing::TestWithParam<NarrowCase> {
 protected:
  /// By the squared loss, or Huber's, and exact truncation: no number depends on a mask.
  [[nodiscard]] static StepPlan Plan() {
    const NarrowCase& c = GetParam();
    StepPlan plan = PlanOf({.name = "",
                            .hidden = c.hidden,
                            .loss = Loss::kSquared,
                            .classes = c.classes,
                            .form = c.form,
                            .truncation = Rounding::kExact,
                            .row_fraction_bits = c.row_fraction_bits});
    if (c.target) {
      plan.settings.targets = true;
      plan.settings.loss = Loss::kHuber;
      plan.settings.huber_threshold = 0.4;
    }
    if (c.weights) {
      if (!c.target) plan.settings.class_weights = {0.3, 1};
      plan.settings.max_record_weight = 1.3;
    }
    plan = MakeStepPlan(plan.settings, c.form);
    EXPECT_EQ(MaskBitsBeside(plan), c.classes == 2);
    if (GetParam().momentum > 0) {
      plan.settings.momentum = GetParam().momentum;
      plan.settings.max_batch_per_owner = 100;  // so that narrow rows save more than the momentum takes
      plan.settings.rows = {100, 100, 100};
      plan = MakeStepPlan(plan.settings, GetParam().form);
      EXPECT_TRUE(LiftsUpdate(plan));
      EXPECT_NE(plan.update_bits, plan.row_bits);
    }
    EXPECT_TRUE(HasNarrowRows(plan));
    return plan;
  }

  /// The same for rows in words, of as many fraction bits.
  [[nodiscard]] static StepPlan Whole(StepPlan plan) {
    plan.row_bits = 64;
    plan.update_bits = 64;
    return plan;
  }
};

// Nothing is rounded anew: every bit is the same. The noise goes through the sum's opening as well.
TEST_P(NarrowNetworkTest, GivesOfNarrowRowsWhatItGivesOfWholeOnes) {
  const StepPlan plan = Plan();
  EXPECT_LT(plan.update_bits, 64);
  const OwnRecords records = MakeRecords(plan.settings, 8, 20);
  const auto weights_of = [&](const StepPlan& of) {
    return RunOn(
               Seed{8},
               [&](mpc::Context& party) {
                 return std::pair{InItsBits(of, DealBatch(party, of, records, 24)),
                                  DealStart(party, of, FirstWeights(of))};
               },
               [&](mpc::Context& party, const auto& in) {
                 const auto seed = static_cast<std::uint64_t>(40 + party.self());
                 const RingMatrix noise =
                     RandomSigned(seed, ShapeOfWeights(of).inputs, 1, of.gradient_bits + 1);
                 TrainingState state = in.second;
                 for (int step = 0; step < 4; ++step) state = DpSgdStep(party, of, in.first, state, noise);
                 return state.weights.ring();
               })
        .value;
  };
  const RingMatrix narrow = weights_of(plan);
  EXPECT_TRUE((narrow == weights_of(Whole(plan))).all());
  EXPECT_FALSE((narrow == FirstWeights(plan)).any());
}

/// A truncation needs two bits more than |Z_1| has, and not one less.
TEST_P(NarrowNetworkTest, NeedsAsManyBitsOfRowsAsWhatGoesUpTheFirstLayerTakes) {
  const StepPlan plan = Plan();
  const int row_bits = RowFractionBits(plan.settings);
  const OwnRecords records = MakeRecords(plan.settings, 8, 20);
  constexpr int kBits = 36;  // of |Z_1|, the largest multiple of a mask bit below that
  RingMatrix weights = RingMatrix::Zero(ShapeOfWeights(plan).inputs, 1);
  const LayerShape& first = plan.layers.front();
  weights.middleRows((first.inputs - 1) * first.outputs, first.outputs)
      .setConstant(Word{0} - ((Word{1} << (kBits - row_bits)) - 1));  // biases: no unit is active
  const auto outputs_of = [&](int bits) {
    StepPlan narrow = plan;
    narrow.row_bits = bits;
    return RunOn(
               Seed{9},
               [&](mpc::Context& party) {
                 return std::pair{KnownModulo(DealBatch(party, narrow, records, 24), bits),
                                  DealStart(party, narrow, weights)};
               },
               [&](mpc::Context& party, const auto& in) {
                 return RunForward(party, narrow, in.first, in.second.weights).inputs[0];
               })
        .value;
  };
  const RingMatrix whole = outputs_of(63);
  EXPECT_TRUE((whole.leftCols(first.outputs) == 0).all());
  EXPECT_TRUE((whole.rightCols(1).topRows(20) == Word{1} << plan.settings.fraction_bits).all());
  EXPECT_TRUE((whole.bottomRows(4) == 0).all());
  EXPECT_TRUE((outputs_of(kBits + 2) == whole).all());
  EXPECT_FALSE((outputs_of(kBits + 1) == whole).all());
}

/// The update needs two bits more than the sum has, whatever rows have.
TEST_P(NarrowNetworkTest, NeedsAsManyBitsOfTheSumAsItHas) {
  const StepPlan plan = Plan();
  const Index weights = ShapeOfWeights(plan).weights();
  const int bits = plan.update_shift + 4;
  const RingMatrix sum = RingMatrix::Constant(weights, 1, (Word{1} << bits) - 1);
  const auto updated = [&](const StepPlan& of) {
    return RunOn(
               Seed{10},
               [&](mpc::Context& party) {
                 return std::pair{ToAdditive(InsecureDeal(party, sum)),
                                  DealStart(party, of, FirstWeights(of))};
               },
               [&](mpc::Context& party, const auto& in) {
                 return ApplyUpdate(party, of, in.second, in.first).weights.ring();
               })
        .value;
  };
  const auto opened_in = [&](int update_bits) {
    StepPlan narrow = plan;
    narrow.update_bits = update_bits;
    return updated(narrow);
  };
  const RingMatrix whole = updated(Whole(plan));
  EXPECT_TRUE((opened_in(bits + 2) == whole).all());
  EXPECT_FALSE((opened_in(bits + 1) == whole).all());
}

INSTANTIATE_TEST_SUITE_P(
    Layers, NarrowNetworkTest,
    testing::Values(
        NarrowCase{{5}}, NarrowCase{{4, 3}, Form::kLatency}, NarrowCase{{5}, Form::kLatency, 9},
        NarrowCase{{5}, Form::kLatency, 8, 0.5}, NarrowCase{.hidden = {5}, .classes = 2},
        NarrowCase{
            .hidden = {4, 3}, .form = Form::kLatency, .row_fraction_bits = 9, .classes = 2, .weights = true},
        NarrowCase{.hidden = {5}, .form = Form::kLatency, .classes = 2, .target = true, .weights = true},
        NarrowCase{
            .hidden = {5}, .form = Form::kLatency, .row_fraction_bits = 8, .momentum = 0.5, .classes = 2}));

/// Network weights as they are opened, layer by layer.
std::vector<Eigen::MatrixXd> LayersOf(const StepPlan& plan, const Eigen::MatrixXd& all) {
  std::vector<Eigen::MatrixXd> layers;
  Index first = 0;
  for (const LayerShape& shape : plan.layers) {
    Eigen::MatrixXd layer(shape.inputs, shape.outputs);
    for (Index k = 0; k < shape.weights(); ++k)
      layer(k / shape.outputs, k % shape.outputs) = all(first + k, 0);
    first += shape.weights();
    layers.push_back(layer);
  }
  return layers;
}

struct AgreementCase {
  std::vector<std::int64_t> hidden;
  std::optional<int> row_fraction_bits{};  ///< enough for the tolerances
  int classes = 3;                         ///< of two the one column's prediction is a sigmoid
};

void PrintTo(const AgreementCase& c, std::ostream* out) {
  *out << c.hidden.size() << " layers, rows of " << c.row_fraction_bits.value_or(16) << ", " << c.classes
       << " classes";
}

class NetworkAgreementTest : public testing::TestWithParam<AgreementCase> {
 protected:
  [[nodiscard]] static TrainingSettings Settings(double clip) {
    TrainingSettings settings = SmallSettings();
    settings.hidden = GetParam().hidden;
    settings.row_fraction_bits = GetParam().row_fraction_bits;
    settings.loss = Loss::kSoftmax;
    settings.classes = GetParam().classes;
    settings.clip = clip;
    settings.learning_rate = 1;
    return settings;
  }

  /// For each step from the same weights: the largest distance of a secure weight from the plain one, and the
  /// largest change of a plain one.
  [[nodiscard]] static std::vector<std::pair<double, double>> Distances(const TrainingSettings& settings,
                                                                        int steps) {
    const StepPlan plan = MakeStepPlan(settings);
    const OwnRecords records = MakeRecords(settings, 5, 30);
    const RingMatrix first = FirstWeights(plan);
    const Outcome outcome = RunOn(
        Seed{
            5},  // of which no hidden unit comes within a unit of zero, where rounding decides its derivative
        [&](mpc::Context& party) {
          return std::pair{InItsBits(plan, DealBatch(party, plan, records, 33)),
                           DealStart(party, plan, first)};
        },
        [&](mpc::Context& party, const auto& in) {
          TrainingState state = in.second;
          mpc::ArithShare all;
          for (int step = 0; step < steps; ++step) {
            state = DpSgdStep(party, plan, in.first, state, NoNoise(plan));
            all = step == 0 ? state.weights.ring() : Stacked(all, state.weights.ring());
          }
          return all;
        });
    const Eigen::MatrixXd start = mpc::Decode(first, settings.fraction_bits);
    const Eigen::MatrixXd secure = mpc::Decode(outcome.value, settings.fraction_bits);
    reference::PlainNetwork plain{
        .weights = LayersOf(plan, start),
        .activation_bound = settings.activation_bound,
        .delta_bound = settings.delta_bound,
        .clip = settings.clip,
        .learning_rate = std::ldexp(static_cast<double>(plan.step_size.mantissa), -plan.step_size.exponent),
        .softmax = settings.classes > 2};
    std::vector<std::pair<double, double>> distances;
    for (int step = 0; step < steps; ++step) {
      const auto before = plain.weights;
      plain.Step(ScaledRows(settings, records), Targets(settings, records.y));
      const auto layers = LayersOf(plan, secure.middleRows(step * start.rows(), start.rows()));
      double distance = 0;
      double moved = 0;
      for (std::size_t l = 0; l < layers.size(); ++l) {
        distance = std::max(distance, (layers[l] - plain.weights[l]).cwiseAbs().maxCoeff());
        moved = std::max(moved, (plain.weights[l] - before[l]).cwiseAbs().maxCoeff());
      }
      distances.emplace_back(distance, moved);
      plain.weights = layers;
    }
    return distances;
  }
};

// Rows, activations, deltas and softmax are off by a few units of 2^-16, and so is the mean over the batch of
// what they are multiplied to; an update is a thousand times that. A sigmoid is off by up to 0.003, too.
TEST_P(NetworkAgreementTest, WithPlainDoublePrecisionStepByStepUnclipped) {
  for (const auto& [distance, moved] : Distances(Settings(100), 30)) {
    EXPECT_LE(distance, GetParam().classes == 2 ? 3e-3 : 3e-4);
    EXPECT_GT(moved, 0.01);
  }
}

// The factor is up to 5 % below the true one, so an update is.
TEST_P(NetworkAgreementTest, WithPlainDoublePrecisionForAClippedStep) {
  const auto [distance, moved] = Distances(Settings(0.2), 1).front();
  EXPECT_LE(distance, 0.055 * moved);
  EXPECT_GT(moved, 0.01);
}

INSTANTIATE_TEST_SUITE_P(Sizes, NetworkAgreementTest,
                         testing::Values(AgreementCase{{8}}, AgreementCase{{6, 5}}, AgreementCase{{8}, 14},
                                         AgreementCase{{8}, {}, 2}));

TEST(NetworkPlan, RefusesWhatItHasNoCertificateFor) {
  TrainingSettings settings = SmallSettings();
  settings.hidden = {8};
  EXPECT_NO_THROW((void)MakeStepPlan(settings));
  for (const Clipping clipping : {Clipping::kPublished, Clipping::kExamples}) {
    settings.clipping = clipping;
    EXPECT_THAT([&] { (void)MakeStepPlan(settings); },
                testing::ThrowsMessage<ConfigError>(
                    testing::HasSubstr("expected \"factorised\" with model.hidden: \"published\" clips")));
  }
}

TEST(NetworkPlan, RefusesLocalModels) {
  TrainingSettings settings = SmallSettings();
  settings.hidden = {8};
  EXPECT_THAT(
      [&] {
        (void)MakeLocalPlan(settings,
                            {.steps = 1, .expected_batch = 1, .learning_rate = 1, .clip = 1, .sigma = 1});
      },
      testing::ThrowsMessage<ConfigError>(testing::HasSubstr("networks from local ones are no better")));
}

TEST(NetworkPlan, RefusesLayersWhoseNormsLeaveTheRing) {
  TrainingSettings settings = SmallSettings();
  settings.fraction_bits = 24;
  settings.hidden = {100};
  EXPECT_NO_THROW((void)MakeStepPlan(settings));
  settings.activation_bound = 1024;
  EXPECT_THROW((void)MakeStepPlan(settings), ConfigError);
  settings.activation_bound = 8;
  settings.hidden = {0};
  EXPECT_THROW((void)MakeStepPlan(settings), ConfigError);
}

TEST(NetworkPlan, KeepsEveryIntermediateBelow2To62) {
  for (const int f : {8, 12, 16, 20}) {
    TrainingSettings settings = SmallSettings();
    settings.fraction_bits = f;
    settings.hidden = {64, 32};
    settings.clip = 4;
    const StepPlan plan = MakeStepPlan(settings);
    const double slack = std::ldexp(2.0, -plan.row_norm_bits);
    EXPECT_LT(std::ldexp(dp::SquaredGradientBound(plan.network, slack), 2 * plan.row_norm_bits),
              std::ldexp(1.0, 62));
    for (const auto& layer : plan.network) {
      EXPECT_LT(std::ldexp(layer.input_norm * layer.input_norm, 2 * f), std::ldexp(1.0, 62));
      EXPECT_LT(std::ldexp(layer.delta_norm * layer.delta_norm, 2 * f), std::ldexp(1.0, 62));
    }
  }
}

}  // namespace
}  // namespace trefoil::ml
