#include "ml/noise/noise_source.h"

#include <memory>
#include <utility>

#include "base/secrets/secure_memory.h"
#include "ml/noise/noise_maker.h"
#include "ml/plan/step_privacy.h"

namespace trefoil::ml {
namespace {

constexpr std::size_t kStepsAhead = 2;
constexpr mpc::Index kSamplesBetweenLooks = 4096;  // about a millisecond

}  // namespace

StepNoise::~StepNoise() { Wipe({values_.data(), static_cast<std::size_t>(values_.size())}); }

std::function<StepNoise(const std::atomic<bool>& unwanted)> NoiseMaker(mpc::Index rows, mpc::Index cols,
                                                                       const dp::DiscreteGaussian& sampler,
                                                                       RandomStream stream) {
  // std::function wants something that can be copied.
  const auto shared = std::make_shared<RandomStream>(std::move(stream));
  return [rows, cols, shared, sampler](const std::atomic<bool>& unwanted) {
    StepNoise noise(rows, cols);
    mpc::RingMatrix& values = noise.values();
    for (mpc::Index k = 0; k < values.size(); ++k) {
      if (k % kSamplesBetweenLooks == 0 && unwanted) break;
      values.data()[k] = static_cast<mpc::Word>(sampler.Sample(*shared));
    }
    return noise;
  };
}

NoiseSource::NoiseSource(const StepPlan& plan, double sigma, RandomStream stream)
    : NoiseSource(plan, sigma, ShapeOfWeights(plan), std::move(stream)) {}

NoiseSource::NoiseSource(const StepPlan& plan, double sigma, const LayerShape& shape, RandomStream stream)
    : rows_(shape.inputs), cols_(shape.outputs) {
  if (sigma == 0) return;
  ahead_.emplace(kStepsAhead, NoiseMaker(rows_, cols_, dp::DiscreteGaussian(NoiseVariance(plan, sigma)),
                                         std::move(stream)));
}

void NoiseSource::WaitUntilFull() {
  if (ahead_) ahead_->WaitUntilFull();
}

StepNoise NoiseSource::Next() { return ahead_ ? ahead_->Next() : StepNoise(rows_, cols_); }

}  // namespace trefoil::ml
