#include "apps/local_prediction.h"

#include <spdlog/fmt/fmt.h>

#include <iostream>

#include "apps/deployment.h"
#include "apps/error_report.h"
#include "apps/files.h"
#include "apps/named_files.h"
#include "apps/party_processes.h"
#include "apps/predict_job.h"
#include "apps/prediction_inputs.h"
#include "apps/progress.h"
#include "apps/run_directory.h"
#include "base/error.h"

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
PartyFile PartyOf(const LocalOptions& options, const PredictJob& job, int id,
                  const std::array<Address, 3>& addresses) {
  const auto folder = fs::absolute(PartyFolder(options.model, id));
  const auto before = ReadParty(folder / "party.toml");
  PartyFile party = DescribeParty(id, addresses);
  party.storage_key = before.storage_key.empty() ? before.private_key : before.storage_key;
  party.predict.share = folder / "out" / "model.share";
  party.feature_model = before.feature_model;
  const auto model = LoadModelShare(party, job, "");
  if (id == job.client) {
    const auto files = NamedFiles("--data", {options.data}, model.job.data, data::LabelUse::kIgnored);
    party.predict.rows = {.x = files.x.empty() ? fs::path() : fs::absolute(files.x),
                          .y = {},
                          .file = files.file.empty() ? fs::path() : fs::absolute(files.file)};
    (void)LoadRowsToPredict(job, model.job, party, "", 0);
  }
  return party;
}

/// What the client got, copied to the top.
void CollectPredictions(const fs::path& folder, int client, ProgressDisplay& display) {
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
  const auto job = ReadPredictJob(options.job);
  const auto addresses = LocalAddresses(options);
  std::array<PartyFile, 3> parties;
  for (int id = 0; id < 3; ++id)
    parties.at(static_cast<std::size_t>(id)) = PartyOf(options, job, id, addresses);
  const auto folder = options.out.empty() ? DefaultRunDirectory(job.name) : fs::path(options.out);
  MakeRunDirectory(folder);
  MakeAllPartyFolders(parties, folder);
  WriteTextFile(folder / "job.toml", PredictJobToml(job));
  ProgressDisplay display{std::cout, StdoutIsTerminal()};
  display.Say(fmt::format("job {}: rows of party {}, by the model of run {}, in {}", job.name, job.client,
                          job.run, folder.string()));
  const int failure = RunPartyProcesses(
      {.folder = folder, .steps = 0, .peer = parties[0].peer_timeout, .threads = options.threads}, display);
  if (failure == kDone) CollectPredictions(folder, job.client, display);
  return failure;
}

}  // namespace trefoil::apps
