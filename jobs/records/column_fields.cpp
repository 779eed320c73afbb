#include "jobs/records/column_fields.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <initializer_list>
#include <nlohmann/json.hpp>

#include "ml/plan/settings.h"

namespace trefoil::jobs {
namespace {

using data::ColumnKind;
using data::Encoding;
using data::Format;
using data::UnknownValue;
using Json = nlohmann::json;

const OneOf<ColumnKind>& Kinds() {
  static const OneOf<ColumnKind> kinds{{ColumnKind::kNumber, "number"}, {ColumnKind::kCategory, "category"},
                                       {ColumnKind::kText, "text"},     {ColumnKind::kIgnore, "ignore"},
                                       {ColumnKind::kKey, "key"},       {ColumnKind::kDate, "date"},
                                       {ColumnKind::kBin, "bin"},       {ColumnKind::kWeight, "weight"}};
  return kinds;
}

const OneOf<UnknownValue>& UnknownValues() {
  static const OneOf<UnknownValue> unknown{{UnknownValue::kError, "error"},
                                           {UnknownValue::kMissing, "missing"}};
  return unknown;
}

/// Marks of missing values: a text, or an array of texts.
struct Marks {
  [[nodiscard]] std::string Expected(const toml::node* /*found*/) const {
    return "a text in quotes, or an array of texts";
  }
  bool Read(const toml::node& node, std::vector<std::string>& member) const {
    std::string one;
    if (!Text{}.Read(node, one)) return Texts{}.Read(node, member);
    member = {one};
    return true;
  }
  void Write(const std::vector<std::string>& member, Json& json) const {
    json = member.size() == 1 ? Json(member[0]) : Json(member);
  }
  void Describe(Json& schema) const {
    Json several = Json::object();
    Texts{}.Describe(several);
    schema["oneOf"] = Json::array({Json::object({{"type", "string"}}), several});
  }
};

/// What a missing value is read as: a text, or a number for its shortest text.
struct Fill {
  [[nodiscard]] std::string Expected(const toml::node* /*found*/) const {
    return "a text in quotes, or a finite number";
  }
  bool Read(const toml::node& node, std::string& member) const {
    double number = 0;
    if (!kAnyNumber.Read(node, number)) return Text{}.Read(node, member);
    member = fmt::format("{}", number);
    return true;
  }
  void Write(const std::string& member, Json& json) const { json = member; }
  void Describe(Json& schema) const {
    schema["oneOf"] = Json::array({Json::object({{"type", "string"}}), Json::object({{"type", "number"}})});
  }
};

const OneOf<Encoding>& Encodings() {
  static const OneOf<Encoding> encodings{
      {Encoding::kUtf8, "utf-8"}, {Encoding::kLatin1, "latin-1"}, {Encoding::kWindows1252, "windows-1252"}};
  return encodings;
}

/// Who holds a column or the label.
void PartyField(FieldVisitor& v, int& party, bool vertical, const char* refusal = "") {
  v.When({vertical, "data.partition \"vertical\"", refusal}, [&] {
    v("party", party, WholeInterval{0, 2},
      "Who holds the column, which is not the key, or the label; columns of features come in the order of "
      "their parties.");
  });
}

void CheckFlaw(const Section& table, const std::optional<data::Flaw>& flaw) {
  if (flaw) table.Fail(flaw->key, fmt::format("found {}, expected {}", flaw->found, flaw->expected));
}

/// A condition on the kind of a column.
class OfKinds {
 public:
  explicit OfKinds(const data::Column& column) : column_(column) {}

  [[nodiscard]] Condition operator()(std::initializer_list<ColumnKind> kinds) const {
    std::vector<std::string> names;
    for (const auto kind : kinds) names.push_back(fmt::format("\"{}\"", Kinds().TextOf(kind)));
    const auto only = fmt::format("kind {}", fmt::join(names, " or "));
    return {std::find(kinds.begin(), kinds.end(), column_.kind) != kinds.end(), only,
            fmt::format("column \"{}\" is of kind \"{}\"; only {} has it", column_.name,
                        Kinds().TextOf(column_.kind), only)};
  }

