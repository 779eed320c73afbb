#pragma once
#include <filesystem>

#include "deposit/study.h"

namespace trefoil::apps {

/// Throws ConfigError unless the study names an inbox for each party.
void CheckInboxes(const deposit::Study& study);

/// Uploads the files of a deposit's folder to the parties' inboxes, but for those of which there is a
/// receipt, showing how far it is, and writes the receipts beside them. What one party refuses does not keep
/// the others from getting theirs. Returns the exit code: that of the first error, each of which is reported.
[[nodiscard]] int SendFiles(const std::filesystem::path& folder, const deposit::Study& study);

}  // namespace trefoil::apps
