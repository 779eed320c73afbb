#include "apps/report/coefficients.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <sstream>

#include "base/error.h"
#include "data/columns/column_encoder.h"
#include "jobs/evaluation/classify.h"

namespace trefoil::apps {
namespace {

using data::ColumnKind;
using testing::HasSubstr;
using testing::Not;

/// A number with an indicator, a category, the label, bins and a date: 8 features, of the rent or of classes.
jobs::ModelFile Model(int outputs, bool target = false) {
  jobs::ModelFile file;
  auto& spec = file.schema.records.data;
  spec.format = data::Format::kCsv;
  spec.columns = {{.name = "age", .mean = 40, .scale = 20, .values = {}, .missing_indicator = true},
                  {.name = "ward", .kind = ColumnKind::kCategory, .values = {"north, upper", "south"}},
                  {.name = "rent", .values = {}},
                  {.name = "size", .kind = ColumnKind::kBin, .values = {}, .edges = {1.5, 30}},
                  {.name = "day", .kind = ColumnKind::kDate, .mean = 100, .scale = 50, .values = {}}};
  spec.columns.back().date_format = "%d.%m.%Y";
  spec.columns.back().origin = "2000-01-01";
  spec.label = {.column = "rent", .values = {"low", "middle", "high"}, .aliases = {}};
  spec.features = data::CountFeatures(spec);
  spec.classes = outputs == 1 ? 2 : outputs;
  if (target) spec.target = data::TargetRange{.low = 200, .high = 2200};
  file.model.weights = Eigen::MatrixXd::Random(spec.features, outputs);
  file.model.bias = Eigen::VectorXd::Random(outputs);
  return file;
}

using Name = std::pair<std::string, std::string>;

/// Coefficients and standard errors of an output by column and value, "north, upper" as "north".
std::map<Name, std::pair<double, std::string>> Read(std::string csv, const std::string& output) {
  const std::string quoted = "\"north, upper\"";
  for (auto at = csv.find(quoted); at != std::string::npos; at = csv.find(quoted))
    csv.replace(at, quoted.size(), "north");
  std::map<Name, std::pair<double, std::string>> all;
  std::istringstream lines(csv);
  for (std::string line; std::getline(lines, line);) {
    std::vector<std::string> fields;
    std::istringstream text(line + ",");
    for (std::string field; std::getline(text, field, ',');) fields.push_back(field);
    EXPECT_EQ(fields.size(), 5U) << line;
    if (fields[0] == output) all[{fields[1], fields[2]}] = {std::stod(fields[3]), fields[4]};
  }
  return all;
}

/// The logits of a record by the encoder and the model.
Eigen::RowVectorXd Predicted(const jobs::ModelFile& file, const std::map<std::string, std::string>& record) {
  const auto& spec = file.schema.records.data;
  std::vector<float> row(static_cast<std::size_t>(spec.features));
  auto* place = row.data();
  for (const auto& column : spec.columns) {
    if (column.name == spec.label.column) continue;
    EXPECT_FALSE(data::ColumnEncoder(column, spec).Encode(record.at(column.name), place));
    place += data::WidthOf(column);
  }
  return jobs::Logits(file.model, Eigen::Map<Eigen::RowVectorXf>(row.data(), spec.features).cast<double>());
}

TEST(CoefficientsCsv, GiveThePredictionFromTheColumnsOwnValues) {
  const auto file = Model(1, true);
  const auto all = Read(CoefficientsCsv(file), "rent");
  ASSERT_EQ(all.size(), 9U);
  const auto of = [&](const char* column, const char* value = "") { return all.at({column, value}).first; };
  const auto predicted = [&](const std::map<std::string, std::string>& record) {
    return jobs::TargetOf(file.schema, Predicted(file, record));
  };
  // Features are floats.
  EXPECT_NEAR(predicted({{"age", "53.5"}, {"ward", "north, upper"}, {"size", "7"}, {"day", "11.02.2000"}}),
              of("(intercept)") + 53.5 * of("age") + of("ward", "north") + of("size", "1.5 to below 30") +
                  41 * of("day"),
              1e-3);
  EXPECT_NEAR(predicted({{"age", "?"}, {"ward", "?"}, {"size", "30"}, {"day", "01.01.2000"}}),
              of("(intercept)") + 40 * of("age") + of("age", "(missing)") + of("size", "30 and above"), 1e-3);
}

TEST(CoefficientsCsv, NamesTheOutputs) {
  const auto two = Model(1);
  EXPECT_THAT(CoefficientsCsv(two), HasSubstr("\nmiddle,(intercept),,"));
  EXPECT_THAT(CoefficientsCsv(two), Not(HasSubstr("\nlow,")));
  const auto three = Model(3);
  const auto high = Read(CoefficientsCsv(three), "high");
  ASSERT_EQ(high.size(), 9U);
  EXPECT_DOUBLE_EQ(high.at({"ward", "south"}).first, three.model.weights(3, 2));
  EXPECT_EQ(high.at({"ward", "south"}).second, "");
}

TEST(CoefficientsCsv, HasStandardErrorsInTheSameUnits) {
  auto file = Model(1, true);
  file.model.deviations = {.weights = Eigen::MatrixXd::Constant(file.model.weights.rows(), 1, 0.25),
                           .intercept = Eigen::VectorXd::Constant(1, 0.5)};
  const auto all = Read(CoefficientsCsv(file), "rent");
  EXPECT_EQ(all.at({"age", ""}).second, "25");
  EXPECT_EQ(all.at({"ward", "south"}).second, "500");
  EXPECT_EQ(all.at({"(intercept)", ""}).second, "1000");
}

TEST(Coefficients, AreOfLinearModelsOfColumnsAlone) {
  auto hidden = Model(3);
  hidden.model.hidden.emplace_back();
  auto extracted = Model(3);
  extracted.schema.records.features.extraction.method = data::FeatureMethod::kHashText;
  for (const auto& file : {hidden, extracted}) {
    EXPECT_THROW((void)CoefficientsCsv(file), ConfigError);
    EXPECT_EQ(CoefficientsSection(file), "");
  }
}

TEST(CoefficientsSection, HasThemWithAllDigitsOrSaysHowToGetThem) {
  auto file = Model(1);
  file.model.weights(2, 0) = 0.123456789;
  EXPECT_THAT(CoefficientsSection(file), HasSubstr("<data value=\"0.123456789\">0.1235</data>"));
  EXPECT_THAT(CoefficientsSection(file), HasSubstr("the logit of the class"));
  EXPECT_THAT(CoefficientsSection(file), HasSubstr("is not known"));
  file.schema.records.data.columns[1].values.resize(300, "another");
  file.model.weights = Eigen::MatrixXd::Zero(306, 1);
  EXPECT_THAT(CoefficientsSection(file), HasSubstr("307 coefficients"));
}

}  // namespace
}  // namespace trefoil::apps
