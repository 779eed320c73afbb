#include "jobs/config/named_files.h"

#include <spdlog/fmt/fmt.h>

#include <filesystem>

#include "base/error.h"
#include "data/dataset/folders.h"

namespace trefoil::jobs {
namespace {

constexpr std::string_view kPostgres = "postgres:";

void RequireThere(const std::string& path) {
  if (!std::filesystem::exists(path)) throw DataError(path + ": is not there, expected data");
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
    if (const auto test = data::FindTestFiles(spec, paths[0])) return *test;
    throw DataError(paths[0] + ": holds no test files; name the files themselves to use others");
  }
  return NamedFiles("--data", paths, spec, labels);
}

}  // namespace trefoil::jobs
