#include <spdlog/fmt/fmt.h>

#include <iostream>
#include <limits>
#include <nlohmann/json.hpp>

#include "apps/local/deployment.h"
#include "apps/local/local_job.h"
#include "apps/local/party_processes.h"
#include "base/error.h"
#include "base/error_report.h"
#include "base/files.h"
#include "base/outward_text.h"
#include "data/dataset/folders.h"
#include "jobs/dpsgd/evaluation.h"
#include "jobs/files/model_file.h"
#include "jobs/job.h"
#include "jobs/statement/bound_text.h"
#include "runtime/observe/progress.h"
#include "runtime/run_directory.h"

namespace trefoil::apps {
namespace {

namespace fs = std::filesystem;

struct LocalJob {
  std::unique_ptr<jobs::Job> task;
  fs::path folder;
  std::array<jobs::PartyFile, 3> parties;
  runtime::ProgressDisplay display{std::cout, runtime::StdoutIsTerminal()};
};

/// Makes DIR with its three deployments, data included.
void Prepare(LocalJob& local, const LocalOptions& options) {
  const auto addresses = LocalAddresses(options);
  if (!options.ledger.empty()) fs::create_directories(options.ledger);
  runtime::MakeRunDirectory(local.folder);
  for (int id = 0; id < 3; ++id) {
    auto& party = local.parties.at(static_cast<std::size_t>(id));
    party = DescribeParty(id, addresses);
    if (!options.ledger.empty())
      party.ledger = {.file = fs::absolute(options.ledger) / fmt::format("party-{}.jsonl", id),
                      .epsilon_cap = options.epsilon_cap,
                      .delta = local.task->delta()};
  }
  local.display.Say(local.task->Split({.job_file = options.job,
                                       .data = options.data,
                                       .test = local.folder / "test",
                                       .party_folders = PartyFolders(local.folder),
                                       .parties = local.parties}));
  // The data is private: on a shared machine nobody else may read a party's folder.
  for (const auto& folder : PartyFolders(local.folder)) fs::permissions(folder, fs::perms::owner_all);
  MakeAllPartyFolders(local.parties, local.folder);
  WriteTextFile(local.folder / "job.toml", jobs::TomlOf(*local.task));
}

/// The accuracy of a released model on test records, where there are any, into the summary at the top.
void AddAccuracy(LocalJob& local) {
  const auto model = local.folder / "model.npz";
  const auto test = local.folder / "test";
  if (!fs::exists(model) || !fs::exists(test)) return;
  const auto loaded = jobs::LoadModel(model);
  const auto files = data::FindTestFiles(loaded.job.data, test);
  if (!files) return;
  const auto evaluation =
      jobs::Evaluate(loaded.model, jobs::LoadRecords(loaded.job, *files), loaded.job.data.classes);
  const auto file = local.folder / "summary.json";
  auto summary = nlohmann::ordered_json::parse(ReadTextFile(file, "the summary", kLargestOwnFile));
  summary["accuracy"] = evaluation.accuracy();
  WriteTextFile(file, summary.dump(2) + "\n");
  const auto epsilon = [&](const char* who) {
    return jobs::EpsilonText(summary.at(who).is_null() ? std::numeric_limits<double>::infinity()
                                                       : summary.at(who).get<double>());
  };
  local.display.Say(fmt::format("accuracy {} % on {} test records, epsilon {} outsider {} insider",
                                FixedBelow(100 * evaluation.accuracy(), 2), evaluation.records,
                                epsilon("epsilon_outsider"), epsilon("epsilon_insider")));
}

/// What the first of those who get the results got, copied to the top; where nobody does, what party 0 says
/// of it.
void Collect(LocalJob& local) {
  const auto& to = local.task->release_to();
  const auto out = PartyFolder(local.folder, to.empty() ? 0 : to.front()) / "out";
  for (const auto& entry : fs::directory_iterator(out)) {
    const auto name = entry.path().filename();
    if (name == "job.toml" || name == "party.log" || name == "model.share" || !entry.is_regular_file())
      continue;
    WriteTextFile(local.folder / name, ReadTextFile(entry.path(), "a party's result", kLargestOwnFile));
    local.display.Say("result " + (local.folder / name).string());
  }
  if (to.empty()) local.display.Say("model released to nobody: each party's share is its out/model.share");
  AddAccuracy(local);
}

void CheckOptions(const LocalOptions& options) {
  for (const auto& [name, value] :
       {std::pair{"--model", options.model}, {"--feature-model", options.feature_model}}) {
    if (!value.empty())
      throw ConfigError(fmt::format("{}: found {}, expected none: the job's type has no model", name, value));
  }
}

}  // namespace

int RunLocalJob(const LocalOptions& options) {
  CheckOptions(options);
  LocalJob local{.task = jobs::ReadJob(options.job, options.assignments), .folder = {}, .parties = {}};
  const auto planned = local.task->Epsilons();
  local.folder =
      options.out.empty() ? runtime::DefaultRunDirectory(local.task->name()) : fs::path(options.out);
  local.display.Say(fmt::format("job {}: {}", local.task->name(), local.task->Title()));
  Prepare(local, options);
  if (options.prepare) {
    local.display.Say(fmt::format(
        "prepared; start each party I with: trefoil run --config {0}/party-I/party.toml --job {0}/job.toml",
        local.folder.string()));
    return kDone;
  }
  for (const auto& warning : local.task->Warnings()) local.display.Say("warning: " + warning);
  local.display.Say(
      fmt::format("epsilon {}, delta {}, at most",
                  jobs::EpsilonsText(planned.outsider, planned.insider, jobs::FirstEpsilon::kOutsider),
                  jobs::DeltaText(local.task->delta())));
  const int failure = RunPartyProcesses(
      {.folder = local.folder, .steps = 0, .peer = local.parties[0].peer_timeout, .threads = options.threads},
      local.display);
  if (failure == kDone) Collect(local);
  return failure;
}

}  // namespace trefoil::apps
