#include "jobs/gaussian_target.h"

#include "dp/accounting/calibration.h"
#include "jobs/config/common_fields.h"
#include "ml/on_shares/correct_counts.h"
#include "ml/plan/step_privacy.h"

namespace trefoil::jobs {

void GaussianTables(FieldVisitor& v, GaussianSettings& s, const GaussianHelp& help,
                    const FieldVisitor::Part& more) {
  v.Table("privacy", help.privacy, [&] {
    AccountantField(v, s.accountant);
    CheckOneOfEpsilonAndSigma(v);
    v("epsilon", s.epsilon, kEpsilons, help.target);
    v("sigma", s.sigma, kSigmas, help.sigma);
    v("delta", s.delta, kDeltas, "At which both ε are said.");
    v("against", s.against, Adversaries(), Default(ml::Adversary::kInsider), "Whose ε the target is.");
    if (more) more();
  });
  ReleaseFields(v, help.to, s.to, false);
  v.Table("local", help.local, s.local);
}

GaussianTarget TargetOf(const GaussianSettings& settings, std::int64_t coordinates, std::uint64_t sensitivity,
                        std::int64_t releases) {
  return {.releases = releases,
          .coordinates = coordinates,
          .sensitivity = sensitivity,
          .epsilon = settings.epsilon,
          .sigma = settings.sigma,
          .delta = settings.delta,
          .accountant = settings.accountant,
          .insiders = settings.against == ml::Adversary::kInsider};
}

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
