#pragma once
#include <vector>

#include "jobs/files/share_file.h"
#include "jobs/job.h"
#include "jobs/predict/settings.h"
#include "jobs/shared_records.h"

namespace trefoil::jobs {

/// Predictions of what owners deposited: this party's part for each of them.
struct DepositedPredictions {
  std::vector<ResultFile> files{};  ///< predictions-ID.sealed, by the id of the deposit
  nlohmann::ordered_json deposits;  ///< SharedRecords::Checked::summary
  std::int64_t rows = 0;            ///< of all deposits that passed, padding included
};

/// What the parties do for predictions of deposits: AgreeOnModel; the deposits are agreed on and checked,
/// without any budget; their rows are classified on shares; and of each deposit's results every party seals
/// its components to the owner. Nothing is opened to a party. `job_hash` is HashOf the job. Cost:
/// ClassifyBySharesCost, beside SharedRecords::Share. Throws as AgreeOnModel, SharedRecords::Share and
/// ml::PredictDeposited.
[[nodiscard]] DepositedPredictions PredictDeposits(mpc::Context& party, const PredictSettings& job,
                                                   const std::string& job_hash, const ShareFile& model,
                                                   SharedRecords& records, Output& output);

}  // namespace trefoil::jobs
