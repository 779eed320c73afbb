#include "protocols/arithmetic/input.h"

#include "base/error.h"
#include "tests/support/protocol_test.h"

namespace trefoil::protocols {
namespace {

using mpc::RingMatrix;
using namespace testing_support;  // NOLINT(google-build-using-namespace): test helpers only

TEST(InputEach, SharesEveryPartysValuesInOneRound) {
  const std::array<RingMatrix, 3> values{RandomWords(1, 4, 2), RingMatrix(), RandomWords(3, 5, 1)};
  const std::array<Shape, 3> shapes{Shape{4, 2}, Shape{0, 0}, Shape{5, 1}};
  const auto parts = RunParties(Seed{1}, [&](mpc::Context& party) {
    std::array<mpc::ArithShare, 3> shares;
    const auto measured = Measure(
        party, [&] { shares = InputEach(party, values[static_cast<std::size_t>(party.self())], shapes); });
    return std::pair{measured, std::array{Reveal(party, shares[0], ReleaseReason::kTest),
                                          Reveal(party, shares[2], ReleaseReason::kTest)}};
  });
  EXPECT_EQ(Figures({parts[0].first, parts[1].first, parts[2].first}), Figures(InputEachCost(shapes)));
  for (const auto& part : parts) {
    EXPECT_TRUE((part.second[0] == values[0]).all());
    EXPECT_TRUE((part.second[1] == values[2]).all());
  }
}

class InputTest : public testing::TestWithParam<int> {};

TEST_P(InputTest, SharesTheOwnersValuesAtOneWordEach) {
  const int owner = GetParam();
  const RingMatrix values = RandomWords(4, 10, 1);
  const Outcome outcome = RunArith(Seed{2}, [&](mpc::Context& party, mpc::ArithShare& result) {
    return std::function<void()>([&party, &result, &values, owner] {
      result = Input(party, owner, party.self() == owner ? values : RingMatrix(), {10, 1});
    });
  });
  EXPECT_EQ(outcome.cost, Figures(InputCost(owner, 10)));
  EXPECT_TRUE((outcome.value == values).all());
}

INSTANTIATE_TEST_SUITE_P(Owners, InputTest, testing::Values(0, 1, 2));

TEST(InputSum, AddsEveryPartysValuesInOneRound) {
  // Some that are gone over at once, and a number of them with a rest.
  for (const auto& [rows, cols] : {std::pair{3, 2}, std::pair{1024, 1}, std::pair{613, 5}}) {
    const std::array values{RandomWords(4, rows, cols), RandomWords(5, rows, cols),
                            RandomWords(6, rows, cols)};
    const std::array more{RandomWords(7, rows, cols), RandomWords(8, rows, cols), RandomWords(9, rows, cols)};
    const RingMatrix expected = values[0] + values[1] + values[2];
    const RingMatrix with_more = expected + more[0] + more[1] + more[2];
    const auto parts = RunParties(Seed{3}, [&](mpc::Context& party) {
      const auto self = static_cast<std::size_t>(party.self());
      mpc::ArithShare sum;
      mpc::ArithShare sum_with_more;
      const std::array measured{
          Measure(party, [&] { sum = InputSum(party, values.at(self)); }),
          Measure(party, [&] { sum_with_more = InputSum(party, values.at(self), more.at(self)); })};
      return std::pair{measured, std::array{Reveal(party, sum, ReleaseReason::kTest),
                                            Reveal(party, sum_with_more, ReleaseReason::kTest)}};
    });
    for (const std::size_t form : {std::size_t{0}, std::size_t{1}}) {
      EXPECT_EQ(Figures({parts[0].first.at(form), parts[1].first.at(form), parts[2].first.at(form)}),
                Figures(InputSumCost(rows * cols)));
    }
    for (const auto& part : parts) {
      EXPECT_TRUE((part.second[0] == expected).all());
      EXPECT_TRUE((part.second[1] == with_more).all());
    }
  }
}

// With masks of zeros behind the first words that are gone over at once, every word of a share would be this one.
TEST(InputSum, MasksEveryWord) {
  const RingMatrix own = RingMatrix::Constant(3'000, 1, 7);
  const auto shares = RunParties(
      Seed{3}, [&](mpc::Context& party) { return InputSum(party, own, RingMatrix::Zero(3'000, 1)); });
  for (const auto& share : shares) {
    EXPECT_FALSE((share.own() == own).any());
    EXPECT_FALSE((share.next() == own).any());
  }
}

TEST(InputSum, RefusesMoreOfAnotherShapeBeforeSending) {
  const auto sent = RunParties(Seed{3}, [](mpc::Context& party) {
    EXPECT_THROW((void)InputSum(party, RingMatrix::Zero(2, 2), RingMatrix::Zero(4, 1)), ContractError);
    return party.transport().counters().messages;
  });
  EXPECT_EQ(sent, (std::array<std::uint64_t, 3>{0, 0, 0}));
}

TEST(InputEach, RefusesValuesOfAnotherShapeBeforeSending) {
  const auto sent = RunParties(Seed{3}, [](mpc::Context& party) {
    EXPECT_THROW((void)InputEach(party, RingMatrix::Zero(2, 2), {Shape{2, 1}, Shape{2, 1}, Shape{2, 1}}),
                 ContractError);
    return party.transport().counters().messages;
  });
  EXPECT_EQ(sent, (std::array<std::uint64_t, 3>{0, 0, 0}));
}

TEST(InputBits, SharesTheOwnersBitsAtItsDeclaredCost) {
  const mpc::BitMatrix bits = mpc::ToPlanes(RandomWords(5, 70, 1), 9);
  for (const int owner : {0, 1, 2}) {
    const auto parts = RunParties(Seed{4}, [&](mpc::Context& party) {
      mpc::BoolShare shared;
      const auto measured = Measure(party, [&] {
        shared = InputBits(party, owner, party.self() == owner ? bits : mpc::BitMatrix(), 9, 70);
      });
      return std::pair{measured, RevealBits(party, shared, ReleaseReason::kTest)};
    });
    EXPECT_EQ(Figures({parts[0].first, parts[1].first, parts[2].first}),
              Figures(InputBitsCost(owner, 9, 70)));
    for (const auto& part : parts) EXPECT_TRUE((part.second.words() == bits.words()).all());
  }
}

TEST(InputEachBits, SharesEveryOwnersBitsInOneRound) {
  using Counts = std::array<mpc::Index, 3>;
  for (const Counts& counts : {Counts{70, 64, 1}, Counts{0, 130, 3}, Counts{5, 0, 0}, Counts{0, 0, 0}}) {
    std::array<mpc::BitMatrix, 3> bits;
    for (std::size_t owner = 0; owner < 3; ++owner)
      bits.at(owner) = mpc::ToPlanes(RandomWords(owner, counts.at(owner), 1), 9);
    const auto parts = RunParties(Seed{5}, [&](mpc::Context& party) {
      std::array<mpc::BoolShare, 3> shares;
      const auto measured = Measure(party, [&] {
        shares = InputEachBits(party, bits.at(static_cast<std::size_t>(party.self())), 9, counts);
      });
      return std::pair{measured, std::array{RevealBits(party, shares[0], ReleaseReason::kTest),
                                            RevealBits(party, shares[1], ReleaseReason::kTest),
                                            RevealBits(party, shares[2], ReleaseReason::kTest)}};
    });
    EXPECT_EQ(Figures({parts[0].first, parts[1].first, parts[2].first}),
              Figures(InputEachBitsCost(9, counts)));
    for (const auto& part : parts) {
      for (std::size_t owner = 0; owner < 3; ++owner)
        EXPECT_TRUE((part.second.at(owner).words() == bits.at(owner).words()).all());
    }
  }
}

}  // namespace
}  // namespace trefoil::protocols
