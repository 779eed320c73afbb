#include "jobs/job.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "base/secrets/sha256.h"
#include "jobs/average/job.h"
#include "jobs/canaries.h"
#include "jobs/config/fields.h"
#include "jobs/config/suggestion.h"
#include "jobs/config/toml/toml_reader.h"
#include "jobs/config/toml/toml_writer.h"
#include "jobs/dpsgd/job.h"
#include "jobs/histogram/job.h"
#include "jobs/least_squares/job.h"
#include "jobs/pate/job.h"
#include "jobs/predict/job.h"
#include "jobs/records/record_fields.h"
#include "jobs/statistics/job.h"
#include "jobs/sum/job.h"
#include "jobs/transfer/job.h"
#include "jobs/tune/job.h"

namespace trefoil::jobs {
namespace {

using Json = nlohmann::json;

/// What all types need of the party file, each once.
std::vector<InputFields> InputsOf(JobTypes types) {
  std::vector<InputFields> all;
  for (const auto& type : types) {
    if (type.inputs != nullptr && std::find(all.begin(), all.end(), type.inputs) == all.end())
      all.push_back(type.inputs);
  }
  return all;
}

/// The end where there is no such type.
auto FindType(JobTypes types, const std::string& name) {
  return std::find_if(types.begin(), types.end(), [&](const JobType& one) { return name == one.name; });
}

/// Throws ConfigError naming the place where there is no such type.
const JobType& TypeOf(const toml::table& root, const std::string& file, JobTypes types) {
  return *FindType(types, Section(root, file).Choice("type", NamesOf(types)));
}

/// "a.b" of the JSON pointer "/a/b".
std::string KeyOf(const std::string& pointer) {
  std::string key = pointer.substr(pointer.empty() ? 0 : 1);
  std::replace(key.begin(), key.end(), '/', '.');
  return key;
}

}  // namespace

std::int64_t Job::DeclaredRows() const { return Records() != nullptr ? TotalRows(Records()->data) : 0; }

dp::EpsilonPair Job::Epsilons() const {
  return dp::Epsilons({.job_hash = {}, .run_id = {}, .events = Events()}, delta(), accountant());
}

CheckpointShape Job::ShapeOfCheckpoint() const {
  Require(false, "Job::ShapeOfCheckpoint: a job with checkpoints");
  return {};
}

dp::EpsilonPair Job::ResumedEpsilons(const ml::SessionHistory& /*earlier*/, bool /*from_start*/,
                                     int /*first*/) const {
  Require(false, "Job::ResumedEpsilons: a job with checkpoints");
  return {};
}

void Job::UseModelOf(const Job& /*made*/, const std::string& /*file*/) {
  throw ConfigError("--model-job: found with a job that is no prediction, expected one");
}

void Job::UseRanks(int ranks) {
  if (ranks > 1)
    throw ConfigError(fmt::format("[party] ranks: found {} for a job of type {}, expected 1", ranks, type()));
}

void Job::TakeRanks(mpc::Ranks& ranks) {
  Require(ranks.count() == 1, "Job::TakeRanks: a job that UseRanks has let have them");
}

void Job::Serve(mpc::Context& /*party*/) {
  Require(false, "Job::Serve: a job that UseRanks has let have more than one rank");
}

VectorCalls Job::CallsOfProgram() const {
  throw ConfigError(
      fmt::format("type: found \"{}\", expected a job whose vectors a program can bring", type()));
}

void Job::TakeVectorsOf(VectorProgram& /*program*/) { (void)CallsOfProgram(); }

const RecordSchema* Job::Deposited() const { return IsOnDeposits(*this) ? Records() : nullptr; }

void Job::UseChecks(DepositChecks checks) {
  Require(Deposited() != nullptr, "Job::UseChecks: a job on deposits");
  checks_ = std::move(checks);
}

bool Job::WantsStore() const { return IsOnDeposits(*this); }

void Job::TakeRecordsOf(SharedRecords& /*records*/) {
  throw ConfigError(fmt::format("type: found \"{}\", whose jobs read no store of deposits", type()));
}

std::unique_ptr<JobWithCanaries> Job::WithCanaries(std::int64_t /*count*/) const {
  throw ConfigError(
      fmt::format("type: found \"{}\", expected a job that trains on records, for an audit", type()));
}

// The one list of them. It is made at the first call, which may come before this file's own variables are.
JobTypes ShippedTypes() {
  static const JobType types[] = {
      kDpsgdType,    kPredictType, kHistogramType,    kPateType,       kAverageType,
      kTransferType, kSumType,     kLeastSquaresType, kStatisticsType, kTuneType,
  };
  return types;
}

std::vector<std::string> NamesOf(JobTypes types) {
  std::vector<std::string> names;
  for (const auto& type : types) names.emplace_back(type.name);
  return names;
}

const char* UnnamedType(const nlohmann::ordered_json& summary) {
  return summary.contains("covered_by") ? "predict" : "dpsgd";
}

std::string JobSchema(const std::string& type, JobTypes types) {
  const auto found = FindType(types, type);
  if (found == types.end()) {
    const auto names = NamesOf(types);
    throw ConfigError(fmt::format("{} is no type of job, expected one of {}{}", type, fmt::join(names, ", "),
                                  DidYouMean(type, names)));
  }
  return found->schema(found->name);
}

std::string DraftJob(const DraftSource& source, Interview& interview, JobTypes types) {
  const auto found =
      std::find_if(types.begin(), types.end(), [](const JobType& type) { return type.draft != nullptr; });
  if (found == types.end())
    throw ConfigError("found no type of job that is drafted by questions, expected one");
  return found->draft(source, interview);
}

PartyFile ReadParty(const std::filesystem::path& file, JobTypes types) {
  return ReadParty(file, InputsOf(types));
}

std::string PartySchema(JobTypes types) { return PartySchema(InputsOf(types)); }

std::unique_ptr<Job> ReadJob(const std::filesystem::path& file, const std::vector<std::string>& assignments,
                             JobTypes types) {
  auto root = ReadToml(file);
  const auto& type = TypeOf(root, file.string(), types);
  for (const auto& assignment : assignments) SetValue(root, assignment);
  if (&TypeOf(root, file.string(), types) != &type)
    throw ConfigError(file.string() + ": type: found another by --set, expected \"" + type.name +
                      "\" as in the file");
  return type.read(root, file.string());
}

std::unique_ptr<Job> ParseJob(const std::string& json, const std::string& source, JobTypes types) {
  const auto root = TableOfJson(json, source);
  return TypeOf(root, source, types).read(root, source);
}

std::string HashOf(const Job& job) { return Sha256Hex(job.Json()); }

std::string TomlOf(const Job& job) {
  const auto json = Json::parse(job.Json());
  std::string text = "# The job as it was run, with every default filled in.\n";
  for (const auto* key : {"version", "type", "name"})
    text += fmt::format("{} = {}\n", key, TomlValue(json.at(key)));
  std::string tables;
  for (const auto& [key, value] : json.items()) {
    if (key == "version" || key == "type" || key == "name") continue;
    if (key == "data") {
      tables += DataTables(value);
    } else if (value.is_object()) {
      tables += "\n[" + key + "]\n" + TomlLines(value);
    } else {
      text += fmt::format("{} = {}\n", key, TomlValue(value));
    }
  }
  const auto local = TomlLines(Json::parse(job.LocalJson()));
  if (!local.empty()) tables += "\n[local]\n" + local;
  return text + tables;
}

std::string DescribeDifference(const std::string& found, const std::string& expected) {
  const auto here = Json::parse(found).flatten();
  const auto there = Json::parse(expected).flatten();
  for (const auto& [key, value] : there.items()) {
    const auto other = here.find(key);
    if (other == here.end() || *other != value)
      return fmt::format("{}: found {}, expected {}", KeyOf(key),
                         other == here.end() ? "nothing" : other->dump(), value.dump());
  }
  for (const auto& [key, value] : here.items()) {
    if (!there.contains(key)) return fmt::format("{}: found {}, expected nothing", KeyOf(key), value.dump());
  }
  return "found another job, expected the same";
}

dp::Promise PromiseOf(const Job& job) {
  return {.unit = job.Unit(),
          .neighbours = job.Neighbours(),
          .warnings = job.Warnings(),
          .deposited = IsOnDeposits(job)};
}

bool IsOnDeposits(const Job& job) { return job.Records() != nullptr && job.Records()->store.on; }

FirstEpsilon FirstOf(const Job& job) {
  // Where a record is replaced both epsilons are for its values.
  const bool values_first =
      job.Unit() == dp::PrivacyUnit::kJointRecord && job.Neighbours() == dp::Neighbours::kAdded;
  return values_first ? FirstEpsilon::kInsider : FirstEpsilon::kOutsider;
}

std::unique_ptr<SharedRecords> OpenStoreOf(Job& job, const PartyFile& party, const std::string& party_file,
                                           const StoreOpener& open) {
  if (!open || !job.WantsStore()) return nullptr;
  auto opened = open(party, party_file);
  job.TakeRecordsOf(*opened);
  return opened;
}

Loaded LoadInputs(Job& job, const PartyFile& party, const std::string& party_file,
                  const Resources& resources) {
  Loaded all;
  for (const auto& input : job.Inputs(party, party_file, resources)) {
    const auto loaded = input.load();
    all.said += (all.said.empty() ? "" : "; ") + loaded.said;
    all.warnings.insert(all.warnings.end(), loaded.warnings.begin(), loaded.warnings.end());
  }
  return all;
}

}  // namespace trefoil::jobs
