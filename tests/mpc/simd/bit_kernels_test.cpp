#include "mpc/simd/bit_kernels.h"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "tests/support/kernel_test.h"

namespace trefoil::mpc {
namespace {

using testing_support::Expected;
using testing_support::ForLengthsOnEverySet;
using testing_support::Numbers;
using testing_support::Written;
using testing_support::WrittenOver;

TEST(BitKernels, ExclusiveOrAndBitwiseAndAreWordByWord) {
  ForLengthsOnEverySet([](Index count) {
    const Numbers a(1, count);
    const Numbers b(2, count);
    EXPECT_EQ(Written(count, [&](Word* out) { ExclusiveOr(a.data(), b.data(), count, out); }),
              Expected(count, [&](Index k) { return a[k] ^ b[k]; }));
    EXPECT_EQ(Written(count, [&](Word* out) { BitwiseAnd(a.data(), b.data(), count, out); }),
              Expected(count, [&](Index k) { return a[k] & b[k]; }));
  });
}

TEST(BitKernels, ExclusiveOrMayWriteOverAnOperand) {
  ForLengthsOnEverySet([](Index count) {
    const Numbers a(1, count);
    const Numbers b(2, count);
    EXPECT_EQ(WrittenOver(a, count, [&](Word* out) { ExclusiveOr(out, b.data(), count, out); }),
              Expected(count, [&](Index k) { return a[k] ^ b[k]; }));
  });
}

// The three parties' parts make up the AND: of every combination of the six bits that they hold, in random
// words.
TEST(BitKernels, LocalAndsAddUpToTheAnd) {
  ForLengthsOnEverySet([](Index count) {
    const Numbers x0(1, count);
    const Numbers x1(2, count);
    const Numbers x2(3, count);
    const Numbers y0(4, count);
    const Numbers y1(5, count);
    const Numbers y2(6, count);
    const Numbers before(7, count);
    const auto parts = [&](Word* sum) {
      AddLocalAnd({x0.data(), x1.data()}, {y0.data(), y1.data()}, count, sum);
      AddLocalAnd({x1.data(), x2.data()}, {y1.data(), y2.data()}, count, sum);
      AddLocalAnd({x2.data(), x0.data()}, {y2.data(), y0.data()}, count, sum);
    };
    EXPECT_EQ(WrittenOver(before, count, parts), Expected(count, [&](Index k) {
                return before[k] ^ ((x0[k] ^ x1[k] ^ x2[k]) & (y0[k] ^ y1[k] ^ y2[k]));
              }));
  });
}

TEST(BitKernels, ALocalAndIsOfWhatOnePartyHolds) {
  ForLengthsOnEverySet([](Index count) {
    const Numbers x_own(1, count);
    const Numbers x_next(2, count);
    const Numbers y_own(3, count);
    const Numbers y_next(4, count);
    const auto part = [&](Word* sum) {
      std::fill_n(sum, count, 0);
      AddLocalAnd({x_own.data(), x_next.data()}, {y_own.data(), y_next.data()}, count, sum);
    };
    EXPECT_EQ(Written(count, part), Expected(count, [&](Index k) {
                return (x_own[k] & y_own[k]) ^ (x_own[k] & y_next[k]) ^ (x_next[k] & y_own[k]);
              }));
  });
}

bool BitOf(const std::vector<std::byte>& bytes, Index bit) {
  return (std::to_integer<int>(bytes[static_cast<std::size_t>(bit / 8)]) >> (bit % 8) & 1) != 0;
}

std::vector<std::byte> BytesOf(const Numbers& words, Index count) {
  std::vector<std::byte> bytes(static_cast<std::size_t>(count) * sizeof(Word));
  if (count > 0) std::memcpy(bytes.data(), words.data(), bytes.size());
  return bytes;
}

// The bytes end where the contract says, so that a sanitizer sees one read too many.
TEST(BitKernels, BitsFromAnyBitOn) {
  ForLengthsOnEverySet([](Index count) {
    for (int shift = 0; shift < 8; ++shift) {
      std::vector<std::byte> bytes = BytesOf(Numbers(1, count + 1), count + 1);
      bytes.resize(static_cast<std::size_t>(8 * count + (shift > 0 ? 1 : 0)));
      bytes.shrink_to_fit();
      const auto found = Written(count, [&](Word* out) { BitsFrom(bytes.data(), shift, count, out); });
      for (Index bit = 0; bit < 64 * count; ++bit)
        ASSERT_EQ((found[static_cast<std::size_t>(bit / 64)] >> (bit % 64) & 1) != 0,
                  BitOf(bytes, shift + bit))
            << "bit " << bit << " behind " << shift;
    }
  });
}

TEST(BitKernels, BitsBehindOthers) {
  ForLengthsOnEverySet([](Index count) {
    const Numbers words(1, count);
    const std::vector<std::byte> bits = BytesOf(words, count);
    for (const int filled : {0, 1, 7, 8, 31, 32, 63}) {
      const Word pending = 0xD1B54A32D192ED03ULL & ((Word{1} << filled) - 1);
      std::vector<std::byte> out(static_cast<std::size_t>(8 * count + 1), std::byte{0x5A});
      const Word left = BitsBehind(pending, filled, words.data(), count, out.data());
      EXPECT_EQ(out.back(), std::byte{0x5A});
      const auto bit_at = [&](Index bit) {
        return bit < 64 * count ? BitOf(out, bit) : (left >> (bit - 64 * count) & 1) != 0;
      };
      for (Index bit = 0; bit < 64 * count + filled; ++bit)
        ASSERT_EQ(bit_at(bit), bit < filled ? (pending >> bit & 1) != 0 : BitOf(bits, bit - filled))
            << "bit " << bit << " behind " << filled;
      EXPECT_EQ(left >> filled, 0U);
    }
  });
}

TEST(BitKernels, BitsToWordsAreZeroOrOne) {
  ForLengthsOnEverySet([](Index count) {
    const Numbers bits(1, count);  // more than are asked for
    EXPECT_EQ(Written(count, [&](Word* out) { BitsToWords(bits.data(), count, out); }),
              Expected(count, [&](Index k) { return bits[k / 64] >> (k % 64) & 1; }));
  });
}

}  // namespace
}  // namespace trefoil::mpc
