#!/usr/bin/env python3
"""What tests/acceptance/clear_training.cpp does, written anew in single precision, for linear models on rows that are there as features:
several times as fast, and a check of that program.

Usage: plain_training.py --job JOB --data DIR [--set KEY=VALUE ...] [--as HOW] [--local-steps N] [--random-weights D] [--every N]
                         [--times-rate R ...] [--times-clip C ...] [--runs N [--together]]   TREFOIL names the program (build/bin/trefoil)
  JOB   of type "dpsgd", one-vs-rest, of two classes or, for HOW joint, of a target with the squared loss, with a constant or linear
        rate, numbers in place of "auto" and row_norm written down; DIR is what plain_rows.py has made of its features, or
        table_rows.py of its table, no row longer than features.row_norm. Row i is party i mod 3's, or, with local.split "sorted",
        its label and number decide.
  HOW   joint (default), single-party, federated, local-dp, local or least-squares, as clear_training has them; so is what is
        printed, at the end. The settings of several --times-rate and --times-clip are trained side by side: a run of each has
        the same batches, and noise of its own; with --together all runs of all settings have, which is faster.
Noise of trainings is from `trefoil plan`: an outsider's of the joint steps is as large as what one party alone needs at the same
rate, steps and epsilon. Batches by Poisson sampling, whole examples clipped, continuous Gaussian noise, no roundings. Packages: numpy, scipy.
"""
import argparse
import json
import math
import os
import pathlib
import re
import subprocess
import tomllib

import numpy
import scipy.sparse

BLOCK = 2**18  # numbers of a product's rows or results
LEAST_ROWS = 256
PLANS = {}  # by all that noise depends on, as a plan takes seconds


def read_options(arguments=None):
    parser = argparse.ArgumentParser()
    parser.add_argument("--job", required=True)
    parser.add_argument("--data", type=pathlib.Path, required=True)
    parser.add_argument("--set", action="append", default=[])
    ways = ("joint", "single-party", "federated", "local-dp", "local", "least-squares")
    parser.add_argument("--as", dest="way", choices=ways, default="joint")
    parser.add_argument("--local-steps", type=int, default=1)
    parser.add_argument("--random-weights", type=float, default=0.0)
    parser.add_argument("--times-rate", type=float, nargs="+", default=[1])
    parser.add_argument("--times-clip", type=float, nargs="+", default=[1])
    parser.add_argument("--every", type=int, default=10)
    parser.add_argument("--runs", type=int, default=1)
    parser.add_argument("--together", action="store_true")
    return parser.parse_args(arguments)


def main():
    options = read_options()
    experiment = Experiment(options)
    print({"local": "party", "least-squares": "run"}.get(options.way, "step") + ",accuracy", flush=True)
    if options.way == "least-squares":
        return experiment.solve_least_squares()
    if options.way == "local":
        for _ in range(options.runs):
            experiment.print_local_models()
        return None
    for line in experiment.train_all():
        print(line)
    return None


class Rows:
    def __init__(self, x, y, classes):
        """Of a target `classes` is None, and y has shares of its range."""
        self.x, self.y = x, y
        # With the constant input.
        squares = x.multiply(x).sum(1).A1 if scipy.sparse.issparse(x) else numpy.einsum("ij,ij->i", x, x)
        self.norms = numpy.sqrt(squares + 1)
        if classes is None:
            self.targets = y[:, None].astype(numpy.float32)
        else:
            self.targets = (y[:, None] == (numpy.arange(classes) if classes > 2 else numpy.ones(1))).astype(numpy.float32)

    def logits(self, weights):
        return self.x @ weights[:-1] + weights[-1]


