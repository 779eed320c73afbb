#include "jobs/config/input_files.h"

#include <spdlog/fmt/fmt.h>

#include "base/error.h"
#include "jobs/config/suggestion.h"

namespace trefoil::jobs {

void BringFiles(PartyFile& party, const std::map<std::string, std::filesystem::path>& files) {
  std::map<std::string, data::DataFiles*> sets{
      {"data", &party.data}, {"evaluation", &party.evaluation}, {"validation", &party.validation}};
  std::map<std::string, std::filesystem::path*> places{{"features.model", &party.feature_model}};
  for (const auto& [key, path] : party.inputs.all()) places[key] = &party.inputs[key];
  for (const auto& [table, set] : party.inputs.all_records()) sets[table] = &party.inputs.Records(table);
  for (const auto& [table, set] : sets) {
    places[table + ".x"] = &set->x;
    places[table + ".file"] = &set->file;
    if (!party.inputs.all_records().contains(table)) places[table + ".y"] = &set->y;
  }
  std::vector<std::string> known;
  for (const auto& [key, place] : places) known.push_back(key);
  for (const auto& [key, file] : files) {
    if (!places.contains(key))
      throw ConfigError(fmt::format("{} is no file of a party, expected one of {}{}", key,
                                    fmt::join(known, ", "), DidYouMean(key, known)));
    const auto dot = key.find('.');
    const auto set = sets.find(key.substr(0, dot));
    const auto name = key.substr(dot + 1);
    if (set != sets.end() && (name == "x" || name == "y" || name == "file")) *set->second = {};
  }
  for (const auto& [key, file] : files) *places.at(key) = file;
}

}  // namespace trefoil::jobs
