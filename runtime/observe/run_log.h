#pragma once
#include <spdlog/fwd.h>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "jobs/config/party_file.h"

namespace trefoil::runtime {

/// A run's log: party.log in its run directory, and standard error where the party file asks for that. One
/// line an event, as text (TIME LEVEL TEXT) or as JSON (time, level, party, text). May be used by any thread.
///
/// What is logged is what an operator may show to others: addresses, steps, counts, hashes, causes. Never a
/// record's value, a share, a seed or a key, at any level: tests/apps/log_test.py looks for planted ones.
class RunLog {
 public:
  /// Goes on with a file that is there. Throws std::runtime_error where it cannot be opened, or is a link or
  /// anything else but a regular file.
  RunLog(const std::filesystem::path& file, const jobs::LogSettings& settings, int party);

  /// A line that cannot be written is lost: a full disk ends the run elsewhere, with one error.
  void Write(jobs::LogLevel level, const std::string& text);

  /// The last lines that this object wrote to the file, at most 40, the newest last.
  [[nodiscard]] std::vector<std::string> LastLines() const;

 private:
  std::shared_ptr<spdlog::logger> logger_;
};

}  // namespace trefoil::runtime
