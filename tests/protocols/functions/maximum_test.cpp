#include "protocols/functions/maximum.h"

#include <limits>

#include "base/error.h"
#include "protocols/arithmetic/reveal.h"
#include "tests/support/protocol_test.h"

namespace trefoil::protocols {
namespace {

using mpc::Index;
using mpc::RingMatrix;
using mpc::Word;
using namespace testing_support;  // NOLINT(google-build-using-namespace): test helpers only

struct MaximumCase {
  Index cols;
  int width;
  Form form;
};

void PrintTo(const MaximumCase& c, std::ostream* out) {
  *out << c.cols << " columns, width " << c.width << (c.form == Form::kBulk ? " bulk" : " latency");
}

/// Random rows; rows with few different values, so that there are ties; the largest at each place once, by
/// one unit or by the whole range; all equal.
RingMatrix Rows(const MaximumCase& c) {
  const std::int64_t limit = (std::int64_t{1} << (c.width - 2)) - 1;
  const RingMatrix random = RandomSigned(41, 60, c.cols, c.width - 2);
  const RingMatrix ties = RandomSigned(42, 60, c.cols, 1);
  RingMatrix ladder = RingMatrix::Constant(2 * c.cols + 2, c.cols, static_cast<Word>(-limit));
  for (Index k = 0; k < c.cols; ++k) {
    ladder(2 * k, k) = static_cast<Word>(-limit + 1);
    ladder(2 * k + 1, k) = static_cast<Word>(limit);
  }
  ladder.row(2 * c.cols).setConstant(static_cast<Word>(limit));
  return mpc::Stacked(mpc::Stacked(random, ties), ladder);
}

Index FirstLargest(const RingMatrix& x, Index row) {
  Index best = 0;
  for (Index col = 1; col < x.cols(); ++col) {
    if (mpc::Signed(x(row, col)) > mpc::Signed(x(row, best))) best = col;
  }
  return best;
}

TEST(ColumnNumbers, SayWhereEachRowHasItsOne) {
  RingMatrix one_hot = RingMatrix::Zero(4, 3);
  one_hot(0, 2) = one_hot(1, 0) = one_hot(2, 1) = one_hot(3, 2) = 1;
  const auto opened = RunParties(Seed{1}, [&](mpc::Context& party) {
    return Reveal(party, ColumnNumbers(InsecureDeal(party, one_hot)), ReleaseReason::kTest);
  });
  RingMatrix expected(4, 1);
  expected << 2, 0, 1, 2;
  EXPECT_TRUE((opened[0] == expected).all());
}

class MaximumTest : public testing::TestWithParam<MaximumCase> {};

TEST_P(MaximumTest, FindsTheLargestOfEachRowAtTheDeclaredCost) {
  const MaximumCase c = GetParam();
  const RingMatrix x = Rows(c);
  const Outcome outcome = RunOn(
      Seed{1}, [&](mpc::Context& party) { return InsecureDeal(party, x); },
      [&](mpc::Context& party, const mpc::ArithShare& share) {
        return RowMaximum(party, share, c.width, c.form);
      });
  EXPECT_EQ(outcome.cost, Figures(RowMaximumCost(x.rows(), c.cols, c.width, c.form)));
  ASSERT_EQ(outcome.value.rows(), x.rows());
  ASSERT_EQ(outcome.value.cols(), 1);
  for (Index row = 0; row < x.rows(); ++row)
    ASSERT_EQ(mpc::Signed(outcome.value(row, 0)), mpc::Signed(x(row, FirstLargest(x, row)))) << row;
}

TEST_P(MaximumTest, MarksTheFirstOfTheLargestAtTheDeclaredCost) {
  const MaximumCase c = GetParam();
  const RingMatrix x = Rows(c);
  const Outcome outcome = RunOn(
      Seed{2}, [&](mpc::Context& party) { return InsecureDeal(party, x); },
      [&](mpc::Context& party, const mpc::ArithShare& share) {
        return RowArgMax(party, share, c.width, c.form);
      });
  EXPECT_EQ(outcome.cost, Figures(RowArgMaxCost(x.rows(), c.cols, c.width, c.form)));
  ASSERT_EQ(outcome.value.rows(), x.rows());
  ASSERT_EQ(outcome.value.cols(), x.cols());
  for (Index row = 0; row < x.rows(); ++row) {
    const Index best = FirstLargest(x, row);
    for (Index col = 0; col < c.cols; ++col)
      ASSERT_EQ(outcome.value(row, col), col == best ? 1U : 0U) << row << ' ' << col;
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, MaximumTest,
                         testing::Values(MaximumCase{1, 64, Form::kBulk}, MaximumCase{2, 64, Form::kBulk},
                                         MaximumCase{3, 64, Form::kBulk}, MaximumCase{7, 24, Form::kBulk},
                                         MaximumCase{10, 64, Form::kBulk}, MaximumCase{16, 20, Form::kBulk},
                                         MaximumCase{3, 64, Form::kLatency},
                                         MaximumCase{10, 24, Form::kLatency},
                                         MaximumCase{11, 40, Form::kLatency}));

TEST(RowMaximum, IsOneOfTheRowWhateverTheRingHolds) {
  const RingMatrix x = RandomWords(43, 200, 5);
  const Outcome outcome = RunOn(
      Seed{3}, [&](mpc::Context& party) { return InsecureDeal(party, x); },
      [](mpc::Context& party, const mpc::ArithShare& share) { return RowMaximum(party, share); });
  for (Index row = 0; row < x.rows(); ++row) ASSERT_TRUE((x.row(row) == outcome.value(row, 0)).any()) << row;
}

TEST(RowMaximumCost, IsElevenOrThreeRoundsALevel) {
  EXPECT_LE(RowMaximumCost(8, 10).rounds(), 4 * 11);
  EXPECT_LE(RowMaximumCost(8, 10, 64, Form::kLatency).rounds(), 4 * 3);
  EXPECT_LE(RowArgMaxCost(8, 10, 64, Form::kLatency).rounds(), 4 * 3 + 3);
}

TEST(RowMaximum, RefusesAMatrixWithoutColumnsBeforeSending) {
  const auto sent = RunParties(Seed{4}, [](mpc::Context& party) {
    const auto x = InsecureDeal(party, RingMatrix(3, 0));
    EXPECT_THROW((void)RowMaximum(party, x), ContractError);
    EXPECT_THROW((void)RowArgMax(party, x), ContractError);
    return party.transport().counters().messages;
  });
  EXPECT_EQ(sent, (std::array<std::uint64_t, 3>{0, 0, 0}));
}

}  // namespace
}  // namespace trefoil::protocols
