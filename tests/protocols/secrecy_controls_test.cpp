// What the secrecy tests (secrecy_test.cpp) find: protocols that are broken on purpose, through the very same
// code. Each has a sound twin or is one step away from a sound protocol, so that it fails for the reason that
// it is named after.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "all_protocols.h"
#include "secrecy_runs.h"
#include "tests/support/protocol_test.h"
#include "tests/support/secrecy/prg_tracker.h"

namespace trefoil::protocols {
namespace {

using mpc::Context;
using mpc::Index;
using mpc::OperationId;
using mpc::Purpose;
using mpc::RingMatrix;
using mpc::Roles;
using mpc::Word;
using namespace testing_support;  // NOLINT(google-build-using-namespace): test helpers only

constexpr Index kControlLanes = 3 << 14;  // beyond those of which pairs are checked
constexpr int kControlSessions = 1000;
constexpr Seed kControlSeed{41};
constexpr Word kSecret = (Word{1} << 61) - 1;

UniformityChecker CheckLanes(const ProtocolCase& protocol) {
  UniformityChecker checker;
  for (const View& view : ViewsOfLanes(protocol, kControlSeed, kControlLanes, kSecret))
    CheckUniform(view, checker);
  return checker;
}

UniformityChecker CheckSessions(const ProtocolCase& protocol) {
  UniformityChecker checker;
  for (const View& view : ViewsOfSessions(protocol, kControlSeed, kControlSessions, kSecret))
    CheckUniform(view, checker);
  return checker;
}

/// A toy protocol without a result.
ProtocolCase Toy(const std::string& name, std::function<void(Context& party, Index n, Word x)> run) {
  ProtocolCase toy;
  toy.name = name;
  toy.run = [run = std::move(run)](Context& party, Index n, Word x) {
    run(party, n, x);
    return Output{};
  };
  return toy;
}

/// A's part of what A and B open is the secret, B's is zero.
RingMatrix Halves(const Context& party, const Roles& roles, Index n, Word x) {
  return RingMatrix::Constant(n, 1, party.self() == roles.a ? x : 0);
}

/// The stream that A or B shares with the dealer.
RingMatrix MaskHalf(Context& party, const Roles& roles, OperationId operation, Index n,
                    Purpose purpose = Purpose::kMask) {
  return party.Draw(party.self() == roles.a ? roles.a : roles.dealer, purpose, operation, n, 1);
}

/// A and B send each other `part`.
void Exchange(Context& party, const Roles& roles, const RingMatrix& part) {
  const int other = party.self() == roles.a ? roles.b : roles.a;
  party.SendWords(other, part);
  (void)party.ReceiveWords(other, part.rows(), part.cols());
}

/// Opens n secrets to A and B under the masks that `mask(party, roles, operation, n)` gives them.
template <typename MakeMask>
ProtocolCase OpeningUnder(const std::string& name, MakeMask mask) {
  return Toy(name, [mask](Context& party, Index n, Word x) {
    const Roles roles = party.NextRoles();
    const OperationId operation = party.NextOperation();
    if (party.self() == roles.dealer) return;
    const RingMatrix own_mask = mask(party, roles, operation, n);
    Exchange(party, roles, Halves(party, roles, n, x) + own_mask);
  });
}

ProtocolCase SoundOpening() {
  return OpeningUnder("SoundOpening", [](Context& party, const Roles& roles, OperationId operation, Index n) {
    return MaskHalf(party, roles, operation, n);
  });
}

ProtocolCase ConstantMask() {
  return OpeningUnder("ConstantMask", [](Context&, const Roles&, OperationId, Index n) {
    return RingMatrix(RingMatrix::Constant(n, 1, 0x123456789ABCDEF));
  });
}

/// The mask lacks its top bit.
ProtocolCase NarrowMask() {
  return OpeningUnder("NarrowMask", [](Context& party, const Roles& roles, OperationId operation, Index n) {
    return RingMatrix(
        MaskHalf(party, roles, operation, n).unaryExpr([](Word word) { return word & (~Word{0} >> 1); }));
  });
}

/// One mask for each two neighbouring lanes: every word by itself is uniform.
ProtocolCase MaskRepeatedOverLanes() {
  return OpeningUnder("MaskRepeatedOverLanes",
                      [](Context& party, const Roles& roles, OperationId operation, Index n) {
                        RingMatrix mask = MaskHalf(party, roles, operation, n);
                        for (Index lane = 1; lane < n; lane += 2) mask(lane, 0) = mask(lane - 1, 0);
                        return mask;
                      });
}

/// The masks are good over lanes, but the same in every session: they hang on no key.
ProtocolCase MaskOfAllSessions() {
  return OpeningUnder("MaskOfAllSessions", [](Context& party, const Roles&, OperationId, Index n) {
    return RandomWords(static_cast<std::uint64_t>(party.self()), n, 1);
  });
}

/// Both halves from the component that A and B share, so that each can compute the other's.
ProtocolCase MaskKnownToBoth() {
  return OpeningUnder("MaskKnownToBoth",
                      [](Context& party, const Roles& roles, OperationId operation, Index n) {
                        return party.Draw(roles.b, Purpose::kMask, operation, n, 1);
                      });
}

/// The same where only the low 20 bits are opened.
ProtocolCase LowBitsUnderAKnownMask() {
  return Toy("LowBitsUnderAKnownMask", [](Context& party, Index n, Word x) {
    const Roles roles = party.NextRoles();
    const OperationId operation = party.NextOperation();
    if (party.self() == roles.dealer) return;
    const int other = party.self() == roles.a ? roles.b : roles.a;
    const RingMatrix mask = party.Draw(roles.b, Purpose::kMask, operation, n, 1);
    party.SendBits(other, mpc::ToPlanes(Halves(party, roles, n, x) + mask, 20));
    (void)party.ReceiveBits(other, 20, n);
  });
}

/// Two openings under one mask.
ProtocolCase ReusedMask() {
  return Toy("ReusedMask", [](Context& party, Index n, Word x) {
    const Roles roles = party.NextRoles();
    const OperationId operation = party.NextOperation();
    if (party.self() == roles.dealer) return;
    const RingMatrix mask = MaskHalf(party, roles, operation, n);
    Exchange(party, roles, Halves(party, roles, n, x) + mask);
    Exchange(party, roles, Halves(party, roles, n, 3 * x) + mask);
  });
}

/// The dealer sends B the mask's top bit, less the stream that `purpose` names; A's mask is the kMask stream.
ProtocolCase DealtUnder(const std::string& name, Purpose purpose) {
  return Toy(name, [purpose](Context& party, Index n, Word x) {
    const Roles roles = party.NextRoles();
    const OperationId operation = party.NextOperation();
    if (party.self() == roles.dealer) {
      const RingMatrix half = party.Draw(roles.a, Purpose::kMask, operation, n, 1);
      const RingMatrix mask = half + party.Draw(roles.dealer, Purpose::kMask, operation, n, 1);
      // Drawn once where it is the mask's own stream, or the tracker would see it first.
      const RingMatrix under =
          purpose == Purpose::kMask ? half : party.Draw(roles.a, purpose, operation, n, 1);
      party.SendWords(roles.b, mask.unaryExpr([](Word r) { return r >> 63; }) - under);
      return;
    }
    if (party.self() == roles.b) (void)party.ReceiveWords(roles.dealer, n, 1);
    Exchange(party, roles, Halves(party, roles, n, x) + MaskHalf(party, roles, operation, n));
  });
}

/// The dealer sends B two secrets a lane modulo 2^32, less what `part` makes of the words of the stream for
/// kDeal.
ProtocolCase HalvesDealtUnder(const std::string& name,
                              const std::function<mpc::HalfWord(mpc::HalfWord)>& part) {
  return Toy(name, [part](Context& party, Index n, Word x) {
    const Roles roles = party.NextRoles();
    const OperationId operation = party.NextOperation();
    if (party.self() == roles.b) {
      (void)party.ReceiveDealtHalves(roles.dealer, 2, n);
    } else {
      const mpc::HalfMatrix of_a = party.DrawHalves(roles.a, Purpose::kDeal, operation, 2, n);
      const auto secret = static_cast<mpc::HalfWord>(x);
      const mpc::HalfMatrix rest = of_a.unaryExpr([&](mpc::HalfWord word) { return secret - part(word); });
      if (party.self() == roles.dealer)
        party.transport().Send(roles.b, mpc::ToBytes(rest), net::Phase::kOffline);
    }
  });
}

ProtocolCase SoundHalves() {
  return HalvesDealtUnder("SoundHalves", [](mpc::HalfWord word) { return word; });
}

ProtocolCase HalvesWithoutTheirTopBit() {
  return HalvesDealtUnder("HalvesWithoutTheirTopBit",
                          [](mpc::HalfWord word) { return word & (~mpc::HalfWord{0} >> 1); });
}

/// Sends what Reshare sends: `z` and what `zero(party, operation, n)` gives.
template <typename MakeZero>
ProtocolCase ResharingUnder(const std::string& name, MakeZero zero) {
  return Toy(name, [zero](Context& party, Index n, Word x) {
    const OperationId operation = party.NextOperation();
    party.SendWords(party.previous(), RingMatrix::Constant(n, 1, x) + zero(party, operation, n));
    (void)party.ReceiveWords(party.next(), n, 1);
  });
}

ProtocolCase SoundResharing() {
  return ResharingUnder("SoundResharing", [](Context& party, OperationId operation, Index n) {
    return party.DrawZero(operation, n, 1);
  });
}

ProtocolCase OmittedZeroShare() {
  return ResharingUnder("OmittedZeroShare",
                        [](Context&, OperationId, Index n) { return RingMatrix(RingMatrix::Zero(n, 1)); });
}

/// Only the stream that the receiver holds, too, and draws if `draws_both`.
ProtocolCase HalfAZeroShare(const std::string& name, bool draws_both) {
  return ResharingUnder(name, [draws_both](Context& party, OperationId operation, Index n) {
    if (draws_both) (void)party.Draw(party.next(), Purpose::kZero, operation, n, 1);
    return party.Draw(party.self(), Purpose::kZero, operation, n, 1);
  });
}

/// Two resharings with the same operation number: the same streams again.
ProtocolCase OneOperationTwice() {
  return Toy("OneOperationTwice", [](Context& party, Index n, Word x) {
    const OperationId operation = party.NextOperation();
    for (const Word z : {x, 5 * x}) {
      party.SendWords(party.previous(), RingMatrix::Constant(n, 1, z) + party.DrawZero(operation, n, 1));
      (void)party.ReceiveWords(party.next(), n, 1);
    }
  });
}

/// Two openings of bits to A and B; the second takes the first's mask if `reused`.
ProtocolCase BitOpenings(const std::string& name, bool reused) {
  return Toy(name, [reused](Context& party, Index n, Word x) {
    const Roles roles = party.NextRoles();
    const std::array<OperationId, 2> operations{party.NextOperation(), party.NextOperation()};
    if (party.self() == roles.dealer) return;
    const bool first = party.self() == roles.a;
    const int other = first ? roles.b : roles.a;
    mpc::BitMatrix mask;
    for (const std::size_t k : {0, 1}) {
      if (k == 0 || !reused)
        mask = party.DrawBits(first ? roles.a : roles.dealer, Purpose::kMask, operations[k], 3, n);
      const mpc::BitMatrix bits = mpc::ToPlanes(RingMatrix::Constant(n, 1, first ? x + k : 0), 3);
      party.SendBits(other, bits ^ mask);
      (void)party.ReceiveBits(other, 3, n);
    }
  });
}

class SoundToyTest : public testing::TestWithParam<ProtocolCase> {};

TEST_P(SoundToyTest, Passes) {
  EXPECT_THAT(CheckLanes(GetParam()).failures(), testing::IsEmpty());
  EXPECT_THAT(CheckSessions(GetParam()).failures(), testing::IsEmpty());
}

INSTANTIATE_TEST_SUITE_P(All, SoundToyTest,
                         testing::Values(SoundOpening(), SoundResharing(),
                                         BitOpenings("SoundBitOpenings", false),
                                         DealtUnder("SoundDealing", Purpose::kDeal), SoundHalves()),
                         [](const auto& info) { return CaseName(info.param); });

class BrokenToyTest : public testing::TestWithParam<ProtocolCase> {};

TEST_P(BrokenToyTest, IsFoundOverLanesAndOverSessions) {
  EXPECT_THAT(CheckLanes(GetParam()).failures(), testing::Not(testing::IsEmpty()));
  EXPECT_THAT(CheckSessions(GetParam()).failures(), testing::Not(testing::IsEmpty()));
}

INSTANTIATE_TEST_SUITE_P(All, BrokenToyTest,
                         testing::Values(ConstantMask(), NarrowMask(), MaskRepeatedOverLanes(),
                                         MaskKnownToBoth(), ReusedMask(), OmittedZeroShare(),
                                         HalfAZeroShare("HalfAZeroShare", true), LowBitsUnderAKnownMask(),
                                         BitOpenings("ReusedBitMask", true),
                                         DealtUnder("DealtUnderTheMask", Purpose::kMask),
                                         HalvesWithoutTheirTopBit()),
                         [](const auto& info) { return CaseName(info.param); });

TEST(SecrecyControls, OneOperationTwiceIsFoundAndTheTrackerSeesIt) {
  EXPECT_THAT(CheckLanes(OneOperationTwice()).failures(), testing::Not(testing::IsEmpty()));
  EXPECT_THAT(TakeOverlaps(), testing::SizeIs(6)) << "two components at each party";
  EXPECT_THAT(CheckSessions(OneOperationTwice()).failures(), testing::Not(testing::IsEmpty()));
  EXPECT_THAT(TakeOverlaps(), testing::SizeIs(6 * kControlSessions));
}

// Over sessions, a party is held against what it drew, not against what it could have drawn.
TEST(SecrecyControls, AMaskThatTheReceiverCouldDrawIsFoundOverLanes) {
  EXPECT_THAT(CheckLanes(HalfAZeroShare("KnownZeroShare", false)).failures(),
              testing::Not(testing::IsEmpty()));
}

TEST(SecrecyControls, AMaskThatHangsOnNoKeyIsFoundOverSessionsOnly) {
  EXPECT_THAT(CheckLanes(MaskOfAllSessions()).failures(), testing::IsEmpty());
  EXPECT_THAT(CheckSessions(MaskOfAllSessions()).failures(), testing::Not(testing::IsEmpty()));
}

/// Sends a number from 0 to 4 that is uniform there, shifted by `shift`.
ProtocolCase Structured(const std::function<Word(Word x)>& shift) {
  return Toy("Structured", [shift](Context& party, Index, Word x) {
    const RingMatrix own =
        party.Draw(party.next(), Purpose::kMask, party.NextOperation(), 2, 1).unaryExpr([](Word word) {
          return word % 5;
        });
    party.SendWords(party.previous(), own + shift(x));
    (void)party.ReceiveWords(party.next(), 2, 1);
  });
}

std::size_t Differences(const ProtocolCase& protocol) {
  UniformityChecker checker;
  const auto first = ViewsOfSessions(protocol, kControlSeed, kControlSessions, 0);
  const auto second = ViewsOfSessions(protocol, Seed{42}, kControlSessions, kSecret);
  for (std::size_t self = 0; self < first.size(); ++self) CheckAlike(first[self], second[self], checker);
  return checker.failures().size();
}

TEST(SecrecyControls, AMessageThatIsNotUniformMustNotDependOnTheSecret) {
  EXPECT_EQ(Differences(Structured([](Word) { return 0; })), 0U);
  EXPECT_GT(Differences(Structured([](Word x) { return x & 1; })), 0U);
}

}  // namespace
}  // namespace trefoil::protocols
