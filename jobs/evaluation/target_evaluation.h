#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "data/dataset/table.h"
#include "jobs/records/model_schema.h"
#include "ml/dpsgd/training.h"

namespace trefoil::jobs {

/// How a model of targets does on clear records, in the target's own unit.
struct TargetEvaluation {
  /// A tenth of the records, in the order of their predictions.
  struct Bin {
    std::int64_t records = 0;
    double predicted = 0;  ///< the mean of their predictions
    double actual = 0;     ///< the mean of their targets
  };

  std::int64_t records = 0;
  double root_mean_squared_error = 0;
  std::optional<double> r_squared{};  ///< nothing where all targets are equal
  std::vector<Bin> calibration;       ///< by ascending predictions, ten or fewer; none is empty
};

/// Compares predictions with the targets, which are read to within 2^-25 of the width of their range. `table`
/// has been prepared as for training (LoadRecords). Throws DataError as Logits. Pre: records,
/// schema.records.data.target.
[[nodiscard]] TargetEvaluation EvaluateTargets(const ml::Model& model, const ModelSchema& schema,
                                               const data::Table& table);

/// R² and RMSE as `summary.json` has them, null where there is no evaluation; `local` fills them in for a
/// released model on test records.
[[nodiscard]] nlohmann::ordered_json FiguresJson(const std::optional<TargetEvaluation>& evaluation);

/// "R² 0.8123, RMSE 2.345"
[[nodiscard]] std::string FiguresOf(const TargetEvaluation& evaluation);

/// A sentence where the model is no better than the mean of the records' targets.
[[nodiscard]] std::vector<std::string> WarningsOf(const TargetEvaluation& evaluation);

/// All of it, as `evaluate` writes it (docs/reference/formats.md, "evaluation.json").
[[nodiscard]] nlohmann::ordered_json ToJson(const TargetEvaluation& evaluation);

}  // namespace trefoil::jobs
