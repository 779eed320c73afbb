#include "ml/on_shares/average_plan.h"

#include <algorithm>
#include <cmath>
#include <sstream>

#include "base/ceil_log2.h"
#include "base/error.h"
#include "dp/accounting/calibration.h"
#include "dp/mechanisms/discrete_gaussian.h"
#include "dp/mechanisms/laplace_part.h"
#include "ml/on_shares/correct_counts.h"
#include "ml/plan/step_privacy.h"

namespace trefoil::ml {
namespace {

constexpr double kSmallestRate = 0x1p-20;
// Three parts of noise are beyond so many scales with probability below e^-60.
constexpr double kLargestScales = 80;
constexpr double kLargestSum = 0x1p62;

double OneUnit(const AverageSettings& settings) { return std::ldexp(1.0, settings.fraction_bits); }

template <typename Found, typename Expected>
[[noreturn]] void Refuse(const char* key, Found found, Expected expected) {
  std::ostringstream text;
  text << key << ": found " << found << ", expected " << expected;
  throw ConfigError(text.str());
}

/// A rate that the sampler has, not above `rate`.
dp::Ratio RateOf(const AverageSettings& settings, double rate) {
  if (!(rate >= kSmallestRate))
    Refuse("fraction_bits", settings.fraction_bits,
           "fewer: the noise would have a scale of more than 2^20 units");
  return dp::EpsilonBelow(rate, "rate of the noise");
}

/// Sizes from which each noise suffices: a geometric progression from least_rows on.
std::vector<std::int64_t> MinSizes(const AverageSettings& settings) {
  std::vector<std::int64_t> sizes{settings.min_rows};
  const double span =
      std::log(static_cast<double>(settings.max_rows) / static_cast<double>(settings.min_rows));
  for (int g = 1; g < settings.scales; ++g) {
    const auto size = static_cast<std::int64_t>(
        std::floor(static_cast<double>(settings.min_rows) * std::exp(span * g / settings.scales)));
    if (size > sizes.back()) sizes.push_back(size);
  }
  return sizes;
}

/// What the noisy smallest size costs in delta: half of it, so that something is left.
double SizeFailure(const AverageSettings& settings) {
  return settings.delta / (2 * (1 + std::exp(settings.epsilon)));
}

/// Of sizes that are compared, and their noise.
int SizeWidth(const AverageSettings& settings, const AveragePlan& plan) {
  const double noise = settings.size_epsilon ? kLargestScales / plan.size_rate.value() : 0;
  const double reach =
      2 * static_cast<double>(settings.max_rows) + static_cast<double>(plan.shape.margin) + noise + 2;
  return CeilLog2(reach) + 1;
}

/// At the minimiser lambda w is a mean of gradients.
double LargestWeight(const AverageSettings& settings) {
  return LipschitzBound(settings.row_norm, settings.solver.bias) / settings.solver.lambda +
         SolverGap(settings.solver, settings.row_norm, settings.max_rows, settings.features);
}

void BoundSum(const AverageSettings& settings, AveragePlan& plan, double largest_scale) {
  const double sum = static_cast<double>(settings.all_owners()) * plan.largest_weight * OneUnit(settings);
  plan.largest_sum = sum + kLargestScales * largest_scale;
  if (!(plan.largest_sum < kLargestSum))
    Refuse("fraction_bits", settings.fraction_bits, "fewer: the sum of all weights could leave the ring");
}

/// The published noise against an outsider: its scale over the true sensitivity. An insider may know all of
/// it.
void PlanPublished(const AverageSettings& settings, AveragePlan& plan) {
  // Rate times sensitivity grows with the smallest size.
  const double epsilon =
      PublishedRate(settings, settings.max_rows).value() * SumSensitivity(settings, settings.max_rows);
  BoundSum(settings, plan, 1 / PublishedRate(settings, settings.min_rows).value());
  plan.events = {dp::ApproximateReleases{.count = 1, .epsilon = epsilon, .failure = 0, .insiders = false}};
}

void PlanSizes(const AverageSettings& settings, AveragePlan& plan) {
  plan.shape.noisy_size = true;
  plan.size_rate = dp::EpsilonBelow(*settings.size_epsilon, "privacy.size_epsilon");
  (void)dp::LaplacePart(plan.size_rate);
  plan.shape.margin = dp::LaplacePartsMargin(plan.size_rate, SizeFailure(settings));
}

/// What the noisy smallest size is charged: epsilon, but where its noise is beyond the margin.
dp::ApproximateReleases SizeEvent(const AverageSettings& settings, const AveragePlan& plan) {
  return {.count = 1, .epsilon = plan.size_rate.value(), .failure = SizeFailure(settings)};
}

void PlanLaplace(const AverageSettings& settings, AveragePlan& plan) {
  const double left = settings.epsilon - (settings.size_epsilon ? plan.size_rate.value() : 0);
  double epsilon = 0;
  for (const auto size : plan.shape.min_sizes) {
    const double sensitivity = SumSensitivity(settings, size);
    plan.rates.push_back(RateOf(settings, left / sensitivity));
    epsilon = std::max(epsilon, plan.rates.back().value() * sensitivity);
  }
  BoundSum(settings, plan, 1 / plan.rates.front().value());
  if (!settings.size_epsilon) {
    plan.events = {dp::PureReleases{.count = 1, .epsilon = epsilon}};
    return;
  }
  auto event = SizeEvent(settings, plan);
  event.epsilon += epsilon;
  plan.events = {event};
}

/// What is charged at a multiplier: the sum, whichever scale its noise has (the narrowest is the farthest
/// from continuous), and the choice of that.
std::vector<dp::RecordedEvent> GaussianEvents(const AverageSettings& settings, const AveragePlan& plan,
                                              double sigma) {
  std::vector<dp::RecordedEvent> events;
  if (settings.size_epsilon) events.emplace_back(SizeEvent(settings, plan));
  events.emplace_back(
      dp::GaussianReleases{.count = 1,
                           .coordinates = plan.shape.weights,
                           .sigma = OnSigmaLattice(sigma),
                           .party_deviation = CountDeviation(sigma, plan.sensitivities.back())});
  return events;
}

void PlanGaussian(const AverageSettings& settings, AveragePlan& plan) {
  for (const auto size : plan.shape.min_sizes) plan.sensitivities.push_back(SumSensitivityL2(settings, size));
  plan.sigma = OnSigmaLattice(dp::SmallestNoiseMultiplier(settings.epsilon, [&](double sigma) {
    const dp::TrainingRecord record{
        .job_hash = {}, .run_id = {}, .events = GaussianEvents(settings, plan, sigma)};
    return dp::Epsilons(record, settings.delta, settings.accountant).insider;
  }));
  // Refuses noise too narrow for the lattice.
  (void)dp::DiscreteGaussian(CountVariance(plan.sigma, plan.sensitivities.back()));
  BoundSum(settings, plan, plan.sigma * static_cast<double>(plan.sensitivities.front()));
  plan.events = GaussianEvents(settings, plan, plan.sigma);
}

void PlanScales(const AverageSettings& settings, AveragePlan& plan) {
  if (settings.size_epsilon) PlanSizes(settings, plan);
  plan.shape.min_sizes = MinSizes(settings);
  if (settings.noise == AverageNoise::kGaussian) {
    PlanGaussian(settings, plan);
  } else {
    PlanLaplace(settings, plan);
  }
}

/// How far one owner's exact classifier moves, and with it what its solver stops short of, both times: L2.
double LargestMove(const AverageSettings& settings, std::int64_t rows) {
  const double bound = LipschitzBound(settings.row_norm, settings.solver.bias);
  return 2 * bound / (static_cast<double>(rows) * settings.solver.lambda) +
         2 * SolverGap(settings.solver, settings.row_norm, settings.max_rows, settings.features);
}

}  // namespace

double SumSensitivity(const AverageSettings& settings, std::int64_t rows) {
  const double weights = static_cast<double>(settings.weights());
  // Upwards, by more than double precision rounds.
  return (std::sqrt(weights) * LargestMove(settings, rows) * OneUnit(settings) + weights) * (1 + 1e-12);
}

std::uint64_t SumSensitivityL2(const AverageSettings& settings, std::int64_t rows) {
  const double rounding = std::sqrt(static_cast<double>(settings.weights()));
  return static_cast<std::uint64_t>(
      std::ceil((LargestMove(settings, rows) * OneUnit(settings) + rounding) * (1 + 1e-12)));
}

dp::Ratio PublishedRate(const AverageSettings& settings, std::int64_t rows) {
  return RateOf(settings, static_cast<double>(rows) * settings.epsilon * settings.solver.lambda /
                              (2 * static_cast<double>(settings.all_owners()) * OneUnit(settings)));
}

AveragePlan MakeAveragePlan(const AverageSettings& settings) {
  Require(settings.min_rows >= 1 && settings.max_rows >= settings.min_rows && settings.scales >= 1,
          "MakeAveragePlan: sizes and scales");
  if (settings.size_epsilon && !(*settings.size_epsilon < settings.epsilon))
    Refuse("privacy.size_epsilon", *settings.size_epsilon, "less than privacy.epsilon, which it is part of");
  if (SolverIterations(settings.solver, settings.row_norm) > kMaxIterations)
    Refuse("average.lambda", settings.solver.lambda,
           "a larger one, or a larger average.tolerance: the owners' solver could take more than 100000 "
           "iterations");
  // Lambda w is a mean of rows times numbers below 1.
  if (!(settings.row_norm / settings.solver.lambda * OneUnit(settings) > 1)) {
    std::ostringstream expected;
    expected << "more than average.lambda times 2^-" << settings.fraction_bits << ", "
             << settings.solver.lambda / OneUnit(settings)
             << ": at so many fraction_bits all weights could be 0 but the bias";
    Refuse("features.row_norm", settings.row_norm, expected.str());
  }
  AveragePlan plan;
  for (std::size_t j = 0; j < 3; ++j) plan.shape.owners.at(j) = settings.owners.at(j);
  plan.shape.weights = settings.weights();
  plan.largest_weight = LargestWeight(settings);
  if (settings.noise == AverageNoise::kAsPublished) {
    PlanPublished(settings, plan);
  } else {
    PlanScales(settings, plan);
  }
  plan.shape.width = SizeWidth(settings, plan);
  return plan;
}

}  // namespace trefoil::ml
