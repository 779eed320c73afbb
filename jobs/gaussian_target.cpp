#include "jobs/gaussian_target.h"

#include "dp/accounting/accountant.h"
#include "ml/on_shares/correct_counts.h"
#include "ml/plan/step_privacy.h"

namespace trefoil::jobs {

double SigmaOf(const GaussianTarget& target) {
  return SigmaOf(target, [&](double sigma) { return EventOf(target, sigma); });
}

double SigmaOf(const GaussianTarget& target, const std::function<dp::RecordedEvent(double sigma)>& event) {
  if (target.sigma) return ml::OnSigmaLattice(*target.sigma);
  return ml::OnSigmaLattice(dp::SmallestNoiseMultiplier(*target.epsilon, [&](double sigma) {
    const auto epsilons = dp::Epsilons({.job_hash = {}, .run_id = {}, .events = {event(sigma)}}, target.delta,
                                       target.accountant);
    return target.insiders ? epsilons.insider : epsilons.outsider;
  }));
}

dp::GaussianReleases EventOf(const GaussianTarget& target, double sigma) {
  const double rounded = ml::OnSigmaLattice(sigma);
  return {.count = target.releases,
          .coordinates = target.coordinates,
          .sigma = rounded,
          .party_deviation = ml::CountDeviation(rounded, target.sensitivity)};
}

}  // namespace trefoil::jobs
