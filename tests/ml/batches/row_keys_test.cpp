#include "ml/batches/row_keys.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "protocols/arithmetic/agreement.h"
#include "protocols/arithmetic/reveal.h"
#include "protocols/comparison/equality.h"
#include "tests/support/protocol_test.h"

namespace trefoil::ml {
namespace {

using namespace testing_support;  // NOLINT(google-build-using-namespace): test helpers only
using Keys = std::vector<std::string>;

/// What each party says of the three lists.
std::array<std::string, 3> Compare(const std::array<Keys, 3>& lists) {
  return RunParties(Seed{1}, [&](mpc::Context& party) {
    try {
      RequireSameKeys(party, lists.at(static_cast<std::size_t>(party.self())));
    } catch (const DataError& error) {
      return std::string(error.what());
    }
    return std::string();
  });
}

TEST(RequireSameKeys, PassesEqualListsAtItsDeclaredCost) {
  for (const auto& keys : {Keys{}, Keys{"a"}, Keys{"anna", "bert", std::string("c\0d", 3)}}) {
    EXPECT_EQ(Compare({keys, keys, keys}), (std::array<std::string, 3>{}));
  }
  const auto measured = RunParties(Seed{2}, [](mpc::Context& party) {
    return protocols::Measure(party, [&] { RequireSameKeys(party, {"a", "b"}); });
  });
  EXPECT_EQ(Figures(measured), Figures(RequireSameKeysCost()));
}

class OtherKeysTest : public testing::TestWithParam<Keys> {};

TEST_P(OtherKeysTest, EndEveryPartyWithTheSameErrorThatNamesNoKey) {
  const Keys keys{"anna", "bert", "carl"};
  for (std::size_t odd = 0; odd < 3; ++odd) {
    std::array<Keys, 3> lists{keys, keys, keys};
    lists.at(odd) = GetParam();
    const auto texts = Compare(lists);
    EXPECT_NE(texts[0], "") << "party " << odd;
    for (const auto& text : texts) {
      EXPECT_EQ(text, texts[0]);
      for (const auto& key : lists.at(odd)) EXPECT_TRUE(key.empty() || text.find(key) == std::string::npos);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Lists, OtherKeysTest,
                         testing::Values(Keys{"anna", "bert"}, Keys{"anna", "bert", "carl", "dora"},
                                         Keys{"bert", "anna", "carl"}, Keys{"anna", "bertc", "arl"},
                                         Keys{"anna", "bert", "carm"}, Keys{"annabertcarl"}, Keys{}));

TEST(RequireSameKeys, FindsThreeDifferentLists) {
  for (const auto& text : Compare({Keys{"a"}, Keys{"b"}, Keys{"c"}})) EXPECT_NE(text, "");
}

}  // namespace
}  // namespace trefoil::ml
