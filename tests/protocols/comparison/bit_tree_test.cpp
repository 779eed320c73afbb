#include "protocols/comparison/bit_tree.h"

#include "base/error.h"
#include "tests/support/protocol_test.h"

namespace trefoil::protocols {
namespace {

using mpc::BitMatrix;
using mpc::Index;
using namespace testing_support;  // NOLINT(google-build-using-namespace): test helpers only

/// Runs tree(party, shared bits) at three parties; its result, opened, and its cost.
template <typename Tree>
std::pair<BitMatrix, CostFigures> RunTree(const BitMatrix& bits, Tree tree) {
  const auto parts = RunParties(Seed{1}, [&](mpc::Context& party) {
    const mpc::BoolShare shared = InsecureDealBits(party, bits);
    mpc::BoolShare result;
    MeasuredPart<BitMatrix> part;
    part.measured = Measure(party, [&] { result = tree(party, shared); });
    part.value = RevealBits(party, result, ReleaseReason::kTest);
    return part;
  });
  return {parts[0].value, Figures(parts)};
}

class PlanesTest : public testing::TestWithParam<Index> {};

/// For each plane an item that has its bit alone, and one that lacks it alone; one with no bit, and one with
/// all.
TEST_P(PlanesTest, AreAndedAndOredItemByItem) {
  const Index planes = GetParam();
  const Index items = 2 * planes + 2;
  BitMatrix bits(planes, items);
  for (Index plane = 0; plane < planes; ++plane) {
    for (Index item = 0; item < items; ++item) {
      const bool alone = item < planes;
      const bool lacking = item >= planes && item < 2 * planes;
      const bool own = plane == item % planes;
      if ((alone && own) || (lacking && !own) || item == items - 1) bits.set(plane, item);
    }
  }
  const auto [all, all_cost] = RunTree(bits, [](auto& party, const auto& x) { return AllPlanes(party, x); });
  const auto [any, any_cost] = RunTree(bits, [](auto& party, const auto& x) { return AnyPlane(party, x); });
  ASSERT_EQ(all.planes(), 1);
  ASSERT_EQ(any.planes(), 1);
  for (Index item = 0; item < items; ++item) {
    bool every = true;
    bool some = false;
    for (Index plane = 0; plane < planes; ++plane) {
      every = every && bits.bit(plane, item);
      some = some || bits.bit(plane, item);
    }
    EXPECT_EQ(all.bit(0, item), every) << item;
    EXPECT_EQ(any.bit(0, item), some) << item;
  }
  EXPECT_EQ(all_cost, Figures(AllPlanesCost(planes, items)));
  EXPECT_EQ(any_cost, Figures(AnyPlaneCost(planes, items)));
}

INSTANTIATE_TEST_SUITE_P(Planes, PlanesTest, testing::Values(1, 2, 3, 5, 64));

class AnyItemTest : public testing::TestWithParam<Index> {};

TEST_P(AnyItemTest, FindsOneBitWhereverItIsAtTheDeclaredCost) {
  const Index items = GetParam();
  const auto any = [](auto& party, const auto& x) { return AnyItem(party, x); };
  const auto [none, cost] = RunTree(BitMatrix(1, items), any);
  ASSERT_EQ(none.planes(), 1);
  ASSERT_EQ(none.count(), 1);
  EXPECT_FALSE(none.bit(0, 0));
  EXPECT_EQ(cost, Figures(AnyItemCost(items)));
  for (const Index at : {Index{0}, items / 2, items - 1}) {
    BitMatrix bits(1, items);
    bits.set(0, at);
    EXPECT_TRUE(RunTree(bits, any).first.bit(0, 0)) << at;
  }
}

INSTANTIATE_TEST_SUITE_P(Items, AnyItemTest, testing::Values(1, 2, 63, 64, 65, 130, 4096, 4097, 5000));

TEST(BitTrees, NeedSomething) {
  (void)RunParties(Seed{1}, [](mpc::Context& party) {
    const mpc::BoolShare no_planes(BitMatrix(0, 3), BitMatrix(0, 3));
    const mpc::BoolShare no_items(BitMatrix(1, 0), BitMatrix(1, 0));
    const mpc::BoolShare two_planes(BitMatrix(2, 3), BitMatrix(2, 3));
    EXPECT_THROW((void)AllPlanes(party, no_planes), ContractError);
    EXPECT_THROW((void)AnyPlane(party, no_planes), ContractError);
    EXPECT_THROW((void)AnyItem(party, no_items), ContractError);
    EXPECT_THROW((void)AnyItem(party, two_planes), ContractError);
    EXPECT_EQ(party.transport().counters().messages, 0U);
    return true;
  });
}

}  // namespace
}  // namespace trefoil::protocols
