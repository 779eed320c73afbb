#include "jobs/config/input_files.h"

#include <spdlog/fmt/fmt.h>

#include "base/error.h"
#include "jobs/config/suggestion.h"

namespace trefoil::jobs {

void BringFiles(PartyFile& party, const std::map<std::string, std::filesystem::path>& files) {
  auto& rows = party.predict.rows;
  const std::map<std::string, std::filesystem::path*> places{{"data.x", &party.data.x},
                                                             {"data.y", &party.data.y},
                                                             {"data.file", &party.data.file},
                                                             {"evaluation.x", &party.evaluation.x},
                                                             {"evaluation.y", &party.evaluation.y},
                                                             {"evaluation.file", &party.evaluation.file},
                                                             {"validation.x", &party.validation.x},
                                                             {"validation.y", &party.validation.y},
                                                             {"validation.file", &party.validation.file},
                                                             {"predict.x", &rows.x},
                                                             {"predict.file", &rows.file},
                                                             {"predict.share", &party.predict.share},
                                                             {"pate.queries", &party.pate.queries},
                                                             {"pate.predictions", &party.pate.predictions},
                                                             {"pate.student", &party.pate.student},
                                                             {"features.model", &party.feature_model}};
  std::vector<std::string> known;
  for (const auto& [key, place] : places) known.push_back(key);
  for (const auto& [key, file] : files) {
    if (!places.contains(key))
      throw ConfigError(fmt::format("{} is no file of a party, expected one of {}{}", key,
                                    fmt::join(known, ", "), DidYouMean(key, known)));
  }
  const auto names = [&](const std::string& table) {
    const auto first = files.lower_bound(table + ".");
    return first != files.end() && first->first.starts_with(table + ".");
  };
  if (names("data")) party.data = {};
  if (names("evaluation")) party.evaluation = {};
  if (names("validation")) party.validation = {};
  if (files.contains("predict.x") || files.contains("predict.file")) rows = {};
  for (const auto& [key, file] : files) *places.at(key) = file;
}

}  // namespace trefoil::jobs
