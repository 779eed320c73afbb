#include "jobs/evaluation/predictions.h"

#include <spdlog/fmt/fmt.h>

#include "data/formats/csv.h"
#include "jobs/evaluation/classify.h"

namespace trefoil::jobs {
namespace {

std::string HeaderOf(const RecordSchema& schema, const std::vector<PredictionColumns>& columns) {
  std::string header = "row,label";
  for (const auto& [name, values] : columns) {
    for (int k = schema.data.classes == 2 ? 1 : 0; k < schema.data.classes; ++k)
      header += fmt::format(",{}", data::CsvField(name + '_' + ClassName(schema, k)));
  }
  return header + '\n';
}

}  // namespace

std::string PredictionsCsv(const RecordSchema& schema, const std::vector<int>& classes,
                           const std::vector<PredictionColumns>& columns) {
  std::string text = HeaderOf(schema, columns);
  for (std::size_t row = 0; row < classes.size(); ++row) {
    text += fmt::format("{},{}", row + 1, data::CsvField(ClassName(schema, classes[row])));
    for (const auto& column : columns)
      for (const double value : column.values.row(static_cast<Eigen::Index>(row)))
        text += fmt::format(",{}", value);
    text += '\n';
  }
  return text;
}

std::string TargetsCsv(const std::vector<double>& targets) {
  std::string text = "row,target\n";
  for (std::size_t row = 0; row < targets.size(); ++row)
    text += fmt::format("{},{}\n", row + 1, targets[row]);
  return text;
}

}  // namespace trefoil::jobs
