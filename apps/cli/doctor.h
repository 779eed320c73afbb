#pragma once
#include <spdlog/fmt/fmt.h>

#include <exception>
#include <filesystem>
#include <iostream>
#include <string>

#include "base/error_report.h"

namespace trefoil::apps {

/// Prints one line for each thing examined, and remembers the first failure.
class Doctor {
 public:
  /// `examine` returns what to say when all is well, and throws when it is not; `mend` is what to do about
  /// it, for errors that do not say so themselves.
  template <typename Examine>
  bool Try(const std::string& what, const Examine& examine, const std::string& mend = {}) {
    try {
      const std::string finding = examine();
      std::cout << fmt::format("pass  {}\n", OneLine(what + (finding.empty() ? "" : ": ") + finding))
                << std::flush;
      return true;
    } catch (const std::exception& error) {
      Fail(what, mend.empty() ? error.what() : fmt::format("{}: {}", error.what(), mend), ExitCodeOf(error));
      return false;
    }
  }

  /// Prints a warning: it works now, but may not later.
  static void Warn(const std::string& what, const std::string& text);

  void Fail(const std::string& what, const std::string& cause, ExitCode code);

  /// Reports the first failure, if there is one. Returns its code, or that of success.
  [[nodiscard]] int Finish() const;

 private:
  ExitCode code_ = kDone;
  std::string first_;
};

/// Throws ConfigError unless there is a folder that `path` can be made in: `what` it is.
void RequireFolderOf(const std::filesystem::path& path, const char* what);

}  // namespace trefoil::apps
