"""Proves the error of ReciprocalOfNormalised in protocols/functions/reciprocal.cpp, for every number of bits.

With y_0 = c - 2z, e_0 = 1 - z y_0 and three steps, docs/reference/protocols.md ("Reciprocal") derives
    |z y_3 - 1| <= |e_0|^8 + v ((1+e0)(1+e1)(1+e2) + (1+e1)(1+e2) + (1+e2) + z ((1+e1)(1+e2) + (1+e2) + 1)),  v = 2^-bits,
where e0, e1, e2 bound |e_0|, |e_0|^2, |e_0|^4, roundings included.
"""

from fractions import Fraction

import bounds

SOURCE = "protocols/functions/reciprocal.cpp"
START = Fraction(29282, 10000)
MOST_BITS = 30
STEPS_ERROR = Fraction(87, 10**11)
UNITS = Fraction(62, 10)


def first_error(c, slack):
    """Bound on |1 - z (c - 2z)| on [1/2 - slack, 1 + slack]."""
    least, largest = bounds.range_bounds([Fraction(1), -c, Fraction(2)], Fraction(1, 2) - slack, 1 + slack, cells=4096)
    return max(abs(least), abs(largest))


def derive(report):
    start = int(START * 2**MOST_BITS)
    report.contains(SOURCE, f"constexpr Word kStart = {start};")
    report.contains(SOURCE, f"constexpr double kStepsError = {float(STEPS_ERROR)};")
    report.contains(SOURCE, f"constexpr double kUnitsOfRounding = {float(UNITS)};")
    worst = first_error(Fraction(start, 2**MOST_BITS), Fraction(1, 2**10))
    report.bound("reciprocal: error of the first approximation", worst, Fraction(729, 10**4))
    for bits in range(8, MOST_BITS + 1):
        v = Fraction(1, 2**bits)
        e0 = worst + 2 * v  # the start rounded to so many bits, and the first truncation
        e1 = e0 * e0 + v
        e2 = e1 * e1 + v
        rounding = ((1 + e0) * (1 + e1) * (1 + e2) + (1 + e1) * (1 + e2) + (1 + e2) +
                    (1 + Fraction(1, 2**10)) * ((1 + e1) * (1 + e2) + (1 + e2) + 1))
        error = e2 * e2 + v * rounding
        report.bound(f"reciprocal: error at {bits} bits", error, STEPS_ERROR + UNITS * v)
