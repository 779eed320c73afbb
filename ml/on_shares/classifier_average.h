#pragma once
#include <array>
#include <cstdint>
#include <vector>

#include "ml/noise/noise_source.h"
#include "mpc/cost.h"
#include "mpc/share.h"

/// The sum of classifiers that owners trained by themselves, with noise of a size that the smallest owner's
/// number of records asks for: on shares, so that neither sizes nor whose is the smallest is opened.
/// Source: Pathak, Rane, Raj, "Multiparty differential privacy via aggregation of locally trained
/// classifiers" (2010), section 3.2.
namespace trefoil::ml {

/// What is public of the sum.
struct AverageShape {
  std::array<mpc::Index, 3> owners{};   ///< how many each party acts for; one in all at least
  mpc::Index weights = 0;               ///< of each classifier
  std::vector<std::int64_t> min_sizes;  ///< ascending: noise g suffices from size min_sizes[g] on; the
                                        ///< first for every size that there is
  std::int64_t margin = 0;              ///< taken off the smallest size, once its noise is added
  bool noisy_size = false;              ///< whether parties add noise to the smallest size
  int width = 64;  ///< sizes, noise and margin included, differ by less than 2^(width - 1)

  [[nodiscard]] mpc::Index all_owners() const { return owners[0] + owners[1] + owners[2]; }
};

/// What a party brings.
struct OwnAverage {
  mpc::RingMatrix sizes;    ///< a row for each of its owners
  mpc::RingMatrix weights;  ///< 1 x weights: the sum over its owners
  StepNoise noise{
      0, 0};  ///< a row of weights for each of min_sizes: this party's parts. As published: for each owner
  StepNoise size_noise{1, 1};  ///< this party's part, where there is any
};

/// The sum of all owners' weights and of every party's part of one noise, 1 x weights. Let s be the smallest
/// of all sizes, plus its noise, less the margin: the noise is the last with min_sizes[g] <= s, or the first
/// one if there is none. Nothing is opened, and the cost is the same for all sizes.
///
/// Pre:    the shapes above.
/// Cost:   NoisyClassifierSumCost.
/// Throws: ContractError on the shapes, before anything is sent; NetworkError, ProtocolError.
[[nodiscard]] mpc::ArithShare NoisyClassifierSum(mpc::Context& party, const AverageShape& shape,
                                                 const OwnAverage& own);
[[nodiscard]] mpc::Cost NoisyClassifierSumCost(const AverageShape& shape);

/// The most bits that numbers of a sum may have, for AverageOfSum.
inline constexpr int kMaxSumBits = 48;

/// A sum of `shape.all_owners()` classifiers divided by their number, for a model that stays in shares:
/// within a unit and 2^-12 of each weight. Nothing is opened. Pre: every number of the sum below 2^sum_bits,
/// sum_bits <= kMaxSumBits. Cost: AverageOfSumCost. Throws: ContractError on the bits, before anything is
/// sent; NetworkError, ProtocolError.
[[nodiscard]] mpc::ArithShare AverageOfSum(mpc::Context& party, const AverageShape& shape,
                                           const mpc::ArithShare& sum, int sum_bits);
[[nodiscard]] mpc::Cost AverageOfSumCost(const AverageShape& shape);

/// As published: the noise is that of the owner with the smallest size, the first of equal ones; who acts for
/// it knows all of it. min_sizes, margin and size_noise are not used. Cost: PublishedClassifierSumCost.
[[nodiscard]] mpc::ArithShare PublishedClassifierSum(mpc::Context& party, const AverageShape& shape,
                                                     const OwnAverage& own);
[[nodiscard]] mpc::Cost PublishedClassifierSumCost(const AverageShape& shape);

}  // namespace trefoil::ml
