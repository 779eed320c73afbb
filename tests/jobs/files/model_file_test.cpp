#include "jobs/files/model_file.h"

#include <gtest/gtest.h>

#include <limits>

#include "base/error.h"
#include "base/files/files.h"
#include "jobs/dpsgd/settings/training_settings.h"
#include "tests/apps/temporary_folder.h"

namespace trefoil::jobs {
namespace {

DpsgdSettings SmallJob(int classes) {
  DpsgdSettings job;
  job.name = "small";
  job.data.name = "small";
  job.data.rows = {10, 10, 10};
  job.data.features = 3;
  job.data.classes = classes;
  job.training = {
      .steps = 1, .expected_batch = 3, .max_batch_per_owner = 5, .learning_rate = 1.0, .schedule = {}};
  job.privacy.sigma = 1.0;
  job.privacy.delta = 1e-5;
  job.privacy.clip = 1.0;
  return job;
}

ml::Model ModelWith(Eigen::Index columns) {
  ml::Model model{.weights = Eigen::MatrixXd(3, columns), .bias = Eigen::VectorXd(columns)};
  for (Eigen::Index i = 0; i < model.weights.size(); ++i)
    model.weights(i / columns, i % columns) = 0.1 * double(i);
  for (Eigen::Index i = 0; i < columns; ++i) model.bias(i) = -1.0 - double(i);
  return model;
}

class ModelFileTest : public testing::TestWithParam<int> {};

TEST_P(ModelFileTest, ReadsBackWhatWasSaved) {
  const TemporaryFolder folder;
  const auto job = SmallJob(GetParam());
  const auto model = ModelWith(GetParam() == 2 ? 1 : GetParam());
  SaveModel(folder.path() / "model.npz", model, ModelSchemaOf(job));
  SaveModel(folder.path() / "again.npz", model, ModelSchemaOf(job));
  const auto loaded = LoadModel(folder.path() / "model.npz");
  EXPECT_EQ(loaded.model.weights, model.weights);
  EXPECT_EQ(loaded.model.bias, model.bias);
  EXPECT_EQ(loaded.schema.json, DpsgdJson(job));
  EXPECT_EQ(ReadTextFile(folder.path() / "model.npz", ""), ReadTextFile(folder.path() / "again.npz", ""));
}

INSTANTIATE_TEST_SUITE_P(Classes, ModelFileTest, testing::Values(2, 3));

TEST(ModelFile, KeepsHiddenLayers) {
  const TemporaryFolder folder;
  auto job = SmallJob(4);
  job.model.hidden = {5, 3};
  job.model.activation_bound = 6;
  auto model = ModelWith(4);
  model.hidden = {{.weights = Eigen::MatrixXd::Random(3, 5), .bias = Eigen::VectorXd::Random(5)},
                  {.weights = Eigen::MatrixXd::Random(5, 3), .bias = Eigen::VectorXd::Random(3)}};
  SaveModel(folder.path() / "model.npz", model, ModelSchemaOf(job));
  const auto loaded = LoadModel(folder.path() / "model.npz").model;
  ASSERT_EQ(loaded.hidden.size(), 2U);
  for (std::size_t k = 0; k < 2; ++k) {
    EXPECT_EQ(loaded.hidden[k].weights, model.hidden[k].weights);
    EXPECT_EQ(loaded.hidden[k].bias, model.hidden[k].bias);
  }
  EXPECT_EQ(loaded.weights, model.weights);
  EXPECT_EQ(loaded.activation_bound, 6);
}

TEST(ModelFile, KeepsDeviationsWhereThereAreSome) {
  const TemporaryFolder folder;
  const auto file = folder.path() / "model.npz";
  auto model = ModelWith(4);
  model.deviations = {.weights = Eigen::MatrixXd::Random(3, 4), .intercept = Eigen::VectorXd::Random(4)};
  SaveModel(file, model, ModelSchemaOf(SmallJob(4)));
  const auto loaded = LoadModel(file).model.deviations;
  ASSERT_TRUE(loaded);
  EXPECT_EQ(loaded->weights, model.deviations->weights);
  EXPECT_EQ(loaded->intercept, model.deviations->intercept);
  model.deviations->intercept = Eigen::VectorXd::Random(3);
  SaveModel(file, model, ModelSchemaOf(SmallJob(4)));
  EXPECT_THROW((void)LoadModel(file), DataError);
  model.deviations.reset();
  SaveModel(file, model, ModelSchemaOf(SmallJob(4)));
  EXPECT_FALSE(LoadModel(file).model.deviations);
}

TEST(ModelFile, RefusesShapesThatAreNotItsJobs) {
  const TemporaryFolder folder;
  SaveModel(folder.path() / "model.npz", ModelWith(2), ModelSchemaOf(SmallJob(3)));
  EXPECT_THROW((void)LoadModel(folder.path() / "model.npz"), DataError);
}

TEST(ModelFile, RefusesValuesThatAreNotFinite) {
  const TemporaryFolder folder;
  auto model = ModelWith(3);
  model.weights(1, 1) = std::numeric_limits<double>::quiet_NaN();
  SaveModel(folder.path() / "model.npz", model, ModelSchemaOf(SmallJob(3)));
  EXPECT_THROW((void)LoadModel(folder.path() / "model.npz"), DataError);
}

TEST(ModelFile, RefusesWhatIsNoModel) {
  const TemporaryFolder folder;
  EXPECT_THROW((void)LoadModel(folder.path() / "none.npz"), DataError);
  EXPECT_THROW((void)LoadModel(folder.Write("text.npz", "text")), DataError);
}

}  // namespace
}  // namespace trefoil::jobs
