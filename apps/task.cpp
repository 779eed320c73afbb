#include "apps/task.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "apps/average_task.h"
#include "apps/histogram_task.h"
#include "apps/pate_task.h"
#include "apps/toml_reader.h"
#include "apps/toml_writer.h"
#include "apps/transfer_task.h"
#include "base/error.h"
#include "base/sha256.h"

namespace trefoil::apps {
namespace {

using Json = nlohmann::json;
using Reader = std::unique_ptr<Task> (*)(const toml::table& root, const std::string& file);

struct TaskType {
  const char* name;
  Reader read;
};

constexpr TaskType kTypes[] = {{"histogram", ReadHistogramTask},
                               {"pate", ReadPateTask},
                               {"classifier-average", ReadAverageTask},
                               {"ensemble-transfer", ReadTransferTask}};

const TaskType* FindType(const toml::table& root) {
  const auto type = root["type"].value<std::string>();
  const auto* found = std::find_if(std::begin(kTypes), std::end(kTypes),
                                   [&](const TaskType& one) { return type && *type == one.name; });
  return found == std::end(kTypes) ? nullptr : found;
}

}  // namespace

const std::vector<std::string>& TaskTypes() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all;
    for (const auto& type : kTypes) all.emplace_back(type.name);
    return all;
  }();
  return names;
}

bool IsTask(const std::filesystem::path& file) { return FindType(ReadToml(file)) != nullptr; }

std::unique_ptr<Task> ReadTask(const std::filesystem::path& file,
                               const std::vector<std::string>& assignments) {
  auto root = ReadToml(file);
  const auto* type = FindType(root);
  Require(type != nullptr, "ReadTask: a task's job file");
  for (const auto& assignment : assignments) SetValue(root, assignment);
  if (FindType(root) != type)
    throw ConfigError(file.string() + ": type: found another by --set, expected \"" + type->name +
                      "\" as in the file");
  return type->read(root, file.string());
}

std::string TaskHash(const Task& task) { return Sha256Hex(task.Json()); }

std::string TaskToml(const Task& task) {
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

dp::Promise PromiseOf(const Task& task) {
  return {.unit = task.Unit(), .neighbours = task.Neighbours(), .warnings = task.Warnings()};
}

dp::EpsilonPair PlannedEpsilons(const Task& task) {
  return dp::Epsilons({.job_hash = {}, .run_id = {}, .events = task.Events()}, task.delta(),
                      task.accountant());
}

}  // namespace trefoil::apps
