#pragma once
#include <string>

#include "jobs/files/model_file.h"

namespace trefoil::apps {

// What a linear model says of each column of its table, in that column's unit (docs/howto/tables.md, "What a
// model says of each column").

/// As CSV: a header, then for each output a line of the intercept and one of each number that a record has.
/// Throws ConfigError for a model with hidden layers, or of features that are extracted.
[[nodiscard]] std::string CoefficientsCsv(const jobs::ModelFile& model);

/// The same as a section of the report; empty for models without coefficients, and, of large ones, how to get
/// them.
[[nodiscard]] std::string CoefficientsSection(const jobs::ModelFile& model);

}  // namespace trefoil::apps
