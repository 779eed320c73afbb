#pragma once
#include <filesystem>
#include <string>

#include "jobs/evaluation/evaluation.h"
#include "jobs/evaluation/target_evaluation.h"

namespace trefoil::apps {

/// What an evaluation is called in a run's directory, where the report looks for it.
inline constexpr const char* kEvaluationFile = "evaluation.json";

/// jobs::ToJson of an evaluation and, as `model`, the SHA-256 of the model's file, as text.
[[nodiscard]] std::string EvaluationText(const jobs::Evaluation& evaluation, const jobs::RecordSchema& schema,
                                         const std::filesystem::path& model);

/// The same of a model of targets.
[[nodiscard]] std::string EvaluationText(const jobs::TargetEvaluation& evaluation,
                                         const std::filesystem::path& model);

/// The report's section of such a file: warnings, figures, ROC and calibration as plots, classes, confusion
/// table; of many classes without the last. Of targets: warnings, figures, calibration. Throws DataError
/// naming the file if it is something else, or of another model than the one at `model`, if there is one.
[[nodiscard]] std::string EvaluationSection(const std::filesystem::path& file,
                                            const std::filesystem::path& model);

}  // namespace trefoil::apps
