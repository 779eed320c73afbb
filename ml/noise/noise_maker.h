#pragma once
#include <atomic>
#include <functional>

#include "base/secrets/random.h"
#include "dp/mechanisms/discrete_gaussian.h"
#include "ml/noise/noise_source.h"

namespace trefoil::ml {

/// What draws a party's noise ahead, in a Prefetcher's thread: rows x cols samples each time, from one
/// stream. Once they are unwanted it stops soon.
[[nodiscard]] std::function<StepNoise(const std::atomic<bool>& unwanted)> NoiseMaker(
    mpc::Index rows, mpc::Index cols, const dp::DiscreteGaussian& sampler, RandomStream stream);

}  // namespace trefoil::ml
