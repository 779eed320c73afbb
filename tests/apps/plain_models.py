"""Linear models without any of the program's code: plain minimisers, and what a model file holds."""

import math
import struct
import zipfile


def minimise(rows, fractions, lam):
    """Plain gradient descent on the mean of f log(1 + e^-z) + (1 - f) log(1 + e^z) plus lam/2 |w|^2, where z is the product
    of w with two features and a constant 1, and f a row's fraction of "yes"."""
    w = [0.0] * 3
    while True:
        gradient = [lam * value for value in w]
        for (a, b), fraction in zip(rows, fractions):
            x = (a, b, 1.0)
            slope = 1 / (1 + math.exp(-sum(u * v for u, v in zip(w, x)))) - fraction
            gradient = [g + slope * v / len(rows) for g, v in zip(gradient, x)]
        if math.sqrt(sum(g * g for g in gradient)) < 1e-10:
            return w
        w = [u - g for u, g in zip(w, gradient)]


def read_model(path):
    """Weights, then biases, of a model.npz."""
    numbers = []
    with zipfile.ZipFile(path) as archive:
        for name in ("weights.npy", "bias.npy"):
            content = archive.read(name)
            start = 10 + struct.unpack("<H", content[8:10])[0]
            numbers += struct.unpack(f"<{(len(content) - start) // 8}d", content[start:])
    return numbers
