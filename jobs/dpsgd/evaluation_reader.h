#pragma once
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "jobs/config/toml_reader.h"
#include "jobs/dpsgd/settings.h"
#include "ml/plan/settings.h"

namespace trefoil::jobs {

/// The keys of [evaluation], in full.
[[nodiscard]] const std::vector<std::string>& EvaluationKeys();

/// Reads [evaluation]; nothing where the table is absent or empty. Throws ConfigError as Section.
[[nodiscard]] std::optional<EvaluationSpec> ReadEvaluation(const Section& section);

/// The table as it was read, defaults filled in.
[[nodiscard]] nlohmann::json EvaluationJson(const EvaluationSpec& evaluation);

/// What the training needs of it.
[[nodiscard]] std::optional<ml::EvaluationSettings> EvaluationOf(const std::optional<EvaluationSpec>& spec);

}  // namespace trefoil::jobs