def read_job(file, assignments):
    job = tomllib.loads(pathlib.Path(file).read_text())
    for assignment in assignments:
        key, value = assignment.split("=", 1)
        try:
            value = tomllib.loads(f"value = {value}")["value"]
        except tomllib.TOMLDecodeError:
            pass  # a word is text, as the program has it
        table, name = key.split(".")
        job.setdefault(table, {})[name] = value
    expected = "squared" if "target" in job["data"] else "one-vs-rest"
    if job.get("model", {}).get("loss", expected) != expected:
        raise SystemExit(f'plain_training: model.loss: expected "{expected}"')
    if job["training"].get("schedule", "constant") not in ("constant", "linear"):
        raise SystemExit("plain_training: training.schedule: expected constant or linear")
    return job


class Experiment:
    def __init__(self, options):
        self.options = options
        self.job = read_job(options.job, options.set)
        self.classes = self.job["data"].get("classes")
        self.outputs = self.classes if self.classes and self.classes > 2 else 1
        # Times the job's learning rate and clip; their models' columns are side by side in one matrix.
        together = range(options.runs if options.together else 1)
        self.settings = [(rate, clip) for rate in options.times_rate for clip in options.times_clip for _ in together]
        self.generator = numpy.random.default_rng()
        self.rows = self.read("train")
        self.test = self.read("test")
        self.owners = self.deal()
        columns = self.rows.x.shape[1]
        rows = max(LEAST_ROWS, BLOCK // max(columns, len(self.settings) * self.outputs))
        self.block = numpy.empty((rows, columns), numpy.float32)
        if options.way != "least-squares":
            self.plan()

    def read(self, part):
        file = self.options.data / f"{part}-x.npz"
        x = scipy.sparse.load_npz(file) if file.exists() else numpy.load(file.with_suffix(".npy"))
        y = numpy.load(self.options.data / f"{part}-y.npy")
        return Rows(x, y.astype(int) if self.classes else y, self.classes)

    def deal(self):
        """Of each party the numbers of its rows."""
        count = len(self.rows.y)
        if self.job.get("local", {}).get("split", "even") == "even":
            return [numpy.arange(party, count, 3) for party in range(3)]
        order = numpy.argsort(self.rows.y, kind="stable")
        return numpy.split(order, numpy.cumsum(self.job["data"]["rows"])[:2])

    def plan(self):
        privacy = {key: value for key, value in self.job["privacy"].items() if key != "clip"}
        training = [self.job["training"].get(key) for key in ("steps", "expected_batch", "max_batch_per_owner")]
        noise_of = json.dumps([self.job["data"]["rows"], training, privacy, self.job.get("initialisation")])
        if noise_of not in PLANS:
            PLANS[noise_of] = self.planned()
        plan = PLANS[noise_of]
        self.sigma = plan["sigma"] * math.sqrt(1.5)
        of_local = [line["sentence"] for line in plan["statement"] if line["key"] == "local_training"]
        self.local_sigma = float(re.search(r"noise multiplier ([0-9.]+)", of_local[0])[1]) if of_local else None

    def planned(self):
        command = [os.environ.get("TREFOIL", "build/bin/trefoil"), "plan", "--json", "--job", self.options.job]
        for assignment in self.options.set:
            command += ["--set", assignment]
        return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)

    def scores(self, weights):
        """Of each setting's model; of a target R²."""
        logits = self.test.logits(weights).reshape(len(self.test.y), -1, self.outputs)
        if self.classes is None:
            missed = self.predictions(logits[..., 0]) - self.test.targets
            return 1 - (missed.astype(float) ** 2).mean(0) / self.test.targets.var(dtype=float)
        said = logits[..., 0] > 0 if self.classes == 2 else logits.argmax(2)
        return (said == self.test.y[:, None]).mean(0)

    def predictions(self, logits):
        """Of a target its share of the range, in the middle of which a logit is 0."""
        return logits + numpy.float32(0.5) if self.classes is None else 1 / (1 + numpy.exp(-numpy.clip(logits, -60, 60)))

    def zeros(self):
        return numpy.zeros((self.rows.x.shape[1] + 1, len(self.settings) * self.outputs), numpy.float32)

    def noisy_mean(self, rows, own, weights, rate, sigma, clips):
        """Of the clipped gradients of a batch of the rows that `own` numbers: their noisy sum over the expected batch. `clips`: of
        each setting."""
        batch = own[self.generator.random(len(own)) < rate]
        total = self.zeros()
        for first in range(0, len(batch), len(self.block)):
            some = batch[first : first + len(self.block)]
            if scipy.sparse.issparse(rows.x):
                x = rows.x[some]
            else:
                x = numpy.take(rows.x, some, axis=0, out=self.block[: len(some)], mode="clip")
            errors = self.predictions(x @ weights[:-1] + weights[-1])
            errors = errors.reshape(len(some), -1, self.outputs) - rows.targets[some][:, None]
            norms = rows.norms[some][:, None] * numpy.linalg.norm(errors, axis=2)
            errors *= numpy.minimum(1, clips / numpy.maximum(norms, 1e-12))[..., None].astype(numpy.float32)
            errors = errors.reshape(len(some), -1)
            total[:-1] += x.T @ errors
            total[-1] += errors.sum(0)
        deviations = numpy.repeat(sigma * clips, self.outputs).astype(numpy.float32)
        total += deviations * self.generator.standard_normal(total.shape, dtype=numpy.float32)
        return total / numpy.float32(rate * len(own))

    def local_models(self):
        settings = self.job["initialisation"]
        rate = 3 * settings["expected_batch"] / sum(self.job["data"]["rows"])
        clips = numpy.full(len(self.settings), settings.get("clip", self.job["privacy"]["clip"]))
        models = []
        for own in self.owners:
            weights = self.zeros()
            for _ in range(settings["steps"]):
                weights -= numpy.float32(settings["learning_rate"]) * self.noisy_mean(
                    self.rows, own, weights, rate, self.local_sigma, clips)
            models.append(weights)
        return models

    def print_local_models(self):
        models = self.local_models()
        for party, model in enumerate(models):
            print(f"{party},{self.scores(model)[0]:.4f}")
        print(f"average,{self.scores(sum(models) / 3)[0]:.4f}", flush=True)

    def first_weights(self):
        if self.job.get("initialisation", {"method": "none"})["method"] != "none":
            return sum(self.local_models()) / numpy.float32(3)
        if self.options.random_weights > 0:
            return self.generator.normal(0, self.options.random_weights, self.zeros().shape).astype(numpy.float32)
        return self.zeros()

    def perturbed(self):
        """The records as their owners would publish them: rows by the Gaussian mechanism with half of epsilon, any row of length R
        against any other, and labels by randomised response with the other half."""
        half, norm = self.job["privacy"]["epsilon"] / 2, self.job["features"]["row_norm"]
        deviation = 2 * norm * gaussian_sigma(half, self.job["privacy"]["delta"])
        x = self.generator.standard_normal(self.rows.x.shape, dtype=numpy.float32)
        x *= numpy.float32(deviation)
        x += self.rows.x.toarray() if scipy.sparse.issparse(self.rows.x) else self.rows.x
        kept = self.generator.random(len(x)) < math.exp(half) / (math.exp(half) + self.classes - 1)
        others = (self.rows.y + self.generator.integers(1, self.classes, len(x))) % self.classes
        return Rows(x, numpy.where(kept, self.rows.y, others), self.classes)

    def train_all(self):
        """Lines of step and score: of each setting all runs, one after the other."""
        runs = [self.train() for _ in range(1 if self.options.together else self.options.runs)]
        return [f"{step},{scores[place]:.4f}" for place in range(len(self.settings)) for lines in runs for step, scores in lines]

    def train(self):
        """Pairs of a step and the scores behind it."""
        training, way = self.job["training"], self.options.way
        rate = training["expected_batch"] / sum(self.job["data"]["rows"])
        everyone = numpy.arange(len(self.rows.y))
        parts = {"single-party": self.owners[:1], "federated": self.owners}.get(way, [everyone])
        rows = self.perturbed() if way == "local-dp" else self.rows
        sigma = 0 if way == "local-dp" else self.sigma
        weights = [self.first_weights()] * len(parts)
        velocities = [self.zeros() for _ in parts]
        steps, falls = training["steps"], training.get("schedule", "constant") == "linear"
        times_rate, times_clip = numpy.array(self.settings).T
        rates = numpy.repeat(times_rate * training["learning_rate"], self.outputs)
        clips = times_clip * self.job["privacy"]["clip"]
        lines = [(0, self.scores(weights[0]))]
        for step in range(1, steps + 1):
            for k, own in enumerate(parts):
                gradient = self.noisy_mean(rows, own, weights[k], rate, sigma, clips)
                velocities[k] = numpy.float32(training.get("momentum", 0)) * velocities[k]
                velocities[k] += (rates * (1 - (step - 1) / steps if falls else 1)).astype(numpy.float32) * gradient
                weights[k] = weights[k] - velocities[k]
            if step % self.options.local_steps == 0 or step == steps:
                weights = [sum(weights) / numpy.float32(len(parts))] * len(parts)
            if step % self.options.every == 0 or step == steps:
                lines.append((step, self.scores(sum(weights) / numpy.float32(len(parts)))))
        return lines

    def solve_least_squares(self):
        """By jobs of type "least-squares" against an outsider (docs/explanation/privacy.md, "Least squares"): rows of norm 1 with the
        constant 1/2, targets of 1 and 0 or, of two classes, -1; the ridge is half of the largest eigenvalue that the noise has."""
        norm = self.job["features"]["row_norm"]
        rows, test = (with_constant(part.x, norm) for part in (self.rows, self.test))
        targets = 2 * self.rows.targets - 1 if self.classes == 2 else self.rows.targets
        squares, products = products_of(rows, rows), products_of(rows, targets)
        size = len(squares)
        deviation = gaussian_sigma(self.job["privacy"]["epsilon"], self.job["privacy"]["delta"]) * math.sqrt(45) / 4
        for run in range(1, self.options.runs + 1):
            noise = numpy.tril(self.generator.standard_normal((size, size)) * (deviation / math.sqrt(2)), -1)
            noise += noise.T
            noise[numpy.diag_indices(size)] = deviation * self.generator.standard_normal(size)
            values, vectors = numpy.linalg.eigh(squares + noise)
            inverse = 1 / (numpy.maximum(values, 0) + deviation * math.sqrt(size / 2))
            noisy = products + deviation * self.generator.standard_normal(products.shape)
            weights = (vectors @ (inverse[:, None] * (vectors.T @ noisy))).astype(numpy.float32)
            logits = test @ weights
            said = logits[:, 0] > 0 if self.classes == 2 else logits.argmax(1)
            print(f"{run},{(said == self.test.y).mean():.4f}", flush=True)


