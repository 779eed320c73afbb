#include "trefoil/protocols.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <string>

namespace trefoil {
namespace {

const Matrix kX{{1.5, -2.25, 3.0}, {0.0, 100.0, -0.5}};
const Matrix kY{{2.0, 4.0, 3.0}, {-1.0, 99.0, -0.25}};

using Function = std::function<Share(Session&, const Share&, const Share&)>;

/// What all three get to know of a function of kX, which party 0 has, and kY, which party 2 has.
Matrix Opened(const Function& function) {
  const auto results = ResultsInProcess([&](Session& session) {
    const auto x = Input(session, 0, kX, {2, 3});
    const auto y = Input(session, 2, kY, {2, 3});
    return Reveal(session, function(session, x, y), "a test");
  });
  EXPECT_EQ(results[0], results[1]);
  EXPECT_EQ(results[0], results[2]);
  return results[0];
}

void ExpectNear(const Matrix& found, const Matrix& expected, double error) {
  ASSERT_EQ(found.rows(), expected.rows());
  ASSERT_EQ(found.cols(), expected.cols());
  EXPECT_LE((found - expected).cwiseAbs().maxCoeff(), error) << found << "\nexpected\n" << expected;
}

TEST(Protocols, AddAndSubtractExactly) {
  ExpectNear(Opened([](Session& s, const Share& x, const Share& y) { return AddPublic(s, 3 * x - y, kX); }),
             4 * kX - kY, 0);
}

TEST(Protocols, MultiplyWithinAnUnit) {
  const double unit = std::ldexp(1.0, -kFractionBits);
  ExpectNear(Opened([](Session& s, const Share& x, const Share& y) { return Multiply(s, x, y); }),
             kX.cwiseProduct(kY), unit);
  ExpectNear(Opened([](Session& s, const Share& x, const Share& y) {
               return MultiplyMatrices(s, x, Transposed(y));
             }),
             kX * kY.transpose(), unit);
}

TEST(Protocols, CompareExactlyInBothForms) {
  const Matrix expected = (kX.array() < kY.array()).cast<double>().matrix();
  for (const Form form : {Form::kBulk, Form::kLatency}) {
    ExpectNear(Opened([&](Session& s, const Share& x, const Share& y) { return Less(s, x, y, form); }),
               expected, 0);
  }
  ExpectNear(
      Opened([](Session& s, const Share& x, const Share& y) { return Select(s, Less(s, x, y), x, y); }),
      kX.cwiseMin(kY), 0);
}

TEST(Protocols, FindTheLargestOfARow) {
  for (const Form form : {Form::kBulk, Form::kLatency}) {
    ExpectNear(Opened([&](Session& s, const Share& x, const Share&) { return RowMaximum(s, x, form); }),
               kX.rowwise().maxCoeff(), 0);
    ExpectNear(Opened([&](Session& s, const Share& x, const Share&) { return RowArgMax(s, x, form); }),
               Matrix{{0, 0, 1}, {0, 1, 0}}, 0);
  }
}

TEST(Protocols, EvaluateFunctions) {
  const auto of_first = [](Share (*function)(Session&, const Share&)) {
    return Opened([=](Session& s, const Share& x, const Share&) { return function(s, Columns(x, 0, 1)); });
  };
  ExpectNear(of_first([](Session& s, const Share& x) { return Sigmoid(s, x, 8); }),
             Matrix{{1 / (1 + std::exp(-1.5))}, {0.5}}, 0.005);
  ExpectNear(Opened([](Session& s, const Share& x, const Share&) {
               return Reciprocal(s, Rows(Columns(x, 0, 1), 0, 1), -4, 4);
             }),
             Matrix{{1 / 1.5}}, 1e-4);
  ExpectNear(Opened([](Session& s, const Share&, const Share& y) {
               return InverseSqrt(s, Rows(Columns(y, 1, 1), 0, 1));
             }),
             Matrix{{0.5}}, 0.009 * 0.5);
}

TEST(Protocols, PutMatricesTogether) {
  ExpectNear(Opened([](Session&, const Share& x, const Share& y) {
               return RowSums(SideBySide(Stacked(x, y), Stacked(y, x)));
             }),
             Matrix{{11.5 - 0.25}, {197.25}, {11.25}, {197.25}}, 0);
}

TEST(Protocols, OpenToThoseNamedAlone) {
  const auto results = ResultsInProcess([](Session& session) {
    const auto x = Input(session, 0, kX, {2, 3});
    const auto opened = RevealTo(session, {1}, x, "party 1 is the client");
    EXPECT_EQ(session.openings().size(), 1U);
    EXPECT_EQ(session.openings().front().reason, "party 1 is the client");
    EXPECT_EQ(session.openings().front().elements, 6);
    EXPECT_EQ(session.openings().front().to, std::vector<int>{1});
    return opened;
  });
  EXPECT_FALSE(results[0]);
  ASSERT_TRUE(results[1]);
  EXPECT_EQ(*results[1], kX);
  EXPECT_FALSE(results[2]);
}

TEST(Protocols, RefuseToOpenWithoutAReason) {
  const auto run = [] {
    (void)Opened([](Session& s, const Share& x, const Share&) {
      (void)Reveal(s, x, "");
      return x;
    });
  };
  EXPECT_THROW(run(), ContractError);
}

TEST(Protocols, RefuseWhatDoesNotFit) {
  const auto refused = [](const Function& function) { EXPECT_THROW((void)Opened(function), ContractError); };
  refused([](Session&, const Share& x, const Share& y) { return x + Transposed(y); });
  refused([](Session& s, const Share& x, const Share& y) { return Less(s, x, y) + x; });
  refused([](Session& s, const Share& x, const Share& y) { return Select(s, x, x, y); });
  refused([](Session&, const Share& x, const Share&) { return Rows(x, 1, 2); });
  EXPECT_THROW(RunInProcess([](Session& s) {
                 (void)Input(s, 0, Matrix::Constant(1, 1, 1e30), {1, 1});
               }),
               DataError);
}

}  // namespace
}  // namespace trefoil
