#pragma once
#include "jobs/config/fields.h"
#include "jobs/records/schema.h"

namespace trefoil::jobs {

/// The keys by which every type of job describes records and models of them: name, fraction_bits, [data] and [features],
/// with what they say about each other.
void RecordFields(FieldVisitor& v, RecordSchema& s, int default_fraction_bits);

/// For jobs whose parties hold whole rows with a class each: refuses vertical partitions, and targets.
void CheckHorizontal(FieldVisitor& v, const RecordSchema& s);

/// The keys of [features], for data as `data` declares it.
void FeatureFields(FieldVisitor& v, FeatureSpec& s, const data::DataSpec& data);

/// Checks what the keys of [data] say about each other. Throws ConfigError as the reader does.
void CheckDataRules(const data::DataSpec& spec, const Section& data);

/// Rows of the joint data.
[[nodiscard]] std::int64_t TotalRows(const data::DataSpec& spec);

}  // namespace trefoil::jobs
