// Secrecy, as far as a test can show it: for a fixed secret, what a party gets is uniform. Every run repeats
// one trivially shared secret in all elements, so whatever varies is the protocol's own randomness.
//
// Each check is a chi-square test at kFalseAlarm. There were 35,000 in version 0.2, some hundreds more with
// each protocol; while there are fewer than 200,000, a right build fails one of them for at most one choice
// of keys in 50,000 (chi-square approximation). Keys are fixed, so a run repeats.

#include <algorithm>
#include <array>
#include <boost/math/distributions/chi_squared.hpp>
#include <cstring>
#include <string>
#include <vector>

#include "all_protocols.h"
#include "protocols/arithmetic/input_ahead.h"
#include "tests/support/packed.h"
#include "tests/support/protocol_test.h"
#include "tests/support/secrecy/recording_transport.h"

namespace trefoil::protocols {
namespace {

using mpc::ArithShare;
using mpc::BitMatrix;
using mpc::BoolShare;
using mpc::Index;
using mpc::RingMatrix;
using mpc::Word;
using namespace testing_support;  // NOLINT(google-build-using-namespace): test helpers only

constexpr double kFalseAlarm = 1e-10;
constexpr std::array<Word, 3> kSecrets{1, 0x12345, Word{77} << 16};

using Symbols = std::vector<std::uint8_t>;

/// The bytes of `data` as symbols of `bits` bits.
Symbols Split(const net::Bytes& data, int bits) {
  Symbols symbols;
  for (const std::byte byte : data) {
    for (int at = 0; at < 8; at += bits) {
      symbols.push_back(
          static_cast<std::uint8_t>((std::to_integer<unsigned>(byte) >> at) & ((1U << bits) - 1)));
    }
  }
  return symbols;
}

void ExpectUniform(const Symbols& symbols, std::size_t bins, const std::string& what) {
  const double expected = static_cast<double>(symbols.size()) / static_cast<double>(bins);
  ASSERT_GE(expected, 10) << what << ": too few for the approximation";
  std::vector<double> counts(bins);
  for (const std::uint8_t symbol : symbols) ++counts[symbol];
  double statistic = 0;
  for (const double count : counts) statistic += (count - expected) * (count - expected) / expected;
  const boost::math::chi_squared law(static_cast<double>(bins - 1));
  EXPECT_LE(statistic, quantile(complement(law, kFalseAlarm))) << what << " is not uniform";
}

/// Bytes in 256 bins, or where they are too few in 16.
void ExpectUniform(const net::Bytes& data, const std::string& what) {
  if (data.size() >= 2560) {
    ExpectUniform(Split(data, 8), 256, what);
  } else {
    ExpectUniform(Split(data, 4), 16, what);
  }
}

/// Two strings of bits side by side: uniform together, hence each, and independent.
void ExpectUniformPair(const net::Bytes& first, const net::Bytes& second, const std::string& what) {
  ASSERT_EQ(first.size(), second.size());
  const int bits = 2 * first.size() >= 2560 ? 4 : 2;
  const Symbols left = Split(first, bits);
  const Symbols right = Split(second, bits);
  Symbols both;
  for (std::size_t k = 0; k < left.size(); ++k)
    both.push_back(static_cast<std::uint8_t>(left[k] << bits | right[k]));
  ExpectUniform(both, std::size_t{1} << (2 * bits), what);
}

net::Bytes ByteOf(const RingMatrix& words, int shift) {
  net::Bytes bytes;
  for (Index k = 0; k < words.size(); ++k) bytes.push_back(static_cast<std::byte>(words.data()[k] >> shift));
  return bytes;
}

/// Components 0, 1, 2 as their holders have them.
template <typename Part, typename Share>
std::array<Part, 3> Components(const std::array<Share, 3>& shares) {
  return {shares[0].own(), shares[1].own(), shares[2].own()};
}

void ExpectUniformComponents(const std::array<RingMatrix, 3>& components) {
  for (std::size_t j = 0; j < 3; ++j) {
    for (const int shift : {0, 56}) {
      const std::string what =
          (shift == 0 ? "low byte of component " : "top byte of component ") + std::to_string(j);
      ExpectUniform(ByteOf(components[j], shift), what);
      ExpectUniformPair(ByteOf(components[j], shift), ByteOf(components[(j + 1) % 3], shift),
                        what + " with the next");
    }
  }
}

void ExpectUniformComponents(const std::array<BitMatrix, 3>& components) {
  for (std::size_t j = 0; j < 3; ++j) {
    const std::string what = "bits of component " + std::to_string(j);
    ExpectUniform(Pack(components[j]), what);
    ExpectUniformPair(Pack(components[j]), Pack(components[(j + 1) % 3]), what + " with the next");
  }
}

/// What the three parties got, in outputs and in messages.
struct Observed {
  std::array<Output, 3> outputs;
  std::array<Transcript, 3> transcripts;
};

/// With A = P_turn; key j is that of seed seeds[j].
Observed RunProtocol(const ProtocolCase& protocol, int turn, const std::array<std::uint8_t, 3>& seeds) {
  const PrssMaker make_prss = [&seeds](int self) {
    const auto key = [&seeds](int component) {
      return InsecureKey(Seed{seeds[static_cast<std::size_t>(component)]}, component);
    };
    return mpc::Prss(self, key(self), key((self + 1) % 3), TestTag(Seed{1}));
  };
  Observed run;
  run.outputs = RunPartiesOver(MakeRecordingTransports(run.transcripts), make_prss, [&](mpc::Context& party) {
    for (int k = 0; k < turn; ++k) (void)party.NextRoles();
    return protocol.run(party, protocol.sample, kSecrets[static_cast<std::size_t>(turn)]);
  });
  return run;
}

constexpr std::array<std::uint8_t, 3> kRunSeeds{11, 11, 11};

/// Result number k at all parties.
std::array<ArithShare, 3> ArithAt(const Observed& run, std::size_t k) {
  return {run.outputs[0].arith[k], run.outputs[1].arith[k], run.outputs[2].arith[k]};
}
std::array<BoolShare, 3> BitsAt(const Observed& run, std::size_t k) {
  return {run.outputs[0].bits[k], run.outputs[1].bits[k], run.outputs[2].bits[k]};
}

class FreshSharingTest : public testing::TestWithParam<ProtocolCase> {};

TEST_P(FreshSharingTest, EveryComponentAndEveryPairIsUniform) {
  for (int turn = 0; turn < 3; ++turn) {
    SCOPED_TRACE("A is party " + std::to_string(turn));
    const Observed run = RunProtocol(GetParam(), turn, kRunSeeds);
    for (std::size_t k = 0; k < run.outputs[0].arith.size(); ++k) {
      ExpectUniformComponents(Components<RingMatrix>(ArithAt(run, k)));
    }
    for (std::size_t k = 0; k < run.outputs[0].bits.size(); ++k) {
      ExpectUniformComponents(Components<BitMatrix>(BitsAt(run, k)));
    }
    ASSERT_EQ(run.outputs[0].arith.size() + run.outputs[0].bits.size(), 1U);
  }
}

INSTANTIATE_TEST_SUITE_P(All, FreshSharingTest, testing::ValuesIn(FreshSharings()),
                         [](const auto& info) { return CaseName(info.param); });

/// b - a word by word.
net::Bytes Difference(const net::Bytes& a, const net::Bytes& b) {
  net::Bytes out(a.size());
  for (std::size_t at = 0; at + sizeof(Word) <= a.size(); at += sizeof(Word)) {
    Word left = 0;
    Word right = 0;
    std::memcpy(&left, &a[at], sizeof(Word));
    std::memcpy(&right, &b[at], sizeof(Word));
    const Word difference = right - left;
    std::memcpy(&out[at], &difference, sizeof(Word));
  }
  return out;
}

net::Bytes Xor(const net::Bytes& a, const net::Bytes& b) {
  net::Bytes out(a.size());
  std::transform(a.begin(), a.end(), b.begin(), out.begin(), std::bit_xor<>());
  return out;
}

/// What differs in one event between two runs, word by word and bit by bit.
struct Change {
  net::Bytes words;
  net::Bytes bits;
};

/// The sum, the difference and the exclusive or of two changes.
void ExpectUniformTogether(const Change& first, const Change& second, const std::string& what) {
  const net::Bytes minus_first = Difference(first.words, net::Bytes(first.words.size()));
  ExpectUniform(Difference(minus_first, second.words), "sum" + what);
  ExpectUniform(Difference(first.words, second.words), "difference" + what);
  ExpectUniform(Xor(first.bits, second.bits), "exclusive or" + what);
}

/// Two runs in which everything that a party knows is the same, and the key that it lacks is not: what it
/// receives must differ by something uniform, message by message, also when what it sent or received shortly
/// before is added or subtracted (an opening without its mask shows in the sum of both halves, a mask used
/// twice in a difference).
void ExpectUnrelated(const Transcript& first, const Transcript& second) {
  ASSERT_EQ(first.size(), second.size());
  constexpr std::size_t kWindow = 6;
  std::vector<Change> changes;
  for (std::size_t k = 0; k < first.size(); ++k) {
    const net::Bytes& payload = first[k].payload;
    ASSERT_EQ(payload.size(), second[k].payload.size());
    changes.push_back(
        {.words = Difference(payload, second[k].payload), .bits = Xor(payload, second[k].payload)});
    if (!first[k].received) continue;
    ExpectUniform(changes[k].bits,
                  "message " + std::to_string(k) + " from party " + std::to_string(first[k].peer));
    for (std::size_t j = k - std::min(k, kWindow); j < k; ++j) {
      if (first[j].payload.size() != payload.size()) continue;
      ExpectUniformTogether(changes[j], changes[k],
                            " of messages " + std::to_string(j) + " and " + std::to_string(k));
    }
  }
}

class ReceivedMessagesTest : public testing::TestWithParam<ProtocolCase> {};

TEST_P(ReceivedMessagesTest, AreUniformToWhomReceivesThem) {
  std::size_t messages = 0;
  for (int turn = 0; turn < 3; ++turn) {
    const Observed base = RunProtocol(GetParam(), turn, kRunSeeds);
    for (std::size_t receiver = 0; receiver < 3; ++receiver) {
      SCOPED_TRACE("A is party " + std::to_string(turn) + ", received by party " + std::to_string(receiver));
      std::array<std::uint8_t, 3> seeds = kRunSeeds;
      seeds[(receiver + 2) % 3] = 23;
      const Observed other = RunProtocol(GetParam(), turn, seeds);
      ExpectUnrelated(base.transcripts[receiver], other.transcripts[receiver]);
      messages += CountReceived(base.transcripts[receiver]);
    }
  }
  EXPECT_GT(messages, 0U);
}

INSTANTIATE_TEST_SUITE_P(All, ReceivedMessagesTest, testing::ValuesIn(ThatGiveShares()),
                         [](const auto& info) { return CaseName(info.param); });

// Components owner and owner + 1 are uniform, each by itself: the owner, who holds both, knows their sum. The
// third is zero.
class InputOfAllTest : public testing::TestWithParam<const char*> {};

TEST_P(InputOfAllTest, HidesTheInputFromTheOthers) {
  const Observed run = RunProtocol(CaseNamed(GetParam()), 1, kRunSeeds);
  for (std::size_t owner = 0; owner < 3; ++owner) {
    const auto components = Components<RingMatrix>(ArithAt(run, owner));
    for (const std::size_t j : {owner, (owner + 1) % 3}) {
      for (const int shift : {0, 56})
        ExpectUniform(ByteOf(components[j], shift), "component " + std::to_string(j));
    }
    EXPECT_TRUE((components[(owner + 2) % 3] == 0).all());
    EXPECT_TRUE((components[owner] + components[(owner + 1) % 3] == kSecrets[1]).all());
  }
}

INSTANTIATE_TEST_SUITE_P(Inputs, InputOfAllTest, testing::Values("input_each", "input_ahead"));

// Of as many rows as are made at a time and of those behind them, which do not repeat the first.
TEST(PackedInput, HidesTheInputFromTheOthers) {
  constexpr Index kColumns = 20;
  constexpr std::array<Shape, 3> kRows{Shape{70, kColumns}, Shape{128, kColumns}, Shape{193, kColumns}};
  constexpr mpc::NarrowColumns kNarrow{.columns = kColumns, .width = 40};
  const auto shares = RunParties(Seed{41}, [&](mpc::Context& party) {
    const auto make = [](Index, Index count) -> RingMatrix {
      return RingMatrix::Constant(count, kColumns, kSecrets[1]);
    };
    InputAhead inputs(make, kRows, kNarrow);
    return *inputs.NextStacked(party, {}).packed;
  });
  for (std::size_t owner = 0; owner < 3; ++owner) {
    SCOPED_TRACE("rows of " + std::to_string(owner));
    const RingMatrix drawn = Widened(shares[(owner + 1) % 3].blocks()[owner].own);
    const RingMatrix sent = Widened(shares[(owner + 2) % 3].blocks()[owner].next);
    EXPECT_TRUE((Reduced(drawn + sent, kNarrow.width) == kSecrets[1]).all());
    for (const RingMatrix& component : {drawn, sent}) {
      const Index behind = component.rows() - mpc::kRowsAtOnce;
      const Index both = std::min(behind, mpc::kRowsAtOnce);
      for (const int shift : {0, 16, 32}) {
        ExpectUniform(ByteOf(component, shift), "all rows");
        ExpectUniform(ByteOf(component.bottomRows(behind), shift), "rows behind the first");
        ExpectUniformPair(ByteOf(component.topRows(both), shift),
                          ByteOf(component.middleRows(mpc::kRowsAtOnce, both), shift), "both");
      }
    }
  }
}

TEST(InputBits, HidesTheInputFromTheOthers) {
  const Observed run = RunProtocol(CaseNamed("input_bits_of_all"), 1, kRunSeeds);
  for (std::size_t owner = 0; owner < 3; ++owner) {
    const auto components = Components<BitMatrix>(BitsAt(run, owner));
    ExpectUniform(Pack(components[owner]), "own component");
    ExpectUniform(Pack(components[(owner + 1) % 3]), "sent component");
    EXPECT_TRUE((components[(owner + 2) % 3].words() == 0).all());
  }
}

/// Words [first, first + words) of a plane, of 64 bits each but the plane's last.
BitMatrix SomeOf(const BitMatrix& plane, Index first, Index words) {
  BitMatrix out(1, std::min(64 * words, plane.count() - 64 * first));
  out.words() = plane.words().middleCols(first, words);
  return out;
}

// Bit 0 has no carry, so its sharing is what the adder was given, a third by each party: the owner's input of
// the sum of its components, and the third component of x itself. Every other bit is shared afresh.
TEST(BitDecompose, SharesAllBitsAfreshButTheLowest) {
  for (int turn = 0; turn < 3; ++turn) {
    SCOPED_TRACE("A is party " + std::to_string(turn));
    const auto a = static_cast<std::size_t>(turn);
    const Word secret = kSecrets[a];
    const auto all =
        Components<BitMatrix>(BitsAt(RunProtocol(CaseNamed("bit_decompose"), turn, kRunSeeds), 0));
    ExpectUniformComponents({Planes(all[0], 1, 19), Planes(all[1], 1, 19), Planes(all[2], 1, 19)});

    const Index third = (all[0].count() + 3 * 64 - 1) / (3 * 64);
    for (std::size_t k = 0; k < 3; ++k) {
      const std::size_t owner = (a + k) % 3;
      SCOPED_TRACE("input by party " + std::to_string(owner));
      const Index first = static_cast<Index>(k) * third;
      const Index words = std::min(third, all[0].words().cols() - first);
      const auto lowest = [&](std::size_t component) {
        return SomeOf(Planes(all.at(component % 3), 0, 1), first, words);
      };
      ExpectUniform(Pack(lowest(owner)), "the owner's mask of bit 0");
      ExpectUniform(Pack(lowest(owner + 1)), "the owner's message of bit 0");
      // Component 0 of the trivial sharing is the secret, the others are zero.
      const Word held = (owner + 2) % 3 == 0 ? secret : 0;
      const BitMatrix other = lowest(owner + 2);
      EXPECT_TRUE(
          (other.words() == mpc::ToPlanes(RingMatrix::Constant(other.count(), 1, held), 1).words()).all());
    }
  }
}

// The topmost bit has nothing above it and stays as it came.
TEST(SuffixOr, SharesAllBitsAfreshButTheTopmost) {
  const auto all = Components<BitMatrix>(BitsAt(RunProtocol(CaseNamed("suffix_or"), 0, kRunSeeds), 0));
  ExpectUniformComponents({Planes(all[0], 0, 19), Planes(all[1], 0, 19), Planes(all[2], 0, 19)});
  for (const BitMatrix& component : all) EXPECT_TRUE((Planes(component, 19, 1).words() == 0).all());
}

}  // namespace
}  // namespace trefoil::protocols
