#include "protocols/comparison/equality.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "protocols/arithmetic/reveal.h"
#include "tests/support/protocol_test.h"

namespace trefoil::protocols {
namespace {

using namespace testing_support;  // NOLINT(google-build-using-namespace): test helpers only
using mpc::BitMatrix;
using mpc::Index;

class EqualEverywhereTest : public testing::TestWithParam<Index> {};

/// One item for every bit that can differ, at each party alone, and two where nothing does or everything.
TEST_P(EqualEverywhereTest, FindsEveryDifferenceAtItsDeclaredCost) {
  const Index planes = GetParam();
  const Index count = 3 * planes + 2;
  const BitMatrix common =
      mpc::ToPlanes(RandomWords(5, count, 1), static_cast<int>(std::min<Index>(planes, 64)));
  const auto held_by = [&](int self) {
    BitMatrix own(planes, count);
    for (Index plane = 0; plane < planes; ++plane) {
      for (Index item = 0; item < count; ++item) {
        const bool changed = item == 3 * plane + self || (item == count - 1 && self == 0);
        if (common.bit(plane % common.planes(), item) != changed) own.set(plane, item);
      }
    }
    return own;
  };

  const auto parts = RunParties(Seed{1}, [&](mpc::Context& party) {
    mpc::BoolShare equal;
    const auto measured = Measure(party, [&] { equal = EqualEverywhere(party, held_by(party.self())); });
    return std::pair{measured, RevealBits(party, equal, ReleaseReason::kTest)};
  });

  EXPECT_EQ(Figures({parts[0].first, parts[1].first, parts[2].first}),
            Figures(EqualEverywhereCost(planes, count)));
  for (const auto& [measured, equal] : parts) {
    ASSERT_EQ(equal.planes(), 1);
    for (Index item = 0; item < count; ++item) EXPECT_EQ(equal.bit(0, item), item == count - 2) << item;
  }
}

INSTANTIATE_TEST_SUITE_P(Planes, EqualEverywhereTest, testing::Values(1, 2, 3, 5, 64, 127, 128));

TEST(EqualEverywhere, NeedsAPlane) {
  const auto sent = RunParties(Seed{2}, [](mpc::Context& party) {
    EXPECT_THROW((void)EqualEverywhere(party, BitMatrix(0, 3)), ContractError);
    return party.transport().counters().messages;
  });
  EXPECT_EQ(sent, (std::array<std::uint64_t, 3>{0, 0, 0}));
}

}  // namespace
}  // namespace trefoil::protocols
