#pragma once
#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "data/columns/target.h"
#include "data/features/image.h"
#include "data/formats/cifar.h"
#include "data/formats/csv_reader.h"

namespace trefoil::data {

enum class Format { kIdx, kCsv, kNpy, kNpz, kCifar, kImages };
/// Whether features and labels lie in two files.
[[nodiscard]] constexpr bool HasLabelFile(Format format) {
  return format == Format::kIdx || format == Format::kNpy;
}

enum class ColumnKind { kNumber, kCategory, kText, kIgnore, kKey, kDate, kBin, kWeight };

/// What a category that is none of the declared ones is.
enum class UnknownValue { kError, kMissing };

/// One column of a CSV file, and what becomes of it: a number, moved into its range first, (value - mean) /
/// scale, the same of a date's days since the origin, one 0/1 feature per declared category or per bin that a
/// number may lie in, a text, from which features are to be extracted, the key by which all parties know a
/// row, or the weight of the record in a training. Means, scales, ranges,
/// categories, edges and all else here are public constants of the job.
struct Column {
  std::string name;
  ColumnKind kind = ColumnKind::kNumber;
  double mean = 0.0;
  double scale = 1.0;
  std::vector<std::string> values;
  int party = 0;                                      ///< vertical: who holds it
  std::map<std::string, std::string> aliases{};       ///< category: another text of a value
  bool numeric = false;                               ///< category: texts of equal numbers are one value
  UnknownValue unknown = UnknownValue::kError;        ///< category
  std::optional<std::vector<std::string>> missing{};  ///< marks of a missing value; empty: the spec's
  std::vector<double> edges{};                        ///< bin: ascending; a value on an edge is above it
  std::string date_format{};                          ///< date: as IsDateFormat() takes it
  std::string origin{};                               ///< date: the day 0, YYYY-MM-DD
  std::optional<std::string> fill{};                  ///< what a missing value is read as; empty: zeros
  bool missing_indicator = false;                     ///< one more feature, 1 where the value is missing
  std::optional<double> low{};                        ///< number: smaller ones count as this one
  std::optional<double> high{};                       ///< likewise larger ones
  bool private_range = false;                         ///< number: a training finds low and high
  double largest = 1;                                 ///< weight: what it is at most; it is 0 at least
};

/// Columns of the matrix that a column makes.
[[nodiscard]] std::int64_t WidthOf(const Column& column);

/// Whether the fields of a column that are not missing are numbers.
[[nodiscard]] bool HasNumbers(const Column& column);

/// What is wrong with one key.
struct Flaw {
  const char* key;
  std::string found;
  std::string expected;
};

/// What is wrong with a column's dates, range, edges, aliases, numeric categories, marks and fill, if
/// anything is. `decimal` stands before the decimals of the file's numbers, and not of the column's own.
[[nodiscard]] std::optional<Flaw> FlawOf(const Column& column, char decimal = '.');

/// The label column of a CSV file, or of images the names of their folders, without a column: value number
/// k of `values` is class k; `aliases` maps other spellings to a value.
struct Label {
  std::string column;
  std::vector<std::string> values;
  std::map<std::string, std::string> aliases;
  int party = 0;         ///< vertical: who holds it
  bool numeric = false;  ///< texts of equal numbers are one value
};

/// What is wrong with the numeric values of a label and with their aliases, if anything is.
[[nodiscard]] std::optional<Flaw> FlawOf(const Label& label, char decimal = '.');

/// Whether the images of a class may lie in a folder of this name.
[[nodiscard]] bool IsFolderName(std::string_view text);
inline constexpr const char* kFolderNames =
    "names of folders with data.format \"images\": not empty, without a slash, and no dot first";

/// What a row of Format::kCifar is.
inline constexpr ImageSize kCifarImage{.height = static_cast<int>(kCifarSide),
                                       .width = static_cast<int>(kCifarSide),
                                       .channels = static_cast<int>(kCifarChannels)};

/// The [data] table of a job file: the public schema that every party's data must meet.
struct DataSpec {
  std::string name;
  Format format = Format::kIdx;
  std::array<std::int64_t, 3> rows{};  ///< declared capacity of each party
  std::int64_t features = 0;           ///< columns of the matrix, after one-hot encoding
  int classes = 2;
  /// Where rows are images: what those of Format::kImages, and arrays of three or four dimensions, must be.
  ImageSize image{};
  double scale = 1.0;  ///< every value of other formats than CSV is divided by it
  bool header = true;
  CsvDialect dialect{};
  char decimal = '.';                     ///< what stands before the decimals in the file's numbers; or ','
  std::vector<std::string> missing{"?"};  ///< marks of a missing value
  std::vector<Column> columns;
  Label label;
  /// The label is a number of it, and no class; `classes` is 2 then, the label's column and party are the
  /// target's, and it has no values.
  std::optional<TargetRange> target{};
  bool vertical = false;  ///< CSV: each party holds other columns of the same rows, and all the key column
};

/// The part of a vertical spec that a party's file has: its columns, the key, and the label if it is its own.
[[nodiscard]] DataSpec PartOf(const DataSpec& spec, int party);

/// Columns of the matrix that each party's part makes.
[[nodiscard]] std::array<std::int64_t, 3> PartFeatures(const DataSpec& spec);

/// Columns of the matrix that the spec's CSV columns make. The label column, if it is among them, is no
/// feature, and columns of text are none yet.
[[nodiscard]] std::int64_t CountFeatures(const DataSpec& spec);

/// The column of weights; null where there is none.
[[nodiscard]] const Column* WeightColumn(const DataSpec& spec);

/// Columns of text.
[[nodiscard]] std::int64_t CountTexts(const DataSpec& spec);

/// Throws ConfigError naming the key, what was found and what was expected, unless the spec is consistent:
/// capacities not negative, at least one feature or column of text and two classes, scales finite and
/// positive, means finite; for CIFAR the features and, if given, the image are its own; for images there is
/// one, grey or colour, of `features` values, and as many label values as classes, each of them a folder's
/// name; for CSV also unique column names, one column of weights at most, which is not the label's, unique
/// category values, as many label values as classes, aliases of declared values, no flaw (FlawOf) of a
/// column, the label or the target, and CountFeatures() equal to `features`.
void ValidateSpec(const DataSpec& spec);

}  // namespace trefoil::data
