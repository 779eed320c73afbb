// That the goldens' own tools repeat what is to repeat, and see what is to be seen.
#include <gtest/gtest-spi.h>
#include <gtest/gtest.h>

#include <cstring>
#include <nlohmann/json.hpp>

#include "base/secrets/random.h"
#include "tests/goldens/compare.h"
#include "tests/goldens/fixed_coins.h"
#include "tests/goldens/wire_trace.h"

namespace trefoil::goldens {
namespace {

using Json = nlohmann::ordered_json;

TEST(FixedCoins, RepeatForALabelAndAPartyAndNowhereElse) {
  const auto draw = [](const char* label, int party) {
    const FixedCoins coins(label, party);
    return RandomStream::FromSystem().NextWord();
  };
  EXPECT_EQ(draw("a", 0), draw("a", 0));
  EXPECT_NE(draw("a", 0), draw("a", 1));
  EXPECT_NE(draw("a", 0), draw("b", 0));
  (void)TakeDrawsOfOthers();
  const auto first = RandomStream::FromSystem().NextWord();
  EXPECT_NE(first, RandomStream::FromSystem().NextWord());
  EXPECT_EQ(TakeDrawsOfOthers(), 2U);
}

net::Bytes BytesOf(double number) {
  net::Bytes bytes(sizeof number);
  std::memcpy(bytes.data(), &number, sizeof number);
  return bytes;
}

TEST(LinkTrace, SeesEveryByteButHowFastALinkWasMeasuredToBe) {
  const auto trace = [](double measured, double number, net::Lane lane) {
    LinkTrace link;
    link.Add(0, 1, net::Bytes(std::size_t{1} << 20));
    net::Bytes figures;
    for (int k = 0; k < 3; ++k) {
      const net::Bytes one = BytesOf(measured);
      figures.insert(figures.end(), one.begin(), one.end());
    }
    link.Add(0, 2, figures);
    link.Add(lane, 3, BytesOf(number));
    return link.Take();
  };
  const auto one = trace(0.5, 3, 0);
  EXPECT_EQ(one.at("frames"), 3);
  EXPECT_EQ(one.at("bytes"), 3 * 39 + (1 << 20) + 4 * 8);
  EXPECT_EQ(one, trace(0.25, 3, 0));
  EXPECT_NE(one, trace(0.5, 4, 0));
  EXPECT_NE(one, trace(0.5, 3, 1));
}

TEST(ExpectGolden, ShowsTheLinesThatDiffer) {
  if (TheGoldens().renew) GTEST_SKIP() << "nothing is compared";
  EXPECT_NONFATAL_FAILURE(ExpectGolden("no-such-file.json", Json{{"a", 1}}), "+  \"a\": 1\n");
}

TEST(InTwelveDigits, LeavesWholeNumbersAndTexts) {
  EXPECT_EQ(InTwelveDigits(Json{{"a", {1.00000000000049, 7, "x"}}}), (Json{{"a", {1.0, 7, "x"}}}));
}

}  // namespace
}  // namespace trefoil::goldens
