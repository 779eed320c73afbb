#include "protocols/arithmetic/masked_opening.h"

#include <algorithm>
#include <array>

#include "base/error.h"
#include "tests/protocols/all_protocols.h"
#include "tests/support/protocol_test.h"
#include "tests/support/secrecy/recording_transport.h"

namespace trefoil::protocols {
namespace {

using mpc::BitMatrix;
using mpc::Index;
using mpc::RingMatrix;
using mpc::Word;
using namespace testing_support;  // NOLINT(google-build-using-namespace): test helpers only

constexpr Index kOpenedRows = 37;
constexpr Index kCols = 3;

/// What a step gave to each role.
template <typename Value>
struct ByRole {
  Value a;
  Value b;
  Value dealer;
  std::array<std::size_t, 3> received{};  ///< messages, by A, B, D
};

/// Runs step(party, opening) with A = P_turn and sorts what it returned by role.
template <typename Step>
auto RunWithTurn(int turn, Step step) {
  std::array<Transcript, 3> transcripts;
  auto values = RunPartiesOver(MakeRecordingTransports(transcripts), Seed{3}, [&](mpc::Context& party) {
    for (int k = 0; k < turn; ++k) (void)party.NextRoles();
    MaskedOpening opening(party);
    EXPECT_EQ(opening.roles().a, turn);
    EXPECT_EQ(opening.first(), party.self() == turn);
    EXPECT_EQ(opening.dealer(), party.self() == (turn + 2) % 3);
    return step(party, opening);
  });
  const auto a = static_cast<std::size_t>(turn);
  const std::size_t b = (a + 1) % 3;
  const std::size_t dealer = (a + 2) % 3;
  return ByRole<typename decltype(values)::value_type>{
      values[a],
      values[b],
      values[dealer],
      {CountReceived(transcripts[a]), CountReceived(transcripts[b]), CountReceived(transcripts[dealer])}};
}

class MaskedOpeningTest : public testing::TestWithParam<int> {};

/// A mask and what was opened with it.
using MaskAndOpened = std::pair<RingMatrix, RingMatrix>;

void ExpectOpened(const ByRole<MaskAndOpened>& roles, const RingMatrix& x, Word offset, int bits) {
  const Word low = bits == 64 ? ~Word{0} : (Word{1} << bits) - 1;
  const auto low_bits = [low](const RingMatrix& words) {
    return RingMatrix(words.unaryExpr([low](Word word) { return word & low; }));
  };
  const RingMatrix expected = low_bits(x + offset + roles.a.first + roles.b.first);
  EXPECT_TRUE((low_bits(roles.a.second) == expected).all());
  EXPECT_TRUE((low_bits(roles.b.second) == expected).all());
  EXPECT_EQ(roles.dealer.first.size(), 0);
  EXPECT_EQ(roles.dealer.second.size(), 0);
  EXPECT_EQ(roles.received[2], 0U) << "the dealer must not receive anything";
}

TEST_P(MaskedOpeningTest, GivesTheDealerTheSumOfTheMaskHalvesWhereItDeals) {
  const auto words = RunWithTurn(GetParam(), [](mpc::Context&, MaskedOpening& opening) {
    RingMatrix mask = opening.DrawMask(kOpenedRows, kCols);
    (void)opening.Deal(1, 1, [&mask](const mpc::Dealer& dealer) {
      mask = dealer.Mask(kOpenedRows, kCols);
      return RingMatrix::Zero(1, 1);
    });
    return mask;
  });
  EXPECT_TRUE((words.a + words.b == words.dealer).all());
  EXPECT_FALSE((words.a == words.b).any());
  const auto bits = RunWithTurn(GetParam(), [](mpc::Context&, MaskedOpening& opening) {
    BitMatrix mask = opening.DrawBitMask(5, 70);
    (void)opening.Deal(1, 1, [&mask](const mpc::Dealer& dealer) {
      mask = dealer.BitMask(5, 70);
      return RingMatrix::Zero(1, 1);
    });
    if (opening.dealer()) {
      EXPECT_TRUE((opening.DrawDealersBitMask(5, 70).words() == mask.words()).all());
    }
    return mask;
  });
  EXPECT_TRUE(((bits.a ^ bits.b).words() == bits.dealer.words()).all());
}

TEST_P(MaskedOpeningTest, DealsWhatTheDealerKnows) {
  const RingMatrix values = RandomWords(1, kOpenedRows, kCols);
  for (const bool online : {false, true}) {
    const auto halves = RunWithTurn(GetParam(), [&](mpc::Context&, MaskedOpening& opening) {
      const RingMatrix known = opening.dealer() ? values : RingMatrix();
      return online ? opening.DealOnline(known, kOpenedRows, kCols)
                    : opening.Deal(kOpenedRows, kCols, [&](const mpc::Dealer&) { return values; });
    });
    EXPECT_TRUE((halves.a + halves.b == values).all());
    EXPECT_EQ(halves.dealer.size(), 0);
    EXPECT_EQ(halves.received, (std::array<std::size_t, 3>{0, 1, 0}));
  }
}

TEST_P(MaskedOpeningTest, DealsNumbersModulo2To32InHalfOfTheBytes) {
  const mpc::HalfMatrix values = RandomWords(1, kOpenedRows, kCols).cast<mpc::HalfWord>();
  const auto halves = RunWithTurn(GetParam(), [&](mpc::Context& party, MaskedOpening& opening) {
    const auto half = opening.DealHalves(kOpenedRows, kCols, [&](const mpc::Dealer&) { return values; });
    EXPECT_EQ(party.transport().counters().bytes_offline, opening.dealer() ? 4U * values.size() : 0U);
    return half;
  });
  EXPECT_TRUE((halves.a + halves.b == values).all());
}

TEST_P(MaskedOpeningTest, GivesTheDealerTheRootsOfAAndB) {
  const auto roots = RunWithTurn(GetParam(), [](mpc::Context&, MaskedOpening& opening) {
    RingMatrix drawn;
    if (!opening.dealer()) drawn = opening.DrawRoots(9);
    (void)opening.Deal(1, 1, [&drawn](const mpc::Dealer& dealer) {
      drawn = mpc::Stacked(dealer.Roots(dealer.roles().a, 9), dealer.Roots(dealer.roles().b, 9));
      return RingMatrix::Zero(1, 1);
    });
    return drawn;
  });
  EXPECT_TRUE((mpc::Stacked(roots.a, roots.b) == roots.dealer).all());
}

TEST_P(MaskedOpeningTest, DealsSharesAndTheSameWordsAtOnce) {
  const RingMatrix values = RandomWords(1, kOpenedRows, kCols);
  const RingMatrix words = RandomWords(2, 5, 1);
  const auto dealt = RunWithTurn(GetParam(), [&](mpc::Context&, MaskedOpening& opening) {
    return opening.DealBoth(kOpenedRows, kCols, 5, [&](const mpc::Dealer&) {
      return MaskedOpening::SharedAndSame{.shared = values, .same = words};
    });
  });
  EXPECT_TRUE((dealt.a.shared + dealt.b.shared == values).all());
  EXPECT_TRUE((dealt.a.same == words).all());
  EXPECT_TRUE((dealt.b.same == words).all());
  EXPECT_EQ(dealt.dealer.same.size(), 0);
  EXPECT_EQ(dealt.received, (std::array<std::size_t, 3>{1, 2, 0}));
}

TEST_P(MaskedOpeningTest, DealsTwiceWithDifferentHalves) {
  const RingMatrix values = RandomWords(1, kOpenedRows, kCols);
  const auto halves = RunWithTurn(GetParam(), [&](mpc::Context&, MaskedOpening& opening) {
    const RingMatrix known = opening.dealer() ? values : RingMatrix();
    const RingMatrix first = opening.Deal(kOpenedRows, kCols, [&](const mpc::Dealer&) { return values; });
    return std::pair{first, opening.DealOnline(known, kOpenedRows, kCols)};
  });
  EXPECT_FALSE((halves.a.first == halves.a.second).any());
}

TEST_P(MaskedOpeningTest, RefusesDealtValuesOfAnotherShape) {
  (void)RunWithTurn(GetParam(), [&](mpc::Context&, MaskedOpening& opening) {
    if (opening.dealer()) {
      const auto narrow = [](const mpc::Dealer&) { return RingMatrix::Zero(kOpenedRows, 1); };
      EXPECT_THROW((void)opening.Deal(kOpenedRows, kCols, narrow), ContractError);
      const auto few = [](const mpc::Dealer&) {
        return MaskedOpening::SharedAndSame{.shared = RingMatrix::Zero(kOpenedRows, kCols),
                                            .same = RingMatrix::Zero(2, 1)};
      };
      MaskedOpening follow_up = MaskedOpening::WithRolesOf(opening);
      EXPECT_THROW((void)follow_up.DealBoth(kOpenedRows, kCols, 3, few), ContractError);
      const auto halves = [](const mpc::Dealer&) { return mpc::HalfMatrix::Zero(1, 1); };
      EXPECT_THROW((void)MaskedOpening::WithRolesOf(opening).DealHalves(2, 1, halves), ContractError);
    }
    return 0;
  });
}

TEST_P(MaskedOpeningTest, OpensAReplicatedSharingToAAndB) {
  const RingMatrix x = RandomWords(2, kOpenedRows, kCols);
  const Word offset = Word{1} << 62;
  for (const int bits : {1, 13, 42, 63, 64}) {
    const auto roles = RunWithTurn(GetParam(), [&](mpc::Context& party, MaskedOpening& opening) {
      const RingMatrix mask = opening.DrawMask(kOpenedRows, kCols);
      return MaskAndOpened{mask,
                           opening.FinishOpen(opening.BeginOpen(InsecureDeal(party, x), offset, mask, bits))};
    });
    ExpectOpened(roles, x, offset, bits);
    EXPECT_EQ(roles.received, (std::array<std::size_t, 3>{1, 1, 0}));
  }
}

TEST_P(MaskedOpeningTest, OpensAnAdditiveSharingToAAndB) {
  const RingMatrix x = RandomWords(3, kOpenedRows, kCols);
  const Word offset = 12345;
  for (const int bits : {1, 13, 42, 63, 64}) {
    const auto roles = RunWithTurn(GetParam(), [&](mpc::Context& party, MaskedOpening& opening) {
      const RingMatrix mask = opening.DrawMask(kOpenedRows, kCols);
      const mpc::AdditiveShare additive = ToAdditive(InsecureDeal(party, x));
      return MaskAndOpened{mask, opening.FinishOpen(opening.BeginOpen(additive, offset, mask, bits))};
    });
    ExpectOpened(roles, x, offset, bits);
    EXPECT_EQ(roles.received, (std::array<std::size_t, 3>{2, 2, 0}));
  }
}

TEST_P(MaskedOpeningTest, OpensAPairsSharingToAAndB) {
  const RingMatrix of_a = RandomWords(4, kOpenedRows, kCols);
  const RingMatrix of_b = RandomWords(5, kOpenedRows, kCols);
  const auto roles = RunWithTurn(GetParam(), [&](mpc::Context&, MaskedOpening& opening) {
    const RingMatrix mask = opening.DrawMask(kOpenedRows, kCols);
    const RingMatrix half = opening.dealer() ? RingMatrix() : opening.first() ? of_a : of_b;
    return MaskAndOpened{mask, opening.FinishOpen(opening.BeginOpenPair(half, 99, mask))};
  });
  ExpectOpened(roles, of_a + of_b, 99, 64);
}

TEST_P(MaskedOpeningTest, OpensBitsToAAndB) {
  const BitMatrix bits = mpc::ToPlanes(RandomWords(6, 70, 1), 5);
  const auto roles = RunWithTurn(GetParam(), [&](mpc::Context& party, MaskedOpening& opening) {
    const BitMatrix mask = opening.DrawBitMask(5, 70);
    return std::pair{mask, opening.FinishOpen(opening.BeginOpen(InsecureDealBits(party, bits), mask))};
  });
  const BitMatrix expected = bits ^ roles.a.first ^ roles.b.first;
  EXPECT_TRUE((roles.a.second.words() == expected.words()).all());
  EXPECT_TRUE((roles.b.second.words() == expected.words()).all());
  EXPECT_EQ(roles.dealer.second.bits(), 0);
  EXPECT_EQ(roles.received, (std::array<std::size_t, 3>{1, 1, 0}));
}

TEST_P(MaskedOpeningTest, ResharesAPairsSharingToAllThree) {
  const RingMatrix of_a = RandomWords(7, kOpenedRows, kCols);
  const RingMatrix of_b = RandomWords(8, kOpenedRows, kCols);
  const auto roles = RunWithTurn(GetParam(), [&](mpc::Context& party, MaskedOpening& opening) {
    const RingMatrix half = opening.dealer() ? RingMatrix() : opening.first() ? of_a : of_b;
    const mpc::ArithShare share = opening.Reshare(half, kOpenedRows, kCols);
    EXPECT_TRUE((Reveal(party, share, ReleaseReason::kTest) == of_a + of_b).all());
    return share;
  });
  EXPECT_TRUE((roles.a.next() == roles.b.own()).all());
  EXPECT_TRUE((roles.b.next() == roles.dealer.own()).all());
  EXPECT_TRUE((roles.dealer.next() == roles.a.own()).all());
  // One for the re-sharing at A and B, one for the opening everywhere.
  EXPECT_EQ(roles.received, (std::array<std::size_t, 3>{2, 2, 1}));
}

TEST_P(MaskedOpeningTest, RefusesToReshareAnotherShapeThanAnnounced) {
  (void)RunWithTurn(GetParam(), [&](mpc::Context&, MaskedOpening& opening) {
    if (!opening.dealer()) {
      EXPECT_THROW((void)opening.Reshare(RingMatrix::Zero(kOpenedRows, 1), kOpenedRows, kCols),
                   ContractError);
    }
    return 0;
  });
}

TEST_P(MaskedOpeningTest, FollowsUpWithTheSameRolesFreshMasksAndNoTurn) {
  const auto masks = RunWithTurn(GetParam(), [&](mpc::Context& party, MaskedOpening& opening) {
    MaskedOpening follow_up = MaskedOpening::WithRolesOf(opening);
    EXPECT_EQ(follow_up.roles().a, opening.roles().a);
    EXPECT_EQ(follow_up.roles().dealer, opening.roles().dealer);
    EXPECT_EQ(MaskedOpening(party).roles().a, (opening.roles().a + 1) % 3);
    return std::pair{opening.DrawMask(kOpenedRows, kCols), follow_up.DrawMask(kOpenedRows, kCols)};
  });
  for (const auto& [first, second] : {masks.a, masks.b}) EXPECT_FALSE((first == second).any());
}

/// A step of an opening, and another form of it that draws the same stream or uses the same mask.
struct Twice {
  std::string name;
  std::function<void(mpc::Context& party, MaskedOpening& opening)> first;
  std::function<void(mpc::Context& party, MaskedOpening& opening)> again;
};

std::vector<Twice> StepsTwice() {
  const auto draw = [](mpc::Context&, MaskedOpening& opening) { (void)opening.DrawMask(kOpenedRows, kCols); };
  const auto draw_bits = [](mpc::Context&, MaskedOpening& opening) { (void)opening.DrawBitMask(5, 70); };
  const auto roots = [](mpc::Context&, MaskedOpening& opening) {
    if (!opening.dealer()) (void)opening.DrawRoots(9);
  };
  const auto deal = [](mpc::Context&, MaskedOpening& opening) {
    (void)opening.Deal(kOpenedRows, kCols,
                       [](const mpc::Dealer&) { return RingMatrix::Zero(kOpenedRows, kCols); });
  };
  const auto deal_halves = [](mpc::Context&, MaskedOpening& opening) {
    (void)opening.DealHalves(kOpenedRows, kCols,
                             [](const mpc::Dealer&) { return mpc::HalfMatrix::Zero(kOpenedRows, kCols); });
  };
  const auto deal_online = [](mpc::Context&, MaskedOpening& opening) {
    (void)opening.DealOnline(RingMatrix::Zero(kOpenedRows, kCols), kOpenedRows, kCols);
  };
  const auto open = [](mpc::Context& party, MaskedOpening& opening) {
    const mpc::ArithShare x = InsecureDeal(party, RandomWords(2, kOpenedRows, kCols));
    (void)opening.FinishOpen(opening.BeginOpen(x, 0, RingMatrix::Zero(kOpenedRows, kCols)));
  };
  const auto open_additive = [](mpc::Context& party, MaskedOpening& opening) {
    const mpc::AdditiveShare x = ToAdditive(InsecureDeal(party, RandomWords(2, kOpenedRows, kCols)));
    (void)opening.FinishOpen(opening.BeginOpen(x, 0, RingMatrix::Zero(kOpenedRows, kCols)));
  };
  const auto open_pair = [](mpc::Context&, MaskedOpening& opening) {
    const RingMatrix zero = RingMatrix::Zero(kOpenedRows, kCols);
    (void)opening.FinishOpen(opening.BeginOpenPair(zero, 0, zero));
  };
  const auto reshare = [](mpc::Context&, MaskedOpening& opening) {
    (void)opening.Reshare(opening.dealer() ? RingMatrix() : RandomWords(7, kOpenedRows, kCols), kOpenedRows,
                          kCols);
  };
  return {{"DrawMask", draw, draw},
          {"DrawBitMask", draw, draw_bits},
          {"Deal", deal, deal},
          {"DealHalves", deal, deal_halves},
          {"DealOnline", deal_online, deal_online},
          {"OpenAgain", open, open},
          {"OpenAdditiveAgain", open_additive, open_additive},
          {"OpenPairAfterOpening", open, open_pair},
          {"DrawRoots", roots, roots},
          {"Reshare", reshare, reshare}};
}

// Another time would use a stream again (the test program sees that too), or one mask for two values, of
// which A and B would learn the difference.
TEST_P(MaskedOpeningTest, TakesNoStepTwice) {
  for (const Twice& step : StepsTwice()) {
    SCOPED_TRACE(step.name);
    (void)RunWithTurn(GetParam(), [&](mpc::Context& party, MaskedOpening& opening) {
      step.first(party, opening);
      const std::uint64_t sent = party.transport().counters().messages;
      if (step.name != "DrawRoots" || !opening.dealer()) {
        EXPECT_THROW(step.again(party, opening), ContractError);
      }
      EXPECT_EQ(party.transport().counters().messages, sent);
      return 0;
    });
  }
}

TEST_P(MaskedOpeningTest, DrawsTheDealersMaskForOnlineDealingOnce) {
  (void)RunWithTurn(GetParam(), [](mpc::Context&, MaskedOpening& opening) {
    if (opening.dealer()) {
      (void)opening.DrawDealersBitMask(5, 70);
      EXPECT_THROW((void)opening.DrawDealersBitMask(5, 70), ContractError);
    }
    return 0;
  });
}

TEST_P(MaskedOpeningTest, LeavesNoStepToWhatItWasMovedFrom) {
  static_assert(!std::is_copy_constructible_v<MaskedOpening>);
  (void)RunWithTurn(GetParam(), [](mpc::Context&, MaskedOpening& opening) {
    MaskedOpening taken = std::move(opening);
    EXPECT_THROW((void)opening.DrawMask(kOpenedRows, kCols),
                 ContractError);  // NOLINT(bugprone-use-after-move)
    (void)taken.DrawMask(kOpenedRows, kCols);
    EXPECT_THROW((void)taken.DrawMask(kOpenedRows, kCols), ContractError);
    return 0;
  });
}

INSTANTIATE_TEST_SUITE_P(Rotations, MaskedOpeningTest, testing::Values(0, 1, 2),
                         [](const auto& info) { return "A_is_party_" + std::to_string(info.param); });

TEST(MaskedOpening, BooksNoMoreThanTheTimeThatDealingTook) {
  const auto measured = RunParties(Seed{8}, [](mpc::Context& party) {
    return Measure(party, [&party] {
      MaskedOpening opening(party);
      (void)opening.Deal(kOpenedRows, kCols,
                         [](const mpc::Dealer& dealer) { return dealer.Mask(kOpenedRows, kCols); });
    });
  });
  EXPECT_GT(measured[2].seconds_offline, 0);
  EXPECT_LE(measured[2].seconds_offline, measured[2].seconds);
  EXPECT_EQ(measured[0].seconds_offline, 0);
  EXPECT_EQ(measured[1].seconds_offline, 0);
}

/// Protocols that begin with a masked opening. A and B must send their part before they wait for what the
/// dealer deals: else every opening takes the dealer's latency on top of its own.
class SendingFirstTest : public testing::TestWithParam<std::string> {};

TEST_P(SendingFirstTest, AAndBSendBeforeTheyReceive) {
  const ProtocolCase& protocol = CaseNamed(GetParam());
  std::array<Transcript, 3> transcripts;
  (void)RunPartiesOver(MakeRecordingTransports(transcripts), Seed{4}, [&](mpc::Context& party) {
    (void)protocol.run(party, 70, protocol.extremes[0]);
    return true;
  });
  for (const std::size_t self : {0, 1}) {
    ASSERT_FALSE(transcripts[self].empty());
    EXPECT_FALSE(transcripts[self].front().received) << "party " << self;
  }
}

INSTANTIATE_TEST_SUITE_P(All, SendingFirstTest,
                         testing::Values("truncate", "truncate_additive", "truncate_exact", "compare_latency",
                                         "bit_to_arith", "bit_times", "sigmoid_latency",
                                         "sigmoid_of_product_latency", "look_up_by_low_bits_latency",
                                         "clip_factor_latency"),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace trefoil::protocols
