#include "mpc/simd/plane_builder.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "tests/support/protocol_test.h"

namespace trefoil::mpc {
namespace {

BoolShare SomeShare(std::uint64_t seed, int planes, Index count) {
  return {ToPlanes(testing_support::RandomWords(seed, count, 1), planes),
          ToPlanes(testing_support::RandomWords(seed + 1, count, 1), planes)};
}

TEST(PickPlanes, TakesThemInTheOrderGivenAlsoTwice) {
  const BoolShare x = SomeShare(1, 5, 70);
  const BoolShare picked = PickPlanes(x, {4, 0, 4});
  ASSERT_EQ(picked.planes(), 3);
  for (const auto& [to, from] : {std::pair<Index, Index>{0, 4}, {1, 0}, {2, 4}}) {
    EXPECT_TRUE((picked.own().words().row(to) == x.own().words().row(from)).all());
    EXPECT_TRUE((picked.next().words().row(to) == x.next().words().row(from)).all());
  }
  EXPECT_EQ(PickPlanes(x, {}).planes(), 0);
}

TEST(WithPlanes, TakesItsValuesFromAPlaneOn) {
  const BoolShare x = SomeShare(1, 4, 70);
  const BoolShare values = SomeShare(9, 3, 70);
  const BoolShare y = WithPlanes(x, {3, 0}, values, 1);
  EXPECT_TRUE((y.own().words().row(3) == values.own().words().row(1)).all());
  EXPECT_TRUE((y.next().words().row(0) == values.next().words().row(2)).all());
}

TEST(WithPlanes, ReplacesThoseAndLeavesTheOthers) {
  const BoolShare x = SomeShare(1, 4, 70);
  const BoolShare values = SomeShare(9, 2, 70);
  const BoolShare y = WithPlanes(x, {3, 1}, values);
  EXPECT_TRUE((y.own().words().row(3) == values.own().words().row(0)).all());
  EXPECT_TRUE((y.next().words().row(1) == values.next().words().row(1)).all());
  EXPECT_TRUE((y.own().words().row(0) == x.own().words().row(0)).all());
  EXPECT_TRUE((y.next().words().row(2) == x.next().words().row(2)).all());
}

TEST(WithPlanesAdded, AddsBitByBit) {
  const BoolShare x = SomeShare(1, 4, 70);
  const BoolShare values = SomeShare(9, 3, 70);
  const BoolShare y = WithPlanesAdded(x, {3, 0}, values, 1);
  const BoolShare sum = PickPlanes(x, {3, 0}) ^ Planes(values, 1, 2);
  EXPECT_TRUE((y.own().words().row(3) == sum.own().words().row(0)).all());
  EXPECT_TRUE((y.next().words().row(0) == sum.next().words().row(1)).all());
  EXPECT_TRUE((y.own().words().row(2) == x.own().words().row(2)).all());
}

TEST(WithPlanes, RefusesShapesThatDiffer) {
  const BoolShare x = SomeShare(1, 4, 70);
  EXPECT_THROW((void)WithPlanes(x, {0, 1, 2}, SomeShare(9, 2, 70)), ContractError);
  EXPECT_THROW((void)WithPlanes(x, {0, 1}, SomeShare(9, 2, 70), 1), ContractError);
  EXPECT_THROW((void)WithPlanes(x, {0, 1}, SomeShare(9, 2, 69)), ContractError);
}

}  // namespace
}  // namespace trefoil::mpc
