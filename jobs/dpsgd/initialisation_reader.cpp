#include "jobs/dpsgd/initialisation_reader.h"

#include <spdlog/fmt/fmt.h>

#include <limits>
#include <nlohmann/json.hpp>

namespace trefoil::jobs {
namespace {

constexpr Interval kPositive{.above = 0.0, .below = {}};
constexpr double kDefaultRows = 2000;
constexpr double kDefaultSigma = 5;

void ReadBudget(const Section& section, InitialisationSpec& spec, const PrivacySpec& privacy) {
  if (section.Has("epsilon") && section.Has("sigma"))
    section.Fail("sigma", "initialisation.epsilon is given too, expected only one of them");
  if (section.Has("sigma")) {
    spec.sigma = section.Number("sigma", kPositive);
  } else if (section.Has("epsilon")) {
    spec.epsilon = section.Number("epsilon", kPositive);
  } else {
    section.Refuse("epsilon",
                   "initialisation.epsilon, or initialisation.sigma (the noise multiplier), above 0");
  }
  spec.delta = section.Number("delta", {.above = 0.0, .below = 1.0}, privacy.delta);
}

void ReadSelection(const Section& section, InitialisationSpec& spec) {
  spec.selection = section.Choice("selection", {"noisy", "as-published", "public-validation"}, "noisy");
  if (spec.validates()) {
    spec.validation_holder = static_cast<int>(section.Whole("validation_holder", {0, 2}));
    spec.validation_rows = section.Whole("validation_rows", {1, 10'000'000});
    return;
  }
  spec.selection_rows = section.Number("selection_rows", kPositive, kDefaultRows);
  if (spec.selection == "noisy")
    spec.selection_sigma = section.Number("selection_sigma", kPositive, kDefaultSigma);
}

/// Refuses keys that the method, or the selection, does not have.
void CheckBelonging(const Section& section, const InitialisationSpec& spec) {
  for (const auto& key : section.Keys()) {
    if (key == "method") continue;
    const bool of_validation = key.starts_with("validation");
    const bool of_selection = key.starts_with("selection") || of_validation;
    if (spec.method == "none" || (of_selection && spec.method != "accuracy"))
      section.Fail(key, fmt::format("method \"{}\" does not have it", spec.method));
    if ((key == "selection_sigma" && spec.selection != "noisy") ||
        (key == "selection_rows" && spec.validates()) || (of_validation && !spec.validates()))
      section.Fail(key, fmt::format("selection \"{}\" does not have it", spec.selection));
  }
}

}  // namespace

const std::vector<std::string>& InitialisationKeys() {
  static const std::vector<std::string> keys{"initialisation.method",
                                             "initialisation.steps",
                                             "initialisation.expected_batch",
                                             "initialisation.learning_rate",
                                             "initialisation.clip",
                                             "initialisation.epsilon",
                                             "initialisation.sigma",
                                             "initialisation.delta",
                                             "initialisation.selection",
                                             "initialisation.selection_rows",
                                             "initialisation.selection_sigma",
                                             "initialisation.validation_holder",
                                             "initialisation.validation_rows"};
  return keys;
}

InitialisationSpec ReadInitialisation(const Section& section, const PrivacySpec& privacy) {
  InitialisationSpec spec;
  spec.method = section.Choice("method", {"none", "averaging", "accuracy"}, "none");
  if (spec.method != "none") {
    spec.steps = section.Whole("steps", {1, std::numeric_limits<int>::max()});
    spec.expected_batch = section.Number("expected_batch", kPositive);
    spec.learning_rate = section.Number("learning_rate", kPositive);
    spec.clip = section.Number("clip", kPositive, privacy.clip);
    ReadBudget(section, spec, privacy);
  }
  if (spec.method == "accuracy") ReadSelection(section, spec);
  CheckBelonging(section, spec);
  return spec;
}

nlohmann::json InitialisationJson(const InitialisationSpec& spec) {
  nlohmann::json json{{"method", spec.method}};
  if (spec.method == "none") return json;
  json["steps"] = spec.steps;
  json["expected_batch"] = spec.expected_batch;
  json["learning_rate"] = spec.learning_rate;
  json["clip"] = spec.clip;
  if (spec.epsilon) json["epsilon"] = *spec.epsilon;
  if (spec.sigma) json["sigma"] = *spec.sigma;
  json["delta"] = spec.delta;
  if (spec.method != "accuracy") return json;
  json["selection"] = spec.selection;
  if (spec.validates()) {
    json["validation_holder"] = spec.validation_holder;
    json["validation_rows"] = spec.validation_rows;
    return json;
  }
  json["selection_rows"] = spec.selection_rows;
  if (spec.selection == "noisy") json["selection_sigma"] = spec.selection_sigma;
  return json;
}

std::optional<ml::InitialisationSettings> InitialisationOf(const InitialisationSpec& spec) {
  if (spec.method == "none") return std::nullopt;
  ml::InitialisationSettings settings;
  settings.method =
      spec.method == "accuracy" ? ml::InitialisationMethod::kAccuracy : ml::InitialisationMethod::kAveraging;
  settings.local = {.steps = static_cast<int>(spec.steps),
                    .expected_batch = spec.expected_batch,
                    .learning_rate = spec.learning_rate,
                    .clip = spec.clip,
                    .sigma = spec.sigma,
                    .target_epsilon = spec.epsilon.value_or(0.0),
                    .delta = spec.delta};
  if (spec.method != "accuracy") return settings;
  if (spec.validates()) {
    settings.selection = ml::Selection::kPublicValidation;
    settings.validation = {.holder = spec.validation_holder, .rows = spec.validation_rows};
    return settings;
  }
  settings.selection = spec.selection == "as-published" ? ml::Selection::kAsPublished : ml::Selection::kNoisy;
  settings.selection_rows = spec.selection_rows;
  if (settings.selection == ml::Selection::kNoisy) settings.selection_sigma = spec.selection_sigma;
  return settings;
}

}  // namespace trefoil::jobs
