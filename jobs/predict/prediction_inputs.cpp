#include "jobs/predict/prediction_inputs.h"

#include <spdlog/fmt/fmt.h>

#include <utility>

#include "base/error.h"
#include "jobs/config/fields.h"
#include "jobs/records/load_records.h"

namespace trefoil::jobs {

void PredictInputs(FieldVisitor& v, InputPaths& inputs) {
  v.Table("predict", "What a job of type `predict` needs.", [&] {
    PathField(v, "share", inputs["predict.share"], "Required: this party's `model.share`.");
    auto& rows = inputs.Records("predict");
    PathField(
        v, "x", rows.x,
        "Required at the client, or `file`: rows in the training job's format, of idx and npy. Labels may be "
        "missing, and are not looked at.");
    TableField(
        v, rows,
        "Likewise of csv (several files are one table), npz and cifar (labels: any byte), and of images a "
        "folder, with sub-folders of any names, or without.");
    v.Check([](const Section& section) {
      if (section.Has("x") && section.Has("file"))
        section.Fail("file", "predict.x is given too, expected only one of them");
    });
  });
}

ShareFile LoadModelShare(const PartyFile& party, const PredictSettings& job, const std::string& party_file,
                         JobTypes types) {
  const auto& file = party.inputs["predict.share"];
  if (file.empty()) {
    throw ConfigError(
        party_file +
        ": missing predict.share, expected the path of this party's share, model.share of a run");
  }
  auto share = LoadShare(file, party.id, StorageKey(party, kModelShare), types);
  if (share.record.run_id != job.run) {
    throw ConfigError(fmt::format("{}: found the model of run {}, expected {} (predict.run)", file.string(),
                                  share.record.run_id, job.run));
  }
  return share;
}

ml::OwnRecords LoadRowsToPredict(const PredictSettings& job, const RecordSchema& schema,
                                 const PartyFile& party, const std::string& party_file, std::size_t threads) {
  if (party.id != job.client) return {};
  const auto& files = party.inputs.Records("predict");
  const bool two_files = HasLabelFile(schema.data.format);
  if ((two_files ? files.x : files.file).empty()) {
    throw ConfigError(
        fmt::format("{}: missing predict.{}, expected the rows to predict: this party is the client",
                    party_file, two_files ? "x" : "file"));
  }
  auto table = LoadRecords(schema, files,
                           {.capacity = job.rows,
                            .threads = threads,
                            .labels = data::LabelUse::kIgnored,
                            .feature_model = party.feature_model});
  return {.x = std::move(table.x), .y = {}};
}

}  // namespace trefoil::jobs
