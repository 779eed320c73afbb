#include "protocols/arithmetic/component_check.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <set>
#include <string>

#include "base/error.h"
#include "tests/support/protocol_test.h"
#include "tests/support/secrecy/recording_transport.h"

namespace trefoil::protocols {
namespace {

using namespace testing_support;  // NOLINT(google-build-using-namespace): test helpers only
using mpc::ArithShare;
using mpc::Index;
using mpc::RingMatrix;
using mpc::Word;
using testing::Each;
using testing::HasSubstr;

constexpr Index kCheckedRows = 5;
constexpr Index kColumns = 3;
const ComparedShares kCompared{.common = "run ab", .what = "share", .remedy = "expected those of one run"};

/// Components of one model, or of another.
RingMatrix Component(int model, int component) {
  return RingMatrix::Constant(kCheckedRows, kColumns, static_cast<Word>(1000 * model + component));
}

ArithShare ShareOf(int model, int party) {
  return {Component(model, party), Component(model, (party + 1) % 3)};
}

/// What each party says; "passed" where it found nothing.
template <typename Check>
std::array<std::string, 3> Said(Check check) {
  return RunParties(Seed{1}, [&](mpc::Context& party) {
    try {
      check(party);
    } catch (const ConfigError& error) {
      return std::string(error.what());
    }
    return std::string("passed");
  });
}

std::array<std::string, 3> SaidOf(const std::array<ArithShare, 3>& shares) {
  return Said([&](mpc::Context& party) {
    RequireSharesOfOne(party, {&shares.at(static_cast<std::size_t>(party.self()))}, kCompared);
  });
}

TEST(RequireSharesOfOne, PassesOnSharesOfOneAtItsDeclaredCost) {
  const auto measured = RunParties(Seed{1}, [](mpc::Context& party) {
    const ArithShare first = ShareOf(1, party.self());
    const ArithShare second = ShareOf(2, party.self());
    return Measure(party, [&] { RequireSharesOfOne(party, {&first, &second}, kCompared); });
  });
  EXPECT_EQ(Figures(measured),
            (CostFigures{.rounds = 1, .bytes_sent = {128, 128, 128}, .bytes_offline = {}}));
  EXPECT_EQ(Figures(measured), Figures(RequireSharesOfOneCost()));
}

class OddParty : public testing::TestWithParam<int> {};

TEST_P(OddParty, ThatHoldsAShareOfAnotherModelIsNamedAtAllThree) {
  const int odd = GetParam();
  std::array<ArithShare, 3> shares;
  for (int party = 0; party < 3; ++party)
    shares.at(static_cast<std::size_t>(party)) = ShareOf(party == odd ? 2 : 1, party);
  const auto said = SaidOf(shares);
  for (int party = 0; party < 3; ++party) {
    const auto name = party == odd ? std::string("this party") : "party " + std::to_string(odd);
    EXPECT_EQ(said.at(static_cast<std::size_t>(party)),
              name + " holds a share that does not belong with the other two's: expected those of one run");
  }
}

TEST_P(OddParty, ThatNamesAnotherRunIsNamedAtAllThree) {
  const int odd = GetParam();
  const auto said = Said([&](mpc::Context& party) {
    auto compared = kCompared;
    if (party.self() == odd) compared.common = "run cd";
    const ArithShare share = ShareOf(1, party.self());
    RequireSharesOfOne(party, {&share}, compared);
  });
  for (int party = 0; party < 3; ++party) {
    const auto name = party == odd ? std::string("this party") : "party " + std::to_string(odd);
    EXPECT_THAT(said.at(static_cast<std::size_t>(party)), HasSubstr(name + " holds a share"));
  }
}

// In its own component alone, by one bit: nobody can tell which of its two holders is right.
TEST_P(OddParty, ThatDiffersInOneComponentIsNamedWithTheOtherHolder) {
  const int odd = GetParam();
  std::array<ArithShare, 3> shares{ShareOf(1, 0), ShareOf(1, 1), ShareOf(1, 2)};
  RingMatrix own = Component(1, odd);
  own(kCheckedRows - 1, kColumns - 1) ^= 1;
  shares.at(static_cast<std::size_t>(odd)) = {own, Component(1, (odd + 1) % 3)};
  const auto said = SaidOf(shares);
  const auto name = [](int party, int self) {
    return party == self ? std::string("this party") : "party " + std::to_string(party);
  };
  for (int party = 0; party < 3; ++party) {
    EXPECT_EQ(said.at(static_cast<std::size_t>(party)),
              name((odd + 2) % 3, party) + " and " + name(odd, party) +
                  " hold each a share, of which a component differs: expected those of one run");
  }
}

INSTANTIATE_TEST_SUITE_P(Parties, OddParty, testing::Values(0, 1, 2));

TEST(RequireSharesOfOne, RefusesThreeDifferentOnesAndOtherShapes) {
  EXPECT_THAT(SaidOf({ShareOf(1, 0), ShareOf(2, 1), ShareOf(3, 2)}),
              Each(HasSubstr("no two parties hold a share that belong together")));
  // As many words of the same values.
  const ArithShare wide(RingMatrix::Constant(kColumns, kCheckedRows, 1001),
                        RingMatrix::Constant(kColumns, kCheckedRows, 1002));
  EXPECT_THAT(SaidOf({ShareOf(1, 0), wide, ShareOf(1, 2)}), Each(HasSubstr("that does not belong with")));
}

TEST(RequireSharesOfOne, LooksAtEveryShare) {
  const auto said = Said([](mpc::Context& party) {
    const ArithShare weights = ShareOf(1, party.self());
    const ArithShare velocity = ShareOf(party.self() == 2 ? 3 : 2, party.self());
    RequireSharesOfOne(party, {&weights, &velocity}, kCompared);
  });
  EXPECT_EQ(said[2],
            "this party holds a share that does not belong with the other two's: expected those of one run");
}

/// The hashes that a party is sent, in a session whose keys come from these seeds, one a component.
std::set<std::string> HashesTo(std::size_t receiver, const std::array<Seed, 3>& seeds) {
  std::array<Transcript, 3> transcripts;
  const auto prss = [&](int self) {
    const auto key = [&](int component) {
      return InsecureKey(seeds.at(static_cast<std::size_t>(component)), component);
    };
    return mpc::Prss(self, key(self), key((self + 1) % 3), TestTag(Seed{1}));
  };
  (void)RunPartiesOver(MakeRecordingTransports(transcripts), prss, [&](mpc::Context& party) {
    const ArithShare share = ShareOf(1, party.self());
    RequireSharesOfOne(party, {&share}, kCompared);
    return true;
  });
  std::set<std::string> hashes;
  for (const Event& event : transcripts.at(receiver)) {
    for (std::ptrdiff_t first = 0; event.received && first < std::ssize(event.payload); first += 32)
      hashes.emplace(reinterpret_cast<const char*>(event.payload.data()) + first, 32);
  }
  return hashes;
}

// Whoever could compute the hash of the component that it lacks could test guesses of its words.
TEST(RequireSharesOfOne, HashesEachComponentUnderTheKeyThatTheThirdPartyLacks) {
  for (std::size_t receiver = 0; receiver < 3; ++receiver) {
    std::array<Seed, 3> seeds{Seed{1}, Seed{1}, Seed{1}};
    const auto before = HashesTo(receiver, seeds);
    seeds.at((receiver + 2) % 3) = Seed{2};
    const auto after = HashesTo(receiver, seeds);
    std::set<std::string> both;
    std::set_intersection(before.begin(), before.end(), after.begin(), after.end(),
                          std::inserter(both, both.begin()));
    EXPECT_EQ(before.size(), 3U);  // both holders send the same
    EXPECT_EQ(both.size(), 2U);    // of the receiver's own components
  }
}

}  // namespace
}  // namespace trefoil::protocols
