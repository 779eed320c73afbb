#include "protocols/comparison/row_check.h"

#include <string>

#include "base/error.h"
#include "protocols/arithmetic/lift.h"
#include "tests/support/protocol_test.h"

namespace trefoil::protocols {
namespace {

using mpc::BitMatrix;
using mpc::Index;
using mpc::RingMatrix;
using mpc::Word;
using namespace testing_support;  // NOLINT(google-build-using-namespace): test helpers only

constexpr Word kTop = Word{1} << 63;

/// A row as it lies in the matrix, and whether it is out of bounds.
struct CheckedRow {
  std::string name;
  std::vector<std::int64_t> numbers;
  bool faulty;
};

std::int64_t Number(Word word) { return mpc::Signed(word); }

RingMatrix MatrixOf(const std::vector<CheckedRow>& rows) {
  RingMatrix out(static_cast<Index>(rows.size()), static_cast<Index>(rows.front().numbers.size()));
  for (Index row = 0; row < out.rows(); ++row)
    out.row(row) = Column(rows[static_cast<std::size_t>(row)].numbers).transpose();
  return out;
}

/// Which rows are found, and at what cost; after `turn` turns of the roles.
std::pair<BitMatrix, CostFigures> Found(const RowBounds& bounds, const RingMatrix& rows, int turn = 0) {
  const auto parts = RunParties(Seed{1}, [&](mpc::Context& party) {
    const mpc::ArithShare shared = InsecureDeal(party, rows);
    mpc::BoolShare faulty;
    MeasuredPart<BitMatrix> part;
    part.measured = Measure(party, [&] {
      for (int k = 0; k < turn; ++k) (void)party.NextRoles();
      faulty = FaultyRows(party, bounds, shared);
    });
    part.value = RevealBits(party, faulty, ReleaseReason::kTest);
    return part;
  });
  return {parts[0].value, Figures(parts)};
}

void ExpectFound(const RowBounds& bounds, const std::vector<CheckedRow>& rows) {
  for (int turn = 0; turn < 3; ++turn) {
    SCOPED_TRACE(turn);
    const auto [found, cost] = Found(bounds, MatrixOf(rows), turn);
    ASSERT_EQ(found.planes(), 1);
    ASSERT_EQ(found.count(), static_cast<Index>(rows.size()));
    for (std::size_t k = 0; k < rows.size(); ++k)
      EXPECT_EQ(found.bit(0, static_cast<Index>(k)), rows[k].faulty) << rows[k].name;
    if (turn == 0) {
      EXPECT_EQ(cost, Figures(FaultyRowsCost(bounds, found.count())));
    }
  }
}

// Two features with squares of at most 25; a mask bit; three classes.
TEST(FaultyRows, AreThoseWithAnythingButARecordOfAClassOrPadding) {
  const RowBounds bounds{.features = 2, .largest_squared_norm = 25, .label_words = 3, .largest_label = 1};
  ExpectFound(bounds, {
                          {"padding", {0, 0, 0, 0, 0, 0}, false},
                          {"a record of the first class", {1, -2, 1, 1, 0, 0}, false},
                          {"a record of the last class", {0, 0, 1, 0, 0, 1}, false},
                          {"a record at the bound", {-3, 4, 1, 0, 1, 0}, false},
                          {"a record beyond the bound", {1, 5, 1, 0, 1, 0}, true},
                          {"a record far beyond the bound", {1 << 30, -(1 << 30), 1, 0, 1, 0}, true},
                          {"padding with a feature", {0, 1, 0, 0, 0, 0}, true},
                          {"padding with a label", {0, 0, 0, 0, 1, 0}, true},
                          {"a record without a class", {0, 0, 1, 0, 0, 0}, true},
                          {"a record of two classes", {0, 0, 1, 1, 0, 1}, true},
                          {"a record of all classes", {0, 0, 1, 1, 1, 1}, true},
                          {"classes that cancel", {0, 0, 1, 1, 1, -1}, true},
                          {"classes that cancel in padding", {0, 0, 0, 1, -1, 0}, true},
                          {"a class that weighs two", {0, 0, 1, 2, 0, 0}, true},
                          {"a record that weighs two", {0, 0, 2, 1, 1, 0}, true},
                          {"a record of two classes that weighs two", {0, 0, 2, 2, 0, 0}, true},
                          {"a record that weighs less than nothing", {0, 0, -1, -1, 0, 0}, true},
                          {"a record that makes room for its norm", {5, 5, 2, 1, 0, 0}, true},
                      });
}

// What checks would let pass that are not made here: b(b - 2^16) is 0 modulo 2^64 for b = 2^48, which at a
// scale of 2^16 would be a bit; squares of multiples of 2^32 are 0; and half of all random combinations miss
// a difference of 2^63, two of which cancel besides.
TEST(FaultyRows, FindWordsThatOtherChecksMiss) {
  const RowBounds bounds{.features = 1, .largest_squared_norm = 25, .label_words = 2, .largest_label = 1};
  ExpectFound(bounds,
              {
                  {"a mask bit of 2^48", {0, std::int64_t{1} << 48, 1, 0}, true},
                  {"a mask bit of 2^32", {0, std::int64_t{1} << 32, 1, 0}, true},
                  {"a mask bit of 2^63", {0, Number(kTop), 0, 0}, true},
                  {"a mask bit of 1 + 2^63", {0, Number(kTop + 1), 1, 0}, true},
                  {"the largest mask bit", {0, Number(kTop - 1), 1, 0}, true},
                  {"labels of 2^63", {0, 1, Number(kTop + 1), Number(kTop)}, true},
                  {"labels of 2^63 in padding", {0, 0, Number(kTop), Number(kTop)}, true},
                  {"labels of 2^32", {0, 1, std::int64_t{1} << 32, 1 - (std::int64_t{1} << 32)}, true},
                  {"labels that wrap", {0, 1, Number(kTop - 1), Number(kTop + 2)}, true},
                  {"a record", {5, 1, 1, 0}, false},
              });
}

// One word: two classes, or a target in steps of its range.
TEST(FaultyRows, KnowLabelsOfOneWord) {
  for (const std::int64_t largest : {std::int64_t{1}, std::int64_t{1} << 24}) {
    SCOPED_TRACE(largest);
    const RowBounds bounds{.features = 1,
                           .largest_squared_norm = 25,
                           .label_words = 1,
                           .largest_label = static_cast<Word>(largest)};
    ExpectFound(bounds, {
                            {"padding", {0, 0, 0}, false},
                            {"the least", {1, 1, 0}, false},
                            {"the largest", {1, 1, largest}, false},
                            {"one too large", {1, 1, largest + 1}, true},
                            {"one too small", {1, 1, -1}, true},
                            {"far too large", {1, 1, Number(kTop - 1)}, true},
                            {"far too small", {1, 1, Number(kTop)}, true},
                            {"one in padding", {0, 0, 1}, true},
                            {"less than nothing in padding", {0, 0, -1}, true},
                            {"twice the largest of a record that weighs two", {0, 2, 2 * largest}, true},
                        });
  }
}

/// The same in plain numbers. Pre: features whose squares' sum a word holds.
bool IsFaulty(const RowBounds& bounds, const RingMatrix& rows, Index row) {
  const Word mask = rows(row, bounds.features);
  Word norm = 0;
  for (Index k = 0; k < bounds.features; ++k) norm += rows(row, k) * rows(row, k);
  Word sum = 0;
  bool faulty = mask > 1 || norm > mask * bounds.largest_squared_norm;
  for (Index k = bounds.features + 1; k < rows.cols(); ++k) {
    faulty = faulty || rows(row, k) > mask * bounds.largest_label;
    sum += rows(row, k);
  }
  return faulty || (bounds.label_words > 1 && sum != mask);
}

// Numbers from -1 to 2, so that some rows are in bounds; more rows than a word has bits, and not a multiple.
TEST(FaultyRows, AreThoseOfPlainNumbers) {
  for (const Index label_words : {1, 2, 4}) {
    SCOPED_TRACE(label_words);
    const RowBounds bounds{
        .features = 2, .largest_squared_norm = 4, .label_words = label_words, .largest_label = 1};
    const RingMatrix rows = RandomWords(7, 700, 3 + label_words).unaryExpr([](Word word) {
      return word % 8 < 6 ? (word >> 8) % 2 : (word >> 8) % 4 - 1;
    });
    const auto [found, cost] = Found(bounds, rows);
    Index faulty = 0;
    for (Index row = 0; row < rows.rows(); ++row) {
      ASSERT_EQ(found.bit(0, row), IsFaulty(bounds, rows, row)) << "row " << row;
      faulty += found.bit(0, row) ? 1 : 0;
    }
    EXPECT_GT(faulty, 0);
    EXPECT_LT(faulty, rows.rows());
  }
}

// Whatever an owner deposits for features modulo 2^bits: the largest squares that lifting leaves do not wrap,
// for as many features as a study may have.
TEST(FaultyRows, FindRowsOfTheLargestDeposits) {
  constexpr int kBits = 25;
  constexpr Index kFeatures = 2047;  // 2048 * 2^(2 * 25 + 2) = 2^63: one less
  const RowBounds bounds{
      .features = kFeatures, .largest_squared_norm = Word{1} << 44, .label_words = 1, .largest_label = 1};
  RingMatrix features = RandomWords(3, 66, kFeatures);
  features.row(0).setConstant(Word{1} << (kBits - 1));
  features.row(1).setConstant((Word{1} << (kBits - 1)) + 1);
  features.row(2).setConstant(Word{3} << (kBits - 2));
  features.row(3).setConstant(Word{1} << 32);  // nothing is left of it
  const auto parts = RunParties(Seed{1}, [&](mpc::Context& party) {
    const mpc::ArithShare lifted = Lift(party, InsecureDeal(party, features), kBits);
    const RingMatrix record = RingMatrix::Ones(features.rows(), 2);
    const auto rows = SideBySide(lifted, InsecureDeal(party, record));
    return RevealBits(party, FaultyRows(party, bounds, rows), ReleaseReason::kTest);
  });
  for (Index row = 0; row < features.rows(); ++row) EXPECT_EQ(parts[0].bit(0, row), row != 3) << row;
}

TEST(FaultyRows, RefuseOtherShapesAndBounds) {
  (void)RunParties(Seed{1}, [](mpc::Context& party) {
    const RowBounds good{.features = 1, .largest_squared_norm = 1, .label_words = 2, .largest_label = 1};
    const auto refuse = [&](const RowBounds& bounds, Index columns) {
      EXPECT_THROW((void)FaultyRows(party, bounds, mpc::ArithShare::Zero(3, columns)), ContractError);
    };
    refuse(good, 5);
    RowBounds bounds = good;
    bounds.features = 0;
    refuse(bounds, 3);
    bounds = good;
    bounds.label_words = 0;
    refuse(bounds, 2);
    bounds = good;
    bounds.largest_label = 2;
    refuse(bounds, 4);
    bounds = good;
    bounds.largest_label = 0;
    refuse(bounds, 4);
    bounds = good;
    bounds.largest_squared_norm = Word{1} << 62;
    refuse(bounds, 4);
    EXPECT_EQ(party.transport().counters().messages, 0U);
    return true;
  });
}

}  // namespace
}  // namespace trefoil::protocols
