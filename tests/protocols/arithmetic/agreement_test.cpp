#include "protocols/arithmetic/agreement.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <string>
#include <thread>

#include "base/error.h"
#include "mpc/prss.h"
#include "tests/support/protocol_test.h"

namespace trefoil::protocols {
namespace {

using namespace testing_support;  // NOLINT(google-build-using-namespace): test helpers only
using Bytes32 = std::array<std::uint8_t, SecretKey::kBytes>;

TEST(RequireSameEverywhere, PassesOnTheSameTextAtItsDeclaredCost) {
  const auto measured = RunParties(Seed{1}, [](mpc::Context& party) {
    return Measure(party, [&] { RequireSameEverywhere(party, "sigma = 1.5", "constants"); });
  });
  EXPECT_EQ(Figures(measured), (CostFigures{.rounds = 1, .bytes_sent = {64, 64, 64}, .bytes_offline = {}}));
  EXPECT_EQ(Figures(measured), Figures(RequireSameEverywhereCost()));
}

class RequireSameEverywhereTest : public testing::TestWithParam<int> {};

TEST_P(RequireSameEverywhereTest, NamesThePartyThatDiffers) {
  const int odd = GetParam();
  const auto texts = RunParties(Seed{1}, [odd](mpc::Context& party) {
    try {
      RequireSameEverywhere(party, party.self() == odd ? "sigma = 1.6" : "sigma = 1.5", "constants");
    } catch (const ConfigError& error) {
      return std::string(error.what());
    }
    return std::string("passed");
  });
  for (int self = 0; self < net::kParties; ++self) {
    const std::string& text = texts[static_cast<std::size_t>(self)];
    EXPECT_NE(text.find("constants"), std::string::npos) << text;
    EXPECT_EQ(text.find("sigma"), std::string::npos) << "the text itself must not be shown: " << text;
    if (self != odd) {
      EXPECT_NE(text.find("party " + std::to_string(odd)), std::string::npos) << text;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Parties, RequireSameEverywhereTest, testing::Values(0, 1, 2));

TEST(RefuseTogether, EndsNobodyBeforeAllHaveCome) {
  std::atomic<int> arrived = 0;
  const auto seen = RunParties(Seed{1}, [&](mpc::Context& party) {
    if (party.self() == 2) std::this_thread::sleep_for(std::chrono::milliseconds(50));
    ++arrived;
    try {
      RefuseTogether(party, ConfigError("the cause"));
    } catch (const ConfigError&) {
      return arrived.load();
    }
  });
  EXPECT_EQ(seen, (std::array{3, 3, 3}));
}

TEST(RefuseTogether, SaysItsCauseAlsoWhereAPeerIsLost) {
  const auto texts = RunParties(Seed{1}, [](mpc::Context& party) {
    if (party.self() == 2) {
      party.transport().Abort({});
      return std::string("gone");
    }
    try {
      RefuseTogether(party, ConfigError("the cause"));
    } catch (const ConfigError& error) {
      return std::string(error.what());
    }
  });
  EXPECT_EQ(texts, (std::array<std::string, 3>{"the cause", "the cause", "gone"}));
}

TEST(RefuseTogether, SaysItsCauseAlsoWhereAPeerHasRefusedAlready) {
  const auto texts = RunParties(Seed{1}, [](mpc::Context& party) {
    if (party.self() == 2) {
      party.transport().Abort({.code = net::AbortCode::kBudget});
      return std::string("refused");
    }
    try {
      RefuseTogether(party, BudgetError("the cause"));
    } catch (const BudgetError& error) {
      return std::string(error.what());
    }
  });
  EXPECT_EQ(texts, (std::array<std::string, 3>{"the cause", "the cause", "refused"}));
}

TEST(ExchangeTexts, GivesEverybodyAllTextsAtItsDeclaredCost) {
  const std::array<std::string, 3> texts{"first", "", "of the third party"};
  const auto results = RunParties(Seed{1}, [&](mpc::Context& party) {
    std::array<std::string, 3> got;
    const auto measured = Measure(
        party, [&] { got = ExchangeTexts(party, texts[static_cast<std::size_t>(party.self())], 18); });
    return std::pair{got, measured};
  });
  for (const auto& result : results) EXPECT_EQ(result.first, texts);
  const std::array measured{results[0].second, results[1].second, results[2].second};
  EXPECT_EQ(Figures(measured), Figures(ExchangeTextsCost({5, 0, 18})));
  EXPECT_EQ(Figures(measured), (CostFigures{.rounds = 1, .bytes_sent = {26, 16, 52}, .bytes_offline = {}}));
}

TEST(ExchangeTexts, TakesNoLongerTextThanTheLimit) {
  const auto exchange = [](const std::string& of_party_1) {
    (void)RunParties(Seed{1}, [&](mpc::Context& party) {
      return ExchangeTexts(party, party.self() == 1 ? of_party_1 : "", party.self() == 1 ? 100 : 4);
    });
  };
  EXPECT_NO_THROW(exchange("1234"));
  EXPECT_THROW(exchange("12345"), ProtocolError);
  EXPECT_THROW(RunParties(Seed{1}, [](mpc::Context& party) { return ExchangeTexts(party, "12345", 4); }),
               ContractError);
}

std::array<Bytes32, 3> RunJointSeed() {
  return RunParties(Seed{1}, [](mpc::Context& party) {
    const SecretKey seed = JointSeed(party);
    Bytes32 bytes{};
    std::copy_n(seed.bytes().begin(), bytes.size(), bytes.begin());
    return bytes;
  });
}

TEST(JointSeed, IsTheSameAtAllPartiesAndNewEachTime) {
  const auto first = RunJointSeed();
  const auto second = RunJointSeed();
  EXPECT_EQ(first[0], first[1]);
  EXPECT_EQ(first[1], first[2]);
  EXPECT_NE(first[0], second[0]);
}

TEST(JointSeed, CostsOneRoundOf64BytesAParty) {
  const auto measured = RunParties(
      Seed{1}, [](mpc::Context& party) { return Measure(party, [&] { (void)JointSeed(party); }); });
  EXPECT_EQ(Figures(measured), (CostFigures{.rounds = 1, .bytes_sent = {64, 64, 64}, .bytes_offline = {}}));
  EXPECT_EQ(Figures(measured), Figures(JointSeedCost()));
}

TEST(AgreeOnKeys, HasItsDeclaredCost) {
  const auto measured = RunParties(Seed{1}, [](mpc::Context& party) {
    return Measure(party, [&] { (void)mpc::AgreeOnKeys(party.transport(), "ab"); });
  });
  EXPECT_EQ(Figures(measured), Figures(AgreeOnKeysCost()));
}

}  // namespace
}  // namespace trefoil::protocols
