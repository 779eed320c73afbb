#include "jobs/config/input_files.h"

#include <spdlog/fmt/fmt.h>

#include <set>

#include "base/error.h"
#include "jobs/config/suggestion.h"

namespace trefoil::jobs {

void BringFiles(PartyFile& party, const std::map<std::string, std::filesystem::path>& files) {
  std::map<std::string, std::filesystem::path*> places{{"data.x", &party.data.x},
                                                       {"data.y", &party.data.y},
                                                       {"data.file", &party.data.file},
                                                       {"evaluation.x", &party.evaluation.x},
                                                       {"evaluation.y", &party.evaluation.y},
                                                       {"evaluation.file", &party.evaluation.file},
                                                       {"validation.x", &party.validation.x},
                                                       {"validation.y", &party.validation.y},
                                                       {"validation.file", &party.validation.file},
                                                       {"features.model", &party.feature_model}};
  for (const auto& [key, path] : party.inputs.all()) places[key] = &party.inputs[key];
  std::vector<std::string> known;
  for (const auto& [key, place] : places) known.push_back(key);
  for (const auto& [key, file] : files) {
    if (!places.contains(key))
      throw ConfigError(fmt::format("{} is no file of a party, expected one of {}{}", key,
                                    fmt::join(known, ", "), DidYouMean(key, known)));
    const auto table = key.substr(0, key.find('.') + 1);
    const std::set<std::string> records{table + "x", table + "y", table + "file"};
    for (const auto& one : records) {
      if (records.contains(key) && places.contains(one)) places.at(one)->clear();
    }
  }
  for (const auto& [key, file] : files) *places.at(key) = file;
}

}  // namespace trefoil::jobs
