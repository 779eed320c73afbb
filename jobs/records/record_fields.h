#pragma once
#include "jobs/config/fields.h"
#include "jobs/records/schema.h"

namespace trefoil::jobs {

/// Where records of a type of job may come from.
enum class RecordSources { kFiles, kFilesOrStore };

/// The keys by which every type of job describes records and models of them: name, fraction_bits, [data] and
/// [features], with what they say about each other, in a job with this use of them.
void RecordFields(FieldVisitor& v, RecordSchema& s, int default_fraction_bits,
                  RecordUse use = RecordUse::kOther, RecordSources sources = RecordSources::kFiles);

/// The same keys for a type of job that takes deposits as RecordFields describes them, and of the parties'
/// own files some table (csv) of its own: with data.source "files" there are of these keys only name and, in
/// [data], name, format, rows and header, and beside them those that `of_table` declares, which are refused
/// of deposits.
void DepositsOrTableFields(FieldVisitor& v, RecordSchema& s, int default_fraction_bits,
                           const FieldVisitor::Part& of_table);

/// Those of [data] and [features] where records are described alone, by whomever they are brought and however
/// many: [columns] in place of [data], without its name, rows and partition. Texts of errors name keys as a
/// job does.
void ColumnsFields(FieldVisitor& v, RecordSchema& s);

/// For jobs whose parties hold whole rows with a class each: refuses vertical partitions, and targets.
void CheckHorizontal(FieldVisitor& v, const RecordSchema& s);

/// For a vertical partition: one key column, each party's columns behind those of the parties before it, the
/// same rows at all three, nothing extracted.
void CheckColumnsOfParties(const RecordSchema& s, const Section& document);

/// The keys of [features], for data as `data` declares it, in a job with this use of records.
void FeatureFields(FieldVisitor& v, FeatureSpec& s, const data::DataSpec& data,
                   RecordUse use = RecordUse::kOther);

/// The first text that occurs twice, or nothing.
[[nodiscard]] std::optional<std::string> Repeated(const std::vector<std::string>& texts);

/// Checks what the keys of [data] say about each other. Throws ConfigError as the reader does.
void CheckDataRules(const data::DataSpec& spec, const Section& data);

/// Rows of the joint data.
[[nodiscard]] std::int64_t TotalRows(const data::DataSpec& spec);

}  // namespace trefoil::jobs
