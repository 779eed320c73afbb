#pragma once
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "data/dataset/spec.h"

namespace trefoil::data {

/// The same text for all texts of one decimal number, "1.0", "01" and "1e0", compared exactly; nothing for
/// other texts. `decimal` stands before the decimals.
[[nodiscard]] std::optional<std::string> CanonicalNumber(std::string_view text, char decimal);

/// Reads a number, with `decimal` before its decimals, to `value`. What was expected of a field that is no
/// finite number.
[[nodiscard]] std::optional<std::string> ReadNumber(const std::string& field, char decimal, double& value);

/// Which of the declared texts a text is.
class ValueIndex {
 public:
  /// Aliases map other texts to one of `values`. `numeric`: texts of equal numbers are the same; declared
  /// ones have a decimal point.
  ValueIndex(const std::vector<std::string>& values, const std::map<std::string, std::string>& aliases,
             bool numeric);

  /// The number of the value; `decimal` stands before the decimals in `text`. Constant time.
  [[nodiscard]] std::optional<std::size_t> Find(const std::string& text, char decimal) const;

 private:
  [[nodiscard]] std::string KeyOf(const std::string& text, char decimal) const;

  bool numeric_;
  std::unordered_map<std::string, std::size_t> numbers_;
};

/// Turns the fields of a column into features.
class ColumnEncoder {
 public:
  /// Pre: a column of features or text, without flaw (FlawOf); it and the spec outlive the encoder.
  ColumnEncoder(const Column& column, const DataSpec& spec);

  [[nodiscard]] bool IsMissing(const std::string& field) const;
  /// Whether a value may be missing: the column has a mark, or takes what it does not know for missing.
  [[nodiscard]] bool MayMiss() const { return !marks_.empty() || TakesUnknown(); }
  /// Encode() of a missing value.
  void EncodeMissing(float* out) const;

  /// Writes WidthOf(column) features to `out`, which holds zeros. For a field that is refused: what was
  /// expected. A category that is not declared is missing where the column says so.
  [[nodiscard]] std::optional<std::string> Encode(const std::string& field, float* out) const;

 private:
  /// Whether a category that is not declared is missing.
  [[nodiscard]] bool TakesUnknown() const {
    return column_.kind == ColumnKind::kCategory && column_.unknown == UnknownValue::kMissing;
  }
  /// Encode() of a value that is there; `decimal` stands before the decimals of a number.
  [[nodiscard]] std::optional<std::string> EncodeValue(const std::string& field, char decimal,
                                                       float* out) const;
  [[nodiscard]] std::optional<std::string> EncodeScaled(double value, float* out) const;
  [[nodiscard]] std::string ExpectedCategory() const;

  const Column& column_;
  const std::vector<std::string>& marks_;
  char decimal_;
  ValueIndex missing_;
  ValueIndex values_;
  double origin_ = 0;        ///< date: its days
  std::vector<float> fill_;  ///< the features of a missing value
};

}  // namespace trefoil::data
