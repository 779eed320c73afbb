#include "jobs/predict/deposited_predictions.h"

#include <spdlog/fmt/fmt.h>

#include <utility>

#include "jobs/deposited_records.h"
#include "jobs/predict/shared_classifier.h"
#include "ml/on_deposits/deposited_prediction.h"
#include "ml/on_shares/correct_counts.h"
#include "protocols/arithmetic/reveal.h"

namespace trefoil::jobs {

DepositedPredictions PredictDeposits(mpc::Context& party, const PredictSettings& job,
                                     const std::string& job_hash, const ShareFile& model,
                                     SharedRecords& records, Output& output) {
  const auto plan = AgreeOnModel(party, job, model);
  auto checked = TakeDeposits(party, records, output, {});
  std::vector<mpc::Index> heights;
  for (const auto& rows : checked.rows) heights.push_back(rows.rows());
  const auto results = ml::PredictDeposited(party, plan, model.weights, std::move(checked.rows),
                                            {.rows = job.rows, .scores = job.scores});
  DepositedPredictions made{.deposits = std::move(checked.summary)};
  PartForOwner part{.run = job.run, .job = job_hash, .scores = job.scores};
  if (job.scores) {
    part.fraction_bits = 2 * plan.settings.fraction_bits;
    part.decision = ml::DecisionWord(plan);
  }
  for (std::size_t k = 0; k < heights.size(); ++k) {
    part.deposit = checked.deposits.at(k);
    part.components = protocols::HandOut(Rows(results, made.rows, heights[k]),
                                         protocols::ReleaseReason::kPredictionsForOwner);
    made.files.push_back({.name = fmt::format("predictions-{}.sealed", part.deposit),
                          .text = records.SealForOwner(part),
                          .secret = true});
    made.rows += heights[k];
  }
  return made;
}

}  // namespace trefoil::jobs
