#include "apps/report/coefficients.h"

#include <spdlog/fmt/fmt.h>

#include <cmath>
#include <optional>
#include <vector>

#include "apps/report/html.h"
#include "base/error.h"
#include "data/columns/feature_columns.h"
#include "data/formats/csv.h"
#include "jobs/evaluation/classify.h"

namespace trefoil::apps {
namespace {

constexpr std::size_t kMaxReported = 200;
constexpr const char* kIntercept = "(intercept)";

struct Coefficient {
  std::string output;
  std::string column;
  std::string value;
  double coefficient = 0;
  std::optional<double> standard_error{};
};

/// Why a model has none.
std::optional<std::string> NoCoefficients(const jobs::ModelFile& model) {
  if (!model.model.hidden.empty())
    return "--format csv: found hidden layers, expected a linear model, which has a coefficient for each "
           "column";
  if (model.schema.records.features.extraction.method != data::FeatureMethod::kNone)
    return "--format csv: found a model of features that are extracted, expected one of the records' own "
           "columns";
  return {};
}

std::string OutputName(const jobs::RecordSchema& schema, Eigen::Index output, Eigen::Index outputs) {
  if (!schema.data.target) return jobs::ClassName(schema, static_cast<int>(output) + (outputs == 1 ? 1 : 0));
  return schema.data.label.column.empty() ? "target" : schema.data.label.column;
}

bool IsOfLogarithms(const jobs::ModelFile& file) { return file.schema.classifier.loss == ml::Loss::kPoisson; }

/// Of all outputs, in the target's unit, its logarithm or in logits.
std::vector<Coefficient> CoefficientsOf(const jobs::ModelFile& file) {
  const auto& [model, schema] = file;
  const auto& target = schema.records.data.target;
  const bool logarithms = IsOfLogarithms(file);
  const double width = target && !logarithms ? target->high - target->low : 1;
  const double middle = logarithms ? std::log(target->high) - ml::kPoissonOffset
                        : target   ? data::TargetAt(*target, 0.5)
                                   : 0;
  const auto columns = data::FeatureColumns(schema.records.data);
  std::vector<Coefficient> all;
  for (Eigen::Index k = 0; k < model.bias.size(); ++k) {
    const auto output = OutputName(schema.records, k, model.bias.size());
    const auto place = all.size();
    double intercept = model.bias(k) * width + middle;
    all.push_back({.output = output, .column = kIntercept, .value = ""});
    for (std::size_t j = 0; j < columns.size(); ++j) {
      const auto& of = columns[j];
      const auto row = static_cast<Eigen::Index>(j);
      const double coefficient = model.weights(row, k) * width / of.scale;
      intercept -= coefficient * of.mean;
      all.push_back({.output = output, .column = of.column, .value = of.value, .coefficient = coefficient});
      if (model.deviations) all.back().standard_error = model.deviations->weights(row, k) * width / of.scale;
    }
    all[place].coefficient = intercept;
    if (model.deviations) all[place].standard_error = model.deviations->intercept(k) * width;
  }
  return all;
}

std::string Explanation(const jobs::ModelFile& file) {
  const auto& schema = file.schema.records;
  auto text = fmt::format(
      "What one unit more of a column adds to {}, in a row that is not shortened to row_norm {}; of a value, "
      "what having it adds. The intercept is of a record whose numbers are 0, even where their ranges leave "
      "that out, and which has none of the values.",
      IsOfLogarithms(file) ? "the target's natural logarithm"
      : schema.data.target ? "the target"
                           : "the logit of the class",
      schema.features.row_norm);
  text +=
      file.model.deviations
          ? " A standard error is one standard deviation of what privacy's noise has added, to first order "
            "in the noise: not of what other records would have given, nor what the ridge took away."
          : " How far privacy's noise has moved them is not known.";
  return HtmlElement("p", text) + "\n";
}

std::string CoefficientCell(double value) { return HtmlNumber(value, fmt::format("{:.4g}", value)); }

}  // namespace

std::string CoefficientsCsv(const jobs::ModelFile& model) {
  if (const auto why = NoCoefficients(model)) throw ConfigError(*why);
  std::string text = "output,column,value,coefficient,standard_error\n";
  for (const auto& one : CoefficientsOf(model)) {
    const auto error = one.standard_error ? fmt::format("{}", *one.standard_error) : "";
    text += fmt::format("{},{},{},{},{}\n", data::CsvField(one.output), data::CsvField(one.column),
                        data::CsvField(one.value), one.coefficient, error);
  }
  return text;
}

std::string CoefficientsSection(const jobs::ModelFile& model) {
  if (NoCoefficients(model)) return "";
  const auto heading = HtmlHeading("What the model says of each column");
  const auto all = CoefficientsOf(model);
  if (all.size() > kMaxReported)
    return heading +
           HtmlElement(
               "p", fmt::format("{} coefficients: `trefoil export --format csv` writes them.", all.size())) +
           "\n";
  std::string rows;
  for (const auto& one : all) {
    rows += HtmlRow({EscapeHtml(one.output), EscapeHtml(one.column), EscapeHtml(one.value),
                     CoefficientCell(one.coefficient),
                     one.standard_error ? CoefficientCell(*one.standard_error) : "-"});
  }
  return heading + Explanation(model) +
         HtmlTable({"output", "column", "value", "coefficient", "standard error"}, rows);
}

}  // namespace trefoil::apps
