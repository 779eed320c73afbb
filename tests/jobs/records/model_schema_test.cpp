#include "jobs/records/model_schema.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "base/error.h"
#include "jobs/dpsgd/settings/training_settings.h"
#include "jobs/job.h"
#include "tests/apps/temporary_folder.h"
#include "tests/support/error_text.h"

namespace trefoil::jobs {
namespace {

constexpr const char* kTables = R"(
[data]
name = "kept"
format = "idx"
rows = [20, 20, 20]
features = 4
classes = 3
[features]
row_norm = 0.5
)";

constexpr const char* kTraining = R"(
[model]
hidden = [7]
activation_bound = 2
[training]
steps = 3
expected_batch = 12
max_batch_per_owner = 20
learning_rate = 1
[privacy]
sigma = 1.5
delta = 1e-5
clip = 0.5
)";

/// What the types of another program say of a model's logits.
constexpr JobType kForeign[] = {
    {.name = "of-another-program", .read = nullptr, .schema = nullptr, .logits = LogitMeaning::kShare}};

DpsgdSettings Training() {
  const TemporaryFolder folder;
  return ReadDpsgdSettings(folder.Write(
      "job.toml", std::string("version = 1\ntype = \"dpsgd\"\nname = \"kept\"") + kTables + kTraining));
}

TEST(ModelSchema, IsATrainingWholeOrTheSchemaAlone) {
  const auto training = Training();
  const auto whole = ParseModelSchema(ModelSchemaOf(training).json, "x");
  EXPECT_EQ(whole.json, DpsgdJson(training));
  EXPECT_EQ(whole.classifier.hidden, std::vector<std::int64_t>{7});
  EXPECT_EQ(whole.classifier.sigma, 1.5);
  EXPECT_EQ(whole.records.data.features, 4);

  RecordSchema records = training;
  records.type = "of-another-program";
  const auto written = LinearModelSchema(records, LogitMeaning::kShare);
  const auto alone = ParseModelSchema(written.json, "x", kForeign);
  EXPECT_EQ(alone.json, written.json);
  EXPECT_EQ(alone.records.type, "of-another-program");
  EXPECT_EQ(alone.records.features.row_norm, 0.5);
  EXPECT_EQ(alone.classifier.features, 4);
  EXPECT_EQ(alone.classifier.classes, 3);
  EXPECT_TRUE(alone.classifier.hidden.empty());
}

TEST(ModelSchema, OfTargetsAloneIsReadBack) {
  RecordSchema records = Training();
  records.type = "of-another-program";
  records.data.classes = 2;
  records.data.target = data::TargetRange{.low = -3, .high = 5};
  const auto written = LinearModelSchema(records, LogitMeaning::kLogOdds);
  const auto alone = ParseModelSchema(written.json, "x", kForeign);
  EXPECT_EQ(alone.json, written.json);
  EXPECT_EQ(alone.records.data.target, records.data.target);
  EXPECT_TRUE(alone.classifier.targets);
}

/// The logit above which a record is taken for class 1 where more than 0.3 is predicted for it.
double DecisionOf(const std::string& type) {
  RecordSchema records = Training();
  records.type = type;
  records.data.classes = 2;
  auto schema = ParseModelSchema(LinearModelSchema(records, LogitMeaning::kLogOdds).json, "x");
  SetThreshold(schema, 0.3, "--threshold");
  return ml::DecisionLogit(schema.classifier);
}

TEST(ModelSchema, KnowsWhatALogitPredicts) {
  EXPECT_DOUBLE_EQ(DecisionOf("least-squares"), -0.2);
  EXPECT_DOUBLE_EQ(DecisionOf("classifier-average"), std::log(0.3 / 0.7));
  EXPECT_THROW((void)DecisionOf("pate"), ConfigError);
}

TEST(ModelSchema, OfATypeOfAnotherProgramIsReadByThatAlone) {
  RecordSchema records = Training();
  records.type = "of-another-program";
  records.data.classes = 2;
  const auto json = LinearModelSchema(records, LogitMeaning::kShare).json;
  auto share = ParseModelSchema(json, "x", kForeign);
  SetThreshold(share, 0.3, "--threshold");
  EXPECT_DOUBLE_EQ(ml::DecisionLogit(share.classifier), -0.2);
  EXPECT_THAT(
      testing_support::ErrorText<ConfigError>([&] { (void)ParseModelSchema(json, "model.npz"); }),
      testing::StartsWith("model.npz: type: found \"of-another-program\", expected one of \"dpsgd\""));
  auto votes = LinearModelSchema(records, LogitMeaning::kVotes);
  EXPECT_THROW(SetThreshold(votes, 0.3, "--threshold"), ConfigError);
}

TEST(ModelSchema, RefusesJobsThatMakeNoModel) {
  const auto error_of = [](const std::string& json) -> std::string {
    try {
      (void)ParseModelSchema(json, "model.npz");
    } catch (const ConfigError& error) {
      return error.what();
    }
    return "none";
  };
  EXPECT_EQ(error_of(R"({"version":1,"type":"predict","name":"a","predict":{"run":")" + std::string(32, 'a') +
                     R"(","client":0,"rows":1}})"),
            "model.npz: type: found \"predict\", expected a job that makes a model");
  EXPECT_NE(error_of("{}"), "none");
  EXPECT_NE(error_of(R"({"type":"dpsgd"})"), "none");
  EXPECT_NE(error_of(R"({"type":"other","privacy":{}})"), "none");
  EXPECT_NE(error_of("[]"), "none");
}

}  // namespace
}  // namespace trefoil::jobs
