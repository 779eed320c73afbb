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

namespace trefoil::jobs {
namespace {

constexpr double kWord = 8;
constexpr double kComponents = 2;
constexpr double kBytesOfAProgressLine = 60;

/// Of narrow rows that owners input afresh: the batch, in which a party has both components of its own rows
/// and one of others', and of the next batch a message that waits, and both components of what this party
/// makes meanwhile, with its message.
double NarrowBatches(const ml::StepPlan& plan, std::size_t party, int ranks) {
  const auto heights = ml::RankLimits(plan.settings, ranks);
  const auto own = static_cast<double>(heights.at(party));
  const auto waiting = static_cast<double>(heights.at((party + 1) % heights.size()));
  const auto all = static_cast<double>(std::accumulate(heights.begin(), heights.end(), std::int64_t{0}));
  const mpc::NarrowColumns narrow = ml::NarrowRows(plan);
  const double packed = static_cast<double>(narrow.packed()) * std::ceil(narrow.width / 8.0);
  const double whole = kWord * static_cast<double>(ml::EncodedColumns(plan) - narrow.packed());
  return (all + own + waiting + 3 * own) * packed + 2 * kComponents * all * whole;
}

double WeightsOf(const ml::StepPlan& plan) { return static_cast<double>(ml::ShapeOfWeights(plan).weights()); }

}  // namespace

double MinMemory(const DpsgdSettings& job, const ml::StepPlan& plan, std::size_t party, int ranks) {
  const ml::TrainingSettings& s = plan.settings;
  const auto own = s.deposited ? 0 : static_cast<double>(s.rows.at(s.vertical ? 0 : party));
  const auto features = static_cast<double>(s.vertical ? s.vertical->features.at(party) : s.features);
  if (job.store.memory) return RowMemory(job) + kComponents * kWord * 2 * WeightsOf(plan);
  // With public sampling all rows are shared; else the batch of a step and the next one, or all rows in the
  // form in which they are shared and in that of a batch.
  const double rows =
      s.sampling == ml::Sampling::kPublic
          ? static_cast<double>(std::accumulate(s.rows.begin(), s.rows.end(), std::int64_t{0}))
          : 2 * static_cast<double>(ranks > 1 ? ml::RowsAtOnce(plan, ranks) : plan.batch_rows);
  const double batches = HasNarrowRows(plan)
                             ? NarrowBatches(plan, party, ranks)
                             : kComponents * kWord * rows * static_cast<double>(ml::EncodedColumns(plan));
  const double held =
      MayStayOnDisk(job) ? static_cast<double>(kMaxInMemory) : std::numeric_limits<double>::infinity();
  // Of deposited batches also what was deposited: of one component words, in no more bytes than a number
  // needs.
  const double deposits =
      s.batches ? static_cast<double>(s.steps) * static_cast<double>(plan.batch_rows) *
                      (features * std::ceil(ml::DepositedFeatureBits(s.row_norm, s.fraction_bits) / 8.0) +
                       kWord * static_cast<double>(1 + plan.columns))
                : 0;
  return std::min(own * features * sizeof(float), held) + (party > 0 ? deposits : 0) + batches +
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
