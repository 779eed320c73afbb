#pragma once
#include <vector>

#include "ml/clear/linear_classifier.h"

namespace trefoil::ml {

struct StudentSettings {
  double lambda = 0;  ///< as of ClassifierSettings
  int rounds = 0;     ///< of pseudo-labels; 0: the student is trained on the answers alone
  double keep = 0;    ///< fraction of the unlabelled rows that the last round takes, above 0, at most 1
};

/// A row without an answer, among labels.
inline constexpr int kUnlabelled = -1;

/// The student (PATE): a squared-loss classifier of public rows, some of which have an answer. Self-training:
/// in round r of R it labels the unlabelled rows itself, and is trained anew on the answers and on those
/// floor(keep r / R n) of the n unlabelled rows whose margin is largest (the first of equal ones). All of it
/// is post-processing of the answers. The same for any number of threads, to the bit.
/// Cost:   rounds + 1 times FitClassifier. Pre: a label a row, kUnlabelled or a class; at least one class.
/// Source: Papernot et al. (2017), section 2.3, with Scudder, "Probability of error of some adaptive
///         pattern-recognition machines" (1965), in place of its adversarial networks.
[[nodiscard]] Model TrainStudent(const FeatureRows& x, const std::vector<int>& labels, int classes,
                                 const StudentSettings& settings, ThreadPool& pool);
/// Its computation, for `rows` rows of which `answers` have one, as FitClassifierSeconds.
[[nodiscard]] double TrainStudentSeconds(std::int64_t rows, std::int64_t features, std::int64_t answers,
                                         int classes, const StudentSettings& settings);

}  // namespace trefoil::ml