 private:
  const data::Column& column_;
};

void MissingFields(FieldVisitor& v, data::Column& s) {
  const OfKinds of(s);
  using enum ColumnKind;
  v.When(of({kNumber, kCategory, kText, kDate, kBin}), [&] { MarksField(v, s); });
  v.When(of({kNumber, kCategory, kDate, kBin}), [&] {
    v("fill", s.fill, Fill{},
      "What a missing value is read as: a number, category or date as the job writes them; without it a "
      "number or date is its `mean`, and a category or bin has only zeros.");
    v("missing_indicator", s.missing_indicator, Flag{}, Default(false).LeftOut(),
      "One more feature behind the column's others: 1 where the value is missing.");
  });
}

void ColumnFields(FieldVisitor& v, data::Column& s, bool vertical, char decimal) {
  v("name", s.name, Text{}, "Unique.");
  v("kind", s.kind, Kinds(), Default(ColumnKind::kNumber),
    "`text`, which `features.method = \"hash-text\"` makes features of; `key`, by which vertical parties "
    "match rows: exactly one there, in every party's file; or whose equal texts are a group "
    "(`privacy.unit`); `date`: a number of days; `bin`: between which edges a number lies; `weight`: by what "
    "a "
    "training multiplies the record's error (`tables.md`, \"Weights of records\"), in jobs of type `dpsgd` "
    "alone.");
  const OfKinds of(s);
  v.When(of({ColumnKind::kNumber, ColumnKind::kDate}), [&] {
    v("mean", s.mean, kAnyNumber, Default(0.0), "(value − mean)/scale; of a date in days.");
    v("scale", s.scale, kPositive, Default(1.0), "As for `mean`.");
  });
  v.When(of({ColumnKind::kNumber}), [&] {
    v("range", s.private_range, OneOf<bool>{{false, "declared"}, {true, "private"}}, Default(false).LeftOut(),
      "`declared`: by `low` and `high`, where they are there; `private`, in jobs of type `dpsgd` alone and "
      "for 3891 columns at most: a training with `features.standardise` finds both in the records, by counts "
      "with noise, which open to the three parties and are charged (`tables.md`, \"Ranges that nobody "
      "knows\").");
    v.When({!s.private_range, "range \"declared\"",
            fmt::format("column \"{}\": found it beside range \"private\", which finds it", s.name)},
           [&] {
             v("low", s.low, kAnyNumber, "A smaller number counts as this one, wherever records are read.");
             v("high", s.high, kAnyNumber, "A larger one counts as this one.");
           });
  });
  v.When(of({ColumnKind::kWeight}), [&] {
    v("largest", s.largest, Interval{.least = ml::kMinRecordWeightBound, .most = ml::kMaxRecordWeightBound},
      Default(1.0),
      "The largest weight there may be, public as all of the job. What is above it, below 0 or "
      "missing is an error.");
  });
  v.When(of({ColumnKind::kCategory}), [&] {
    CategoryFields(v, s, "One 0/1 feature each.");
    v("unknown", s.unknown, UnknownValues(), Default(UnknownValue::kError).LeftOut(),
      "What a text that is none of `values` and their aliases is: an error, or a missing value. With "
      "`missing` "
      "a misspelt one counts as missing, too.");
  });
  v.When(of({ColumnKind::kDate}), [&] {
    v("format", s.date_format, Text{},
      "How dates are written: `%Y`, `%m` and `%d` once each, as in `%d.%m.%Y`; also `%H`, `%M`, `%S`. All "
      "else stands for itself.");
    v("origin", s.origin, Text{}, "The day 0, as in `2000-01-31`.");
  });
  v.When(of({ColumnKind::kBin}), [&] {
    v("edges", s.edges, Ascending{kAnyNumber},
      "Ascending numbers; k of them make k + 1 features, of which one is 1: numbers below the first edge, "
      "from the first to below the second, and so on.");
  });
  MissingFields(v, s);
  v.Check([&](const Section& table) { CheckFlaw(table, data::FlawOf(s, decimal)); });
  const bool key = s.kind == ColumnKind::kKey;
  PartyField(v, s.party, vertical && !key, key ? "all parties hold the key" : "");
}

}  // namespace

void TargetFields(FieldVisitor& v, data::TargetRange& range, data::DataSpec& s) {
  const bool csv = s.format == Format::kCsv;
  v.When({csv, "data.format \"csv\"", "only data.format \"csv\" has columns; of others y has the targets"},
         [&] {
           v("column", s.label.column, Text{}, "The target's column.");
           PartyField(v, s.label.party, s.vertical);
         });
  v("low", range.low, kAnyNumber,
    "The smallest target there may be, public as all of the job. Others are an error.");
  v("high", range.high, kAnyNumber, "The largest one.");
  v.Check([&](const Section& table) {
    if (const auto expected = data::FlawOf(range)) table.Refuse("high", *expected);
  });
}

void CsvFields(FieldVisitor& v, data::DataSpec& s) {
  DialectFields(v, s);
  v.Tables("column", "The file's columns.", s.columns,
           [&](data::Column& one) { ColumnFields(v, one, s.vertical, s.decimal); });
  v.Check([&](const Section& table) {
    if (s.columns.empty()) table.Refuse("column", "one [[data.column]] for each column of the file");
  });
}

void LabelFields(FieldVisitor& v, data::DataSpec& s) {
  auto& label = s.label;
  const Condition csv{s.format == Format::kCsv, "data.format \"csv\"",
                      "of data.format \"images\" folders are named by the values alone"};
  v.When(csv, [&] { v("column", label.column, Text{}, "The label's column."); });
  v("values", label.values, Texts{},
    "Value number k is class k; as many as `classes`. Of images a value is the name of a folder.");
  v.When(csv, [&] {
    v("aliases", label.aliases, "Another spelling, and the value that it is read as.");
    v("numeric", label.numeric, Flag{}, Default(false).LeftOut(),
      "Texts of equal numbers are one value, as for a category.");
    v.Check([&](const Section& table) { CheckFlaw(table, data::FlawOf(label, s.decimal)); });
  });
  PartyField(v, label.party, s.vertical);
}

void HeaderField(FieldVisitor& v, data::DataSpec& s) {
  v("header", s.header, Flag{}, Default(true), "Whether the file's first line names its columns.");
}

void DialectFields(FieldVisitor& v, data::DataSpec& s) {
  v("missing", s.missing, Marks{}, Default(std::vector<std::string>{"?"}),
    "Mark of a missing value, or several; compared as a text.");
  v("separator", s.dialect.separator, OneOf<char>{{',', ","}, {';', ";"}, {'\t', "tab"}, {'|', "|"}},
    Default(',').LeftOut(), "What stands between fields.");
  v("decimal", s.decimal, OneOf<char>{{'.', "."}, {',', ","}}, Default('.').LeftOut(),
    "What stands before the decimals of the file's numbers. The job's own have a point.");
  v("encoding", s.dialect.encoding, Encodings(),
    "A file with other bytes is refused; a byte order mark of UTF-8 at its start counts more. Without it "
    "bytes are taken as they are.");
}

void CategoryFields(FieldVisitor& v, data::Column& s, const char* values) {
  v("values", s.values, Texts{}, values);
  v("aliases", s.aliases, LeftOutEmpty{}, "Another text, and the value that it is read as.");
  v("numeric", s.numeric, Flag{}, Default(false).LeftOut(),
    "Texts of equal numbers are one value: `1`, `01` and `1.0`. All `values` are numbers then.");
}

const char* KindText(data::ColumnKind kind) { return Kinds().TextOf(kind); }

void MarksField(FieldVisitor& v, data::Column& s) {
  v("missing", s.missing, Marks{},
    "Marks of a missing value in this column, a text or several; without it `data.missing`. A mark that is "
    "a number is met however it is written, where the column has numbers.");
}

}  // namespace trefoil::jobs
