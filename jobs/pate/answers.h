#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "jobs/pate/settings.h"
#include "ml/clear/student.h"

namespace trefoil::jobs {

/// What a student says of each query: a row a query, a column a class.
using StudentScores = std::vector<std::vector<double>>;

/// What is known of a query in the end.
struct PateAnswer {
  int label = ml::kUnlabelled;
  const char* source = "";  ///< "teachers" or "student"
};

/// An NPY file of queries x classes. Throws DataError naming the file, the query and the class.
[[nodiscard]] StudentScores ReadStudentScores(const std::filesystem::path& file, const PateSettings& job);

/// answers.csv: a line a query, with nothing behind its number where there is no answer. Classes have the
/// names of the records' schema, without one their numbers.
[[nodiscard]] std::string AnswersCsv(const std::vector<PateAnswer>& answers,
                                     const std::optional<RecordSchema>& schema);

}  // namespace trefoil::jobs
