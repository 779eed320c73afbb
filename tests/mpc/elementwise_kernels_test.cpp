#include "mpc/elementwise_kernels.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "tests/support/instruction_sets.h"
#include "tests/support/protocol_test.h"

namespace trefoil::mpc {
namespace {

using testing_support::ForLengthsOnEverySet;
using testing_support::kUntouched;

/// Random words with the ring's edges among them, from an address that is no multiple of a vector.
class Numbers {
 public:
  Numbers(std::uint64_t seed, Index count) : words_(testing_support::RandomWords(seed, count + 1, 1)) {
    for (const Word edge : {Word{0}, ~Word{0}, Word{1} << 63, (Word{1} << 63) - 1, Word{1}}) {
      if (count > 8) words_.data()[1 + static_cast<Index>((edge ^ seed) % static_cast<Word>(count))] = edge;
    }
  }
  [[nodiscard]] const Word* data() const { return words_.data() + 1; }
  [[nodiscard]] Word operator[](Index k) const { return words_.data()[k + 1]; }

 private:
  RingMatrix words_;
};

/// That `kernel`, given words that begin as those of `before`, leaves value(k) in each of them, and none
/// behind.
template <typename Kernel, typename Value>
void ExpectWritten(const Numbers& before, Index count, Kernel kernel, Value value) {
  std::vector<Word> out(static_cast<std::size_t>(count + 1), kUntouched);
  std::copy_n(before.data(), count, out.begin());
  kernel(out.data());
  for (Index k = 0; k < count; ++k) ASSERT_EQ(out[static_cast<std::size_t>(k)], value(k)) << "element " << k;
  EXPECT_EQ(out.back(), kUntouched);
}

TEST(ElementwiseKernels, SumsDifferencesAndMultiplesAreWordByWord) {
  ForLengthsOnEverySet([](Index count) {
    const Numbers a(1, count);
    const Numbers b(2, count);
    const Numbers other(3, count);
    ExpectWritten(
        other, count, [&](Word* out) { AddWords(a.data(), b.data(), count, out); },
        [&](Index k) { return a[k] + b[k]; });
    ExpectWritten(
        other, count, [&](Word* out) { SubtractWords(a.data(), b.data(), count, out); },
        [&](Index k) { return a[k] - b[k]; });
    for (const Word factor : {Word{0}, Word{1}, ~Word{0}, Word{0x9E3779B97F4A7C15}}) {
      ExpectWritten(
          other, count, [&](Word* out) { ScaleWords(factor, a.data(), count, out); },
          [&](Index k) { return factor * a[k]; });
    }
  });
}

TEST(ElementwiseKernels, AnOperandMayBeWrittenOver) {
  ForLengthsOnEverySet([](Index count) {
    const Numbers a(1, count);
    const Numbers b(2, count);
    ExpectWritten(
        a, count, [&](Word* out) { AddWords(out, b.data(), count, out); },
        [&](Index k) { return a[k] + b[k]; });
    ExpectWritten(
        b, count, [&](Word* out) { SubtractWords(a.data(), out, count, out); },
        [&](Index k) { return a[k] - b[k]; });
  });
}

TEST(ElementwiseKernels, MessagesAreAddedToWhatIsThere) {
  ForLengthsOnEverySet([](Index count) {
    const Numbers a(1, count);
    const Numbers sum(3, count);
    for (const std::size_t address : {0U, 1U, 7U}) {
      std::vector<std::byte> bytes(address + static_cast<std::size_t>(count) * sizeof(Word));
      if (count > 0) std::memcpy(bytes.data() + address, a.data(), bytes.size() - address);
      ExpectWritten(
          sum, count, [&](Word* out) { AddWordsFrom(bytes.data() + address, count, out); },
          [&](Index k) { return sum[k] + a[k]; });
    }
  });
}

TEST(ElementwiseKernels, ALocalProductIsOfWhatOnePartyHolds) {
  ForLengthsOnEverySet([](Index count) {
    const Numbers x_own(1, count);
    const Numbers x_next(2, count);
    const Numbers y_own(3, count);
    const Numbers y_next(4, count);
    ExpectWritten(
        x_own, count,
        [&](Word* out) {
          LocalProductOfWords({x_own.data(), x_next.data()}, {y_own.data(), y_next.data()}, count, out);
        },
        [&](Index k) { return x_own[k] * y_own[k] + x_own[k] * y_next[k] + x_next[k] * y_own[k]; });
  });
}

}  // namespace
}  // namespace trefoil::mpc
