#include "jobs/config/path_domains.h"

#include <spdlog/fmt/fmt.h>

#include <set>
#include <string_view>
#include <utility>

#include "data/tables/query_reader.h"
#include "jobs/config/fields.h"
#include "jobs/config/party_file.h"

namespace trefoil::jobs {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

void CheckRecords(const Section& section) {
  const bool x = section.Has("x");
  const bool y = section.Has("y");
  if (section.Has("file") && (x || y))
    section.Fail("file", fmt::format("{} or {} is given too, expected x and y, or file", section.Path("x"),
                                     section.Path("y")));
  if (x != y)
    section.Refuse(x ? "y" : "x", fmt::format("a path, as the other of {} and {} is given", section.Path("x"),
                                              section.Path("y")));
}

void CheckQuery(const Section& section, const data::DataFiles& files, const std::string& database) {
  const bool sqlite = section.Has("sqlite");
  const bool postgres = section.Has("postgres");
  const char* source = sqlite ? "sqlite" : "postgres";
  for (const char* other : {"x", "y", "file", "postgres"}) {
    const bool itself = other == std::string_view(source);
    if ((sqlite || postgres) && !itself && section.Has(other))
      section.Fail(source, fmt::format("{} is given too, expected only one of them", section.Path(other)));
  }
  if (section.Has("query") && !sqlite && !postgres)
    section.Refuse("sqlite", "a path, as a query is given, or postgres");
  if ((sqlite || postgres) && files.query.find_first_not_of(" \t\r\n") == std::string::npos)
    section.Refuse("query", "the SELECT that gives the table");
  if (data::MayHoldPassword(database))
    section.Fail(
        "postgres",
        "found what may be a password, expected keyword=value pairs without one: it is taken from the file "
        "that PGPASSFILE names");
}

}  // namespace

bool Path::Read(const toml::node& node, fs::path& member) const {
  if (!node.is_string() || node.as_string()->get().empty()) return false;
  const auto& file = node.source().path;
  member = (file ? fs::path(*file).parent_path() : fs::path()) / node.as_string()->get();
  return true;
}

void Path::Write(const fs::path& member, Json& json) const { json = member.generic_string(); }

std::string Paths::Expected(const toml::node* found) const {
  return found == nullptr || found->is_string() ? Path().Expected(found)
                                                : "a path, or an array of different paths";
}

bool Paths::Read(const toml::node& node, std::vector<fs::path>& member) const {
  std::vector<fs::path> paths;
  if (const auto* array = node.as_array()) {
    for (const auto& element : *array) {
      if (!Path().Read(element, paths.emplace_back())) return false;
    }
  } else if (!Path().Read(node, paths.emplace_back())) {
    return false;
  }
  std::set<fs::path> different;
  for (const auto& path : paths) different.insert(path.lexically_normal());
  if (paths.empty() || different.size() != paths.size()) return false;
  member = std::move(paths);
  return true;
}

void Paths::Write(const std::vector<fs::path>& member, Json& json) const {
  if (member.size() == 1) return Path().Write(member[0], json);
  json = Json::array();
  for (const auto& path : member) Path().Write(path, json.emplace_back());
}

void Paths::Describe(Json& schema) const {
  Json one;
  Path().Describe(one);
  schema["oneOf"] = {one, {{"type", "array"}, {"items", one}, {"minItems", 1}, {"uniqueItems", true}}};
}

const fs::path& InputPaths::operator[](const std::string& key) const {
  static const fs::path none;
  const auto found = paths_.find(key);
  return found == paths_.end() ? none : found->second;
}

void PathField(FieldVisitor& v, const char* key, fs::path& path, const char* help) {
  v(key, path, Path(), Default(fs::path()).Said("none").LeftOut(), help);
}

const data::DataFiles& InputPaths::Records(const std::string& table) const {
  static const data::DataFiles none;
  const auto found = records_.find(table);
  return found == records_.end() ? none : found->second;
}

void TableField(FieldVisitor& v, data::DataFiles& files, const char* help) {
  const bool queried = !files.query.empty();
  auto table = queried ? std::vector<fs::path>() : files.table();
  auto sqlite = queried && !files.postgres ? files.file : fs::path();
  auto postgres = files.postgres ? files.file.string() : std::string();
  v("file", table, Paths(), Default(std::vector<fs::path>()).Said("none").LeftOut(), help);
  PathField(v, "sqlite", sqlite, "csv: an SQLite database in place of `file`, which is only read.");
  v("postgres", postgres, Text(), Default(std::string()).Said("none").LeftOut(),
    "csv: a PostgreSQL database in place of `file`, which is only read: its name, or pairs as in "
    "`service=clinic`. All else, passwords above all, is taken from libpq's environment variables and files "
    "(`tables.md`, \"A query\").");
  v("query", files.query, Text(), Default(std::string()).Said("none").LeftOut(),
    "With `sqlite` or `postgres`: the SELECT that gives the table; its names of columns are the header. "
    "Nobody else sees it.");
  v.Check([&](const Section& section) { CheckQuery(section, files, postgres); });
  files.postgres = !postgres.empty();
  if (files.postgres) {
    files.SetTable({postgres});
  } else {
    files.SetTable(sqlite.empty() ? table : std::vector{sqlite});
  }
}

void RecordFields(FieldVisitor& v, const char* table, const char* help, data::DataFiles& files) {
  v.Table(table, help, [&] {
    PathField(v, "x", files.x, "idx and npy: the records, with `y`.");
    PathField(v, "y", files.y, "idx and npy: their labels.");
    TableField(v, files,
               "csv, npz and cifar: both, in place of `x` and `y`; of csv also several, which are one table; "
               "images: the folder.");
    v.Check(CheckRecords);
  });
}

}  // namespace trefoil::jobs
