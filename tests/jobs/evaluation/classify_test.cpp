#include "jobs/evaluation/classify.h"

#include <gtest/gtest.h>

namespace trefoil::jobs {
namespace {

data::Table TableOf(std::initializer_list<float> x, std::vector<int> y) {
  data::Table table{.x = data::Matrix(static_cast<Eigen::Index>(y.size()), 1), .y = std::move(y)};
  std::copy(x.begin(), x.end(), table.x.data());
  return table;
}

std::vector<int> Predict(const ml::Model& model, const data::Matrix& x) {
  std::vector<int> classes;
  for (Eigen::Index row = 0; row < x.rows(); ++row)
    classes.push_back(ClassOf(Logits(model, x.row(row).cast<double>())));
  return classes;
}

TEST(Predict, TakesTheSignOfOneLogit) {
  const ml::Model model{.weights = Eigen::MatrixXd::Constant(1, 1, 2.0),
                        .bias = Eigen::VectorXd::Constant(1, -1.0)};
  EXPECT_EQ(Predict(model, TableOf({0.0F, 0.5F, 0.6F}, {0, 0, 0}).x), (std::vector<int>{0, 0, 1}));
}

TEST(Predict, TakesTheLargestOfSeveralLogits) {
  ml::Model model{.weights = Eigen::MatrixXd(1, 3), .bias = Eigen::VectorXd(3)};
  model.weights << -1.0, 0.0, 1.0;
  model.bias << 0.0, 0.5, 0.0;
  EXPECT_EQ(Predict(model, TableOf({-1.0F, 0.0F, 1.0F}, {0, 0, 0}).x), (std::vector<int>{0, 1, 2}));
}

TEST(ClassOf, TakesClassOneAboveTheDecision) {
  const auto logit = [](double value) { return Eigen::RowVectorXd::Constant(1, value); };
  EXPECT_EQ(ClassOf(logit(-1), -1.5), 1);
  EXPECT_EQ(ClassOf(logit(-1), -1), 0);
  EXPECT_EQ(ClassOf(logit(1), 1.5), 0);
}

TEST(ClassOf, TakesTheFirstOfEqualLogits) {
  EXPECT_EQ(ClassOf(Eigen::RowVectorXd::Zero(1)), 0);
  for (const Eigen::Index count : {2, 9}) EXPECT_EQ(ClassOf(Eigen::RowVectorXd::Ones(count)), 0);
}

TEST(ClassName, IsTheLabelsValueOrTheNumber) {
  RecordSchema schema;
  EXPECT_EQ(ClassName(schema, 1), "1");
  schema.data.label.values = {"no", "yes"};
  EXPECT_EQ(ClassName(schema, 1), "yes");
}

TEST(Predict, GoesThroughHiddenLayersCutAtTheirBound) {
  // The only unit is min(max(4 x, 0), 2); the logit is its distance below 1.5.
  ml::Model model{.weights = Eigen::MatrixXd::Constant(1, 1, -1.0),
                  .bias = Eigen::VectorXd::Constant(1, 1.5)};
  model.hidden = {{.weights = Eigen::MatrixXd::Constant(1, 1, 4.0), .bias = Eigen::VectorXd::Zero(1)}};
  model.activation_bound = 2;
  EXPECT_EQ(Predict(model, TableOf({-1.0F, 0.25F, 0.5F, 9.0F}, {0, 0, 0, 0}).x),
            (std::vector<int>{1, 1, 0, 0}));
  model.activation_bound = 1;
  EXPECT_EQ(Predict(model, TableOf({9.0F}, {0}).x), std::vector<int>{1});
}

}  // namespace
}  // namespace trefoil::jobs
