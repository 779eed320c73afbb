#include "apps/report/model_export.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "base/error.h"
#include "base/files/files.h"
#include "data/dataset/rows.h"
#include "data/features/onnx_features.h"
#include "data/formats/file.h"
#include "data/formats/numpy/npz.h"
#include "jobs/dpsgd/settings/training_settings.h"
#include "jobs/evaluation/classify.h"
#include "tests/apps/temporary_folder.h"

namespace trefoil::apps {
namespace {

using testing::HasSubstr;

constexpr Eigen::Index kFeatures = 9;

Eigen::MatrixXd Random(Eigen::Index rows, Eigen::Index columns, unsigned seed) {
  std::mt19937 random(seed);
  Eigen::MatrixXd matrix(rows, columns);
  for (auto& value : matrix.reshaped()) value = static_cast<double>(random() % 2001U) / 1000.0 - 1;
  return matrix;
}

/// A model of nine features, with these hidden layers.
jobs::ModelFile MakeModel(int classes, const std::vector<std::int64_t>& hidden = {}) {
  jobs::ModelFile file;
  jobs::DpsgdSettings job;
  job.name = "small";
  job.data.name = "small";
  job.data.rows = {10, 10, 10};
  job.data.features = kFeatures;
  job.data.classes = classes;
  job.data.scale = 255;
  job.features.row_norm = 1.5;
  job.model.hidden = hidden;
  job.model.activation_bound = 0.75;
  job.training = {
      .steps = 1, .expected_batch = 3, .max_batch_per_owner = 5, .learning_rate = 1.0, .schedule = {}};
  job.privacy.sigma = 1.0;
  job.privacy.delta = 1e-5;
  job.privacy.clip = 1.0;
  file.schema = jobs::ModelSchemaOf(job);
  Eigen::Index inputs = kFeatures;
  for (std::size_t k = 0; k < hidden.size(); ++k) {
    file.model.hidden.push_back({.weights = Random(inputs, hidden[k], 10 + static_cast<unsigned>(k)),
                                 .bias = Random(hidden[k], 1, 20)});
    inputs = hidden[k];
  }
  if (!hidden.empty()) file.model.activation_bound = job.model.activation_bound;
  const Eigen::Index columns = classes == 2 ? 1 : classes;
  file.model.weights = Random(inputs, columns, 1);
  file.model.bias = Random(columns, 1, 2);
  return file;
}

/// Random rows of all lengths, among them zeros.
data::Matrix Rows() {
  data::Matrix rows = Random(60, kFeatures, 3).cast<float>();
  for (Eigen::Index i = 0; i < rows.rows(); ++i)
    rows.row(i) *= std::ldexp(1.0F, static_cast<int>(i % 12) - 4);
  rows.row(7).setZero();
  return rows;
}

/// Runs the exported file by OpenCV, which reads it with a decoder of its own.
class OnnxOfTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!data::OnnxIsAvailable()) GTEST_SKIP() << "built without OpenCV (TREFOIL_ONNX)";
  }

  /// `given` go into the file, and must give what the model makes of `prepared`.
  void ExpectScores(const jobs::ModelFile& model, const data::Matrix& given, const data::Matrix& prepared) {
    const TemporaryFolder folder;
    const auto file = folder.Write("model.onnx", OnnxOf(model));
    ThreadPool pool(1);
    const data::Matrix scores = data::ExtractOnnx(given,
                                                  {.model_sha256 = data::FileSha256(file),
                                                   .input = {static_cast<int>(given.cols())},
                                                   .outputs = model.model.bias.size()},
                                                  file, pool);
    for (Eigen::Index row = 0; row < given.rows(); ++row) {
      const auto expected = jobs::Logits(model.model, prepared.row(row).cast<double>());
      // Rows are at most 1.5 long and weights at most 1: sums of at most a few tens, in float32.
      ASSERT_LT((scores.row(row).cast<double>() - expected).cwiseAbs().maxCoeff(), 1e-4) << "row " << row;
    }
  }
};

TEST_F(OnnxOfTest, ScalesAndShortensRows) {
  for (const int classes : {2, 4}) {
    const auto model = MakeModel(classes);
    data::Matrix prepared = Rows();
    data::ScaleRowsTo(prepared, model.schema.records.features.row_norm);
    ExpectScores(model, Rows() * 255.0F, prepared);
  }
}

TEST_F(OnnxOfTest, GoesThroughHiddenLayers) {
  const auto model = MakeModel(3, {8, 5});
  data::Matrix prepared = Rows();
  data::ScaleRowsTo(prepared, model.schema.records.features.row_norm);
  ExpectScores(model, Rows() * 255.0F, prepared);
}

