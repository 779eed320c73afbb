#include "tests/support/secrecy/view.h"

#include <algorithm>
#include <functional>

#include "base/error.h"

namespace trefoil::testing_support {
namespace {

using mpc::Word;

constexpr std::size_t kLags = 3;
constexpr std::size_t kColumnsApart = 3;
constexpr std::size_t kWindow = 16;
constexpr std::size_t kAllPairs = 16;
constexpr std::size_t kPairSamples = 25'920;

using Words = std::span<const Word>;

/// Each bit xor the one after it, over all words as one string of bits.
std::vector<Word> NeighbouringBits(Words words) {
  std::vector<Word> out;
  out.reserve(words.size());
  for (std::size_t k = 0; k + 1 < words.size(); ++k)
    out.push_back(words[k] ^ (words[k] >> 1 | words[k + 1] << 63));
  return out;
}

/// Two columns, which must be uniform together as far as what two words make together shows.
void CheckTogether(Words a, Words b, bool bits, const std::function<std::string()>& name,
                   UniformityChecker& checker) {
  const std::size_t samples = std::min(a.size(), kPairSamples);
  a = a.first(samples);
  b = b.first(samples);
  if (bits) {
    if (!checker.AreUniform(a, b, Together::kExclusiveOr)) checker.AddFailure("exclusive or of " + name());
    return;
  }
  if (!checker.AreUniform(a, b, Together::kSum)) checker.AddFailure("sum of " + name());
  if (!checker.AreUniform(a, b, Together::kDifference)) checker.AddFailure("difference of " + name());
}

std::string Place(const Sight& sight, std::size_t column) {
  return sight.name + "[" + std::to_string(column) + "]";
}

void CheckColumns(const Sight& sight, UniformityChecker& checker) {
  for (std::size_t k = 0; k < sight.columns(); ++k) {
    const Words column = sight.column(k);
    if (!checker.AreUniform(column)) checker.AddFailure(Place(sight, k));
    for (std::size_t lag = 1; lag <= kLags; ++lag) {
      CheckTogether(
          column.subspan(lag), column.first(column.size() - lag), sight.bits,
          [&] { return Place(sight, k) + " and its neighbour " + std::to_string(lag) + " further"; },
          checker);
    }
    if (sight.bits && !checker.AreUniform(NeighbouringBits(column)))
      checker.AddFailure("neighbouring bits of " + Place(sight, k));
    for (std::size_t other = k + 1; other < sight.columns() && other <= k + kColumnsApart; ++other) {
      CheckTogether(
          column, sight.column(other), sight.bits,
          [&] { return Place(sight, k) + " and " + Place(sight, other); }, checker);
    }
  }
}

void CheckPair(const Sight& sight, const Sight& other, UniformityChecker& checker) {
  if (sight.bits != other.bits || sight.samples != other.samples) return;
  const bool all = sight.columns() * other.columns() <= kAllPairs;
  for (std::size_t k = 0; k < sight.columns(); ++k) {
    for (std::size_t j = 0; j < other.columns(); ++j) {
      if (!all && j != k) continue;
      CheckTogether(
          sight.column(k), other.column(j), sight.bits,
          [&] { return Place(sight, k) + " and " + Place(other, j); }, checker);
    }
  }
}

/// The sum or the difference of two columns of one sight.
std::vector<Word> OfColumns(const Sight& sight, std::size_t k, std::size_t other, bool sum) {
  const Words a = sight.column(k);
  const Words b = sight.column(other);
  std::vector<Word> out(a.size());
  std::transform(a.begin(), a.end(), b.begin(), out.begin(),
                 [sum](Word x, Word y) { return sum ? x + y : x - y; });
  return out;
}

}  // namespace

void CheckUniform(const View& view, UniformityChecker& checker) {
  for (std::size_t at = 0; at < view.size(); ++at) {
    if (!view[at].received) continue;
    CheckColumns(view[at], checker);
    const std::size_t end = std::min(view.size(), at + kWindow + 1);
    for (std::size_t other = at - std::min(at, kWindow); other < end; ++other) {
      // Two received ones are paired once, when the later is at its turn.
      const bool paired = other < at || (other > at && !view[other].received);
      if (paired) CheckPair(view[at], view[other], checker);
    }
  }
}

void CheckAlike(const View& first, const View& second, UniformityChecker& checker) {
  Require(first.size() == second.size(), "CheckAlike: views of the same shape");
  for (std::size_t at = 0; at < first.size(); ++at) {
    const Sight& a = first[at];
    const Sight& b = second[at];
    Require(a.columns() == b.columns(), "CheckAlike: sights of the same shape");
    if (!a.received) continue;
    for (std::size_t k = 0; k < a.columns(); ++k) {
      if (!checker.AreAlike(a.column(k), b.column(k))) checker.AddFailure(Place(a, k));
      for (std::size_t other = k + 1; other < a.columns() && other <= k + kColumnsApart; ++other) {
        for (const bool sum : {true, false}) {
          if (!checker.AreAlike(OfColumns(a, k, other, sum), OfColumns(b, k, other, sum)))
            checker.AddFailure(Place(a, k) + " with " + Place(a, other));
        }
      }
    }
  }
}

}  // namespace trefoil::testing_support
