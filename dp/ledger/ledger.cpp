#include "dp/ledger/ledger.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <initializer_list>
#include <utility>
#include <variant>

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "dp/accounting/guarantee.h"
#include "dp/ledger/ledger_chain.h"
#include "dp/record/json_number.h"

namespace trefoil::dp {
namespace {

using Json = nlohmann::json;

constexpr int kVersion = 2;
constexpr const char* kNoRun = "0";
constexpr std::size_t kHashDigits = 64;
constexpr std::array<std::pair<JobEnd, const char*>, 3> kEnds{
    {{JobEnd::kDone, "done"}, {JobEnd::kStopped, "stopped"}, {JobEnd::kDied, "died"}}};

/// `may`: a key that may be missing.
void RequireKeys(const Json& entry, std::initializer_list<const char*> keys, const char* may = "") {
  for (const char* key : keys) {
    if (!entry.contains(key)) RefuseEntry("no " + std::string(key), "this key");
  }
  if (entry.size() != keys.size() + entry.count(may)) RefuseEntry("an unknown key", "those of its kind only");
}

std::string TextOf(const Json& entry, const char* key) {
  if (!entry.at(key).is_string()) RefuseEntry(std::string(key) + " that is no text", "a text");
  return entry.at(key).get<std::string>();
}

std::string HashIn(const Json& entry) {
  auto hash = TextOf(entry, "sha256");
  if (hash.size() != kHashDigits) RefuseEntry("sha256 of another length", "64 digits");
  return hash;
}

double NumberOf(const Json& entry, const char* key) {
  if (!entry.at(key).is_number()) RefuseEntry(std::string(key) + " that is no number", "a number");
  const auto number = entry.at(key).get<double>();
  if (!(number > 0) || !std::isfinite(number))
    RefuseEntry(std::string(key) + " " + entry.at(key).dump(), "a number above 0");
  return number;
}

JobEnd EndOf(const Json& entry) {
  const auto text = TextOf(entry, "ended");
  for (const auto& [end, name] : kEnds) {
    if (text == name) return end;
  }
  RefuseEntry("another text under ended", "\"done\", \"stopped\" or \"died\"");
}

void AddEpsilons(Json& entry, const TrainingRecord& record, double delta) {
  const auto epsilons = Epsilons(record, delta);
  entry["epsilon_outsider"] = NumberOrNull(epsilons.outsider);
  entry["epsilon_insider"] = NumberOrNull(epsilons.insider);
}

}  // namespace

const char* ToText(JobEnd ended) {
  const auto* found =
      std::find_if(kEnds.begin(), kEnds.end(), [&](const auto& end) { return end.first == ended; });
  return found->second;
}

std::vector<Event> FilterCharges(const TrainingRecord& record, bool insider) {
  std::vector<Event> charges;
  for (const auto& recorded : record.events) {
    for (const auto& event : insider ? InsiderEvents(recorded) : OutsiderEvents(recorded)) {
      const auto* near = std::get_if<TotalVariation>(&event);
      const auto* pure = charges.empty() ? nullptr : std::get_if<PureDp>(&charges.back());
      if (near == nullptr || pure == nullptr) {
        charges.push_back(event);
      } else {
        const double probability = FailuresAt(pure->epsilon, 0, near->distance);
        charges.emplace_back(IndependentFailure{std::min(probability, 1.0), near->count});
      }
    }
  }
  return charges;
}

std::int64_t StepsIn(const TrainingRecord& record) {
  std::int64_t steps = 0;
  for (const auto& event : record.events) {
    if (const auto* some = std::get_if<DpSgdSteps>(&event)) steps += some->steps * some->executions;
  }
  return steps;
}

Json Ledger::DataEntry(const std::string& sha256, const FilterTerms& terms) {
  return {{"kind", "data"}, {"version", kVersion}, {"sha256", sha256}, {"filter", ToJson(terms)}};
}

Json Ledger::FilterEntry(const FilterTerms& terms) {
  return {{"kind", "filter"}, {"version", kVersion}, {"filter", ToJson(terms)}};
}

Json Ledger::PopulationEntry(const PopulationMember& member, const std::string& population) {
  return {{"kind", "population"},
          {"time", member.time},
          {"name", population},
          {"sha256", member.sha256},
          {"equal_by_chance", member.equal_by_chance}};
}

Json Ledger::EnterEntry(const EnteredJob& job, double delta) {
  auto record = job.record;
  record.run_id = kNoRun;
  Json entry{{"kind", "enter"}, {"time", job.time}, {"name", job.name}, {"record", ToJson(record)}};
  AddEpsilons(entry, record, delta);
  return entry;
}

Json Ledger::ReserveEntry(const LedgerJob& job) {
  Json entry{{"kind", "reserve"},
             {"time", job.time},
             {"name", job.name},
             {"delta", job.delta},
             {"epsilon_cap", job.epsilon_cap},
             {"record", ToJson(job.reserved)}};
  if (!job.announced.events.empty()) entry["executed"] = ToJson(job.announced);
  AddEpsilons(entry, job.reserved, job.delta);
  return entry;
}

Json Ledger::ResumeEntry(const LedgerJob& job) {
  Json entry{{"kind", "resume"},
             {"time", job.time},
             {"delta", job.delta},
             {"epsilon_cap", job.epsilon_cap},
             {"record", ToJson(job.reserved)},
             {"executed", ToJson(job.announced)}};
  AddEpsilons(entry, job.reserved, job.delta);
  return entry;
}

Json Ledger::AnnounceEntry(const TrainingRecord& record) {
  return {{"kind", "announce"}, {"record", ToJson(record)}};
}

Json Ledger::SettleEntry(const TrainingRecord& record, JobEnd ended, double delta, const std::string& time) {
  Json entry{{"kind", "settle"}, {"time", time}, {"ended", ToText(ended)}, {"record", ToJson(record)}};
  AddEpsilons(entry, record, delta);
  return entry;
}

void Ledger::Apply(const Json& entry) {
  if (!entry.is_object() || !entry.contains("kind")) RefuseEntry("no kind", "an entry of a ledger");
  const auto kind = TextOf(entry, "kind");
  if ((kind == "data") != data_.empty()) RefuseEntry("\"" + kind + "\"", "\"data\" first, and once");
  if (kind == "data" || kind == "filter") {
    Open(entry);
  } else if (kind == "population") {
    Declare(entry);
  } else if (kind == "enter") {
    Enter(entry);
  } else if (kind == "reserve") {
    Reserve(entry);
  } else if (kind == "resume") {
    Resume(entry);
  } else if (kind == "announce") {
    RequireKeys(entry, {"kind", "record"});
    auto record = FromJson(entry.at("record"));
    LedgerJob& job = OpenJob(record);
    if (!IsWithin(job.announced, record)) RefuseEntry("less than was announced before", "as much or more");
    // More is announced when what was announced before has been executed.
    job.certain = std::move(job.announced);
    job.announced = std::move(record);
  } else if (kind == "settle") {
    RequireKeys(entry, {"kind", "time", "ended", "record", "epsilon_outsider", "epsilon_insider"});
    (void)TextOf(entry, "time");
    const auto ended = EndOf(entry);
    auto record = FromJson(entry.at("record"));
    LedgerJob& job = OpenJob(record);
    if (!IsWithin(job.announced, record)) RefuseEntry("less than was announced", "as much or more");
    if (ended == JobEnd::kDone) job.certain = record;
    job.executed = std::move(record);
    job.ended = ended;
  } else {
    RefuseEntry("kind \"" + kind + "\"",
                "\"filter\", \"population\", \"enter\", \"reserve\", \"resume\", \"announce\" or \"settle\"");
  }
}

void Ledger::Open(const Json& entry) {
  const bool data = TextOf(entry, "kind") == "data";
  if (data && entry.value("version", Json()) == 1) {
    RequireKeys(entry, {"kind", "version", "sha256"});
  } else {
    if (!data) RequireKeys(entry, {"kind", "version", "filter"});
    if (data) RequireKeys(entry, {"kind", "version", "sha256", "filter"});
    if (entry.at("version") != kVersion) RefuseEntry("version " + entry.at("version").dump(), "1 or 2");
    if (terms_) RefuseEntry("a second filter", "one that is fixed when the ledger is opened");
    auto terms = FilterTermsFromJson(entry.at("filter"));
    if (!data && terms.mode != FilterMode::kRdp)
      RefuseEntry("another filter behind entries of version 1", "one by RDP");
    terms_ = std::move(terms);
  }
  if (!data) return;
  data_ = HashIn(entry);
}

void Ledger::Declare(const Json& entry) {
  RequireKeys(entry, {"kind", "time", "name", "sha256", "equal_by_chance"});
  const auto name = TextOf(entry, "name");
  if (name.empty()) RefuseEntry("a population without a name", "its name");
  if (!population_.empty() && name != population_)
    RefuseEntry("another population", "the one that was named");
  if (!entry.at("equal_by_chance").is_boolean()) RefuseEntry("another equal_by_chance", "true or false");
  PopulationMember member{.time = TextOf(entry, "time"),
                          .sha256 = HashIn(entry),
                          .equal_by_chance = entry.at("equal_by_chance").get<bool>()};
  if (IsDeclared(member.sha256)) RefuseEntry("a data set that was declared before", "each once");
  population_ = name;
  members_.push_back(std::move(member));
}

bool Ledger::IsDeclared(const std::string& sha256) const {
  return std::any_of(members_.begin(), members_.end(),
                     [&](const PopulationMember& member) { return member.sha256 == sha256; });
}

void Ledger::Enter(const Json& entry) {
  RequireKeys(entry, {"kind", "time", "name", "record", "epsilon_outsider", "epsilon_insider"});
  if (!terms_ || terms_->mode != FilterMode::kClosed)
    RefuseEntry("a job entered in a ledger that is not closed", "a reservation");
  if (!jobs_.empty()) RefuseEntry("a job entered behind the first reservation", "all jobs before it");
  EnteredJob job{
      .time = TextOf(entry, "time"), .name = TextOf(entry, "name"), .record = FromJson(entry.at("record"))};
  if (job.record.run_id != kNoRun) RefuseEntry("a job entered with a run", "run id \"0\"");
  entered_.push_back(std::move(job));
}

std::optional<std::size_t> Ledger::EntryFor(const TrainingRecord& record) const {
  const bool known = JobOf(record.run_id).has_value();
  for (std::size_t k = 0; k < entered_.size(); ++k) {
    if (entered_[k].run_id != (known ? record.run_id : "")) continue;
    TrainingRecord limit = entered_[k].record;
    limit.run_id = record.run_id;
    if (IsWithin(record, limit)) return k;
  }
  return {};
}

FilterTerms Ledger::TermsAt(double delta) const {
  if (!terms_) return MakeFilterTerms(FilterMode::kRdp, delta);
  auto terms = *terms_;
  terms.delta_cut *= delta / terms.delta;
  terms.delta = delta;
  return terms;
}

void Ledger::Reserve(const Json& entry) {
  RequireKeys(
      entry,
      {"kind", "time", "name", "delta", "epsilon_cap", "record", "epsilon_outsider", "epsilon_insider"},
      "executed");
  LedgerJob job{.time = TextOf(entry, "time"),
                .name = TextOf(entry, "name"),
                .delta = NumberOf(entry, "delta"),
                .epsilon_cap = NumberOf(entry, "epsilon_cap"),
                .reserved = FromJson(entry.at("record")),
                .announced = {},
                .executed = {}};
  if (job.delta >= 1) RefuseEntry("delta " + entry.at("delta").dump(), "a number below 1");
  if (JobOf(job.reserved.run_id)) RefuseEntry("a run that reserved before", "each run once");
  job.announced = {.job_hash = job.reserved.job_hash,
                   .run_id = job.reserved.run_id,
                   .events = {},
                   .promise = job.reserved.promise};
  if (entry.contains("executed")) job.announced = FromJson(entry.at("executed"));
  if (!IsWithin(job.announced, job.reserved)) RefuseEntry("more than the run reserved", "no more");
  job.certain = job.announced;
  if (terms_ && terms_->mode == FilterMode::kClosed) {
    const auto entered = EntryFor(job.reserved);
    if (!entered) RefuseEntry("a job that was not entered", "one that was, and that no run has executed");
    entered_[*entered].run_id = job.reserved.run_id;
  }
  jobs_.push_back(std::move(job));
}

void Ledger::Resume(const Json& entry) {
  RequireKeys(entry, {"kind", "time", "delta", "epsilon_cap", "record", "executed", "epsilon_outsider",
                      "epsilon_insider"});
  auto record = FromJson(entry.at("record"));
  auto executed = FromJson(entry.at("executed"));
  const auto number = JobOf(record.run_id);
  if (!number) RefuseEntry("a run that never reserved", "one that did");
  LedgerJob& job = jobs_[*number];
  if (job.reserved.job_hash != record.job_hash)
    RefuseEntry("another job of this run", "the one that reserved");
  if (!IsWithin(executed, record)) RefuseEntry("more than the run reserved", "no more");
  if (terms_ && terms_->mode == FilterMode::kClosed && !EntryFor(record))
    RefuseEntry("more of a job than was entered", "no more");
  if (!IsWithin(job.certain, executed)) RefuseEntry("less of a run than it executed", "as much or more");
  const double delta = NumberOf(entry, "delta");
  if (delta >= 1) RefuseEntry("delta " + entry.at("delta").dump(), "a number below 1");
  job = {.time = TextOf(entry, "time"),
         .name = job.name,
         .delta = delta,
         .epsilon_cap = NumberOf(entry, "epsilon_cap"),
         .reserved = std::move(record),
         .announced = executed,
         .executed = {},
         .certain = std::move(executed)};
}

std::optional<std::size_t> Ledger::JobOf(const std::string& run_id) const {
  const auto found = std::find_if(jobs_.begin(), jobs_.end(),
                                  [&](const LedgerJob& one) { return one.reserved.run_id == run_id; });
  if (found == jobs_.end()) return {};
  return static_cast<std::size_t>(found - jobs_.begin());
}

LedgerJob& Ledger::OpenJob(const TrainingRecord& record) {
  const auto job = JobOf(record.run_id);
  if (!job || jobs_[*job].ended)
    RefuseEntry("a run that is not under way", "one that has reserved and not settled");
  if (!IsWithin(record, jobs_[*job].reserved)) RefuseEntry("more than the run reserved", "no more");
  return jobs_[*job];
}

const TrainingRecord& Ledger::Charged(const LedgerJob& job, bool may_be_alive) {
  if (job.ended) return job.executed;
  return may_be_alive ? job.reserved : job.announced;
}

std::vector<const TrainingRecord*> Ledger::Charges(FilterMode mode,
                                                   const std::function<bool(std::size_t)>& may_be_alive,
                                                   const TrainingRecord* more) const {
  std::vector<const TrainingRecord*> charges;
  if (mode == FilterMode::kClosed) {
    for (const auto& job : entered_) charges.push_back(&job.record);
  } else {
    const auto replaced = more != nullptr ? JobOf(more->run_id) : std::nullopt;
    for (std::size_t job = 0; job < jobs_.size(); ++job) {
      if (job != replaced) charges.push_back(&Charged(jobs_[job], !jobs_[job].ended && may_be_alive(job)));
    }
  }
  if (more != nullptr) charges.push_back(more);
  return charges;
}

PrivacyFilter Ledger::InsiderFilter(const FilterTerms& terms,
                                    const std::function<bool(std::size_t)>& may_be_alive,
                                    const TrainingRecord* more) const {
  PrivacyFilter filter(terms);
  for (const auto* record : Charges(terms.mode, may_be_alive, more)) filter.Add(FilterCharges(*record, true));
  return filter;
}

EpsilonPair Ledger::Spent(const FilterTerms& terms, const std::function<bool(std::size_t)>& may_be_alive,
                          const TrainingRecord* more) const {
  PrivacyFilter outsider(terms);
  for (const auto* record : Charges(terms.mode, may_be_alive, more))
    outsider.Add(FilterCharges(*record, false));
  const double insider = InsiderFilter(terms, may_be_alive, more).Epsilon();
  // An outsider sees a part of what an insider sees, so what holds against the one holds against the other.
  return {std::min(outsider.Epsilon(), insider), insider};
}

}  // namespace trefoil::dp
