"""Derives protocols/functions/sigmoid_series.inc: trigonometric series for the sigmoid.

For period P (a power of two) and K terms it fits
    1/(1 + exp(-x)) - 1/2  ~  sum_{k = 1, 3, ..., 2K - 1} b_k sin(2 pi k x / P)   on |x| <= P/4
with the least maximum error (Lawson's reweighted least squares). Odd k only: the series is mirrored at +-P/4. The
coefficients are rounded to integers at scale 2^28. The fit is in floating point and need not be the best; what is proved
is proved of the integers, those in the file when checking:
    error   bound on |series - sigmoid| on |x| <= P/4,
    excess  bound on how far the series leaves [0, 1] anywhere,
both from a grid of step P/2^16, in integers with every rounding accounted for, plus half a step times a bound on the
derivative. The sines of the grid are powers of one rotation, the exponentials powers of one factor.

It also proves what protocols/functions/sigmoid.cpp evaluates, in words of both lengths, at the scales that stand there. A term
is b times the product of two points of the circle, that of (2j + 1)c and that of (2j + 1)r turned by a quarter. The first,
times b, is rounded to a scale g, the second to a scale h, each coordinate to the nearest; before that each is off by the
distance that sin_cos.py proves. A product of vectors is at most that of their lengths, so a term is off by at most
b |d| + |e| + |d| |e|, where |d| <= distance + 2^-h / sqrt(2) and |e| <= b distance + 2^-g / sqrt(2).
"""

import math
import re
from fractions import Fraction

import bounds
import sin_cos

SOURCE = "protocols/functions/sigmoid.cpp"
TARGET = "protocols/functions/sigmoid_series.inc"

SCALE_BITS = 28
CASES = [(32, 4), (64, 8), (128, 16), (256, 31)]
# Words -> what protocols/functions/sigmoid.h states of their evaluation.
EVALUATIONS = {"HalfWords": Fraction(3, 10**4), "WholeWords": Fraction(1, 2**20)}


def sigmoid(x):
    return 1 / (1 + math.exp(-x))


def solve(matrix, right):
    """Gaussian elimination with pivoting."""
    n = len(right)
    rows = [list(matrix[i]) + [right[i]] for i in range(n)]
    for col in range(n):
        pivot = max(range(col, n), key=lambda r: abs(rows[r][col]))
        rows[col], rows[pivot] = rows[pivot], rows[col]
        for r in range(col + 1, n):
            factor = rows[r][col] / rows[col][col]
            for c in range(col, n + 1):
                rows[r][c] -= factor * rows[col][c]
    out = [0.0] * n
    for r in reversed(range(n)):
        out[r] = (rows[r][n] - sum(rows[r][c] * out[c] for c in range(r + 1, n))) / rows[r][r]
    return out


def fit(period, terms):
    points = [period / 4 * (1 - math.cos(math.pi * (j + 0.5) / (2 * (16 * terms)))) for j in range(16 * terms)]
    basis = [[math.sin(2 * math.pi * (2 * k + 1) * x / period) for k in range(terms)] for x in points]
    target = [sigmoid(x) - 0.5 for x in points]
    weights = [1 / len(points)] * len(points)
    best, best_error = None, math.inf
    for _ in range(120):
        normal = [[0.0] * terms for _ in range(terms)]
        right = [0.0] * terms
        for row, goal, weight in zip(basis, target, weights):
            for i in range(terms):
                scaled = weight * row[i]
                right[i] += scaled * goal
                line = normal[i]
                for j in range(i, terms):
                    line[j] += scaled * row[j]
        for i in range(terms):
            for j in range(i):
                normal[i][j] = normal[j][i]
        fitted = solve(normal, right)
        errors = [abs(sum(b * s for b, s in zip(fitted, row)) - goal) for row, goal in zip(basis, target)]
        if max(errors) < best_error:
            best, best_error = fitted, max(errors)
        weights = [max(w * e, 1e-30) for w, e in zip(weights, errors)]
        total = sum(weights)
        weights = [w / total for w in weights]
    return [round(b * 2**SCALE_BITS) for b in best]


