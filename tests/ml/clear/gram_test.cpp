#include "ml/clear/gram.h"

#include <gtest/gtest.h>

namespace trefoil::ml {
namespace {

using Eigen::MatrixXd;

TEST(GramOf, IsTheProductWhateverTheThreads) {
  for (const Eigen::Index columns : {1, 3, 256, 300}) {
    const MatrixXd a = MatrixXd::Random(40, columns);
    ThreadPool one(1);
    ThreadPool three(3);
    const MatrixXd found = GramOf(a, one).triangularView<Eigen::Lower>();
    const MatrixXd wanted = (a.transpose() * a).triangularView<Eigen::Lower>();
    EXPECT_LT((found - wanted).cwiseAbs().maxCoeff(), 1e-12);
    const MatrixXd of_three = GramOf(a, three).triangularView<Eigen::Lower>();
    EXPECT_EQ(found, of_three);
  }
}

}  // namespace
}  // namespace trefoil::ml
