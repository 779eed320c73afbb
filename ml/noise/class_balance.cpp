#include "ml/noise/class_balance.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "base/error.h"
#include "base/secrets/random.h"
#include "dp/mechanisms/discrete_gaussian.h"
#include "ml/noise/noisy_counts.h"
#include "ml/on_shares/correct_counts.h"
#include "ml/plan/step_privacy.h"

namespace trefoil::ml {
namespace {

constexpr int kMinBalancedBits = 8;  // no weight is below 2^-8, which every lattice of weights has
constexpr std::int64_t kMostCounted = std::int64_t{1} << 45;  // times 2^16 far below 2^63

/// What a unit of privacy, a record or a group of so many, moves of the counts, in units of 2^-f.
std::uint64_t BalanceSensitivity(const StepPlan& plan) {
  return static_cast<std::uint64_t>(plan.settings.group_rows) << plan.settings.fraction_bits;
}

/// Four deviations of any two parties' noise, rounded up, at least 1; in integers.
std::int64_t LeastCounted(const StepPlan& plan) {
  constexpr int kBits = 20;
  const auto sigma =
      static_cast<std::int64_t>(std::ldexp(OnSigmaLattice(*plan.settings.balance_sigma), kBits));
  const std::int64_t deviations = 4 * sigma * plan.settings.group_rows;
  return std::max<std::int64_t>(1, (deviations + (std::int64_t{1} << kBits) - 1) >> kBits);
}

/// This party's own, in units of 2^-f.
mpc::RingMatrix OwnCounts(const StepPlan& plan, const OwnRecords& own) {
  const int classes = plan.settings.classes;
  mpc::RingMatrix counts = mpc::RingMatrix::Zero(classes, 1);
  for (const int label : own.y) {
    if (label < 0 || label >= classes)
      throw DataError("data: found class " + std::to_string(label) + ", expected 0 to " +
                      std::to_string(classes - 1));
    counts(label, 0) += mpc::Word{1} << plan.settings.fraction_bits;
  }
  return counts;
}

}  // namespace

std::vector<std::int64_t> OpenClassCounts(mpc::Context& party, const StepPlan& plan, const OwnRecords& own) {
  Require(plan.settings.balance_sigma.has_value(), "OpenClassCounts: settings with balance_sigma");
  const mpc::RingMatrix counts = OwnCounts(plan, own);
  const StepNoise noise = CountNoise(RandomStream::FromSystem(), *plan.settings.balance_sigma,
                                     BalanceSensitivity(plan), counts.rows());
  const auto opened = OpenNoisyCounts(party, counts, noise.values(), {0, 1, 2});
  const int f = plan.settings.fraction_bits;
  std::vector<std::int64_t> nearest;
  for (mpc::Index k = 0; k < counts.rows(); ++k)
    nearest.push_back((mpc::Signed((*opened)(k, 0)) + (std::int64_t{1} << (f - 1))) >> f);
  return nearest;
}

mpc::Cost OpenClassCountsCost(const StepPlan& plan) {
  return OpenNoisyCountsCost(plan.settings.classes, {0, 1, 2});
}

std::vector<dp::RecordedEvent> ClassCountEvents(const StepPlan& plan) {
  if (!plan.settings.balance_sigma) return {};
  const double sigma = *plan.settings.balance_sigma;
  (void)dp::DiscreteGaussian(CountVariance(sigma, BalanceSensitivity(plan)));
  return {dp::GaussianReleases{.count = 1,
                               .coordinates = plan.settings.classes,
                               .sigma = OnSigmaLattice(sigma),
                               .party_deviation = CountDeviation(sigma, BalanceSensitivity(plan)),
                               .of = dp::ReleasedFor::kClassCounts}};
}

ClassWeights BalancedWeights(const StepPlan& plan, const std::vector<std::int64_t>& counts) {
  Require(plan.settings.balance_sigma && counts.size() == static_cast<std::size_t>(plan.settings.classes),
          "BalancedWeights: settings with balance_sigma, and a count a class");
  const int bits = plan.class_weights.frac_bits;
  const std::int64_t least = LeastCounted(plan);
  const auto counted = [&](std::int64_t count) { return std::clamp(count, least, kMostCounted); };
  const std::int64_t rarest = counted(*std::min_element(counts.begin(), counts.end()));
  const std::int64_t smallest = std::int64_t{1} << (bits - kMinBalancedBits);
  ClassWeights weights{.frac_bits = bits};
  for (const std::int64_t count : counts) {
    const std::int64_t own = counted(count);
    const std::int64_t nearest = ((rarest << bits) + own / 2) / own;  // at most 2^bits, as rarest <= own
    weights.of_class.push_back(static_cast<mpc::Word>(std::max(nearest, smallest)));
  }
  return weights;
}

std::vector<double> WeightsOf(const ClassWeights& weights) {
  std::vector<double> numbers;
  for (const mpc::Word weight : weights.of_class)
    numbers.push_back(std::ldexp(static_cast<double>(weight), -weights.frac_bits));
  return numbers;
}

std::vector<std::int64_t> BalanceClasses(mpc::Context& party, const OwnRecords& own,
                                         const std::optional<Checkpoint>& from, StepPlan& plan,
                                         std::optional<InitialisationPlan>& initialisation) {
  if (!plan.settings.balance_sigma) return {};
  auto counts = from ? from->class_counts : OpenClassCounts(party, plan, own);
  plan.class_weights = BalancedWeights(plan, counts);
  if (initialisation) initialisation->local.encoding.settings.class_weights = WeightsOf(plan.class_weights);
  return counts;
}

}  // namespace trefoil::ml
