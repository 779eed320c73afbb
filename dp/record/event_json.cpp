#include "dp/record/event_json.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "base/error.h"
#include "dp/record/strict_object.h"

namespace trefoil::dp {
namespace {

using Json = nlohmann::json;

// Of each alternative of RecordedEvent, in their order.
constexpr std::array<const char*, std::variant_size_v<RecordedEvent>> kKinds{
    "dpsgd_steps",    "local_training",    "noisy_selection",      "noisy_evaluation",   "pure_releases",
    "laplace_counts", "gaussian_releases", "approximate_releases", "unbounded_releases", "tuning"};

/// The values of a member by the texts that stand for them.
template <typename E, std::size_t kCount>
struct Texts {
  std::array<std::pair<E, const char*>, kCount> all;
  const char* expected;
};

constexpr Texts<SamplingMode, 4> kSamplings{{{{SamplingMode::kOwnerPoisson, "owner-poisson"},
                                              {SamplingMode::kPublic, "public"},
                                              {SamplingMode::kFull, "full"},
                                              {SamplingMode::kDeposited, "deposited"}}},
                                            "\"owner-poisson\", \"public\", \"full\" or \"deposited\""};
constexpr Texts<ReleasedFor, 3> kReleasedFor{{{{ReleasedFor::kRanges, "ranges"},
                                               {ReleasedFor::kMeans, "means"},
                                               {ReleasedFor::kClassCounts, "class_counts"}}},
                                             "\"ranges\", \"means\" or \"class_counts\", or no such key"};
constexpr Texts<bool, 1> kVertical{{{{true, "vertical"}}}, "\"vertical\" with public sampling"};

constexpr const char* kExecutions = "executions";
constexpr const char* kClipCountSigma = "clip_count_sigma";
constexpr const char* kMaxGroupRows = "max_group_rows";
constexpr std::int64_t kMaxWeight = std::int64_t{1} << 53;
/// sigma of a step over the deviation of its clip counts, which take at most half of it: sqrt(2), and what
/// rounding adds.
constexpr double kMostOfClipCounts = 1.4143;

// Each member of an event is declared once:
//   v(key, member)               an integer from 0 to 2^53, a finite number not below 0, three integers, a
//                                flag, a list of such integers, or trials of a tuning
//   v(key, member, 1.0)          a number from 0 to 1
//   v(key, member, texts)        one of the texts
//   v.If(present, key, ...)      a member that is written where `present`, and may be missing

template <typename V>
void Members(V& v, DpSgdSteps& s) {
  v("steps", s.steps);
  v("sampling", s.sampling, kSamplings);
  v("sampling_rate", s.sampling_rate, 1.0);
  v("sigma", s.sigma);
  v("sensitivity", s.sensitivity);
  v("clip", s.clip);
  v("capacity", s.limits.capacity);
  v("max_batch", s.limits.max_batch);
  v("max_participation", s.max_participation);
  v("party_deviation", s.party_deviation);
  v("coordinates", s.coordinates);
  v.If(s.limits.group_rows > 1, kMaxGroupRows, s.limits.group_rows);
  v.If(s.vertical, "partition", s.vertical, kVertical);
  v.If(s.executions > 1, kExecutions, s.executions);
  v.If(s.clip_count_sigma > 0, kClipCountSigma, s.clip_count_sigma);
}

template <typename V>
void Members(V& v, LocalTraining& s) {
  v("steps", s.steps);
  v("sampling_rate", s.sampling_rate, 1.0);
  v("sigma", s.sigma);
  v("sensitivity", s.sensitivity);
  v("clip", s.clip);
  v("deviation", s.deviation);
}

template <typename V>
void Members(V& v, NoisySelection& s) {
  v("candidates", s.candidates);
  v("sampling_rate", s.sampling_rate, 1.0);
  v("sigma", s.sigma);
  v("capacity", s.limits.capacity);
  v("max_batch", s.limits.max_batch);
  v("party_deviation", s.party_deviation);
}

template <typename V>
void Members(V& v, NoisyEvaluation& s) {
  v("sigma", s.sigma);
  v("party_deviation", s.party_deviation);
  v.If(s.coordinates != 1, "coordinates", s.coordinates);
}

template <typename V>
void Members(V& v, PureReleases& s) {
  v("count", s.count);
  v("epsilon", s.epsilon);
  v.If(s.replaced.has_value(), "epsilon_replaced", s.replaced);
}

template <typename V>
void Members(V& v, LaplaceCounts& s) {
  v("count", s.count);
  v("rate", s.rate);
}

template <typename V>
void Members(V& v, GaussianReleases& s) {
  v("count", s.count);
  v("coordinates", s.coordinates);
  v("sigma", s.sigma);
  v("party_deviation", s.party_deviation);
  v.If(s.group_rows > 1, kMaxGroupRows, s.group_rows);
  v.If(s.of != ReleasedFor::kResult, "of", s.of, kReleasedFor);
}

template <typename V>
void Members(V& v, ApproximateReleases& s) {
  v("count", s.count);
  v("epsilon", s.epsilon);
  v("failure", s.failure, 1.0);
  v("insiders", s.insiders);
}

template <typename V>
void Members(V& v, UnboundedReleases& s) {
  v("count", s.count);
}

template <typename V>
void Members(V& v, Tuning& s) {
  v("trials", s.trials);
  v("weights", s.weights);
}

/// The keys that an event must have, given which of those are there that may be missing.
struct Keys {
  template <typename T, typename... D>
  void operator()(const char* key, T& /*member*/, const D&... /*domain*/) {
    all.push_back(key);
  }
  template <typename T, typename... D>
  void If(bool /*present*/, const char* key, T& /*member*/, const D&... /*domain*/) {
    if (json.contains(key)) all.push_back(key);
  }

