#pragma once
#include "jobs/config/fields.h"
#include "jobs/records/schema.h"

namespace trefoil::jobs {

/// The keys of [data] that say whose the records are, and how many, of a type of job that may train on deposits.
void SourceFields(FieldVisitor& v, data::DataSpec& s, StoreSpec& store);

}  // namespace trefoil::jobs
