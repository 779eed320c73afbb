#include "jobs/predict/prediction_inputs.h"

#include <spdlog/fmt/fmt.h>

#include <utility>

#include "base/error.h"
#include "jobs/dpsgd/evaluation.h"

namespace trefoil::jobs {

ShareFile LoadModelShare(const PartyFile& party, const PredictSettings& job, const std::string& party_file) {
  if (party.predict.share.empty()) {
    throw ConfigError(
        party_file +
        ": missing predict.share, expected the path of this party's share, model.share of a run");
  }
  auto share = LoadShare(party.predict.share, party.id, StorageKey(party, kModelShare));
  if (share.record.run_id != job.run) {
    throw ConfigError(fmt::format("{}: found the model of run {}, expected {} (predict.run)",
                                  party.predict.share.string(), share.record.run_id, job.run));
  }
  return share;
}

ml::OwnRecords LoadRowsToPredict(const PredictSettings& job, const DpsgdSettings& training,
                                 const PartyFile& party, const std::string& party_file, std::size_t threads) {
  if (party.id != job.client) return {};
  const auto& files = party.predict.rows;
  const bool two_files = HasLabelFile(training.data.format);
  if ((two_files ? files.x : files.file).empty()) {
    throw ConfigError(
        fmt::format("{}: missing predict.{}, expected the rows to predict: this party is the client",
                    party_file, two_files ? "x" : "file"));
  }
  auto table = LoadRecords(training, files,
                           {.capacity = job.rows,
                            .threads = threads,
                            .labels = data::LabelUse::kIgnored,
                            .feature_model = party.feature_model});
  return {.x = std::move(table.x), .y = {}};
}

}  // namespace trefoil::jobs
