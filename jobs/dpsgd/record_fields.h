#pragma once
#include "jobs/config/fields.h"
#include "jobs/dpsgd/settings.h"

namespace trefoil::jobs {

/// The keys by which every type of job describes records and models of them: name, fraction_bits, [data] and [features],
/// with what they say about each other.
void RecordFields(FieldVisitor& v, DpsgdSettings& s, int default_fraction_bits);

/// For jobs whose parties hold whole rows: refuses vertical partitions.
void CheckHorizontal(FieldVisitor& v, const DpsgdSettings& s);

/// The keys of [features], for data as `data` declares it.
void FeatureFields(FieldVisitor& v, FeatureSpec& s, const data::DataSpec& data);

/// Checks what the keys of [data] say about each other. Throws ConfigError as the reader does.
void CheckDataRules(const data::DataSpec& spec, const Section& data);

/// Checks what the keys of a training say about each other. Throws ConfigError as the reader does.
void CheckJobRules(const DpsgdSettings& job, const Section& document);

}  // namespace trefoil::jobs
