#include "runtime/predict_run.h"

#include <spdlog/fmt/fmt.h>

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/error_report.h"
#include "base/files.h"
#include "base/sha256.h"
#include "base/thread_pool.h"
#include "dp/record/json_number.h"
#include "jobs/dpsgd/evaluation.h"
#include "jobs/files/share_file.h"
#include "jobs/predict/prediction_inputs.h"
#include "jobs/predict/predictions.h"
#include "jobs/predict/settings.h"
#include "jobs/predict/shared_classifier.h"
#include "jobs/statement/amount_text.h"
#include "jobs/statement/bound_text.h"
#include "jobs/statement/vertical_statement.h"
#include "ml/on_shares/prediction.h"
#include "runtime/mesh_setup.h"
#include "runtime/party_session.h"
#include "runtime/run_directory.h"

namespace trefoil::runtime {
namespace {

using Clock = std::chrono::steady_clock;

/// All that this party brings.
struct Prediction {
  jobs::PredictSettings job;
  jobs::ShareFile model;
  ml::OwnRecords rows{};  ///< the client's
};

/// What the predictions cost the records that the model was trained on: nothing beyond the training.
std::string CoveredBy(const dp::EpsilonPair& epsilons, jobs::FirstEpsilon first, double delta) {
  return fmt::format(
      "predictions are post-processing of the training: its epsilon, {} at delta {}, "
      "covers them; nothing else is opened",
      jobs::EpsilonsText(epsilons.outsider, epsilons.insider, first), jobs::DeltaText(delta));
}

void WriteResults(PartySession& session, const Prediction& prediction,
                  const std::optional<ml::Predictions>& predictions, const net::Counters& counters,
                  double seconds) {
  const auto& [job, model, rows] = prediction;
  const double delta = model.delta();
  const auto epsilons = dp::Epsilons(model.record, delta, model.accountant());
  const auto covered_by = CoveredBy(epsilons, jobs::FirstOf(model.record), delta);
  const auto bytes_sent = counters.bytes_sent + counters.bytes_offline;
  if (predictions) {
    WriteSecretFile(session.folder() / "predictions.csv",
                    jobs::PredictionsCsv(model.job, predictions->classes, predictions->scores));
    session.audit().ReleasedFile("predictions.csv", session.folder() / "predictions.csv");
  }
  WriteRecord(session.folder() / "record.json", model.record);
  const nlohmann::ordered_json summary{{"job", job.name},
                                       {"run", job.run},
                                       {"client", job.client},
                                       {"rows", job.rows},
                                       {"scores", job.scores},
                                       {"epsilon_outsider", dp::NumberOrNull(epsilons.outsider)},
                                       {"epsilon_insider", dp::NumberOrNull(epsilons.insider)},
                                       {"delta", delta},
                                       {"covered_by", covered_by},
                                       {"seconds", seconds},
                                       {"rounds", counters.rounds},
                                       {"bytes_sent", bytes_sent},
                                       {"peak_rss_bytes", PeakMemoryBytes()}};
  WriteTextFile(session.folder() / "summary.json", summary.dump(2) + "\n");
  session.Say(covered_by);
  session.Say(predictions ? fmt::format("done: {} rows, {} rounds, {} sent, predictions.csv in {}",
                                        predictions->classes.size(), counters.rounds,
                                        jobs::BytesText(bytes_sent), session.folder().string())
                          : fmt::format("done: up to {} rows of party {}, {} rounds, {} sent", job.rows,
                                        job.client, counters.rounds, jobs::BytesText(bytes_sent)));
}

void PredictConnected(PartySession& session, const Prediction& prediction, net::MeshTransport& mesh,
                      std::size_t threads) {
  const auto start = Clock::now();
  ThreadPool pool(ThreadsFor(threads));
  mpc::Context context(mesh, AgreeOnSessionKeys(mesh), pool);
  const auto& [job, model, rows] = prediction;
  const auto predictions = jobs::ClassifyByShares(context, job, model, rows);
  WriteResults(session, prediction, predictions, mesh.counters(),
               std::chrono::duration<double>(Clock::now() - start).count());
}

/// All that comes before the peers are met.
void Prepare(PartySession& session, Prediction& prediction, const RunOptions& options) {
  const auto& job = prediction.job;
  prediction.model = jobs::LoadModelShare(session.party(), job, options.config);
  prediction.rows =
      jobs::LoadRowsToPredict(job, prediction.model.job, session.party(), options.config, options.threads);
  session.Open({.name = job.name, .hash = Sha256Hex(jobs::PredictJson(job)), .toml = jobs::PredictToml(job)});
  session.Say(fmt::format("job {}: {}", job.name, jobs::PredictJobTitle(job)));
}

}  // namespace

int RunPrediction(const RunOptions& options) {
  Prediction prediction{.job = jobs::ReadPredictSettings(options.job), .model = {}};
  PartySession session(
      jobs::ReadParty(options.config),
      options.out.empty() ? DefaultRunDirectory(prediction.job.name) : std::filesystem::path(options.out),
      options.config);
  CheckRunDirectory(session.folder());
  auto config = MeshConfigOf(session.party(), jobs::PredictJson(prediction.job));
  try {
    Prepare(session, prediction, options);
  } catch (const std::exception& error) {
    return session.FailBeforeStart(error, config);
  }
  try {
    auto& mesh = session.Connect(std::move(config));
    session.watch().Run(StopWhen::kAtOnce,
                        [&] { PredictConnected(session, prediction, mesh, options.threads); });
    session.Done();
    return kDone;
  } catch (const std::exception& error) {
    const auto* lost = dynamic_cast<const NetworkError*>(&error);
    const auto cause =
        lost != nullptr ? ExplainLoss(*lost, "while predicting", session.connected()) : CauseOf(error);
    return session.Fail(error, cause);
  }
}

}  // namespace trefoil::runtime
