// Secrecy, as far as a test can show it: what each party receives is the same for two secrets at the edges of
// what a protocol takes. One secret fills all lanes and is shared trivially, so all that varies is the
// protocol's own randomness, and what is known to a party of its shares is a constant, whose sum with
// anything changes nothing.
//
// Over 103,680 lanes of one call, and over 1,000 sessions with fresh keys, for each of both secrets: every
// received word is uniform, and so are sums and differences of pairs of received words, and of a received
// word with the words that its receiver drew from its own PRG streams (tests/support/secrecy/view.h says
// which pairs, of how many lanes). Uniform twice is the same twice. tests/protocols/secrecy_controls_test.cpp
// shows what these tests find.
//
// False alarms: a check fails with probability at most 1e-16 (proved bound,
// tests/support/secrecy/uniformity.h), AES in counter mode taken for ideal. Every checker here makes at most
// 7e7 checks, and there are fewer than 250, one in most tests and nine in those of one opening: for at most
// one choice of keys in 500,000 does any of them fail. Keys are fixed, so a run repeats.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <set>

#include "all_protocols.h"
#include "base/error.h"
#include "mpc/dcf/dcf.h"
#include "secrecy_runs.h"
#include "tests/support/protocol_test.h"
#include "tests/support/secrecy/recording_transport.h"

