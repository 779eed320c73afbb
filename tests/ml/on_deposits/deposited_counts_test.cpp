#include "ml/on_deposits/deposited_counts.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "base/error.h"
#include "protocols/arithmetic/reveal.h"
#include "tests/support/ml_test.h"

namespace trefoil::ml {
namespace {

using mpc::Index;
using mpc::RingMatrix;
using namespace testing_support;  // NOLINT(google-build-using-namespace): test helpers only

constexpr Index kCountedFeatures = 3;

Index LabelWords(Index classes) { return classes == 2 ? 1 : classes; }

/// A record of this class as an owner deposits it; its features are any words.
RingMatrix DepositedRecord(Index classes, Index label, std::uint64_t seed) {
  RingMatrix row = RingMatrix::Zero(1, kCountedFeatures + 1 + LabelWords(classes));
  row.leftCols(kCountedFeatures) = RandomSigned(seed, 1, kCountedFeatures, 63);
  row(0, kCountedFeatures) = 1;
  if (classes > 2) {
    row(0, kCountedFeatures + 1 + label) = 1;
  } else {
    row(0, kCountedFeatures + 1) = static_cast<mpc::Word>(label);
  }
  return row;
}

/// Of random classes, the last of which no record has; every third row is padding.
struct Deposits {
  std::vector<RingMatrix> rows{};
  RingMatrix counts{};
};

Deposits SomeDeposits(Index classes, const std::vector<Index>& heights) {
  std::mt19937_64 random(static_cast<std::uint64_t>(classes));
  Deposits deposits{.rows = {}, .counts = RingMatrix::Zero(classes, 1)};
  const auto held = static_cast<std::uint64_t>(classes > 2 ? classes - 1 : classes);
  for (const Index height : heights) {
    RingMatrix rows = RingMatrix::Zero(height, kCountedFeatures + 1 + LabelWords(classes));
    for (Index k = 0; k < height; ++k) {
      if (k % 3 == 2) continue;
      const auto label = static_cast<Index>(random() % held);
      rows.row(k) = DepositedRecord(classes, label, random());
      ++deposits.counts(label, 0);
    }
    deposits.rows.push_back(rows);
  }
  return deposits;
}

/// What the three parties open of the counts; nothing is sent before.
std::array<MeasuredPart<RingMatrix>, 3> Counted(Index classes, const std::vector<RingMatrix>& deposits) {
  return RunParties(Seed{3}, [&](mpc::Context& party) {
    std::vector<mpc::ArithShare> shares;
    for (const auto& rows : deposits) shares.push_back(InsecureDeal(party, rows));
    MeasuredPart<RingMatrix> part;
    mpc::ArithShare counts;
    part.measured =
        protocols::Measure(party, [&] { counts = CountsOfDeposited(kCountedFeatures, classes, shares); });
    part.value = protocols::Reveal(party, counts, protocols::ReleaseReason::kTest);
    return part;
  });
}

TEST(DepositedCounts, ArePlainCountsOfRecordsWithoutPaddingAndSendNothing) {
  for (const Index classes : {2, 3, 10}) {
    const auto deposits = SomeDeposits(classes, {64, 1, 7, 200});
    const auto parts = Counted(classes, deposits.rows);
    for (const auto& part : parts) EXPECT_TRUE((part.value == deposits.counts).all()) << classes;
    EXPECT_EQ(Figures(parts), Figures(mpc::Cost()));
  }
}

TEST(DepositedCounts, OfOneRecordAreOneOfItsClassAlone) {
  for (const Index classes : {2, 3, 5}) {
    for (Index label = 0; label < classes; ++label) {
      RingMatrix expected = RingMatrix::Zero(classes, 1);
      expected(label, 0) = 1;
      EXPECT_TRUE((Counted(classes, {DepositedRecord(classes, label, 9)})[0].value == expected).all());
    }
  }
}

TEST(DepositedCounts, OfNothingAndOfPaddingAreZeros) {
  for (const auto& deposits :
       {std::vector<RingMatrix>{}, std::vector<RingMatrix>{RingMatrix::Zero(8, kCountedFeatures + 2)}})
    EXPECT_TRUE((Counted(2, deposits)[0].value == RingMatrix::Zero(2, 1)).all());
}

TEST(DepositedCounts, RefuseAnotherShape) {
  std::vector<mpc::ArithShare> rows{mpc::ArithShare::Zero(2, kCountedFeatures + 3)};
  for (const Index classes : {1, 2, 3})
    EXPECT_THROW((void)CountsOfDeposited(kCountedFeatures, classes, rows), ContractError);
  rows[0] = mpc::ArithShare::Zero(2, kCountedFeatures + 4);
  EXPECT_EQ(CountsOfDeposited(kCountedFeatures, 3, rows).rows(), 3);
}

}  // namespace
}  // namespace trefoil::ml
