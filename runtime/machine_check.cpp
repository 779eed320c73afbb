#include "runtime/machine_check.h"

#include <spdlog/fmt/fmt.h>
#include <sys/resource.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <limits>
#include <numeric>
#include <string>
#include <system_error>

#include "base/error.h"
#include "jobs/dpsgd/evaluation.h"
#include "jobs/statement/amount_text.h"
#include "ml/plan/settings.h"
#include "ml/records.h"
#include "runtime/observe/progress.h"

namespace trefoil::runtime {
namespace {

constexpr double kWord = 8;
constexpr double kComponents = 2;
constexpr double kBytesOfAProgressLine = 60;
constexpr double kSmallFiles = 1 << 20;  // job, log, record, summary

/// The number that a file of the kernel holds, or infinity: "max", or no such file.
double NumberIn(const char* file) {
  std::ifstream stream(file);
  double number = 0;
  return stream >> number ? number : std::numeric_limits<double>::infinity();
}

/// A line "KEY: NUMBER kB" of /proc/meminfo or /proc/self/status, in bytes.
double LineOf(const char* file, const std::string& key) {
  std::ifstream stream(file);
  for (std::string word; stream >> word;) {
    double kilobytes = 0;
    if (word == key + ":" && stream >> kilobytes) return kilobytes * 1024;
  }
  return std::numeric_limits<double>::infinity();
}

/// The first line of a file of the kernel; empty where there is none.
std::string FirstLine(const std::filesystem::path& file) {
  std::ifstream stream(file);
  std::string line;
  std::getline(stream, line);
  return line;
}

double WeightsOf(const ml::StepPlan& plan) { return static_cast<double>(ml::ShapeOfWeights(plan).weights()); }

}  // namespace

double LeastMemory(const jobs::DpsgdSettings& job, const ml::StepPlan& plan, int party) {
  const ml::TrainingSettings& s = plan.settings;
  const auto own = static_cast<double>(s.rows.at(s.vertical ? 0 : static_cast<std::size_t>(party)));
  const auto features =
      static_cast<double>(s.vertical ? s.vertical->features.at(static_cast<std::size_t>(party)) : s.features);
  // With public sampling all rows are shared; else the batch of a step and the next one.
  const double rows =
      s.sampling == ml::Sampling::kPublic
          ? static_cast<double>(std::accumulate(s.rows.begin(), s.rows.end(), std::int64_t{0}))
          : 2 * static_cast<double>(plan.batch_rows);
  const auto columns = static_cast<double>(ml::EncodedColumns(plan));
  const double held = jobs::MayStayOnDisk(job) ? static_cast<double>(jobs::kMostInMemory)
                                               : std::numeric_limits<double>::infinity();
  return std::min(own * features * sizeof(float), held) +
         kComponents * kWord * (rows * columns + 2 * WeightsOf(plan));
}

double LeastDisk(const ml::StepPlan& plan, bool checkpoints) {
  const double weights = WeightsOf(plan) * kWord;
  // Weights and velocity in two components each; the last two checkpoints, and the next one's draft.
  const double kept = checkpoints ? 3 * 2 * kComponents * weights : 0;
  return LeastDisk(static_cast<double>(plan.settings.steps) * kBytesOfAProgressLine + 2 * weights + kept);
}

double LeastDisk(double results) { return kSmallFiles + results; }

double AvailableMemory() {
  rlimit limit{};
  double own = std::numeric_limits<double>::infinity();
  if (getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
    own = static_cast<double>(limit.rlim_cur) - LineOf("/proc/self/status", "VmSize");
  const double group =
      NumberIn("/sys/fs/cgroup/memory.max") - std::min(NumberIn("/sys/fs/cgroup/memory.current"), 1e18);
  return std::max(0.0, std::min({LineOf("/proc/meminfo", "MemAvailable"), group, own}));
}

double AvailableDisk(const std::filesystem::path& folder) {
  std::error_code error;
  const auto space = std::filesystem::space(folder.empty() ? "." : folder, error);
  if (error) throw ConfigError(folder.string() + ": " + error.message() + ", expected a folder");
  return static_cast<double>(space.available);
}

void RequireDisk(const std::filesystem::path& run_folder, const ml::StepPlan& plan, bool checkpoints) {
  double held = 0;
  std::error_code error;
  for (const auto& file : std::filesystem::directory_iterator(run_folder / "checkpoint", error))
    held += file.is_regular_file(error) ? static_cast<double>(file.file_size(error)) : 0;
  RequireDisk(run_folder, std::max(0.0, LeastDisk(plan, checkpoints) - held), "the first step");
}

void RequireDisk(const std::filesystem::path& run_folder, double least, const std::string& before) {
  const double available = AvailableDisk(run_folder);
  if (available >= least) return;
  throw std::system_error(
      ENOSPC, std::generic_category(),
      fmt::format("{}: found {} free, expected at least {} before {}, which is charged", run_folder.string(),
                  jobs::BytesText(static_cast<std::uint64_t>(available)),
                  jobs::BytesText(static_cast<std::uint64_t>(least)), before));
}

std::vector<std::string> PlainSwap(const std::filesystem::path& root) {
  std::ifstream areas(root / "proc/swaps");
  std::vector<std::string> plain;
  std::string line;
  std::getline(areas, line);  // titles
  while (std::getline(areas, line)) {
    const auto name = line.substr(0, line.find_first_of(" \t"));
    const auto device = root / "sys/block" / std::filesystem::path(name).filename();
    const bool encrypted = FirstLine(device / "dm/uuid").starts_with("CRYPT-");
    const bool in_memory = FirstLine(device / "backing_dev") == "none";  // of zram alone
    if (!encrypted && !in_memory) plain.push_back(name);
  }
  return plain;
}

std::string SwapWarning(const std::vector<std::string>& areas) {
  return fmt::format(
      "shares and records may be written to {}, which is not known to be encrypted: let this process lock "
      "its memory (ulimit -l unlimited, LimitMEMLOCK=infinity), encrypt that, or turn it off",
      fmt::join(areas, ", "));
}

}  // namespace trefoil::runtime