def with_constant(x, norm):
    constant = numpy.full((x.shape[0], 1), 0.5, numpy.float32)
    stacked = scipy.sparse.hstack if scipy.sparse.issparse(x) else numpy.hstack
    made = stacked([x / numpy.float32(norm), constant])
    return made.tocsr() if scipy.sparse.issparse(made) else made


def products_of(rows, others):
    """Sums over all rows of their products with others, in double precision from block to block."""
    total = numpy.zeros((rows.shape[1], others.shape[1]))
    for first in range(0, rows.shape[0], 4096):
        block = rows[first : first + 4096].T @ others[first : first + 4096]
        total += block.toarray() if scipy.sparse.issparse(block) else block
    return total


def gaussian_sigma(epsilon, delta):
    """The least noise multiplier of one Gaussian release (Balle, Wang 2018, theorem 8)."""
    def phi(x):
        return math.erfc(-x / math.sqrt(2)) / 2
    low, high = 1e-3, 1e6
    for _ in range(100):
        middle = math.sqrt(low * high)
        beyond = phi(0.5 / middle - epsilon * middle) - math.exp(epsilon) * phi(-0.5 / middle - epsilon * middle)
        low, high = (middle, high) if beyond > delta else (low, middle)
    return high


if __name__ == "__main__":
    main()
