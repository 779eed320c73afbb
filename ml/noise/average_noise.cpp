#include "ml/noise/average_noise.h"

#include "ml/noise/noisy_counts.h"
#include "ml/on_shares/correct_counts.h"

namespace trefoil::ml {
namespace {

using mpc::Index;

StepNoise PartOf(const AveragePlan& plan, std::size_t scale, RandomStream stream) {
  if (plan.sigma > 0)
    return CountNoise(std::move(stream), plan.sigma, plan.sensitivities[scale], plan.shape.weights);
  return LaplaceParts(std::move(stream), plan.rates[scale], plan.shape.weights);
}

}  // namespace

void DrawNoise(const AveragePlan& plan, const std::function<RandomStream()>& stream, OwnAverage& own) {
  auto& noise = own.noise.values();
  const std::size_t scales = plan.shape.min_sizes.size();
  noise.resize(static_cast<Index>(scales), plan.shape.weights);
  for (std::size_t g = 0; g < scales; ++g)
    noise.row(static_cast<Index>(g)) = PartOf(plan, g, stream()).values().transpose();
  if (plan.shape.noisy_size) own.size_noise.values() = LaplaceParts(stream(), plan.size_rate, 1).values();
}

}  // namespace trefoil::ml
