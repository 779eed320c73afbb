#pragma once
#include "jobs/dpsgd/settings/settings.h"

namespace trefoil::jobs {

/// Checks what the keys of a training say about each other. Throws ConfigError as the reader does.
void CheckJobRules(const DpsgdSettings& job, const Section& document);

}  // namespace trefoil::jobs
