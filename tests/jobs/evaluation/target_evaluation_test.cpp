#include "jobs/evaluation/target_evaluation.h"

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "jobs/evaluation/classify.h"
#include "jobs/evaluation/predictions.h"

namespace trefoil::jobs {
namespace {

/// A model of targets from 10 to 30, whose logit is its one feature: -1/2 stands for 10.
struct TargetModel {
  ml::Model identity{.weights = Eigen::MatrixXd::Identity(1, 1), .bias = Eigen::VectorXd::Zero(1)};
  ModelSchema schema;

  TargetModel() { schema.records.data.target = {10, 30}; }

  [[nodiscard]] TargetEvaluation Of(const std::vector<float>& logits,
                                    const std::vector<double>& targets) const {
    data::Table table{.x = data::Matrix(static_cast<Eigen::Index>(logits.size()), 1), .y = {}};
    for (std::size_t k = 0; k < logits.size(); ++k) {
      table.x(static_cast<Eigen::Index>(k), 0) = logits[k];
      table.y.push_back(data::StepsOf(*schema.records.data.target, targets[k]).value());
    }
    return EvaluateTargets(identity, schema, table);
  }
};

TEST(EvaluateTargets, IsInTheTargetsOwnUnit) {
  const TargetModel model;
  EXPECT_EQ(TargetOf(model.schema, Eigen::RowVectorXd::Constant(1, -0.5)), 10);
  EXPECT_EQ(TargetOf(model.schema, Eigen::RowVectorXd::Constant(1, 0.75)), 35);  // beyond the range
  EXPECT_EQ(TargetsCsv({10, 17.5}), "row,target\n1,10\n2,17.5\n");

  const auto evaluation = model.Of({-0.5F, 0, 0.5F}, {10, 20, 27});  // 10, 20, 30
  const auto json = ToJson(evaluation);
  EXPECT_NEAR(json["rmse"].get<double>(), std::sqrt(3.0), 1e-5);
  EXPECT_NEAR(json["r_squared"].get<double>(), 1 - 9 / 146.0, 1e-6);
  EXPECT_EQ(json["records"], 3);
  EXPECT_EQ(json["warnings"].size(), 0U);
  ASSERT_EQ(json["calibration"].size(), 3U);
  EXPECT_EQ(json["calibration"][2]["said"], 30);
  EXPECT_NEAR(json["calibration"][2]["true"].get<double>(), 27, 1e-5);
  EXPECT_EQ(FiguresOf(evaluation), "R² 0.9383, RMSE 1.732");
}

TEST(EvaluateTargets, WarnsWhereTheMeanWouldDoAsWell) {
  const TargetModel model;
  EXPECT_EQ(WarningsOf(model.Of({0.5F, -0.5F}, {10, 30})).size(), 1U);
  const auto equal = model.Of({0.5F, -0.5F}, {12, 12});
  EXPECT_TRUE(WarningsOf(equal).empty());
  EXPECT_TRUE(ToJson(equal)["r_squared"].is_null());
}

TEST(EvaluateTargets, SortsTenthsByWhatIsPredicted) {
  const TargetModel model;
  std::vector<float> logits;
  std::vector<double> targets;
  for (int k = 0; k < 45; ++k) {
    logits.push_back(static_cast<float>((k * 7) % 45) / 45);
    targets.push_back(10 + (k * 7) % 45 / 3.0);
  }
  const auto bins = model.Of(logits, targets).calibration;
  ASSERT_EQ(bins.size(), 10U);
  std::int64_t records = 0;
  for (std::size_t k = 0; k < bins.size(); ++k) {
    records += bins[k].records;
    if (k == 0) continue;
    EXPECT_LT(bins[k - 1].predicted, bins[k].predicted);
    EXPECT_LT(bins[k - 1].actual, bins[k].actual);
  }
  EXPECT_EQ(records, 45);
}

}  // namespace
}  // namespace trefoil::jobs
