#include "jobs/pate/answers.h"

#include <spdlog/fmt/fmt.h>

#include "data/formats/csv.h"
#include "data/formats/file.h"
#include "data/formats/numpy/npy.h"
#include "data/formats/numpy/npy_header.h"
#include "jobs/evaluation/classify.h"

namespace trefoil::jobs {

StudentScores ReadStudentScores(const std::filesystem::path& file, const PateSettings& job) {
  const auto queries = static_cast<std::size_t>(job.queries);
  const auto classes = static_cast<std::size_t>(job.classes);
  const auto array = data::ReadNpy(file, [&](const std::vector<std::size_t>& shape, std::size_t) {
    if (shape != std::vector<std::size_t>{queries, classes})
      data::ThrowDataError(file, "", "shape " + data::ShapeText(shape),
                           fmt::format("{} queries x {} classes", queries, classes));
  });
  const auto values = data::NpyToDoubles(array, file);
  StudentScores scores(queries);
  for (std::size_t k = 0; k < values.size(); ++k) {
    if (!(values[k] >= 0 && values[k] <= 1))
      data::ThrowDataError(file, fmt::format("query {}, class {}", k / classes + 1, k % classes),
                           data::NumberText(values[k]), "a probability from 0 to 1");
    scores[k / classes].push_back(values[k]);
  }
  return scores;
}

std::string AnswersCsv(const std::vector<PateAnswer>& answers, const std::optional<RecordSchema>& schema) {
  std::string text = "query,label,source\n";
  for (std::size_t query = 0; query < answers.size(); ++query) {
    const auto& [label, source] = answers[query];
    text +=
        label == ml::kUnlabelled
            ? fmt::format("{},,\n", query + 1)
            : fmt::format("{},{},{}\n", query + 1,
                          schema ? data::CsvField(ClassName(*schema, label)) : std::to_string(label), source);
  }
  return text;
}

}  // namespace trefoil::jobs
