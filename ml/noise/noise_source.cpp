#include "ml/noise/noise_source.h"

#include <memory>
#include <utility>

#include "base/secure_memory.h"
#include "dp/mechanisms/discrete_gaussian.h"
#include "ml/plan/step_privacy.h"

namespace trefoil::ml {
namespace {

constexpr std::size_t kStepsAhead = 2;
constexpr mpc::Index kSamplesBetweenLooks = 4096;  // about a millisecond

}  // namespace

StepNoise::~StepNoise() { Wipe({values_.data(), static_cast<std::size_t>(values_.size())}); }

NoiseSource::NoiseSource(const StepPlan& plan, double sigma, RandomStream stream)
    : rows_(ShapeOfWeights(plan).inputs), cols_(ShapeOfWeights(plan).outputs) {
  if (sigma == 0) return;
  // std::function wants something that can be copied.
  const auto shared = std::make_shared<RandomStream>(std::move(stream));
  const dp::DiscreteGaussian sampler(NoiseVariance(plan, sigma));
  ahead_.emplace(kStepsAhead,
                 [rows = rows_, cols = cols_, shared, sampler](const std::atomic<bool>& unwanted) {
                   StepNoise noise(rows, cols);
                   mpc::RingMatrix& values = noise.values();
                   for (mpc::Index k = 0; k < values.size(); ++k) {
                     if (k % kSamplesBetweenLooks == 0 && unwanted) break;
                     values.data()[k] = static_cast<mpc::Word>(sampler.Sample(*shared));
                   }
                   return noise;
                 });
}

void NoiseSource::WaitUntilFull() {
  if (ahead_) ahead_->WaitUntilFull();
}

StepNoise NoiseSource::Next() { return ahead_ ? ahead_->Next() : StepNoise(rows_, cols_); }

}  // namespace trefoil::ml
