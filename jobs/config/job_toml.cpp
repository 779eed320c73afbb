#include <nlohmann/json.hpp>

#include "jobs/config/toml_writer.h"
#include "jobs/dpsgd/settings.h"

namespace trefoil::jobs {
namespace {

using Json = nlohmann::json;

}  // namespace

std::string DpsgdToml(const DpsgdSettings& job) {
  const auto json = Json::parse(DpsgdJson(job));
  std::string text = "# The job as it was run, with every default filled in.\n";
  for (const auto* key : {"version", "type", "name", "fraction_bits"}) {
    text += std::string(key) + " = " + TomlValue(json.at(key)) + "\n";
  }
  text += DataTables(json.at("data"));
  for (const auto* key :
       {"features", "model", "training", "privacy", "initialisation", "evaluation", "release"}) {
    if (json.contains(key)) text += "\n[" + std::string(key) + "]\n" + TomlLines(json.at(key));
  }
  return text + "\n[local]\n" + TomlLines(Json::parse(LocalSpecJson(job.local)));
}

std::string LocalSpecJson(const LocalSpec& local) {
  return Json{{"split", local.fractions ? Json(*local.fractions) : Json(local.split)}}.dump();
}

}  // namespace trefoil::jobs
