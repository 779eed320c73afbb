#pragma once
#include "jobs/config/fields.h"
#include "jobs/records/schema.h"

namespace trefoil::jobs {

/// The keys of [data] that say whose the records are, and how many, of a type of job that may train on deposits.
void SourceFields(FieldVisitor& v, data::DataSpec& s, StoreSpec& store);

/// Refuses what records do not have that owners deposited. Throws ConfigError as the reader does.
void CheckSource(const RecordSchema& s, const Section& data);

}  // namespace trefoil::jobs
