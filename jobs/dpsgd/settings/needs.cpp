#include "jobs/dpsgd/settings/needs.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "jobs/deposited_records.h"
#include "jobs/job_cost.h"
#include "ml/batches/batch_source.h"
#include "ml/batches/deposited_rows.h"
#include "ml/dpsgd/dp_sgd.h"
#include "ml/plan/run_cost.h"
#include "ml/ranks/rank_rows.h"
#include "ml/ranks/rank_steps.h"
#include "ml/records.h"
#include "mpc/dealing/preprocessing.h"
#include "mpc/narrow/narrow_matrix.h"
#include "protocols/arithmetic/input_ahead.h"

namespace trefoil::jobs {
namespace {

constexpr double kWord = 8;
constexpr double kComponents = 2;
constexpr double kBytesOfAProgressLine = 60;
/// Of the program itself, with its libraries: what trainings of few rows held beside all that is counted (25
/// to 33 MB).
constexpr double kBytesOfProgram = 25e6;
/// That are there at once where most are, in the truncation of a sigmoid: logits, the mask that they were
/// opened with and what was opened, what is truncated, its mask and what is sent of it, and twice two words
/// that were dealt, as a message and as a matrix, beside the two into which they go.
constexpr double kWordsOfAnOutput = 12;

/// Of batches that owners input, with material for so many steps (training.steps_ahead). Where narrow rows of
/// a later step are made beside the one under way also their pieces in words: rows, what is drawn, the narrow
/// columns, their bit planes, and what the program takes apart meanwhile.
double InputBytes(const ml::StepPlan& plan, std::size_t party, int ranks, std::int64_t ahead) {
  constexpr double kPieces = 5;
  const auto shapes = ml::RecordShapes(plan, ml::RankLimits(plan.settings, ranks));
  const mpc::NarrowColumns narrow = ml::NarrowRows(plan);
  const protocols::Shape& own = shapes.at(party);
  const bool in_pieces = narrow.packed() > 0 && ahead > 1;
  const double piece =
      in_pieces ? kWord * static_cast<double>(std::min(own.rows, mpc::kRowsAtOnce) * own.cols) : 0;
  return kPieces * piece + protocols::InputAheadBytes(shapes, narrow,
                                                      std::min<std::int64_t>(ahead, plan.settings.steps),
                                                      static_cast<int>(party));
}

/// Bytes of rows on shares: at the most while they are shared, and beside a step on them.
struct RowBytes {
  double sharing = 0;
  double in_steps = 0;
};

/// Of packed rows that are shared once: while they are, beside this party's message and the next party's as
/// it is taken apart; with public sampling in a step beside its batch of them, in both components.
RowBytes PackedRowsOfOneSharing(const ml::StepPlan& plan, std::size_t party, int ranks) {
  const mpc::Index packed = ml::NarrowRows(plan).packed();
  const double of_row = static_cast<double>(packed) * plan.row_bits / 8 +
                        kWord * static_cast<double>(ml::EncodedColumns(plan) - packed);
  const auto rows = ml::RankLimits(plan.settings, ranks);
  const double sharing = InputBytes(plan, party, ranks, 1);
  const double sent = of_row * static_cast<double>(rows.at(party));
  const double received = of_row * static_cast<double>(rows.at((party + 1) % net::kParties));
  const bool taken = plan.settings.sampling == ml::Sampling::kPublic;
  return {
      .sharing = sharing + received,
      .in_steps = sharing - sent + (taken ? kComponents * of_row * static_cast<double>(plan.batch_rows) : 0)};
}

/// With public sampling all, and in a step its batch; of full batches all, and while they are shared this
/// party's own, or deposited ones in the form in which they were as well; else the batch of a step and the
/// next one. What waits of further steps comes on top. Rows of words count as two batches with
/// training.steps_ahead = 0 as well, rather too much than too little.
RowBytes SharedRows(const ml::StepPlan& plan, std::size_t party, int ranks) {
  const ml::TrainingSettings& s = plan.settings;
  const std::int64_t ahead = s.steps_ahead;
  const bool narrow = HasNarrowRows(plan);
  if (narrow && s.sampling != ml::Sampling::kOwnerPoisson) return PackedRowsOfOneSharing(plan, party, ranks);
  if (narrow) {
    const double inputs = InputBytes(plan, party, ranks, ahead);
    return {.sharing = inputs, .in_steps = inputs};
  }
  const double of_row = kComponents * kWord * static_cast<double>(ml::EncodedColumns(plan));
  const double batch = of_row * static_cast<double>(ml::RowsAtOnce(plan, ranks));
  if (s.sampling == ml::Sampling::kPublic) {
    const double all =
        of_row * static_cast<double>(std::accumulate(s.rows.begin(), s.rows.end(), std::int64_t{0}));
    return {.sharing = all, .in_steps = all + batch};
  }
  if (s.sampling == ml::Sampling::kFull) {
    const double before =
        s.deposited ? batch : of_row * static_cast<double>(ml::RankLimits(s, ranks).at(party));
    return {.sharing = batch + before, .in_steps = batch};
  }
  double batches = 2 * batch;
  if (s.sampling == ml::Sampling::kOwnerPoisson && ahead > 2)
    batches += InputBytes(plan, party, ranks, ahead) - InputBytes(plan, party, ranks, 2);
  return {.sharing = batches, .in_steps = batches};
}

/// What a step computes with beside its rows: what is dealt for it, and matrices of a number for each row and
/// output of a layer.
double StepBytes(const ml::StepPlan& plan, int ranks) {
  const ml::TrainingSettings& s = plan.settings;
  const mpc::Index rows = ml::RowsAtOnce(plan, ranks);
  const mpc::Cost cost = s.sampling == ml::Sampling::kDeposited
                             ? ml::PlannedStepCost(s, plan.activation.options.form)
                             : ml::DpSgdStepCost(plan, rows);
  double outputs = 0;
  for (const ml::LayerShape& layer : plan.layers) outputs += static_cast<double>(layer.outputs);
  return mpc::DealingBytes(cost, std::min<std::int64_t>(s.steps_ahead, s.steps)) +
         kWord * kWordsOfAnOutput * static_cast<double>(rows) * outputs;
}

double WeightsOf(const ml::StepPlan& plan) { return static_cast<double>(ml::ShapeOfWeights(plan).weights()); }

}  // namespace

ml::StepPlan StepInMemory(const ml::TrainingSettings& settings, const std::optional<protocols::Link>& link,
                          int ranks) {
  return ml::MakeStepPlan(settings, link ? ml::PlannedForm(settings, *link, ranks)
                                         : settings.comparison.value_or(protocols::Form::kBulk));
}

double MinMemory(const DpsgdSettings& job, const ml::StepPlan& plan, std::size_t party, int ranks) {
  const ml::TrainingSettings& s = plan.settings;
  const auto own = s.deposited ? 0 : static_cast<double>(s.rows.at(s.vertical ? 0 : party));
  const auto features = static_cast<double>(s.vertical ? s.vertical->features.at(party) : s.features);
  if (job.store.memory) return RowMemory(job) + kComponents * kWord * 2 * WeightsOf(plan);
  const double held =
      MayStayOnDisk(job) ? static_cast<double>(kMaxInMemory) : std::numeric_limits<double>::infinity();
  // Of deposited batches also what was deposited: of one component words, in no more bytes than a number
  // needs.
  const double deposits =
      s.batches ? static_cast<double>(s.steps) * static_cast<double>(plan.batch_rows) *
                      (features * std::ceil(ml::DepositedFeatureBits(s.row_norm, s.fraction_bits) / 8.0) +
                       kWord * static_cast<double>(1 + plan.columns))
                : 0;
  const RowBytes rows = SharedRows(plan, party, ranks);
  return kBytesOfProgram + std::min(own * features * sizeof(float), held) + (party > 0 ? deposits : 0) +
         std::max(rows.sharing, rows.in_steps + StepBytes(plan, ranks)) +
         ml::HandedOutBytes(plan, static_cast<int>(party), ranks) + kComponents * kWord * 2 * WeightsOf(plan);
}

double MinDisk(const ml::StepPlan& plan, bool checkpoints) {
  const double weights = WeightsOf(plan) * kWord;
  // Weights and velocity in two components each; the last two checkpoints, and the next one's draft.
  const double kept = checkpoints ? 3 * 2 * kComponents * weights : 0;
  return kBytesOfSmallFiles + static_cast<double>(plan.settings.steps) * kBytesOfAProgressLine + 2 * weights +
         kept;
}

ml::OwnRecords ReadOwn(const DpsgdSettings& job, const PartyFile& party, LoadOptions options) {
  options.max_in_memory = kMaxInMemory;
  options.group_rows = job.privacy.groups() ? job.privacy.max_group_rows : 0;
  return LoadOwnRecords(job, party.id, party.data, options);
}

}  // namespace trefoil::jobs
