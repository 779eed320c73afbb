#pragma once
#include "data/dataset/spec.h"
#include "jobs/config/fields.h"

// The keys by which [data] describes a table: its columns, their values, and how a CSV file is written.

namespace trefoil::jobs {

/// Whether a CSV file names its columns.
void HeaderField(FieldVisitor& v, data::DataSpec& s);

/// The other keys of [data] that say how a CSV file is written.
void DialectFields(FieldVisitor& v, data::DataSpec& s);

/// These, and the columns of a table, in jobs that read records.
void CsvFields(FieldVisitor& v, data::DataSpec& s);

/// The keys of [data.label], of a table or of images in folders.
void LabelFields(FieldVisitor& v, data::DataSpec& s);

/// The keys of [data.target].
void TargetFields(FieldVisitor& v, data::TargetRange& range, data::DataSpec& s);

/// The keys of a column that say what values a category has; `values` is the line of help for these.
void CategoryFields(FieldVisitor& v, data::Column& s, const char* values);

/// A kind of column as a job writes it.
[[nodiscard]] const char* KindText(data::ColumnKind kind);

/// The key of a column that says how a missing value is written.
void MarksField(FieldVisitor& v, data::Column& s);

}  // namespace trefoil::jobs
