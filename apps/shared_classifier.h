#pragma once
#include <optional>

#include "apps/predict_job.h"
#include "apps/share_file.h"
#include "apps/task_cost.h"
#include "ml/prediction.h"
#include "protocols/form.h"

namespace trefoil::apps {

/// What the parties do for a prediction once they have agreed on keys: they see that their shares are of one
/// model, measure the link and classify the client's rows. Only the client gets anything. Pre: `own` are
/// LoadRowsToPredict(). Cost: ClassifyBySharesCost, by the form that the job of the model or the link
/// chooses. Throws: ConfigError for shares of different models; as ml::PredictOnShares.
[[nodiscard]] std::optional<ml::Predictions> ClassifyByShares(mpc::Context& party, const PredictJob& job,
                                                              const ShareFile& model,
                                                              const ml::OwnRecords& own);

/// `model`: the job of the training, or the schema that the model is for, as ShareFile has it. Only a network
/// compares otherwise in one form than in the other.
[[nodiscard]] TaskCost ClassifyBySharesCost(const PredictJob& job, const Job& model, protocols::Form form);

/// The form that a run would choose on a link.
[[nodiscard]] protocols::Form ClassifierForm(const PredictJob& job, const Job& model,
                                             const protocols::Link& link);

}  // namespace trefoil::apps
