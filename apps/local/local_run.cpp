#include "apps/local/local_run.h"

#include <spdlog/fmt/fmt.h>

#include <iostream>

#include "apps/local/deployment.h"
#include "apps/local/free_ports.h"
#include "apps/local/local_results.h"
#include "apps/local/party_processes.h"
#include "base/error.h"
#include "base/error_report.h"
#include "base/files.h"
#include "data/dataset/folders.h"
#include "data/formats/file.h"
#include "jobs/dpsgd/held_out_files.h"
#include "jobs/dpsgd/split_data.h"
#include "jobs/dpsgd/training_settings.h"
#include "jobs/statement/bound_text.h"
#include "jobs/statement/vertical_statement.h"
#include "runtime/hosts.h"
#include "runtime/observe/progress.h"
#include "runtime/resume/run_state.h"
#include "runtime/run_directory.h"

namespace trefoil::apps {
namespace {

namespace fs = std::filesystem;

struct Local {
  jobs::DpsgdSettings job;
  fs::path folder;
  std::array<jobs::PartyFile, 3> parties;
  fs::path feature_model;
  runtime::ProgressDisplay display{std::cout, runtime::StdoutIsTerminal()};
};

/// The model is compared with the job before anything is made.
void TakeFeatureModel(Local& local, const LocalOptions& options) {
  const auto& features = local.job.features.extraction;
  const bool wanted = features.method == data::FeatureMethod::kOnnx;
  if (wanted == options.feature_model.empty()) {
    throw ConfigError(wanted
                          ? "--feature-model: missing, expected the ONNX model of features.model_sha256"
                          : "--feature-model: found a model, expected none: features.method is not \"onnx\"");
  }
  if (!wanted) return;
  local.feature_model = options.feature_model;
  const auto hash = data::FileSha256(local.feature_model);
  if (hash != features.onnx.model_sha256) {
    throw DataError(fmt::format("{}: found SHA-256 {}, expected {} (features.model_sha256)",
                                options.feature_model, hash, features.onnx.model_sha256));
  }
}

/// Makes DIR with its three deployments, data included.
void PrepareFolders(Local& local, const LocalOptions& options) {
  const auto addresses = LocalAddresses(options);
  if (!options.ledger.empty()) fs::create_directories(options.ledger);
  runtime::MakeRunDirectory(local.folder);
  const auto source = jobs::FindDataFolder(local.job, options.job, options.data, local.folder);
  local.display.Say(fmt::format("job {}: dealing {} to three parties in {}", local.job.name,
                                source.lexically_normal().string(), local.folder.string()));
  // The data comes first: what is wrong with it leaves the folder empty, to be used again.
  const auto report = jobs::DealData(local.job, source, PartyFolders(local.folder), local.folder / "test");
  const auto held_out = jobs::DealHeldOut(local.job, source, PartyFolders(local.folder));
  if (source.parent_path() == local.folder) fs::remove_all(source);  // generated; the parties have it all
  local.display.Say(fmt::format(
      "rows: {}{}", fmt::join(report.rows, ", "),
      report.left_out == 0 ? "" : fmt::format("; {} beyond data.rows left out", report.left_out)));
  // The data is private: on a shared machine nobody else may read a party's folder.
  for (const auto& folder : PartyFolders(local.folder)) fs::permissions(folder, fs::perms::owner_all);
  for (int id = 0; id < 3; ++id) {
    auto& party = local.parties[static_cast<std::size_t>(id)];
    party = DescribeParty(id, addresses);
    party.data = data::PartyFiles(local.job.data.format, "");
    if (jobs::HoldsTest(local.job, id)) party.evaluation = held_out.test;
    if (jobs::HoldsValidation(local.job, id)) party.validation = held_out.validation;
    if (!options.ledger.empty())
      party.ledger = {.file = fs::absolute(options.ledger) / fmt::format("party-{}.jsonl", id),
                      .epsilon_cap = options.epsilon_cap,
                      .delta = local.job.privacy.delta};
    if (local.feature_model.empty()) continue;
    party.feature_model = fs::path("data") / "features.onnx";
    fs::copy_file(local.feature_model, PartyFolder(local.folder, id) / party.feature_model);
  }
  MakeAllPartyFolders(local.parties, local.folder);
  WriteTextFile(local.folder / "job.toml", jobs::DpsgdToml(local.job));
}

/// Runs the parties in their folders and collects what they wrote.
int RunPrepared(Local& local, const LocalOptions& options) {
  local.display.SayFirst(jobs::FirstOf(local.job));
  const int failure = RunPartyProcesses({.folder = local.folder,
                                         .steps = static_cast<int>(local.job.training.steps),
                                         .peer = local.parties[0].peer_timeout,
                                         .threads = options.threads,
                                         .resume = options.resume,
                                         .again = options.again},
                                        local.display);
  if (failure != kDone) return failure;
  (void)CollectResults(local.job, local.folder, local.feature_model, local.display);
  return kDone;
}

/// Goes on with the training whose folders are there.
int ResumeLocal(const LocalOptions& options) {
  for (const auto& [given, name] : {std::pair{!options.data.empty(), "--data"},
                                    {!options.feature_model.empty(), "--feature-model"},
                                    {!options.ledger.empty(), "--ledger"},
                                    {options.prepare, "--prepare"}}) {
    if (given)
      throw ConfigError(
          fmt::format("{}: found with --resume, expected without: the parties' folders are in --out", name));
  }
  if (options.out.empty())
    throw ConfigError("--out: missing, expected with --resume the run directory that is to be resumed");
  Local local{.job = {}, .folder = options.out, .parties = {}, .feature_model = {}};
  local.job = jobs::ReadDpsgdSettings(local.folder / "job.toml");
  if (!options.job.empty()) {
    const auto job = jobs::ReadDpsgdSettings(options.job, options.assignments);
    if (jobs::DpsgdHash(job) != jobs::DpsgdHash(local.job))
      throw ConfigError(runtime::DescribeDifference(job, local.job) + ", as in " +
                        (local.folder / "job.toml").string());
  }
  if (local.job.features.extraction.method == data::FeatureMethod::kOnnx)
    local.feature_model = PartyFolder(local.folder, 0) / "data" / "features.onnx";
  for (std::size_t id = 0; id < local.parties.size(); ++id)
    local.parties.at(id) = jobs::ReadParty(PartyFolder(local.folder, static_cast<int>(id)) / "party.toml");
  return RunPrepared(local, options);
}

}  // namespace

std::array<jobs::Address, 3> LocalAddresses(const LocalOptions& options) {
  const auto hosts = runtime::ParseHosts(options.hosts);
  if (options.prepare || options.base_port != 0) {
    const auto port =
        options.base_port == 0 ? runtime::kDefaultBasePort : static_cast<std::uint16_t>(options.base_port);
    return AddressesOf(hosts, port);
  }
  const auto ports = FreeLoopbackPorts();
  return {jobs::Address{hosts[0], ports[0]}, jobs::Address{hosts[1], ports[1]},
          jobs::Address{hosts[2], ports[2]}};
}

int RunLocal(const LocalOptions& options) {
  if (options.resume) return ResumeLocal(options);
  if (!options.model.empty())
    throw ConfigError("--model: found " + options.model + ", expected none: the job is a training");
  Local local{.job = jobs::ReadDpsgdSettings(options.job, options.assignments),
              .folder = {},
              .parties = {},
              .feature_model = {}};
  const auto plan = ml::MakePlan(jobs::SettingsOf(local.job));
  TakeFeatureModel(local, options);
  local.folder = options.out.empty() ? runtime::DefaultRunDirectory(local.job.name) : fs::path(options.out);
  PrepareFolders(local, options);
  if (options.prepare) {
    local.display.Say(fmt::format(
        "prepared; start each party I with: trefoil run --config {0}/party-I/party.toml --job {0}/job.toml",
        local.folder.string()));
    return kDone;
  }
  local.display.Say(
      fmt::format("training {} steps, sigma {}, target epsilon {}, delta {}", local.job.training.steps,
                  jobs::MultiplierText(plan.sigma),
                  jobs::EpsilonsText(plan.epsilon_outsider, plan.epsilon_insider, jobs::FirstOf(local.job)),
                  jobs::DeltaText(plan.delta)));
  return RunPrepared(local, options);
}

}  // namespace trefoil::apps
