#include "protocols/arithmetic/multiply.h"

#include "base/error.h"
#include "tests/support/packed.h"
#include "tests/support/protocol_test.h"

namespace trefoil::protocols {
namespace {

using mpc::ArithShare;
using mpc::RingMatrix;
using namespace testing_support;  // NOLINT(google-build-using-namespace): test helpers only

TEST(Multiply, IsExactModulo2To64AtTheDeclaredCost) {
  RingMatrix x = RandomWords(1, 20, 3);
  RingMatrix y = RandomWords(2, 20, 3);
  x(0, 0) = ~mpc::Word{0};
  y(0, 0) = ~mpc::Word{0};
  x(1, 1) = mpc::Word{1} << 63;
  const Outcome outcome = RunOn(
      Seed{1},
      [&](mpc::Context& party) {
        return std::pair{InsecureDeal(party, x), InsecureDeal(party, y)};
      },
      [](mpc::Context& party, const auto& in) { return Multiply(party, in.first, in.second); });
  EXPECT_EQ(outcome.cost, Figures(MultiplyCost(x.size())));
  EXPECT_TRUE((outcome.value == x * y).all());
}

TEST(MatMul, IsExactModulo2To64AtTheDeclaredCost) {
  const RingMatrix x = RandomWords(3, 9, 33);
  const RingMatrix y = RandomWords(4, 33, 4);
  const Outcome outcome = RunOn(
      Seed{2},
      [&](mpc::Context& party) {
        return std::pair{InsecureDeal(party, x), InsecureDeal(party, y)};
      },
      [](mpc::Context& party, const auto& in) { return MatMul(party, in.first, in.second); });
  EXPECT_EQ(outcome.cost, Figures(MatMulCost(9, 4)));
  EXPECT_TRUE((outcome.value == (x.matrix() * y.matrix()).array()).all());
}

TEST(MatMul, IsExactOnWordsOfOnes) {
  const RingMatrix x = RingMatrix::Constant(5, 33, ~mpc::Word{0});
  const RingMatrix y = RingMatrix::Constant(33, 2, ~mpc::Word{0});
  const Outcome outcome = RunOn(
      Seed{6},
      [&](mpc::Context& party) {
        return std::pair{InsecureDeal(party, x), InsecureDeal(party, y)};
      },
      [](mpc::Context& party, const auto& in) {
        return Multiply(party, MatMul(party, in.first, in.second),
                        ArithShare::Zero(5, 2) - MatMul(party, in.first, in.second));
      });
  EXPECT_TRUE((outcome.value == mpc::Word{0} - mpc::Word{33 * 33}).all());
}

TEST(LocalTransposedProduct, IsTheProductWithTheTranspose) {
  const RingMatrix x = RandomWords(5, 17, 6);
  const RingMatrix y = RandomWords(6, 17, 3);
  const Outcome outcome = RunOn(
      Seed{3},
      [&](mpc::Context& party) {
        return std::pair{InsecureDeal(party, x), InsecureDeal(party, y)};
      },
      [](mpc::Context& party, const auto& in) {
        return Reshare(party, LocalTransposedProduct(party, in.first, in.second));
      });
  EXPECT_EQ(outcome.cost, Figures(ReshareCost(6 * 3)));
  EXPECT_TRUE((outcome.value == (x.matrix().transpose() * y.matrix()).array()).all());
}

// Negative numbers; one block of rows with both components, and one of each component alone.
TEST(LocalProductsOfPackedRows, AreThoseOfWholeOnesModulo2ToTheirWidth) {
  const RingMatrix x = RandomWords(5, 17, 6);
  const RingMatrix y = RandomWords(6, 6, 3);
  const RingMatrix errors = RandomWords(7, 17, 3);
  const RingMatrix zero = RingMatrix::Zero(4, 6);
  struct In {
    ArithShare x, y, errors;
  };
  const auto products = [&](bool packed, int width) {
    return RunOn(
               Seed{3},
               [&](mpc::Context& party) {
                 return In{InsecureDeal(party, x), InsecureDeal(party, y), InsecureDeal(party, errors)};
               },
               [&](mpc::Context& party, const In& in) {
                 const ArithShare whole =
                     Stacked(Stacked(Rows(in.x, 0, 9), ArithShare(Rows(in.x, 9, 4).own(), zero)),
                             ArithShare(zero, Rows(in.x, 13, 4).next()));
                 const mpc::PackedShare blocks(
                     6, {{.rows = 9,
                          .own = Packed(whole.own().topRows(9), width),
                          .next = Packed(whole.next().topRows(9), width)},
                         {.rows = 4, .own = Packed(whole.own().middleRows(9, 4), width)},
                         {.rows = 4, .next = Packed(whole.next().bottomRows(4), width)}});
                 return Stacked(Reshare(party, packed ? LocalMatrixProduct(party, blocks, in.y)
                                                      : LocalMatrixProduct(party, whole, in.y)),
                                Reshare(party, packed ? LocalTransposedProduct(party, blocks, in.errors)
                                                      : LocalTransposedProduct(party, whole, in.errors)));
               })
        .value;
  };
  for (const int width : {32, 40})
    EXPECT_TRUE(
        (mpc::LowBits(products(true, width), width) == mpc::LowBits(products(false, width), width)).all());
}

TEST(LocalProductsOfPackedRows, RefuseInnerSizesThatDiffer) {
  (void)RunParties(Seed{3}, [](mpc::Context& party) {
    const mpc::PackedShare x = Packed(ArithShare::Zero(2, 3), 40);
    EXPECT_THROW((void)LocalMatrixProduct(party, x, ArithShare::Zero(2, 1)), ContractError);
    EXPECT_THROW((void)LocalTransposedProduct(party, x, ArithShare::Zero(3, 1)), ContractError);
    return 0;
  });
}

TEST(LocalRowInnerProducts, SumsEachRow) {
  const RingMatrix x = RandomWords(7, 5, 11);
  const RingMatrix y = RandomWords(8, 5, 11);
  const Outcome outcome = RunOn(
      Seed{4},
      [&](mpc::Context& party) {
        return std::pair{InsecureDeal(party, x), InsecureDeal(party, y)};
      },
      [](mpc::Context& party, const auto& in) {
        return Reshare(party, LocalRowInnerProducts(party, in.first, in.second));
      });
  EXPECT_TRUE((outcome.value == (x * y).rowwise().sum()).all());
}

/// What `operation` of two shared bit matrices gives each party, opened, and what it cost.
template <typename Operation>
std::array<MeasuredPart<mpc::BitMatrix>, 3> OnBits(const mpc::BitMatrix& x, const mpc::BitMatrix& y,
                                                   Operation operation) {
  return RunParties(Seed{5}, [&](mpc::Context& party) {
    const auto a = InsecureDealBits(party, x);
    const auto b = InsecureDealBits(party, y);
    MeasuredPart<mpc::BitMatrix> part;
    mpc::BoolShare z;
    part.measured = Measure(party, [&] { z = operation(party, a, b); });
    part.value = RevealBits(party, z, ReleaseReason::kTest);
    return part;
  });
}

TEST(AndSums, AddsTheProductsOfEachResultAtTheCostOfThoseAlone) {
  const mpc::BitMatrix x = mpc::ToPlanes(RandomWords(9, 77, 1), 5);
  const mpc::BitMatrix y = mpc::ToPlanes(RandomWords(10, 77, 1), 3);
  // Result 1 has three terms, one of them twice, so that they cancel; result 2 none.
  const std::vector<AndTerm> terms{{4, 0, 0}, {0, 2, 1}, {3, 1, 1}, {3, 1, 1}};
  const auto parts = OnBits(x, y, [&](mpc::Context& party, const auto& a, const auto& b) {
    EXPECT_THROW((void)AndSums(party, a, b, 1, terms), ContractError);
    return AndSums(party, a, b, 3, terms);
  });
  EXPECT_EQ(Figures(parts), Figures(AndCost(3, 77)));
  const auto product = [&](mpc::Index of_x, mpc::Index of_y) {
    return Planes(x, of_x, 1) & Planes(y, of_y, 1);
  };
  for (const auto& part : parts) {
    EXPECT_TRUE((Planes(part.value, 0, 1).words() == product(4, 0).words()).all());
    EXPECT_TRUE((Planes(part.value, 1, 1).words() == product(0, 2).words()).all());
    EXPECT_TRUE((Planes(part.value, 2, 1).words() == 0).all());
  }
}

TEST(And, IsExactAndPacksToTheBit) {
  const mpc::BitMatrix x = mpc::ToPlanes(RandomWords(9, 77, 1), 5);
  const mpc::BitMatrix y = mpc::ToPlanes(RandomWords(10, 77, 1), 5);
  const auto parts =
      OnBits(x, y, [](mpc::Context& party, const auto& a, const auto& b) { return And(party, a, b); });
  EXPECT_EQ(Figures(parts), Figures(AndCost(5, 77)));
  EXPECT_EQ(AndCost(5, 77).bytes_sent()[0], 49U);  // 385 bits
  for (const auto& part : parts) EXPECT_TRUE((part.value.words() == (x & y).words()).all());
}

}  // namespace
}  // namespace trefoil::protocols
