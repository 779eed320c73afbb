#include "jobs/dpsgd/class_weights.h"

#include <spdlog/fmt/fmt.h>

#include <nlohmann/json.hpp>
#include <utility>
#include <variant>
#include <vector>

#include "dp/record/json_number.h"
#include "dp/record/record.h"
#include "jobs/statement/bound_text.h"

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

namespace {

/// Of what a run executed the openings of counts.
std::vector<dp::RecordedEvent> OpenedCounts(const std::vector<dp::RecordedEvent>& executed) {
  std::vector<dp::RecordedEvent> opened;
  for (const auto& event : executed) {
    const auto* releases = std::get_if<dp::GaussianReleases>(&event);
    if (releases != nullptr && releases->of == dp::ReleasedFor::kClassCounts) opened.push_back(event);
  }
  return opened;
}

}  // namespace

void AddClasses(const ml::TrainingResult& trained, const ml::TrainingSettings& settings, double delta,
                JobResult& result) {
  const auto opened = OpenedCounts(trained.record.events);
  std::int64_t releases = 0;
  for (const auto& event : opened) releases += std::get<dp::GaussianReleases>(event).count;
  const auto epsilons =
      dp::Epsilons({.job_hash = {}, .run_id = {}, .events = opened}, delta, settings.accountant);
  result.summary["class_counts"] = trained.class_counts;
  result.summary["class_counts_charge"] = {{"sigma", settings.balance_sigma.value()},
                                           {"releases", releases},
                                           {"epsilon_outsider", dp::NumberOrNull(epsilons.outsider)},
                                           {"epsilon_insider", dp::NumberOrNull(epsilons.insider)}};
  result.summary["class_weights"] = trained.class_weights;
  int number = 0;
  for (const std::int64_t count : trained.class_counts)
    result.values.push_back(
        {.name = fmt::format("class_counts.{}", number++), .value = static_cast<double>(count)});
  result.lines.push_back(fmt::format(
      "classes counted with noise: {}; by themselves epsilon {} outsider {} insider",
      fmt::join(trained.class_counts, ", "), EpsilonText(epsilons.outsider), EpsilonText(epsilons.insider)));
}

}  // namespace trefoil::jobs
