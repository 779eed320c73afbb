#pragma once
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "jobs/dpsgd/settings/settings.h"
#include "jobs/job.h"
#include "jobs/shown_results.h"
#include "ml/dpsgd/training.h"

namespace trefoil::jobs {

/// What the summary of a training says of the evaluation; null where there was none.
[[nodiscard]] nlohmann::ordered_json EvaluationJson(const DpsgdSettings& job,
                                                    const ml::TrainingResult& result);

/// Of that: correct ones over records, cut to 0 ... 1 where noise leads beyond; null where the count is not
/// known.
[[nodiscard]] nlohmann::ordered_json AccuracyOf(const nlohmann::ordered_json& evaluation);

/// The same in a line for the user, classes by their names; empty where there was no evaluation.
[[nodiscard]] std::string EvaluationLine(const DpsgdSettings& job, const nlohmann::ordered_json& evaluation);

/// The same for the report: classes, confusion table, of two classes bins, and of bins ROC and, of a loss
/// that says probabilities, calibration, with more than two classes of each, up to 20, where noise leaves an
/// AUC to be said; nothing where only a count was opened, or nothing to this party.
[[nodiscard]] ShownResults ShownEvaluation(const DpsgdSettings& job,
                                           const nlohmann::ordered_json& evaluation);

/// What an evaluation opened to this party, for its session log.
void AddOpened(const ml::EvaluationResult& evaluation, std::vector<ReleasedValue>& values);

}  // namespace trefoil::jobs
