#include "runtime/phases/prepare.h"

#include <spdlog/fmt/fmt.h>

#include <filesystem>

#include "base/error.h"
#include "data/dataset/data_hash.h"
#include "data/formats/image_decoder.h"
#include "data/formats/image_folder.h"
#include "jobs/advice.h"
#include "jobs/config/input_files.h"
#include "jobs/files/share_file.h"
#include "jobs/statement/bound_text.h"
#include "runtime/machine_check.h"

namespace trefoil::runtime {
namespace {

/// Reads what is to be resumed, if anything.
void OpenState(PartyRun& run) {
  const bool checkpoints = run.job->Steps().checkpoint_every > 0;
  if (!checkpoints && (run.job->Calls() == 0 || !run.job->NoResume().empty())) return;
  const auto& party = run.session.party();
  run.state.emplace(run.session.folder(),
                    RunOwner{.party = party.id,
                             .job = run.job,
                             .data_hash = data::DataHash(party.data),
                             .types = run.options.types},
                    checkpoints ? jobs::StorageKey(party, kCheckpoint) : SecretKey());
}

/// Makes the run directory, and says there and on stdout what will be done.
void Announce(PartyRun& run, const dp::EpsilonPair& planned) {
  const auto& job = *run.job;
  auto& session = run.session;
  session.Open({.name = job.name(), .hash = jobs::HashOf(job), .toml = jobs::TomlOf(job)},
               run.options.resume);
  session.display().SayFirst(jobs::FirstOf(job));
  session.Say(fmt::format("job {}: {}", job.name(), job.Title()));
  if (const auto& page = session.party().metrics)
    session.Say(fmt::format("watch this run at http://{}/", jobs::ToText(page->listen)));
  if (run.charges())
    session.Say(fmt::format("epsilon {}, delta {}, at most",
                            jobs::EpsilonsText(planned.outsider, planned.insider, jobs::FirstOf(job)),
                            jobs::DeltaText(job.delta())));
  for (const auto& warning : job.Warnings()) session.Warn(warning);
  for (const auto& note : jobs::AdviceOn(job, planned)) session.Say("note: " + note);
  for (const auto& damaged : run.state ? run.state->damaged() : std::vector<std::string>())
    session.Warn(damaged + "; it is left aside, since a newer checkpoint is whole");
}

void RequireRoom(const PartyRun& run) {
  const auto self = static_cast<std::size_t>(run.session.party().id);
  const auto* before = run.steps() > 0 ? "the first step, which is charged"
                       : run.charges() ? "the release, which is charged"
                                       : "the release";
  RequireDisk(run.session.folder(), run.job->Plan({}).disk.at(self), before);
}

/// Whether these are images in a folder, also where the job reads none of them and the ledger alone is of
/// them. What is wrong with its names, or with a build that reads none, is said before all of it is hashed.
bool AreImages(const data::DataFiles& files, const jobs::Job& job) {
  std::error_code error;
  if (!std::filesystem::is_directory(files.file, error)) return false;
  const auto* records = job.Records();
  if (records == nullptr) return true;
  if (records->data.format != data::Format::kImages) return false;
  data::RequireImages();
  (void)data::ListImages(files.file, &records->data.label.values);
  return true;
}

/// The hash of records that may become others while they are read, what a query gives of a database and
/// images in a folder, and that are charged: others would be than those that were read.
std::string ChangingData(const jobs::PartyFile& party, const jobs::Job& job) {
  const auto hash = [&](const data::DataFiles& files) {
    return !files.query.empty() || AreImages(files, job) ? data::DataHash(files) : std::string();
  };
  auto hashes = hash(party.data);
  if (party.evaluation_ledger && BudgetedEvaluationOf(job, party.id)) hashes += hash(party.evaluation);
  return hashes;
}

}  // namespace

void Prepare(PartyRun& run, const dp::EpsilonPair& planned) {
  const auto& party = run.session.party();
  // A key that cannot seal the model's share is found now, not after the training.
  if (run.job->release_to().empty()) (void)jobs::StorageKey(party, jobs::kModelShare);
  const auto at_first = ChangingData(party, *run.job);
  const auto loaded = jobs::LoadInputs(*run.job, party, run.options.config,
                                       {.threads = run.options.threads, .types = run.options.types});
  run.budget.emplace(party, *run.job);
  if (run.store != nullptr)
    run.budget->PrepareOwners(
        run.store->Populations(),
        {.job_hash = jobs::HashOf(*run.job), .run_id = {}, .events = run.job->Events()});
  if (ChangingData(party, *run.job) != at_first)
    throw DataError(
        "found other records at the end of reading a database, or a folder of images, than at its beginning, "
        "expected the same: begin again when nobody writes to it, or query what stays");
  OpenState(run);
  Announce(run, planned);
  RequireRoom(run);
  if (jobs::IsOnDeposits(*run.job) && !party.owner_ledgers)
    run.session.Warn(
        "data.source \"store\": this party has no [owner_ledgers], so that nothing here adds up what jobs on "
        "the same "
        "deposits cost their owners");
  run.session.Log(
      // how much there is says `check`, to the owner alone
      "read what this party brings, as the job declares it");
  run.session.WarnOwner(loaded.warnings);
}

}  // namespace trefoil::runtime
