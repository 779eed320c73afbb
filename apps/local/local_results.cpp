#include "apps/local/local_results.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <optional>
#include <stdexcept>
#include <string>

#include "apps/local/deployment.h"
#include "base/files.h"
#include "data/dataset/folders.h"
#include "jobs/dpsgd/evaluation.h"
#include "jobs/files/model_file.h"
#include "jobs/statement/amount_text.h"
#include "jobs/statement/bound_text.h"
#include "jobs/statement/vertical_statement.h"

namespace trefoil::apps {
namespace {

namespace fs = std::filesystem;

/// The released model, the same at all parties that have it, copied to the top. Returns its path; nothing
/// where it was released to nobody.
std::optional<fs::path> CollectModel(const jobs::DpsgdSettings& job, const fs::path& folder) {
  if (job.release.to.empty()) return {};
  const auto target = folder / "model.npz";
  std::string model;
  for (const int party : job.release.to) {
    const auto released =
        ReadTextFile(PartyFolder(folder, party) / "out" / "model.npz", "the released model", kLargestOwnFile);
    if (!model.empty() && released != model) {
      throw std::runtime_error(
          fmt::format("party {}'s model differs from party {}'s", party, job.release.to[0]));
    }
    model = released;
  }
  WriteTextFile(target, model);
  return target;
}

/// What the evaluation on shares gave those who learn it, if there was one.
std::optional<runtime::EvaluationSummary> CollectEvaluation(const jobs::DpsgdSettings& job,
                                                            const fs::path& folder) {
  if (!job.evaluation) return {};
  const auto& to = job.evaluation->to;
  return runtime::ReadSummary(PartyFolder(folder, to.front()) / "out" / "summary.json").evaluation;
}

/// Evaluates the model on the test set, if there is one.
std::optional<jobs::Evaluation> EvaluateModel(const jobs::DpsgdSettings& job, const fs::path& folder,
                                              const fs::path& feature_model,
                                              const std::optional<fs::path>& model) {
  if (!model) return {};
  const auto test = data::FindTestFiles(job.data, folder / "test");
  if (!test) return {};
  const auto table = jobs::LoadRecords(job, *test, {.feature_model = feature_model});
  if (table.y.empty()) return {};
  return jobs::Evaluate(jobs::LoadModel(*model).model, table, job.data.classes);
}

}  // namespace

runtime::Summary CollectResults(const jobs::DpsgdSettings& job, const fs::path& folder,
                                const fs::path& feature_model, runtime::ProgressDisplay& display) {
  const auto first = PartyFolder(folder, 0) / "out";
  for (const auto* name : {"progress.csv", "record.json"}) {
    WriteTextFile(folder / name, ReadTextFile(first / name, "a party's result", kLargestOwnFile));
  }
  auto summary = runtime::ReadSummary(first / "summary.json");
  for (const int id : {1, 2}) {
    const auto other = runtime::ReadSummary(PartyFolder(folder, id) / "out" / "summary.json");
    summary.peak_rss_bytes = std::max(summary.peak_rss_bytes, other.peak_rss_bytes);
  }
  const auto model = CollectModel(job, folder);
  const auto evaluation = EvaluateModel(job, folder, feature_model, model);
  summary.evaluation = CollectEvaluation(job, folder);
  if (summary.evaluation) summary.accuracy = runtime::Accuracy(*summary.evaluation);
  if (evaluation) summary.accuracy = evaluation->accuracy();
  runtime::WriteSummary(folder / "summary.json", summary);
  if (summary.evaluation) display.Say(runtime::EvaluationLine(*summary.evaluation));
  if (evaluation) {
    display.Say(fmt::format("accuracy {} on {} test records", jobs::AccuracyText(evaluation->accuracy()),
                            evaluation->records));
  } else if (!summary.evaluation) {
    display.Say(model ? "accuracy unknown: there is no test data"
                      : "accuracy unknown: nobody has the model, and the job has no [evaluation]");
  }
  display.Say(
      fmt::format("epsilon {}, delta {}",
                  jobs::EpsilonsText(summary.epsilon_outsider, summary.epsilon_insider, jobs::FirstOf(job)),
                  jobs::DeltaText(summary.delta)));
  display.Say(fmt::format("time {}, {} rounds, {} sent by party 0", jobs::SecondsText(summary.seconds),
                          summary.rounds, jobs::BytesText(summary.bytes_sent)));
  display.Say(model ? fmt::format("model {}", model->string())
                    : "model released to nobody: each party's share is its out/model.share");
  return summary;
}

}  // namespace trefoil::apps
