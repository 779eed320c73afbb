#include "jobs/evaluation/evaluation.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "base/error.h"

namespace trefoil::jobs {
namespace {

/// A model whose logits are the rows themselves, of one column with two classes.
struct Identity {
  explicit Identity(int classes, ml::Loss loss = ml::Loss::kOneVsRest) {
    schema.records.data.classes = classes;
    schema.classifier.loss = loss;
    schema.probabilities = loss != ml::Loss::kSquared;
    const Eigen::Index columns = classes == 2 ? 1 : classes;
    model = {.weights = Eigen::MatrixXd::Identity(columns, columns), .bias = Eigen::VectorXd::Zero(columns)};
  }

  [[nodiscard]] Evaluation Of(const std::vector<float>& logits, const std::vector<int>& classes) const {
    data::Table table{.x = data::Matrix(static_cast<Eigen::Index>(classes.size()), model.weights.rows()),
                      .y = classes};
    std::copy(logits.begin(), logits.end(), table.x.data());
    return Evaluate(model, schema, table);
  }

  ModelSchema schema;
  ml::Model model;
};

TEST(Evaluate, CountsByClass) {
  const Identity two(2);
  const auto evaluation = two.Of({1.0F, -1.0F, 2.0F, -2.0F, 3.0F}, {1, 0, 0, 0, 1});
  EXPECT_DOUBLE_EQ(evaluation.table.accuracy(), 0.8);
  EXPECT_EQ(evaluation.table.count(0, 1), 1);
  EXPECT_DOUBLE_EQ(*evaluation.auc[1], 5.0 / 6);  // of the pairs of logits only 1 < 2 is out of order
  EXPECT_EQ(evaluation.auc[0], evaluation.auc[1]);
  ASSERT_EQ(evaluation.roc.size(), 1U);
  EXPECT_EQ(evaluation.roc[0].of, 1);
  EXPECT_TRUE(WarningsOf(evaluation, two.schema.records).empty());
}

TEST(Evaluate, CountsByTheThresholdAndRanksWithoutIt) {
  Identity two(2);
  const auto even = two.Of({1, -1, 2, -2}, {1, 1, 0, 0});
  SetThreshold(two.schema, 0.2, "x");  // logits above -1.39
  const auto low = two.Of({1, -1, 2, -2}, {1, 1, 0, 0});
  EXPECT_EQ(even.table.count(1, 1), 1);
  EXPECT_EQ(low.table.count(1, 1), 2);
  EXPECT_EQ(low.auc, even.auc);
  EXPECT_EQ(low.probabilities->log_loss, even.probabilities->log_loss);
  EXPECT_FALSE(ToJson(even, two.schema.records).contains("threshold"));
  EXPECT_EQ(ToJson(low, two.schema.records).at("threshold"), 0.2);
  EXPECT_THROW(SetThreshold(two.schema, 1, "x"), ConfigError);
  Identity three(3);
  EXPECT_THROW(SetThreshold(three.schema, 0.2, "x"), ConfigError);
}

TEST(Evaluate, SaysHowGoodProbabilitiesAre) {
  const float three = std::log(3.0F);
  const auto two = Identity(2).Of({three, three, -three, three}, {1, 1, 0, 0});
  ASSERT_TRUE(two.probabilities);
  EXPECT_NEAR(two.probabilities->log_loss, -(3 * std::log(0.75) + std::log(0.25)) / 4, 1e-6);
  EXPECT_EQ(two.probabilities->calibration[7].records, 3);  // of class 1: 0.75 was said of three records
  EXPECT_NEAR(two.probabilities->calibration[7].true_share, 2.0 / 3, 1e-12);
  // Of three classes what is calibrated is the predicted class's probability: e / (e + 2), twice, and once it
  // is right.
  const auto softmax = Identity(3, ml::Loss::kSoftmax).Of({1, 0, 0, 0, 1, 0}, {0, 2});
  EXPECT_EQ(softmax.probabilities->calibration[5].records, 2);
  EXPECT_DOUBLE_EQ(softmax.probabilities->calibration[5].true_share, 0.5);
  EXPECT_FALSE(Identity(3, ml::Loss::kSquared).Of({1, 0, 0}, {0}).probabilities);
}

TEST(Evaluate, RanksClassesAgainstTheRest) {
  const Identity three(3, ml::Loss::kSquared);
  const auto evaluation = three.Of({3, 0, 1,  //
                                    0, 1, 2,  //
                                    2, 0, 3},
                                   {0, 1, 1});
  EXPECT_EQ(evaluation.auc[0], 1.0);
  EXPECT_EQ(evaluation.auc[1], 0.75);  // 1 > 0, and 0 = 0
  EXPECT_EQ(evaluation.auc[2], std::nullopt);
  EXPECT_DOUBLE_EQ(*evaluation.mean_auc(), 0.875);
  ASSERT_EQ(evaluation.roc.size(), 2U);
  EXPECT_EQ(evaluation.roc[0].of, 1);
  EXPECT_EQ(evaluation.roc[1].of, 0);
  const auto one_class = three.Of({3, 0, 1}, {0});
  EXPECT_EQ(one_class.mean_auc(), std::nullopt);
  EXPECT_TRUE(one_class.roc.empty());
}

TEST(Evaluate, RefusesLogitsThatAreNotFinite) {
  Identity two(2);
  two.model.weights(0, 0) = 1e308;
  EXPECT_THROW((void)two.Of({1e30F}, {0}), DataError);
}

TEST(WarningsOf, SayWhatAnAccuracyHides) {
  constexpr const char* kMend =
      ": another model.threshold, which public numbers or a charged histogram choose, or a training with "
      "model.class_weights may mend it (docs/howto/rare_classes.md)";
  Identity two(2);
  two.schema.records.data.label.values = {"well", "ill"};
  const auto& records = two.schema.records;
  using Texts = std::vector<std::string>;
  EXPECT_EQ(WarningsOf(two.Of({-1, -2, -3}, {0, 0, 1}), records),
            Texts{std::string("all records are taken for class \"well\"") + kMend});
  EXPECT_EQ(WarningsOf(two.Of({-1, -2}, {0, 0}), records), Texts{});  // as they are
  EXPECT_EQ(
      WarningsOf(two.Of({1, -1}, {0, 1}), records),
      Texts{std::string("no record is recognised of class \"well\" (records: 1), \"ill\" (records: 1)") +
            kMend});
  // All are in order, and one of twenty is recognised; with all of them there is nothing to say.
  std::vector<float> logits(20, -1.0F);
  std::vector<int> truth(20, 1);
  logits[0] = 1;
  logits.insert(logits.end(), 20, -2.0F);
  truth.insert(truth.end(), 20, 0);
  const auto badly = WarningsOf(two.Of(logits, truth), records);
  ASSERT_EQ(badly.size(), 1U);
  EXPECT_NE(badly[0].find("(AUC 1.0000), the threshold does not (balanced accuracy 0.5250)"),
            std::string::npos)
      << badly[0];
  std::fill_n(logits.begin(), 20, 1.0F);
  EXPECT_EQ(WarningsOf(two.Of(logits, truth), records), Texts{});
  const Identity many(20);
  Evaluation none{.table = ml::ConfusionTable(20), .auc = {}, .roc = {}};
  for (int k = 0; k < 20; ++k) none.table.Add(k, (k + 1) % 20);
  const auto said = WarningsOf(none, many.schema.records);
  ASSERT_EQ(said.size(), 1U);
  EXPECT_NE(said[0].find("\"9\" (records: 1) and 10 more"), std::string::npos) << said[0];
}

TEST(ToJson, HasAllOfAnEvaluation) {
  const Identity two(2);
  const auto json = ToJson(two.Of({1.0F, -1.0F, 2.0F, -2.0F, 3.0F}, {1, 0, 0, 0, 1}), two.schema.records);
  EXPECT_EQ(json.at("accuracy"), 0.8);
  EXPECT_EQ(json.at("records"), 5);
  EXPECT_EQ(json.at("correct"), 4);
  EXPECT_EQ(json.at("confusion"), (nlohmann::ordered_json{{2, 1}, {0, 2}}));
  EXPECT_EQ(json.at("classes").at(0).at("predicted"), 2);
  EXPECT_EQ(json.at("calibration").size(), 10U);
  EXPECT_EQ(json.at("roc").at(0).at("points").front(), (nlohmann::ordered_json{0.0, 0.0}));
  const Identity squared(2, ml::Loss::kSquared);
  const auto plain = ToJson(squared.Of({1.0F}, {1}), squared.schema.records);
  for (const auto* key : {"log_loss", "calibration_error", "calibration", "auc"})
    EXPECT_TRUE(plain.at(key).is_null()) << key;
}

}  // namespace
}  // namespace trefoil::jobs
