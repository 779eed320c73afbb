// Which pseudo-random streams the protocols draw, and that nothing of them is used twice
// (tests/support/secrecy/prg_tracker.h, tests/support/secrecy/stream_rules.h). Besides, any test of this
// program that uses a block of a key stream twice fails.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <openssl/evp.h>

#include <thread>

#include "all_protocols.h"
#include "mpc/dealing/preprocessing.h"
#include "mpc/parallel.h"
#include "protocols/arithmetic/input_ahead.h"
#include "tests/support/protocol_test.h"
#include "tests/support/secrecy/stream_rules.h"

namespace trefoil::protocols {
namespace {

using mpc::Context;
using mpc::OperationId;
using mpc::Purpose;
using mpc::RingMatrix;
using mpc::Word;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;
using namespace testing_support;  // NOLINT(google-build-using-namespace): test helpers only

constexpr Seed kStreamsSeed{9};

using Draws = std::array<std::vector<StreamDraw>, 3>;

Draws Take(std::array<DrawLog, 3>& logs) { return {logs[0].Take(), logs[1].Take(), logs[2].Take()}; }

template <typename Body>
Draws DrawsOf(Body body) {
  std::array<DrawLog, 3> logs;
  (void)RunPartiesOver(net::MakeLocalTransports(std::chrono::seconds(60)), LoggedPrss(kStreamsSeed, logs),
                       [&](Context& party) {
                         body(party);
                         return true;
                       });
  return Take(logs);
}

// Branches take their numbers apart; this is what a program would get that did not.
TEST(StreamViolations, FindTwoBranchesWithTheSameNumbers) {
  const auto product = [](Context& branch) { (void)branch.DrawZero(branch.NextOperation(), 2, 1); };
  EXPECT_THAT(StreamViolations(kStreamsSeed,
                               DrawsOf([&](Context& party) { mpc::RunBeside(party, product, product); })),
              IsEmpty());

  const auto same_number = [](Context& branch) { (void)branch.DrawZero(77, 2, 1); };
  EXPECT_THAT(StreamViolations(kStreamsSeed, DrawsOf([&](Context& party) {
                                 mpc::RunBeside(party, same_number, same_number);
                               })),
              SizeIs(6));
  EXPECT_THAT(TakeOverlaps(), SizeIs(6));
}

class StreamsTest : public testing::TestWithParam<ProtocolCase> {};

// Three times in one session, so that each role falls to each party.
TEST_P(StreamsTest, EveryMaskComesFromTheRightStreamOnce) {
  const Draws draws = DrawsOf([](Context& party) {
    for (int turn = 0; turn < 3; ++turn) (void)GetParam().run(party, 5, GetParam().extremes[1]);
  });
  EXPECT_THAT(StreamViolations(kStreamsSeed, draws), IsEmpty());
}

INSTANTIATE_TEST_SUITE_P(All, StreamsTest, testing::ValuesIn(AllProtocols()),
                         [](const auto& info) { return CaseName(info.param); });

TEST(Streams, AreRightInASessionOfAllProtocols) {
  const Draws draws = DrawsOf([](Context& party) {
    for (const ProtocolCase& protocol : AllProtocols()) {
      for (int turn = 0; turn < 3; ++turn) (void)protocol.run(party, 2, protocol.extremes[1]);
    }
  });
  for (const auto& of_party : draws) EXPECT_GT(of_party.size(), 100U);
  EXPECT_THAT(StreamViolations(kStreamsSeed, draws), IsEmpty());
}

// A stream is drawn piece by piece, by the program and by the thread that deals ahead.
TEST(Streams, AreRightOfRowsThatStayPacked) {
  constexpr std::array<Shape, 3> kRows{Shape{70, 5}, Shape{0, 5}, Shape{193, 5}};
  constexpr std::array<mpc::Index, 2> kOthers{1, 1};
  const auto draws_of = [&](std::int64_t ahead) {
    return DrawsOf([&](Context& party) {
      const auto make = [](mpc::Index, mpc::Index count) -> RingMatrix {
        return RingMatrix::Constant(count, 5, 7);
      };
      InputAhead inputs(make, kRows, {.columns = 3, .width = 40});
      mpc::Preprocessing runs(party, {.runs = 4, .ahead = ahead, .rotate = true});
      for (int run = 0; run < 4; ++run)
        runs.Run([&](Context& context) { (void)inputs.NextStacked(context, kOthers); });
    });
  };
  for (const std::int64_t ahead : {0, 3}) {
    const Draws draws = draws_of(ahead);
    for (const auto& of_party : draws) EXPECT_THAT(of_party, Not(IsEmpty()));
    EXPECT_THAT(StreamViolations(kStreamsSeed, draws), IsEmpty()) << ahead << " ahead";
  }
}

TEST(Streams, AreWhatTheContextDraws) {
  RingMatrix drawn;
  const Draws draws = DrawsOf([&](Context& party) {
    if (party.self() == 1) drawn = party.Draw(2, Purpose::kDeal, 0x123456789, 5, 3);
  });
  ASSERT_THAT(draws[1], SizeIs(1));
  EXPECT_THAT(draws[0], IsEmpty());
  EXPECT_EQ(draws[1][0].purpose(), Purpose::kDeal);
  EXPECT_EQ(draws[1][0].operation(), 0x123456789U);
  const std::vector<Word> words = WordsOf(draws[1][0]);
  EXPECT_TRUE(std::equal(words.begin(), words.end(), drawn.data(), drawn.data() + drawn.size()));
}

/// The streams of a masked opening, from the components that a broken one might take.
struct Taken {
  int mask_a = 0;  ///< component of A's half, and so on
  int mask_b = 2;
  int deal = 0;
  int reshare_a = 0;
  int reshare_b = 2;
  int zero = 3;  ///< how many components of a sharing of zero
};

/// With A = P0, B = P1, D = P2: every holder of a component draws what the opening takes from it.
Draws DrawTaken(const Taken& taken, mpc::Index rows_at_last_party = 4) {
  return DrawsOf([&](Context& party) {
    const OperationId operation = party.NextOperation();
    const mpc::Index rows = party.self() == 2 ? rows_at_last_party : 4;
    const auto draw = [&](int component, Purpose purpose) {
      if (component == party.self() || component == party.next())
        (void)party.Draw(component, purpose, operation, rows, 1);
    };
    draw(taken.mask_a, Purpose::kMask);
    draw(taken.mask_b, Purpose::kMask);
    draw(taken.deal, Purpose::kDeal);
    draw(taken.reshare_a, Purpose::kReshare);
    draw(taken.reshare_b, Purpose::kReshare);
    for (int component = 0; component < taken.zero; ++component) draw(component, Purpose::kZero);
  });
}

TEST(StreamViolations, AcceptARightMaskedOpening) {
  EXPECT_THAT(StreamViolations(kStreamsSeed, DrawTaken({})), IsEmpty());
}

TEST(StreamViolations, FindMasksFromAComponentThatBothOpenersHold) {
  EXPECT_THAT(StreamViolations(kStreamsSeed, DrawTaken({.mask_a = 1})), Not(IsEmpty()));
  EXPECT_THAT(StreamViolations(kStreamsSeed, DrawTaken({.mask_b = 1})), Not(IsEmpty()));
  EXPECT_THAT(StreamViolations(kStreamsSeed, DrawTaken({.deal = 1})), SizeIs(1));
  EXPECT_THAT(StreamViolations(kStreamsSeed, DrawTaken({.deal = 2})), SizeIs(1));
  EXPECT_THAT(StreamViolations(kStreamsSeed, DrawTaken({.reshare_a = 1})), SizeIs(1));
}

TEST(StreamViolations, FindAnIncompleteSharingOfZero) {
  EXPECT_THAT(StreamViolations(kStreamsSeed, DrawTaken({.zero = 2})), SizeIs(1));
}

TEST(StreamViolations, FindHoldersThatDrawDifferentLengths) {
  EXPECT_THAT(StreamViolations(kStreamsSeed, DrawTaken({}, 5)), Not(IsEmpty()));
}

TEST(StreamViolations, FindAStreamThatOneHolderDoesNotDraw) {
  const Draws draws = DrawsOf([](Context& party) {
    if (party.self() == 0) (void)party.Draw(1, Purpose::kInput, party.NextOperation(), 2, 1);
  });
  EXPECT_THAT(StreamViolations(kStreamsSeed, draws),
              ElementsAre(HasSubstr("party 1 drew component 1 for purpose 1 0 times")));
}

TEST(StreamViolations, FindAStreamThatIsDrawnTwice) {
  const Draws draws = DrawsOf([](Context& party) {
    const OperationId operation = party.NextOperation();
    for (int time = 0; time < 2; ++time) (void)party.DrawZero(operation, 2, 1);
  });
  EXPECT_THAT(StreamViolations(kStreamsSeed, draws), SizeIs(6));
  EXPECT_THAT(TakeOverlaps(), SizeIs(6));
}

/// Draws `words` words of a stream, as cipher calls would.
void Draw(mpc::Prss& prss, OperationId operation, std::size_t words) {
  std::vector<Word> out(words);
  prss.Fill(0, Purpose::kZero, operation, out);
}

TEST(Tracker, FindsABlockThatIsUsedTwiceByOneCipher) {
  mpc::Prss prss = InsecurePrss(kStreamsSeed, 0);
  Draw(prss, 7, 1);
  Draw(prss, 8, 1000);
  EXPECT_THAT(TakeOverlaps(), IsEmpty());

  Draw(prss, 7, 2);
  EXPECT_THAT(TakeOverlaps(), ElementsAre(HasSubstr("purpose 2 of operation 7")));
}

TEST(Tracker, FindsABlockThatIsUsedTwiceByTwoCiphersOfAParty) {
  mpc::Prss first = InsecurePrss(kStreamsSeed, 0);
  mpc::Prss second = InsecurePrss(kStreamsSeed, 0);
  Draw(first, 7, 4);
  Draw(second, 7, 2);
  EXPECT_THAT(TakeOverlaps(), SizeIs(1));
}

TEST(Tracker, FindsABlockThatIsUsedTwiceInBranchesOfBranches) {
  mpc::Prss prss = InsecurePrss(kStreamsSeed, 0);
  std::thread branch([&] {
    mpc::Prss twin = prss.Twin();
    std::thread leaf([&] {
      mpc::Prss twin_of_twin = twin.Twin();
      Draw(twin_of_twin, 7, 2);
    });
    leaf.join();
    Draw(twin, 8, 2);
  });
  branch.join();
  EXPECT_THAT(TakeOverlaps(), IsEmpty());
  Draw(prss, 7, 4);
  EXPECT_THAT(TakeOverlaps(), SizeIs(1));
}

TEST(Tracker, AllowsTheTwoHoldersTheSameStream) {
  mpc::Prss own = InsecurePrss(kStreamsSeed, 0);
  Draw(own, 7, 4);
  std::thread peer([&] {
    mpc::Prss theirs = InsecurePrss(kStreamsSeed, 2);
    Draw(theirs, 7, 4);
  });
  peer.join();
  EXPECT_THAT(TakeOverlaps(), IsEmpty());
}

/// Uses blocks [first, first + blocks) of a key as they stand in counter mode.
void UseBlocks(EVP_CIPHER_CTX* context, unsigned char first, int blocks) {
  CounterBlock block{};
  block.back() = first;
  std::vector<unsigned char> data(static_cast<std::size_t>(16 * blocks));
  int written = 0;
  ASSERT_EQ(EVP_EncryptInit_ex(context, nullptr, nullptr, nullptr, block.data()), 1);
  ASSERT_EQ(EVP_EncryptUpdate(context, data.data(), &written, data.data(), 16 * blocks), 1);
}

TEST(Tracker, FindsRangesThatOverlapInPart) {
  EVP_CIPHER_CTX* context = EVP_CIPHER_CTX_new();
  const CipherKey key{1, 2, 3};
  ASSERT_EQ(EVP_EncryptInit_ex(context, EVP_aes_128_ctr(), nullptr, key.data(), nullptr), 1);
  UseBlocks(context, 10, 5);
  UseBlocks(context, 15, 5);
  UseBlocks(context, 5, 5);
  EXPECT_THAT(TakeOverlaps(), IsEmpty());

  UseBlocks(context, 19, 5);
  EXPECT_THAT(TakeOverlaps(), SizeIs(1));
  UseBlocks(context, 1, 5);
  EXPECT_THAT(TakeOverlaps(), SizeIs(1));
  UseBlocks(context, 0, 60);
  EXPECT_THAT(TakeOverlaps(), SizeIs(1));
  EVP_CIPHER_CTX_free(context);
}

}  // namespace
}  // namespace trefoil::protocols
