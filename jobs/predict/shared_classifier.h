#pragma once
#include <optional>

#include "jobs/files/share_file.h"
#include "jobs/job_cost.h"
#include "jobs/predict/settings.h"
#include "ml/on_shares/prediction.h"
#include "protocols/form.h"

namespace trefoil::jobs {

/// What the parties do for a prediction once they have agreed on keys: they see that their shares are of one
/// model, measure the link and classify the client's rows. Only the client gets anything. Pre: `own` are
/// LoadRowsToPredict(). Cost: ClassifyBySharesCost, by the form that the job of the model or the link
/// chooses. Throws: ConfigError for shares of different models; as ml::PredictOnShares.
[[nodiscard]] std::optional<ml::Predictions> ClassifyByShares(mpc::Context& party, const PredictSettings& job,
                                                              const ShareFile& model,
                                                              const ml::OwnRecords& own);

/// Of a model as ShareFile has it. Only a network compares otherwise in one form than in the other.
[[nodiscard]] JobCost ClassifyBySharesCost(const PredictSettings& job, const ModelSchema& model,
                                           protocols::Form form);

/// The form that a run would choose on a link.
[[nodiscard]] protocols::Form ClassifierForm(const PredictSettings& job, const ModelSchema& model,
                                             const protocols::Link& link);

}  // namespace trefoil::jobs
