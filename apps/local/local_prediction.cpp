#include "apps/local/local_prediction.h"

#include <spdlog/fmt/fmt.h>

#include <iostream>

#include "apps/local/deployment.h"
#include "apps/local/party_processes.h"
#include "base/error.h"
#include "base/error_report.h"
#include "base/files.h"
#include "jobs/config/named_files.h"
#include "jobs/predict/prediction_inputs.h"
#include "jobs/predict/settings.h"
#include "runtime/observe/progress.h"
#include "runtime/run_directory.h"

namespace trefoil::apps {
namespace {

namespace fs = std::filesystem;

void CheckOptions(const LocalOptions& options) {
  if (options.model.empty())
    throw ConfigError(
        "--model: missing, expected the run directory of a training by local whose model was released to "
        "nobody");
  if (options.data.empty()) throw ConfigError("--data: missing, expected the file with the rows to predict");
  if (!options.assignments.empty())
    throw ConfigError(
        fmt::format("--set: found {}, expected none: the job is a prediction", options.assignments.front()));
  if (options.prepare) throw ConfigError("--prepare: found with a prediction, expected a training");
}

/// The party of an earlier run, with new addresses: its share, sealed with its key as it was.
jobs::PartyFile PartyOf(const LocalOptions& options, const jobs::PredictSettings& job, int id,
                        const std::array<jobs::Address, 3>& addresses) {
  const auto folder = fs::absolute(PartyFolder(options.model, id));
  const auto before = jobs::ReadParty(folder / "party.toml");
  jobs::PartyFile party = DescribeParty(id, addresses);
  party.storage_key = before.storage_key.empty() ? before.private_key : before.storage_key;
  party.predict.share = folder / "out" / "model.share";
  party.feature_model = before.feature_model;
  const auto model = jobs::LoadModelShare(party, job, "");
  if (id == job.client) {
    const auto files = jobs::NamedFiles("--data", {options.data}, model.job.data, data::LabelUse::kIgnored);
    party.predict.rows = {.x = files.x.empty() ? fs::path() : fs::absolute(files.x),
                          .y = {},
                          .file = files.file.empty() ? fs::path() : fs::absolute(files.file)};
    (void)jobs::LoadRowsToPredict(job, model.job, party, "", 0);
  }
  return party;
}

/// What the client got, copied to the top.
void CollectPredictions(const fs::path& folder, int client, runtime::ProgressDisplay& display) {
  const auto out = PartyFolder(folder, client) / "out";
  const auto predictions = folder / "predictions.csv";
  WriteSecretFile(predictions,
                  ReadTextFile(out / "predictions.csv", "the client's predictions", kLargestOwnFile));
  WriteTextFile(folder / "summary.json",
                ReadTextFile(out / "summary.json", "the client's summary", kLargestOwnFile));
  display.Say("predictions " + predictions.string());
}

}  // namespace

int RunLocalPrediction(const LocalOptions& options) {
  CheckOptions(options);
  const auto job = jobs::ReadPredictSettings(options.job);
  const auto addresses = LocalAddresses(options);
  std::array<jobs::PartyFile, 3> parties;
  for (int id = 0; id < 3; ++id)
    parties.at(static_cast<std::size_t>(id)) = PartyOf(options, job, id, addresses);
  const auto folder = options.out.empty() ? runtime::DefaultRunDirectory(job.name) : fs::path(options.out);
  runtime::MakeRunDirectory(folder);
  MakeAllPartyFolders(parties, folder);
  WriteTextFile(folder / "job.toml", jobs::PredictToml(job));
  runtime::ProgressDisplay display{std::cout, runtime::StdoutIsTerminal()};
  display.Say(fmt::format("job {}: rows of party {}, by the model of run {}, in {}", job.name, job.client,
                          job.run, folder.string()));
  const int failure = RunPartyProcesses(
      {.folder = folder, .steps = 0, .peer = parties[0].peer_timeout, .threads = options.threads}, display);
  if (failure == kDone) CollectPredictions(folder, job.client, display);
  return failure;
}

}  // namespace trefoil::apps
