#include "runtime/job_results.h"

#include <spdlog/fmt/fmt.h>

#include "base/files/files.h"
#include "base/files/sync_to_disk.h"
#include "base/secrets/sha256.h"
#include "jobs/files/model_file.h"
#include "jobs/files/share_file.h"
#include "jobs/statement/amount_text.h"
#include "jobs/statement/bound_text.h"
#include "jobs/statement/vertical_statement.h"
#include "runtime/machine_check.h"
#include "runtime/run_directory.h"

namespace trefoil::runtime {
namespace {

namespace fs = std::filesystem;

constexpr const char* kModelFile = "model.npz";
constexpr const char* kShareFile = "model.share";

/// Keeps this party's share of a model that nobody gets.
void KeepShare(const PartySession& session, const jobs::Job& job, const mpc::FixedShare& share,
               const JobOutput& output) {
  fs::remove(session.folder() / kShareFile);  // of an earlier session, whose peers did not get theirs
  const auto schema = job.Model().value();
  const bool has_job = schema.json == job.Json();  // which the file then has once
  jobs::SaveShare(session.folder() / kShareFile,
                  {.party = session.party().id,
                   .schema = schema,
                   .task = has_job ? "" : job.Json(),
                   .record = output.record(),
                   .session = output.releasing_session(),
                   .weights = share},
                  jobs::StorageKey(session.party(), jobs::kModelShare));
}

void WriteFiles(PartySession& session, const jobs::Job& job, const jobs::JobResult& result,
                const JobOutput& output) {
  session.audit().Released(result.values);
  for (const auto& file : result.files) {
    const auto path = session.folder() / file.name;
    if (file.secret) {
      WriteSecretFile(path, file.text);
      session.audit().ReleasedSecretFile(file.name, path, session.AuditSalt());
    } else {
      WriteTextFile(path, file.text);
      session.audit().ReleasedFile(file.name, path);
    }
  }
  if (result.model) {
    jobs::SaveModel(session.folder() / kModelFile, *result.model, job.Model().value());
    session.audit().ReleasedFile(kModelFile, session.folder() / kModelFile);
  }
  if (result.share) KeepShare(session, job, *result.share, output);
  // Its lines were written one by one without a sync to disk.
  if (job.Steps().count > 0) SyncToDisk(session.folder() / "progress.csv");
  if (!job.Covered().empty()) WriteRecord(session.folder() / "record.json", output.record());
}

/// The results of a run in words.
std::string FilesText(const jobs::JobResult& result, const dp::TrainingRecord& record) {
  if (result.share) return fmt::format("released to nobody, {} of run {}", kShareFile, record.run_id);
  constexpr std::size_t kMostNamed = 8;  // of predictions there is one for each owner
  if (result.files.size() > kMostNamed) return fmt::format("{} files", result.files.size());
  std::string files;
  for (const auto& file : result.files) files += (files.empty() ? "" : " ") + file.name;
  if (result.model) files += std::string(files.empty() ? "" : " ") + kModelFile;
  return files.empty() ? "nothing released to this party," : files;
}

/// Time, rounds and bytes are those of all sessions for the steps that were kept, or, where a job has none,
/// those of this session. Bytes are those of all ranks.
Summary SummaryOf(const jobs::Job& job, const jobs::JobResult& result, const JobOutput& output,
                  const SessionCost& cost) {
  const auto& counters = cost.counters;
  const bool steps = job.Steps().count > 0;
  const auto epsilons = dp::Epsilons(output.record(), job.delta(), job.accountant());
  return {.type = job.type(),
          .name = job.name(),
          .job_hash = jobs::HashOf(job),
          .session = output.session_id(),
          .epsilon_outsider = epsilons.outsider,
          .epsilon_insider = epsilons.insider,
          .delta = job.delta(),
          .accountant = job.accountant(),
          .released_to = job.release_to(),
          .seconds = output.kept().seconds + cost.seconds,
          .rounds = steps ? output.last().rounds : counters.rounds,
          .bytes_sent = steps ? output.last().bytes_sent
                              : counters.bytes_sent + counters.bytes_offline + cost.bytes_of_other_ranks,
          .ranks = cost.ranks,
          .peak_rss_bytes = PeakMemoryBytes(),
          .warnings = job.Warnings(),
          .results = result.summary};
}

}  // namespace

void WriteResults(PartySession& session, const jobs::Job& job, const jobs::JobResult& result,
                  const JobOutput& output, const std::function<SessionCost()>& cost) {
  WriteFiles(session, job, result, output);
  const auto summary = SummaryOf(job, result, output, cost());
  WriteSummary(session.folder() / "summary.json", summary);
  session.display().Finish();
  for (const auto& line : result.lines) session.Say(line);
  if (const auto line = job.ResultLine(result.summary); !line.empty()) session.Say(line);
  session.Say(fmt::format(
      "done: epsilon {}, delta {}, {} rounds, {} sent, {} in {}",
      jobs::EpsilonsText(summary.epsilon_outsider, summary.epsilon_insider, jobs::FirstOf(output.record())),
      jobs::DeltaText(summary.delta), summary.rounds, jobs::BytesText(summary.bytes_sent),
      FilesText(result, output.record()), session.folder().string()));
}

}  // namespace trefoil::runtime
