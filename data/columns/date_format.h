#pragma once
#include <optional>
#include <string_view>

namespace trefoil::data {

/// Whether a text says how dates are written: %Y (four digits), %m and %d once each, at most once each %H, %M
/// and %S; all else but % stands for itself.
[[nodiscard]] bool IsDateFormat(std::string_view format);

/// Days from 1970-01-01 to a date of the Gregorian calendar, its hours, minutes and seconds as a fraction of
/// the day. Nothing where `text` is no such date, or `format` no such format. Months, days and so on have two
/// digits, or one where no digits of another number stand beside them.
[[nodiscard]] std::optional<double> DaysOf(std::string_view text, std::string_view format);

}  // namespace trefoil::data
