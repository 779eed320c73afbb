#include "apps/predict_run.h"

#include <spdlog/fmt/fmt.h>

#include <nlohmann/json.hpp>

#include "apps/bound_text.h"
#include "apps/error_report.h"
#include "apps/evaluation.h"
#include "apps/files.h"
#include "apps/mesh_setup.h"
#include "apps/party_session.h"
#include "apps/predict_job.h"
#include "apps/prediction_inputs.h"
#include "apps/predictions.h"
#include "apps/run_directory.h"
#include "apps/share_file.h"
#include "apps/shared_classifier.h"
#include "apps/vertical_statement.h"
#include "base/error.h"
#include "base/sha256.h"
#include "base/thread_pool.h"
#include "dp/json_number.h"
#include "ml/prediction.h"

namespace trefoil::apps {
namespace {

using Clock = std::chrono::steady_clock;

/// All that this party brings.
struct Prediction {
  PredictJob job;
  ShareFile model;
  ml::OwnRecords rows{};  ///< the client's
};

/// What the predictions cost the records that the model was trained on: nothing beyond the training.
std::string CoveredBy(const dp::EpsilonPair& epsilons, FirstEpsilon first, double delta) {
  return fmt::format(
      "predictions are post-processing of the training: its epsilon, {} at delta {}, "
      "covers them; nothing else is opened",
      EpsilonsText(epsilons.outsider, epsilons.insider, first), DeltaText(delta));
}

void WriteResults(PartySession& session, const Prediction& prediction,
                  const std::optional<ml::Predictions>& predictions, const net::Counters& counters,
                  double seconds) {
  const auto& [job, model, rows] = prediction;
  const double delta = model.delta();
  const auto epsilons = dp::Epsilons(model.record, delta, model.accountant());
  const auto covered_by = CoveredBy(epsilons, FirstOf(model.record), delta);
  const auto bytes_sent = counters.bytes_sent + counters.bytes_offline;
  if (predictions) {
    WriteSecretFile(session.folder() / "predictions.csv",
                    PredictionsCsv(model.job, predictions->classes, predictions->scores));
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
                                        predictions->classes.size(), counters.rounds, BytesText(bytes_sent),
                                        session.folder().string())
                          : fmt::format("done: up to {} rows of party {}, {} rounds, {} sent", job.rows,
                                        job.client, counters.rounds, BytesText(bytes_sent)));
}

void PredictConnected(PartySession& session, const Prediction& prediction, net::MeshTransport& mesh,
                      std::size_t threads) {
  const auto start = Clock::now();
  ThreadPool pool(ThreadsFor(threads));
  mpc::Context context(mesh, AgreeOnSessionKeys(mesh), pool);
  const auto& [job, model, rows] = prediction;
  const auto predictions = ClassifyByShares(context, job, model, rows);
  WriteResults(session, prediction, predictions, mesh.counters(),
               std::chrono::duration<double>(Clock::now() - start).count());
}

/// All that comes before the peers are met.
void Prepare(PartySession& session, Prediction& prediction, const RunOptions& options) {
  const auto& job = prediction.job;
  prediction.model = LoadModelShare(session.party(), job, options.config);
  prediction.rows =
      LoadRowsToPredict(job, prediction.model.job, session.party(), options.config, options.threads);
  session.Open({.name = job.name, .hash = Sha256Hex(PredictJobJson(job)), .toml = PredictJobToml(job)});
  session.Say(fmt::format("job {}: {}", job.name, PredictJobTitle(job)));
}

}  // namespace

int RunPrediction(const RunOptions& options) {
  Prediction prediction{.job = ReadPredictJob(options.job), .model = {}};
  PartySession session(
      ReadParty(options.config),
      options.out.empty() ? DefaultRunDirectory(prediction.job.name) : std::filesystem::path(options.out),
      options.config);
  CheckRunDirectory(session.folder());
  auto config = MeshConfigOf(session.party(), PredictJobJson(prediction.job));
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

}  // namespace trefoil::apps
