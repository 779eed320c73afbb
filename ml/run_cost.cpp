#include "ml/run_cost.h"

#include <algorithm>

#include "ml/batch_source.h"
#include "ml/dp_sgd.h"
#include "ml/initialisation.h"
#include "ml/step_plan.h"
#include "ml/training.h"
#include "protocols/agreement.h"
#include "protocols/input.h"

namespace trefoil::ml {
namespace {

// Of the machine of docs/performance.md, read off steps of several sizes on loopback.
constexpr double kSecondsPerRound = 0.15e-3;  // hand-overs between the threads of a party
constexpr double kSecondsPerByte =
    4e-9;  // sent: made, encrypted, carried and received, by cores that all three share
constexpr double kSecondsPerMultiplyAdd = 1 / 5e9;  // ring products, two a pair of matrices
constexpr double kSecondsPerStep = 0.3e-3;          // progress, checks, threads that wake

std::uint64_t Most(const std::array<std::uint64_t, net::kParties>& bytes) {
  return *std::max_element(bytes.begin(), bytes.end());
}

std::array<std::uint64_t, net::kParties> BytesOf(const mpc::Cost& cost) {
  auto bytes = cost.bytes_sent();
  for (std::size_t party = 0; party < bytes.size(); ++party)
    bytes.at(party) += cost.bytes_offline().at(party);
  return bytes;
}

/// What comes before the first step, once.
mpc::Cost SetUpCost(const StepPlan& plan) {
  const TrainingSettings& settings = plan.settings;
  mpc::Cost cost = Then(protocols::AgreeOnKeysCost(), protocols::MeasureLinkCost());
  const bool shared_once = settings.sampling == Sampling::kPublic;
  if (shared_once) cost = Then(cost, protocols::JointSeedCost());
  if (shared_once && settings.vertical) cost = Then(cost, protocols::JointSeedCost());
  cost = Then(cost, protocols::RequireSameEverywhereCost());
  if (shared_once) cost = Then(cost, protocols::InputEachCost(RecordShapes(plan, settings.rows)));
  if (settings.initialisation) return Then(cost, InitialiseCost(plan, MakeInitialisationPlan(settings)));
  return IsNetwork(plan) ? Then(cost, protocols::JointSeedCost()) : cost;
}

/// Multiplications and additions of a step's ring products: forward and for the gradient, three shares of
/// products each.
double MultiplyAdds(const StepPlan& plan) {
  return 2 * 3 * static_cast<double>(ExpectedBatchRows(plan)) *
         static_cast<double>(ShapeOfWeights(plan).weights());
}

}  // namespace

RunCost PlannedRunCost(const TrainingSettings& settings, protocols::Form form) {
  const mpc::Cost before = SetUpCost(MakeStepPlan(settings, form));
  const mpc::Cost step = PlannedStepCost(settings, form);
  // Each step begins one turn of the roles later than the one before (mpc/dealing_ahead.h).
  std::array<mpc::Cost, net::kParties> turned{step, Then(mpc::Cost().WithTurn(), step),
                                              Then(mpc::Cost().WithTurn().WithTurn(), step)};
  RunCost run{.rounds = 0, .bytes_sent = BytesOf(before)};
  mpc::Cost chain = before;
  for (std::int64_t k = 0; k < settings.steps; ++k) {
    chain = Then(chain, step);
    const auto bytes = BytesOf(turned.at(static_cast<std::size_t>(k) % turned.size()));
    for (std::size_t party = 0; party < bytes.size(); ++party) run.bytes_sent.at(party) += bytes.at(party);
  }
  run.rounds = chain.rounds();
  return run;
}

protocols::Form PlannedForm(const TrainingSettings& settings, const protocols::Link& link) {
  return FasterForm(settings, ExpectedBatchRows(MakeStepPlan(settings)), link);
}

double PlannedRunSeconds(const TrainingSettings& settings, protocols::Form form,
                         const protocols::Link& link) {
  const StepPlan plan = MakeStepPlan(settings, form);
  const mpc::Cost step = PlannedStepCost(settings, form);
  const double computing =
      kSecondsPerStep + step.rounds() * kSecondsPerRound +
      static_cast<double>(Most(step.bytes_sent()) + Most(step.bytes_offline())) * kSecondsPerByte +
      MultiplyAdds(plan) * kSecondsPerMultiplyAdd + DpSgdStepSeconds(plan, ExpectedBatchRows(plan));
  const double before = protocols::ExpectedSeconds(SetUpCost(plan), 0, link);
  return before + static_cast<double>(settings.steps) * protocols::ExpectedSeconds(step, computing, link);
}

}  // namespace trefoil::ml
