#include "data/dealing/teacher_labels.h"

#include <charconv>
#include <cmath>
#include <string>

#include "data/formats/csv_reader.h"
#include "data/formats/file.h"
#include "data/formats/numpy/npy.h"

namespace trefoil::data {
namespace {

std::string PlaceOf(std::size_t teacher, std::size_t query) {
  return "teacher " + std::to_string(teacher + 1) + ", query " + std::to_string(query + 1);
}

[[noreturn]] void RefuseLabel(const std::filesystem::path& path, std::size_t teacher, std::size_t query,
                              const std::string& found, const TeacherShape& shape) {
  ThrowDataError(path, PlaceOf(teacher, query), found,
                 "a class, a whole number from 0 to " + std::to_string(shape.classes - 1));
}

void RequireShape(const std::filesystem::path& path, std::size_t teachers, std::size_t queries,
                  const TeacherShape& shape) {
  if (teachers == static_cast<std::size_t>(shape.teachers) &&
      queries == static_cast<std::size_t>(shape.queries))
    return;
  ThrowDataError(path, "", std::to_string(teachers) + " teachers and " + std::to_string(queries) + " queries",
                 std::to_string(shape.teachers) + " and " + std::to_string(shape.queries) +
                     ", as the job declares them");
}

std::vector<std::vector<int>> ReadFromNpy(const std::filesystem::path& path, const TeacherShape& shape) {
  const auto array = ReadNpy(path, [&](const std::vector<std::size_t>& found, std::size_t) {
    if (found.size() != 2)
      ThrowDataError(path, "", std::to_string(found.size()) + " dimensions", "2: teachers and queries");
    RequireShape(path, found[0], found[1], shape);
  });
  const auto values = NpyToDoubles(array, path);
  std::vector<std::vector<int>> labels(array.shape[0]);
  for (std::size_t teacher = 0; teacher < labels.size(); ++teacher) {
    for (std::size_t query = 0; query < array.shape[1]; ++query) {
      const double value = values[teacher * array.shape[1] + query];
      if (!(value >= 0 && value < shape.classes && value == std::floor(value)))
        RefuseLabel(path, teacher, query, NumberText(value), shape);
      labels[teacher].push_back(static_cast<int>(value));
    }
  }
  return labels;
}

std::vector<std::vector<int>> ReadFromCsv(const std::filesystem::path& path, const TeacherShape& shape) {
  CsvReader reader(path);
  std::vector<std::vector<int>> labels;
  while (reader.Next()) {
    auto& row = labels.emplace_back();
    for (const auto& field : reader.fields()) {
      int label = -1;
      const auto* end = field.data() + field.size();
      const auto [stop, error] = std::from_chars(field.data(), end, label);
      if (error != std::errc{} || stop != end || label < 0 || label >= shape.classes)
        RefuseLabel(path, labels.size() - 1, row.size(), Quote(field), shape);
      row.push_back(label);
    }
    if (row.size() != static_cast<std::size_t>(shape.queries)) {
      ThrowDataError(path, "teacher " + std::to_string(labels.size()),
                     std::to_string(row.size()) + " queries",
                     std::to_string(shape.queries) + ", as the job declares them");
    }
  }
  RequireShape(path, labels.size(), static_cast<std::size_t>(shape.queries), shape);
  return labels;
}

}  // namespace

std::vector<std::vector<int>> ReadTeacherLabels(const std::filesystem::path& path,
                                                const TeacherShape& shape) {
  return path.extension() == ".npy" ? ReadFromNpy(path, shape) : ReadFromCsv(path, shape);
}

void WriteTeacherLabels(const std::filesystem::path& path, const std::vector<std::vector<int>>& labels) {
  std::vector<std::int64_t> values;
  for (const auto& row : labels) values.insert(values.end(), row.begin(), row.end());
  WriteNpy(path, NpyFromIntegers({labels.size(), labels.empty() ? 0 : labels.front().size()}, values));
}

}  // namespace trefoil::data
