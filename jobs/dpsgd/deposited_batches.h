#pragma once
#include <optional>

#include "jobs/config/fields.h"
#include "jobs/dpsgd/settings/settings.h"

namespace trefoil::jobs {

/// The keys of [batches]: for privacy.sampling "deposited", where owners draw the batches of one run and
/// deposit them.
void BatchesFields(FieldVisitor& v, std::optional<BatchSpec>& s);

/// What these keys and the rest of the job say about each other. Throws ConfigError as the reader does.
void CheckBatches(const DpsgdSettings& job, const Section& document);

/// Fills in what an owner is told of its batches beside the keys of [batches]. Throws as SettingsOf. Pre: the
/// job is checked. Does nothing where it has none.
void CompleteBatches(DpsgdSettings& job);

}  // namespace trefoil::jobs
