#include <memory>
#include <utility>

#include "bench/entries.h"
#include "ml/noise/noisy_counts.h"
#include "ml/noise/noisy_sum.h"
#include "ml/noise/noisy_votes.h"
#include "ml/on_shares/classifier_average.h"
#include "ml/on_shares/ensemble_transfer.h"

namespace trefoil::bench {
namespace {

using mpc::ArithShare;
using mpc::Context;
using mpc::Index;
using mpc::RingMatrix;
using protocols::As;
using protocols::Entry;
using protocols::Inputs;
using protocols::On;
using protocols::Section;
using protocols::Size;

const std::vector<int> kAll{0, 1, 2};
constexpr int kVoteWidth = 40;  // noisy counts of votes fit it
constexpr int kSumBits = 40;

/// Five owners, and 16 noises to choose from.
ml::AverageShape AverageShapeFor(const Size& size) {
  ml::AverageShape shape{
      .owners = {2, 2, 1}, .weights = size.count, .min_sizes = {}, .noisy_size = true, .width = 24};
  for (std::int64_t g = 0; g < 16; ++g) shape.min_sizes.push_back(200 * (g + 1));
  return shape;
}

/// 100 owners' votes for count rows of inner features.
ml::TransferPlan TransferPlanFor(const Size& size) {
  return ml::MakeTransferPlan(
      {.owners = 100, .rows = size.count, .features = size.inner, .lambda = 0.1, .steps = 1});
}

/// This party's vector, and noisy sums of it one after the other: noise is drawn ahead as a job draws it.
struct SummedVector {
  SummedVector(Inputs& inputs, Index count)
      : own(inputs.Own(count, 1)),
        sums({.calls = 1'000'000, .coordinates = count, .sigma = 1, .sensitivity = 1 << 20},
             RandomStream::FromSystem()) {}

