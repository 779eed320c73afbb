#include "jobs/records/record_fields.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>
#include <set>

#include "jobs/config/common_fields.h"

namespace trefoil::jobs {
namespace {

using data::ColumnKind;
using data::Format;

const OneOf<Format>& Formats() {
  static const OneOf<Format> formats{{Format::kIdx, "idx"},
                                     {Format::kCsv, "csv"},
                                     {Format::kNpy, "npy"},
                                     {Format::kNpz, "npz"},
                                     {Format::kCifar, "cifar"}};
  return formats;
}

const OneOf<ColumnKind>& Kinds() {
  static const OneOf<ColumnKind> kinds{{ColumnKind::kNumber, "number"},
                                       {ColumnKind::kCategory, "category"},
                                       {ColumnKind::kText, "text"},
                                       {ColumnKind::kIgnore, "ignore"},
                                       {ColumnKind::kKey, "key"}};
  return kinds;
}

/// Who holds a column or the label.
void PartyField(FieldVisitor& v, int& party, bool vertical, const char* refusal = "") {
  v.When({vertical, "data.partition \"vertical\"", refusal}, [&] {
    v("party", party, WholeInterval{0, 2},
      "Who holds it; columns of features come in the order of their parties.");
  });
}

void RefuseWeights(const Section& table, const std::string& column) {
  const auto* kind = table.Find("kind");
  if (kind == nullptr || kind->value<std::string>() != "weight") return;
  table.Fail("kind", fmt::format("column \"{}\": examples have no weights, which would multiply what a "
                                 "record may add to a sum; expected kind \"ignore\", or rows left out",
                                 column));
}

void ColumnFields(FieldVisitor& v, data::Column& s, bool vertical) {
  v("name", s.name, Text{}, "Unique.");
  v.Check([&](const Section& table) { RefuseWeights(table, s.name); });
  v("kind", s.kind, Kinds(), Default(ColumnKind::kNumber),
    "`text`, which `features.method = \"hash-text\"` makes features of; `key`, by which vertical parties "
    "match rows: exactly one there, in every party's file; or whose equal texts are a group "
    "(`privacy.unit`).");
  const auto of = [&](ColumnKind kind) {
    return Condition{s.kind == kind, fmt::format("kind \"{}\"", Kinds().TextOf(kind)),
                     fmt::format("column \"{}\" is of kind \"{}\"; only kind \"{}\" has it", s.name,
                                 Kinds().TextOf(s.kind), Kinds().TextOf(kind))};
  };
  v.When(of(ColumnKind::kNumber), [&] {
    v("mean", s.mean, kAnyNumber, Default(0.0), "(value − mean)/scale.");
    v("scale", s.scale, kPositive, Default(1.0), "As for `mean`.");
  });
  v.When(of(ColumnKind::kCategory), [&] { v("values", s.values, Texts{}, "One 0/1 feature each."); });
  const bool key = s.kind == ColumnKind::kKey;
  PartyField(v, s.party, vertical && !key, key ? "all parties hold the key" : "");
}

void LabelFields(FieldVisitor& v, data::Label& s, bool vertical) {
  v("column", s.column, Text{}, "The label's column.");
  v("values", s.values, Texts{}, "Value number k is class k; as many as `classes`.");
  v("aliases", s.aliases, "Another spelling, and the value that it is read as.");
  PartyField(v, s.party, vertical);
}

void CsvFields(FieldVisitor& v, data::DataSpec& s) {
  v("header", s.header, Flag{}, Default(true), "Whether the file's first line names its columns.");
  v("missing", s.missing, Text{}, Default(std::string("?")), "Mark of a missing value.");
  v.Tables("column", "The file's columns.", s.columns,
           [&](data::Column& one) { ColumnFields(v, one, s.vertical); });
  v.Check([&](const Section& table) {
    if (s.columns.empty()) table.Refuse("column", "one [[data.column]] for each column of the file");
  });
  v.Table("label", "The label of a record.", [&] { LabelFields(v, s.label, s.vertical); });
}

void DataFields(FieldVisitor& v, data::DataSpec& s) {
  v("name", s.name, Name{}, "A name; where `local` looks. `digits`: generated, if no folder is found.");
  v("format", s.format, Formats(), "The format of the files.");
  RowsField(v, s.rows);
  v("classes", s.classes, WholeInterval{2, 1000}, "With 2, one output column.");
  const bool csv = s.format == Format::kCsv;
  const bool cifar = s.format == Format::kCifar;
  v.When(
      {!csv, "another data.format than \"csv\"", "each [[data.column]] has its own scale in format \"csv\""},
      [&] { v("scale", s.scale, kPositive, Default(1.0), "Values are divided by it."); });
  v("partition", s.vertical, OneOf<bool>{{false, "horizontal"}, {true, "vertical"}}, Default(false),
    "`horizontal`: each party has rows of its own; `vertical` (csv only): each party has other columns of "
    "the same rows. Then `rows` is the same number three times, `features.method` and "
    "`initialisation.method` are `none`, `sampling` is `public`, and there is no `[evaluation]`.");
  v.When({csv, "data.format \"csv\"",
          fmt::format("only format \"csv\" has it, and data.format is \"{}\"", Formats().TextOf(s.format))},
         [&] { CsvFields(v, s); });
  v.Check([&](const Section& table) {
    if (s.vertical && !csv)
      table.Fail("partition",
                 "found \"vertical\", which has a key column, expected data.format \"csv\" with it");
  });
  v("features", s.features, WholeInterval{csv ? 0 : 1, 1'000'000},
    Default(cifar ? data::kCifarImage.values() : data::CountFeatures(s))
        .Said("csv: what the columns give; cifar: 3072")
        .Unless(!csv && !cifar),
    "Numbers of a record.");
  v.Check([&](const Section& table) {
    if (cifar && s.features != data::kCifarImage.values())
      table.Refuse("features", "3072, what data.format \"cifar\" has");
  });
}

/// The first text that occurs twice, or nothing.
std::optional<std::string> Repeated(const std::vector<std::string>& texts) {
  std::set<std::string> seen;
  for (const auto& text : texts) {
    if (!seen.insert(text).second) return text;
  }
  return {};
}

void CheckLabel(const data::DataSpec& spec, const Section& section) {
  const auto& label = spec.label;
  if (static_cast<int>(label.values.size()) != spec.classes) {
    section.Refuse("values", fmt::format("as many values as data.classes ({})", spec.classes));
  }
  if (const auto twice = Repeated(label.values))
    section.Fail("values", fmt::format("\"{}\" occurs twice", *twice));
  const auto aliases = section.Table("aliases");
  for (const auto& [alias, value] : label.aliases) {
    if (std::find(label.values.begin(), label.values.end(), value) == label.values.end()) {
      aliases.Refuse(alias, "one of data.label.values");
    }
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
    if (const auto twice = Repeated(column.values)) {
      section.Fail("column",
                   fmt::format("column \"{}\": the value \"{}\" occurs twice", column.name, *twice));
    }
  }
  if (const auto twice = Repeated(names))
    section.Fail("column", fmt::format("the column \"{}\" occurs twice", *twice));
  if (features == 0 && data::CountTexts(spec) == 0)
    section.Fail("column", "all columns are ignored, expected at least one feature");
  if (spec.features != features) {
    section.Refuse("features", fmt::format("{}, which is what the columns give", features));
  }
  CheckLabel(spec, section.Table("label"));
}

}  // namespace

std::int64_t TotalRows(const data::DataSpec& spec) {
  if (spec.vertical) return spec.rows[0];
  return std::accumulate(spec.rows.begin(), spec.rows.end(), std::int64_t{0});
}

void CheckDataRules(const data::DataSpec& spec, const Section& data) {
  if (TotalRows(spec) == 0) data.Refuse("rows", "at least one row in all");
  if (spec.format == data::Format::kCsv) CheckCsv(spec, data);
}

void RecordFields(FieldVisitor& v, RecordSchema& s, int default_fraction_bits) {
  NameField(v, s.name);
  v("fraction_bits", s.fraction_bits, WholeInterval{8, 24}, Default(default_fraction_bits),
    "Bits behind the point of what is shared.");
  v.Table("data", "The records.", [&] { DataFields(v, s.data); });
  v.Table("features", "What is made of records before they are shared.",
          [&] { FeatureFields(v, s.features, s.data); });
  s.data.image = s.features.extraction.image;
  v.Check([&](const Section& document) { CheckDataRules(s.data, document.Table("data")); });
}

void CheckHorizontal(FieldVisitor& v, const RecordSchema& s) {
  v.Check([&](const Section& document) {
    if (s.data.vertical) document.Table("data").Refuse("partition", "\"horizontal\" in a job of this type");
  });
}

void Fields(FieldVisitor& v, RecordSchema& s) {
  TypeFields(v, s.type.c_str());
  RecordFields(v, s, 16);
  CheckHorizontal(v, s);
}

std::int64_t TrainedFeatures(const RecordSchema& schema) {
  return data::ExtractedColumns(schema.features.extraction, schema.data.features);
}

std::string FeatureModelOf(const RecordSchema& schema) {
  const auto& features = schema.features.extraction;
  return features.method == data::FeatureMethod::kOnnx ? features.onnx.model_sha256 : "";
}

}  // namespace trefoil::jobs
