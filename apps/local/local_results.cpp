#include "apps/local/local_results.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>

#include "apps/local/deployment.h"
#include "apps/report/evaluation_file.h"
#include "base/error_report.h"
#include "base/files/files.h"
#include "data/dataset/folders.h"
#include "jobs/evaluation/evaluation.h"
#include "jobs/evaluation/target_evaluation.h"
#include "jobs/files/model_file.h"
#include "jobs/records/load_records.h"
#include "jobs/statement/amount_text.h"
#include "jobs/statement/bound_text.h"
#include "jobs/statement/vertical_statement.h"
#include "runtime/run_directory.h"

namespace trefoil::apps {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

// What a party keeps for itself, and what every party has of its own.
const std::set<std::string> kKept{
    "job.toml",    "party.log",   "audit.jsonl", "data.salt", runtime::kOwnerWarnings,
    "model.share", "report.html", "summary.json"};
const std::set<std::string> kOfEach{"record.json", "progress.csv"};

fs::path OutOf(const fs::path& folder, int party) { return PartyFolder(folder, party) / "out"; }

/// Returns what was released, copied to the top as `first` got it; results are the same at all who get them.
std::set<std::string> CollectFiles(const jobs::Job& job, const fs::path& folder, int first) {
  std::set<std::string> released;
  const auto text = [](const fs::path& file) { return ReadTextFile(file, "a result", kLargestOwnFile); };
  for (const auto& entry : fs::directory_iterator(OutOf(folder, first))) {
    const auto name = entry.path().filename().string();
    if (kKept.count(name) != 0 || !entry.is_regular_file()) continue;
    fs::copy_file(entry.path(), folder / name, fs::copy_options::overwrite_existing);
    if (kOfEach.count(name) != 0) continue;
    released.insert(name);
    for (const int party : job.release_to()) {
      if (party != first && text(OutOf(folder, party) / name) != text(folder / name))
        throw std::runtime_error(fmt::format("party {}'s {} differs from party {}'s", party, name, first));
    }
  }
  return released;
}

/// Where `known` has null, what `other` says.
void FillIn(Json& known, const Json& other) {
  if (known.is_null()) known = other;
  if (!known.is_object() || !other.is_object()) return;
  for (auto& [key, value] : known.items()) {
    if (other.contains(key)) FillIn(value, other.at(key));
  }
}

runtime::Summary CollectSummaries(const fs::path& folder, int first) {
  auto summary = runtime::ReadSummary(OutOf(folder, first) / "summary.json");
  for (int party = 0; party < net::kParties; ++party) {
    const auto other = runtime::ReadSummary(OutOf(folder, party) / "summary.json");
    summary.peak_rss_bytes = std::max(summary.peak_rss_bytes, other.peak_rss_bytes);
    FillIn(summary.results, other.results);
  }
  return summary;
}

void Warn(const std::vector<std::string>& warnings, runtime::ProgressDisplay& display) {
  for (const auto& warning : warnings) display.Say("warning: " + OneLine(warning));
}

/// Of the released model on the test records, where there are both: its accuracy or, of targets, its errors,
/// as results of the summary have them, after all of it has been written beside the model and the user has
/// been told.
std::optional<Json> EvaluateModel(const fs::path& folder, runtime::ProgressDisplay& display,
                                  jobs::JobTypes types) {
  const auto file = folder / "model.npz";
  if (!fs::exists(file) || !fs::exists(folder / "test")) return {};
  const auto model = jobs::LoadModel(file, types);
  const auto& schema = model.schema.records;
  const auto files = data::FindTestFiles(schema.data, folder / "test");
  if (!files) return {};
  const auto features = PartyFolder(folder, 0) / kFeatureModel;
  const auto table = jobs::LoadRecords(schema, *files, {.feature_model = features});
  if (table.y.empty()) return {};
  if (schema.data.target) {
    const auto evaluation = jobs::EvaluateTargets(model.model, model.schema, table);
    WriteTextFile(folder / kEvaluationFile, EvaluationText(evaluation, file));
    display.Say(fmt::format("{} on {} test records", jobs::FiguresOf(evaluation), table.y.size()));
    Warn(jobs::WarningsOf(evaluation), display);
    return jobs::FiguresJson(evaluation);
  }
  const auto evaluation = jobs::Evaluate(model.model, model.schema, table);
  WriteTextFile(folder / kEvaluationFile, EvaluationText(evaluation, schema, file));
  const double accuracy = evaluation.table.accuracy();
  display.Say(fmt::format("accuracy {} on {} test records", jobs::AccuracyText(accuracy), table.y.size()));
  Warn(jobs::WarningsOf(evaluation, schema), display);
  return Json{{"accuracy", accuracy}};
}

}  // namespace

void CollectResults(const jobs::Job& job, const fs::path& folder, runtime::ProgressDisplay& display,
                    jobs::JobTypes types) {
  const int first = job.release_to().empty() ? 0 : job.release_to().front();
  const auto released = CollectFiles(job, folder, first);
  auto summary = CollectSummaries(folder, first);
  if (const auto line = job.ResultLine(summary.results); !line.empty()) display.Say(line);
  if (const auto figures = EvaluateModel(folder, display, types)) {
    summary.results.update(*figures);
  } else if (summary.results.contains("r_squared")) {
    display.Say("R² unknown: there is no test data");
  } else if (released.count("model.npz") != 0 && !summary.results.value("accuracy", Json()).is_number()) {
    display.Say("accuracy unknown: there is no test data");
  }
  runtime::WriteSummary(folder / "summary.json", summary);
  const auto said_first = jobs::FirstOf(runtime::ReadRecord(folder / "record.json"));
  display.Say(fmt::format("epsilon {}, delta {}",
                          jobs::EpsilonsText(summary.epsilon_outsider, summary.epsilon_insider, said_first),
                          jobs::DeltaText(summary.delta)));
  display.Say(fmt::format("time {}, {} rounds, {} sent by party {}", jobs::SecondsText(summary.seconds),
                          summary.rounds, jobs::BytesText(summary.bytes_sent), first));
  for (const auto& name : released) display.Say("result " + (folder / name).string());
  if (job.release_to().empty())
    display.Say("model released to nobody: each party's share is its out/model.share");
}

}  // namespace trefoil::apps
