#include "base/outward_text.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <string>
#include <system_error>

#include "base/error.h"

namespace trefoil {
namespace {

enum class Direction { kAbove, kBelow };

Direction Opposite(Direction direction) {
  return direction == Direction::kAbove ? Direction::kBelow : Direction::kAbove;
}

// The texts are those of the C locale, whatever the process has: a Python or a desktop program that is ours
// to run in may print decimal commas.

std::string Printed(double value, std::chars_format format, int digits) {
  std::array<char, 512> buffer{};  // a double has at most 309 digits before the point
  const auto printed = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value, format, digits);
  return {buffer.data(), printed.ptr};
}

/// The number of a text that is not negative.
double Read(const std::string& text) {
  double value = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
  if (read.ec != std::errc::result_out_of_range) return value;
  return text.find("e-") == std::string::npos ? std::numeric_limits<double>::infinity() : 0;
}

bool Beyond(const std::string& text, double value, Direction direction) {
  const double read = Read(text);
  return direction == Direction::kAbove ? read < value : read > value;
}

/// The mantissa's next decimal number of as many digits; one of a text that is above a number not negative is
/// not zero, so that there is one below.
std::string Next(std::string text, Direction direction) {
  const char turn = direction == Direction::kAbove ? '9' : '0';
  const char to = direction == Direction::kAbove ? '0' : '9';
  const auto end = std::min(text.find('e'), text.size());
  for (auto at = end; at-- > 0;) {
    if (text[at] == '.') continue;
    if (text[at] != turn) {
      text[at] = static_cast<char>(direction == Direction::kAbove ? text[at] + 1 : text[at] - 1);
      return text;
    }
    text[at] = to;
  }
  text.insert(text.begin(), '1');
  return text;
}

std::string Negative(std::string text) {
  text.insert(text.begin(), '-');
  return text;
}

std::string Fixed(double value, int decimals, Direction direction) {
  Require(decimals >= 0 && decimals <= 15, "a bound as text: 0 to 15 decimals");
  if (value < 0) return Negative(Fixed(-value, decimals, Opposite(direction)));
  auto text = Printed(value, std::chars_format::fixed, decimals);
  return std::isfinite(value) && Beyond(text, value, direction) ? Next(std::move(text), direction) : text;
}

std::string Digits(double value, int digits, Direction direction) {
  Require(digits >= 1 && digits <= 15, "a bound as text: 1 to 15 digits");
  if (value < 0) return Negative(Digits(-value, digits, Opposite(direction)));
  const auto exact = Printed(value, std::chars_format::scientific, digits - 1);
  if (!std::isfinite(value) || !Beyond(exact, value, direction))
    return Printed(value, std::chars_format::general, digits);
  auto next = Next(exact, direction);
  // Below a power of ten are nines of the next lower exponent.
  if (next.front() == '0')
    next = std::string(static_cast<std::size_t>(digits), '9') + "e" +
           std::to_string(std::stoi(exact.substr(exact.find('e') + 1)) - digits);
  // Up to 15 digits go through a double and come back the same.
  return Printed(Read(next), std::chars_format::general, digits);
}

}  // namespace

std::string FixedAbove(double value, int decimals) { return Fixed(value, decimals, Direction::kAbove); }
std::string FixedBelow(double value, int decimals) { return Fixed(value, decimals, Direction::kBelow); }
std::string DigitsAbove(double value, int digits) { return Digits(value, digits, Direction::kAbove); }
std::string DigitsBelow(double value, int digits) { return Digits(value, digits, Direction::kBelow); }

}  // namespace trefoil
