#pragma once
#include <optional>

#include "base/secrets/random.h"
#include "base/threads/prefetcher.h"
#include "ml/plan/step_plan.h"
#include "mpc/ring.h"

namespace trefoil::ml {

/// One party's noise for one step, a lattice value for each parameter. Whoever knows it can take it off the
/// noisy sum, so it is wiped when it dies, and never copied.
class StepNoise {
 public:
  /// All zeros.
  StepNoise(mpc::Index rows, mpc::Index cols) : values_(mpc::RingMatrix::Zero(rows, cols)) {}
  StepNoise(StepNoise&&) noexcept = default;
  StepNoise& operator=(StepNoise&&) = delete;
  ~StepNoise();

  [[nodiscard]] const mpc::RingMatrix& values() const { return values_; }
  [[nodiscard]] mpc::RingMatrix& values() { return values_; }

 private:
  mpc::RingMatrix values_;
};

/// This party's noise for one step after the other: discrete Gaussians of NoiseVariance(plan, sigma), drawn
/// by a thread of its own, at most two steps ahead. Without noise (sigma 0: tests only) zeros, and no thread.
/// Not copyable or movable; used by one thread.
class NoiseSource {
 public:
  /// Of ShapeOfWeights, or of a part of all coordinates, which is of `shape`. `stream` is
  /// RandomStream::FromSystem() but in tests. Throws ConfigError where the variance is out of the sampler's
  /// domain.
  NoiseSource(const StepPlan& plan, double sigma, RandomStream stream);
  NoiseSource(const StepPlan& plan, double sigma, const LayerShape& shape, RandomStream stream);

  /// The next step's samples.
  [[nodiscard]] StepNoise Next();
  /// Waits until nothing more is drawn before Next is called. For measurements.
  void WaitUntilFull();

 private:
  mpc::Index rows_;
  mpc::Index cols_;
  std::optional<Prefetcher<StepNoise>> ahead_;
};

}  // namespace trefoil::ml
