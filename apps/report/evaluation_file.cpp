#include "apps/report/evaluation_file.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "apps/report/html.h"
#include "apps/report/svg_plot.h"
#include "base/error.h"
#include "base/files/files.h"
#include "base/secrets/sha256.h"
#include "jobs/statement/bound_text.h"

namespace trefoil::apps {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kMaxShownClasses = 50;

std::string HashOfModel(const std::filesystem::path& model) {
  return Sha256Hex(ReadTextFile(model, "a model", kLargestOwnFile));
}

std::string WithModel(Json json, const std::filesystem::path& model) {
  json["model"] = HashOfModel(model);
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + '\n';
}

/// A number of [0, 1], or none.
std::string Share(const Json& value) {
  return value.is_null() ? "-" : HtmlNumber(value.get<double>(), jobs::AccuracyText(value.get<double>()));
}

std::string Count(const Json& value) {
  return HtmlNumber(value.get<double>(), fmt::format("{}", value.get<std::int64_t>()));
}

std::string Loss(const Json& value) {
  return value.is_null() ? "-" : HtmlNumber(value.get<double>(), fmt::format("{:.4f}", value.get<double>()));
}

/// Throws, as the accesses below, where it is something else.
const Json::array_t& Array(const Json& json) { return json.get_ref<const Json::array_t&>(); }

std::string Name(const Json& of) { return of.at("class").get<std::string>(); }

std::string Figures(const Json& json) {
  std::vector<std::string> names{"records", "accuracy", "balanced accuracy",
                                 "AUC",     "log-loss", "calibration error"};
  std::vector<std::string> figures{Count(json.at("records")),           Share(json.at("accuracy")),
                                   Share(json.at("balanced_accuracy")), Share(json.at("auc")),
                                   Loss(json.at("log_loss")),           Loss(json.at("calibration_error"))};
  if (const auto threshold = json.find("threshold"); threshold != json.end()) {
    names.emplace_back("threshold");
    figures.push_back(Share(*threshold));
  }
  return HtmlTable(names, HtmlRow(figures));
}

PlotLine Diagonal(const char* name) { return {.name = name, .points = {{0, 0}, {1, 1}}}; }

std::string RocPlot(const Json& curves) {
  Plot plot{.title = "ROC",
            .x_label = "of other classes taken for it",
            .y_label = "of the class recognised",
            .lines = {}};
  for (const auto& curve : Array(curves)) {
    PlotLine line{.name = Name(curve), .points = {}};
    for (const auto& point : Array(curve.at("points")))
      line.points.emplace_back(point.at(0).get<double>(), point.at(1).get<double>());
    plot.lines.push_back(std::move(line));
  }
  if (plot.lines.empty()) return "";
  if (plot.lines.size() == 1) plot.lines.push_back(Diagonal("guessing"));
  return ToSvg(plot);
}

std::string CalibrationPlot(const Json& bins) {
  if (bins.is_null()) return "";
  PlotLine line{.name = "the model", .points = {}};
  for (const auto& bin : Array(bins)) {
    if (bin.at("records").get<std::int64_t>() > 0)
      line.points.emplace_back(bin.at("said").get<double>(), bin.at("true").get<double>());
  }
  return ToSvg({.title = "Calibration",
                .x_label = "probability that it says",
                .y_label = "share that is true",
                .lines = {line, Diagonal("as said")}});
}

std::string Classes(const Json& classes) {
  std::string rows;
  for (const auto& one : Array(classes))
    rows += HtmlRow({EscapeHtml(Name(one)), Count(one.at("records")), Count(one.at("correct")),
                     Share(one.at("recall")), Share(one.at("precision")), Share(one.at("auc"))});
  return HtmlTable({"class", "records", "correct", "recall", "precision", "AUC"}, rows);
}

std::string Confusion(const Json& classes, const Json& table) {
  if (classes.size() > kMaxShownClasses) return "";
  std::vector<std::string> head{"taken for"};
  for (const auto& one : Array(classes)) head.push_back(EscapeHtml(Name(one)));
  std::string rows;
  for (std::size_t actual = 0; actual < classes.size(); ++actual) {
    std::vector<std::string> cells{EscapeHtml(Name(classes.at(actual)))};
    for (std::size_t as = 0; as < classes.size(); ++as) cells.push_back(Count(table.at(actual).at(as)));
    rows += HtmlRow(cells);
  }
  return HtmlTable(head, rows);
}

/// A number in a unit that nobody knows here, or none.
std::string Figure(const Json& value) {
  return value.is_null() ? "-" : HtmlNumber(value.get<double>(), fmt::format("{:.4g}", value.get<double>()));
}

std::string TargetFigures(const Json& json) {
  return HtmlTable({"records", "R²", "RMSE"}, HtmlRow({Count(json.at("records")), Share(json.at("r_squared")),
                                                       Figure(json.at("rmse"))}));
}

/// Against the diagonal from the least to the greatest number of either axis; axes begin at 0, or below it.
std::string TargetPlot(const Json& bins) {
  PlotLine line{.name = "the model", .points = {}};
  double low = HUGE_VAL;
  double high = -HUGE_VAL;
  for (const auto& bin : Array(bins)) {
    const auto [x, y] = line.points.emplace_back(bin.at("said").get<double>(), bin.at("true").get<double>());
    low = std::min({low, x, y});
    high = std::max({high, x, y});
  }
  if (line.points.empty()) return "";
  std::optional<std::pair<double, double>> range;
  if (low < 0) range = {low, std::max(high, 0.0)};
  return ToSvg({.title = "Calibration",
                .x_label = "target that it says",
                .y_label = "mean of the true ones",
                .lines = {line, {.name = "as said", .points = {{low, low}, {high, high}}}},
                .x_range = range,
                .y_range = range});
}

std::string TargetBins(const Json& bins) {
  std::string rows;
  for (const auto& bin : Array(bins))
    rows += HtmlRow({Count(bin.at("records")), Figure(bin.at("said")), Figure(bin.at("true"))});
  return HtmlTable({"records", "mean of what it says", "mean of what is true"}, rows);
}

std::string SectionOf(const Json& json) {
  auto out = HtmlHeading("The released model on test records");
  for (const auto& warning : Array(json.at("warnings")))
    out += "<p class=\"bad\">Warning: " + EscapeHtml(warning.get<std::string>()) + "</p>\n";
  if (json.contains("rmse"))
    return out + TargetFigures(json) + "<div class=\"plots\">\n" + TargetPlot(json.at("calibration")) +
           "</div>\n" + TargetBins(json.at("calibration"));
  out += Figures(json) + "<div class=\"plots\">\n" + RocPlot(json.at("roc")) +
         CalibrationPlot(json.at("calibration")) + "</div>\n";
  return out + Classes(json.at("classes")) + Confusion(json.at("classes"), json.at("confusion"));
}

}  // namespace

std::string EvaluationText(const jobs::Evaluation& evaluation, const jobs::RecordSchema& schema,
                           const std::filesystem::path& model) {
  return WithModel(jobs::ToJson(evaluation, schema), model);
}

std::string EvaluationText(const jobs::TargetEvaluation& evaluation, const std::filesystem::path& model) {
  return WithModel(jobs::ToJson(evaluation), model);
}

std::string EvaluationSection(const std::filesystem::path& file, const std::filesystem::path& model) {
  const auto json = Json::parse(ReadTextFile(file, "an evaluation", kLargestOwnFile), nullptr, false);
  std::string of;
  std::string section;
  try {
    of = json.at("model").get<std::string>();
    section = SectionOf(json);
  } catch (const nlohmann::json::exception&) {
    throw DataError(file.string() + ": not what `trefoil evaluate --out` writes");
  }
  if (std::filesystem::exists(model) && of != HashOfModel(model))
    throw DataError(
        fmt::format("{}: found the evaluation of another model than {}, expected that of this one",
                    file.string(), model.string()));
  return section;
}

}  // namespace trefoil::apps
