#include "jobs/records/record_fields.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>
#include <set>

#include "jobs/config/common_fields.h"
#include "jobs/records/column_fields.h"
#include "jobs/records/source_fields.h"

namespace trefoil::jobs {
namespace {

using data::ColumnKind;
using data::Format;

const OneOf<Format>& Formats() {
  static const OneOf<Format> formats{{Format::kIdx, "idx"},     {Format::kCsv, "csv"},
                                     {Format::kNpy, "npy"},     {Format::kNpz, "npz"},
                                     {Format::kCifar, "cifar"}, {Format::kImages, "images"}};
  return formats;
}

Condition IsCsv(const data::DataSpec& s) {
  return {s.format == Format::kCsv, "data.format \"csv\"",
          fmt::format("only format \"csv\" has it, and data.format is \"{}\"", Formats().TextOf(s.format))};
}

/// data.features. Columns of texts alone have none, which the schema, for any format, allows.
struct FeatureCount : WholeInterval {
  explicit FeatureCount(bool csv) : WholeInterval{csv ? 0 : 1, 1'000'000} {}
  void Describe(nlohmann::json& schema) const { FeatureCount(true).WholeInterval::Describe(schema); }
};

/// What is in files, behind their header. Of a job, or where not `of_job` of records alone.
void ContentFields(FieldVisitor& v, data::DataSpec& s, bool of_job) {
  bool target = s.target.has_value();
  v.Check([&](const Section& table) {
    target = table.Has("target");
  });  // which is read behind what it depends on
  v.When({!target, "no [data.target]", "found it beside [data.target], whose records have no classes"}, [&] {
    v("classes", s.classes, WholeInterval{2, 1000}, "With 2, one output column.");
  });
  const bool csv = s.format == Format::kCsv;
  const bool cifar = s.format == Format::kCifar;
  const bool images = s.format == Format::kImages;
  v.When(
      {!csv, "another data.format than \"csv\"", "each [[data.column]] has its own scale in format \"csv\""},
      [&] { v("scale", s.scale, kPositive, Default(1.0), "Values are divided by it."); });
  if (of_job) {
    v("partition", s.vertical, OneOf<bool>{{false, "horizontal"}, {true, "vertical"}}, Default(false),
      "`horizontal`: each party has rows of its own; `vertical` (csv only): each party has other columns of "
      "the same rows. Then `rows` is the same number three times and `features.method` is `none`; a training "
      "has "
      "`initialisation.method` `none`, `sampling` `public`, and no `[evaluation]`.");
  }
  v.Table("target", "The number that a model is to predict, in place of `classes` and [data.label].",
          s.target, [&](data::TargetRange& range) { TargetFields(v, range, s); });
  v.When(IsCsv(s), [&] { CsvFields(v, s); });
  v.When({csv || images, "data.format \"csv\" or \"images\"",
          fmt::format("only formats \"csv\" and \"images\" have it, and data.format is \"{}\"",
                      Formats().TextOf(s.format))},
         [&] {
           v.When({!s.target, "no [data.target]",
                   "found it beside [data.target], which has the target's column"},
                  [&] { v.Table("label", "The label of a record.", [&] { LabelFields(v, s); }); });
         });
  v.Check([&](const Section& table) {
    if (s.vertical && !csv)
      table.Fail("partition",
                 "found \"vertical\", which has a key column, expected data.format \"csv\" with it");
  });
  v("features", s.features, FeatureCount(csv),
    Default(cifar ? data::kCifarImage.values() : data::CountFeatures(s))
        .Said("csv: what the columns give; cifar: 3072")
        .Unless(!csv && !cifar),
    "Numbers of a record; 0 of csv with columns of kind `text` alone.");
  v.Check([&](const Section& table) {
    if ((cifar || images) && s.target)
      table.Fail("target",
                 fmt::format("found it, but data.format \"{}\" has classes", Formats().TextOf(s.format)));
    if (cifar && s.features != data::kCifarImage.values())
      table.Refuse("features", "3072, what data.format \"cifar\" has");
  });
}

/// Of a job, or where not `of_job` of records alone: without their name, whose they are and how many.
/// `store`: of a job that may have one.
void DataFields(FieldVisitor& v, data::DataSpec& s, bool of_job, StoreSpec* store = nullptr) {
  if (of_job)
    v("name", s.name, Name{}, "A name; where `local` looks. `digits`: generated, if no folder is found.");
  v("format", s.format, Formats(), "The format of the files (\"Data\" in `formats.md`).");
  if (store != nullptr) {
    SourceFields(v, s.rows, *store);
  } else if (of_job) {
    RowsField(v, s.rows);
  }
  v.When(IsCsv(s), [&] { HeaderField(v, s); });
  ContentFields(v, s, of_job);
}

void CheckLabel(const data::DataSpec& spec, const Section& section) {
  const auto& label = spec.label;
  if (static_cast<int>(label.values.size()) != spec.classes)
    section.Refuse("values", fmt::format("as many values as data.classes ({})", spec.classes));
  if (const auto twice = Repeated(label.values))
    section.Fail("values", fmt::format("\"{}\" occurs twice, expected it once", *twice));
  if (spec.format == Format::kImages) {
    for (const auto& name : label.values) {
      if (!data::IsFolderName(name)) section.Refuse("values", data::kFolderNames);
    }
    return;
  }
  const auto aliases = section.Table("aliases");
  for (const auto& [alias, value] : label.aliases) {
    if (std::find(label.values.begin(), label.values.end(), value) == label.values.end())
      aliases.Refuse(alias, "one of data.label.values");
  }
}

void CheckCsv(const data::DataSpec& spec, const Section& section) {
  std::vector<std::string> names;
  const auto features = data::CountFeatures(spec);
  for (const auto& column : spec.columns) {
    names.push_back(column.name);
    if (column.kind != data::ColumnKind::kCategory) continue;
    if (column.values.empty())
      section.Fail("column", fmt::format("column \"{}\" has no values", column.name));
    if (const auto twice = Repeated(column.values))
      section.Fail("column", fmt::format("column \"{}\": the value \"{}\" occurs twice, expected it once",
                                         column.name, *twice));
  }
  if (const auto twice = Repeated(names))
    section.Fail("column", fmt::format("the column \"{}\" occurs twice, expected it once", *twice));
  if (features == 0 && data::CountTexts(spec) == 0)
    section.Fail("column", "all columns are ignored, expected at least one feature");
  if (spec.features != features)
    section.Refuse("features", fmt::format("{}, which is what the columns give", features));
  if (!spec.target) CheckLabel(spec, section.Table("label"));
}

void CheckWeightColumn(const data::DataSpec& spec, const Section& data, RecordUse use) {
  for (const auto& column : spec.columns) {
    if (column.kind != ColumnKind::kWeight) continue;
    const char* cause = use != RecordUse::kTrained            ? "only jobs of type \"dpsgd\" have weights"
                        : &column != data::WeightColumn(spec) ? "another column has the weights"
                        : column.name == spec.label.column    ? "it is the label's"
                        : spec.vertical && column.party != spec.label.party ? "another party holds the label"
                                                                            : nullptr;
    if (cause != nullptr)
      data.Fail("column", fmt::format("column \"{}\": found kind \"weight\", expected another, as {}",
                                      column.name, cause));
  }
}

/// Ranges are found before columns are standardised, or not at all.
void CheckPrivateRanges(const RecordSchema& s, const Section& data) {
  const bool found = s.features.standardise.on && s.features.extraction.method == data::FeatureMethod::kNone;
  for (const auto& column : s.data.columns) {
    if (column.private_range && (!found || column.name == s.data.label.column))
      data.Fail("column", fmt::format("column \"{}\": found range \"private\", expected \"declared\" but for "
                                      "features of a job with features.standardise \"private\" and no "
                                      "features.method",
                                      column.name));
  }
}

void CheckRecordRules(const RecordSchema& s, const Section& document) {
  const auto data = document.Table("data");
  CheckDataRules(s.data, data);
  CheckWeightColumn(s.data, data, s.use);
  CheckPrivateRanges(s, data);
  CheckSource(s, data);
}

/// fraction_bits of a job.
void BitsField(FieldVisitor& v, RecordSchema& s, int fallback) {
  v("fraction_bits", s.fraction_bits, WholeInterval{8, 24}, Default(fallback),
    "Bits behind the point of what is shared.");
}

/// [features].
void FeaturesTable(FieldVisitor& v, RecordSchema& s) {
  v.Table("features", "What is made of records before they are shared.",
          [&] { FeatureFields(v, s.features, s.data, s.use); });
  s.data.image = s.features.extraction.image;
}

}  // namespace

std::optional<std::string> Repeated(const std::vector<std::string>& texts) {
  std::set<std::string> seen;
  for (const auto& text : texts) {
    if (!seen.insert(text).second) return text;
  }
  return {};
}

void CheckColumnsOfParties(const RecordSchema& s, const Section& document) {
  const auto data = document.Table("data");
  std::int64_t keys = 0;
  int party = 0;
  for (const auto& column : s.data.columns) {
    if (column.kind == data::ColumnKind::kKey) ++keys;
    if (data::WidthOf(column) == 0 || column.name == s.data.label.column) continue;
    if (column.party < party)
      data.Fail("column", fmt::format("column \"{}\" of party {} comes after one of party {}; a row is made "
                                      "of party 0's columns, then 1's, then 2's",
                                      column.name, column.party, party));
    party = column.party;
  }
  if (keys != 1)
    data.Fail(
        "column",
        fmt::format("found {} columns of kind \"key\", expected one, by which the parties' rows are matched",
                    keys));
  const auto& rows = s.data.rows;
  if (rows[0] != rows[1] || rows[0] != rows[2])
    data.Refuse("rows", "the same number three times, as all parties hold the same rows");
  if (s.features.extraction.method != data::FeatureMethod::kNone)
    document.Table("features").Refuse("method", "\"none\" with data.partition \"vertical\"");
}

std::int64_t TotalRows(const data::DataSpec& spec) {
  if (spec.vertical) return spec.rows[0];
  return std::accumulate(spec.rows.begin(), spec.rows.end(), std::int64_t{0});
}

void CheckDataRules(const data::DataSpec& spec, const Section& data) {
  if (TotalRows(spec) == 0) data.Refuse("rows", "at least one row in all");
  if (spec.format == Format::kCsv) CheckCsv(spec, data);
  if (spec.format == Format::kImages) CheckLabel(spec, data.Table("label"));
}

void RecordFields(FieldVisitor& v, RecordSchema& s, int default_fraction_bits, RecordUse use,
                  RecordSources sources) {
  s.use = use;
  NameField(v, s.name);
  BitsField(v, s, default_fraction_bits);
  v.Table("data", "The records.",
          [&] { DataFields(v, s.data, true, sources == RecordSources::kFilesOrStore ? &s.store : nullptr); });
  FeaturesTable(v, s);
  v.Check([&](const Section& document) { CheckRecordRules(s, document); });
}

void DepositsOrTableFields(FieldVisitor& v, RecordSchema& s, int default_fraction_bits,
                           const FieldVisitor::Part& of_table) {
  // The key that the conditions depend on is read first.
  const auto of_store = [&] { return Condition{s.store.on, "data.source \"store\""}; };
  NameField(v, s.name);
  v.Table("data", "The records.", [&] {
    v("name", s.data.name, Name{}, "A name; where `local` looks.");
    v("format", s.data.format, Formats(),
      "The format of the files (\"Data\" in `formats.md`); `csv` with data.source \"files\".");
    SourceFields(v, s.data.rows, s.store);
    v.Check([&](const Section& data) {
      if (!s.store.on && s.data.format != Format::kCsv)
        data.Refuse("format", "\"csv\" with data.source \"files\"");
    });
    v.When(IsCsv(s.data), [&] { HeaderField(v, s.data); });
    v.When({!s.store.on, "data.source \"files\""}, of_table);
    v.When(of_store(), [&] { ContentFields(v, s.data, true); });
  });
  v.When(of_store(), [&] {
    BitsField(v, s, default_fraction_bits);
    FeaturesTable(v, s);
    v.Check([&](const Section& document) { CheckRecordRules(s, document); });
  });
}

void ColumnsFields(FieldVisitor& v, RecordSchema& s) {
  v.Table("columns", "The records, as `[data]` of a job has them.", [&] { DataFields(v, s.data, false); });
  FeaturesTable(v, s);
  v.Check([&](const Section& document) {
    if (s.data.format == Format::kCsv) CheckCsv(s.data, document.Table("columns"));
    if (s.data.format == Format::kImages) CheckLabel(s.data, document.Table("columns").Table("label"));
    CheckWeightColumn(s.data, document.Table("columns"), RecordUse::kOther);
    CheckPrivateRanges(s, document.Table("columns"));
  });
}

void CheckHorizontal(FieldVisitor& v, const RecordSchema& s) {
  v.Check([&](const Section& document) {
    if (s.data.vertical) document.Table("data").Refuse("partition", "\"horizontal\" in a job of this type");
    if (s.data.target)
      document.Table("data").Fail("target", "found it in a job of this type, whose records have classes");
  });
}

void Fields(FieldVisitor& v, RecordSchema& s) {
  TypeFields(v, s.type.c_str());
  RecordFields(v, s, 16);
  v.Check([&](const Section& document) {
    if (s.data.vertical) CheckColumnsOfParties(s, document);
  });
}

std::int64_t TrainedFeatures(const RecordSchema& schema) {
  return data::ExtractedColumns(schema.features.extraction, schema.data.features);
}

std::string FeatureModelOf(const RecordSchema& schema) {
  const auto& features = schema.features.extraction;
  return features.method == data::FeatureMethod::kOnnx ? features.onnx.model_sha256 : "";
}

}  // namespace trefoil::jobs
