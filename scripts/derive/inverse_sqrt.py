"""Proves what protocols/functions/inverse_sqrt.cpp charges: how far the inverse square root can be above, and below, the true value.

PEA's polynomial P(z) = 0.8277 z^2 - 2.046 z + 2.223 - 0.0048 stands for 1 / sqrt(z) on [1/2, 1]. With z = w^2 its relative
deficit 1 - P(z) sqrt(z) = 1 - w P(w^2) is a polynomial in w, bounded from both sides on all of [sqrt(1/2), 1] in rational
arithmetic. What the roundings add is derived in docs/reference/protocols.md ("Inverse square root"), and computed here for every scale.
"""

from fractions import Fraction

import bounds

SOURCE = "protocols/functions/inverse_sqrt.cpp"
CONSTANT, SLOPE, SQUARE = Fraction(2223 * 10 - 48, 10**4), Fraction(-2046, 1000), Fraction(8277, 10**4)
LEAST_DEFICIT = Fraction(9, 10**5)
LARGEST_DEFICIT = Fraction(855, 10**5)
# In latency form x' can be a little below 1/2 (protocols/comparison/leading_bit.h).
BELOW_HALF = Fraction(1, 2**11)
LARGEST_DEFICIT_BELOW_HALF = Fraction(862, 10**5)
LEAST_DEFICIT_BELOW_HALF = Fraction(85, 10**4)
LARGEST_VALUE = Fraction(142, 100)
BELOW = Fraction(90, 10**4)  # stated lower bound: relative, with 8 units relative and 3 units absolute
VALUE_BITS = 63


def floor_half(value):
    return value // 2


def derive(report):
    report.contains(SOURCE, "FloorOf(0.8277, f)")
    report.contains(SOURCE, "FloorOf(-2.046, f)")
    report.contains(SOURCE, "FloorOf(-2.046, 2 * f)")
    report.contains(SOURCE, "return 3 * f + 2 <= 62;")
    report.contains(SOURCE, "FloorOf(2.223 - 0.0048, f)")
    report.contains(SOURCE, f"constexpr double kMinDeficit = {float(LEAST_DEFICIT):.0e};".replace("e-05", "e-5"))
    report.contains(SOURCE, f"std::ldexp({float(LARGEST_VALUE)}, -Exponents(frac_bits).offset)")
    deficit = [Fraction(1), -CONSTANT, Fraction(0), -SLOPE, Fraction(0), -SQUARE]
    low = bounds.sqrt_bounds(Fraction(1, 2))[0]
    least, largest = bounds.range_bounds(deficit, low, Fraction(1), cells=4096)
    report.bound("inverse square root: least deficit of the polynomial", -least, -LEAST_DEFICIT)
    report.bound("inverse square root: largest deficit of the polynomial", largest, LARGEST_DEFICIT)
    report.contains("protocols/comparison/leading_bit.h", "constexpr int kReadBelowPower = 10;")
    lower, upper = bounds.sqrt_bounds(Fraction(1, 2) - BELOW_HALF)[0], bounds.sqrt_bounds(Fraction(1, 2))[1]
    least_below, largest_below = bounds.range_bounds(deficit, lower, upper, cells=4096)
    report.bound("inverse square root: largest deficit below 1/2", largest_below, LARGEST_DEFICIT_BELOW_HALF)
    report.bound("inverse square root: least deficit below 1/2", -least_below, -LEAST_DEFICIT_BELOW_HALF)
    polynomial = [CONSTANT, SLOPE, SQUARE]
    smallest, greatest = bounds.range_bounds(polynomial, Fraction(1, 2) - BELOW_HALF, Fraction(1), cells=1024)
    report.bound("inverse square root: largest value of the polynomial", greatest, LARGEST_VALUE - Fraction(1, 100))
    report.bound("inverse square root: least value of the polynomial", -smallest, Fraction(-99, 100))
    for f in range(8, 25):
        bounds_of_scale(report, f, least, max(largest, largest_below))
        excess_below_half(report, f, least_below)


def excess_below_half(report, f, least):
    """x' below 1/2, by a unit more perhaps: the deficit there leaves room for every rounding."""
    u = Fraction(1, 2**f)
    at = Fraction(1, 2) - BELOW_HALF
    # 1 / sqrt(x' - u) <= (1 + 1.2 u + 2 u^2) / sqrt(x'), squared.
    stretch = 1 + Fraction(12, 10) * u + 2 * u * u
    report.bound(f"inverse square root, {f} bits: x' below 1/2 one unit up", 1, stretch**2 * (1 - u / at))
    above = (1 - least) * stretch + 2 * u
    report.bound(f"inverse square root, {f} bits: relative excess below 1/2", above - 1, max(Fraction(0), 4 * u - LEAST_DEFICIT))


def bounds_of_scale(report, f, least, largest):
    u = Fraction(1, 2**f)
    offset = max(0, floor_half(VALUE_BITS - f) - f)
    # x' is off by less than a unit: 1 / sqrt(x' - u) <= (1 + u + 2 u^2) / sqrt(x') for x' >= 1/2, squared.
    report.bound(f"inverse square root, {f} bits: x' one unit up", 1, (1 + u + 2 * u * u) ** 2 * (1 - 2 * u))
    above = (1 - least) * (1 + u + 2 * u * u) + 2 * u
    report.bound(f"inverse square root, {f} bits: relative excess", above - 1, max(Fraction(0), 4 * u - LEAST_DEFICIT))
    # Below: the same roundings down, three constants rounded down, and sqrt(1/2) of line 16 (relative 1.42 units).
    below = 1 - (1 - largest) * (1 - u) * (1 - Fraction(142, 100) * u) + 5 * u
    report.bound(f"inverse square root, {f} bits: relative deficit", below, BELOW + 8 * u)
    # The last truncation, and that of the power, which counts P / 2^offset units.
    report.bound(f"inverse square root, {f} bits: units of deficit", 1 + LARGEST_VALUE / 2**offset, Fraction(3))
    # Nor, where it is done in one, does the linear part times x', which is at most a unit above 1: at most 2.046 x' and a unit.
    if 3 * f + 2 <= 62:
        linear = (-SLOPE * 2 ** (2 * f) + 1) * (2**f + 1)
        report.bound(f"inverse square root, {f} bits: linear part times x'", linear, Fraction(2**62))
    # No product reaches 2^62: the largest power times the polynomial, at their scales.
    power = f - floor_half(1 - f) + offset
    report.bound(f"inverse square root, {f} bits: last product", LARGEST_VALUE * 2 ** (power + f), Fraction(2**62))
