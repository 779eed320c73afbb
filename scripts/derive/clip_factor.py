"""Proves that no table of MakeClipTable (protocols/functions/clip_factor.cpp) exceeds min(1, C / sqrt(s)) or is 5 % below it.

The tables are made at run time, by IEEE doubles in a fixed order; here they are made by the same operations, so that their
integers are the same, and then judged in rational arithmetic, for every job of a list that spans what jobs can ask for.

Lemma (linear pieces). Let h(s) = 2^60 g / sqrt(s + 1), g > 0, T a line, [t, t') a piece, p a point. T - h is concave, so on
all of the piece it is at most (T - h)(p) + (T - h)'(p) (s - p): two inequalities at the ends prove T <= h - 2^36 on
the piece, whatever rounding made of T. And 0.95 h^ - T is convex for h^(s) = 2^60 g / sqrt(s - 1), the true factor of the
smallest exact s that can be narrowed to s: it is at most 0 on the piece if it is at both ends. A truncation adds less than
a unit, 2^36, up or down. Constant pieces need one inequality each, of squares: where low bits of s are dropped, s' is s
rounded down, or one or two less, so that a piece [t, t') of s' has the s from t to below t' + 2.
"""

import math
import re
from fractions import Fraction

import bounds

SOURCE = "protocols/functions/clip_factor.cpp"
COEFFICIENT_BITS, FACTOR_BITS = 60, 24
UNITS_OF_CLIP_SQUARED, LARGEST_NARROWED = 1024.0, 137438953472.0
TANGENT_POINT, PIECE_RATIO, DOWNWARD = 1.47, 1.1, 1 - 1e-14
LOWERED_BY = 4096.0
LEAST = Fraction(95, 100)
JOBS = [(clip, s_max, bits)
        for clip in (0.002, 0.01, 0.1, 0.25, 1 / 3, 0.5, 1.0, 1.5, 2.0, 3.7)
        for s_max in (0.5, 2.02, 20.2, 40.0, 170.0, 1000.0, 33333.3)
        for bits in (20, 24, 32, 40, 47, 48)]


def narrowed_bits(clip, s_max, input_bits):
    """None where the job is refused."""
    bits = 0
    while math.ldexp(clip * clip, bits) < UNITS_OF_CLIP_SQUARED and bits < input_bits:
        bits += 1
    refused = (math.ldexp(clip * clip, bits) < UNITS_OF_CLIP_SQUARED or
               math.ldexp(s_max, bits) + 1 > LARGEST_NARROWED)
    return None if refused else bits


def tangent(clip_in_units, at):
    value = math.ldexp(1.0, COEFFICIENT_BITS) * clip_in_units / math.sqrt(at + 1)
    slope = -value / (2 * (at + 1))
    constant = value - slope * at
    lowered = constant - math.ldexp(1.0, COEFFICIENT_BITS - FACTOR_BITS) - LOWERED_BY
    return math.floor(lowered), math.floor(slope)


def over_sqrt(g_squared, x):
    """Bounds on 2^60 g / sqrt(x)."""
    low, high = bounds.sqrt_bounds(g_squared / x)
    return low * 2**COEFFICIENT_BITS, high * 2**COEFFICIENT_BITS


def judge_linear_piece(start, end, at, constant, slope, g_squared):
    """(largest of T + 2^36 - h, largest of 0.95 h^ - T + 2^36) on [start, end]; both must not be positive."""
    unit = 2 ** (COEFFICIENT_BITS - FACTOR_BITS)
    point = Fraction(at)
    low, high = over_sqrt(g_squared, point + 1)
    gap = constant + slope * point + unit - low
    # (T - h)'(p) = slope + h(p) / (2 (p + 1))
    steepest = [slope + value / (2 * (point + 1)) for value in (low, high)]
    above = gap + max(s * (x - point) for s in steepest for x in (start, end))
    below = max(LEAST * over_sqrt(g_squared, Fraction(x) - 1)[1] - (constant + slope * x) + unit for x in (start, end))
    return above, below


