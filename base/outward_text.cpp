#include "base/outward_text.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "base/error.h"

namespace trefoil {
namespace {

enum class Direction { kAbove, kBelow };

Direction Opposite(Direction direction) {
  return direction == Direction::kAbove ? Direction::kBelow : Direction::kAbove;
}

std::string Printed(const char* format, int digits, double value) {
  std::array<char, 512> buffer{};  // a double has at most 309 digits before the point
  (void)std::snprintf(buffer.data(), buffer.size(), format, digits, value);
  return buffer.data();
}

bool Beyond(const std::string& text, double value, Direction direction) {
  const double read = std::strtod(text.c_str(), nullptr);
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
  auto text = Printed("%.*f", decimals, value);
  return std::isfinite(value) && Beyond(text, value, direction) ? Next(std::move(text), direction) : text;
}

std::string Digits(double value, int digits, Direction direction) {
  Require(digits >= 1 && digits <= 15, "a bound as text: 1 to 15 digits");
  if (value < 0) return Negative(Digits(-value, digits, Opposite(direction)));
  const auto exact = Printed("%.*e", digits - 1, value);
  if (!std::isfinite(value) || !Beyond(exact, value, direction)) return Printed("%.*g", digits, value);
  auto next = Next(exact, direction);
  // Below a power of ten are nines of the next lower exponent.
  if (next.front() == '0')
    next = std::string(static_cast<std::size_t>(digits), '9') + "e" +
           std::to_string(std::stoi(exact.substr(exact.find('e') + 1)) - digits);
  // Up to 15 digits go through a double and come back the same.
  return Printed("%.*g", digits, std::strtod(next.c_str(), nullptr));
}

}  // namespace

std::string FixedAbove(double value, int decimals) { return Fixed(value, decimals, Direction::kAbove); }
std::string FixedBelow(double value, int decimals) { return Fixed(value, decimals, Direction::kBelow); }
std::string DigitsAbove(double value, int digits) { return Digits(value, digits, Direction::kAbove); }
std::string DigitsBelow(double value, int digits) { return Digits(value, digits, Direction::kBelow); }

}  // namespace trefoil
