#pragma once
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "data/dataset/load.h"
#include "jobs/records/model_schema.h"
#include "ml/dpsgd/training.h"
#include "ml/scores/binary_scores.h"
#include "ml/scores/confusion_table.h"

namespace trefoil::jobs {

/// How a model does on clear records. They are ranked by probabilities if the logits mean some, else by
/// logits.
struct Evaluation {
  /// How well a class is told from the rest by the records' ranks.
  struct Roc {
    int of = 0;  ///< the class
    std::vector<ml::RocPoint> points;
  };
  /// Of models whose logits mean probabilities.
  struct Probabilities {
    double log_loss = 0;
    /// Of two classes: of the probability of class 1. Of more: of the predicted class's, and whether it was
    /// right.
    std::vector<ml::CalibrationBin> calibration;
  };

  ml::ConfusionTable table{2};
  double threshold = 0.5;  ///< two classes: by which the table was made
  /// Of each class against the rest; with two classes both are equal.
  std::vector<std::optional<double>> auc;
  std::vector<Roc> roc;  ///< of class 1 of two; else of the classes of the smallest and the largest area
  std::optional<Probabilities> probabilities{};

  /// The mean of the areas that there are; nothing where there is none.
  [[nodiscard]] std::optional<double> mean_auc() const;
};

/// Compares predictions with the labels. `table` has been prepared as for training (LoadRecords).
/// Throws DataError as Logits. Pre: records.
[[nodiscard]] Evaluation Evaluate(const ml::Model& model, const ModelSchema& schema,
                                  const data::Table& table);

/// What an accuracy hides, each in a sentence that says what may mend it. The first of these that holds: all
/// records are taken for one class; of some classes none is recognised; two classes are ranked well and told
/// apart badly.
[[nodiscard]] std::vector<std::string> WarningsOf(const Evaluation& evaluation, const RecordSchema& schema);

/// All of it, as `evaluate` writes it (docs/reference/formats.md, "evaluation.json").
[[nodiscard]] nlohmann::ordered_json ToJson(const Evaluation& evaluation, const RecordSchema& schema);

}  // namespace trefoil::jobs
