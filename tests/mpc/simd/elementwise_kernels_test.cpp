#include "mpc/simd/elementwise_kernels.h"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "base/error.h"
#include "tests/support/kernel_test.h"

namespace trefoil::mpc {
namespace {

using testing_support::Expected;
using testing_support::ForLengthsOnEverySet;
using testing_support::Numbers;
using testing_support::Written;
using testing_support::WrittenOver;

TEST(ElementwiseKernels, SumsDifferencesAndMultiplesAreWordByWord) {
  ForLengthsOnEverySet([](Index count) {
    const Numbers a(1, count);
    const Numbers b(2, count);
    EXPECT_EQ(Written(count, [&](Word* out) { AddWords(a.data(), b.data(), count, out); }),
              Expected(count, [&](Index k) { return a[k] + b[k]; }));
    EXPECT_EQ(Written(count, [&](Word* out) { SubtractWords(a.data(), b.data(), count, out); }),
              Expected(count, [&](Index k) { return a[k] - b[k]; }));
    const Numbers c(3, count);
    for (const Word offset : {Word{0}, ~Word{0} << 62}) {
      EXPECT_EQ(
          Written(count, [&](Word* out) { AddThreeWords(a.data(), b.data(), c.data(), offset, count, out); }),
          Expected(count, [&](Index k) { return a[k] + b[k] + c[k] + offset; }));
    }
    for (const Word factor : {Word{0}, Word{1}, ~Word{0}, Word{0x9E3779B97F4A7C15}}) {
      EXPECT_EQ(Written(count, [&](Word* out) { ScaleWords(factor, a.data(), count, out); }),
                Expected(count, [&](Index k) { return factor * a[k]; }));
    }
  });
}

TEST(ElementwiseKernels, MatricesAreOfOneShape) {
  const RingMatrix a = RingMatrix::Constant(2, 3, 7);
  const RingMatrix b = RingMatrix::Constant(2, 3, 9);
  EXPECT_TRUE((SumOf(a, b) == RingMatrix::Constant(2, 3, 16)).all());
  EXPECT_TRUE((DifferenceOf(a, b) == RingMatrix::Constant(2, 3, ~Word{0} - 1)).all());
  EXPECT_TRUE((SumOf(a, b, a, 100) == RingMatrix::Constant(2, 3, 123)).all());
  const RingMatrix turned = RingMatrix::Zero(3, 2);
  EXPECT_THROW((void)SumOf(a, turned), ContractError);
  EXPECT_THROW((void)DifferenceOf(turned, a), ContractError);
  EXPECT_THROW((void)SumOf(a, b, turned, 0), ContractError);
}

TEST(ElementwiseKernels, AnOperandMayBeWrittenOver) {
  ForLengthsOnEverySet([](Index count) {
    const Numbers a(1, count);
    const Numbers b(2, count);
    EXPECT_EQ(WrittenOver(a, count, [&](Word* out) { AddWords(out, b.data(), count, out); }),
              Expected(count, [&](Index k) { return a[k] + b[k]; }));
    EXPECT_EQ(WrittenOver(b, count, [&](Word* out) { SubtractWords(a.data(), out, count, out); }),
              Expected(count, [&](Index k) { return a[k] - b[k]; }));
  });
}

TEST(ElementwiseKernels, MessagesAreAddedToWhatIsThere) {
  ForLengthsOnEverySet([](Index count) {
    const Numbers a(1, count);
    const Numbers sum(3, count);
    for (const std::size_t address : {0U, 1U, 7U}) {
      std::vector<std::byte> bytes(address + static_cast<std::size_t>(count) * sizeof(Word));
      if (count > 0) std::memcpy(bytes.data() + address, a.data(), bytes.size() - address);
      EXPECT_EQ(WrittenOver(sum, count, [&](Word* out) { AddWordsFrom(bytes.data() + address, count, out); }),
                Expected(count, [&](Index k) { return sum[k] + a[k]; }));
    }
  });
}

TEST(ElementwiseKernels, ALocalProductIsOfWhatOnePartyHolds) {
  ForLengthsOnEverySet([](Index count) {
    const Numbers x_own(1, count);
    const Numbers x_next(2, count);
    const Numbers y_own(3, count);
    const Numbers y_next(4, count);
    EXPECT_EQ(
        Written(
            count,
            [&](Word* out) {
              LocalProductOfWords({x_own.data(), x_next.data()}, {y_own.data(), y_next.data()}, count, out);
            }),
        Expected(count,
                 [&](Index k) { return x_own[k] * y_own[k] + x_own[k] * y_next[k] + x_next[k] * y_own[k]; }));
  });
}

}  // namespace
}  // namespace trefoil::mpc
