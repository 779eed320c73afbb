#!/usr/bin/env python3
"""Derives protocols/sigmoid_series.inc: trigonometric series for the sigmoid.

For period P (a power of two) and K terms it fits
    1/(1 + exp(-x)) - 1/2  ~  sum_{k = 1, 3, ..., 2K - 1} b_k sin(2 pi k x / P)   on |x| <= P/4
with the least maximum error (Lawson's reweighted least squares). Odd k only: the series is mirrored at +-P/4. The
coefficients are rounded to integers at scale 2^28, and what is printed beside them is computed from those integers:
    error   bound on |series - sigmoid| on |x| <= P/4,
    excess  bound on how far the series leaves [0, 1] anywhere,
both from a grid of step P/2^16 plus half a step times a bound on the derivative.

usage: sigmoid_series.py > protocols/sigmoid_series.inc
"""
import math

SCALE_BITS = 28
CASES = [(32, 4), (64, 8), (128, 16), (256, 31)]


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


def bounds(period, integers):
    coefficients = [b / 2**SCALE_BITS for b in integers]
    slope = sum(abs(b) * 2 * math.pi * (2 * k + 1) / period for k, b in enumerate(coefficients))
    step = period / 2**16
    error = excess = 0.0
    for j in range(2**14 + 1):
        x = j * step
        value = 0.5 + sum(b * math.sin(2 * math.pi * (2 * k + 1) * x / period) for k, b in enumerate(coefficients))
        error = max(error, abs(value - sigmoid(x)))
        excess = max(excess, value - 1, -value)
    return error + step / 2 * (slope + 0.25), excess + step / 2 * slope


def main():
    print("// Made by scripts/derive/sigmoid_series.py; see there for what the numbers mean.")
    for period, terms in CASES:
        integers = fit(period, terms)
        error, excess = bounds(period, integers)
        print(f"{{.log2_period = {period.bit_length() - 1},")
        print(f" .error = {math.ceil(error * 1e6) / 1e6},")
        print(f" .excess = {math.ceil(excess * 1e6) / 1e6},")
        print(" .coefficients = {" + ",\n                  ".join(", ".join(map(str, integers[i:i + 8])) for i in range(0, terms, 8)) + "}},")


main()
