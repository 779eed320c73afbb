#include "jobs/evaluation/evaluation.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "jobs/evaluation/classify.h"
#include "jobs/statement/bound_text.h"
#include "ml/scores/probabilities.h"

namespace trefoil::jobs {
namespace {

using OrderedJson = nlohmann::ordered_json;

constexpr int kBins = 10;
constexpr int kRocSteps = 200;
constexpr std::size_t kMaxNamed = 10;

/// By what a class ranks records, a column each: logarithms of probabilities, or scores.
Eigen::RowVectorXd RanksOf(const ModelSchema& schema, const Eigen::RowVectorXd& logits) {
  if (schema.probabilities) return ml::LogProbabilities(schema.classifier.loss, logits);
  return logits.size() == 1 ? Eigen::RowVectorXd(Eigen::RowVector2d(-logits(0), logits(0))) : logits;
}

std::vector<ml::ScoredRecord> AgainstTheRest(const Eigen::MatrixXd& ranks, const std::vector<int>& classes,
                                             int k) {
  std::vector<ml::ScoredRecord> records;
  records.reserve(classes.size());
  for (std::size_t row = 0; row < classes.size(); ++row)
    records.push_back({.score = ranks(static_cast<Eigen::Index>(row), k), .yes = classes[row] == k});
  return records;
}

/// The classes whose ROC curves are kept.
std::vector<int> Shown(const std::vector<std::optional<double>>& auc) {
  if (auc.size() == 2) return auc[1] ? std::vector<int>{1} : std::vector<int>{};
  std::vector<int> shown;
  for (int k = 0; k < static_cast<int>(auc.size()); ++k) {
    if (auc[static_cast<std::size_t>(k)]) shown.push_back(k);
  }
  const auto less = [&](int a, int b) {
    return auc[static_cast<std::size_t>(a)] < auc[static_cast<std::size_t>(b)];
  };
  const auto [worst, best] = std::minmax_element(shown.begin(), shown.end(), less);
  if (worst == best) return shown;  // none, or one
  return {*worst, *best};
}

Evaluation::Probabilities Probabilities(const Eigen::MatrixXd& logs, const std::vector<int>& predicted,
                                        const std::vector<int>& actual) {
  std::vector<ml::ScoredRecord> said;
  said.reserve(actual.size());
  for (std::size_t row = 0; row < actual.size(); ++row) {
    const int of = logs.cols() == 2 ? 1 : predicted[row];
    said.push_back({.score = std::exp(logs(static_cast<Eigen::Index>(row), of)), .yes = actual[row] == of});
  }
  return {.log_loss = ml::LogLoss(logs, actual), .calibration = ml::CalibrationOf(said, kBins)};
}

OrderedJson FigureOrNull(const std::optional<double>& value) {
  return value ? OrderedJson(*value) : OrderedJson();
}

OrderedJson ClassesJson(const Evaluation& evaluation, const RecordSchema& schema) {
  auto classes = OrderedJson::array();
  const auto& table = evaluation.table;
  for (int k = 0; k < table.classes(); ++k) {
    classes.push_back({{"class", ClassName(schema, k)},
                       {"records", table.records(k)},
                       {"correct", table.count(k, k)},
                       {"predicted", table.predicted(k)},
                       {"recall", FigureOrNull(table.recall(k))},
                       {"precision", FigureOrNull(table.precision(k))},
                       {"auc", FigureOrNull(evaluation.auc[static_cast<std::size_t>(k)])}});
  }
  return classes;
}

OrderedJson ConfusionJson(const ml::ConfusionTable& table) {
  auto rows = OrderedJson::array();
  for (int actual = 0; actual < table.classes(); ++actual) {
    auto row = OrderedJson::array();
    for (int predicted = 0; predicted < table.classes(); ++predicted)
      row.push_back(table.count(actual, predicted));
    rows.push_back(std::move(row));
  }
  return rows;
}

OrderedJson RocJson(const std::vector<Evaluation::Roc>& curves, const RecordSchema& schema) {
  auto all = OrderedJson::array();
  for (const auto& curve : curves) {
    auto points = OrderedJson::array();
    for (const auto& point : curve.points) points.push_back({point.false_positives, point.true_positives});
    all.push_back({{"class", ClassName(schema, curve.of)}, {"points", std::move(points)}});
  }
  return all;
}

OrderedJson CalibrationJson(const std::vector<ml::CalibrationBin>& bins) {
  auto all = OrderedJson::array();
  for (const auto& bin : bins)
    all.push_back({{"records", bin.records}, {"said", bin.said}, {"true", bin.true_share}});
  return all;
}

/// Of two classes that the model ranks well and its threshold tells apart badly.
std::optional<std::string> ThresholdWarning(const Evaluation& evaluation) {
  constexpr double kGoodOrder = 0.7;
  constexpr double kNearChance = 0.55;
  constexpr double kFewRecognised = 0.1;
  const auto& table = evaluation.table;
  const auto auc = evaluation.mean_auc();
  if (table.classes() != 2 || auc.value_or(0) < kGoodOrder) return {};
  const double least = std::min(table.recall(0).value_or(1), table.recall(1).value_or(1));
  if (table.balanced_accuracy() >= kNearChance && least >= kFewRecognised) return {};
  return fmt::format(
      "the order of the logits tells the classes apart (AUC {}), the threshold does not (balanced "
      "accuracy {})",
      AccuracyText(*auc), AccuracyText(table.balanced_accuracy()));
}

}  // namespace

std::optional<double> Evaluation::mean_auc() const {
  double sum = 0;
  int known = 0;
  for (const auto& one : auc) {
    sum += one.value_or(0);
    known += one ? 1 : 0;
  }
  return known == 0 ? std::nullopt : std::optional(sum / known);
}

Evaluation Evaluate(const ml::Model& model, const ModelSchema& schema, const data::Table& table) {
  const int classes = schema.records.data.classes;
  const double decision = ml::DecisionLogit(schema.classifier);
  Evaluation evaluation{
      .table = ml::ConfusionTable(classes), .threshold = schema.classifier.threshold, .auc = {}, .roc = {}};
  Eigen::MatrixXd ranks(static_cast<Eigen::Index>(table.y.size()), classes);
  std::vector<int> predicted;
  for (std::size_t row = 0; row < table.y.size(); ++row) {
    const auto at = static_cast<Eigen::Index>(row);
    const auto logits = Logits(model, table.x.row(at).cast<double>());
    predicted.push_back(ClassOf(logits, decision));
    ranks.row(at) = RanksOf(schema, logits);
    evaluation.table.Add(table.y[row], predicted.back());
  }
  for (int k = 0; k < classes; ++k) evaluation.auc.push_back(ml::Auc(AgainstTheRest(ranks, table.y, k)));
  for (const int k : Shown(evaluation.auc))
    evaluation.roc.push_back({.of = k, .points = ml::RocCurve(AgainstTheRest(ranks, table.y, k), kRocSteps)});
  if (schema.probabilities) evaluation.probabilities = Probabilities(ranks, predicted, table.y);
  return evaluation;
}

std::vector<std::string> WarningsOf(const Evaluation& evaluation, const RecordSchema& schema) {
  const std::string mend =
      evaluation.table.classes() == 2 && evaluation.probabilities
          ? ": another model.threshold, which public numbers or a charged histogram choose, or a training "
            "with model.class_weights may mend it (docs/howto/rare_classes.md)"
          : ": a training with model.class_weights may mend it (docs/howto/rare_classes.md)";
  const auto& table = evaluation.table;
  std::vector<std::string> missed;
  int present = 0;
  for (int k = 0; k < table.classes(); ++k) {
    present += table.records(k) > 0 ? 1 : 0;
    if (table.recall(k) == 0.0)
      missed.push_back(fmt::format("\"{}\" (records: {})", ClassName(schema, k), table.records(k)));
  }
  for (int k = 0; k < table.classes(); ++k) {
    if (table.predicted(k) == table.records() && present > 1)
      return {fmt::format("all records are taken for class \"{}\"{}", ClassName(schema, k), mend)};
  }
  if (missed.empty()) {
    const auto warning = ThresholdWarning(evaluation);
    return warning ? std::vector{*warning + mend} : std::vector<std::string>();
  }
  const auto more = missed.size() > kMaxNamed ? fmt::format(" and {} more", missed.size() - kMaxNamed) : "";
  missed.resize(std::min(missed.size(), kMaxNamed));
  return {fmt::format("no record is recognised of class {}{}{}", fmt::join(missed, ", "), more, mend)};
}

OrderedJson ToJson(const Evaluation& evaluation, const RecordSchema& schema) {
  const auto& table = evaluation.table;
  OrderedJson json{{"accuracy", table.accuracy()},
                   {"records", table.records()},
                   {"correct", table.correct()},
                   {"balanced_accuracy", table.balanced_accuracy()},
                   {"auc", FigureOrNull(evaluation.mean_auc())}};
  if (evaluation.threshold != 0.5) json["threshold"] = evaluation.threshold;
  const auto& probabilities = evaluation.probabilities;
  json["log_loss"] = probabilities ? OrderedJson(probabilities->log_loss) : OrderedJson();
  json["calibration_error"] =
      probabilities ? OrderedJson(ml::ExpectedCalibrationError(probabilities->calibration)) : OrderedJson();
  json["warnings"] = WarningsOf(evaluation, schema);
  json["classes"] = ClassesJson(evaluation, schema);
  json["confusion"] = ConfusionJson(table);
  json["roc"] = RocJson(evaluation.roc, schema);
  json["calibration"] = probabilities ? CalibrationJson(probabilities->calibration) : OrderedJson();
  return json;
}

}  // namespace trefoil::jobs