  const Json& json;
  std::vector<const char*> all{"kind"};
};

struct Reader {
  void operator()(const char* key, std::int64_t& member) const { member = object.Count(key); }
  void operator()(const char* key, std::array<std::int64_t, 3>& member) const { member = object.Counts(key); }
  void operator()(const char* key, double& member) const { member = object.Number(key); }
  void operator()(const char* key, double& member, double largest) const {
    member = object.Number(key, largest);
  }
  void operator()(const char* key, std::optional<double>& member) const { member = object.Number(key); }
  void operator()(const char* key, bool& member) const { member = object.Flag(key); }
  void operator()(const char* key, std::vector<std::int64_t>& member) const {
    member = object.ListOfCounts(key);
  }
  void operator()(const char* key, std::vector<Tuning::Alike>& member) const;
  template <typename E, std::size_t kCount>
  void operator()(const char* key, E& member, const Texts<E, kCount>& texts) const {
    const auto text = object.Text(key);
    for (const auto& [value, name] : texts.all) {
      if (text == name) return static_cast<void>(member = value);
    }
    RefuseRecord(object.Path(key), "another text", texts.expected);
  }
  template <typename T, typename... D>
  void If(bool /*present*/, const char* key, T& member, const D&... domain) const {
    if (object.Has(key)) (*this)(key, member, domain...);
  }

  const StrictObject& object;
};

struct Writer {
  template <typename T>
  void operator()(const char* key, const T& member) {
    json[key] = member;
  }
  void operator()(const char* key, double member, double /*largest*/ = 0) {
    Require(std::isfinite(member), "ToJson: every number of a training record is finite");
    json[key] = member;
  }
  void operator()(const char* key, const std::optional<double>& member) { (*this)(key, *member); }
  void operator()(const char* key, const std::vector<Tuning::Alike>& member);
  template <typename E, std::size_t kCount>
  void operator()(const char* key, E member, const Texts<E, kCount>& texts) {
    for (const auto& [value, name] : texts.all) {
      if (member == value) json[key] = name;
    }
  }
  template <typename T, typename... D>
  void If(bool present, const char* key, T& member, const D&... domain) {
    if (present) (*this)(key, member, domain...);
  }