def sines(turn_parts):
    """sin(2 pi j / turn_parts) for a quarter turn, as integers at scale 2^BITS, each off by less than 2^(BITS - 100).

    cos and sin of the step by Taylor's series; then repeated rotation, which adds less than four units a step.
    """
    low, _ = bounds.pi_bounds()
    angle = 2 * low / turn_parts
    step = [Fraction(0), Fraction(0)]
    for n in range(24):
        step[n % 2] += (-1) ** (n // 2) * angle**n / math.factorial(n)
    cos_step, sin_step = (int(value * bounds.ONE) for value in step)
    cos, sin, out = bounds.ONE, 0, []
    for _ in range(turn_parts // 4 + 1):
        out.append(sin)
        cos, sin = (cos * cos_step - sin * sin_step) >> bounds.BITS, (sin * cos_step + cos * sin_step) >> bounds.BITS
    return out


def sine_of(quarter, index):
    """By the symmetries of the sine; index in parts of a turn."""
    parts = len(quarter) - 1
    turn, rest = divmod(index % (4 * parts), parts)
    value = quarter[rest] if turn % 2 == 0 else quarter[parts - rest]
    return value if turn < 2 else -value


def logistic(step, count):
    """1 / (1 + e^-(j step)), each off by less than 2^-100 of one."""
    factor = int(bounds.exp_bounds(-step)[0] * bounds.ONE)
    power, out = bounds.ONE, []
    for _ in range(count):
        out.append((bounds.ONE << bounds.BITS) // (bounds.ONE + power))
        power = power * factor >> bounds.BITS
    return out


def proved(period, integers, quarter):
    """(error, excess), rounded up to 10^-6."""
    step = Fraction(period, 2**16)
    slack = Fraction(1, 2**60)  # of the grid's values: far more than they are off by
    half = 1 << (bounds.BITS + SCALE_BITS - 1)
    truth = logistic(step, 2**14 + 1)
    error = excess = 0
    for j in range(2**14 + 1):
        value = half + sum(b * sine_of(quarter, (2 * k + 1) * j) for k, b in enumerate(integers))
        error = max(error, abs(value - (truth[j] << SCALE_BITS)))
        excess = max(excess, value - 2 * half, -value)
    scale = 1 << (bounds.BITS + SCALE_BITS)
    frequency = 2 * bounds.pi_bounds()[1] / period
    slope = sum(abs(b) * frequency * (2 * k + 1) for k, b in enumerate(integers)) / 2**SCALE_BITS
    top = [Fraction(error, scale) + step / 2 * (slope + Fraction(1, 4)), Fraction(excess, scale) + step / 2 * slope]
    return [Fraction(math.ceil((value + slack) * 10**6), 10**6) for value in top]


def evaluated(integers, factor_bits, dealt_bits):
    """How far the evaluation of a series may be off."""
    half_diagonal = sin_cos.ROOT_2 / 2
    dealt = sin_cos.POINT + half_diagonal / 2**dealt_bits
    error = Fraction(0)
    for integer in integers:
        b = Fraction(integer, 2**SCALE_BITS)
        factor = b * sin_cos.POINT + half_diagonal / 2**factor_bits
        error += b * dealt + factor + factor * dealt
    return error


def prove_evaluations(report, entries):
    text = (report.project / SOURCE).read_text()
    for words, stated in EVALUATIONS.items():
        found = re.search(words + r" \{[^}]*kDealtBits = (\d+);[^}]*kFactorBits = (\d+);[^}]*kWidth = (\d+);", text)
        dealt_bits, factor_bits, width = map(int, found.groups())
        for (period, _), integers, (_, excess) in entries:
            error = evaluated(integers, factor_bits, dealt_bits)
            report.bound(f"sigmoid, period {period}, {words}: error of the evaluation", error, stated)
            # Strictly below a quarter of 2^width, which a truncation takes.
            largest = (Fraction(1, 2) + excess + error) * 2 ** (factor_bits + dealt_bits)
            report.bound(f"sigmoid, period {period}, {words}: the largest sum", largest + 1, 2 ** (width - 2))


def text_of(entries):
    lines = ["// Made by scripts/derive/derive.py; scripts/derive/sigmoid_series.py says what the numbers mean."]
    for (period, terms), integers, (error, excess) in entries:
        rows = [", ".join(map(str, integers[i:i + 8])) for i in range(0, terms, 8)]
        lines += [f"{{.log2_period = {period.bit_length() - 1},", f" .error = {float(error)},",
                  f" .excess = {float(excess)},", " .coefficients = {" + ",\n                  ".join(rows) + "}},"]
    return "\n".join(lines) + "\n"


def checked_in(project):
    """The integers of the file."""
    text = (project / TARGET).read_text()
    return [list(map(int, re.findall(r"-?\d+", found))) for found in re.findall(r"coefficients = \{([^}]*)\}", text)]


def derive(report):
    quarter = sines(2**16)
    series = [fit(*case) for case in CASES] if report.writing else checked_in(report.project)
    entries = []
    for case, integers in zip(CASES, series):
        error, excess = proved(case[0], integers, quarter)
        entries.append((case, integers, (error, excess)))
        report.bound(f"sigmoid, period {case[0]}, {case[1]} terms: error", error, Fraction(5, 1000))
        report.stated("docs/reference/protocols.md",
                      f"| {case[0]} | {case[1]} | ±{case[0] // 4} | {float(error):.6f} | {float(excess):.6f} |")
    prove_evaluations(report, entries)
    report.generated(TARGET, text_of(entries))
