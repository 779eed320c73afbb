#include "ml/clear/student.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"

namespace trefoil::ml {
namespace {

using Eigen::Index;

/// The rows that have a label.
OwnRecords Labelled(const FeatureRows& x, const std::vector<int>& labels) {
  OwnRecords records;
  std::vector<Index> rows;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    if (labels[i] == kUnlabelled) continue;
    rows.push_back(static_cast<Index>(i));
    records.y.push_back(labels[i]);
  }
  records.x.resize(static_cast<Index>(rows.size()), x.cols());
  for (std::size_t k = 0; k < rows.size(); ++k) records.x.row(static_cast<Index>(k)) = x.row(rows[k]);
  return records;
}

/// The answers, and the model's own label of the `count` other rows that it is surest of.
std::vector<int> WithPseudoLabels(const std::vector<int>& answers, const std::vector<Choice>& choices,
                                  std::size_t count) {
  std::vector<std::size_t> unlabelled;
  for (std::size_t i = 0; i < answers.size(); ++i) {
    if (answers[i] == kUnlabelled) unlabelled.push_back(i);
  }
  std::stable_sort(unlabelled.begin(), unlabelled.end(),
                   [&](std::size_t a, std::size_t b) { return choices[a].margin > choices[b].margin; });
  auto labels = answers;
  for (std::size_t k = 0; k < count; ++k) labels[unlabelled[k]] = choices[unlabelled[k]].label;
  return labels;
}

/// Of so many rows without an answer those that the student labels itself in a round.
std::int64_t LabelledInRound(const StudentSettings& settings, int round, double unlabelled) {
  const double part = settings.keep * round / settings.rounds;
  return static_cast<std::int64_t>(std::floor(part * unlabelled));
}

ClassifierSettings ClassifierOf(const StudentSettings& settings) {
  return {.loss = ClassifierLoss::kSquared, .lambda = settings.lambda};
}

}  // namespace

Model TrainStudent(const FeatureRows& x, const std::vector<int>& labels, int classes,
                   const StudentSettings& settings, ThreadPool& pool) {
  Require(labels.size() == static_cast<std::size_t>(x.rows()), "TrainStudent: a label a row");
  Require(settings.rounds >= 0 && settings.keep > 0 && settings.keep <= 1, "TrainStudent: settings");
  const auto classifier = ClassifierOf(settings);
  const auto unlabelled = static_cast<double>(std::count(labels.begin(), labels.end(), kUnlabelled));
  auto model = FitClassifier(Labelled(x, labels), classes, classifier, pool);
  for (int round = 1; round <= settings.rounds; ++round) {
    const auto count = static_cast<std::size_t>(LabelledInRound(settings, round, unlabelled));
    const auto with = WithPseudoLabels(labels, Classify(model, x, pool), count);
    model = FitClassifier(Labelled(x, with), classes, classifier, pool);
  }
  return model;
}

double TrainStudentSeconds(std::int64_t rows, std::int64_t features, std::int64_t answers, int classes,
                           const StudentSettings& settings) {
  const auto unlabelled = static_cast<double>(rows - answers);
  double seconds = 0;
  for (int round = 0; round <= settings.rounds; ++round) {
    const auto labelled = answers + (round == 0 ? 0 : LabelledInRound(settings, round, unlabelled));
    seconds += FitClassifierSeconds(labelled, features, classes, ClassifierOf(settings), 1);
  }
  return seconds;
}

}  // namespace trefoil::ml
