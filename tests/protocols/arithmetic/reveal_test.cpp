#include "protocols/arithmetic/reveal.h"

#include "tests/support/protocol_test.h"

namespace trefoil::protocols {
namespace {

using mpc::RingMatrix;
using namespace testing_support;  // NOLINT(google-build-using-namespace): test helpers only

TEST(Reveal, OpensToAllAtTheDeclaredCost) {
  const RingMatrix values = RandomWords(1, 6, 4);
  const auto parts = RunParties(Seed{1}, [&](mpc::Context& party) {
    const auto share = InsecureDeal(party, values);
    RingMatrix opened;
    const auto measured = Measure(party, [&] { opened = Reveal(party, share, ReleaseReason::kTest); });
    return std::pair{measured, opened};
  });
  EXPECT_EQ(Figures({parts[0].first, parts[1].first, parts[2].first}), Figures(RevealCost(24)));
  for (const auto& part : parts) EXPECT_TRUE((part.second == values).all());
}

class RevealToTest : public testing::TestWithParam<int> {};

TEST_P(RevealToTest, OpensToTheReceiverOnly) {
  const int receiver = GetParam();
  const RingMatrix values = RandomWords(2, 5, 1);
  const auto parts = RunParties(Seed{2}, [&](mpc::Context& party) {
    const auto share = InsecureDeal(party, values);
    std::optional<RingMatrix> opened;
    const auto measured =
        Measure(party, [&] { opened = RevealTo(party, receiver, share, ReleaseReason::kTest); });
    return std::pair{measured, opened};
  });
  EXPECT_EQ(Figures({parts[0].first, parts[1].first, parts[2].first}), Figures(RevealToCost(receiver, 5)));
  for (int self = 0; self < 3; ++self) {
    const auto& opened = parts[static_cast<std::size_t>(self)].second;
    ASSERT_EQ(opened.has_value(), self == receiver);
    if (opened) {
      EXPECT_TRUE((*opened == values).all());
    }
  }
}

TEST(RevealToEach, OpensToThoseNamedOnly) {
  const RingMatrix values = RandomWords(2, 5, 1);
  for (const auto& receivers : {std::vector<int>{}, {1}, {2, 0}, {0, 1, 2}}) {
    const auto parts = RunParties(Seed{2}, [&](mpc::Context& party) {
      const auto share = InsecureDeal(party, values);
      std::optional<RingMatrix> opened;
      const auto measured =
          Measure(party, [&] { opened = RevealToEach(party, receivers, share, ReleaseReason::kTest); });
      return std::pair{measured, opened};
    });
    EXPECT_EQ(Figures({parts[0].first, parts[1].first, parts[2].first}),
              Figures(RevealToEachCost(receivers, 5)));
    for (int self = 0; self < 3; ++self) {
      const auto& opened = parts[static_cast<std::size_t>(self)].second;
      ASSERT_EQ(opened.has_value(), std::count(receivers.begin(), receivers.end(), self) == 1);
      if (opened) {
        EXPECT_TRUE((*opened == values).all());
      }
    }
  }
}

TEST(HandOut, GivesEachPartyItsOwnAndTheNextComponentAndSendsNothing) {
  const RingMatrix values = RandomWords(4, 5, 2);
  const auto parts = RunParties(Seed{1}, [&](mpc::Context& party) {
    const auto share = InsecureDeal(party, values);
    std::array<RingMatrix, 2> components;
    const auto measured = Measure(party, [&] { components = HandOut(share, ReleaseReason::kTest); });
    return std::pair{measured, components};
  });
  EXPECT_EQ(Figures({parts[0].first, parts[1].first, parts[2].first}), Figures(mpc::Cost()));
  for (std::size_t self = 0; self < 3; ++self) {
    const auto& [own, next] = parts[self].second;
    EXPECT_TRUE((next == parts[(self + 1) % 3].second[0]).all());
    EXPECT_TRUE((own + next + parts[(self + 1) % 3].second[1] == values).all());
  }
}

INSTANTIATE_TEST_SUITE_P(Receivers, RevealToTest, testing::Values(0, 1, 2));

}  // namespace
}  // namespace trefoil::protocols