  Json json;
};

/// What members say about each other.
template <typename E>
void Check(const E& /*event*/, const StrictObject& /*object*/) {}

void CheckGroupRows(std::int64_t rows, const StrictObject& object) {
  if (object.Has(kMaxGroupRows) && rows < 2)
    RefuseRecord(object.Path(kMaxGroupRows), std::to_string(rows), "at least 2, or no such key");
}

void Check(const GaussianReleases& releases, const StrictObject& object) {
  CheckGroupRows(releases.group_rows, object);
}

/// Every owner has the limits of the first: others would be charged for nothing.
void CheckOneOwner(const BatchLimits& limits, const StrictObject& object) {
  for (const auto& [key, all] :
       {std::pair("capacity", limits.capacity), std::pair("max_batch", limits.max_batch)}) {
    if (all[1] != 0 || all[2] != 0)
      RefuseRecord(object.Path(key), object.At(key).dump(), "0 behind the first with deposited batches");
  }
}

/// As trainings with an adaptive clip are, whose counts take at most half of what a step of multiplier
/// `sigma` tells.
void CheckClipCounts(const DpSgdSteps& steps, const StrictObject& object) {
  const auto path = object.Path(kClipCountSigma);
  if (steps.clip_count_sigma == 0) RefuseRecord(path, "0", "above 0, or no such key");
  if (steps.sigma > kMostOfClipCounts * steps.clip_count_sigma)
    RefuseRecord(path, object.At(kClipCountSigma).dump(), "at least sigma over the root of 2");
  if (steps.sampling != SamplingMode::kOwnerPoisson && steps.sampling != SamplingMode::kFull)
    RefuseRecord(path, "this key", "none but with owner-poisson sampling and full batches");
  if (object.Has(kMaxGroupRows)) RefuseRecord(path, "this key", "none with groups");
}

void Check(const DpSgdSteps& steps, const StrictObject& object) {
  const bool is_public = steps.sampling == SamplingMode::kPublic;
  const bool is_deposited = steps.sampling == SamplingMode::kDeposited;
  if (object.Has(kExecutions)) {
    // So that steps times executions fit. Each session that dies behind a checkpoint may execute its batch
    // again.
    const std::int64_t most = kMaxWeight / std::max<std::int64_t>(1, steps.steps);
    if (steps.executions < 2 || steps.executions > most)
      RefuseRecord(object.Path(kExecutions), std::to_string(steps.executions),
                   "from 2 to " + std::to_string(most) + ", or no such key");
    if (!is_public && !is_deposited)
      RefuseRecord(object.Path(kExecutions), "this key",
                   "none but with public sampling and deposited batches");
  }
  if (object.Has(kClipCountSigma)) CheckClipCounts(steps, object);
  if (steps.max_participation > steps.steps * steps.executions) {
    RefuseRecord(object.Path("max_participation"), std::to_string(steps.max_participation),
                 "at most the number of steps, as often as they were executed");
  }
  CheckGroupRows(steps.limits.group_rows, object);
  if (object.Has(kMaxGroupRows) && (is_public || is_deposited))
    RefuseRecord(object.Path(kMaxGroupRows), "this key", "none with public sampling or deposited batches");
  if (is_deposited) CheckOneOwner(steps.limits, object);
  if (steps.sampling == SamplingMode::kFull) {
    if (steps.sampling_rate != 1)
      RefuseRecord(object.Path("sampling_rate"), object.At("sampling_rate").dump(), "1 with full batches");
    if (steps.limits.max_batch != steps.limits.capacity)
      RefuseRecord(object.Path("max_batch"), object.At("max_batch").dump(), "the capacity with full batches");
  }
  if (steps.vertical && !is_public)
    RefuseRecord(object.Path("partition"), "another sampling", kVertical.expected);
}

void Check(const LaplaceCounts& counts, const StrictObject& object) {
  if (!(counts.rate > 0)) RefuseRecord(object.Path("rate"), object.At("rate").dump(), "a number above 0");
}

void Check(const Tuning& tuning, const StrictObject& object) {
  std::int64_t trials = 0;
  for (const auto& alike : tuning.trials) trials += alike.count;
  if (static_cast<std::int64_t>(tuning.weights.size()) != trials)
    RefuseRecord(object.Path("weights"), std::to_string(tuning.weights.size()) + " numbers",
                 "as many as there are trials, " + std::to_string(trials));
  std::int64_t sum = 0;
  for (const std::int64_t weight : tuning.weights) sum += weight;  // at most 64 times 2^53
  if (sum < 1 || sum > kMaxWeight)
    RefuseRecord(object.Path("weights"), "the sum " + std::to_string(sum), "one from 1 to 2^53");
}

template <std::size_t kIndex = 0>
RecordedEvent EventOfKind(std::size_t kind) {
  if constexpr (kIndex + 1 < kKinds.size()) {
    if (kind != kIndex) return EventOfKind<kIndex + 1>(kind);
  }
  return RecordedEvent(std::in_place_index<kIndex>);
}

std::string ExpectedKinds() {
  std::string text;
  for (std::size_t i = 0; i < kKinds.size(); ++i) {
    if (i > 0) text += i + 1 == kKinds.size() ? " or " : ", ";
    text.append("\"").append(kKinds.at(i)).append("\"");
  }
  return text;
}

void Reader::operator()(const char* key, std::vector<Tuning::Alike>& member) const {
  const auto path = object.Path(key);
  const Json& all = object.At(key);
  if (!all.is_array() || all.empty() || static_cast<std::int64_t>(all.size()) > kMaxTrials)
    RefuseRecord(path, "no such array", "an array of 1 to 64 kinds of trials");
  std::int64_t trials = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const StrictObject one(all[i], path + '[' + std::to_string(i) + ']', {"count", "events"});
    Tuning::Alike alike{.count = one.Count("count")};
    trials += alike.count <= kMaxTrials ? alike.count : kMaxTrials + 1;
    if (alike.count < 1 || trials > kMaxTrials)
      RefuseRecord(one.Path("count"), std::to_string(alike.count), "trials from 1 to 64 in all");
    const Json& events = one.At("events");
    const auto place = one.Path("events");
    if (!events.is_array() || events.empty()) RefuseRecord(place, "no such array", "an array of events");
    for (std::size_t k = 0; k < events.size(); ++k) {
      const auto of_event = place + '[' + std::to_string(k) + ']';
      // Before it is read, so that no file makes the reader call itself deeper and deeper.
      if (events[k].is_object() && events[k].value("kind", Json()) == "tuning")
        RefuseRecord(of_event + ".kind", "\"tuning\"", "an event of a single trial");
      alike.events.push_back(ParseEvent(events[k], of_event));
    }
    member.push_back(std::move(alike));
  }
}

void Writer::operator()(const char* key, const std::vector<Tuning::Alike>& member) {
  auto& all = json[key] = Json::array();
  for (const auto& alike : member) {
    auto events = Json::array();
    for (const auto& event : alike.events) events.push_back(EventToJson(event));
    all.push_back({{"count", alike.count}, {"events", std::move(events)}});
  }
}

}  // namespace

RecordedEvent ParseEvent(const Json& json, const std::string& place) {
  if (!json.is_object()) RefuseRecord(place, json.type_name(), "an object");
  const auto path = place + ".kind";
  if (!json.contains("kind")) RefuseRecord(path, "nothing", "this key");
  const auto* const found = std::find(kKinds.begin(), kKinds.end(), json.at("kind"));
  if (found == kKinds.end()) RefuseRecord(path, "another value", ExpectedKinds());
  auto event = EventOfKind(static_cast<std::size_t>(found - kKinds.begin()));
  std::visit(
      [&](auto& one) {
        Keys keys{json};
        Members(keys, one);
        const StrictObject object(json, place, keys.all);
        Reader reader{object};
        Members(reader, one);
        Check(one, object);
      },
      event);
  return event;
}

Json EventToJson(RecordedEvent event) {
  Writer writer{{{"kind", kKinds.at(event.index())}}};
  std::visit([&](auto& one) { Members(writer, one); }, event);
  return writer.json;
}

}  // namespace trefoil::dp
