#include "jobs/job.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/sha256.h"
#include "jobs/average/job.h"
#include "jobs/config/toml_reader.h"
#include "jobs/config/toml_writer.h"
#include "jobs/histogram/job.h"
#include "jobs/pate/job.h"
#include "jobs/transfer/job.h"

namespace trefoil::jobs {
namespace {

using Json = nlohmann::json;
using Reader = std::unique_ptr<Job> (*)(const toml::table& root, const std::string& file);

struct JobType {
  const char* name;
  Reader read;
};

constexpr JobType kTypes[] = {{"histogram", ReadHistogramJob},
                              {"pate", ReadPateJob},
                              {"classifier-average", ReadAverageJob},
                              {"ensemble-transfer", ReadTransferJob}};

const JobType* FindType(const toml::table& root) {
  const auto type = root["type"].value<std::string>();
  const auto* found = std::find_if(std::begin(kTypes), std::end(kTypes),
                                   [&](const JobType& one) { return type && *type == one.name; });
  return found == std::end(kTypes) ? nullptr : found;
}

}  // namespace

const std::vector<std::string>& RegisteredTypes() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all;
    for (const auto& type : kTypes) all.emplace_back(type.name);
    return all;
  }();
  return names;
}

bool IsRegisteredJob(const std::filesystem::path& file) { return FindType(ReadToml(file)) != nullptr; }

std::unique_ptr<Job> ReadJob(const std::filesystem::path& file, const std::vector<std::string>& assignments) {
  auto root = ReadToml(file);
  const auto* type = FindType(root);
  Require(type != nullptr, "ReadJob: a task's job file");
  for (const auto& assignment : assignments) SetValue(root, assignment);
  if (FindType(root) != type)
    throw ConfigError(file.string() + ": type: found another by --set, expected \"" + type->name +
                      "\" as in the file");
  return type->read(root, file.string());
}

std::string HashOf(const Job& task) { return Sha256Hex(task.Json()); }

std::string TomlOf(const Job& task) {
  const auto json = Json::parse(task.Json());
  Json keys = Json::object();
  std::string tables;
  for (const auto& [key, value] : json.items()) {
    if (key == "data") {
      tables += DataTables(value);
    } else if (value.is_object()) {
      tables += "\n[" + key + "]\n" + TomlLines(value);
    } else {
      keys[key] = value;
    }
  }
  const auto local = TomlLines(Json::parse(task.LocalJson()));
  if (!local.empty()) tables += "\n[local]\n" + local;
  return "# The job as it was run, with every default filled in.\n" + TomlLines(keys) + tables;
}

dp::Promise PromiseOf(const Job& task) {
  return {.unit = task.Unit(), .neighbours = task.Neighbours(), .warnings = task.Warnings()};
}

dp::EpsilonPair PlannedEpsilons(const Job& task) {
  return dp::Epsilons({.job_hash = {}, .run_id = {}, .events = task.Events()}, task.delta(),
                      task.accountant());
}

}  // namespace trefoil::jobs
