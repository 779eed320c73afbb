#include "jobs/dpsgd/settings/needs.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "jobs/deposited_records.h"
#include "jobs/job_cost.h"
#include "ml/batches/batch_source.h"
#include "ml/batches/deposited_rows.h"
#include "ml/ranks/rank_rows.h"
#include "ml/ranks/rank_steps.h"
#include "ml/records.h"
#include "protocols/arithmetic/input_ahead.h"

namespace trefoil::jobs {
namespace {

constexpr double kWord = 8;
constexpr double kComponents = 2;
constexpr double kBytesOfAProgressLine = 60;

/// Of batches that owners input, with material for so many steps (training.steps_ahead).
double InputBytes(const ml::StepPlan& plan, std::size_t party, int ranks, std::int64_t ahead) {
  return protocols::InputAheadBytes(ml::RecordShapes(plan, ml::RankLimits(plan.settings, ranks)),
                                    ml::NarrowRows(plan), std::min<std::int64_t>(ahead, plan.settings.steps),
                                    static_cast<int>(party));
}

/// Of packed rows that are shared once: all of them, beside this party's message and the next party's as it is
/// taken apart; or with public sampling beside a step's batch of them, in both components.
double RowsOfOneSharing(const ml::StepPlan& plan, std::size_t party, int ranks) {
  const mpc::Index packed = ml::NarrowRows(plan).packed();
  const double of_row = static_cast<double>(packed) * plan.row_bits / 8 +
                        kWord * static_cast<double>(ml::EncodedColumns(plan) - packed);
  const auto rows = ml::RankLimits(plan.settings, ranks);
  const double sharing = InputBytes(plan, party, ranks, 1);
  const double received = of_row * static_cast<double>(rows.at((party + 1) % net::kParties));
  if (plan.settings.sampling != ml::Sampling::kPublic) return sharing + received;
  const double sent = of_row * static_cast<double>(rows.at(party));
  return sharing + std::max(received, kComponents * of_row * static_cast<double>(plan.batch_rows) - sent);
}

/// Rows on shares. With public sampling all; of full batches all, and this party's own as it shares them, of
/// deposited ones all in the form in which they are shared and in that of a batch; else the batch of a step
/// and the next one. What waits of further steps comes on top. Rows of words count as two batches with
/// training.steps_ahead = 0 as well, rather too much than too little.
double SharedRows(const ml::StepPlan& plan, std::size_t party, int ranks) {
  const ml::TrainingSettings& s = plan.settings;
  const std::int64_t ahead = s.steps_ahead;
  if (HasNarrowRows(plan)) {
    return s.sampling == ml::Sampling::kOwnerPoisson ? InputBytes(plan, party, ranks, ahead)
                                                     : RowsOfOneSharing(plan, party, ranks);
  }
  const auto at_once = static_cast<double>(ranks > 1 ? ml::RowsAtOnce(plan, ranks) : plan.batch_rows);
  const double rows =
      s.sampling == ml::Sampling::kPublic
          ? static_cast<double>(std::accumulate(s.rows.begin(), s.rows.end(), std::int64_t{0}))
      : s.sampling == ml::Sampling::kFull && !s.deposited
          ? at_once + static_cast<double>(ml::RankLimits(s, ranks).at(party))
          : 2 * at_once;
  const double batches = kComponents * kWord * rows * static_cast<double>(ml::EncodedColumns(plan));
  if (s.sampling != ml::Sampling::kOwnerPoisson || ahead <= 2) return batches;
  return batches + InputBytes(plan, party, ranks, ahead) - InputBytes(plan, party, ranks, 2);
}

double WeightsOf(const ml::StepPlan& plan) { return static_cast<double>(ml::ShapeOfWeights(plan).weights()); }

}  // namespace

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
  return std::min(own * features * sizeof(float), held) + (party > 0 ? deposits : 0) +
         SharedRows(plan, party, ranks) + ml::HandedOutBytes(plan, static_cast<int>(party), ranks) +
         kComponents * kWord * 2 * WeightsOf(plan);
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
