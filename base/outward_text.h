#pragma once
#include <string>

namespace trefoil {

/// Decimal text of a bound with few digits, rounded outwards: what is printed of an epsilon or a delta is
/// never below it, and what is printed of a noise multiplier or an accuracy never above. A number that the
/// digits show exactly, as a double reads them, stays as it is. Infinities and NaN are as printf writes them,
/// and the locale of the process shows in nothing.
/// Pre: decimals from 0 to 15, digits from 1 to 15.

/// `decimals` digits behind the point ("{:.3f}"), not below `value`, and not above it.
[[nodiscard]] std::string FixedAbove(double value, int decimals);
[[nodiscard]] std::string FixedBelow(double value, int decimals);

/// `digits` significant ones ("{:.6g}"), not below `value`, and not above it.
[[nodiscard]] std::string DigitsAbove(double value, int digits);
[[nodiscard]] std::string DigitsBelow(double value, int digits);

}  // namespace trefoil
