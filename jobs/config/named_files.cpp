#include "jobs/config/named_files.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "base/error.h"
#include "data/dataset/folders.h"
#include "data/formats/file.h"
#include "data/formats/image_file.h"

namespace trefoil::jobs {
namespace {

constexpr std::string_view kPostgres = "postgres:";

void RequireThere(const std::string& path) {
  if (!std::filesystem::exists(path)) throw DataError(path + ": is not there, expected data");
}

/// A folder of images may have `test` among its classes, or its test images in it: it is told by what lies
/// beside that folder.
void RequireNoClasses(const std::filesystem::path& folder, const std::vector<std::string>& classes) {
  const auto is_part = [&](const std::string& name) {
    const bool known = name == "train" || name == "validation" || name == "queries";
    return name == "test" || (known && std::find(classes.begin(), classes.end(), name) == classes.end());
  };
  std::error_code error;
  for (std::filesystem::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    std::error_code ignored;
    const auto name = at->path().filename().string();
    if (name.starts_with('.') || is_part(name)) continue;
    const bool inner = at->is_directory(ignored);
    if (inner || (at->is_regular_file(ignored) && data::IsImageFile(at->path())))
      throw DataError(fmt::format(
          "{}: found a folder \"test\" and {} {}, expected one or the other: name the images' own folder",
          folder.string(), inner ? "a folder" : "an image", data::Quote(name)));
  }
}

}  // namespace

data::DataFiles NamedFiles(std::string_view option, const std::vector<std::string>& paths,
                           const data::DataSpec& spec, data::LabelUse labels) {
  const bool two = HasLabelFile(spec.format);
  const bool without_labels = labels == data::LabelUse::kIgnored;
  data::DataFiles table;
  table.SetTable({paths.begin(), paths.end()});
  if (!two && !paths.empty() && (paths.size() == 1 || spec.format == data::Format::kCsv)) return table;
  if (two && paths.size() == 2) return {.x = paths[0], .y = paths[1], .file = {}};
  if (two && without_labels && paths.size() == 1) return {.x = paths[0], .y = {}, .file = {}};
  const auto* expected =
      two ? (without_labels ? "features, or features and labels" : "two, features and labels") : "one";
  throw ConfigError(fmt::format("{}: found {} files, expected {}", option, paths.size(), expected));
}

data::DataFiles NamedQuery(const std::string& database, const std::string& query) {
  const bool postgres = database.starts_with(kPostgres);
  if (!postgres) RequireThere(database);
  return {.x = {},
          .y = {},
          .file = postgres ? database.substr(kPostgres.size()) : database,
          .more = {},
          .query = query,
          .postgres = postgres};
}

data::DataFiles NamedTestData(const std::vector<std::string>& paths, const data::DataSpec& spec,
                              data::LabelUse labels, const std::string& query) {
  if (!query.empty() && paths.size() == 1) return NamedQuery(paths[0], query);
  for (const auto& path : paths) RequireThere(path);
  if (!query.empty())
    throw ConfigError(fmt::format("--query: found {} files, expected one SQLite database", paths.size()));
  if (paths.size() == 1 && std::filesystem::is_directory(paths[0])) {
    const auto test = data::FindTestFiles(spec, paths[0]);
    const bool images = spec.format == data::Format::kImages;
    if (test && images) RequireNoClasses(paths[0], spec.label.values);
    if (test) return *test;
    if (images) return data::OneFile(paths[0]);
    throw DataError(paths[0] + ": holds no test files; name the files themselves to use others");
  }
  return NamedFiles("--data", paths, spec, labels);
}

}  // namespace trefoil::jobs
