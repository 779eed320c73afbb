#include <cmath>
#include <initializer_list>
#include <limits>
#include <variant>

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "dp/record/record.h"

namespace trefoil::dp {
namespace {

using Json = nlohmann::json;

[[noreturn]] void Refuse(const std::string& key, const std::string& found, const std::string& expected) {
  throw DataError("training record: " + key + ": found " + found + ", expected " + expected);
}

/// A JSON object that must hold exactly the given keys; `place` is its path in the record, for texts.
class StrictObject {
 public:
  StrictObject(const Json& json, std::string place, std::initializer_list<const char*> keys)
      : json_(json), place_(std::move(place)) {
    if (!json.is_object()) Refuse(place_.empty() ? "top level" : place_, json.type_name(), "an object");
    for (const char* key : keys) {
      if (!json.contains(key)) Refuse(Path(key), "nothing", "this key");
    }
    for (const auto& [key, value] : json.items()) {
      bool known = false;
      for (const char* one : keys) known = known || key == one;
      if (!known) Refuse(Path(key), "an unknown key", "none of that name");
    }
  }

  [[nodiscard]] std::string Path(const std::string& key) const {
    return place_.empty() ? key : place_ + "." + key;
  }
  [[nodiscard]] const Json& At(const char* key) const { return json_.at(key); }

  [[nodiscard]] std::string Text(const char* key) const {
    if (!At(key).is_string()) Refuse(Path(key), At(key).type_name(), "a string");
    return At(key).get<std::string>();
  }

  [[nodiscard]] std::string Hex(const char* key) const {
    auto text = Text(key);
    if (text.empty() || text.find_first_not_of("0123456789abcdef") != std::string::npos) {
      Refuse(Path(key), "another text", "lower-case hexadecimal digits");
    }
    return text;
  }

  [[nodiscard]] std::int64_t Count(const char* key) const { return CountOf(At(key), Path(key)); }

  [[nodiscard]] std::array<std::int64_t, 3> Counts(const char* key) const {
    std::array<std::int64_t, 3> counts{};
    if (!At(key).is_array() || At(key).size() != counts.size()) {
      Refuse(Path(key), At(key).is_array() ? "an array of another length" : At(key).type_name(),
             "an array of 3");
    }
    for (std::size_t i = 0; i < counts.size(); ++i) {
      counts[i] = CountOf(At(key)[i], Path(key) + "[" + std::to_string(i) + "]");
    }
    return counts;
  }

  [[nodiscard]] double Number(const char* key, double largest = std::numeric_limits<double>::max()) const {
    if (!At(key).is_number()) Refuse(Path(key), At(key).type_name(), "a number");
    const auto number = At(key).get<double>();
    if (!(number >= 0 && number <= largest)) {
      Refuse(Path(key), At(key).dump(),
             largest == 1 ? "a number from 0 to 1" : "a finite number not below 0");
    }
    return number;
  }

  [[nodiscard]] bool Flag(const char* key) const {
    if (!At(key).is_boolean()) Refuse(Path(key), At(key).type_name(), "true or false");
    return At(key).get<bool>();
  }

 private:
  static std::int64_t CountOf(const Json& json, const std::string& path) {
    if (!json.is_number_integer()) Refuse(path, json.type_name(), "an integer");
    constexpr std::int64_t kLargest = std::int64_t{1} << 53;  // what every JSON reader keeps
    const bool in_range = json.is_number_unsigned() ? json.get<std::uint64_t>() <= std::uint64_t{kLargest}
                                                    : json.get<std::int64_t>() >= 0;
    if (!in_range) Refuse(path, json.dump(), "an integer from 0 to 2^53");
    return json.get<std::int64_t>();
  }

