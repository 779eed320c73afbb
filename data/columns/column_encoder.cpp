#include "data/columns/column_encoder.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <utility>

#include "data/columns/date_format.h"
#include "data/dataset/table.h"
#include "data/formats/file.h"

namespace trefoil::data {
namespace {

constexpr std::string_view kDigits = "0123456789";

/// Takes the digits at the beginning of `text`.
std::string_view TakeDigits(std::string_view& text) {
  const auto digits = text.substr(0, text.find_first_not_of(kDigits));
  text.remove_prefix(digits.size());
  return digits;
}

/// The power of ten at the beginning of `text`, which it is all of; 0 where there is none.
std::optional<int> ExponentOf(std::string_view text) {
  if (text.empty()) return 0;
  if (text.front() != 'e' && text.front() != 'E') return {};
  text.remove_prefix(text.size() > 1 && text[1] == '+' && !text.substr(2).starts_with('-') ? 2 : 1);
  int exponent = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), exponent);
  const bool whole = error == std::errc() && stop == text.data() + text.size();
  return whole && std::abs(exponent) <= 1'000'000 ? std::optional(exponent) : std::nullopt;
}

/// A number with a decimal point, whole.
struct Parsed {
  double value = 0;
  bool number = false;
  bool finite = false;
};

Parsed ParseNumber(const std::string& text) {
  Parsed parsed;
  const bool plus = text.starts_with('+') && !text.starts_with("+-");
  const char* begin = text.data() + (plus ? 1 : 0);
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(begin, end, parsed.value);
  parsed.number = stop == end && begin != end && error != std::errc::invalid_argument;
  parsed.finite = error == std::errc() && std::isfinite(parsed.value);
  return parsed;
}

double WithinRange(const Column& column, double value) {
  // Until its range is found a column is read to be checked alone, and no number is too large for that.
  if (column.private_range) return std::clamp(value, -kLargestValue, kLargestValue);
  if (column.low) value = std::max(value, *column.low);
  return column.high ? std::min(value, *column.high) : value;
}

/// `text` with a point for the comma; nothing where it has points already.
std::optional<std::string> WithPoint(std::string text) {
  if (text.find('.') != std::string::npos) return {};
  std::replace(text.begin(), text.end(), ',', '.');
  return text;
}

}  // namespace

std::optional<std::string> ReadNumber(const std::string& field, char decimal, double& value) {
  const auto with_point = decimal == ',' ? WithPoint(field) : field;
  const auto parsed = with_point ? ParseNumber(*with_point) : Parsed{};
  value = parsed.value;
  if (parsed.number) return parsed.finite ? std::nullopt : std::optional<std::string>("a finite number");
  if (decimal == ',') return "a number with a decimal comma and no points";
  const auto comma = WithPoint(field);
  return comma && ParseNumber(*comma).number ? "a number (with decimal commas: data.decimal = \",\")"
                                             : "a number";
}

std::optional<std::string> CanonicalNumber(std::string_view text, char decimal) {
  const bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) text.remove_prefix(1);
  std::string digits(TakeDigits(text));
  std::string_view decimals;
  if (text.starts_with(decimal)) {
    text.remove_prefix(1);
    decimals = TakeDigits(text);
  }
  const auto exponent = ExponentOf(text);
  digits += decimals;
  if (!exponent || digits.empty()) return {};
  const auto last = digits.find_last_not_of('0');
  if (last == std::string::npos) return "0";
  const auto first = digits.find_first_not_of('0');
  const auto zeros = digits.size() - (last + 1);
  const auto power =
      *exponent - static_cast<std::int64_t>(decimals.size()) + static_cast<std::int64_t>(zeros);
  std::string number(negative ? "-" : "");
  number.append(digits, first, last + 1 - first).append("e").append(std::to_string(power));
  return number;
}

ValueIndex::ValueIndex(const std::vector<std::string>& values,
                       const std::map<std::string, std::string>& aliases, bool numeric)
    : numeric_(numeric) {
  for (std::size_t k = 0; k < values.size(); ++k) numbers_[KeyOf(values[k], '.')] = k;
  for (const auto& [alias, value] : aliases) {
    if (const auto number = Find(value, '.')) numbers_[KeyOf(alias, '.')] = *number;
  }
}

std::string ValueIndex::KeyOf(const std::string& text, char decimal) const {
  return numeric_ ? CanonicalNumber(text, decimal).value_or(text) : text;
}

std::optional<std::size_t> ValueIndex::Find(const std::string& text, char decimal) const {
  const auto found = numeric_ ? numbers_.find(KeyOf(text, decimal)) : numbers_.find(text);
  return found == numbers_.end() ? std::nullopt : std::optional(found->second);
}

ColumnEncoder::ColumnEncoder(const Column& column, const DataSpec& spec)
    : column_(column),
      marks_(column.missing ? *column.missing : spec.missing),
      decimal_(spec.decimal),
      missing_(marks_, {}, column.missing && HasNumbers(column)),
      values_(column.values, column.aliases, column.numeric),
      origin_(DaysOf(column.origin, "%Y-%m-%d").value_or(0)),
      fill_(static_cast<std::size_t>(WidthOf(column))) {
  if (column.fill) (void)EncodeValue(*column.fill, '.', fill_.data());
  if (column.missing_indicator) fill_.back() = 1.0F;
}

bool ColumnEncoder::IsMissing(const std::string& field) const {
  return missing_.Find(field, decimal_).has_value();
}

std::optional<std::string> ColumnEncoder::Encode(const std::string& field, float* out) const {
  // A declared category comes before a missing mark.
  const bool declared = column_.kind == ColumnKind::kCategory && values_.Find(field, decimal_);
  if (declared || !(TakesUnknown() || IsMissing(field))) return EncodeValue(field, decimal_, out);
  EncodeMissing(out);
  return {};
}

void ColumnEncoder::EncodeMissing(float* out) const { std::copy(fill_.begin(), fill_.end(), out); }

std::optional<std::string> ColumnEncoder::EncodeValue(const std::string& field, char decimal,
                                                      float* out) const {
  if (column_.kind == ColumnKind::kCategory) {
    const auto value = values_.Find(field, decimal);
    if (!value) return ExpectedCategory();
    out[*value] = 1.0F;
    return {};
  }
  if (column_.kind == ColumnKind::kDate) {
    const auto days = DaysOf(field, column_.date_format);
    if (!days) return std::string("a date as ").append(Quote(column_.date_format));
    return EncodeScaled(*days - origin_, out);
  }
  double value = 0;
  if (auto expected = ReadNumber(field, decimal, value)) return expected;
  if (column_.kind == ColumnKind::kNumber) return EncodeScaled(WithinRange(column_, value), out);
  const auto& edges = column_.edges;
  out[std::upper_bound(edges.begin(), edges.end(), value) - edges.begin()] = 1.0F;
  return {};
}

std::optional<std::string> ColumnEncoder::EncodeScaled(double value, float* out) const {
  const double scaled = (value - column_.mean) / column_.scale;
  // Written so that NaN (from a difference that overflows) fails too.
  if (!(std::abs(scaled) <= kLargestValue)) return "at most 1e+09 in magnitude after scaling";
  *out = static_cast<float>(scaled);
  return {};
}

std::string ColumnEncoder::ExpectedCategory() const {
  std::string expected = "one of the column's declared values";
  const char* before = marks_.size() == 1 ? " or the missing mark " : " or a missing mark: ";
  for (const auto& mark : marks_) {
    expected.append(before).append(Quote(mark));
    before = ", ";
  }
  return expected;
}

}  // namespace trefoil::data
