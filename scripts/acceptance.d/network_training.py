#!/usr/bin/env python3
"""DP-SGD in the clear, of linear models and of networks, on extracted features: for scripts/experiments networks.

Usage: network_training.py FEATURES.npz JOB [COLUMNS] < RUNS > TABLE.csv      TREFOIL names the program (build/bin/trefoil)

A line of RUNS is KEY=VALUE ..., and `#` begins a comment; keys and their defaults are in RUN below. Each run holds a ninth part
of the records back, trains on the others and is measured on what was held back, three times with other cuts, first weights,
batches and noise. The noise is an outsider's of JOB with that many rows, steps, batch and epsilon, by `trefoil plan`; with
`local`, the number of steps of local trainings, a share of epsilon is theirs, as in configs/mnist-pea.toml.
A simulation in single precision: batches by Poisson sampling, whole examples clipped as the program does; no roundings but with
`rounding`. COLUMNS: the rows' public random projection to so many, scaled to their length, which makes runs cheaper.
TABLE.csv has each line's keys, and the median, least and largest accuracy. Packages: numpy.
"""

import functools
import json
import os
import re
import subprocess
import sys

import numpy

RUN = {
    "epsilon": 3.0, "steps": 150, "batch": 2048, "momentum": 0.8, "rate": 1.0, "clip": 0.4, "loss": "one-vs-rest",
    "hidden": "",               # sizes of layers, as in 64 or 64-32
    "activation": "relu",       # relu (cut at activation_bound, as in the program), tanh or square
    "activation_bound": 8.0, "delta_bound": 4.0,
    "clipping": "factorised",   # or examples: nothing is clipped, noise for what a record may add whatever the weights are
    "local": 0,                 # steps of each third's own training, at the same rate, whose average is the first model
    "local_share": 0.6667,      # of epsilon, which these are given
    "rounding": "none",         # exact (down) or stochastic: predictions, clipped errors and updates in units of 2^-16
    "seeds": 3,
}
ROW_NORM_SQUARED = 4.0 ** 2 + 1  # with the constant input
UNIT = 2.0 ** -16


def read_run(line):
    run = dict(RUN)
    for word in line.split("#")[0].split():
        key, value = word.split("=")
        run[key] = type(RUN[key])(value)
    return run


@functools.cache
def noise_multipliers(job, rows, epsilon, steps, batch, local, local_share):
    """Of an outsider in the joint steps, and of local trainings (0 without)."""
    settings = {"data.rows": f"[{rows - 2 * (rows // 3)},{rows // 3},{rows // 3}]", "privacy.epsilon": epsilon,
                "training.steps": steps, "training.expected_batch": batch, "training.max_batch_per_owner": rows // 3,
                "training.checkpoint_every": 0}
    if local:
        settings |= {"privacy.accountant": '"rdp"', "initialisation.method": '"averaging"', "initialisation.steps": local,
                     "initialisation.expected_batch": batch, "initialisation.learning_rate": 1.0,
                     "initialisation.epsilon": epsilon * local_share}
    command = [os.environ.get("TREFOIL", "build/bin/trefoil"), "plan", "--json", "--job", job]
    for key, value in settings.items():
        command += ["--set", f"{key}={value}"]
    plan = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    of_local = [float(re.search(r"noise multiplier ([0-9.]+)", line["sentence"])[1])
                for line in plan["statement"] if line["key"] == "local_training"]
    return plan["sigma"] * 1.5 ** 0.5, of_local[0] if local else 0.0


class Network:
    """Layers of weights whose last row is the bias; without hidden layers a linear model."""

    def __init__(self, run, inputs, columns, generator):
        self.run = run
        sizes = [inputs] + [int(size) for size in run["hidden"].split("-") if size] + [columns]
        self.weights = []
        for layer, (size, outputs) in enumerate(zip(sizes, sizes[1:])):
            reach = (6 / (min(size, ROW_NORM_SQUARED) if layer == 0 else size)) ** 0.5
            weights = generator.uniform(-reach, reach, (size + 1, outputs)).astype(numpy.float32)
            weights[-1] = 0
            self.weights.append(weights if len(sizes) > 2 else 0 * weights)

    def activate(self, z):
        """What a hidden layer makes of z, and its derivative."""
        bound = self.run["activation_bound"]
        if self.run["activation"] == "tanh":
            value = numpy.tanh(z)
            return value, 1 - value * value
        if self.run["activation"] == "square":
            inside = numpy.abs(z) < bound ** 0.5
            return numpy.minimum(z * z, bound), 2 * z * inside
        return numpy.clip(z, 0, bound), ((z >= 0) & (z < bound)).astype(numpy.float32)

    def forward(self, x):
        inputs, slopes = [x], []
        for weights in self.weights[:-1]:
            value, slope = self.activate(inputs[-1] @ weights)
            inputs.append(numpy.hstack([value, numpy.ones((len(x), 1), numpy.float32)]))
            slopes.append(slope)
        return inputs, slopes, inputs[-1] @ self.weights[-1]

    def predict(self, logits):
        if self.run["loss"] == "softmax":
            shares = numpy.exp(logits - logits.max(1, keepdims=True))
            return shares / shares.sum(1, keepdims=True)
        return 1 / (1 + numpy.exp(-numpy.clip(logits, -60, 60)))

    def clipped_sums(self, x, y, round_off):
        """Of each layer, the sum of clipped gradients."""
        inputs, slopes, logits = self.forward(x)
        deltas = [round_off(self.predict(logits)) - y]
        for weights, slope in zip(self.weights[:0:-1], slopes[::-1]):
            bound = self.run["delta_bound"]
            deltas.insert(0, numpy.clip((deltas[0] @ weights[:-1].T) * slope, -bound, bound))
        if self.run["clipping"] == "factorised":
            squares = sum((a * a).sum(1) * (d * d).sum(1) for a, d in zip(inputs, deltas))
            factors = numpy.minimum(1, self.run["clip"] / numpy.sqrt(numpy.maximum(squares, 1e-20)))[:, None]
            deltas = [round_off(d * factors) for d in deltas]
        return [a.T @ d for a, d in zip(inputs, deltas)]

    def sensitivity(self):
        """The most that a record adds: the clip, or for every value of the weights (docs/explanation/privacy.md)."""
        if self.run["clipping"] == "factorised":
            return self.run["clip"]
        norms, deltas = [ROW_NORM_SQUARED], []
        for weights in self.weights[:-1]:
            norms.append(self.run["activation_bound"] ** 2 * weights.shape[1] + 1)
            deltas.append(self.run["delta_bound"] ** 2 * weights.shape[1])
        deltas.append(2.0 if self.run["loss"] == "softmax" else self.weights[-1].shape[1])
        return sum(a * d for a, d in zip(norms, deltas)) ** 0.5


