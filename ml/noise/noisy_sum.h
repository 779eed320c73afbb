#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/secrets/random.h"
#include "ml/noise/noise_source.h"
#include "mpc/cost.h"
#include "mpc/share.h"

namespace trefoil::ml {

/// A record's vector on a lattice of 2^-fraction_bits, shortened where it is longer than `norm` lattice
/// units, every number rounded towards zero. Whatever the vector is, the squares of what is returned add up
/// to at most norm^2, in exact integers. Pre: finite numbers; norm at most 2^50; at most 2^26 numbers; `out`
/// has as many.
void EncodeBounded(std::span<const double> vector, int fraction_bits, std::uint64_t norm,
                   std::span<std::int64_t> out);

/// The largest norm of EncodeBounded.
inline constexpr std::uint64_t kMaxNorm = std::uint64_t{1} << 50;

/// A bound on what a vector that an owner has summed by itself changes by, in lattice units, rounded up,
/// where one record changes what was summed by `norm` and its floating-point sum by `allowance` at most, and
/// every one of `coordinates` numbers is rounded to the lattice: norm + allowance + sqrt(coordinates) units.
/// Pre: below 2^52.
[[nodiscard]] std::uint64_t SensitivityOfOwnersSum(double norm, double allowance, int fraction_bits,
                                                   mpc::Index coordinates);

/// The sum of all parties' vectors and noise, exactly and modulo 2^64, opened to the parties of `to` alone;
/// each of the vectors and of the noise is one party's own. Nothing else is opened. What it costs in privacy,
/// and why: docs/explanation/privacy.md, "Noisy sums".
///
/// Pre:    `own` and `noise` of one shape, the same at all three; `to` ascending.
/// Cost:   NoisySumCost: two rounds.
/// Throws: ContractError on the shape, before anything is sent; NetworkError, ProtocolError.
[[nodiscard]] std::optional<mpc::RingMatrix> NoisySum(mpc::Context& party, const mpc::RingMatrix& own,
                                                      const mpc::RingMatrix& noise,
                                                      const std::vector<int>& to);
[[nodiscard]] mpc::Cost NoisySumCost(mpc::Index count, const std::vector<int>& to);

/// The same of a sum that is in shares. Cost: as NoisySum.
[[nodiscard]] std::optional<mpc::RingMatrix> NoisySum(mpc::Context& party, const mpc::AdditiveShare& sum,
                                                      const mpc::RingMatrix& noise,
                                                      const std::vector<int>& to);

/// What a session of noisy sums is, as it is charged: public, the same at all three.
struct SumSession {
  std::int64_t calls = 1;
  mpc::Index coordinates = 0;     ///< of each
  double sigma = 0;               ///< noise multiplier without one party's noise, a multiple of 2^-20
  std::uint64_t sensitivity = 0;  ///< the most that one unit of privacy changes, in lattice units, L2
  std::vector<int> to{0, 1, 2};   ///< who gets the sums
};

/// Noisy sums one after the other, each with noise of its own, which is drawn at most three calls ahead, and
/// beside a call only where that of the two after it is not there yet. A sum has one call: there is no
/// way to make it again. Not copyable or movable; used by one thread.
class NoisySums {
 public:
  /// `stream` is RandomStream::FromSystem() but in tests. Throws ConfigError where the noise is out of the
  /// sampler's domain.
  NoisySums(SumSession session, RandomStream stream);

  /// The next call's, as NoisySum. `own` is coordinates x 1. Throws BudgetError for a call beyond
  /// session.calls, before anything is sent; else as NoisySum.
  [[nodiscard]] std::optional<mpc::RingMatrix> Next(mpc::Context& party, const mpc::RingMatrix& own);
  /// The same of a sum that is in shares.
  [[nodiscard]] std::optional<mpc::RingMatrix> Next(mpc::Context& party, const mpc::AdditiveShare& sum);
  /// Waits until nothing more is drawn before Next is called. For measurements.
  void WaitUntilFull() { noise_.WaitUntilFull(); }

 private:
  /// Counts a call for numbers of this shape, or throws as Next.
  void BeginCall(mpc::Index rows, mpc::Index cols);

  SumSession session_;
  Prefetcher<StepNoise> noise_;
  std::int64_t done_ = 0;
};

}  // namespace trefoil::ml
