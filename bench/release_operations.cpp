#include "bench/release_operations.h"

#include <memory>
#include <utility>

#include "bench/prepare.h"
#include "ml/noise/noisy_counts.h"
#include "ml/noise/noisy_votes.h"

namespace trefoil::bench {
namespace {

using mpc::ArithShare;
using mpc::Context;
using mpc::Index;
using mpc::RingMatrix;

const std::vector<int> kAll{0, 1, 2};
constexpr int kSumBits = 40;

Prepared PrepareNoisyCounts(Context&, const Point& point) {
  return OnOne(
      RandomNumbers(point.count, 1, 30), ml::OpenNoisyCountsCost(point.count, kAll),
      [](Context& p, const RingMatrix& counts) { return ml::OpenNoisyCounts(p, counts, counts, kAll); });
}

/// Of queries with ten classes.
Prepared PrepareNoisyWinners(Context& party, const Point& point) {
  return OnOne(RandomShare(party, point.count, kClasses, 30),
               ml::OpenNoisyWinnersCost(point.count, kClasses, kVoteWidth, kAll),
               [noise = RandomNumbers(point.count, kClasses, 20)](Context& p, const ArithShare& votes) {
                 return ml::OpenNoisyWinners(p, votes, noise, kVoteWidth, kAll);
               });
}

Prepared PrepareAboveThreshold(Context& party, const Point& point) {
  return OnOne(RandomShare(party, point.count, kClasses, 30),
               ml::OpenAboveThresholdCost(point.count, kClasses, kVoteWidth),
               [noise = RandomNumbers(point.count, 1, 20)](Context& p, const ArithShare& votes) {
                 return ml::OpenAboveThreshold(p, votes, noise, 1000, kVoteWidth);
               });
}

std::shared_ptr<ml::OwnAverage> OwnPart(const Context& party, const ml::AverageShape& shape,
                                        Index noise_rows) {
  const Index owners = shape.owners.at(static_cast<std::size_t>(party.self()));
  auto own = std::make_shared<ml::OwnAverage>(ml::OwnAverage{.sizes = RandomNumbers(owners, 1, 12, true),
                                                             .weights = RandomNumbers(1, shape.weights, 30)});
  own->noise.values() = RandomNumbers(noise_rows, shape.weights, 30);
  return own;
}

Prepared PrepareClassifierSum(Context& party, const Point& point) {
  const auto shape = AverageShapeFor(point.count);
  return OnOne(OwnPart(party, shape, static_cast<Index>(shape.least_sizes.size())),
               ml::NoisyClassifierSumCost(shape),
               [shape](Context& p, const auto& own) { return ml::NoisyClassifierSum(p, shape, *own); });
}

Prepared PreparePublishedSum(Context& party, const Point& point) {
  const auto shape = AverageShapeFor(point.count);
  return OnOne(OwnPart(party, shape, shape.owners.at(static_cast<std::size_t>(party.self()))),
               ml::PublishedClassifierSumCost(shape),
               [shape](Context& p, const auto& own) { return ml::PublishedClassifierSum(p, shape, *own); });
}

Prepared PrepareAverageOfSum(Context& party, const Point& point) {
  const auto shape = AverageShapeFor(point.count);
  return OnOne(
      RandomShare(party, 1, point.count, kSumBits), ml::AverageOfSumCost(shape),
      [shape](Context& p, const ArithShare& sum) { return ml::AverageOfSum(p, shape, sum, kSumBits); });
}

Prepared PrepareTransferStep(Context&, const Point& point) {
  const auto plan = TransferPlanFor(*point.shape);
  const RingMatrix x = ml::EncodeTransferRows(
      plan,
      mpc::Decode(RandomNumbers(plan.settings.rows, plan.settings.features, kFractionBits), kFractionBits));
  return OnOne(
      RandomNumbers(plan.settings.rows, 1, 4, true), ml::MinimiseTransferRiskCost(plan),
      [plan, x](Context& p, const RingMatrix& votes) { return ml::MinimiseTransferRisk(p, plan, x, votes); });
}

}  // namespace

ml::AverageShape AverageShapeFor(Index weights) {
  ml::AverageShape shape{
      .owners = {2, 2, 1}, .weights = weights, .least_sizes = {}, .noisy_size = true, .width = 24};
  for (std::int64_t g = 0; g < 16; ++g) shape.least_sizes.push_back(200 * (g + 1));
  return shape;
}

ml::TransferPlan TransferPlanFor(const ProductShape& shape) {
  return ml::MakeTransferPlan(
      {.owners = 100, .rows = shape.rows, .features = shape.inner, .lambda = 0.1, .steps = 1});
}

std::vector<Operation> ReleaseOperations() {
  return {{"noisy_counts", "bulk", false, PrepareNoisyCounts},
          {"noisy_winners", "bulk", false, PrepareNoisyWinners},
          {"above_threshold", "bulk", false, PrepareAboveThreshold},
          {"classifier_sum", "bulk", false, PrepareClassifierSum},
          {"classifier_sum_published", "bulk", false, PreparePublishedSum},
          {"average_of_sum", "bulk", false, PrepareAverageOfSum},
          {"transfer_step", "bulk", true, PrepareTransferStep}};
}

}  // namespace trefoil::bench
