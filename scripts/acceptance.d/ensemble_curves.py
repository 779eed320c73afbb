#!/usr/bin/env python3
"""Ensemble transfer on Adult, in the clear: what noise costs by number of owners, as `ensemble-transfer` jobs add it.

  ensemble_curves.py DATA RUNS EPSILON=SIGMA ...   a CSV: means and standard errors of RUNS draws of the noise

Excess is that of the regularised risk on the public rows, which the weights without noise minimise; loss the mean logistic loss of
the test records, which have labels.

The first 2,561 training records are the public rows, without labels; the other 30,000 are dealt to M owners, each of which fits a
logistic regression. SIGMA is the noise multiplier of two parties at EPSILON, over L / (M lambda) for fractions of votes and
L / lambda for their majority, L = sqrt(2). Features as average_curves.py has them, and a constant 1.
"""

import math
import random
import sys

import average_curves as curves

PUBLIC = 2561
OWNERS_LAMBDA = 0.003
LAMBDA = 0.05


def with_constant(rows, width):
    """A constant 1 in every row: LENGTH times the scale that all features are multiplied with."""
    return [row + [width] for row in rows]


def margin(w, row):
    return sum(w[k] for k in row[:-1]) / curves.LENGTH + w[row[-1]]


def minimise(rows, fractions, width, lam, tolerance):
    w, step = [0.0] * width, [0.0] * width
    root = math.sqrt(0.5 / lam + 1)
    rate, momentum = 4 / (lam * (root + 1) ** 2), ((root - 1) / (root + 1)) ** 2
    while True:
        gradient = [lam * value for value in w]
        for row, fraction in zip(rows, fractions):
            slope = (1 / (1 + math.exp(-margin(w, row))) - fraction) / len(rows)
            for k in row[:-1]:
                gradient[k] += slope / curves.LENGTH
            gradient[row[-1]] += slope
        if math.sqrt(sum(value * value for value in gradient)) <= tolerance:
            return w
        step = [momentum * value - rate * change for value, change in zip(step, gradient)]
        w = [value + change for value, change in zip(w, step)]


def loss(margins, fractions):
    """Mean logistic loss where a fraction of what is said of each row is 1."""
    return sum(math.log1p(math.exp(-abs(m))) + max(m, 0) - fraction * m for m, fraction in zip(margins, fractions)) / len(margins)


def regularised_risk(w, rows, fractions):
    return LAMBDA / 2 * sum(value * value for value in w) + loss([margin(w, row) for row in rows], fractions)


def test_figures(w, x, y):
    """Error and mean loss."""
    margins = [margin(w, row) for row in x]
    return sum((m > 0) != (label == 1) for m, label in zip(margins, y)) / len(y), loss(margins, y)


def main():
    runs = int(sys.argv[2])
    sigmas = [tuple(map(float, text.split("="))) for text in sys.argv[3:]]
    features, train, train_y, test, test_y = curves.load(sys.argv[1])
    width = features.count + 1
    train, train_y = curves.shuffled(with_constant(train, features.count), train_y)
    test = with_constant(test, features.count)
    public, private, private_y = train[:PUBLIC], train[PUBLIC:], train_y[PUBLIC:]
    print("owners,labels,epsilon,error,error_deviation,excess,excess_deviation,loss,loss_deviation")
    for owners in (10, 100, 1000):
        size = len(private) // owners
        counts = [0] * PUBLIC
        for owner in range(owners):
            part = slice(owner * size, (owner + 1) * size)
            w = minimise(private[part], private_y[part], width, OWNERS_LAMBDA, 1e-3)
            for k, row in enumerate(public):
                counts[k] += margin(w, row) > 0
        for labels in ("votes", "majority"):
            fractions = [count / owners if labels == "votes" else float(2 * count > owners) for count in counts]
            exact = minimise(public, fractions, width, LAMBDA, 1e-7)
            least = regularised_risk(exact, public, fractions)
            error, test_loss = test_figures(exact, test, test_y)
            print(f"{owners},{labels},,{error:.5f},0,0,0,{test_loss:.6g},0", flush=True)
            sensitivity = math.sqrt(2) / LAMBDA / (owners if labels == "votes" else 1)
            for epsilon, sigma in sigmas:
                random.seed(f"{owners} {labels} {epsilon}")
                drawn = []
                for _ in range(runs):
                    w = [value + random.gauss(0, sigma * sensitivity) for value in exact]
                    drawn.append((*test_figures(w, test, test_y), regularised_risk(w, public, fractions) - least))
                errors, losses, excesses = (curves.mean_and_error(values) for values in zip(*drawn))
                figures = ",".join(f"{value:.6g}" for value in (*errors, *excesses, *losses))
                print(f"{owners},{labels},{epsilon:g},{figures}", flush=True)


if __name__ == "__main__":
    main()
