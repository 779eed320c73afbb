#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "apps/account/curve_file.h"
#include "dp/record/record.h"
#include "jobs/job.h"
#include "jobs/statement/privacy_statement.h"
#include "runtime/run_directory.h"

namespace trefoil::apps {

/// What one party's run cost it.
struct PartyCost {
  int party = 0;
  runtime::Summary summary;
};

/// What a run directory says of a finished run.
struct RunReport {
  runtime::Summary summary;
  dp::TrainingRecord record;
  std::vector<jobs::StatementEntry> statement;  ///< of record and summary
  PrivacyCurves curves;                         ///< of the record
  std::vector<jobs::RowsEpsilon> rows;          ///< what holds for somebody with several rows
  std::vector<ml::StepReport> progress;         ///< of a job with steps
  std::string job;                              ///< job.toml
  std::vector<PartyCost> parties;               ///< of a run of three on one machine; else empty
  nlohmann::ordered_json audit;                 ///< audit.json; null where there is none
  std::string evaluation;                       ///< the section of evaluation.json; empty where there is none
  std::string coefficients;                     ///< the section of a linear model of a table; likewise
  jobs::ShownResults shown;                     ///< of its result files
};

/// Reads summary.json, record.json, job.toml and, of a job with steps, progress.csv of a directory that
/// `local`, `audit` or `run` wrote; the summaries of party-0 ... party-2, audit.json, evaluation.json and, of
/// a model of a table, model.npz if they are there.
/// Throws DataError naming the file that is missing or damaged.
[[nodiscard]] RunReport ReadRunReport(const std::filesystem::path& folder,
                                      jobs::JobTypes types = jobs::ShippedTypes());

/// The report as one HTML page that needs nothing else: statement, record, progress, cost, audit, job. It is
/// well-formed XML, too; all text is escaped, and every number of the summary stands in a <data> with all its
/// digits.
[[nodiscard]] std::string ReportPage(const RunReport& report);

}  // namespace trefoil::apps