  RingMatrix own;
  ml::NoisySums sums;
};

Entry SumEntry(const std::string& section) {
  return {.name = "noisy_sum",
          .row = {"noisy sum of vectors, opened to all", "`NoisySum`", "number", section,
                  "as input; the noisy sum, which is the purpose"},
          .size = {.input_bits = 30},
          .cost = [](const Size& size) { return ml::NoisySumCost(size.count, kAll); },
          .prepare =
              [](Context&, Inputs& inputs, const Size& size) {
                const auto state = std::make_shared<SummedVector>(inputs, size.count);
                return protocols::Prepared{
                    .run =
                        [state](Context& running) {
                          return protocols::OutputOf(state->sums.Next(running, state->own));
                        },
                    .wait_until_ready = [state] { state->sums.WaitUntilFull(); }};
              }};
}

/// This party's owners' sizes and weights, and its noise.
std::shared_ptr<ml::OwnAverage> OwnPart(const Context& party, Inputs& inputs, const Size& size,
                                        bool published) {
  const ml::AverageShape shape = AverageShapeFor(size);
  const Index owners = shape.owners.at(static_cast<std::size_t>(party.self()));
  const auto noises = published ? owners : static_cast<Index>(shape.min_sizes.size());
  auto own = std::make_shared<ml::OwnAverage>(
      ml::OwnAverage{.sizes = inputs.Own(owners, 1), .weights = inputs.Own(1, shape.weights)});
  own->noise.values() = inputs.Own(noises, shape.weights);
  return own;
}

/// Votes of count queries, and this party's noise of as many columns as `noises` says.
template <typename Noises>
auto VotesAndNoise(Noises noises) {
  return [noises](Context&, Inputs& inputs, const Size& size) {
    return std::pair{inputs.Numbers(size.count, size.columns), inputs.Own(size.count, noises(size))};
  };
}

std::vector<Entry> CountsAndVotes(const std::string& section) {
  return {
      {.name = "noisy_counts",
       .row = {"noisy counts, opened to all", "`OpenNoisyCounts`", "count", section,
               "as input, re-share; the noisy counts, which is the purpose"},
       .size = {.input_bits = 30},
       .cost = [](const Size& size) { return ml::OpenNoisyCountsCost(size.count, kAll); },
       .prepare = On([](Context&, Inputs& inputs, const Size& size) { return inputs.Own(size.count, 1); },
                     [](Context& party, const RingMatrix& counts, const Size&) {
                       return ml::OpenNoisyCounts(party, counts, counts, kAll);
                     })},
      {.name = "noisy_winners",
       .row = {"winners of noisy votes, 10 classes, 40 bits, opened to all", "`OpenNoisyWinners`", "query",
               section, "as re-share, maximum (bulk); the winners, which is the purpose"},
       .size = {.count = 100, .columns = 10, .input_bits = 30},
       .cost =
           [](const Size& size) {
             return ml::OpenNoisyWinnersCost(size.count, size.columns, kVoteWidth, kAll);
           },
       .prepare = On(VotesAndNoise([](const Size& size) { return size.columns; }),
                     [](Context& party, const auto& in, const Size&) {
                       return ml::OpenNoisyWinners(party, in.first, in.second, kVoteWidth, kAll);
                     })},
      {.name = "above_threshold",
       .row = {"whether the largest noisy vote passes, the same", "`OpenAboveThreshold`", "query", section,
               "as maximum (bulk), re-share, comparison with thresholds; one bit, which is the purpose"},
       .size = {.count = 100, .columns = 10, .input_bits = 30},
       .cost =
           [](const Size& size) { return ml::OpenAboveThresholdCost(size.count, size.columns, kVoteWidth); },
       .prepare = On(VotesAndNoise([](const Size&) { return Index{1}; }),
                     [](Context& party, const auto& in, const Size&) {
                       return ml::OpenAboveThreshold(party, in.first, in.second, 1000, kVoteWidth);
                     })},
  };
}

std::vector<Entry> Classifiers(const std::string& section) {
  return {
      {.name = "classifier_sum",
       .row = {"noisy sum of five classifiers, 16 noises, 24 bits", "`NoisyClassifierSum`", "weight", section,
               As("input, maximum (bulk), comparison with thresholds, re-share")},
       .size = {.input_bits = 12},
       .positive = true,
       .cost = [](const Size& size) { return ml::NoisyClassifierSumCost(AverageShapeFor(size)); },
       .prepare = On([](Context& party, Inputs& inputs,
                        const Size& size) { return OwnPart(party, inputs, size, false); },
                     [](Context& party, const auto& own, const Size& size) {
                       return ml::NoisyClassifierSum(party, AverageShapeFor(size), *own);
                     })},
      {.name = "classifier_sum_published",
       .row = {"the same as published", "`PublishedClassifierSum`", "weight", section,
               As("input, maximum (bulk), re-share")},
       .size = {.input_bits = 12},
       .positive = true,
       .cost = [](const Size& size) { return ml::PublishedClassifierSumCost(AverageShapeFor(size)); },
       .prepare = On([](Context& party, Inputs& inputs,
                        const Size& size) { return OwnPart(party, inputs, size, true); },
                     [](Context& party, const auto& own, const Size& size) {
                       return ml::PublishedClassifierSum(party, AverageShapeFor(size), *own);
                     })},
      {.name = "average_of_sum",
       .row = {"an average in shares", "`AverageOfSum`", "weight", section, As("truncate"),
               "under 1 unit, and 2^−12"},
       .size = {.input_bits = kSumBits},
       .cost = [](const Size& size) { return ml::AverageOfSumCost(AverageShapeFor(size)); },
       .prepare = On([](Context&, Inputs& inputs, const Size& size) { return inputs.Numbers(1, size.count); },
                     [](Context& party, const ArithShare& sum, const Size& size) {
                       return ml::AverageOfSum(party, AverageShapeFor(size), sum, kSumBits);
                     })},
  };
}

Entry TransferEntry(const std::string& section) {
  return {.name = "transfer_step",
          .row = {"votes on 1,000 rows of 20 features, and a step", "`MinimiseTransferRisk`", "step", section,
                  As("input, sigmoid of a product, truncate a product"), "charged as a gap", 1},
          .size = {.count = 1000, .inner = 20, .input_bits = 4},
          .positive = true,
          .shaped = true,
          .cost = [](const Size& size) { return ml::MinimiseTransferRiskCost(TransferPlanFor(size)); },
          .prepare = On(
              [](Context&, Inputs& inputs, const Size& size) {
                const auto plan = TransferPlanFor(size);
                const Eigen::MatrixXd rows =
                    mpc::Decode(inputs.Own(size.count, size.inner), size.fraction_bits);
                return std::tuple{plan, ml::EncodeTransferRows(plan, rows), inputs.Own(size.count, 1)};
              },
              [](Context& party, const auto& in, const Size&) {
                const auto& [plan, rows, votes] = in;
                return ml::MinimiseTransferRisk(party, plan, rows, votes);
              })};
}

}  // namespace

std::vector<Entry> ReleaseEntries() {
  const std::string section = Section("Counts, votes and classifiers");
  return protocols::Joined(
      {{SumEntry(section)}, CountsAndVotes(section), Classifiers(section), {TransferEntry(section)}});
}

}  // namespace trefoil::bench
