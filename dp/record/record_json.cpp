#include <string>

#include <nlohmann/json.hpp>

#include "dp/record/event_json.h"
#include "dp/record/record.h"
#include "dp/record/strict_object.h"

namespace trefoil::dp {
namespace {

using Json = nlohmann::json;

constexpr const char* kUnit = "unit";
constexpr const char* kNeighbours = "neighbours";
constexpr const char* kWarnings = "warnings";
constexpr const char* kDeposited = "deposited";

/// What the record's epsilons are for. Pre: its three keys are there.
Promise ParsePromise(const StrictObject& object) {
  const auto unit = UnitNamed(object.Text(kUnit));
  if (!unit)
    RefuseRecord(kUnit, "another text", "\"record\", \"joint-record\", \"group\", \"teacher\" or \"owner\"");
  const auto neighbours = NeighboursNamed(object.Text(kNeighbours));
  if (!neighbours) RefuseRecord(kNeighbours, "another text", "\"added\" or \"replaced\"");
  const auto& texts = object.At(kWarnings);
  if (!texts.is_array()) RefuseRecord(kWarnings, texts.type_name(), "an array");
  Promise promise{.unit = *unit, .neighbours = *neighbours};
  for (std::size_t i = 0; i < texts.size(); ++i) {
    if (!texts[i].is_string())
      RefuseRecord(std::string(kWarnings) + "[" + std::to_string(i) + "]", texts[i].type_name(), "a string");
    promise.warnings.push_back(texts[i].get<std::string>());
  }
  if (object.Has(kDeposited)) {
    if (object.At(kDeposited) != true)
      RefuseRecord(kDeposited, object.At(kDeposited).dump(), "true, or no such key");
    promise.deposited = true;
  }
  return promise;
}

}  // namespace

Json ToJson(const TrainingRecord& record) {
  Json events = Json::array();
  for (const auto& event : record.events) events.push_back(EventToJson(event));
  Json json{{"version", TrainingRecord::kVersion},
            {"job_hash", record.job_hash},
            {"run_id", record.run_id},
            {"events", events}};
  if (record.promise) {
    json[kUnit] = NameOf(record.promise->unit);
    json[kNeighbours] = NameOf(record.promise->neighbours);
    json[kWarnings] = record.promise->warnings;
    if (record.promise->deposited) json[kDeposited] = true;
  }
  return json;
}

TrainingRecord FromJson(const Json& json) {
  // All three or none: a record that leaves one of them out was changed. The fourth came later.
  const bool promises =
      json.is_object() && (json.contains(kUnit) || json.contains(kNeighbours) || json.contains(kWarnings));
  const StrictObject object(json, "",
                            {"version", "job_hash", "run_id", "events", promises ? kUnit : "events",
                             promises ? kNeighbours : "events", promises ? kWarnings : "events",
                             promises && json.contains(kDeposited) ? kDeposited : "events"});
  if (object.Count("version") != TrainingRecord::kVersion) {
    RefuseRecord("version", object.At("version").dump(), std::to_string(TrainingRecord::kVersion));
  }
  TrainingRecord record{object.Hex("job_hash"), object.Hex("run_id"), {}};
  if (promises) record.promise = ParsePromise(object);
  const auto& events = object.At("events");
  if (!events.is_array()) RefuseRecord("events", events.type_name(), "an array");
  for (std::size_t i = 0; i < events.size(); ++i) {
    record.events.push_back(ParseEvent(events[i], "events[" + std::to_string(i) + "]"));
  }
  return record;
}

}  // namespace trefoil::dp