def rounding_of(run, generator):
    if run["rounding"] == "none":
        return lambda x: x
    if run["rounding"] == "exact":
        return lambda x: (numpy.floor(x / UNIT) * UNIT).astype(numpy.float32)
    return lambda x: (numpy.floor(x / UNIT + generator.random(x.shape)) * UNIT).astype(numpy.float32)


def train(network, x, y, rows, noise, steps, rate, generator):
    """In place. `rows` are those to train on, each in a step with the probability of the run's batch over all rows."""
    run = network.run
    round_off = rounding_of(run, generator)
    expected = run["batch"]
    velocities = [numpy.zeros_like(weights) for weights in network.weights]
    for _ in range(steps):
        batch = rows[generator.random(len(rows)) < expected / len(rows)]
        sums = network.clipped_sums(x[batch], y[batch], round_off)
        for weights, velocity, total in zip(network.weights, velocities, sums):
            total += noise * network.sensitivity() * generator.standard_normal(total.shape, dtype=numpy.float32)
            velocity[:] = round_off(run["momentum"] * velocity + rate / expected * total)
            weights -= velocity


def accuracy(network, x, labels, rows):
    logits = network.forward(x[rows])[2]
    found = logits.argmax(1) if logits.shape[1] > 1 else (logits[:, 0] > 0).astype(int)
    return float((found == labels[rows]).mean())


def one_run(run, x, y, labels, held_out, multipliers, seed):
    generator = numpy.random.default_rng(seed)
    order = numpy.random.default_rng(1000 + seed).permutation(len(labels))
    rows, kept_back = numpy.sort(order[held_out:]), numpy.sort(order[:held_out])
    steps_noise, local_noise = multipliers
    network = Network(run, x.shape[1] - 1, y.shape[1], generator)
    if run["local"]:
        locals_ = []
        for owner in range(3):
            local = Network(run, x.shape[1] - 1, y.shape[1], generator)
            local.weights = [weights.copy() for weights in network.weights]
            train(local, x, y, rows[owner::3], local_noise, run["local"], run["rate"], generator)
            locals_.append(local.weights)
        network.weights = [sum(layer) / 3 for layer in zip(*locals_)]
    train(network, x, y, rows, steps_noise, run["steps"], run["rate"], generator)
    return accuracy(network, x, labels, kept_back)


def projected(rows, columns):
    """Onto that many random directions, each row as long as it was."""
    directions = numpy.random.default_rng(0).standard_normal((rows.shape[1], columns), dtype=numpy.float32)
    found = rows @ directions
    lengths = [numpy.linalg.norm(some, axis=1, keepdims=True) for some in (rows, found)]
    return found * (lengths[0] / numpy.maximum(lengths[1], 1e-12))


def load(path, columns):
    """Rows with the constant input, labels in columns, and labels."""
    with numpy.load(path) as archive:
        labels = archive["y"].astype(int).ravel()
        rows = archive["x"]
    if columns:
        rows = projected(rows, columns)
    x = numpy.empty((len(labels), rows.shape[1] + 1), numpy.float32)
    x[:, :-1] = rows
    x[:, -1] = 1
    classes = labels.max() + 1
    y = labels[:, None] if classes == 2 else numpy.eye(classes)[labels]
    return x, y.astype(numpy.float32), labels


def main():
    features, job, *columns = sys.argv[1:]
    x, y, labels = load(features, int(columns[0]) if columns else 0)
    held_out = len(labels) // 9
    print(",".join([*RUN, "median", "least", "largest"]), flush=True)
    for line in sys.stdin:
        if not line.split("#")[0].strip():
            continue
        run = read_run(line)
        noise_of = [run[key] for key in ("epsilon", "steps", "batch", "local", "local_share")]
        multipliers = noise_multipliers(job, len(labels) - held_out, *noise_of)
        found = sorted(one_run(run, x, y, labels, held_out, multipliers, seed) for seed in range(run["seeds"]))
        figures = [found[len(found) // 2], found[0], found[-1]]
        print(",".join([*map(str, run.values()), *(f"{100 * figure:.2f}" for figure in figures)]), flush=True)


if __name__ == "__main__":
    main()
