#!/usr/bin/env python3
"""Four hospitals' deposits and a training on them, beside what each hospital reaches alone and beside central training.

Usage: heart_owners.py HEART OUT.csv [--splits N] [--epsilon E ...]

As scripts/demo-owners, with each hospital's records shuffled by seed 1 to N (eleven) and every fourth held back, once for every
epsilon, at an insider, and once without privacy (noise a thousandth as wide as a record's part: epsilon 0). One set of deposits a
split serves all of its jobs. Alone and central: the job's features, model, steps and rules for settings in double precision, all
records of one hospital, or of all, in every step, Gaussian noise for epsilon and delta of whoever sees the model.

A CSV line an epsilon and hospital ("all": their held back records together): the median, least and largest accuracy over the splits
of each of the three ways; of all also of each hospital's own model on its own records. Packages: numpy.
"""

import argparse
import json
import math
import pathlib
import random
import re
import shutil
import statistics
import subprocess
import sys

import numpy

from deposited_run import demo

STEPS, MOMENTUM, ROW_NORM, LOGIT_BOUND, DELTA = 30, 0.5, 3.0, 64.0, 1e-4  # of configs/heart.toml


def gaussian_deviation(epsilon):
    """The least deviation of one Gaussian release of sensitivity 1 that is (epsilon, DELTA)-private, by its exact formula."""
    def phi(x):
        return math.erfc(-x / math.sqrt(2)) / 2

    low, high = 0.01, 1000.0
    for _ in range(100):
        middle = math.sqrt(low * high)
        delta = phi(0.5 / middle - epsilon * middle) - math.exp(epsilon) * phi(-0.5 / middle - epsilon * middle)
        low, high = (middle, high) if delta > DELTA else (low, middle)
    return high


def central(x, y, epsilon, generator):
    """Weights of a training that sees all of these records; epsilon 0: without noise."""
    rows = numpy.hstack([x, numpy.ones((len(x), 1))])
    length = math.hypot(ROW_NORM, 1)
    clip = length / 4
    noise = 0.0 if epsilon == 0 else math.sqrt(2 * math.log(1.25 / DELTA)) / (epsilon * len(x))
    reach = min(2.5 / (noise * STEPS * 0.5), 5 / 8 * LOGIT_BOUND) if noise > 0 else 5 / 8 * LOGIT_BOUND
    rate = reach * (1 - MOMENTUM) / (min(clip, length / 2) * length)
    sigma = 0.0 if epsilon == 0 else gaussian_deviation(epsilon) * math.sqrt(STEPS)
    weights = numpy.zeros(rows.shape[1])
    velocity = numpy.zeros_like(weights)
    lengths = numpy.linalg.norm(rows, axis=1)
    for step in range(STEPS):
        errors = 1 / (1 + numpy.exp(-rows @ weights)) - y
        errors *= numpy.minimum(1, clip / numpy.maximum(lengths * numpy.abs(errors), 1e-12))
        gradient = rows.T @ errors + sigma * clip * generator.standard_normal(len(weights))
        velocity = MOMENTUM * velocity + rate * (1 - step / STEPS) * gradient / len(x)
        weights -= velocity
    return weights


def correct(weights, x, y):
    return int(((x @ weights[:-1] + weights[-1] > 0) == (y == 1)).sum())


def split_run(module, heart, out, seed, epsilons):
    """Of this split a dictionary (epsilon, way, hospital) -> accuracy."""
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    parties = module.prepare_parties(out / "parties")
    job = module.prepare_job(out, parties, None)
    train, test = {}, {}
    for hospital in module.CAPACITIES:
        lines = module.lines_of(hospital, heart)
        random.Random(seed).shuffle(lines)
        module.deposit(hospital, lines, out, parties)
        for name, tables in (("train", train), ("test", test)):
            module.trefoil("features", "--job", job, "--in", out / f"hospitals/{hospital}/{name}.csv", "--out", out / f"{name}.npz")
            with numpy.load(out / f"{name}.npz") as archive:
                tables[hospital] = archive["x"].astype(float), archive["y"]
    sizes = {hospital: len(table[1]) for hospital, table in test.items()}
    found = {}

    def add(epsilon, way, counts):
        for hospital, count in counts.items():
            found[epsilon, way, hospital] = count / sizes[hospital]
        found[epsilon, way, "all"] = sum(counts.values()) / sum(sizes.values())

    generator = numpy.random.default_rng(seed)
    text = job.read_text()
    for epsilon in epsilons:
        private = text if epsilon == 0 else re.sub(r"(?m)^epsilon = .*$", f"epsilon = {epsilon}", text)
        if epsilon == 0:
            private = re.sub(r"(?m)^epsilon = .*$", "sigma = 0.001", text).replace('accountant = "pld"', 'accountant = "rdp"')
        job.write_text(private)
        runs = [out / f"run-{epsilon}-{party}" for party in range(3)]
        processes = [subprocess.Popen([module.TREFOIL, "run", "--config", party / "party.toml", "--job", job, "--out", folder],
                                      stdout=subprocess.DEVNULL) for party, folder in zip(parties, runs)]
        codes = [process.wait() for process in processes]
        if any(codes):
            sys.exit(max(codes))
        add(epsilon, "deposits", {hospital: json.loads(module.trefoil("evaluate", "--model", runs[0] / "model.npz", "--data",
                                                                      out / f"hospitals/{hospital}/test.csv", "--json"))["correct"]
                                  for hospital in train})
        add(epsilon, "alone", {hospital: correct(central(*train[hospital], epsilon, generator), *test[hospital]) for hospital in train})
        together = [numpy.concatenate([table[k] for table in train.values()]) for k in (0, 1)]
        weights = central(*together, epsilon, generator)
        add(epsilon, "central", {hospital: correct(weights, *test[hospital]) for hospital in test})
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("heart", type=pathlib.Path)
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--splits", type=int, default=11)
    parser.add_argument("--epsilon", type=float, nargs="+", default=[1, 3, 0])
    arguments = parser.parse_args()
    module = demo()
    splits = [split_run(module, arguments.heart.resolve(), arguments.out.resolve().parent / f"{arguments.out.stem}.d", seed, arguments.epsilon)
              for seed in range(1, arguments.splits + 1)]
    with arguments.out.open("w") as file:
        print("epsilon,hospital,way,median,least,largest", file=file)
        for epsilon in arguments.epsilon:
            for hospital in (*module.CAPACITIES, "all"):
                for way in ("deposits", "alone", "central"):
                    values = [split[epsilon, way, hospital] for split in splits]
                    numbers = (statistics.median(values), min(values), max(values))
                    print(f"{epsilon:g},{hospital},{way}," + ",".join(f"{number:.3f}" for number in numbers), file=file)


if __name__ == "__main__":
    main()
