#include "jobs/statement/amount_text.h"

#include <spdlog/fmt/fmt.h>

#include <cmath>

namespace trefoil::jobs {

std::string BytesText(std::uint64_t bytes) {
  if (bytes < 1000) return fmt::format("{} B", bytes);
  auto value = static_cast<double>(bytes);
  const char* unit = "";
  for (const auto* next : {"kB", "MB", "GB", "TB"}) {
    if (value < 999.95 && *unit != '\0') break;
    value /= 1000;
    unit = next;
  }
  return fmt::format("{:.1f} {}", value, unit);
}

std::string SecondsText(double seconds) {
  if (seconds < 10) return fmt::format("{:.1f} s", seconds);
  const auto whole = std::llround(seconds);
  if (whole < 60) return fmt::format("{} s", whole);
  if (whole < 3600) return fmt::format("{} min {} s", whole / 60, whole % 60);
  return fmt::format("{} h {} min", whole / 3600, whole % 3600 / 60);
}

}  // namespace trefoil::jobs
