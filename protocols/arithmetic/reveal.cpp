#include "protocols/arithmetic/reveal.h"

#include <utility>

#include "base/error.h"
#include "mpc/simd/elementwise_kernels.h"

namespace trefoil::protocols {
namespace {

/// The value, of which the previous party sends the component that is not here. What is here is added up
/// while that is under way.
mpc::RingMatrix WithComponentOfPrevious(mpc::Context& party, const mpc::ArithShare& x) {
  mpc::RingMatrix value = mpc::SumOf(x.own(), x.next());
  party.AddReceivedWords(party.previous(), value);
  return value;
}

}  // namespace

std::string SentenceOf(ReleaseReason reason) {
  switch (reason) {
    case ReleaseReason::kTrainedModel:
      return "the trained model, every party's noise included, to those whom `release.to` names";
    case ReleaseReason::kAveragedModel:
      return "the sum of all owners' classifiers and its noise (`average.noise` says whose), to those whom "
             "`release.to` names";
    case ReleaseReason::kTransferredModel:
      return "a classifier trained on votes, every party's noise included, to those whom `release.to` names";
    case ReleaseReason::kNoisyCounts:
      return "noisy sums of counts, vectors or perturbed reports, to those whom the job names (of a training "
             "to all three)";
    case ReleaseReason::kClipCounts:
      return "at each step of a training with an adaptive clip how many of its rows are within it, with "
             "noise, to all three";
    case ReleaseReason::kVoteWinners:
      return "each query's class with the most votes, every party's noise included, to those whom "
             "`release.to` names";
    case ReleaseReason::kAboveThreshold:
      return "for each query whether its largest count, every party's noise included, is above a public "
             "threshold, to all three";
    case ReleaseReason::kCorrectCount:
      return "how many test records are classified correctly, to those whom `evaluation.to` names";
    case ReleaseReason::kScoreHistogram:
      return "noisy counts of test records by class and prediction, to those whom `evaluation.to` names";
    case ReleaseReason::kPredictedClasses:
      return "the classes of a client's own rows, to the client";
    case ReleaseReason::kPredictedScores:
      return "the logits of a client's own rows, to the client, where the job asks for scores";
    case ReleaseReason::kPredictionsForOwner:
      return "the classes of the rows that an owner deposited, or their logits, to that owner: sealed "
             "components of each party";
    case ReleaseReason::kSameRowKeys:
      return "whether all parties hold the same keys of rows: one bit, to all three";
    case ReleaseReason::kDepositFate:
      return "whether all rows of a deposit are within the bounds of its study: one bit, to all three";
    case ReleaseReason::kEmbeddingProgram:
      return "what a program that embeds Trefoil reveals, each time with a reason of its own, to those whom "
             "it "
             "names";
    case ReleaseReason::kMeasurement:
      return "random numbers and bits that `bench` makes and times";
    case ReleaseReason::kTest:
      return "values of a test";
  }
  throw ContractError("SentenceOf: a reason of the list");
}

// Party i lacks component i - 1, which the party before it holds first.

mpc::RingMatrix Reveal(mpc::Context& party, const mpc::ArithShare& x, ReleaseReason /*reason*/) {
  party.SendWords(party.next(), x.own());
  return WithComponentOfPrevious(party, x);
}

mpc::Cost RevealCost(mpc::Index count) {
  return mpc::Cost::EachToNext(8 * static_cast<std::uint64_t>(count));
}

std::optional<mpc::RingMatrix> RevealTo(mpc::Context& party, int receiver, const mpc::ArithShare& x,
                                        ReleaseReason /*reason*/) {
  Require(receiver >= 0 && receiver < net::kParties, "RevealTo: party 0, 1 or 2");
  if (party.next() == receiver) party.SendWords(receiver, x.own());
  if (party.self() != receiver) return std::nullopt;
  return WithComponentOfPrevious(party, x);
}

mpc::Cost RevealToCost(int receiver, mpc::Index count) {
  return mpc::Cost::Round(
      {{(receiver + 2) % net::kParties, receiver, 8 * static_cast<std::uint64_t>(count)}});
}

std::optional<mpc::RingMatrix> RevealToEach(mpc::Context& party, const std::vector<int>& receivers,
                                            const mpc::ArithShare& x, ReleaseReason reason) {
  std::optional<mpc::RingMatrix> opened;
  for (const int receiver : receivers) {
    auto values = RevealTo(party, receiver, x, reason);
    if (values) opened = std::move(values);
  }
  return opened;
}

mpc::Cost RevealToEachCost(const std::vector<int>& receivers, mpc::Index count) {
  mpc::Cost cost;
  for (const int receiver : receivers) cost = ThenUnturned(cost, RevealToCost(receiver, count));
  return cost;
}

mpc::BitMatrix RevealBits(mpc::Context& party, const mpc::BoolShare& x, ReleaseReason /*reason*/) {
  party.SendBits(party.next(), x.own());
  return x.own() ^ x.next() ^ party.ReceiveBits(party.previous(), x.planes(), x.count());
}

mpc::Cost RevealBitsCost(mpc::Index planes, mpc::Index count) {
  return mpc::Cost::EachToNext(mpc::PackedBytes(planes, count));
}

std::array<mpc::RingMatrix, 2> HandOut(const mpc::ArithShare& x, ReleaseReason /*reason*/) {
  return {x.own(), x.next()};
}

}  // namespace trefoil::protocols
