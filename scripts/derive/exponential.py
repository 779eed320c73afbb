"""Derives protocols/functions/exponential_pieces.inc: e^x as a piecewise polynomial, never below the true value.

For each accuracy EPSILON the pieces cover -L <= x <= 24, e^-L <= EPSILON. On a piece [s, t] with the middle o and u = x - o
    e^x <= a_0 + a_1 u + ... + a_d u^d <= e^x + EPSILON max(1, e^x).
The polynomial interpolates e^u at Chebyshev's nodes; its coefficients are rounded to integers; the error of those
integers is bounded on the whole piece in rational arithmetic; and a_0 is raised by that bound, so that the error has one
sign. For x > 0 all pieces are as wide; for x < 0 they get wider as e^x gets smaller, as far as the bound allows.
"""

import math
import textwrap
from fractions import Fraction

import bounds

TARGET = "protocols/functions/exponential_pieces.inc"
COEFFICIENT_BITS = 53
STEP = Fraction(1, 16)  # knots are multiples of it, so that every scale represents them
HIGHEST = 24
TAYLOR_TERMS = 30
# Degree, accuracy in bits, steps of a piece above zero, most steps of one below. (Wide pieces magnify the truncations of
# Horner's rule, which only the finest would notice.)
TIERS = [(3, 12, 11, 128), (4, 17, 10, 128), (5, 25, 7, 64)]


def taylor_of_exp():
    return [Fraction(1, math.factorial(j)) for j in range(TAYLOR_TERMS)]


def taylor_tail(reach):
    """Bound on what the Taylor polynomial leaves out on |u| <= reach < TAYLOR_TERMS / 2."""
    return 2 * reach**TAYLOR_TERMS / math.factorial(TAYLOR_TERMS)


def interpolation(degree, radius):
    """Coefficients of the polynomial through e^u at Chebyshev's nodes of [-radius, radius], by Newton's differences."""
    nodes = [radius * Fraction(math.cos(math.pi * (j + 0.5) / (degree + 1))) for j in range(degree + 1)]
    nodes = [Fraction(round(node * 2**40), 2**40) for node in nodes]
    differences = [sum(bounds.exp_bounds(node)) / 2 for node in nodes]
    for order in range(1, degree + 1):
        for j in range(degree, order - 1, -1):
            differences[j] = (differences[j] - differences[j - 1]) / (nodes[j] - nodes[j - order])
    coefficients = [differences[degree]]
    for j in range(degree - 1, -1, -1):
        shifted = [Fraction(0)] + coefficients
        for k, a in enumerate(coefficients):
            shifted[k] -= nodes[j] * a
        shifted[0] += differences[j]
        coefficients = shifted
    return [Fraction(round(a * 2**70), 2**70) for a in coefficients]


def fit_error(coefficients, radius):
    """Bound on |e^u - polynomial| for |u| <= radius."""
    error = taylor_of_exp()
    for j, a in enumerate(coefficients):
        error[j] -= a
    least, largest = bounds.range_bounds(error, -radius, radius)
    return max(abs(least), abs(largest)) + taylor_tail(radius)


def exponent_of(top):
    """A power of two at least e^top: coefficients of a piece are kept relative to it."""
    power = 0
    while Fraction(2) ** power < bounds.exp_bounds(top)[1]:
        power += 1
    return power


def make_piece(start, end, degree):
    """(start, end, exponent, integers, error): the integers stand for a_j 2^(53 - exponent); error bounds what the
    polynomial is above e^x, as a multiple of e^middle."""
    middle, radius = (start + end) / 2, (end - start) / 2
    of_u = interpolation(degree, radius)
    low, high = bounds.exp_bounds(middle)
    exponent = exponent_of(end)
    scale = Fraction(2) ** (COEFFICIENT_BITS - exponent)
    integers = [round(a * low * scale) for a in of_u]
    # Relative to e^middle, which is known to a relative 2^-120.
    relative = [a / scale / low for a in integers]
    error = fit_error(relative, radius) + Fraction(1, 2**100)
    integers[0] += math.ceil(error * high * scale)
    return start, end, exponent, integers, 2 * error + 1 / scale / low


def fits(piece, accuracy):
    """error e^middle <= EPSILON max(1, e^x) everywhere on the piece: it is enough at its lower end."""
    start, end, _, _, error = piece
    allowed = Fraction(1, 2**accuracy)
    return error * bounds.exp_bounds((start + end) / 2)[1] <= allowed * max(Fraction(1), bounds.exp_bounds(start)[0])


def widest_below(end, degree, accuracy, most):
    """The widest piece that ends at `end` <= 0; widths are doubled, then halved to the step."""
    width, grow = 0, 64
    best = None
    while grow >= 1:
        piece = make_piece(end - (width + grow) * STEP, end, degree) if width + grow <= most else None
        if piece and fits(piece, accuracy):
            width, best = width + grow, piece
        else:
            grow //= 2
    return best


def tier_pieces(degree, accuracy, positive_steps, most):
    pieces = []
    end = Fraction(0)
    while bounds.exp_bounds(end)[1] > Fraction(1, 2**accuracy):
        pieces.insert(0, widest_below(end, degree, accuracy, most))
        end = pieces[0][0]
    start = Fraction(0)
    while start < HIGHEST:
        piece = make_piece(start, start + positive_steps * STEP, degree)
        if not fits(piece, accuracy):
            raise ValueError(f"exp: the piece from {start} of degree {degree} misses 2^-{accuracy}")
        pieces.append(piece)
        start = piece[1]
    return pieces


def text():
    lines = ["// Made by scripts/derive/derive.py; scripts/derive/exponential.py says what the numbers mean."]
    for degree, accuracy, positive_steps, most in TIERS:
        lines.append(f"{{.accuracy_bits = {accuracy},")
        lines.append(" .pieces = {")
        for start, end, exponent, integers, _ in tier_pieces(degree, accuracy, positive_steps, most):
            lines.append(f"     {{.start = {start / STEP}, .end = {end / STEP}, .exponent = {exponent},")
            lines += textwrap.wrap(f".coefficients = {{{', '.join(map(str, integers))}}}}},", 110,
                                   initial_indent=" " * 6, subsequent_indent=" " * 22)
        lines.append(" }},")
    return "\n".join(lines) + "\n"


def derive(report):
    report.generated(TARGET, text())
