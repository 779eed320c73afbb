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

/// How a model does on clear records. Where its logits mean probabilities records are ranked by these, else by logits.
struct Evaluation {
  /// How well a class is told from the rest by its rank, from 0 to below 1.
  struct Roc {
    int of = 0;
    std::vector<ml::RocPoint> points;
  };
  /// Of models whose logits mean probabilities.
  struct Probabilities {
    double log_loss = 0;
    /// With two classes of the probability of class 1, else of that of the predicted class, and whether it is right.
    std::vector<ml::CalibrationBin> calibration;
  };

  ml::ConfusionTable table{2};
  double threshold = 0.5;  ///< two classes: by which the table was made
  std::vector<std::optional<double>>
      auc;               ///< of each class against the rest; with two classes both are equal
  std::vector<Roc> roc;  ///< of class 1 of two; else of the classes of the smallest and the largest area
  std::optional<Probabilities> probabilities{};

  /// The mean of the areas that there are; nothing where there is none.
  [[nodiscard]] std::optional<double> mean_auc() const;
};

/// Compares predictions with the labels. `table` has been prepared as for training (LoadRecords).
/// Throws DataError as Logits. Pre: records.
[[nodiscard]] Evaluation Evaluate(const ml::Model& model, const ModelSchema& schema,
                                  const data::Table& table);

/// What an accuracy hides, a sentence each with what may mend it: that all records are taken for one class, or else the
/// classes of which none is recognised, or else that two classes are ranked well and told apart badly.
[[nodiscard]] std::vector<std::string> WarningsOf(const Evaluation& evaluation, const RecordSchema& schema);

/// All of it, as `evaluate` writes it (docs/reference/formats.md, "evaluation.json").
[[nodiscard]] nlohmann::ordered_json ToJson(const Evaluation& evaluation, const RecordSchema& schema);

}  // namespace trefoil::jobs
