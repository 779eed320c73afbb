#pragma once
#include <optional>

#include "jobs/files/share_file.h"
#include "jobs/job_cost.h"
#include "jobs/predict/settings.h"
#include "ml/on_shares/prediction.h"
#include "mpc/ranks.h"
#include "protocols/form.h"

namespace trefoil::jobs {

/// What the parties do for a prediction first of all: they see that their shares are of one model and measure
/// the link. Returns how the model classifies, in the form that its job or the link chooses. Throws:
/// ConfigError for shares of different models; NetworkError, ProtocolError.
[[nodiscard]] ml::StepPlan AgreeOnModel(mpc::Context& party, const PredictSettings& job,
                                        const ShareFile& model);

/// AgreeOnModel, then the client's rows are classified, by all of `ranks` where a party has several machines.
/// Only the client gets anything. Pre: `own` are LoadRowsToPredict(). Cost: ClassifyBySharesCost, by that
/// form. Throws as AgreeOnModel and ml::PredictOnShares.
[[nodiscard]] std::optional<ml::Predictions> ClassifyByShares(mpc::Context& party, const PredictSettings& job,
                                                              const ShareFile& model,
                                                              const ml::OwnRecords& own,
                                                              mpc::Ranks* ranks = nullptr);

/// What ranks above 0 do of ClassifyByShares: they are told the model by rank 0. Throws ConfigError as
/// RequireSameEverywhere and ParseModelSchema; NetworkError, ProtocolError.
void ServeClassifier(mpc::Context& party, const PredictSettings& job, mpc::Ranks& ranks, JobTypes types);

/// Of deposits AgreeOnModel, `checks` and ml::PredictDeposited. Of a model as ShareFile has it. Only a network
/// compares otherwise in one form than in the other. Of parties of several machines what the first of each
/// sends and holds.
[[nodiscard]] JobCost ClassifyBySharesCost(const PredictSettings& job, const ModelSchema& model,
                                           protocols::Form form, int ranks = 1,
                                           const ml::SessionPart& checks = {});

/// The form that a run would choose on a link.
[[nodiscard]] protocols::Form ClassifierForm(const PredictSettings& job, const ModelSchema& model,
                                             const protocols::Link& link);

}  // namespace trefoil::jobs
