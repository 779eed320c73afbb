#pragma once
#include <vector>

#include <Eigen/Core>
#include <cstdint>

#include "base/threads/thread_pool.h"
#include "ml/dpsgd/training.h"

/// Linear classifiers of records in the clear, at their owner, for teachers and students (PATE). Nothing is
/// sent.
namespace trefoil::ml {

using FeatureRows = decltype(OwnRecords::x);

enum class ClassifierLoss { kSquared, kOneVsRest };

struct ClassifierSettings {
  ClassifierLoss loss = ClassifierLoss::kSquared;
  double lambda = 0;        ///< of the l2 penalty, above 0; the bias is regularised like all weights
  double tolerance = 1e-4;  ///< of one-vs-rest: as LogisticSettings::tolerance
};

/// The classifier of these records: one column a class, or with two classes that of class 1. With w the
/// weights of a column, bias included, and t_i = 1 where record i is of its class and -1 where not, w
/// minimises
///   squared:     1/n sum_i (<w, x_i> - t_i)^2 + lambda |w|^2       (exactly: one system of equations)
///   one-vs-rest: 1/n sum_i log(1 + exp(-t_i <w, x_i>)) + lambda/2 |w|^2       (FitLogistic).
/// A class without records gets a column that is negative wherever the records are; one class alone is what
/// every row is then taken for. The same for any number of threads, to the bit.
/// Cost:   squared: n p min(n, p) / 2 + min(n, p)^3 / 6 multiplications and additions (FitClassifierSeconds).
/// Pre:    at least one record, a class below `classes` for each, classes >= 2, positive settings; not within
///         a loop of `pool`.
/// squared: a lambda too small for double precision to solve the equations is raised until they can be
/// solved, to its double or, if that is more, to 2^-40 of their trace divided by n. So there is a classifier
/// of any records.
[[nodiscard]] Model FitClassifier(const OwnRecords& records, int classes, const ClassifierSettings& settings,
                                  ThreadPool& pool);

/// Computation of FitClassifier of so many records, of rows of this norm at most, on the machine of
/// docs/reference/performance.md. One-vs-rest: as FitLogisticSeconds, so at most.
[[nodiscard]] double FitClassifierSeconds(std::int64_t records, std::int64_t features, int classes,
                                          const ClassifierSettings& settings, double row_norm);

/// What a classifier takes a row for, and by how much: the largest score less the second (with one column its
/// magnitude).
struct Choice {
  int label = 0;  ///< the first of equal ones
  double margin = 0;
};

/// From one row's scores: one a class, or, of two classes, that of class 1 alone, which is chosen where it is
/// above 0.
[[nodiscard]] Choice ChoiceOf(const Eigen::Ref<const Eigen::RowVectorXd>& scores);

/// Of each row. Pre: a linear model of as many features; not within a loop of `pool`.
[[nodiscard]] std::vector<Choice> Classify(const Model& model, const FeatureRows& x, ThreadPool& pool);

}  // namespace trefoil::ml
