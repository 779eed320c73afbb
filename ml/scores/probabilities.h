#pragma once
#include <Eigen/Core>
#include <vector>

#include "ml/plan/settings.h"

namespace trefoil::ml {

/// Whether logits of a model of this loss mean probabilities; those of the squared loss and Huber's do not.
[[nodiscard]] bool HasProbabilities(Loss loss);

/// The natural logarithms of a row's probabilities, one a class; the probabilities add up to 1. One logit is
/// that of class 1 of two, whose probability is its sigmoid. Of several, softmax; with one-vs-rest each one's
/// sigmoid, divided by the sum of all. They are within a few units in the last place, near probability 1 too,
/// so that rows keep their order.
/// Pre: HasProbabilities(loss), finite logits.
[[nodiscard]] Eigen::RowVectorXd LogProbabilities(Loss loss,
                                                  const Eigen::Ref<const Eigen::RowVectorXd>& logits);

/// The mean over the rows of minus the logarithm of the probability of what is true.
/// Pre: rows, for each of them its class, a column of `log_probabilities`.
[[nodiscard]] double LogLoss(const Eigen::MatrixXd& log_probabilities, const std::vector<int>& classes);

}  // namespace trefoil::ml
