#include "jobs/dpsgd/canaries.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "base/error.h"
#include "data/dataset/folders.h"
#include "jobs/dpsgd/job.h"
#include "jobs/dpsgd/settings/training_settings.h"
#include "jobs/records/load_records.h"
#include "tests/apps/temporary_folder.h"
#include "tests/support/fixed_key.h"

namespace trefoil::jobs {
namespace {

constexpr const char* kSmallJob = R"(version = 1
type = "dpsgd"
name = "small"
[data]
name = "small"
format = "npz"
rows = [4, 3, 2]
features = 2
classes = 3
[features]
row_norm = 1.7
[training]
steps = 4
expected_batch = 3
max_batch_per_owner = 4
learning_rate = 0.75
[privacy]
sigma = 2.0
delta = 1e-5
clip = 0.5
[evaluation]
holder = 0
rows = 5
[release]
to = []
[local]
split = "sorted"
)";

DpsgdSettings ReadText(const std::string& text, const std::vector<std::string>& assignments = {}) {
  const TemporaryFolder folder;
  return ReadDpsgdSettings(folder.Write("job.toml", text), assignments);
}

std::vector<Canary> Draw(const DpsgdSettings& job, std::int64_t count, std::uint8_t seed = 1) {
  RandomStream coins(testing_support::FixedKey(seed));
  return DrawCanaries(job, count, coins);
}

TEST(WithCanaries, KeepsSamplingRateAndStepSize) {
  const DpsgdSettings job = ReadText(kSmallJob);
  const DpsgdSettings extended = WithCanaries(job, 8);
  EXPECT_EQ(extended.data.features, 10);
  EXPECT_EQ(extended.data.rows, (std::array<std::int64_t, 3>{7, 6, 4}));
  EXPECT_EQ(extended.training.max_batch_per_owner, 7);
  const auto before = SettingsOf(job);
  const auto after = SettingsOf(extended);
  EXPECT_DOUBLE_EQ(ml::SamplingRate(after), ml::SamplingRate(before));
  EXPECT_DOUBLE_EQ(after.learning_rate / after.expected_batch, before.learning_rate / before.expected_batch);
  EXPECT_EQ(extended.training.steps, 4);
  EXPECT_EQ(extended.privacy.clip, 0.5);
  EXPECT_EQ(extended.privacy.sigma, job.privacy.sigma);
  EXPECT_EQ(extended.features.row_norm, 1.7);
  EXPECT_FALSE(extended.evaluation);
  EXPECT_EQ(extended.release.to, (std::vector<int>{0, 1, 2}));
  EXPECT_EQ(ReadText(TomlOf(*MakeDpsgdJob(extended))).data.features,
            10);  // it is a job that the program takes
}

TEST(WithCanaries, NeverTakesMoreThanAllRows) {
  const DpsgdSettings job = ReadText(kSmallJob, {"training.expected_batch=9"});
  for (const int count : {5, 7, 100}) {
    const DpsgdSettings extended = WithCanaries(job, count);
    EXPECT_LE(extended.training.expected_batch, 9 + count);
    EXPECT_NEAR(ml::SamplingRate(SettingsOf(extended)), 1, 1e-15);
  }
}

TEST(WithCanaries, TrainsOnExtractedFeatures) {
  const DpsgdSettings job =
      ReadText(kSmallJob, {"data.features=784", "features.method=hog", "features.cell=14"});
  EXPECT_EQ(WithCanaries(job, 10).data.features, TrainedFeatures(job) + 10);
  EXPECT_EQ(WithCanaries(job, 10).features.extraction.method, data::FeatureMethod::kNone);
  // Means that are given are in the rows already.
  auto moved = job;
  moved.features.means.assign(static_cast<std::size_t>(TrainedFeatures(job)), 0.25);
  EXPECT_TRUE(WithCanaries(moved, 10).features.means.empty());
}

TEST(DrawCanaries, TakesTurnsAndTossesFairCoins) {
  constexpr int kCount = 9000;
  const auto canaries = Draw(ReadText(kSmallJob), kCount);
  std::map<std::pair<int, int>, int> count;
  int included = 0;
  for (const auto& canary : canaries) {
    ++count[{canary.party, canary.label}];
    included += canary.included ? 1 : 0;
  }
  EXPECT_EQ(count.size(), 9U);
  for (const auto& [key, number] : count) EXPECT_EQ(number, kCount / 9);
  // Five standard deviations: fails for one seed in 1.7 million.
  EXPECT_NEAR(included, kCount / 2, 5 * std::sqrt(kCount / 4.0));
}

TEST(CheckAuditable, RefusesWhatCanariesDoNotFit) {
  const auto refusal = [](const std::vector<std::string>& assignments,
                          std::int64_t count = 100) -> std::string {
    try {
      CheckAuditable(ReadText(kSmallJob, assignments), count);
    } catch (const ConfigError& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(refusal({}), "");
  EXPECT_NE(refusal({"model.hidden=[4]"}).find("model.hidden: found hidden layers"), std::string::npos);
  EXPECT_NE(refusal({"privacy.delta=1e-2"}).find("privacy.delta: found 0.01, expected below 0.005"),
            std::string::npos);
  EXPECT_NE(
      refusal({"initialisation.method=averaging", "initialisation.steps=1", "initialisation.expected_batch=1",
               "initialisation.learning_rate=1", "initialisation.sigma=1"})
          .find("initialisation.method: found \"averaging\""),
      std::string::npos);
  DpsgdSettings groups = ReadText(kSmallJob);
  groups.privacy.unit = dp::PrivacyUnit::kGroup;
  EXPECT_THROW(CheckAuditable(groups, 100), ConfigError);
}

/// Nine records of two features in three classes, the third one's row too long; two test records.
CanaryData SmallData(const DpsgdSettings& job) {
  CanaryData data;
  data.training.x = data::Matrix(9, 2);
  for (Eigen::Index i = 0; i < 9; ++i) data.training.x.row(i) << 0.1F * static_cast<float>(i + 1), -0.25F;
  data.training.y = {0, 1, 2, 0, 1, 2, 0, 1, 2};
  data.party = {0, 1, 2, 0, 1, 2, 0, -1, 0};
  data.test.x = data::Matrix::Constant(2, 2, 0.5F);
  data.test.y = {1, 2};
  data.canaries = Draw(job, 12);
  return data;
}

TEST(DealWithCanaries, GivesEachPartyItsRecordsAndIncludedCanaries) {
  const TemporaryFolder folder;
  const DpsgdSettings job = ReadText(kSmallJob);
  const auto data = SmallData(job);
  const auto in =
      std::count_if(data.canaries.begin(), data.canaries.end(), [](const auto& c) { return c.included; });
  ASSERT_GT(in, 0);
  ASSERT_LT(in, 12);
  const std::array<std::filesystem::path, 3> parties{folder.path() / "0", folder.path() / "1",
                                                     folder.path() / "2"};
  DealWithCanaries(job, data, parties, folder.path() / "test");

  const DpsgdSettings extended = WithCanaries(job, 12);
  std::int64_t rows = 0;
  for (int party = 0; party < 3; ++party) {
    const auto table = LoadRecords(
        extended, data::PartyFiles(data::Format::kNpz, parties.at(static_cast<std::size_t>(party))),
        {.capacity = extended.data.rows.at(static_cast<std::size_t>(party))});
    rows += table.x.rows();
    std::vector<std::vector<float>> expected;
    std::vector<int> labels;
    for (std::size_t i = 0; i < data.party.size(); ++i) {
      if (data.party[i] != party) continue;
      expected.emplace_back(14, 0.0F);
      expected.back()[0] = data.training.x(static_cast<Eigen::Index>(i), 0);
      expected.back()[1] = data.training.x(static_cast<Eigen::Index>(i), 1);
      labels.push_back(data.training.y[i]);
    }
    for (std::size_t k = 0; k < 12; ++k) {
      if (data.canaries[k].party != party || !data.canaries[k].included) continue;
      expected.emplace_back(14, 0.0F);
      expected.back()[2 + k] = 1.7F <= 1.7 ? 1.7F : std::nextafter(1.7F, 0.0F);
      labels.push_back(data.canaries[k].label);
    }
    ASSERT_EQ(static_cast<std::size_t>(table.x.rows()), expected.size());
    EXPECT_EQ(table.y, labels);
    for (std::size_t i = 0; i < expected.size(); ++i) {
      for (std::size_t k = 0; k < 14; ++k)
        EXPECT_EQ(table.x(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(k)), expected[i][k]);
    }
  }
  EXPECT_EQ(rows, 8 + in);

  const auto test = LoadRecords(extended, *data::FindTestFiles(extended.data, folder.path() / "test"));
  EXPECT_EQ(test.y, data.test.y);
  EXPECT_EQ(test.x.leftCols(2), data.test.x);
  EXPECT_TRUE(test.x.rightCols(12).isZero());
}

/// Weights of 2 features and 6 canaries, all different.
ml::Model SomeModel(Eigen::Index columns, double size) {
  ml::Model model{.weights = Eigen::MatrixXd(8, columns), .bias = Eigen::VectorXd::Zero(columns)};
  for (Eigen::Index i = 0; i < model.weights.size(); ++i)
    model.weights.data()[i] = size * std::sin(static_cast<double>(3 * i + 1));
  return model;
}

TEST(CanaryScores, AreSlopesOfTheLossAtZeroWeights) {
  for (const auto* loss : {"one-vs-rest", "softmax", "squared"}) {
    for (const int classes : {2, 3}) {
      const DpsgdSettings job =
          ReadText(kSmallJob, {std::string("model.loss=") + loss, "data.classes=" + std::to_string(classes)});
      const auto canaries = Draw(job, 6);
      const Eigen::Index columns = classes == 2 ? 1 : classes;
      constexpr double kSmall = 1e-5;
      const auto scores = CanaryScores(job, canaries, SomeModel(columns, 1));
      const auto up = CanaryLosses(job, canaries, SomeModel(columns, kSmall));
      const auto down = CanaryLosses(job, canaries, SomeModel(columns, -kSmall));
      const double slope = 1.7 * (std::string(loss) == "squared" ? 2 : 1);
      for (std::size_t k = 0; k < 6; ++k)
        EXPECT_NEAR((down[k] - up[k]) / (2 * kSmall), slope * scores[k], 1e-5)
            << loss << ' ' << classes << ' ' << k;
    }
  }
}

TEST(Losses, AreThoseOfTheLossFunction) {
  data::Table table{.x = data::Matrix(1, 2), .y = {1}};
  table.x << 1.0F, 0.5F;
  ml::Model model{.weights = Eigen::MatrixXd::Zero(8, 3), .bias = Eigen::VectorXd(3)};
  model.bias << 0.1, -0.2, 0.3;
  model.weights.row(0) << 1.0, 2.0, 3.0;
  model.weights.row(1) << 0.0, -2.0, 4.0;
  model.weights.row(7) << 5.0, 5.0, 5.0;  // a canary's: no matter
  const Eigen::Vector3d z(1.1, 0.8, 5.3);
  const auto loss_of = [&](const char* loss) {
    return RecordLosses(ReadText(kSmallJob, {std::string("model.loss=") + loss}), table, model).at(0);
  };
  const auto log_sigmoid = [](double x) { return std::log(1 / (1 + std::exp(-x))); };
  EXPECT_NEAR(loss_of("one-vs-rest"), -log_sigmoid(-1.1) - log_sigmoid(0.8) - log_sigmoid(-5.3), 1e-12);
  EXPECT_NEAR(loss_of("softmax"), -std::log(std::exp(0.8) / z.array().exp().sum()), 1e-12);
  EXPECT_NEAR(loss_of("squared"), 1.1 * 1.1 + 0.2 * 0.2 + 5.3 * 5.3, 1e-12);
  const ml::Model one{.weights = model.weights.col(0), .bias = model.bias.head(1)};  // logit 1.1, for 1 - 1/2
  const auto two = ReadText(kSmallJob, {"model.loss=squared", "data.classes=2"});
  EXPECT_NEAR(RecordLosses(two, table, one).at(0), 0.6 * 0.6, 1e-12);
  model.bias << 1e4, -1e4, 0;  // far beyond what exp() can hold
  for (const auto* loss : {"one-vs-rest", "softmax", "squared"})
    EXPECT_TRUE(std::isfinite(loss_of(loss))) << loss;
  EXPECT_NEAR(loss_of("softmax"), 20000 + 1.1 - 0.1 - 1.0 + 0.0, 1e-9);
}

}  // namespace
}  // namespace trefoil::jobs
