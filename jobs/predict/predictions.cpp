#include "jobs/predict/predictions.h"

#include <spdlog/fmt/fmt.h>

#include "data/formats/csv.h"
#include "jobs/dpsgd/evaluation.h"

namespace trefoil::jobs {
namespace {

std::string HeaderOf(const DpsgdSettings& job, bool scores) {
  std::string header = "row,label";
  if (!scores) return header + '\n';
  // With two classes there is one logit, that of class 1.
  for (int k = job.data.classes == 2 ? 1 : 0; k < job.data.classes; ++k)
    header += fmt::format(",{}", data::CsvField("score_" + ClassName(job, k)));
  return header + '\n';
}

}  // namespace

std::string PredictionsCsv(const DpsgdSettings& job, const std::vector<int>& classes,
                           const std::optional<Eigen::MatrixXd>& scores) {
  std::string text = HeaderOf(job, scores.has_value());
  for (std::size_t row = 0; row < classes.size(); ++row) {
    text += fmt::format("{},{}", row + 1, data::CsvField(ClassName(job, classes[row])));
    for (Eigen::Index k = 0; scores && k < scores->cols(); ++k)
      text += fmt::format(",{}", (*scores)(static_cast<Eigen::Index>(row), k));
    text += '\n';
  }
  return text;
}

}  // namespace trefoil::jobs
