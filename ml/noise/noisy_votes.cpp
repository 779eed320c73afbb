#include "ml/noise/noisy_votes.h"

#include "base/error.h"
#include "ml/dpsgd/dp_sgd.h"
#include "protocols/arithmetic/multiply.h"
#include "protocols/arithmetic/reveal.h"
#include "protocols/comparison/threshold_comparison.h"
#include "protocols/functions/maximum.h"

namespace trefoil::ml {
namespace {

using mpc::ArithShare;
using mpc::Index;
using mpc::RingMatrix;

ArithShare WithNoise(mpc::Context& party, const ArithShare& x, const RingMatrix& noise) {
  return protocols::Reshare(party, AddNoise(ToAdditive(x), noise));
}

}  // namespace

ArithShare NoisyMaxBelow(mpc::Context& party, const ArithShare& votes, const RingMatrix& noise,
                         std::int64_t threshold, int width) {
  Require(noise.rows() == votes.rows() && noise.cols() == 1, "NoisyMaxBelow: noise for every query");
  const ArithShare most = protocols::RowMaximum(party, votes, width);
  const ArithShare noisy = WithNoise(party, most, noise);
  return protocols::BelowThresholds(party, noisy, {threshold + 1}, width);
}

std::vector<bool> OpenAboveThreshold(mpc::Context& party, const ArithShare& votes, const RingMatrix& noise,
                                     std::int64_t threshold, int width) {
  const ArithShare below = NoisyMaxBelow(party, votes, noise, threshold, width);
  const RingMatrix bits = protocols::Reveal(party, below, protocols::ReleaseReason::kAboveThreshold);
  std::vector<bool> above;
  for (Index query = 0; query < bits.size(); ++query) above.push_back(bits.data()[query] == 0);
  return above;
}

mpc::Cost OpenAboveThresholdCost(Index queries, Index classes, int width) {
  const mpc::Cost noisy =
      Then(protocols::RowMaximumCost(queries, classes, width), protocols::ReshareCost(queries));
  return Then(Then(noisy, protocols::BelowThresholdsCost(queries, 1, width)), protocols::RevealCost(queries));
}

std::optional<std::vector<int>> OpenNoisyWinners(mpc::Context& party, const ArithShare& votes,
                                                 const RingMatrix& noise, int width,
                                                 const std::vector<int>& to) {
  Require(noise.rows() == votes.rows() && noise.cols() == votes.cols(),
          "OpenNoisyWinners: noise for every count");
  const ArithShare noisy = WithNoise(party, votes, noise);
  const ArithShare winners = protocols::ColumnNumbers(protocols::RowArgMax(party, noisy, width));
  const auto numbers = protocols::RevealToEach(party, to, winners, protocols::ReleaseReason::kVoteWinners);
  if (!numbers) return std::nullopt;
  std::vector<int> opened;
  for (Index query = 0; query < numbers->rows(); ++query)
    opened.push_back(static_cast<int>(mpc::Signed((*numbers)(query, 0))));
  return opened;
}

mpc::Cost OpenNoisyWinnersCost(Index queries, Index classes, int width, const std::vector<int>& to) {
  const mpc::Cost cost =
      Then(protocols::ReshareCost(queries * classes), protocols::RowArgMaxCost(queries, classes, width));
  return ThenUnturned(cost, protocols::RevealToEachCost(to, queries));
}

}  // namespace trefoil::ml
