#include "apps/error_report.h"

#include <algorithm>
#include <cerrno>
#include <iostream>
#include <new>
#include <system_error>

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

bool IsLackOfMemory(const std::exception& error) {
  if (dynamic_cast<const std::bad_alloc*>(&error) != nullptr) return true;
  const auto* failed = dynamic_cast<const std::system_error*>(&error);
  // A thread that cannot be started says EAGAIN.
  return failed != nullptr && (failed->code().value() == ENOMEM || failed->code().value() == EAGAIN);
}

bool IsLackOfStorage(const std::exception& error) {
  const auto* failed = dynamic_cast<const std::system_error*>(&error);
  if (failed == nullptr) return false;
  const int code = failed->code().value();
  return code == ENOSPC || code == EDQUOT || code == EFBIG || code == EIO || code == EROFS;
}

std::string CauseOf(const std::exception& error) {
  if (IsLackOfMemory(error))
    return "out of memory: found no more to take, expected as much as trefoil check names";
  return error.what();
}

std::string OneLine(std::string text) {
  while (text.ends_with('\n')) text.pop_back();
  std::replace_if(
      text.begin(), text.end(), [](unsigned char c) { return c < 0x20 || c == 0x7F; }, ' ');
  return text;
}

void ReportError(const std::string& cause) { std::cerr << "trefoil: " + OneLine(cause) + "\n" << std::flush; }

}  // namespace trefoil::apps
