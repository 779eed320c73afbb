#include "jobs/records/predictions.h"

#include <spdlog/fmt/fmt.h>

#include "data/formats/csv.h"
#include "jobs/records/classify.h"

namespace trefoil::jobs {
namespace {

std::string HeaderOf(const RecordSchema& schema, bool scores) {
  std::string header = "row,label";
  if (!scores) return header + '\n';
  // With two classes there is one logit, that of class 1.
  for (int k = schema.data.classes == 2 ? 1 : 0; k < schema.data.classes; ++k)
    header += fmt::format(",{}", data::CsvField("score_" + ClassName(schema, k)));
  return header + '\n';
}

}  // namespace

std::string PredictionsCsv(const RecordSchema& schema, const std::vector<int>& classes,
                           const std::optional<Eigen::MatrixXd>& scores) {
  std::string text = HeaderOf(schema, scores.has_value());
  for (std::size_t row = 0; row < classes.size(); ++row) {
    text += fmt::format("{},{}", row + 1, data::CsvField(ClassName(schema, classes[row])));
    for (Eigen::Index k = 0; scores && k < scores->cols(); ++k)
      text += fmt::format(",{}", (*scores)(static_cast<Eigen::Index>(row), k));
    text += '\n';
  }
  return text;
}

}  // namespace trefoil::jobs
