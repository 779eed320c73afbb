"""Proves the error of SinCosOfTurn in protocols/functions/sin_cos.cpp: its tables are computed here by the same integer steps and every
entry is compared with the true sine and cosine.

The angle is rounded to the nearest 2^-24 of a turn: pi 2^-24 at most. A table entry is off by t, at scale 2^30; the addition
theorem joins two of them: (1 + t)^2 - 1 <= 2t + t^2 for each of its two products, and rounding down adds a unit.
"""

import math
import re
from fractions import Fraction

import bounds
import sigmoid_series

SOURCE = "protocols/functions/sin_cos.cpp"
INDEX_BITS, SCALE_BITS, TAYLOR_BITS = 12, 30, 50
STATED = Fraction(3, 10**7)
# How far the point (cosine, sine) may be from the true one: the angle's error turns it, the rest counts in both coordinates.
POINT = Fraction(2, 10**7)
ROOT_2 = Fraction(14143, 10**4)  # rounded up


def rounded(value, bits):
    return (value + (1 << (bits - 1))) >> bits


def taylor(angle):
    term = 1 << TAYLOR_BITS
    sums = [term, 0]
    for n in range(1, 49):
        term = term * angle // (n << TAYLOR_BITS)
        sums[n % 2] += term if (n // 2) % 2 == 0 else -term
    return [rounded(value, TAYLOR_BITS - SCALE_BITS) for value in reversed(sums)]


def table_error(two_pi, shift):
    """The largest error of a table, entry i being i / 2^(12 + shift) of a turn, rounded up."""
    parts = 2 ** (INDEX_BITS + shift)
    quarter = sigmoid_series.sines(parts)
    down = bounds.BITS - SCALE_BITS
    worst = 0
    for i in range(2**INDEX_BITS):
        sin, cos = taylor(rounded(two_pi * i, INDEX_BITS + shift))
        worst = max(worst, abs((sin << down) - sigmoid_series.sine_of(quarter, i)),
                    abs((cos << down) - sigmoid_series.sine_of(quarter, i + parts // 4)))
    return Fraction(worst, bounds.ONE) + Fraction(1, 2**60)


def derive(report):
    two_pi = rounded(int(2 * bounds.pi_bounds()[0] * bounds.ONE), bounds.BITS - TAYLOR_BITS)
    report.contains(SOURCE, f"constexpr std::int64_t kTwoPi = {two_pi};")
    found = re.findall(r"k(?:Index|Scale|Taylor)Bits = (\d+);", (report.project / SOURCE).read_text())
    report.equal("sin_cos: scales of the source", found, [str(INDEX_BITS), str(SCALE_BITS), str(TAYLOR_BITS)])
    coarse = table_error(two_pi, 0)
    report.bound("sin_cos: error of the coarse table", coarse, Fraction(1, 2**SCALE_BITS))
    # The fine table's angles are below 2^-12 of a turn: twenty-four bits of a turn would be too many rotations to compare, so
    # its entries are bounded by Taylor's own error, with the true angle.
    fine = fine_table_error(two_pi)
    report.bound("sin_cos: error of the fine table", fine, Fraction(1, 2**SCALE_BITS))
    joined = 2 * (coarse + fine + coarse * fine) + Fraction(1, 2**SCALE_BITS)
    angle = bounds.pi_bounds()[1] / 2**24
    report.bound("sin_cos: error of an angle's sine and cosine", angle + joined, STATED)
    report.bound("sin_cos: distance of an angle's point on the circle", angle + ROOT_2 * joined, POINT)


def fine_table_error(two_pi):
    """Entries of the fine table against the series in rational arithmetic: angles below 0.0016, five terms leave 2^-100."""
    low = bounds.pi_bounds()[0]
    worst = Fraction(0)
    for i in range(2**INDEX_BITS):
        angle = 2 * low * i / 2 ** (2 * INDEX_BITS)
        angle = Fraction(int(angle * bounds.ONE), bounds.ONE)
        sin, cos = taylor(rounded(two_pi * i, 2 * INDEX_BITS))
        series = [Fraction(0), Fraction(0)]
        power = Fraction(1)
        for n in range(8):
            series[n % 2] += (-1) ** (n // 2) * power / math.factorial(n)
            power = Fraction(int(power * angle * bounds.ONE), bounds.ONE)
        worst = max(worst, abs(Fraction(sin, 2**SCALE_BITS) - series[1]), abs(Fraction(cos, 2**SCALE_BITS) - series[0]))
    return worst + Fraction(1, 2**60)
