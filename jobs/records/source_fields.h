#pragma once
#include <array>
#include <cstdint>
#include <functional>

#include "jobs/config/fields.h"
#include "jobs/records/schema.h"

namespace trefoil::jobs {

/// The key `source` of a job's table, about which `help` is said, and what says which deposits, where it is
/// the store: the study, their purpose (`purpose` by default), and what `more` declares.
void StoreFields(FieldVisitor& v, StoreSpec& store, const char* help, const char* purpose,
                 const std::function<void()>& more);

/// The keys of [data] that say whose the records are, and how many, of a type of job that may train on
/// deposits. `rows` are those of the parties, or {the capacities of all deposits, 0, 0}.
void SourceFields(FieldVisitor& v, std::array<std::int64_t, 3>& rows, StoreSpec& store);

/// Refuses a purpose of rows to predict, for a job that computes with what rows say. Throws ConfigError as
/// the reader does.
void CheckPurpose(const StoreSpec& store, const Section& data);

/// Refuses what records do not have that owners deposited. Throws ConfigError as the reader does.
void CheckSource(const RecordSchema& s, const Section& data);

}  // namespace trefoil::jobs
