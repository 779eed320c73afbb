#include "tests/support/secrecy/uniformity.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <functional>
#include <numeric>

#include "base/error.h"

namespace trefoil::testing_support {

/// How often each symbol occurs at each place of a word. Bytes are counted, half of them are sums of those
/// counts.
struct SymbolCounts {
  std::size_t samples = 0;
  std::array<std::array<std::uint32_t, 256>, 8> bytes{};
  std::array<std::array<std::uint32_t, 16>, 16> nibbles{};
};

namespace {

using mpc::Word;
using Words = std::span<const Word>;

constexpr std::size_t kWordBits = 64;
constexpr std::size_t kByteSamples = std::size_t{1} << 14;  // from so many on, symbols are bytes

using Count = std::uint32_t;

/// The loop that takes the time; what it does to memory is plain, so sanitizers need not slow it down.
[[gnu::noinline, gnu::no_sanitize_address, gnu::no_sanitize_thread, gnu::no_sanitize_undefined]] void
CountBytes(Words words, Count* counts) {
  const Word* const begin = words.data();
  const std::size_t samples = words.size();
  for (std::size_t k = 0; k < samples; ++k) {
    const Word word = begin[k];
#pragma GCC unroll 8
    for (Word place = 0; place < 8; ++place) ++counts[place * 256 + (word >> (8 * place) & 255)];
  }
}

void SumNibbles(SymbolCounts& table) {
  for (std::size_t place = 0; place < table.bytes.size(); ++place) {
    auto& low = table.nibbles[2 * place];
    auto& high = table.nibbles[2 * place + 1];
    for (std::size_t symbol = 0; symbol < 16; ++symbol) {
      const Count* const row = &table.bytes[place][16 * symbol];
      for (std::size_t k = 0; k < 16; ++k) low[k] += row[k];
      high[symbol] = std::accumulate(row, row + 16, Count{0});
    }
  }
}

SymbolCounts Tabulate(Words words) {
  SymbolCounts table{.samples = words.size()};
  CountBytes(words, table.bytes[0].data());
  SumNibbles(table);
  return table;
}

template <typename Operation>
SymbolCounts TabulateTogether(Words first, Words second, Operation operation) {
  Require(first.size() == second.size(), "AreUniform: two columns of one length");
  SymbolCounts table{.samples = first.size()};
  std::array<Word, 512> block;  // stays in the cache
  for (std::size_t at = 0; at < first.size(); at += block.size()) {
    const std::size_t size = std::min(block.size(), first.size() - at);
    for (std::size_t k = 0; k < size; ++k) block[k] = operation(first[at + k], second[at + k]);
    CountBytes({block.data(), size}, table.bytes[0].data());
  }
  SumNibbles(table);
  return table;
}

/// Ones at each bit of a word.
std::array<std::uint64_t, kWordBits> OnesOf(const SymbolCounts& table) {
  std::array<std::uint64_t, kWordBits> ones{};
  for (std::size_t bit = 0; bit < kWordBits; ++bit) {
    for (std::size_t symbol = 0; symbol < 16; ++symbol)
      ones[bit] += table.nibbles[bit / 4][symbol] * (symbol >> bit % 4 & 1U);
  }
  return ones;
}

/// x ln x, from a table where x is small.
double XLogX(std::uint64_t x) {
  static const std::vector<double> kTable = [] {
    std::vector<double> table(std::size_t{1} << 17, 0.0);
    for (std::size_t k = 2; k < table.size(); ++k) {
      table[k] = static_cast<double>(k) * std::log(static_cast<double>(k));
    }
    return table;
  }();
  if (x < kTable.size()) return kTable[x];
  return static_cast<double>(x) * std::log(static_cast<double>(x));
}

/// n D of the counts to the uniform law.
double Entropy(std::span<const Count> counts, std::size_t samples) {
  double sum = 0;
  for (const Count count : counts) sum += XLogX(count);
  return sum - XLogX(samples) + static_cast<double>(samples) * std::log(static_cast<double>(counts.size()));
}

double BitEntropy(std::uint64_t ones, std::uint64_t samples) {
  return XLogX(ones) + XLogX(samples - ones) - XLogX(samples) + static_cast<double>(samples) * std::log(2.0);
}

/// n D(a, m) + n' D(b, m), m the mean law of both groups.
double Entropy(std::span<const Count> a, std::span<const Count> b, std::size_t a_samples,
               std::size_t b_samples) {
  double sum = XLogX(a_samples + b_samples) - XLogX(a_samples) - XLogX(b_samples);
  for (std::size_t k = 0; k < a.size(); ++k) {
    sum += XLogX(a[k]) + XLogX(b[k]) - XLogX(std::uint64_t{a[k]} + b[k]);
  }
  return sum;
}

std::uint64_t Sum(const std::array<std::uint64_t, kWordBits>& ones) {
  std::uint64_t sum = 0;
  for (const std::uint64_t count : ones) sum += count;
  return sum;
}

}  // namespace

double EntropyLimit(int freedom, double false_alarm) {
  Require(freedom >= 1 && false_alarm > 0 && false_alarm < 1, "EntropyLimit: freedom and a probability");
  const double target = -std::log(false_alarm);
  const auto exponent = [freedom](double s) { return s - freedom * (1 + std::log(s / freedom)); };
  // The exponent grows from 0 at s = freedom on.
  double low = freedom;
  double high = freedom + 2 * target + 2;
  while (exponent(high) < target) high *= 2;
  for (int step = 0; step < 100; ++step) {
    const double middle = (low + high) / 2;
    (exponent(middle) < target ? low : high) = middle;
  }
  return high;
}

UniformityChecker::UniformityChecker()
    : one_group_{.bit = EntropyLimit(1, kFalseAlarm),
                 .nibble = EntropyLimit(15, kFalseAlarm),
                 .byte = EntropyLimit(255, kFalseAlarm)},
      two_groups_{.bit = EntropyLimit(2, kFalseAlarm),
                  .nibble = EntropyLimit(30, kFalseAlarm),
                  .byte = EntropyLimit(510, kFalseAlarm)} {}

bool UniformityChecker::IsUniform(const SymbolCounts& table) {
  const bool bytes = table.samples >= kByteSamples;
  bool uniform = true;
  const auto check = [&](const auto& places, double limit) {
    for (const auto& counts : places) uniform = uniform && Entropy(counts, table.samples) < limit;
    checks_ += places.size();
  };
  if (bytes) {
    check(table.bytes, one_group_.byte);
  } else {
    check(table.nibbles, one_group_.nibble);
  }
  const auto ones = OnesOf(table);
  for (const std::uint64_t count : ones)
    uniform = uniform && BitEntropy(count, table.samples) < one_group_.bit;
  uniform = uniform && BitEntropy(Sum(ones), kWordBits * table.samples) < one_group_.bit;
  checks_ += kWordBits + 1;
  return uniform;
}

bool UniformityChecker::AreUniform(Words samples) { return IsUniform(Tabulate(samples)); }

bool UniformityChecker::AreUniform(Words first, Words second, Together together) {
  if (together == Together::kSum) return IsUniform(TabulateTogether(first, second, std::plus<>()));
  if (together == Together::kDifference) return IsUniform(TabulateTogether(first, second, std::minus<>()));
  return IsUniform(TabulateTogether(first, second, std::bit_xor<>()));
}

bool UniformityChecker::AreAlike(Words first, Words second) {
  const SymbolCounts a = Tabulate(first);
  const SymbolCounts b = Tabulate(second);
  bool alike = true;
  const auto check = [&](const auto& places_a, const auto& places_b, double limit) {
    for (std::size_t place = 0; place < places_a.size(); ++place)
      alike = alike && Entropy(places_a[place], places_b[place], a.samples, b.samples) < limit;
    checks_ += places_a.size();
  };
  if (std::min(first.size(), second.size()) >= kByteSamples) {
    check(a.bytes, b.bytes, two_groups_.byte);
  } else {
    check(a.nibbles, b.nibbles, two_groups_.nibble);
  }
  const auto ones_a = OnesOf(a);
  const auto ones_b = OnesOf(b);
  for (std::size_t bit = 0; bit < kWordBits; ++bit) {
    const std::array<Count, 2> bits_a{static_cast<Count>(a.samples - ones_a[bit]),
                                      static_cast<Count>(ones_a[bit])};
    const std::array<Count, 2> bits_b{static_cast<Count>(b.samples - ones_b[bit]),
                                      static_cast<Count>(ones_b[bit])};
    alike = alike && Entropy(bits_a, bits_b, a.samples, b.samples) < two_groups_.bit;
  }
  checks_ += kWordBits;
  return alike;
}

}  // namespace trefoil::testing_support
