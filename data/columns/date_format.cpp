#include "data/columns/date_format.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>

namespace trefoil::data {
namespace {

constexpr std::string_view kDirectives = "YmdHMS";

/// One part of a format: a number, or a character that stands for itself.
struct Piece {
  char directive = 0;  ///< one of kDirectives; 0: none
  char character = 0;
  std::size_t length = 1;  ///< in the format
};

Piece PieceAt(std::string_view format, std::size_t k) {
  const bool directive =
      format[k] == '%' && k + 1 < format.size() && kDirectives.find(format[k + 1]) != std::string_view::npos;
  if (directive) return {.directive = format[k + 1], .length = 2};
  return {.character = format[k]};
}

/// Takes a number of at least `least` and at most `most` digits from the beginning of `text`.
std::optional<int> TakeNumber(std::string_view& text, std::size_t least, std::size_t most) {
  int value = 0;
  std::size_t count = 0;
  while (count < std::min(most, text.size()) && text[count] >= '0' && text[count] <= '9')
    value = 10 * value + (text[count++] - '0');
  text.remove_prefix(count);
  return count < least ? std::nullopt : std::optional(value);
}

/// Of the numbers in the order of kDirectives.
std::optional<double> DaysOfDate(const std::array<int, 6>& numbers) {
  const auto [year, month, day, hour, minute, second] = numbers;
  const std::chrono::year_month_day date{std::chrono::year(year),
                                         std::chrono::month(static_cast<unsigned>(month)),
                                         std::chrono::day(static_cast<unsigned>(day))};
  if (!date.ok() || hour > 23 || minute > 59 || second > 59) return {};
  return static_cast<double>(std::chrono::sys_days(date).time_since_epoch().count()) +
         static_cast<double>(hour * 3600 + minute * 60 + second) / 86400;
}

}  // namespace

bool IsDateFormat(std::string_view format) {
  std::array<int, kDirectives.size()> times{};
  for (std::size_t k = 0; k < format.size();) {
    const auto piece = PieceAt(format, k);
    if (piece.directive != 0) ++times.at(kDirectives.find(piece.directive));
    if (piece.character == '%') return false;
    k += piece.length;
  }
  const bool date = std::all_of(times.begin(), times.begin() + 3, [](int count) { return count == 1; });
  return date && std::all_of(times.begin() + 3, times.end(), [](int count) { return count <= 1; });
}

std::optional<double> DaysOf(std::string_view text, std::string_view format) {
  if (!IsDateFormat(format)) return {};
  std::array<int, kDirectives.size()> numbers{};
  bool after_number = false;
  for (std::size_t k = 0; k < format.size();) {
    const auto piece = PieceAt(format, k);
    k += piece.length;
    if (piece.directive == 0) {
      if (!text.starts_with(piece.character)) return {};
      text.remove_prefix(1);
    } else {
      const std::size_t most = piece.directive == 'Y' ? 4 : 2;
      const bool beside = after_number || (k < format.size() && PieceAt(format, k).directive != 0);
      const auto number = TakeNumber(text, beside || most == 4 ? most : 1, most);
      if (!number) return {};
      numbers.at(kDirectives.find(piece.directive)) = *number;
    }
    after_number = piece.directive != 0;
  }
  return text.empty() ? DaysOfDate(numbers) : std::nullopt;
}

}  // namespace trefoil::data
