#pragma once
#include <string>

#include "jobs/records/schema.h"

namespace trefoil::apps {

/// What each owner hands in where owners deposit batches, and how many bytes that is, for people: three
/// lines. Pre: the records are those of batches.
[[nodiscard]] std::string BatchesText(const jobs::RecordSchema& records);

}  // namespace trefoil::apps
