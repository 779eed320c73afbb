#include "apps/error_report.h"

#include <algorithm>
#include <iostream>
#include <new>

#include "base/error.h"

namespace trefoil::apps {

ExitCode ExitCodeOf(const std::exception& error) {
  if (dynamic_cast<const ConfigError*>(&error) != nullptr) return kConfiguration;
  if (dynamic_cast<const NetworkError*>(&error) != nullptr) return kNetwork;
  if (dynamic_cast<const ProtocolError*>(&error) != nullptr) return kNetwork;
  if (dynamic_cast<const DataError*>(&error) != nullptr) return kData;
  if (dynamic_cast<const BudgetError*>(&error) != nullptr) return kBudget;
  return kOther;
}

std::string CauseOf(const std::exception& error) {
  if (dynamic_cast<const std::bad_alloc*>(&error) != nullptr)
    return "out of memory: found no more to take, expected as much as trefoil check names";
  return error.what();
}

void ReportError(const std::string& cause) {
  auto line = "trefoil: " + cause;
  while (line.ends_with('\n')) line.pop_back();
  std::replace_if(
      line.begin(), line.end(), [](unsigned char c) { return c < 0x20 || c == 0x7F; }, ' ');
  std::cerr << line + "\n" << std::flush;
}

}  // namespace trefoil::apps
