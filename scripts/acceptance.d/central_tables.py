#!/usr/bin/env python3
"""Models of small tables by `trefoil init-job` and `trefoil local`, beside central training of the same models.

Usage: central_tables.py TREFOIL FOLDER OUT.csv [--epsilon E ...] [--against WHOM] [--splits N] [--tables TABLE ...]

FOLDER has the tables, without headers, the last column to be predicted. Split s of a table: its rows shuffled by seed s, every
fifth row for testing; `local` deals the others to three parties. 50 splits below 2,000 rows, else eleven; each trained once, of
fewer than 500 rows, where the noise of a training moves its accuracy by points, four times, both ways. The job is drafted
from split 1 (`init-job --yes`, with epsilon and whom it is against, an outsider unless said, among its answers) and used
for all splits, as its text is public.

Central: the same features and model, epsilon and delta, DP-SGD in double precision with Poisson sampling and noise for one who
sees the model alone. On each split it has the settings of a grid that are best on the test rows of all other splits: they are
chosen by looking at the data, without a charge, but not by the noise of the run that is compared.

A CSV line a table and epsilon: trainings a split; ours and central (accuracy, of a target R²), means over the splits, the mean
of the paired difference and its upper confidence limit (Student, one-sided, false-alarm probability 0.025); how much higher
central's mean would be at the one setting that is best on all test rows, and that setting. Exit code 1 where a limit is above
0.02. Packages: numpy.
"""

import argparse
import csv
import json
import math
import pathlib
import random
import shutil
import subprocess
import sys
import tomllib

import numpy

ALLOWED = 0.02
STEPS = 100
STUDENT = {11: 2.228, 50: 2.010}  # 97.5 % of Student's law with one degree of freedom fewer
REACHES = (1.6, 3.2, 6.4, 12.8, 25.6, 51.2, 102.4, 204.8, 409.6, 819.2, 1638.4)  # how far the steps can move a logit
CLIPS = (0.25, 0.5, 1.0)  # of the gradient's length at zero weights
RATES = (0.25, 1.0)  # of the records in a batch
NORMS = (0.6, 1.0)  # of the job's row_norm


class Job:
    """What a drafted job says of its features."""

    def __init__(self, path):
        job = tomllib.loads(path.read_text())
        data = job["data"]
        self.missing = set(data.get("missing", ()))
        self.columns = data["column"]
        self.row_norm = job["features"]["row_norm"]
        self.label = data.get("label")
        self.target = data.get("target")
        self.outputs = 1 if self.target or len(self.label["values"]) == 2 else len(self.label["values"])

    def features(self, rows):
        found = []
        for place, column in enumerate(self.columns):
            texts = [row[place].strip() for row in rows]
            if column.get("kind") == "ignore":
                continue
            if column.get("kind") == "category":
                values = [self.key(column, value) for value in column["values"]]
                known = [self.key(column, text) for text in texts]
                found += [[float(value == text) for text in known] for value in values]
                if column.get("missing_indicator"):
                    found.append([float(text not in values) for text in known])
            elif column.get("kind", "number") != "number":
                sys.exit(f"central_tables.py: no central training for a column of kind {column['kind']}")
            else:
                found.append([0.0 if text in self.missing else (float(text) - column["mean"]) / column["scale"] for text in texts])
                if column.get("missing_indicator"):
                    found.append([float(text in self.missing) for text in texts])
        return numpy.array(found).T

    @staticmethod
    def key(column, text):
        """What makes texts of a category the same."""
        try:
            return float(text) if column.get("numeric") else text
        except ValueError:
            return text

    def truth(self, rows):
        """Of classes their numbers, of a target its value between -1/2 and 1/2."""
        texts = [row[-1].strip() for row in rows]
        if self.target:
            low, high = self.target["low"], self.target["high"]
            return numpy.array([(float(text) - low) / (high - low) - 0.5 for text in texts])
        key = float if self.label.get("numeric") else str
        values = [key(value) for value in self.label["values"]]
        return numpy.array([values.index(key(text)) for text in texts])


