// Train() where every party holds other columns of the same rows.
#include <gmock/gmock.h>

#include "base/error.h"
#include "ml/dpsgd/training.h"
#include "tests/reference/plain_dp_sgd.h"
#include "tests/support/ml_test.h"

namespace trefoil::ml {
namespace {

using mpc::Index;
using testing::HasSubstr;
using namespace testing_support;  // NOLINT(google-build-using-namespace): test helpers only

constexpr Index kVerticalRows = 90;

/// Full batches without noise, nothing clipped: what comes out depends on no coin but those of roundings.
TrainingSettings FullBatches(double row_norm) {
  TrainingSettings settings = SmallSettings();
  settings.sampling = Sampling::kPublic;
  settings.expected_batch = kVerticalRows;
  settings.row_norm = row_norm;
  settings.clip = 8 * row_norm;
  settings.rows = {30, 30, 30};
  return settings;
}

TrainingSettings Vertical(TrainingSettings settings, std::array<std::int64_t, 3> features, int label_party) {
  settings.rows = {kVerticalRows + 20, 0, 0};
  settings.expected_batch = static_cast<double>(settings.rows[0]);
  // A step of the same length, though the rate counts padding: learning_rate / expected_batch.
  settings.learning_rate *= settings.expected_batch / static_cast<double>(kVerticalRows);
  settings.vertical = VerticalSettings{.features = features, .label_party = label_party};
  return settings;
}

/// A party's columns of the records.
OwnRecords ColumnsOf(const OwnRecords& all, const VerticalSettings& vertical, int self) {
  OwnRecords own;
  Index first = 0;
  for (int party = 0; party < self; ++party) first += vertical.features.at(static_cast<std::size_t>(party));
  own.x = all.x.middleCols(first, vertical.features.at(static_cast<std::size_t>(self)));
  if (self == vertical.label_party) own.y = all.y;
  for (Index row = 0; row < all.x.rows(); ++row) own.keys.push_back("row " + std::to_string(row));
  return own;
}

Model TrainVertically(const TrainingSettings& settings, const OwnRecords& all) {
  const auto results = RunParties(Seed{1}, [&](mpc::Context& party) {
    return Train(party, settings, ColumnsOf(all, *settings.vertical, party.self()), kQuiet);
  });
  EXPECT_EQ(results[1].model->weights, results[0].model->weights);
  return *results[0].model;
}

double Distance(const Model& a, const Model& b) {
  return std::max((a.weights - b.weights).cwiseAbs().maxCoeff(), (a.bias - b.bias).cwiseAbs().maxCoeff());
}

/// The oracle on these rows, bias included.
Model TrainPlainly(const TrainingSettings& settings, const Eigen::MatrixXd& x, const std::vector<int>& y) {
  reference::PlainDpSgd plain{.weights = Eigen::MatrixXd::Zero(settings.features + 1, 3),
                              .clip = settings.clip,
                              .learning_rate = settings.learning_rate,
                              .expected_batch = settings.expected_batch};
  for (int step = 0; step < settings.steps; ++step)
    plain.Step(x, Targets(settings, y), Eigen::MatrixXd::Zero(settings.features + 1, 3));
  return {.weights = plain.weights.topRows(settings.features),
          .bias = plain.weights.bottomRows(1).transpose()};
}

struct ColumnsCase {
  std::array<std::int64_t, 3> features;
  int label_party;
};

class VerticalTrainTest : public testing::TestWithParam<ColumnsCase> {};

// Rows that no bound shortens: the same training as if each party had a third of the rows.
TEST_P(VerticalTrainTest, IsTheHorizontalTrainingOfTheSameRows) {
  const TrainingSettings horizontal = FullBatches(16);
  const OwnRecords all = MakeRecords(horizontal, 5, kVerticalRows);
  const auto& [features, label_party] = GetParam();

  const Model vertical = TrainVertically(Vertical(horizontal, features, label_party), all);

  const auto results = RunParties(Seed{2}, [&](mpc::Context& party) {
    const Index first = 30 * party.self();
    OwnRecords own{.x = all.x.middleRows(first, 30), .y = {}};
    own.y.assign(all.y.begin() + first, all.y.begin() + first + 30);
    return Train(party, horizontal, own, kQuiet);
  });
  EXPECT_GT(vertical.weights.cwiseAbs().maxCoeff(), 2.0);
  // Ten steps of 4/90 times 90 errors of a few units of 2^-16 each, on rows of about 1: 40 times 2^-13.
  EXPECT_LE(Distance(vertical, *results[0].model), 0.005);
  // As dp_sgd_test.cpp: the sigmoid's series is off by at most 0.0032 a prediction.
  EXPECT_LE(Distance(vertical, TrainPlainly(horizontal, all.x.cast<double>(), all.y)), 0.05);
}

INSTANTIATE_TEST_SUITE_P(Partitions, VerticalTrainTest,
                         testing::Values(ColumnsCase{{3, 1, 2}, 1}, ColumnsCase{{0, 2, 4}, 0},
                                         ColumnsCase{{6, 0, 0}, 2}));

struct ModelCase {
  std::string name;
  double clip = 0.5;
  Loss loss = Loss::kOneVsRest;
  Clipping clipping = Clipping::kFactorised;
  protocols::Rounding truncation = protocols::Rounding::kStochastic;
  int classes = 3;
};

void PrintTo(const ModelCase& c, std::ostream* out) { *out << c.name; }

class VerticalModelTest : public testing::TestWithParam<ModelCase> {};

// Clipped by norms that come from the parties' blocks, for what else a job can ask for.
TEST_P(VerticalModelTest, IsTheHorizontalTrainingOfTheSameRows) {
  const ModelCase& c = GetParam();
  TrainingSettings horizontal = FullBatches(16);
  horizontal.clip = c.clip;
  horizontal.loss = c.loss;
  horizontal.clipping = c.clipping;
  horizontal.truncation = c.truncation;
  horizontal.classes = c.classes;
  if (c.loss == Loss::kSquared) horizontal.logit_bound = 4;
  const OwnRecords all = MakeRecords(horizontal, 5, kVerticalRows);
  const Model vertical = TrainVertically(Vertical(horizontal, {3, 1, 2}, 1), all);
  const auto results = RunParties(Seed{2}, [&](mpc::Context& party) {
    const Index first = 30 * party.self();
    OwnRecords own{.x = all.x.middleRows(first, 30), .y = {}};
    own.y.assign(all.y.begin() + first, all.y.begin() + first + 30);
    return Train(party, horizontal, own, kQuiet);
  });
  EXPECT_GT(vertical.weights.cwiseAbs().maxCoeff(), 0.5);
  // As above: coins, of errors and of clip factors, the only thing that the two do not have in common.
  EXPECT_LE(Distance(vertical, *results[0].model), 0.005);
}

INSTANTIATE_TEST_SUITE_P(
    Models, VerticalModelTest,
    testing::Values(ModelCase{"clipped"}, ModelCase{.name = "softmax", .loss = Loss::kSoftmax},
                    ModelCase{.name = "squared", .loss = Loss::kSquared},
                    ModelCase{.name = "binary", .classes = 2},
                    ModelCase{.name = "exact", .truncation = protocols::Rounding::kExact},
                    ModelCase{.name = "published", .clipping = Clipping::kPublished},
                    ModelCase{.name = "examples", .clipping = Clipping::kExamples}),
    [](const auto& info) { return info.param.name; });

TEST(VerticalTrain, TrainsANetwork) {
  TrainingSettings settings = Vertical(FullBatches(4), {3, 1, 2}, 1);
  settings.hidden = {8};
  settings.clip = 4;
  settings.steps = 40;
  settings.activation_bound = 8;
  settings.delta_bound = 2;
  const OwnRecords all = MakeRecords(settings, 5, kVerticalRows);
  const Model model = TrainVertically(settings, all);
  int correct = 0;
  for (Index row = 0; row < kVerticalRows; ++row) {
    Eigen::RowVectorXd layer = all.x.row(row).cast<double>();
    for (const HiddenLayer& hidden : model.hidden)
      layer =
          (layer * hidden.weights + hidden.bias.transpose()).cwiseMax(0.0).cwiseMin(model.activation_bound);
    Index best = 0;
    (layer * model.weights + model.bias.transpose()).maxCoeff(&best);
    correct += best == all.y[static_cast<std::size_t>(row)] ? 1 : 0;
  }
  EXPECT_GT(correct, 60);  // guessing gives 30
}

// Rows that are longer: every block comes down to its own bound, and to no other length.
TEST(VerticalTrain, ScalesEachPartysColumnsToTheirBound) {
  const TrainingSettings settings = Vertical(FullBatches(0.75), {3, 1, 2}, 2);
  const OwnRecords all = MakeRecords(settings, 6, kVerticalRows);
  Eigen::MatrixXd x = all.x.cast<double>();
  Index first = 0;
  int shortened = 0;
  for (const Index columns : {3, 1, 2}) {
    const double bound = 0.75 * std::sqrt(static_cast<double>(columns) / 6);
    for (Index row = 0; row < kVerticalRows; ++row) {
      auto block = x.row(row).segment(first, columns);
      if (block.norm() <= bound) continue;
      block *= bound / block.norm();
      ++shortened;
    }
    first += columns;
  }
  EXPECT_GT(shortened, kVerticalRows / 2);
  EXPECT_LE(Distance(TrainVertically(settings, all), TrainPlainly(settings, x, all.y)), 0.05);
}

TEST(VerticalTrain, AccountsForEveryStepAgainstTheInsider) {
  TrainingSettings settings = Vertical(FullBatches(1), {3, 1, 2}, 0);
  settings.expected_batch = 20;
  settings.sigma = 3;
  const PrivacyPlan plan = MakePlan(settings);
  EXPECT_EQ(plan.sampling_rate, 20.0 / (kVerticalRows + 20));
  EXPECT_GT(plan.epsilon_insider, 1.3 * plan.epsilon_outsider);  // no amplification, and less noise
  TrainingSettings horizontal = settings;
  horizontal.vertical.reset();
  EXPECT_LT(MakePlan(horizontal).epsilon_insider, plan.epsilon_insider);  // for taking part, not for values
  EXPECT_EQ(MakePlan(horizontal).sensitivity, plan.sensitivity);
}

TEST(VerticalTrain, EndsAllPartiesWhereKeysDiffer) {
  const TrainingSettings settings = Vertical(FullBatches(1), {3, 1, 2}, 0);
  const OwnRecords all = MakeRecords(settings, 7, kVerticalRows);
  const auto texts = RunParties(Seed{3}, [&](mpc::Context& party) {
    OwnRecords own = ColumnsOf(all, *settings.vertical, party.self());
    if (party.self() == 1) own.keys[4] = "another";
    try {
      (void)Train(party, settings, own, kQuiet);
    } catch (const DataError& error) {
      return std::string(error.what());
    }
    return std::string();
  });
  for (const auto& text : texts) EXPECT_THAT(text, HasSubstr("the key column: found other keys"));
}

TEST(VerticalTrain, RefusesWhatNeedsWholeRows) {
  const auto text = [](const TrainingSettings& settings) {
    try {
      (void)MakePlan(settings);
    } catch (const ConfigError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  const TrainingSettings good = Vertical(FullBatches(1), {3, 1, 2}, 0);
  EXPECT_EQ(text(good), "");
  TrainingSettings settings = good;
  settings.sampling = Sampling::kOwnerPoisson;
  EXPECT_THAT(text(settings),
              HasSubstr("privacy.sampling: found another, expected \"public\" with a vertical partition"));
  settings = good;
  settings.initialisation = InitialisationSettings{};
  EXPECT_THAT(text(settings), HasSubstr("initialisation.method"));
  settings = good;
  settings.evaluation = EvaluationSettings{.test = {.holder = 0, .rows = 5}};
  EXPECT_THAT(text(settings), HasSubstr("evaluation: found one"));
}

}  // namespace
}  // namespace trefoil::ml