def judge_linear(clip, s_max, norm_bits):
    """The same over a table, and whether the first piece may be exactly 1."""
    clip_squared = math.ldexp(clip * clip, norm_bits)
    g_squared = Fraction(clip) ** 2 * 2**norm_bits
    last = math.ldexp(s_max, norm_bits) + 1
    threshold = math.floor(clip_squared) - 1
    one = threshold - g_squared  # s' < threshold and s < s' + 1 <= threshold must mean s <= C^2
    above = below = Fraction(-1)
    while threshold < last:
        start = float(threshold)
        at = TANGENT_POINT * start
        constant, slope = tangent(math.sqrt(clip_squared), at)
        threshold = int(min(2 * start, math.floor(last) + 1))
        # Where the exact s may still be within C^2, the true factor is 1, of which the table is less than 0.95 h^ may be.
        piece = judge_linear_piece(int(start), threshold, at, constant, slope, g_squared)
        above, below = max(above, piece[0]), max(below, piece[1])
    return one, above, below


def judge_constant(clip, s_max, bits, beyond):
    """(largest of factor^2 s - 2^48 C^2, largest of 0.95^2 2^48 C^2 - factor^2 s), s where each is largest."""
    clip_in_units = math.sqrt(math.ldexp(clip * clip, bits))
    g_squared = Fraction(clip) ** 2 * 2**bits
    end = math.ceil(math.ldexp(s_max, bits)) + 1
    threshold = math.floor(clip_in_units * clip_in_units * DOWNWARD) - beyond
    one = threshold + beyond - g_squared
    above = below = Fraction(-1)
    while threshold < end:
        start = threshold
        threshold = min(end, int(PIECE_RATIO * float(start)))
        factor = math.floor(math.ldexp(clip_in_units / math.sqrt(float(threshold + beyond)) * DOWNWARD, FACTOR_BITS))
        above = max(above, factor**2 * (threshold + beyond) - 2 ** (2 * FACTOR_BITS) * g_squared)
        below = max(below, LEAST**2 * 2 ** (2 * FACTOR_BITS) * g_squared - factor**2 * start)
    return one, above, below


def require_same_source(report):
    """The constants that this file repeats, and the operations of the doubles."""
    for text in (f"kFactorBits = {COEFFICIENT_BITS};", "kUnitsOfClipSquared = 1024;",
                 f"kLargestNarrowed = {LARGEST_NARROWED};", f"kPieceRatio = {PIECE_RATIO};", "kDownward = 1 - 1e-14;",
                 "const double value = scale * clip_in_units / std::sqrt(at + 1);",
                 "const double slope = -value / (2 * (at + 1));", "const double constant = value - slope * at;",
                 "- std::ldexp(1.0, kFactorBits - kClipFactorBits) - 4096.0;",
                 "const std::int64_t beyond = pieces.blur.dropped > 0 ? 2 : 0;",
                 "clip_in_units / std::sqrt(static_cast<double>(pieces.thresholds.back() + beyond)) * kDownward;",
                 "clip = std::min(clip, std::sqrt(2 * s_max));"):
        report.contains(SOURCE, text)
    report.contains("protocols/functions/clip_factor.h", f"kClipFactorBits = {FACTOR_BITS};")
    source = (report.project / SOURCE).read_text()
    report.equal("clip factor: tangent point", re.findall(r"kTangentPoint =\s+([\d.]+);", source), [str(TANGENT_POINT)])


def derive(report):
    require_same_source(report)
    judged = 0
    for clip, s_max, bits in JOBS:
        clip = min(clip, math.sqrt(2 * s_max))
        norm_bits = narrowed_bits(clip, s_max, bits)
        if norm_bits is None or math.ldexp(s_max, bits) >= 2.0**62:
            continue
        judged += 1
        dropped = bits - norm_bits
        for form, found in (("bulk", judge_linear(clip, s_max, norm_bits)),
                            ("latency", judge_constant(clip, s_max, norm_bits, 2 if dropped > 0 else 0)),
                            ("latency, exact", judge_constant(clip, s_max, bits, 0))):
            job = f"clip factor, {form}, C = {clip:.4g}, s <= {s_max}, {bits} bits"
            for what, excess in zip(("one", "never above", "at most 5 % below"), found):
                report.bound(f"{job}: {what}", excess, 0)
    report.bound("clip factor: jobs judged", -judged, -300)
