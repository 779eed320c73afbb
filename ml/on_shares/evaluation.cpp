#include "ml/on_shares/evaluation.h"

#include <optional>
#include <utility>

#include "dp/mechanisms/discrete_gaussian.h"
#include "ml/on_shares/correct_counts.h"
#include "ml/on_shares/held_out.h"
#include "ml/plan/step_privacy.h"
#include "protocols/arithmetic/multiply.h"
#include "protocols/arithmetic/reveal.h"

namespace trefoil::ml {
namespace {

using mpc::AdditiveShare;
using mpc::ArithShare;
using mpc::Index;
using mpc::RingMatrix;

/// One record, in units of 2^-f.
std::uint64_t One(const StepPlan& plan) { return std::uint64_t{1} << plan.settings.fraction_bits; }

/// Opens the count to the parties that the settings name.
std::optional<double> OpenCount(mpc::Context& party, const StepPlan& plan, const ArithShare& count) {
  const auto opened = protocols::RevealToEach(party, plan.settings.evaluation->to, count,
                                              protocols::ReleaseReason::kCorrectCount);
  if (!opened) return std::nullopt;
  return mpc::Decode((*opened)(0, 0), plan.settings.fraction_bits);
}

}  // namespace

std::vector<dp::RecordedEvent> EvaluationEvents(const StepPlan& plan) {
  const auto& settings = plan.settings.evaluation;
  if (!settings || !settings->sigma) return {};
  (void)dp::DiscreteGaussian(CountVariance(*settings->sigma, One(plan)));
  return {dp::NoisyEvaluation{.sigma = OnSigmaLattice(*settings->sigma),
                              .party_deviation = CountDeviation(*settings->sigma, One(plan))}};
}

EvaluationResult EvaluateOnShares(mpc::Context& party, const StepPlan& plan, const mpc::FixedShare& weights,
                                  const OwnRecords& test) {
  const EvaluationSettings& settings = *plan.settings.evaluation;
  const net::Counters before = party.transport().counters();
  const auto logits = [&](mpc::Context& branch, const mpc::FixedShare& x) {
    return AboveDecision(branch, plan, Logits(branch, plan, x, weights));
  };
  AdditiveShare count = CountHeldOut(party, plan, settings.test, test, logits, kClassifiedWidth);
  if (settings.sigma)
    count = AddNoise(count, CountNoise(RandomStream::FromSystem(), *settings.sigma, One(plan), 1).values());
  EvaluationResult result{.records = settings.test.rows,
                          .correct = OpenCount(party, plan, protocols::Reshare(party, count))};
  const net::Counters& after = party.transport().counters();
  result.rounds = after.rounds - before.rounds;
  result.bytes_sent = after.bytes_sent + after.bytes_offline - before.bytes_sent - before.bytes_offline;
  return result;
}

mpc::Cost EvaluateOnSharesCost(const StepPlan& plan) {
  const EvaluationSettings& settings = *plan.settings.evaluation;
  const auto logits = [&](Index rows) { return LogitsCost(plan, rows); };
  const mpc::Cost cost =
      Then(CountHeldOutCost({}, plan, settings.test, 1, logits, kClassifiedWidth), protocols::ReshareCost(1));
  return ThenUnturned(cost, protocols::RevealToEachCost(settings.to, 1));
}

}  // namespace trefoil::ml
