#include "ml/noise/noisy_sum.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/error.h"
#include "ml/dpsgd/dp_sgd.h"
#include "ml/noise/noise_maker.h"
#include "ml/on_shares/correct_counts.h"
#include "protocols/arithmetic/input.h"
#include "protocols/arithmetic/multiply.h"
#include "protocols/arithmetic/reveal.h"

namespace trefoil::ml {
namespace {

using mpc::ArithShare;
using mpc::Cost;
using mpc::Index;
using mpc::RingMatrix;
using protocols::ReleaseReason;

constexpr std::int64_t kCallsAhead = 3;         // the one that is under way included
constexpr double kComputedNormError = 0x1p-24;  // of a norm of 2^26 numbers: more than its relative error

bool IsWithin(std::span<const std::int64_t> vector, std::uint64_t norm) {
  dp::Uint128 squares = 0;
  for (const auto value : vector) {
    const auto magnitude = static_cast<std::uint64_t>(std::abs(value));
    squares += static_cast<dp::Uint128>(magnitude) * magnitude;
  }
  return squares <= static_cast<dp::Uint128>(norm) * norm;
}

double LargestOf(std::span<const double> vector) {
  double largest = 0;
  for (const double value : vector) {
    Require(std::isfinite(value), "EncodeBounded: finite numbers");
    largest = std::max(largest, std::abs(value));
  }
  return largest;
}

/// The norm over the largest magnitude, which no number is too large or too small for.
double RelativeNorm(std::span<const double> vector, double largest) {
  double squares = 0;
  for (const double value : vector) squares += (value / largest) * (value / largest);
  return std::sqrt(squares);
}

/// In an order in which whoever sends to one and receives for another sends first: all messages are one
/// round.
std::vector<int> SendersFirst(const std::vector<int>& to) {
  if (to.size() == 2 && to[1] == to[0] + 1) return {to[1], to[0]};
  return to;
}

std::optional<RingMatrix> Open(mpc::Context& party, const ArithShare& sum, const std::vector<int>& to) {
  if (to.size() == net::kParties) return protocols::Reveal(party, sum, ReleaseReason::kNoisyCounts);
  return protocols::RevealToEach(party, SendersFirst(to), sum, ReleaseReason::kNoisyCounts);
}

Cost OpenCost(Index count, const std::vector<int>& to) {
  if (to.size() == net::kParties) return protocols::RevealCost(count);
  return protocols::RevealToEachCost(SendersFirst(to), count);
}

}  // namespace

void EncodeBounded(std::span<const double> vector, int fraction_bits, std::uint64_t norm,
                   std::span<std::int64_t> out) {
  Require(norm <= kMaxNorm && vector.size() <= std::size_t{1} << 26 && out.size() == vector.size(),
          "EncodeBounded: a norm and a number of numbers whose squares fit 128 bits");
  const double largest = LargestOf(vector);
  const auto most = static_cast<double>(norm);
  const double relative = largest > 0 ? RelativeNorm(vector, largest) : 0;
  const double scale = std::ldexp(1.0, fraction_bits);  // exact: a power of two
  if (largest * scale * relative <= most * (1 + kComputedNormError)) {
    std::transform(vector.begin(), vector.end(), out.begin(),
                   [&](double value) { return static_cast<std::int64_t>(value * scale); });
    if (IsWithin(out, norm)) return;
  }
  // What doubles lose of the factor is found by the exact check, and taken off.
  for (double less = 0x1p-50;; less = std::min(1.0, 16 * less)) {
    const double factor = most / relative * (1 - less);
    std::transform(vector.begin(), vector.end(), out.begin(),
                   [&](double value) { return static_cast<std::int64_t>(value / largest * factor); });
    if (IsWithin(out, norm)) return;
  }
}

std::uint64_t SensitivityOfOwnersSum(double norm, double allowance, int fraction_bits, Index coordinates) {
  // More than what four roundings lose.
  const double moved = (norm + allowance) * (1 + 0x1p-50);
  const double rounded = std::sqrt(static_cast<double>(coordinates)) * (1 + 0x1p-50);
  const double units = std::ceil((std::ldexp(moved, fraction_bits) + rounded) * (1 + 0x1p-50));
  Require(units < 0x1p52, "SensitivityOfOwnersSum: a bound below 2^52 units");
  return static_cast<std::uint64_t>(units);
}

std::optional<RingMatrix> NoisySum(mpc::Context& party, const RingMatrix& own, const RingMatrix& noise,
                                   const std::vector<int>& to) {
  Require(own.rows() == noise.rows() && own.cols() == noise.cols(), "NoisySum: noise for every number");
  // A party's noise is as much its own as its vector: one input has both.
  return Open(party, protocols::InputSum(party, own, noise), to);
}

Cost NoisySumCost(Index count, const std::vector<int>& to) {
  return ThenUnturned(protocols::InputSumCost(count), OpenCost(count, to));
}

std::optional<RingMatrix> NoisySum(mpc::Context& party, const mpc::AdditiveShare& sum,
                                   const RingMatrix& noise, const std::vector<int>& to) {
  return Open(party, protocols::Reshare(party, AddNoise(sum, noise)), to);
}

NoisySums::NoisySums(SumSession session, RandomStream stream)
    : session_(std::move(session)),
      noise_(static_cast<std::size_t>(std::clamp(session_.calls, std::int64_t{1}, kCallsAhead)),
             NoiseMaker(session_.coordinates, 1,
                        dp::DiscreteGaussian(CountVariance(session_.sigma, session_.sensitivity)),
                        std::move(stream))) {}

void NoisySums::BeginCall(Index rows, Index cols) {
  if (done_ == session_.calls)
    throw BudgetError(
        "noisy sums: found one more call, expected no more than the job has and is charged for");
  Require(rows == session_.coordinates && cols == 1, "NoisySums::Next: a number for every coordinate");
  ++done_;
}

std::optional<RingMatrix> NoisySums::Next(mpc::Context& party, const RingMatrix& own) {
  BeginCall(own.rows(), own.cols());
  return noise_.UseNext(
      [&](const StepNoise& noise) { return NoisySum(party, own, noise.values(), session_.to); });
}

std::optional<RingMatrix> NoisySums::Next(mpc::Context& party, const mpc::AdditiveShare& sum) {
  BeginCall(sum.rows(), sum.cols());
  return noise_.UseNext(
      [&](const StepNoise& noise) { return NoisySum(party, sum, noise.values(), session_.to); });
}

}  // namespace trefoil::ml
