#include "apps/cli/doctor.h"

#include "base/error.h"

namespace trefoil::apps {

void Doctor::Warn(const std::string& what, const std::string& text) {
  std::cout << fmt::format("warn  {}\n", OneLine(what + ": " + text)) << std::flush;
}

void Doctor::Fail(const std::string& what, const std::string& cause, ExitCode code) {
  std::cout << fmt::format("fail  {}\n", OneLine(what + ": " + cause)) << std::flush;
  if (code_ != kDone) return;
  code_ = code;
  first_ = fmt::format("{}: {}", what, cause);
}

int Doctor::Finish() const {
  if (code_ != kDone) ReportError("check failed: " + first_);
  return code_;
}

void RequireFolderOf(const std::filesystem::path& path, const char* what) {
  const auto folder = std::filesystem::absolute(path).parent_path();
  if (!std::filesystem::is_directory(folder))
    throw ConfigError(
        fmt::format("{}: found no such folder, expected one for {}: make it", folder.string(), what));
}

}  // namespace trefoil::apps
