// A CSV file, with and without a header, in every dialect; also of teachers' labels and of votes.
#include "base/error.h"
#include "data/formats/csv_reader.h"
#include "tests/fuzz/table.h"
#include "tests/fuzz/votes.h"

namespace trefoil::fuzz::csv_target {
namespace {

data::DataSpec SpecWithHeader(bool header) {
  data::DataSpec spec;
  spec.format = data::Format::kCsv;
  spec.features = 4;
  spec.header = header;
  spec.columns = {{"a", data::ColumnKind::kNumber, 0.5, 2, {}, 0},
                  {"b", data::ColumnKind::kCategory, 0, 1, {"u", "v", "w"}, 0},
                  {"d", data::ColumnKind::kIgnore, 0, 1, {}, 0}};
  spec.label = {"c", {"n", "y"}, {{"no", "n"}}, 0};
  return spec;
}

/// Of every other kind of column and mark, in this dialect.
data::DataSpec SpecOfDialect(const data::CsvDialect& dialect) {
  data::DataSpec spec;
  spec.format = data::Format::kCsv;
  spec.dialect = dialect;
  spec.decimal = dialect.separator == ',' ? '.' : ',';
  spec.missing = {"", "NA"};
  spec.columns = {{.name = "d",
                   .kind = data::ColumnKind::kDate,
                   .values = {},
                   .date_format = "%d.%m.%Y %H:%M",
                   .origin = "2000-01-01",
                   .missing_indicator = true},
                  {.name = "b",
                   .kind = data::ColumnKind::kBin,
                   .values = {},
                   .missing = {{"-9"}},
                   .edges = {-1, 2.5},
                   .fill = "0"},
                  {.name = "n",
                   .kind = data::ColumnKind::kCategory,
                   .values = {"1", "2.5"},
                   .aliases = {{"\u00FC", "1"}},
                   .numeric = true}};
  spec.label = {.column = "c", .values = {"0", "1"}, .aliases = {}, .numeric = true};
  spec.features = data::CountFeatures(spec);
  return spec;
}

/// Together the records are the file, but for what the reader skips at its beginning and end.
void CheckRecords(const std::filesystem::path& path, std::size_t size, const data::CsvDialect& dialect) {
  data::CsvReader reader(path, dialect);
  std::size_t bytes = 0;
  std::size_t row = 0;
  while (reader.Next()) {
    Check(!reader.fields().empty(), "a record without fields");
    Check(reader.row() > row, "a record before the one before it");
    row = reader.row();
    bytes += reader.text().size();
  }
  Check(bytes <= size, "more bytes in records than in the file");
}

}  // namespace

void Read(std::span<const std::uint8_t> input) {
  const InputFile file(Text(input));
  const bool packed = input.size() > 1 && input[0] == 0x1F && input[1] == 0x8B;
  for (const bool header : {true, false})
    LoadTable(SpecWithHeader(header), {.x = {}, .y = {}, .file = file.path()});
  using data::CsvDialect;
  using data::Encoding;
  const CsvDialect dialects[] = {
      {}, {';', Encoding::kUtf8}, {'\t', Encoding::kLatin1}, {'|', Encoding::kWindows1252}};
  for (const auto& dialect : dialects) {
    LoadTable(SpecOfDialect(dialect), {.x = {}, .y = {}, .file = file.path()});
    ReadAs<DataError>([&] {
      if (!packed) CheckRecords(file.path(), input.size(), dialect);
    });
  }
  ReadVoteFiles(file.path());
}

const Target kTarget("csv", Read);

}  // namespace trefoil::fuzz::csv_target