namespace trefoil::protocols {
namespace {

using mpc::ArithShare;
using mpc::BitMatrix;
using mpc::Index;
using mpc::RingMatrix;
using mpc::Word;
using namespace testing_support;  // NOLINT(google-build-using-namespace): test helpers only

// The sanitizers look for something else, and have a tenth of it.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr Index kLanes = 11'520;
constexpr int kSessions = 100;
#else
constexpr Index kLanes = 103'680;
constexpr int kSessions = 1'000;
#endif
constexpr std::uint64_t kMaxChecks = 70'000'000;

/// Keys of the runs with each secret.
constexpr std::array<Seed, 2> kSeeds{Seed{31}, Seed{32}};

void ExpectNothingFound(const UniformityChecker& checker) {
  for (const std::string& failure : checker.failures()) ADD_FAILURE() << "not uniform: " << failure;
  EXPECT_GT(checker.checks(), 0U);
  EXPECT_LE(checker.checks(), kMaxChecks) << "the stated probability of a false alarm does not hold";
}

std::size_t CountReceived(const View& view) {
  return static_cast<std::size_t>(
      std::count_if(view.begin(), view.end(), [](const Sight& sight) { return sight.received; }));
}

/// For each secret and party. `views_of(seed, secret)` gives the three parties' views.
template <typename ViewsOf>
void ExpectUniformViews(const ProtocolCase& protocol, ViewsOf views_of) {
  UniformityChecker checker;
  std::size_t messages = 0;
  for (std::size_t k = 0; k < kSeeds.size(); ++k) {
    const std::array<View, 3> views = views_of(kSeeds[k], protocol.extremes[k]);
    for (std::size_t self = 0; self < views.size(); ++self) {
      SCOPED_TRACE("secret " + std::to_string(protocol.extremes[k]) + ", seen by party " +
                   std::to_string(self));
      const std::size_t failures = checker.failures().size();
      CheckUniform(views[self], checker);
      EXPECT_EQ(checker.failures().size(), failures);
      messages += CountReceived(views[self]);
    }
  }
  EXPECT_GT(messages, 0U);
  ExpectNothingFound(checker);
}

class SecrecyTest : public testing::TestWithParam<ProtocolCase> {};

TEST_P(SecrecyTest, OverTheLanesOfOneCall) {
  ExpectUniformViews(GetParam(),
                     [](Seed seed, Word secret) { return ViewsOfLanes(GetParam(), seed, kLanes, secret); });
}

TEST_P(SecrecyTest, OverSessions) {
  ExpectUniformViews(GetParam(), [](Seed seed, Word secret) {
    return ViewsOfSessions(GetParam(), seed, kSessions, secret);
  });
}

INSTANTIATE_TEST_SUITE_P(All, SecrecyTest, testing::ValuesIn(ThatGiveShares()),
                         [](const auto& info) { return CaseName(info.param); });

/// Those of a single masked opening, which the tests above see with A = P0 alone.
class SecrecyOfOneOpeningTest : public testing::TestWithParam<ProtocolCase> {};

// Whoever deals, and whichever component the secret is in: each party meets it as A, B and dealer, with and
// without the component that holds it.
TEST_P(SecrecyOfOneOpeningTest, HoldsForEveryRoleAndComponent) {
  for (int turn = 0; turn < 3; ++turn) {
    for (int component = 0; component < 3; ++component) {
      SCOPED_TRACE("A is party " + std::to_string(turn) + ", secret in component " +
                   std::to_string(component));
      const ScopedSecretComponent placed(component);
      ProtocolCase turned = GetParam();
      turned.run = [turn](mpc::Context& party, Index count, Word secret) {
        for (int k = 0; k < turn; ++k) (void)party.NextRoles();
        return GetParam().run(party, count, secret);
      };
      ExpectUniformViews(
          turned, [&](Seed seed, Word secret) { return ViewsOfLanes(turned, seed, kLanes / 10, secret); });
    }
  }
}

std::vector<ProtocolCase> OfOneOpening() {
  std::vector<ProtocolCase> cases;
  for (const char* name :
       {"truncate", "truncate_additive", "truncate_narrow", "truncate_to_narrow", "truncate_lifted",
        "truncate_exact", "bit_to_arith", "bit_times", "sigmoid_latency", "sigmoid_of_product_latency",
        "sigmoid_in_whole_words_latency", "compare_latency", "look_up_by_low_bits_latency"})
    cases.push_back(CaseNamed(name));
  return cases;
}

INSTANTIATE_TEST_SUITE_P(All, SecrecyOfOneOpeningTest, testing::ValuesIn(OfOneOpening()),
                         [](const auto& info) { return CaseName(info.param); });

/// The keys of distributed comparison functions, place by place (a key's message holds three words a level,
/// one key after the other, which the columns above mix): `first` or the second party's view, all keys being
/// for one point. Its roots stand amid the words, so that they are paired with all of them.
View ViewOfDcfKeys(bool first, Word point, Word payload, std::uint64_t seed) {
  constexpr int kBits = 8;
  const std::array<RingMatrix, 2> roots{RandomWords(seed, kLanes, 2), RandomWords(seed + 1, kLanes, 2)};
  const auto blocks = [](const RingMatrix& words) {
    std::vector<mpc::Block> out;
    for (Index k = 0; k < kLanes; ++k) out.push_back({.low = words(k, 0), .high = words(k, 1)});
    return out;
  };
  const mpc::DcfCorrections keys =
      DcfGenerate(mpc::DcfShape(kBits, {5, 2, 0}), mpc::HashKey{1}, RingMatrix::Constant(1, kLanes, point),
                  RingMatrix::Constant(1, kLanes, payload), blocks(roots[0]), blocks(roots[1]));
  View view;
  const auto add = [&view](const std::string& name, bool received, const RingMatrix& column) {
    const std::vector<Word> words(column.data(), column.data() + column.size());
    view.push_back({.name = name, .received = received, .bits = false, .samples = kLanes, .words = words});
  };
  for (int level = 0; level < kBits; ++level) {
    if (level == kBits / 2) {
      for (const Index word : {0, 1}) add("root", false, roots[first ? 0 : 1].col(word));
    }
    for (const Index word : {0, 1, 2})
      add("level " + std::to_string(level), true, keys.levels.block(level * kLanes, word, kLanes, 1));
  }
  for (const Index output : {0, 1, 2})
    add("output " + std::to_string(output), true, keys.last.middleRows(output * kLanes, kLanes));
  return view;
}

TEST(SecrecyOfDcfKeys, OverManyKeysForOnePoint) {
  UniformityChecker checker;
  for (const bool first : {true, false}) {
    CheckUniform(ViewOfDcfKeys(first, 0, 1, 51), checker);
    CheckUniform(ViewOfDcfKeys(first, 255, ~Word{0}, 53), checker);
  }
  ExpectNothingFound(checker);
}

/// Protocols whose messages are what they are by design, and have nothing to do with the secret: an agreement
/// sends one hash to all, holders of a component both send the same hash of it, under a key that is drawn for
/// it, and a public key is a point of a curve. The right statement is that both secrets give
/// the same law. (Their randomness comes from the operating system, so the runs differ; the false-alarm bound
/// is the same.)
const std::set<std::string> kIndependent{"require_same_everywhere", "joint_seed", "exchange_texts",
                                         "agree_on_keys", "require_shares_of_one"};
/// Protocols that show a value: tested below.
const std::set<std::string> kRevealing{"reveal", "reveal_to", "reveal_to_each", "reveal_to_all",
                                       "reveal_bits"};

TEST(SecrecyOfOthers, FollowsOneLawForBothSecrets) {
  std::size_t found = 0;
  for (const ProtocolCase& protocol : OtherProtocols()) {
    SCOPED_TRACE(protocol.name);
    ASSERT_EQ(kIndependent.count(protocol.name) + kRevealing.count(protocol.name), 1U)
        << "a protocol without shares needs a statement of what it may show";
    if (kIndependent.count(protocol.name) == 0) continue;
    ++found;
    UniformityChecker checker;
    const auto first = ViewsOfSessions(protocol, kSeeds[0], kSessions, protocol.extremes[0]);
    const auto second = ViewsOfSessions(protocol, kSeeds[1], kSessions, protocol.extremes[1]);
    for (std::size_t self = 0; self < first.size(); ++self) {
      EXPECT_EQ(CountReceived(first[self]), 2U);
      CheckAlike(first[self], second[self], checker);
    }
    ExpectNothingFound(checker);
  }
  EXPECT_EQ(found, kIndependent.size());
}

/// A sharing with uniform components of one value in every lane, from a fixed generator.
ArithShare RandomSharing(const mpc::Context& party, Word value) {
  const RingMatrix first = RandomWords(1, kLanes, 1);
  const RingMatrix second = RandomWords(2, kLanes, 1);
  const RingMatrix third = value - first - second;
  const std::array<const RingMatrix*, 3> components{&first, &second, &third};
  return {*components[static_cast<std::size_t>(party.self())],
          *components[static_cast<std::size_t>(party.next())]};
}

/// What is opened to a party is by design a function of the secret. The right statement is that its only
/// message is the opened value less its own components: its receiver could have computed it from the result.
TEST(SecrecyOfReveal, TheMessageIsTheValueLessTheReceiversComponents) {
  for (const Word secret : {Word{0}, (Word{1} << 61) - 1}) {
    std::array<Transcript, 3> transcripts;
    const auto shares =
        RunPartiesOver(MakeRecordingTransports(transcripts), kSeeds[0], [&](mpc::Context& party) {
          const ArithShare share = RandomSharing(party, secret);
          (void)Reveal(party, share, ReleaseReason::kTest);
          for (int receiver = 0; receiver < 3; ++receiver)
            (void)RevealTo(party, receiver, share, ReleaseReason::kTest);
          return share;
        });
    for (std::size_t self = 0; self < 3; ++self) {
      std::size_t messages = 0;
      const RingMatrix expected = secret - shares[self].own() - shares[self].next();
      for (const Event& event : transcripts[self]) {
        if (!event.received) continue;
        ++messages;
        ASSERT_EQ(event.payload.size(), sizeof(Word) * static_cast<std::size_t>(kLanes));
        EXPECT_EQ(std::memcmp(event.payload.data(), expected.data(), event.payload.size()), 0);
      }
      EXPECT_EQ(messages, 2U);
    }
  }
}

TEST(SecrecyOfRevealBits, TheMessageIsTheBitsLessTheReceiversComponents) {
  for (const Word secret : {Word{0}, Word{511}}) {
    std::array<Transcript, 3> transcripts;
    const BitMatrix bits = mpc::ToPlanes(RingMatrix::Constant(kLanes, 1, secret), 9);
    const auto shares =
        RunPartiesOver(MakeRecordingTransports(transcripts), kSeeds[0], [&](mpc::Context& party) {
          const mpc::BoolShare share = InsecureDealBits(party, bits);
          (void)RevealBits(party, share, ReleaseReason::kTest);
          return share;
        });
    for (std::size_t self = 0; self < 3; ++self) {
      const net::Bytes expected = Pack(bits ^ shares[self].own() ^ shares[self].next());
      ASSERT_EQ(CountReceived(transcripts[self]), 1U);
      for (const Event& event : transcripts[self]) {
        if (event.received) {
          EXPECT_EQ(event.payload, expected);
        }
      }
    }
  }
}

}  // namespace
}  // namespace trefoil::protocols