def lengthened(features, row_norm):
    """Rows shortened to row_norm, with a 1 for the bias."""
    lengths = numpy.maximum(numpy.linalg.norm(features, axis=1, keepdims=True), 1e-12)
    return numpy.hstack([features * numpy.minimum(1, row_norm / lengths), numpy.ones((len(features), 1))])


def score(job, scores, truth):
    """Accuracy, or R²; scores: rows x settings x outputs; a number a setting."""
    if job.target:
        spread = ((truth - truth.mean()) ** 2).sum()
        return 1 - ((scores[:, :, 0] - truth[:, None]) ** 2).sum(axis=0) / spread
    chosen = (scores[:, :, 0] > 0).astype(int) if job.outputs == 1 else scores.argmax(axis=2)
    return (chosen == truth[:, None]).mean(axis=0)


def central_scores(job, train, test, rate, norm, sigma, generator):
    """Test scores of all reaches and clips, in their order."""
    x, x_test = (lengthened(job.features(rows), norm * job.row_norm) for rows in (train, test))
    truth = job.truth(train)
    if job.target:
        goal = truth[:, None]
    elif job.outputs == 1:
        goal = truth[:, None].astype(float)
    else:
        goal = numpy.eye(job.outputs)[truth]
    length = math.sqrt((norm * job.row_norm) ** 2 + 1)
    at_zero = 0.2 if job.target else 0.5 * math.sqrt(job.outputs)
    # A step of rate eta moves a logit by eta min(C, R e0) R at most; the schedule's mean rate is one half.
    settings = [(reach, clip * length * at_zero) for reach in REACHES for clip in CLIPS]
    clips = numpy.array([clip for _, clip in settings])
    rates = numpy.array([2 * reach / (STEPS * clip * length) for reach, clip in settings])
    lengths = numpy.linalg.norm(x, axis=1)
    batch = rate * len(x)
    weights = numpy.zeros((x.shape[1], len(settings), job.outputs))
    for step in range(STEPS):
        drawn = generator.random(len(x)) < rate
        rows = x[drawn]
        logits = numpy.tensordot(rows, weights, 1)
        output = logits if job.target else 1 / (1 + numpy.exp(-numpy.clip(logits, -50, 50)))
        errors = output - goal[drawn][:, None, :]
        sizes = lengths[drawn][:, None] * numpy.linalg.norm(errors, axis=2)
        errors *= numpy.minimum(1, clips / numpy.maximum(sizes, 1e-12))[:, :, None]
        gradient = numpy.tensordot(rows.T, errors, 1)
        gradient += generator.standard_normal(gradient.shape) * (sigma * clips)[None, :, None]
        weights -= (rates * (1 - step / STEPS))[None, :, None] * gradient / batch
    return score(job, numpy.tensordot(x_test, weights, 1), job.truth(test))


def run(trefoil, *arguments):
    done = subprocess.run([trefoil, *map(str, arguments)], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"central_tables.py: trefoil {arguments[0]}: {done.stderr.strip()}")
    return done.stdout


def draft(trefoil, table, folder, epsilon, against):
    answers = folder / "given.answers"
    given = {"epsilon": str(epsilon), "against": against, "name": table}
    answers.write_text("".join(f'"{key}" = "{value}"\n' for key, value in given.items()))
    path = folder / f"{table}-{epsilon}.toml"
    path.unlink(missing_ok=True)
    run(trefoil, "init-job", folder / "1" / "train.csv", "--answers", answers, "--yes", "--out", path)
    return path


