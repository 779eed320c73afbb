#include "mpc/simd/truncation_kernels.h"

#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "tests/support/kernel_test.h"

namespace trefoil::mpc {
namespace {

using testing_support::Expected;
using testing_support::ForLengthsOnEverySet;
using testing_support::Numbers;
using testing_support::Written;

// As products and quotients, where the kernels have shifts and signs.
Word Low(Word word, int bits) { return (word % (Word{1} << 63)) / (Word{1} << bits); }
Word Top(Word word) { return word / (Word{1} << 63); }

constexpr std::array kShifts{1, 2, 20, 31, 32, 33, 61, 62};

TEST(TruncationKernels, AMaskIsSplitIntoItsQuotientAndItsTop) {
  ForLengthsOnEverySet([](Index count) {
    const Numbers r(1, count);
    for (const int bits : kShifts) {
      std::vector<Word> tops;
      const auto quotients = Written(count, [&](Word* out) {
        tops = Written(count, [&](Word* top) { QuotientsAndTops(r.data(), bits, count, out, top); });
      });
      EXPECT_EQ(quotients, Expected(count, [&](Index k) { return Low(r[k], bits); }));
      EXPECT_EQ(tops, Expected(count, [&](Index k) { return Top(r[k]); }));
    }
  });
}

TEST(TruncationKernels, HalvesOfAQuotientAreWordByWord) {
  ForLengthsOnEverySet([](Index count) {
    const Numbers c(1, count);
    const Numbers quotients(2, count);
    const Numbers tops(3, count);
    const OpenedWords opened{.c = c.data(), .quotients = quotients.data(), .tops = tops.data()};
    for (const int bits : kShifts) {
      const Word unit = Word{1} << (63 - bits);
      const auto dealt = [&](Index k) { return (1 - 2 * Top(c[k])) * tops[k] * unit - quotients[k]; };
      EXPECT_EQ(Written(count, [&](Word* out) { DealtQuotients(opened, bits, count, out); }),
                Expected(count, dealt));
      for (const Word constant : {Word{0}, ~Word{0}, Word{0x9E3779B97F4A7C15}}) {
        EXPECT_EQ(
            Written(count, [&](Word* out) { DealtAndPublicQuotients(opened, bits, constant, count, out); }),
            Expected(count,
                     [&](Index k) { return dealt(k) + Low(c[k], bits) + Top(c[k]) * unit + constant; }));
      }
    }
  });
}

}  // namespace
}  // namespace trefoil::mpc