  const Json& json_;
  std::string place_;
};

constexpr const char* kDpSgdSteps = "dpsgd_steps";
constexpr const char* kLocalTraining = "local_training";
constexpr const char* kNoisySelection = "noisy_selection";
constexpr const char* kNoisyEvaluation = "noisy_evaluation";
constexpr const char* kPureReleases = "pure_releases";
constexpr const char* kLaplaceCounts = "laplace_counts";
constexpr const char* kGaussianReleases = "gaussian_releases";
constexpr const char* kApproximateReleases = "approximate_releases";
constexpr const char* kUnboundedReleases = "unbounded_releases";
constexpr const char* kOwnerPoisson = "owner-poisson";
constexpr const char* kPublic = "public";
constexpr const char* kEpsilonReplaced = "epsilon_replaced";
constexpr const char* kMaxGroupRows = "max_group_rows";
constexpr const char* kPartition = "partition";
constexpr const char* kVertical = "vertical";
constexpr const char* kExecutions = "executions";
/// So that steps times executions fit.
constexpr std::int64_t kMostExecutions = 1'000;

SamplingMode ParseSampling(const StrictObject& object) {
  const auto text = object.Text("sampling");
  if (text == kOwnerPoisson) return SamplingMode::kOwnerPoisson;
  if (text == kPublic) return SamplingMode::kPublic;
  Refuse(object.Path("sampling"), "another text", "\"owner-poisson\" or \"public\"");
}

DpSgdSteps ParseSteps(const Json& json, const std::string& place) {
  // Where the unit of privacy is a record, no rows of a group are written.
  const bool groups = json.contains(kMaxGroupRows);
  const bool vertical = json.contains(kPartition);  // nor a partition where it is horizontal
  const bool again = json.contains(kExecutions);    // nor how often where each was executed once
  const StrictObject object(
      json, place,
      {"kind", "steps", "sampling", "sampling_rate", "sigma", "sensitivity", "clip", "capacity", "max_batch",
       "max_participation", "party_deviation", "coordinates", groups ? kMaxGroupRows : "kind",
       vertical ? kPartition : "kind", again ? kExecutions : "kind"});
  DpSgdSteps steps;
  steps.steps = object.Count("steps");
  steps.sampling = ParseSampling(object);
  steps.sampling_rate = object.Number("sampling_rate", 1);
  steps.sigma = object.Number("sigma");
  steps.sensitivity = object.Number("sensitivity");
  steps.clip = object.Number("clip");
  steps.limits = {object.Counts("capacity"), object.Counts("max_batch")};
  steps.max_participation = object.Count("max_participation");
  if (again) steps.executions = object.Count(kExecutions);
  if (again && (steps.executions < 2 || steps.executions > kMostExecutions))
    Refuse(object.Path(kExecutions), std::to_string(steps.executions), "from 2 to 1000, or no such key");
  if (again && steps.sampling != SamplingMode::kPublic)
    Refuse(object.Path(kExecutions), "this key", "none but with public sampling");
  if (steps.max_participation > steps.steps * steps.executions) {
    Refuse(object.Path("max_participation"), std::to_string(steps.max_participation),
           "at most the number of steps, as often as they were executed");
  }
  if (groups) steps.limits.group_rows = object.Count(kMaxGroupRows);
  if (groups && steps.limits.group_rows < 2)
    Refuse(object.Path(kMaxGroupRows), std::to_string(steps.limits.group_rows), "at least 2, or no such key");
  if (groups && steps.sampling == SamplingMode::kPublic)
    Refuse(object.Path(kMaxGroupRows), "this key", "none with public sampling");
  if (vertical && (object.Text(kPartition) != kVertical || steps.sampling != SamplingMode::kPublic))
    Refuse(object.Path(kPartition), "another text or sampling", "\"vertical\" with public sampling");
  steps.vertical = vertical;
  steps.party_deviation = object.Number("party_deviation");
  steps.coordinates = object.Count("coordinates");
  return steps;
}

LocalTraining ParseLocal(const Json& json, const std::string& place) {
  const StrictObject object(json, place,
                            {"kind", "steps", "sampling_rate", "sigma", "sensitivity", "clip", "deviation"});
  LocalTraining local;
  local.steps = object.Count("steps");
  local.sampling_rate = object.Number("sampling_rate", 1);
  local.sigma = object.Number("sigma");
  local.sensitivity = object.Number("sensitivity");
  local.clip = object.Number("clip");
  local.deviation = object.Number("deviation");
  return local;
}

NoisySelection ParseSelection(const Json& json, const std::string& place) {
  const StrictObject object(
      json, place,
      {"kind", "candidates", "sampling_rate", "sigma", "capacity", "max_batch", "party_deviation"});
  NoisySelection selection;
  selection.candidates = object.Count("candidates");
  selection.sampling_rate = object.Number("sampling_rate", 1);
  selection.sigma = object.Number("sigma");
  selection.limits = {object.Counts("capacity"), object.Counts("max_batch")};
  selection.party_deviation = object.Number("party_deviation");
  return selection;
}

NoisyEvaluation ParseEvaluation(const Json& json, const std::string& place) {
  const StrictObject object(json, place, {"kind", "sigma", "party_deviation"});
  return {.sigma = object.Number("sigma"), .party_deviation = object.Number("party_deviation")};
}

PureReleases ParsePure(const Json& json, const std::string& place) {
  const bool replaced = json.contains(kEpsilonReplaced);
  const StrictObject object(json, place, {"kind", "count", "epsilon", replaced ? kEpsilonReplaced : "kind"});
  PureReleases releases{.count = object.Count("count"), .epsilon = object.Number("epsilon")};
  if (replaced) releases.replaced = object.Number(kEpsilonReplaced);
  return releases;
}

LaplaceCounts ParseLaplace(const Json& json, const std::string& place) {
  const StrictObject object(json, place, {"kind", "count", "rate"});
  LaplaceCounts counts{.count = object.Count("count"), .rate = object.Number("rate")};
  if (!(counts.rate > 0)) Refuse(object.Path("rate"), object.At("rate").dump(), "a number above 0");
  return counts;
}

GaussianReleases ParseGaussian(const Json& json, const std::string& place) {
  const StrictObject object(json, place, {"kind", "count", "coordinates", "sigma", "party_deviation"});
  return {.count = object.Count("count"),
          .coordinates = object.Count("coordinates"),
          .sigma = object.Number("sigma"),
          .party_deviation = object.Number("party_deviation")};
}

ApproximateReleases ParseApproximate(const Json& json, const std::string& place) {
  const StrictObject object(json, place, {"kind", "count", "epsilon", "failure", "insiders"});
  return {.count = object.Count("count"),
          .epsilon = object.Number("epsilon"),
          .failure = object.Number("failure", 1),
          .insiders = object.Flag("insiders")};
}

UnboundedReleases ParseUnbounded(const Json& json, const std::string& place) {
  return {.count = StrictObject(json, place, {"kind", "count"}).Count("count")};
}

RecordedEvent ParseEvent(const Json& json, const std::string& place) {
  if (!json.is_object()) Refuse(place, json.type_name(), "an object");
  const auto path = place + ".kind";
  if (!json.contains("kind")) Refuse(path, "nothing", "this key");
  const auto& kind = json.at("kind");
  if (kind == kDpSgdSteps) return ParseSteps(json, place);
  if (kind == kLocalTraining) return ParseLocal(json, place);
  if (kind == kNoisySelection) return ParseSelection(json, place);
  if (kind == kNoisyEvaluation) return ParseEvaluation(json, place);
  if (kind == kPureReleases) return ParsePure(json, place);
  if (kind == kLaplaceCounts) return ParseLaplace(json, place);
  if (kind == kGaussianReleases) return ParseGaussian(json, place);
  if (kind == kApproximateReleases) return ParseApproximate(json, place);
  if (kind == kUnboundedReleases) return ParseUnbounded(json, place);
  Refuse(path, "another value",
         "\"dpsgd_steps\", \"local_training\", \"noisy_selection\", \"noisy_evaluation\", "
         "\"pure_releases\", \"laplace_counts\", \"gaussian_releases\", \"approximate_releases\" or "
         "\"unbounded_releases\"");
}

constexpr const char* kUnit = "unit";
constexpr const char* kNeighbours = "neighbours";
constexpr const char* kWarnings = "warnings";

/// What the record's epsilons are for. Pre: its three keys are there.
Promise ParsePromise(const StrictObject& object) {
  const auto unit = UnitNamed(object.Text(kUnit));
  if (!unit)
    Refuse(kUnit, "another text", "\"record\", \"joint-record\", \"group\", \"teacher\" or \"owner\"");
  const auto neighbours = NeighboursNamed(object.Text(kNeighbours));
  if (!neighbours) Refuse(kNeighbours, "another text", "\"added\" or \"replaced\"");
  const auto& texts = object.At(kWarnings);
  if (!texts.is_array()) Refuse(kWarnings, texts.type_name(), "an array");
  Promise promise{.unit = *unit, .neighbours = *neighbours};
  for (std::size_t i = 0; i < texts.size(); ++i) {
    if (!texts[i].is_string())
      Refuse(std::string(kWarnings) + "[" + std::to_string(i) + "]", texts[i].type_name(), "a string");
    promise.warnings.push_back(texts[i].get<std::string>());
  }
  return promise;
}

void RequireFinite(std::initializer_list<double> numbers) {
  for (const double number : numbers) {
    Require(std::isfinite(number), "ToJson: every number of a training record is finite");
  }
}

Json EventToJson(const DpSgdSteps& steps) {
  RequireFinite({steps.sampling_rate, steps.sigma, steps.sensitivity, steps.clip, steps.party_deviation});
  Json json{{"kind", kDpSgdSteps},
            {"steps", steps.steps},
            {"sampling", steps.sampling == SamplingMode::kPublic ? kPublic : kOwnerPoisson},
            {"sampling_rate", steps.sampling_rate},
            {"sigma", steps.sigma},
            {"sensitivity", steps.sensitivity},
            {"clip", steps.clip},
            {"capacity", steps.limits.capacity},
            {"max_batch", steps.limits.max_batch},
            {"max_participation", steps.max_participation},
            {"party_deviation", steps.party_deviation},
            {"coordinates", steps.coordinates}};
  if (steps.limits.group_rows > 1) json[kMaxGroupRows] = steps.limits.group_rows;
  if (steps.vertical) json[kPartition] = kVertical;
  if (steps.executions > 1) json[kExecutions] = steps.executions;
  return json;
}

Json EventToJson(const LocalTraining& local) {
  RequireFinite({local.sampling_rate, local.sigma, local.sensitivity, local.clip, local.deviation});
  return {{"kind", kLocalTraining},
          {"steps", local.steps},
          {"sampling_rate", local.sampling_rate},
          {"sigma", local.sigma},
          {"sensitivity", local.sensitivity},
          {"clip", local.clip},
          {"deviation", local.deviation}};
}

Json EventToJson(const NoisySelection& selection) {
  RequireFinite({selection.sampling_rate, selection.sigma, selection.party_deviation});
  return {{"kind", kNoisySelection},
          {"candidates", selection.candidates},
          {"sampling_rate", selection.sampling_rate},
          {"sigma", selection.sigma},
          {"capacity", selection.limits.capacity},
          {"max_batch", selection.limits.max_batch},
          {"party_deviation", selection.party_deviation}};
}

Json EventToJson(const NoisyEvaluation& evaluation) {
  RequireFinite({evaluation.sigma, evaluation.party_deviation});
  return {{"kind", kNoisyEvaluation},
          {"sigma", evaluation.sigma},
          {"party_deviation", evaluation.party_deviation}};
}

Json EventToJson(const PureReleases& releases) {
  RequireFinite({releases.epsilon, releases.replaced.value_or(0)});
  Json json{{"kind", kPureReleases}, {"count", releases.count}, {"epsilon", releases.epsilon}};
  if (releases.replaced) json[kEpsilonReplaced] = *releases.replaced;
  return json;
}

Json EventToJson(const LaplaceCounts& counts) {
  RequireFinite({counts.rate});
  return {{"kind", kLaplaceCounts}, {"count", counts.count}, {"rate", counts.rate}};
}

Json EventToJson(const GaussianReleases& releases) {
  RequireFinite({releases.sigma, releases.party_deviation});
  return {{"kind", kGaussianReleases},
          {"count", releases.count},
          {"coordinates", releases.coordinates},
          {"sigma", releases.sigma},
          {"party_deviation", releases.party_deviation}};
}

Json EventToJson(const ApproximateReleases& releases) {
  RequireFinite({releases.epsilon, releases.failure});
  return {{"kind", kApproximateReleases},
          {"count", releases.count},
          {"epsilon", releases.epsilon},
          {"failure", releases.failure},
          {"insiders", releases.insiders}};
}

Json EventToJson(const UnboundedReleases& releases) {
  return {{"kind", kUnboundedReleases}, {"count", releases.count}};
}

}  // namespace

Json ToJson(const TrainingRecord& record) {
  Json events = Json::array();
  for (const auto& event : record.events) {
    events.push_back(std::visit([](const auto& one) { return EventToJson(one); }, event));
  }
  Json json{{"version", TrainingRecord::kVersion},
            {"job_hash", record.job_hash},
            {"run_id", record.run_id},
            {"events", events}};
  if (record.promise) {
    json[kUnit] = NameOf(record.promise->unit);
    json[kNeighbours] = NameOf(record.promise->neighbours);
    json[kWarnings] = record.promise->warnings;
  }
  return json;
}

TrainingRecord FromJson(const Json& json) {
  // All three or none: a record that leaves one of them out was changed.
  const bool promises =
      json.is_object() && (json.contains(kUnit) || json.contains(kNeighbours) || json.contains(kWarnings));
  const StrictObject object(json, "",
                            {"version", "job_hash", "run_id", "events", promises ? kUnit : "events",
                             promises ? kNeighbours : "events", promises ? kWarnings : "events"});
  if (object.Count("version") != TrainingRecord::kVersion) {
    Refuse("version", object.At("version").dump(), std::to_string(TrainingRecord::kVersion));
  }
  TrainingRecord record{object.Hex("job_hash"), object.Hex("run_id"), {}};
  if (promises) record.promise = ParsePromise(object);
  const auto& events = object.At("events");
  if (!events.is_array()) Refuse("events", events.type_name(), "an array");
  for (std::size_t i = 0; i < events.size(); ++i) {
    record.events.push_back(ParseEvent(events[i], "events[" + std::to_string(i) + "]"));
  }
  return record;
}

}  // namespace trefoil::dp
