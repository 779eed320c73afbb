#include "base/secrets/random.h"

#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <set>

#include "tests/support/fixed_key.h"

namespace trefoil {
namespace {

using testing_support::FixedKey;

TEST(RandomStream, RepeatsForTheSameKeyAndDiffersForAnother) {
  RandomStream a(FixedKey(1));
  RandomStream b(FixedKey(1));
  RandomStream c(FixedKey(2));

  int equal_to_c = 0;
  for (int i = 0; i < 5000; ++i) {
    const auto word = a.NextWord();
    ASSERT_EQ(word, b.NextWord());
    equal_to_c += word == c.NextWord();
  }

  EXPECT_EQ(equal_to_c, 0);
}

TEST(RandomStream, NeverRepeatsAWordAcrossRefills) {
  RandomStream stream(FixedKey(3));
  std::set<std::uint64_t> seen;
  for (int i = 0; i < 4096; ++i) seen.insert(stream.NextWord());
  EXPECT_EQ(seen.size(), 4096U);
}

TEST(RandomStream, SetsEveryBitHalfOfTheTime) {
  RandomStream stream(FixedKey(4));
  constexpr int kWords = 1 << 16;
  std::array<int, 64> ones{};
  for (int i = 0; i < kWords; ++i) {
    const auto word = stream.NextWord();
    for (std::size_t bit = 0; bit < 64; ++bit) ones[bit] += static_cast<int>((word >> bit) & 1U);
  }
  // Six standard deviations of a binomial: a right generator fails for one key in about 8 million (64 bits,
  // normal tail).
  const double tolerance = 6 * 0.5 * 256;
  for (const int count : ones) EXPECT_NEAR(count, kWords / 2, tolerance);
}

TEST(RandomStream, FromSystemIsFreshEachTime) {
  auto a = RandomStream::FromSystem();
  auto b = RandomStream::FromSystem();
  EXPECT_NE(a.NextWord(), b.NextWord());
}

}  // namespace
}  // namespace trefoil