def compare(trefoil, table, rows, epsilon, against, splits, trainings, folder):
    train, test = {}, {}
    for split in range(1, splits + 1):
        shuffled = rows[:]
        random.Random(split).shuffle(shuffled)
        test[split] = shuffled[4::5]
        train[split] = [row for place, row in enumerate(shuffled) if place % 5 != 4]
        (folder / str(split)).mkdir(parents=True, exist_ok=True)
        for name, part in (("train", train[split]), ("test", test[split])):
            (folder / str(split) / f"{name}.csv").write_text("".join(",".join(row) + "\n" for row in part))
    path = draft(trefoil, table, folder, epsilon, against)
    job = Job(path)
    ours = numpy.zeros(splits)
    for split in range(1, splits + 1):
        for again in range(trainings):
            out = folder / f"run-{epsilon}-{split}-{again}"
            shutil.rmtree(out, ignore_errors=True)
            run(trefoil, "local", "--job", path, "--data", folder / str(split), "--out", out)
            found = json.loads(run(trefoil, "evaluate", "--model", out / "model.npz", "--data", out / "test", "--json"))
            run(trefoil, "report", out)
            ours[split - 1] += (found["r_squared"] if job.target else found["accuracy"]) / trainings
    central, names = [], []
    for rate in RATES:
        thirds = [len(train[1][party::3]) for party in range(3)]
        settings = ("privacy.against=outsider", f"data.rows={thirds}", f"training.steps={STEPS}",
                    f"training.expected_batch={rate * len(train[1])}")
        plan = run(trefoil, "plan", "--job", path, *(word for setting in settings for word in ("--set", setting)), "--json")
        # The plan's is of two parties' noise; who sees the model alone has that of all three before it.
        sigma = math.sqrt(1.5) * json.loads(plan)["sigma"]
        for norm in NORMS:
            generator = numpy.random.default_rng(1)
            central.append(numpy.array([
                numpy.mean([central_scores(job, train[split], test[split], rate, norm, sigma, generator) for _ in range(trainings)], axis=0)
                for split in range(1, splits + 1)
            ]))
            names += [f"rate {rate} norm {norm} reach {reach} clip {clip}" for reach in REACHES for clip in CLIPS]
    central = numpy.hstack(central)
    others = central.sum(axis=0) - central  # without the split itself
    chosen = central[numpy.arange(splits), others.argmax(axis=1)]
    best = int(central.mean(axis=0).argmax())
    differences = chosen - ours
    limit = differences.mean() + STUDENT[splits] * differences.std(ddof=1) / math.sqrt(splits)
    return ours.mean(), chosen.mean(), differences.mean(), limit, central[:, best].mean() - chosen.mean(), names[best]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("trefoil")
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--epsilon", type=int, nargs="+", default=[1, 3])
    parser.add_argument("--splits", type=int, choices=sorted(STUDENT))
    parser.add_argument("--against", choices=("insider", "outsider"), default="outsider")
    parser.add_argument("--tables", nargs="+", default=[])
    arguments = parser.parse_args()
    failed = False
    with arguments.out.open("w", newline="") as file:
        lines = csv.writer(file, lineterminator="\n")
        lines.writerow(("table", "epsilon", "splits", "trainings", "ours", "central", "difference", "limit", "hindsight", "settings"))
        for path in sorted(arguments.folder.glob("*.csv")):
            if arguments.tables and path.stem not in arguments.tables:
                continue
            rows = [row for row in csv.reader(path.read_text().splitlines()) if row]
            splits = arguments.splits or (50 if len(rows) < 2000 else 11)
            trainings = 4 if len(rows) < 500 else 1
            for epsilon in arguments.epsilon:
                folder = arguments.out.parent / f"{arguments.out.stem}.d" / path.stem
                *numbers, settings = compare(arguments.trefoil, path.stem, rows, epsilon, arguments.against, splits, trainings, folder)
                lines.writerow((path.stem, epsilon, splits, trainings, *(f"{number:.4f}" for number in numbers), settings))
                file.flush()
                failed = failed or not numbers[3] <= ALLOWED
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
