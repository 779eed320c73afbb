#pragma once
#include <cstdint>
#include <optional>
#include <vector>

/// How well scores answer a question of yes or no, such as whether a record is of one class.
namespace trefoil::ml {

struct ScoredRecord {
  double score = 0;  ///< finite; the larger, the more the model says yes
  bool yes = false;  ///< what is true
};

/// The probability that a record of which yes is true has a larger score than one of which no is, equal
/// scores counted half: the area under the ROC curve, exact up to the last division. Nothing where one kind
/// is missing.
/// Cost: sorts the records. Pre: below 2^31 records.
[[nodiscard]] std::optional<double> Auc(std::vector<ScoredRecord> records);

/// Of all records of each kind, the shares whose score is at least some threshold.
struct RocPoint {
  double false_positives = 0;
  double true_positives = 0;
};

/// The ROC curve from (0, 0) to (1, 1), a point for each score that occurs, thinned to at most `most` + 1
/// points, evenly by records. Empty where one kind is missing. Pre: most >= 1.
[[nodiscard]] std::vector<RocPoint> RocCurve(std::vector<ScoredRecord> records, int most);

/// The records whose scores lie in one bin.
struct CalibrationBin {
  std::int64_t records = 0;
  double said = 0;        ///< the mean of their scores; 0 without records
  double true_share = 0;  ///< the share of yes among them; 0 without records
};

/// Bins of equal width over [0, 1], each without its upper end but for the last. Pre: scores in [0, 1], a
/// bin.
[[nodiscard]] std::vector<CalibrationBin> CalibrationOf(const std::vector<ScoredRecord>& records, int bins);

/// The mean over the records of how far what was said in their bin is from what is true there. Pre: records.
/// Source: Naeini, Cooper, Hauskrecht, "Obtaining well calibrated probabilities using Bayesian binning"
/// (2015).
[[nodiscard]] double ExpectedCalibrationError(const std::vector<CalibrationBin>& bins);

}  // namespace trefoil::ml
