#include "ml/scores/confusion_table.h"

#include "base/error.h"

namespace trefoil::ml {
namespace {

std::optional<double> ShareOf(std::int64_t part, std::int64_t whole) {
  if (whole == 0) return {};
  return static_cast<double>(part) / static_cast<double>(whole);
}

}  // namespace

ConfusionTable::ConfusionTable(int classes) {
  Require(classes >= 2, "a confusion table has at least two classes");
  counts_.setZero(classes, classes);
}

double ConfusionTable::accuracy() const {
  const auto share = ShareOf(correct(), records());
  Require(share.has_value(), "accuracy is of at least one record");
  return *share;
}

std::optional<double> ConfusionTable::recall(int actual) const {
  return ShareOf(count(actual, actual), records(actual));
}

std::optional<double> ConfusionTable::precision(int predicted) const {
  return ShareOf(count(predicted, predicted), this->predicted(predicted));
}

double ConfusionTable::balanced_accuracy() const {
  double sum = 0;
  int present = 0;
  for (int k = 0; k < classes(); ++k) {
    const auto share = recall(k);
    sum += share.value_or(0);
    present += share ? 1 : 0;
  }
  Require(present > 0, "balanced accuracy is of at least one record");
  return sum / present;
}

}  // namespace trefoil::ml
