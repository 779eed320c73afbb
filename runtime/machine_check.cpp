#include "runtime/machine_check.h"

#include <spdlog/fmt/fmt.h>
#include <sys/resource.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <fstream>
#include <limits>
#include <string>
#include <system_error>

#include "base/error.h"
#include "jobs/statement/amount_text.h"

namespace trefoil::runtime {
namespace {

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

}  // namespace

double AvailableMemory() {
  rlimit limit{};
  double own = std::numeric_limits<double>::infinity();
  if (getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
    own = static_cast<double>(limit.rlim_cur) - LineOf("/proc/self/status", "VmSize");
  const double group =
      NumberIn("/sys/fs/cgroup/memory.max") - std::min(NumberIn("/sys/fs/cgroup/memory.current"), 1e18);
  return std::max(0.0, std::min({LineOf("/proc/meminfo", "MemAvailable"), group, own}));
}

std::uint64_t PeakMemoryBytes() {
  const double peak = LineOf("/proc/self/status", "VmHWM");
  return std::isfinite(peak) ? static_cast<std::uint64_t>(peak) : 0;
}

double AvailableDisk(const std::filesystem::path& folder) {
  std::error_code error;
  const auto space = std::filesystem::space(folder.empty() ? "." : folder, error);
  if (error) throw ConfigError(folder.string() + ": " + error.message() + ", expected a folder");
  return static_cast<double>(space.available);
}

void RequireDisk(const std::filesystem::path& run_folder, double least, const std::string& before) {
  double held = 0;
  std::error_code error;
  for (const auto& file : std::filesystem::directory_iterator(run_folder / "checkpoint", error))
    held += file.is_regular_file(error) ? static_cast<double>(file.file_size(error)) : 0;
  const double more = std::max(0.0, least - held);
  const double available = AvailableDisk(run_folder);
  if (available >= more) return;
  throw std::system_error(
      ENOSPC, std::generic_category(),
      fmt::format("{}: found {} free, expected at least {} before {}", run_folder.string(),
                  jobs::BytesText(static_cast<std::uint64_t>(available)),
                  jobs::BytesText(static_cast<std::uint64_t>(more)), before));
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

std::string SwapWarning(bool memory_locked, const std::filesystem::path& root) {
  const auto areas = PlainSwap(root);
  if (memory_locked || areas.empty()) return {};
  return fmt::format(
      "shares and records may be written to {}, which is not known to be encrypted: let this process lock "
      "its memory (ulimit -l unlimited, LimitMEMLOCK=infinity), encrypt that, or turn it off",
      fmt::join(areas, ", "));
}

}  // namespace trefoil::runtime
