#include "jobs/dpsgd/class_weights.h"

#include <spdlog/fmt/fmt.h>

#include <nlohmann/json.hpp>
#include <utility>

namespace trefoil::jobs {

std::string WeightsOrBalanced::Expected(const toml::node* found) const {
  return numbers.Expected(found) + ", or \"balanced\"";
}

bool WeightsOrBalanced::Read(const toml::node& node, ClassWeightsSpec& member) const {
  ClassWeightsSpec read{.balanced = node.value<std::string>() == "balanced"};
  if (!read.balanced && !numbers.Read(node, read.given)) return false;
  member = std::move(read);
  return true;
}

void WeightsOrBalanced::Write(const ClassWeightsSpec& member, nlohmann::json& json) const {
  if (member.balanced) {
    json = "balanced";
  } else {
    numbers.Write(member.given, json);
  }
}

void WeightsOrBalanced::Describe(nlohmann::json& schema) const {
  auto array = nlohmann::json::object();
  numbers.Describe(array);
  const auto text = nlohmann::json::object({{"type", "string"}, {"enum", {"balanced"}}});
  schema["oneOf"] = nlohmann::json::array({array, text});
}

void AddClasses(const ml::TrainingResult& trained, JobResult& result) {
  result.summary["class_counts"] = trained.class_counts;
  result.summary["class_weights"] = trained.class_weights;
  int number = 0;
  for (const std::int64_t count : trained.class_counts)
    result.values.push_back(
        {.name = fmt::format("class_counts.{}", number++), .value = static_cast<double>(count)});
}

}  // namespace trefoil::jobs
