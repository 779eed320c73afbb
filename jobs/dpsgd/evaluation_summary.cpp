#include "jobs/dpsgd/evaluation_summary.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>

#include "base/error_report.h"
#include "dp/record/json_number.h"
#include "jobs/dpsgd/settings/training_settings.h"
#include "jobs/evaluation/classify.h"
#include "jobs/statement/bound_text.h"
#include "ml/on_shares/evaluation.h"
#include "ml/scores/probabilities.h"
#include "ml/scores/score_estimates.h"

namespace trefoil::jobs {
namespace {

nlohmann::ordered_json OrNull(const std::optional<double>& number) {
  return number ? nlohmann::ordered_json(*number) : nlohmann::ordered_json();
}

/// The two halves of a histogram: of no's and of yes's.
nlohmann::ordered_json HalvesJson(const std::vector<double>& counts) {
  const auto half = counts.begin() + static_cast<std::ptrdiff_t>(counts.size() / 2);
  return {std::vector(counts.begin(), half), std::vector(half, counts.end())};
}

/// A histogram of predictions by class as it was opened, and what follows from it.
void AddHistogram(const DpsgdSettings& job, double deviation, const std::vector<double>& counts,
                  nlohmann::ordered_json& json) {
  json["histogram"] = HalvesJson(counts);
  const auto estimates = ml::EstimatesOf(counts, deviation);
  const bool probabilities = ml::HasProbabilities(job.model.loss);
  json["auc"] = OrNull(estimates.auc);
  json["auc_noise"] = OrNull(estimates.auc_noise);
  json["log_loss"] = probabilities ? OrNull(estimates.log_loss) : nlohmann::ordered_json();
  json["calibration_error"] = probabilities ? OrNull(estimates.calibration_error) : nlohmann::ordered_json();
  json["best_threshold"] = OrNull(estimates.threshold);
  json["best_balanced_accuracy"] = OrNull(estimates.balanced_accuracy);
}

/// The same of more than two classes: a histogram for each, of the others' records and of its own.
void AddHistograms(int classes, double deviation, const std::vector<double>& counts,
                   nlohmann::ordered_json& json) {
  auto& histograms = json["histogram"] = nlohmann::ordered_json::array();
  auto areas = nlohmann::ordered_json::array();
  auto noises = nlohmann::ordered_json::array();
  auto losses = nlohmann::ordered_json::array();
  auto calibration = nlohmann::ordered_json::array();
  double sum = 0;
  double squares = 0;
  int known = 0;
  const auto size = static_cast<std::ptrdiff_t>(counts.size()) / classes;
  for (auto first = counts.begin(); first != counts.end(); first += size) {
    const std::vector<double> of_class(first, first + size);
    histograms.push_back(HalvesJson(of_class));
    const auto estimates = ml::EstimatesOf(of_class, deviation);
    areas.push_back(OrNull(estimates.auc));
    noises.push_back(OrNull(estimates.auc_noise));
    losses.push_back(OrNull(estimates.log_loss));
    calibration.push_back(OrNull(estimates.calibration_error));
    if (!estimates.auc) continue;
    sum += *estimates.auc;
    squares += *estimates.auc_noise * *estimates.auc_noise;
    ++known;
  }
  const bool all = known == classes;
  json["auc"] = all ? nlohmann::ordered_json(sum / classes) : nlohmann::ordered_json();
  json["auc_noise"] = all ? nlohmann::ordered_json(std::sqrt(squares) / classes) : nlohmann::ordered_json();
  json["class_auc"] = std::move(areas);
  json["class_auc_noise"] = std::move(noises);
  json["class_log_loss"] = std::move(losses);
  json["class_calibration_error"] = std::move(calibration);
}

nlohmann::ordered_json SharesJson(const std::vector<std::optional<ml::ShareEstimate>>& shares,
                                  double ml::ShareEstimate::*member) {
  auto json = nlohmann::ordered_json::array();
  for (const auto& share : shares)
    json.push_back(share ? nlohmann::ordered_json((*share).*member) : nlohmann::ordered_json());
  return json;
}

/// A confusion table as it was opened, a row a class, and what follows from it.
void AddConfusion(int of_classes, double deviation, const std::vector<double>& counts,
                  nlohmann::ordered_json& json) {
  auto& table = json["confusion"] = nlohmann::ordered_json::array();
  const auto classes = static_cast<std::ptrdiff_t>(of_classes);
  for (auto row = counts.begin(); row != counts.end(); row += classes)
    table.push_back(std::vector(row, row + classes));
  const auto estimates = ml::TableEstimatesOf(counts, deviation);
  json["recall"] = SharesJson(estimates.recall, &ml::ShareEstimate::value);
  json["recall_noise"] = SharesJson(estimates.recall, &ml::ShareEstimate::noise);
  json["precision"] = SharesJson(estimates.precision, &ml::ShareEstimate::value);
  json["precision_noise"] = SharesJson(estimates.precision, &ml::ShareEstimate::noise);
  json["balanced_accuracy"] = OrNull(estimates.balanced_accuracy);
}

/// The class with the smallest recall, as a part of a line.
std::string LeastRecallText(const DpsgdSettings& job, const nlohmann::ordered_json& evaluation) {
  std::size_t least = 0;
  const auto& recall = evaluation.at("recall");
  for (std::size_t k = 0; k < recall.size(); ++k) {
    if (recall[least].is_null() || (!recall[k].is_null() && recall[k] < recall[least])) least = k;
  }
  if (recall[least].is_null()) return " (too much noise for the recall of any class)";
  return fmt::format(
      " (smallest recall {} ± {:.1g} by noise, of class {})", AccuracyText(recall[least].get<double>()),
      evaluation.at("recall_noise")[least].get<double>(), OneLine(ClassName(job, static_cast<int>(least))));
}

/// The mean of the classes' areas, as a part of a line.
std::string MeanAreaText(const nlohmann::ordered_json& evaluation) {
  if (!evaluation.contains("auc") || evaluation.at("auc").is_null()) return "";
  return fmt::format(" (AUC {} ± {:.1g} by noise, mean of the classes, each against the others)",
                     AccuracyText(evaluation.at("auc").get<double>()),
                     evaluation.at("auc_noise").get<double>());
}

/// What a histogram of predictions or a confusion table says, as a part of a line; empty where there is none.
std::string EstimatesText(const DpsgdSettings& job, const nlohmann::ordered_json& evaluation) {
  if (evaluation.contains("recall")) return LeastRecallText(job, evaluation) + MeanAreaText(evaluation);
  if (!evaluation.contains("auc") || evaluation.at("auc").is_null()) return "";
  return fmt::format(" (AUC {} ± {:.1g} by noise; at threshold {} balanced accuracy {})",
                     AccuracyText(evaluation.at("auc").get<double>()),
                     evaluation.at("auc_noise").get<double>(), evaluation.at("best_threshold").get<double>(),
                     AccuracyText(evaluation.at("best_balanced_accuracy").get<double>()));
}

/// More classes make no table that is read.
constexpr std::size_t kMaxShownClasses = 50;
/// Each has two plots.
constexpr std::size_t kMaxPlottedClasses = 20;

std::string ShareText(const nlohmann::ordered_json& share) {
  return share.is_null() ? "-" : AccuracyText(share.get<double>());
}
std::string NoiseText(const nlohmann::ordered_json& noise) {
  return noise.is_null() ? "-" : fmt::format("{:.1g}", noise.get<double>());
}
std::string LossText(const nlohmann::ordered_json& loss) {
  return loss.is_null() ? "-" : fmt::format("{:.4f}", loss.get<double>());
}
std::string CountText(const nlohmann::ordered_json& count) {
  return fmt::format("{:.1f}", count.get<double>());
}

std::vector<std::string> ClassNames(const DpsgdSettings& job) {
  std::vector<std::string> names;
  for (int k = 0; k < job.data.classes; ++k) names.push_back(ClassName(job, k));
  return names;
}

/// A row a class, of what is known of each.
ShownTable ClassTable(const DpsgdSettings& job, const nlohmann::ordered_json& evaluation) {
  ShownTable table{.title = "Classes, counted on shares with noise", .head = {"class"}, .rows = {}};
  for (const auto& name : ClassNames(job)) table.rows.push_back({name});
  for (const auto& [key, name] :
       {std::pair("recall", "recall"), {"precision", "precision"}, {"class_auc", "AUC"}}) {
    if (!evaluation.contains(key)) continue;
    table.head.insert(table.head.end(), {name, "± by noise"});
    for (std::size_t k = 0; k < table.rows.size(); ++k) {
      table.rows[k].push_back(ShareText(evaluation.at(key).at(k)));
      table.rows[k].push_back(NoiseText(evaluation.at(std::string(key) + "_noise").at(k)));
    }
  }
  for (const auto& [key, name] :
       {std::pair("class_log_loss", "log-loss"), {"class_calibration_error", "calibration error"}}) {
    if (!evaluation.contains(key)) continue;
    table.head.emplace_back(name);
    for (std::size_t k = 0; k < table.rows.size(); ++k)
      table.rows[k].push_back(LossText(evaluation.at(key).at(k)));
  }
  return table;
}

ShownTable ConfusionTable(const DpsgdSettings& job, const nlohmann::ordered_json& counts) {
  ShownTable table{.title = "Taken for, counted on shares with noise", .head = ClassNames(job), .rows = {}};
  for (std::size_t k = 0; k < counts.size(); ++k) {
    auto& row = table.rows.emplace_back(std::vector{table.head[k]});
    for (const auto& count : counts.at(k)) row.push_back(CountText(count));
  }
  table.head.insert(table.head.begin(), "records of");
  return table;
}

/// Of two classes: a row a bin.
ShownTable BinTable(const DpsgdSettings& job, const nlohmann::ordered_json& histogram) {
  ShownTable table{.title = "Predictions, counted on shares with noise", .head = ClassNames(job), .rows = {}};
  table.head.insert(table.head.begin(), "from");
  const auto bins = static_cast<double>(histogram.at(0).size());
  for (std::size_t bin = 0; bin < histogram.at(0).size(); ++bin)
    table.rows.push_back({fmt::format("{:.4g}", static_cast<double>(bin) / bins),
                          CountText(histogram.at(0).at(bin)), CountText(histogram.at(1).at(bin))});
  return table;
}

/// What a histogram draws; `of` names its class in the titles, where there are several.
void AddPlots(const DpsgdSettings& job, const std::string& of, const nlohmann::ordered_json& histogram,
              ShownResults& shown) {
  const auto no = histogram.at(0).get<std::vector<double>>();
  const auto yes = histogram.at(1).get<std::vector<double>>();
  ShownPlot roc{.title = fmt::format("ROC{}, on shares", of),
                .x_label = "of other classes taken for it",
                .y_label = "of the class recognised",
                .range = {0, 1},
                .points = {}};
  ShownPlot calibration{.title = fmt::format("Calibration{}, on shares", of),
                        .x_label = "probability that it says",
                        .y_label = "share that is true",
                        .range = {0, 1},
                        .points = {}};
  double no_above = std::accumulate(no.begin(), no.end(), 0.0);
  double yes_above = std::accumulate(yes.begin(), yes.end(), 0.0);
  const double all_no = std::max(no_above, 1.0);
  const double all_yes = std::max(yes_above, 1.0);
  const auto bins = static_cast<double>(no.size());
  for (std::size_t bin = 0; bin < no.size(); ++bin) {
    // Noise leads beyond what shares can be.
    roc.points.emplace_back(std::clamp(no_above / all_no, 0.0, 1.0),
                            std::clamp(yes_above / all_yes, 0.0, 1.0));
    no_above -= no[bin];
    yes_above -= yes[bin];
    const double records = no[bin] + yes[bin];
    const double middle = (static_cast<double>(bin) + 0.5) / bins;
    if (records >= 1) calibration.points.emplace_back(middle, std::clamp(yes[bin] / records, 0.0, 1.0));
  }
  roc.points.emplace_back(0, 0);
  std::sort(roc.points.begin(), roc.points.end());
  shown.plots.push_back(std::move(roc));
  if (ml::HasProbabilities(job.model.loss)) shown.plots.push_back(std::move(calibration));
}

/// Of each class of which noise leaves something to be said.
void AddClassPlots(const DpsgdSettings& job, const nlohmann::ordered_json& evaluation, ShownResults& shown) {
  const auto names = ClassNames(job);
  if (names.size() > kMaxPlottedClasses) return;
  for (std::size_t k = 0; k < names.size(); ++k) {
    if (!evaluation.at("class_auc").at(k).is_null())
      AddPlots(job, " of class " + names[k], evaluation.at("histogram").at(k), shown);
  }
}

}  // namespace

ShownResults ShownEvaluation(const DpsgdSettings& job, const nlohmann::ordered_json& evaluation) {
  ShownResults shown;
  if (evaluation.is_null()) return shown;
  if (evaluation.contains("recall")) shown.tables.push_back(ClassTable(job, evaluation));
  if (evaluation.contains("confusion") && evaluation.at("confusion").size() <= kMaxShownClasses)
    shown.tables.push_back(ConfusionTable(job, evaluation.at("confusion")));
  if (!evaluation.contains("histogram")) return shown;
  if (job.data.classes > 2) {
    AddClassPlots(job, evaluation, shown);
    return shown;
  }
  shown.tables.push_back(BinTable(job, evaluation.at("histogram")));
  if (!evaluation.at("auc").is_null()) AddPlots(job, "", evaluation.at("histogram"), shown);
  return shown;
}

nlohmann::ordered_json AccuracyOf(const nlohmann::ordered_json& evaluation) {
  if (evaluation.is_null() || evaluation.at("correct").is_null()) return nullptr;
  return std::clamp(evaluation.at("correct").get<double>() / evaluation.at("records").get<double>(), 0.0,
                    1.0);
}

nlohmann::ordered_json EvaluationJson(const DpsgdSettings& job, const ml::TrainingResult& result) {
  if (!result.evaluation) return nullptr;
  const auto& [records, correct, histogram, confusion, threshold, rounds, bytes_sent] = *result.evaluation;
  const auto epsilons = dp::TestSetEpsilons(result.record, job.privacy.delta);
  const auto& sigma = job.evaluation->sigma;
  nlohmann::ordered_json json{{"records", records}};
  json["correct"] = correct ? nlohmann::ordered_json(*correct) : nlohmann::ordered_json();
  json["sigma"] = sigma ? nlohmann::ordered_json(*sigma) : nlohmann::ordered_json();
  json["epsilon_outsider"] = dp::NumberOrNull(epsilons.outsider);
  json["epsilon_insider"] = dp::NumberOrNull(epsilons.insider);
  json["rounds"] = rounds;
  json["bytes_sent"] = bytes_sent;
  if (histogram.empty() && confusion.empty()) return json;
  json["threshold"] = threshold;
  const double deviation = ml::CountsDeviation(SettingsOf(job));
  const int classes = job.data.classes;
  if (!confusion.empty()) AddConfusion(classes, deviation, confusion, json);
  if (!histogram.empty() && classes == 2) AddHistogram(job, deviation, histogram, json);
  if (!histogram.empty() && classes > 2) AddHistograms(classes, deviation, histogram, json);
  return json;
}

void AddOpened(const ml::EvaluationResult& evaluation, std::vector<ReleasedValue>& values) {
  const auto before = values.size();
  const auto add = [&](const char* what, const std::vector<double>& counts) {
    int number = 0;
    for (const double count : counts)
      values.push_back({.name = fmt::format("evaluation.{}.{}", what, number++), .value = count});
  };
  add("confusion", evaluation.confusion);
  add("histogram", evaluation.histogram);
  if (values.size() == before && evaluation.correct)
    values.push_back({.name = "evaluation.correct", .value = *evaluation.correct});
}

std::string EvaluationLine(const DpsgdSettings& job, const nlohmann::ordered_json& evaluation) {
  if (evaluation.is_null()) return "";
  const auto accuracy = AccuracyOf(evaluation);
  const auto records = evaluation.at("records").get<std::int64_t>();
  if (accuracy.is_null())
    return fmt::format("evaluated on {} test records; not opened to this party", records);
  const auto epsilon = [&](const char* key) {
    const auto& number = evaluation.at(key);
    return EpsilonText(number.is_null() ? std::numeric_limits<double>::infinity() : number.get<double>());
  };
  const auto noise = evaluation.at("sigma").is_null()
                         ? std::string("no epsilon covers them")
                         : fmt::format("with noise, epsilon {} outsider {} insider for them",
                                       epsilon("epsilon_outsider"), epsilon("epsilon_insider"));
  return fmt::format("accuracy {} on {} test records, on shares{}: {}", AccuracyText(accuracy.get<double>()),
                     records, EstimatesText(job, evaluation), noise);
}

}  // namespace trefoil::jobs
