"""Rigorous bounds in integer and rational arithmetic: no result here depends on a rounding that is not accounted for."""

import math
from fractions import Fraction

BITS = 160  # scale of the fixed-point numbers below
ONE = 1 << BITS


def ceil_div(a, b):
    return -((-a) // b)


def exp_bounds(x):
    """(low, high) with low <= e^x <= high, for a Fraction |x| <= 100; relative width below 2^-120.

    The Taylor series of e^(x / 2^k) with |x / 2^k| <= 1/2, every term rounded down and up, its tail below twice the first
    term left out; then k squarings, rounded down and up.
    """
    if x < 0:
        low, high = exp_bounds(-x)
        return 1 / high, 1 / low
    halvings = 0
    while x > Fraction(1, 2):
        x /= 2
        halvings += 1
    low_term = high_term = low = high = ONE
    n = 1
    while high_term > 1:
        low_term = low_term * x.numerator // (x.denominator * n)
        high_term = ceil_div(high_term * x.numerator, x.denominator * n)
        low += low_term
        high += high_term
        n += 1
    high += 2 * high_term
    for _ in range(halvings):
        low = low * low >> BITS
        high = (high * high >> BITS) + 1
    return Fraction(low, ONE), Fraction(high, ONE)


def sqrt_bounds(x):
    """(low, high) with low <= sqrt(x) <= high for a Fraction x >= 0, 2^-BITS apart."""
    root = math.isqrt((x.numerator << 2 * BITS) // x.denominator)
    return Fraction(root, ONE), Fraction(root + 1, ONE)


def pi_bounds():
    """Machin's formula, alternating series cut off between two partial sums."""

    def arctan_of_inverse(n):
        total, power, k = 0, ONE // n, 0
        while power:
            total += (-1) ** k * (power // (2 * k + 1))
            power //= n * n
            k += 1
        return total, 2 * k + 2  # each term off by less than one, and the tail

    fifth, slack_fifth = arctan_of_inverse(5)
    other, slack_other = arctan_of_inverse(239)
    middle, slack = 16 * fifth - 4 * other, 16 * slack_fifth + 4 * slack_other
    return Fraction(middle - slack, ONE), Fraction(middle + slack, ONE)


def polynomial(coefficients, x):
    """a_0 + a_1 x + ... by Horner's rule, exactly."""
    value = Fraction(0)
    for a in reversed(coefficients):
        value = value * x + a
    return value


def derivative(coefficients):
    return [j * a for j, a in enumerate(coefficients)][1:]


def size_bound(coefficients, reach):
    """sum |a_j| reach^j: at least |polynomial| wherever |x| <= reach."""
    return sum((abs(a) * reach**j for j, a in enumerate(coefficients)), Fraction(0))


def range_bounds(coefficients, low, high, cells=64):
    """(least, largest): a polynomial's values on [low, high] lie between them.

    At the middle of each cell of radius r the value v and the slope s are exact; in the cell, |value - v| <= |s| r +
    r^2/2 times a bound on the second derivative.
    """
    radius = (high - low) / (2 * cells)
    first = derivative(coefficients)
    reach = max(abs(low), abs(high))
    curvature = size_bound(derivative(first), reach)
    least, largest = None, None
    for cell in range(cells):
        middle = low + (2 * cell + 1) * radius
        value = polynomial(coefficients, middle)
        swing = abs(polynomial(first, middle)) * radius + curvature * radius * radius / 2
        least = value - swing if least is None else min(least, value - swing)
        largest = value + swing if largest is None else max(largest, value + swing)
    return least, largest


def up(x, digits=3):
    """x >= 0 rounded up to so many decimal digits, as text."""
    if x == 0:
        return "0"
    exponent = math.floor(math.log10(x)) - digits + 1
    scale = Fraction(10) ** exponent
    return f"{math.ceil(x / scale)}e{exponent}"
