#include "protocols/comparison/dealt_dcf.h"

#include <set>

#include "base/error.h"
#include "tests/support/protocol_test.h"

namespace trefoil::protocols {
namespace {

using mpc::Index;
using mpc::RingMatrix;
using mpc::Word;
using namespace testing_support;  // NOLINT(google-build-using-namespace): test helpers only

/// Deals keys for `points` and `payloads` and evaluates each at every row of `inputs`.
Outcome DealAndEvaluate(int bits, const RingMatrix& points, const RingMatrix& payloads,
                        const RingMatrix& inputs) {
  return RunOn(
      Seed{4}, [](mpc::Context& party) { return &party; },
      [&](mpc::Context& party, mpc::Context*) {
        MaskedOpening opening(party);
        const bool dealer = opening.dealer();
        const DealtDcf keys =
            DealDcf(opening, mpc::DcfShape(bits), inputs.cols(), 0, 0, [&](const mpc::Dealer&) {
              return DcfDealing{.points = points, .payloads = payloads, .shared = {}};
            });
        const RingMatrix half = dealer ? RingMatrix() : EvaluateDcf(party.pool(), keys, inputs);
        return opening.Reshare(half, inputs.rows(), inputs.cols());
      });
}

TEST(DealDcf, GivesThePayloadBelowThePointAndZeroElsewhereAtTheDeclaredCost) {
  constexpr int kBits = 5;
  constexpr Index kValues = 1 << kBits;
  // Key j has the point j; every input is asked of every key.
  RingMatrix points(1, kValues);
  RingMatrix inputs(kValues, kValues);
  for (Index k = 0; k < kValues; ++k) {
    points(0, k) = static_cast<Word>(k);
    inputs.row(k).setConstant(static_cast<Word>(k));
  }
  const RingMatrix payloads = RandomWords(1, 1, kValues);
  const Outcome outcome = DealAndEvaluate(kBits, points, payloads, inputs);

  const std::uint64_t reshared = 8 * kValues * kValues;
  EXPECT_EQ(outcome.cost,
            Figures(Then(DealDcfCost(mpc::DcfShape(kBits), kValues), PairExchangeCost(reshared))));
  EXPECT_EQ(outcome.cost.bytes_offline[2], 2 * 8 * (3 * kBits + 1) * kValues);
  for (Index input = 0; input < kValues; ++input) {
    for (Index key = 0; key < kValues; ++key)
      ASSERT_EQ(outcome.value(input, key), input < key ? payloads(0, key) : 0) << input << " < " << key;
  }
}

// Within a session, and for the same operation of two.
TEST(DealDcf, ExpandsEachOperationsKeysUnderAHashKeyOfItsOwn) {
  std::set<mpc::HashKey> seen;
  for (const std::uint8_t seed : {std::uint8_t{4}, std::uint8_t{5}}) {
    const auto keys = RunParties(Seed{seed}, [](mpc::Context& party) {
      std::vector<mpc::HashKey> of_party;
      for (int operation = 0; operation < 3; ++operation) {
        party.RestartRoles();
        MaskedOpening opening(party);
        const DealtDcf dealt = DealDcf(opening, mpc::DcfShape(5), 2, 0, 0, [](const mpc::Dealer&) {
          return DcfDealing{
              .points = RingMatrix::Zero(1, 2), .payloads = RingMatrix::Ones(1, 2), .shared = {}};
        });
        of_party.push_back(dealt.corrections.hash_key);
      }
      return of_party;
    });
    EXPECT_EQ(keys[0], keys[1]);
    seen.insert(keys[0].begin(), keys[0].end());
  }
  EXPECT_EQ(seen.size(), 6U);
}

TEST(DealDcf, TakesInputsOf63Bits) {
  constexpr int kBits = 63;
  constexpr Word kMax = (Word{1} << kBits) - 1;
  const std::vector<Word> values{0, 1, kMax / 2, kMax - 1, kMax};
  RingMatrix points(1, 5);
  RingMatrix inputs(5, 5);
  for (Index k = 0; k < 5; ++k) {
    points(0, k) = values[static_cast<std::size_t>(k)];
    inputs.row(k).setConstant(values[static_cast<std::size_t>(k)]);
  }
  const Outcome outcome = DealAndEvaluate(kBits, points, RingMatrix::Constant(1, 5, 7), inputs);
  for (Index input = 0; input < 5; ++input) {
    for (Index key = 0; key < 5; ++key) ASSERT_EQ(outcome.value(input, key), input < key ? 7U : 0U);
  }
}

TEST(DealDcf, RefusesMoreThan63BitsBeforeSending) {
  const auto sent = RunParties(Seed{5}, [](mpc::Context& party) {
    MaskedOpening opening(party);
    const auto zeros = [](const mpc::Dealer&) {
      return DcfDealing{.points = RingMatrix::Zero(1, 1), .payloads = RingMatrix::Zero(1, 1), .shared = {}};
    };
    EXPECT_THROW((void)DealDcf(opening, mpc::DcfShape(64), 1, 0, 0, zeros), ContractError);
    EXPECT_THROW((void)DealDcf(opening, mpc::DcfShape(0), 1, 0, 0, zeros), ContractError);
    return party.transport().counters().messages;
  });
  EXPECT_EQ(sent, (std::array<std::uint64_t, 3>{0, 0, 0}));
}

}  // namespace
}  // namespace trefoil::protocols