TEST_F(OnnxOfTest, NormalisesExtractedFeatures) {
  auto model = MakeModel(3);
  model.schema.records.features.extraction.method =
      data::FeatureMethod::kHashText;  // what it makes: these nine
  model.schema.records.features.extraction.hash_text.dimension = 4;
  model.schema.records.data.features = 5;
  for (const float size : {1.0F, 1e-30F, 1e6F}) {
    data::Matrix prepared = Rows();
    data::NormaliseRowsTo(prepared, model.schema.records.features.row_norm);
    ExpectScores(model, Rows() * size, prepared);
    auto& features = model.schema.records.features;
    features.means = {0.5, -0.25, 0, 0.125, 1, -1, 0.5, 0.25, -0.5};
    prepared.rowwise() -= Eigen::Map<const Eigen::RowVectorXd>(features.means.data(), 9).cast<float>();
    data::NormaliseRowsTo(prepared, features.row_norm);
    ExpectScores(model, Rows() * size, prepared);
    features.means.clear();
  }
}

TEST_F(OnnxOfTest, EncodesTheColumnsOfATable) {
  using data::ColumnKind;
  auto model = MakeModel(2);
  model.schema.records.data.scale = 1;
  model.schema.records.data.format = data::Format::kCsv;
  model.schema.records.data.columns = {
      {"a", ColumnKind::kNumber, 40, 10, {}},
      {"label", ColumnKind::kNumber, 7, 7, {}},
      {"b", ColumnKind::kCategory, 0, 1, {"p", "q", "r"}},
      {"c", ColumnKind::kIgnore, 3, 3, {}},
      {.name = "d",
       .kind = ColumnKind::kDate,
       .mean = -2,
       .scale = 0.5,
       .values = {},
       .missing_indicator = true},
      {.name = "e", .kind = ColumnKind::kBin, .values = {}, .edges = {1, 2}}};
  model.schema.records.data.label = {"label", {"0", "1"}, {}};
  data::Matrix given = Rows().cwiseAbs().cwiseMin(1);
  data::Matrix prepared = given;
  prepared.col(0) = (given.col(0).array() - 40) / 10;
  prepared.col(4) = (given.col(4).array() + 2) / 0.5F;
  data::ScaleRowsTo(prepared, model.schema.records.features.row_norm);
  ExpectScores(model, given, prepared);
}

TEST(OnnxOf, RefusesMoreThanTheFormatHolds) {
  const auto model = MakeModel(3);
  const std::size_t bytes = 4 * (2 * 9 + 9 * 3 + 3);
  EXPECT_NO_THROW((void)OnnxOf(model, bytes));
  try {
    (void)OnnxOf(model, bytes - 1);
    FAIL();
  } catch (const ConfigError& error) {
    EXPECT_THAT(error.what(), HasSubstr("--format onnx: found 192 bytes of arrays, expected at most 191"));
  }
}

TEST(ExportNpz, IsTheModelWithItsConstants) {
  const TemporaryFolder folder;
  const auto file = folder.path() / "export.npz";
  const auto model = MakeModel(3, {8});
  ExportNpz(file, model);
  const auto loaded = jobs::LoadModel(file);
  EXPECT_EQ(loaded.model.weights, model.model.weights);
  EXPECT_EQ(loaded.model.hidden[0].weights, model.model.hidden[0].weights);
  EXPECT_EQ(loaded.schema.json, model.schema.json);
  const auto constant = [&](const std::string& name) {
    return data::NpyToDoubles(data::ReadNpz(file, name), file).at(0);
  };
  EXPECT_EQ(constant("scale"), 255);
  EXPECT_EQ(constant("row_norm"), 1.5);
  EXPECT_EQ(constant("activation_bound"), 0.75);
  ExportNpz(file, MakeModel(3));
  EXPECT_THROW((void)constant("activation_bound"), DataError);
  EXPECT_THROW((void)constant("means"), DataError);
}

/// As by MakeModel, but of nine extracted features, with means.
jobs::ModelFile MakeModelWithMeans() {
  auto model = MakeModel(3);
  model.schema.records.features.extraction.method = data::FeatureMethod::kHashText;
  model.schema.records.features.means = {0.5, -0.25, 0, 0.125, 1, -1, 0.5, 0.25, -0.5};
  return model;
}

TEST(ExportNpz, HasTheMeansOfExtractedFeatures) {
  const TemporaryFolder folder;
  const auto file = folder.path() / "export.npz";
  const auto model = MakeModelWithMeans();
  ExportNpz(file, model);
  const auto means = data::ReadNpz(file, "means");
  EXPECT_EQ(means.shape, std::vector<std::size_t>{9});
  EXPECT_EQ(data::NpyToDoubles(means, file), model.schema.records.features.means);
}

TEST(SafetensorsOf, HasTheMeansOfExtractedFeatures) {
  const auto text = SafetensorsOf(MakeModelWithMeans());
  EXPECT_THAT(text, HasSubstr(R"("means":{"dtype":"F64","shape":[9])"));
  EXPECT_THAT(SafetensorsOf(MakeModel(3)), testing::Not(HasSubstr("\"means\"")));
}

TEST(OnnxOf, CountsAMeanForEachExtractedFeature) {
  auto model = MakeModelWithMeans();
  model.schema.records.features.extraction.hash_text.dimension = 4;
  model.schema.records.data.features = 5;
  const std::size_t bytes = 4 * (9 + 9 * 3 + 3);
  EXPECT_NO_THROW((void)OnnxOf(model, bytes));
  EXPECT_THROW((void)OnnxOf(model, bytes - 1), ConfigError);
}

}  // namespace
}  // namespace trefoil::apps
