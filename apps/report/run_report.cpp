#include "apps/report/run_report.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <initializer_list>

#include "apps/local/deployment.h"
#include "apps/report/coefficients.h"
#include "apps/report/evaluation_file.h"
#include "base/error.h"
#include "base/files/files.h"
#include "dp/accounting/any_accountant.h"
#include "jobs/files/model_file.h"
#include "jobs/job.h"

namespace trefoil::apps {
namespace {

namespace fs = std::filesystem;

constexpr const char* kModelFile = "model.npz";

/// What `read` makes of FOLDER/NAME; whatever is wrong with it is an error of the data.
template <typename Read>
auto ReadPart(const fs::path& folder, const char* name, const Read& read) {
  const auto file = folder / name;
  if (!fs::is_regular_file(file)) {
    throw DataError(
        fmt::format("{}: not there, expected what a finished run writes to its directory", file.string()));
  }
  try {
    return read(file);
  } catch (const DataError&) {
    throw;
  } catch (const std::runtime_error& error) {
    throw DataError(error.what());
  }
}

/// What the page shows of an audit, checked to be there.
nlohmann::ordered_json ReadAudit(const fs::path& file) {
  const auto audit =
      nlohmann::ordered_json::parse(ReadTextFile(file, "an audit's result", kLargestOwnFile), nullptr, false);
  const auto has_numbers = [](const nlohmann::ordered_json& json, std::initializer_list<const char*> names) {
    return json.is_object() && std::all_of(names.begin(), names.end(), [&](const char* name) {
             return json.contains(name) && json[name].is_number();
           });
  };
  const auto is_attack = [&](const nlohmann::ordered_json& json) {
    return has_numbers(json, {"auc", "true_positive_rate", "accuracy"});
  };
  const bool whole = has_numbers(audit, {"epsilon_lower", "confidence", "delta", "canaries", "included",
                                         "guesses", "right"}) &&
                     audit.contains("claim") && (audit["claim"].is_number() || audit["claim"].is_null()) &&
                     audit.contains("refuted") && audit["refuted"].is_boolean() &&
                     audit.contains("membership") && audit["membership"].is_object() &&
                     is_attack(audit["membership"].value("canaries", nlohmann::ordered_json())) &&
                     is_attack(audit["membership"].value("claim_allows", nlohmann::ordered_json())) &&
                     (audit["membership"].value("records", nlohmann::ordered_json()).is_null() ||
                      is_attack(audit["membership"]["records"])) &&
                     audit.contains("statement") && audit["statement"].is_array() &&
                     std::all_of(audit["statement"].begin(), audit["statement"].end(),
                                 [](const auto& sentence) { return sentence.is_string(); });
  if (!whole) throw DataError(file.string() + ": not what `trefoil audit` writes");
  return audit;
}

std::string ReadEvaluation(const fs::path& folder) {
  if (!fs::exists(folder / kEvaluationFile)) return "";
  return ReadPart(folder, kEvaluationFile,
                  [&](const fs::path& file) { return EvaluationSection(file, folder / kModelFile); });
}

/// Of a model of a table's columns, if there is one.
std::string ReadCoefficients(const fs::path& folder, const jobs::Job& job, jobs::JobTypes types) {
  const auto schema = job.Model();
  if (!schema || schema->records.data.format != data::Format::kCsv || !fs::exists(folder / kModelFile))
    return "";
  return ReadPart(folder, kModelFile,
                  [&](const fs::path& file) { return CoefficientsSection(jobs::LoadModel(file, types)); });
}

}  // namespace

RunReport ReadRunReport(const fs::path& folder, jobs::JobTypes types) {
  if (!fs::is_directory(folder))
    throw DataError(folder.string() + ": not a folder, expected a finished run's directory");
  RunReport report;
  report.summary = ReadPart(folder, "summary.json", runtime::ReadSummary);
  report.record = ReadPart(folder, "record.json", runtime::ReadRecord);
  const auto job =
      ReadPart(folder, "job.toml", [&](const fs::path& file) { return jobs::ReadJob(file, {}, types); });
  report.job = ReadPart(folder, "job.toml", [](const fs::path& file) { return ReadTextFile(file, "a job"); });
  if (job->Steps().count > 0) report.progress = ReadPart(folder, "progress.csv", runtime::ReadProgress);
  try {
    jobs::StatementSource source{.record = report.record,
                                 .delta = report.summary.delta,
                                 .accountant = report.summary.accountant.value_or(job->accountant())};
    // A record of version 0.1 does not say what its job does.
    if (!source.record.promise && job->Covered().empty()) source.record.promise = jobs::PromiseOf(*job);
    source.rows = jobs::EpsilonsOfRows(source.record, source.delta, source.accountant, job->MaxUnits());
    report.rows = source.rows;
    report.curves = CurvesOf(source.record);
    report.statement = jobs::PrivacyStatement(source);
  } catch (const ConfigError& error) {
    throw DataError(fmt::format("{}: {}", (folder / "summary.json").string(), error.what()));
  }
  for (int party = 0; party < 3; ++party) {
    const auto own = PartyFolder(folder, party) / "out";
    if (fs::is_directory(own))
      report.parties.push_back(
          {.party = party, .summary = ReadPart(own, "summary.json", runtime::ReadSummary)});
  }
  if (fs::exists(folder / "audit.json")) report.audit = ReadPart(folder, "audit.json", ReadAudit);
  report.evaluation = ReadEvaluation(folder);
  report.coefficients = ReadCoefficients(folder, *job, types);
  report.shown = job->Shown(folder);
  return report;
}

}  // namespace trefoil::apps
