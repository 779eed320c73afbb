#pragma once
#include <array>
#include <filesystem>
#include <string>
#include <vector>

#include "jobs/config/party_file.h"

namespace trefoil::goldens {

/// A small job with each party's data, all fixed.
struct GoldenJob {
  std::string name;
  std::string text;                        ///< the job file
  std::vector<std::string> assignments{};  ///< as of --set
};

/// Trainings, as `type = "dpsgd"`: rows of all kinds of sampling, models, starts and releases.
[[nodiscard]] std::vector<GoldenJob> GoldenTrainings();

/// Of every type of jobs/job.h.
[[nodiscard]] std::vector<GoldenJob> GoldenTasks();

/// What the parties have for all of these jobs, written into the folder: party files as ReadParty would give
/// them. `vertical`: each party has its columns of all rows.
[[nodiscard]] std::array<jobs::PartyFile, 3> WriteGoldenData(const std::filesystem::path& folder,
                                                             bool vertical);

/// The same for a task of this name.
[[nodiscard]] std::array<jobs::PartyFile, 3> WriteTaskData(const std::filesystem::path& folder,
                                                           const std::string& name);

}  // namespace trefoil::goldens
