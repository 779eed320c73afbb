#include "ml/plan/run_cost.h"

#include <algorithm>
#include <numeric>

#include "ml/batches/batch_source.h"
#include "ml/batches/deposited_rows.h"
#include "ml/batches/row_keys.h"
#include "ml/dpsgd/dp_sgd.h"
#include "ml/dpsgd/initialisation.h"
#include "ml/dpsgd/training.h"
#include "ml/dpsgd/training_steps.h"
#include "ml/noise/class_balance.h"
#include "ml/noise/noisy_sum.h"
#include "ml/plan/step_plan.h"
#include "ml/ranks/rank_rows.h"
#include "ml/ranks/rank_steps.h"
#include "ml/records.h"
#include "protocols/arithmetic/agreement.h"
#include "protocols/arithmetic/input.h"
#include "protocols/arithmetic/input_ahead.h"

namespace trefoil::ml {
namespace {

// Of the machine of docs/reference/performance.md, fitted to whole runs, where three parties share two cores.
constexpr double kSecondsPerStep = 1.0e-3;        // progress, noise, threads that wake
constexpr double kSecondsPerByte = 4.9e-9;        // sent: made, encrypted, carried, received and put together
constexpr double kSecondsPerOwnedElement = 6e-9;  // of a batch: drawn, encoded, masked, put into one matrix
constexpr double kSecondsPerSharedElement = 17e-9;       // of a public one: row by row from all shared ones
constexpr double kSecondsPerSharedPackedElement = 8e-9;  // the same of narrow rows, in half the bytes
constexpr double kSecondsPerReadElement = 17e-9;         // of a block: opened, checked and put into a matrix
constexpr double kCachedElements = 5e5;                  // of a batch, 16 bytes each
constexpr double kSecondsPerPackedElement = 5e-9;        // of narrow rows beyond: packed, taken apart
constexpr double kSecondsPerUnpackedElement = 3e-9;      // of other rows of owners beyond: two words each
constexpr double kSecondsPerFirstElement = 40e-9;        // once: memory that is new in the first steps
constexpr double kSecondsPerFirstPackedElement = 20e-9;  // the same of narrow rows
constexpr double kSecondsPerJoinedElement = 25e-9;       // once: rows put together of the parties' columns
constexpr double kSecondsPerMultiplyAdd = 0.24e-9;       // of ring products, two a pair of matrices
constexpr double kPackedMultiplyAdds = 2.0 / 3;          // of these: of others' rows one component is zero
constexpr double kSecondsPerMultipliedElement = 7e-9;    // beyond, at least: both products read it
constexpr double kSecondsPerEpsilon = 0.12;              // of loss distributions, both adversaries
constexpr double kEpsilonsOfCalibration = 4;             // which computes one adversary's, some seven times
constexpr double kSecondsPerByteBeforeSteps = 17e-9;  // rows that are shared once come to lie in new memory
// Of a party's own training, in double precision.
constexpr double kSecondsPerLocalElement = 10e-9;  // of a batch: read, encoded, converted
constexpr double kSecondsPerLocalMultiplyAdd = 0.9e-9;
// Of sessions that are no trainings, whose rounds are short and follow on one another.
constexpr double kSecondsPerRound = 0.2e-3;       // threads that wake
constexpr double kSecondsPerWaitedByte = 3.4e-9;  // of the party that sends most, in each part
constexpr double kSecondsPerDraw = 350e-9;
constexpr double kSecondsPerClearElement = 17e-9;
constexpr double kSecondsPerLine = 2e-6;  // put together of a few fields, and written

/// By one party, as parties take turns at the roles.
double MeanBytes(const std::array<std::uint64_t, net::kParties>& bytes) {
  return static_cast<double>(std::accumulate(bytes.begin(), bytes.end(), std::uint64_t{0})) / net::kParties;
}

std::array<std::uint64_t, net::kParties> BytesOf(const mpc::Cost& cost) {
  auto bytes = cost.bytes_sent();
  for (std::size_t party = 0; party < bytes.size(); ++party)
    bytes.at(party) += cost.bytes_offline().at(party);
  return bytes;
}

/// By the party that sends most.
double MaxBytes(const mpc::Cost& cost) {
  const auto bytes = BytesOf(cost);
  return static_cast<double>(*std::max_element(bytes.begin(), bytes.end()));
}

/// Of the columns that owners input once for all steps where the partition is vertical.
std::array<protocols::Shape, 3> SharedColumns(const StepPlan& plan) {
  std::array<protocols::Shape, 3> shapes;
  for (int owner = 0; owner < net::kParties; ++owner)  // the rows are the same at all three
    shapes.at(static_cast<std::size_t>(owner)) = {.rows = plan.settings.rows[0],
                                                  .cols = BlockColumns(plan, owner)};
  return shapes;
}

/// What comes before the first step, once.
mpc::Cost SetUpCost(const StepPlan& plan, int ranks, const TrainingStart& start) {
  const TrainingSettings& settings = plan.settings;
  mpc::Cost cost =
      Then(Then(protocols::AgreeOnKeysCost(), start.before.messages), protocols::MeasureLinkCost());
  const bool shared_once = settings.sampling != Sampling::kOwnerPoisson &&
                           settings.sampling != Sampling::kDeposited && settings.block_rows == 0;
  if (settings.sampling == Sampling::kPublic) cost = Then(cost, protocols::JointSeedCost());
  if (settings.vertical) cost = Then(Then(cost, protocols::JointSeedCost()), RequireSameKeysCost());
  cost = Then(cost, protocols::RequireSameEverywhereCost());
  for (const auto& opened : {settings.ranges, settings.standardisation}) {
    if (!opened) continue;
    cost = Then(cost, NoisySumCost(opened->coordinates, {0, 1, 2}));
    cost = Then(cost, protocols::RequireSameEverywhereCost());
  }
  if (settings.deposited && shared_once) {
    const auto rows = settings.rows[0] / start.deposits;  // as PlannedChecks() divides them
    for (std::int64_t k = 0; k < start.deposits; ++k) cost = Then(cost, EncodeDepositedCost(plan, rows));
  } else if (shared_once && settings.vertical) {
    cost = Then(cost, protocols::InputEachCost(SharedColumns(plan)));
  } else if (shared_once) {
    const auto shapes = RecordShapes(plan, RankLimits(settings, ranks));
    cost = Then(cost, protocols::InputAheadCost(shapes, NarrowRows(plan)));
  }
  if (settings.balance_sigma) cost = Then(cost, OpenClassCountsCost(plan));
  if (settings.initialisation) return Then(cost, InitialiseCost(plan, MakeInitialisationPlan(settings)));
  return IsNetwork(plan) ? Then(cost, protocols::JointSeedCost()) : cost;
}

/// Multiplications and additions of a step's ring products: forward and for the gradient, three shares of
/// products each; fewer of narrow rows.
double MultiplyAdds(const StepPlan& plan, std::int64_t rows) {
  const auto all = static_cast<double>(ShapeOfWeights(plan).weights());
  const auto of_rows = static_cast<double>(plan.layers.front().weights());
  // A public batch has both components of all rows.
  const bool leaves_out_zeros = HasNarrowRows(plan) && plan.settings.sampling != Sampling::kPublic;
  const double of_packed = leaves_out_zeros ? kPackedMultiplyAdds : 1;
  return 2 * 3 * static_cast<double>(rows) * (all - of_rows + of_packed * of_rows);
}

double SecondsPerElement(const StepPlan& plan) {
  const TrainingSettings& settings = plan.settings;
  if (settings.block_rows > 0) return kSecondsPerReadElement;
  if (settings.sampling == Sampling::kFull) return 0;  // one batch for all steps
  if (settings.sampling == Sampling::kOwnerPoisson) return kSecondsPerOwnedElement;
  return HasNarrowRows(plan) ? kSecondsPerSharedPackedElement : kSecondsPerSharedElement;
}

double BatchElements(const StepPlan& plan, std::int64_t rows) {
  return static_cast<double>(rows) * static_cast<double>(EncodedColumns(plan));
}

/// Of a batch beyond what caches hold: what only reads, writes and packs its rows takes as long as memory
/// does.
double UncachedElements(const StepPlan& plan, std::int64_t rows) {
  return std::max(BatchElements(plan, rows) - kCachedElements, 0.0);
}

/// Of a batch that owners input, beyond caches: narrow rows stay packed (docs/adr/0042-rows-stay-packed.md).
double UncachedSeconds(const StepPlan& plan, std::int64_t rows) {
  if (plan.settings.sampling != Sampling::kOwnerPoisson) return 0;
  return UncachedElements(plan, rows) *
         (HasNarrowRows(plan) ? kSecondsPerPackedElement : kSecondsPerUnpackedElement);
}

/// Of a step's ring products: where there are few columns they wait for the rows.
double ProductSeconds(const StepPlan& plan, std::int64_t rows) {
  return std::max(MultiplyAdds(plan, rows) * kSecondsPerMultiplyAdd,
                  UncachedElements(plan, rows) * kSecondsPerMultipliedElement);
}

/// Of memory that is new in the first steps: a batch's, or that of all rows that are put together of the
/// parties' columns.
double FirstSeconds(const StepPlan& plan, std::int64_t rows) {
  if (plan.settings.vertical)
    return BatchElements(plan, plan.settings.rows[0]) * (kSecondsPerFirstElement + kSecondsPerJoinedElement);
  return BatchElements(plan, rows) *
         (HasNarrowRows(plan) ? kSecondsPerFirstPackedElement : kSecondsPerFirstElement);
}

/// Of the training of a party with a third of all rows on its own records, all three at the same time.
double LocalSeconds(const StepPlan& plan) {
  if (!plan.settings.initialisation) return 0;
  const LocalSettings& local = plan.settings.initialisation->local;
  const auto weights = static_cast<double>(ShapeOfWeights(plan).weights());
  const double element = local.expected_batch * static_cast<double>(plan.settings.features + 1);
  return local.steps *
         (element * kSecondsPerLocalElement +
          2 * local.expected_batch * weights * kSecondsPerLocalMultiplyAdd + weights * kSecondsPerDraw);
}

/// What a session computes of epsilon, where that takes long: Gaussians that nothing samples have a formula.
double EpsilonSeconds(const TrainingSettings& settings) {
  if (settings.accountant != dp::AccountantKind::kPld || settings.sampling == Sampling::kFull) return 0;
  const int stride = StepsPerEpsilon(settings);
  const double reported = (settings.steps + stride - 1) / stride;
  return (reported + (settings.sigma ? 0 : kEpsilonsOfCalibration)) * kSecondsPerEpsilon;
}

/// Of parts of a session that is no training, or of what comes before one.
double SecondsOf(int rounds, double busiest_bytes, const Work& work, const protocols::Link& link) {
  const double computing = rounds * kSecondsPerRound + busiest_bytes * kSecondsPerWaitedByte +
                           work.draws * kSecondsPerDraw + work.elements * kSecondsPerClearElement +
                           work.lines * kSecondsPerLine + work.multiply_adds * kSecondsPerMultiplyAdd +
                           work.comparison_seconds + work.clear_seconds;
  return rounds * link.message_seconds + busiest_bytes / link.bytes_per_second + computing / link.speed;
}

}  // namespace

Work& Work::operator+=(const Work& more) {
  draws += more.draws;
  elements += more.elements;
  lines += more.lines;
  multiply_adds += more.multiply_adds;
  comparison_seconds += more.comparison_seconds;
  clear_seconds += more.clear_seconds;
  return *this;
}

RunCost PlannedRunCost(const TrainingSettings& settings, protocols::Form form, int ranks,
                       const TrainingStart& start) {
  const mpc::Cost before = SetUpCost(MakeStepPlan(settings, form), ranks, start);
  const mpc::Cost step = PlannedStepCost(settings, form, ranks);
  // Each step begins one turn of the roles later than the one before (mpc/dealing/preprocessing.h).
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

protocols::Form PlannedForm(const TrainingSettings& settings, const protocols::Link& link, int ranks) {
  return FasterForm(settings, RowsAtOnce(MakeStepPlan(settings), ranks), link);
}

double PlannedRunSeconds(const TrainingSettings& settings, protocols::Form form, const protocols::Link& link,
                         int ranks, const TrainingStart& start) {
  const StepPlan plan = MakeStepPlan(settings, form);
  const mpc::Cost step = PlannedStepCost(settings, form, ranks);
  const std::int64_t rows = ranks > 1 ? RowsAtOnce(plan, ranks) : plan.batch_rows;
  const double computing = kSecondsPerStep + MeanBytes(BytesOf(step)) * kSecondsPerByte +
                           BatchElements(plan, rows) * SecondsPerElement(plan) + UncachedSeconds(plan, rows) +
                           ProductSeconds(plan, rows) + DpSgdStepSeconds(plan, rows);
  const auto& [checked, work] = start.before;
  const mpc::Cost before = SetUpCost(plan, ranks, {.before = {}, .deposits = start.deposits});
  const double setting_up = MeanBytes(BytesOf(before)) * kSecondsPerByteBeforeSteps +
                            FirstSeconds(plan, rows) + LocalSeconds(plan) + EpsilonSeconds(settings);
  return SecondsOf(checked.rounds(), MaxBytes(checked), work, link) +
         protocols::ExpectedSeconds(before, setting_up / link.speed, link) +
         static_cast<double>(settings.steps) * protocols::ExpectedSeconds(step, computing / link.speed, link);
}

SessionCost::SessionCost() { Add(protocols::AgreeOnKeysCost()); }

void SessionCost::Add(const mpc::Cost& part, int times) {
  for (int k = 0; k < times; ++k) messages_ = Then(messages_, part);
  busiest_bytes_ += times * MaxBytes(part);
}

void SessionCost::AddUnturned(const mpc::Cost& part, int times) {
  for (int k = 0; k < times; ++k) messages_ = ThenUnturned(messages_, part);
  busiest_bytes_ += times * MaxBytes(part);
}

RunCost SessionCost::total() const {
  return {.rounds = messages_.rounds(), .bytes_sent = BytesOf(messages_)};
}

double SessionCost::Seconds(const Work& work, const protocols::Link& link) const {
  return SecondsOf(messages_.rounds(), busiest_bytes_, work, link);
}

}  // namespace trefoil::ml
