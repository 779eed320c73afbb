#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <spdlog/fmt/fmt.h>

#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/secrets/sha256.h"
#include "data/dataset/rows.h"
#include "jobs/dpsgd/job.h"
#include "jobs/dpsgd/settings/training_settings.h"
#include "jobs/dpsgd/standardisation.h"
#include "jobs/records/load_records.h"
#include "jobs/statistics/layout.h"
#include "ml/dpsgd/training.h"
#include "ml/on_shares/correct_counts.h"
#include "tests/apps/temporary_folder.h"
#include "tests/support/error_text.h"
#include "tests/support/fixed_key.h"
#include "tests/support/run_parties.h"

namespace trefoil::jobs {
namespace {

using namespace testing_support;  // NOLINT(google-build-using-namespace): test helpers only
using mpc::RingMatrix;
using testing::HasSubstr;

/// Gradient directions of 8 x 8 pixels: 36 features.
constexpr const char* kImages = R"(version = 1
type = "dpsgd"
name = "images"
[data]
name = "images"
format = "idx"
rows = [400, 400, 400]
features = 64
classes = 2
[features]
method = "hog"
row_norm = 4.0
standardise = "private"
[training]
steps = 5
expected_batch = 120
max_batch_per_owner = 90
learning_rate = 1
[privacy]
epsilon = 2.0
delta = 1e-5
clip = 1
)";
constexpr double kLength = 4;

DpsgdSettings ImagesWith(const std::vector<std::string>& assignments = {}) {
  const TemporaryFolder folder;
  return ReadDpsgdSettings(folder.Write("x.toml", kImages), assignments);
}

/// As extracted features are scaled: each row of length kLength, about a direction that all have in common.
data::Matrix DrawRows(Eigen::Index rows, std::uint32_t seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal(0.5F);
  data::Matrix x(rows, 36);
  for (Eigen::Index k = 0; k < x.size(); ++k) x.data()[k] = normal(random);
  data::NormaliseRowsTo(x, kLength);
  return x;
}

TEST(SumOfRows, MovesByItsBoundAtMostForARecordMore) {
  const auto rows = DrawRows(5, 2);
  const auto before = SumOfRows(rows, kLength);
  data::Matrix candidates = DrawRows(300, 3);
  candidates.row(0).setZero();
  candidates.row(1) = Eigen::RowVectorXf::Unit(36, 7) * 4;
  candidates.row(2).setConstant(-4.0F / 6);
  candidates.row(3).setConstant(1e30F);  // whatever the row is
  double most = 0;
  for (Eigen::Index k = 0; k < candidates.rows(); ++k) {
    data::Matrix more(rows.rows() + 1, rows.cols());
    more << rows, candidates.row(k);
    const RingMatrix moved = SumOfRows(more, kLength) - before;
    std::int64_t squares = 0;  // of 2^60
    for (mpc::Index place = 0; place < moved.size(); ++place) {
      const auto one = mpc::Signed(moved(place, 0));
      squares += one * one;
    }
    EXPECT_LE(squares, std::int64_t{1} << (2 * kStatisticsBits)) << k;
    most = std::max(most, std::ldexp(static_cast<double>(squares), -2 * kStatisticsBits));
  }
  EXPECT_GT(most, 1 - 1e-6);  // and no more is charged than a record can do
}

TEST(Standardised, HasThePlainMeansOfExtractedRowsWithoutNoise) {
  const auto job = ImagesWith();
  const auto rows = DrawRows(300, 4);
  const auto found = Standardised(job, SumOfRows(rows, kLength), 0);
  EXPECT_FALSE(found.features.standardise.on);
  const Eigen::RowVectorXd plain = rows.cast<double>().colwise().mean();
  ASSERT_EQ(found.features.means.size(), 36U);
  for (Eigen::Index k = 0; k < 36; ++k)
    EXPECT_NEAR(found.features.means[static_cast<std::size_t>(k)], plain(k), 1e-7) << k;
  // The job reads back as one whose means are given, bit for bit, and asks for no sum.
  const auto again = ParseDpsgdJson(DpsgdJson(found), "x");
  EXPECT_EQ(again.features.means, found.features.means);
  EXPECT_FALSE(SettingsOf(again).standardisation);
  EXPECT_EQ(StandardisationJson(found, 2), (nlohmann::ordered_json{{"sigma", 2.0}, {"features", 36}}));
  // Of the text that a model's job has of them.
  const auto values = OpenedMoments(found);
  ASSERT_EQ(values.size(), 1U);
  EXPECT_EQ(values[0].name, "standardise.means");
  const auto json = DpsgdJson(found);
  const auto begin = json.find("\"means\":[") + 8;
  EXPECT_EQ(values[0].sha256, Sha256Hex(json.substr(begin, json.find(']', begin) + 1 - begin)));
}

TEST(OpenedMoments, SaysNothingOfColumnsWhoseFeaturesAreExtracted) {
  auto job = ImagesWith();
  job.data.format = data::Format::kCsv;
  job.data.columns = {{.name = "age", .kind = data::ColumnKind::kNumber, .values = {}}};
  job.features.means = std::vector<double>(36, 0.5);
  const auto values = OpenedMoments(job);
  ASSERT_EQ(values.size(), 1U);
  EXPECT_EQ(values[0].name, "standardise.means");
}

TEST(MeansAdvice, SaysWhereMeansAreMostlyNoise) {
  const auto noise_of = [](double sigma) {  // of 36 features and 1200 rows
    const auto job = ImagesWith({fmt::format("features.standardise_sigma={}", sigma)});
    return MeansAdvice(job, StandardisationEvent(job));
  };
  // sqrt(3) sigma 6 / 1200 is 0.3 at a sigma of 34.64.
  EXPECT_TRUE(noise_of(34.0).empty());
  ASSERT_EQ(noise_of(35.0).size(), 1U);
  EXPECT_THAT(noise_of(69.5)[0], HasSubstr("is as long as 0.6 of a row, with the 1200 rows"));
  const auto plan = MakeDpsgdJob(ImagesWith({"features.standardise_sigma=200.0"}))->Advice();
  EXPECT_THAT(plan, testing::Contains(HasSubstr("the noise on the means of 36 features")));
}

TEST(Standardised, HasNoLongerMeansThanRowsWhateverNoiseDoes) {
  const auto job = ImagesWith();
  std::mt19937_64 random(5);
  for (int k = 0; k < 100; ++k) {
    RingMatrix noise(37, 1);
    for (mpc::Index place = 0; place < noise.size(); ++place) noise(place, 0) = random();
    const auto means = Standardised(job, noise, 1).features.means;
    EXPECT_LE(Eigen::Map<const Eigen::VectorXd>(means.data(), 36).norm(), kLength * (1 + 1e-12));
  }
  const auto none = Standardised(job, RingMatrix::Zero(37, 1), 1).features.means;
  EXPECT_EQ(none, std::vector<double>(36, 0.0));
}

TEST(StandardisationEvent, OfExtractedFeaturesHasACoordinateEachAndTheirNumber) {
  const auto event = StandardisationEvent(ImagesWith());
  EXPECT_EQ(event.coordinates, 37);
  EXPECT_EQ(event.count, 1);
  const auto plan = ml::MakePlan(SettingsOf(ImagesWith()));
  ASSERT_EQ(plan.events.size(), 2U);
  EXPECT_LE(plan.epsilon_insider, 2);
  EXPECT_GT(plan.epsilon_insider, 2 * 0.99);
}

TEST(OpenMoments, OfExtractedRowsIsThePlainResultGivenTheSameNoise) {
  const auto job = ImagesWith();
  const auto event = StandardisationEvent(job);
  const std::array rows{DrawRows(150, 5), DrawRows(0, 6), DrawRows(200, 7)};
  const auto stream = [](int party) { return RandomStream(FixedKey(static_cast<std::uint8_t>(60 + party))); };
  const auto found = RunParties(Seed{9}, [&](mpc::Context& party) {
    const auto own = SumOfRows(rows.at(static_cast<std::size_t>(party.self())), kLength);
    return DpsgdJson(OpenMoments(party, job, event, own, stream(party.self())));
  });
  data::Matrix all(350, 36);
  all << rows[0], rows[2];
  RingMatrix plain = SumOfRows(all, kLength);
  for (int party = 0; party < 3; ++party)
    plain += ml::CountNoise(stream(party), event.sigma, kStatisticsNorm, event.coordinates).values();
  for (const auto& one : found) EXPECT_EQ(one, DpsgdJson(Standardised(job, plain, event.sigma)));
}

TEST(Standardise, RefusesOfImagesWhatItDoesNotCover) {
  const std::pair<std::vector<std::string>, const char*> cases[] = {
      {{"features.method=none"}, "and no features.method"},
      {{"features.means=[0.5]"}, "features.means: found 1 numbers, expected 36"},
      {{"features.standardise=none", "features.method=none", "features.means=[0.5]"},
       "method \"none\" does not have it"},
      {{"training.checkpoint_every=2"}, "training.checkpoint_every above 0"}};
  for (const auto& [assignments, expected] : cases)
    EXPECT_THAT(ErrorText<ConfigError>([&] { (void)ImagesWith(assignments); }), HasSubstr(expected));
}

TEST(ScaleExtracted, MovesRowsByTheMeansToTheirLength) {
  auto rows = DrawRows(20, 8);
  jobs::FeatureSpec features{.extraction = {}, .row_norm = kLength, .means = std::vector<double>(36, 0.25)};
  features.means[3] = -1;
  data::Matrix plain = rows;
  for (Eigen::Index k = 0; k < 36; ++k) plain.col(k).array() -= k == 3 ? -1.0F : 0.25F;
  rows *= 7;  // what is extracted has any length
  auto scaled = rows;
  data::NormaliseRowsTo(scaled, kLength);
  ScaleExtracted(features, rows);
  SubtractMeans(features, scaled);
  EXPECT_EQ(rows, scaled);  // bit for bit: a model applies the one, a training the other
  for (Eigen::Index row = 0; row < rows.rows(); ++row) {
    EXPECT_LE(rows.row(row).cast<double>().norm(), kLength);
    EXPECT_LT((rows.row(row) - plain.row(row) * (4 / plain.row(row).norm())).norm(), 1e-4) << row;
  }
}

}  // namespace
}  // namespace trefoil::jobs
