#include "tests/support/secrecy/uniformity.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

#include "base/error.h"

namespace trefoil::testing_support {
namespace {

using mpc::Word;

constexpr std::size_t kWordBits = 64;
constexpr std::size_t kByteSamples = std::size_t{1} << 14;  // from so many on, symbols are bytes

using Count = std::uint32_t;

/// How often each symbol occurs at each place of a word.
struct Table {
  int symbol_bits = 0;
  std::size_t samples = 0;
  std::array<Count, std::size_t{8} * 256> counts{};  // place by place

  [[nodiscard]] std::size_t symbols() const { return std::size_t{1} << symbol_bits; }
  [[nodiscard]] std::size_t places() const { return kWordBits / static_cast<std::size_t>(symbol_bits); }
  [[nodiscard]] std::span<const Count> at(std::size_t place) const {
    return {&counts[place * symbols()], symbols()};
  }
};

/// The loop that takes the time; what it does to memory is plain, so sanitizers need not slow it down.
template <int kSymbolBits>
[[gnu::noinline, gnu::no_sanitize_address, gnu::no_sanitize_thread, gnu::no_sanitize_undefined]] void
CountInto(const Word* words, std::size_t samples, Count* counts) {
  constexpr Word kSymbols = Word{1} << kSymbolBits;
  for (std::size_t k = 0; k < samples; ++k) {
    const Word word = words[k];
#pragma GCC unroll 16
    for (Word place = 0; place < kWordBits / kSymbolBits; ++place) {
      ++counts[place * kSymbols + ((word >> (place * kSymbolBits)) & (kSymbols - 1))];
    }
  }
}

Table Tabulate(std::span<const Word> words, int symbol_bits) {
  Table table{.symbol_bits = symbol_bits, .samples = words.size(), .counts = {}};
  const auto count = symbol_bits == 8 ? CountInto<8> : CountInto<4>;
  count(words.data(), words.size(), table.counts.data());
  return table;
}

/// Ones at each bit of a word.
std::array<std::uint64_t, kWordBits> OnesOf(const Table& table) {
  std::array<std::uint64_t, kWordBits> ones{};
  const auto bits = static_cast<std::size_t>(table.symbol_bits);
  for (std::size_t place = 0; place < table.places(); ++place) {
    const auto counts = table.at(place);
    for (std::size_t symbol = 1; symbol < counts.size(); ++symbol) {
      for (std::size_t bit = 0; bit < bits; ++bit)
        ones[place * bits + bit] += counts[symbol] * (symbol >> bit & 1U);
    }
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

bool UniformityChecker::AreUniform(std::span<const Word> samples) {
  const bool bytes = samples.size() >= kByteSamples;
  const Table table = Tabulate(samples, bytes ? 8 : 4);
  const double limit = bytes ? one_group_.byte : one_group_.nibble;
  bool uniform = true;
  for (std::size_t place = 0; place < table.places(); ++place) {
    uniform = uniform && Entropy(table.at(place), table.samples) < limit;
  }
  const auto ones = OnesOf(table);
  for (const std::uint64_t count : ones)
    uniform = uniform && BitEntropy(count, table.samples) < one_group_.bit;
  uniform = uniform && BitEntropy(Sum(ones), kWordBits * table.samples) < one_group_.bit;
  checks_ += table.places() + kWordBits + 1;
  return uniform;
}

bool UniformityChecker::AreAlike(std::span<const Word> first, std::span<const Word> second) {
  const bool bytes = std::min(first.size(), second.size()) >= kByteSamples;
  const Table a = Tabulate(first, bytes ? 8 : 4);
  const Table b = Tabulate(second, bytes ? 8 : 4);
  const double limit = bytes ? two_groups_.byte : two_groups_.nibble;
  bool alike = true;
  for (std::size_t place = 0; place < a.places(); ++place) {
    alike = alike && Entropy(a.at(place), b.at(place), a.samples, b.samples) < limit;
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
  checks_ += a.places() + kWordBits;
  return alike;
}

}  // namespace trefoil::testing_support
