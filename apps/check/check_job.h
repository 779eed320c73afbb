#pragma once
#include <filesystem>
#include <string>

#include "apps/cli/doctor.h"
#include "jobs/config/party_file.h"
#include "jobs/job.h"

namespace trefoil::apps {

/// What `check` was given; the party file names itself in errors.
struct CheckedFiles {
  std::string job;  ///< empty: without a job
  std::string party_file;
  jobs::JobTypes types = jobs::ShippedTypes();
  jobs::StoreOpener open_store{};
};

/// Checks a job, this party's data against it, and whether machine, ledger, storage key and the party's ranks
/// allow it; nothing of the data leaves the machine. Returns the job's canonical JSON, which the parties
/// compare, or nothing where there is no job or it is not valid.
[[nodiscard]] std::string ExamineJob(Doctor& doctor, const jobs::PartyFile& party, const CheckedFiles& files);

}  // namespace trefoil::apps
