#include "ml/noise/noisy_counts.h"

#include "base/error.h"
#include "dp/mechanisms/laplace_part.h"
#include "ml/dpsgd/dp_sgd.h"
#include "protocols/arithmetic/input.h"
#include "protocols/arithmetic/multiply.h"
#include "protocols/arithmetic/reveal.h"

namespace trefoil::ml {

StepNoise LaplaceParts(RandomStream stream, const dp::Ratio& rate, mpc::Index counts) {
  const dp::LaplacePart part(rate);
  StepNoise noise(counts, 1);
  for (mpc::Index k = 0; k < counts; ++k) noise.values()(k, 0) = static_cast<mpc::Word>(part.Sample(stream));
  return noise;
}

StepNoise RadialLaplaceParts(RandomStream stream, const dp::RadialLaplacePart& part, mpc::Index coordinates) {
  const dp::DiscreteGaussian law = part.DrawLaw(stream);
  StepNoise noise(coordinates, 1);
  for (mpc::Index k = 0; k < coordinates; ++k)
    noise.values()(k, 0) = static_cast<mpc::Word>(law.Sample(stream));
  return noise;
}

std::optional<mpc::RingMatrix> OpenNoisyCounts(mpc::Context& party, const mpc::RingMatrix& own,
                                               const mpc::RingMatrix& noise, const std::vector<int>& to) {
  Require(own.rows() == noise.rows() && own.cols() == noise.cols(), "OpenNoisyCounts: noise for every count");
  return OpenNoisyCounts(party, ToAdditive(protocols::InputSum(party, own)), noise, to);
}

std::optional<mpc::RingMatrix> OpenNoisyCounts(mpc::Context& party, const mpc::AdditiveShare& counts,
                                               const mpc::RingMatrix& noise, const std::vector<int>& to) {
  Require(counts.rows() == noise.rows() && counts.cols() == noise.cols(),
          "OpenNoisyCounts: noise for every count");
  const mpc::ArithShare shared = protocols::Reshare(party, AddNoise(counts, noise));
  return protocols::RevealToEach(party, to, shared, protocols::ReleaseReason::kNoisyCounts);
}

mpc::Cost OpenNoisyCountsCost(mpc::Index counts, const std::vector<int>& to) {
  const mpc::Cost noisy = Then(protocols::InputSumCost(counts), protocols::ReshareCost(counts));
  return ThenUnturned(noisy, protocols::RevealToEachCost(to, counts));
}

mpc::Cost OpenSharedCountsCost(mpc::Index counts, const std::vector<int>& to) {
  return ThenUnturned(protocols::ReshareCost(counts), protocols::RevealToEachCost(to, counts));
}

}  // namespace trefoil::ml
