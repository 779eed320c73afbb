#!/usr/bin/env python3
"""Three jobs for a table that differ in means, scales and ranges alone: found with noise, and those of the training records.

Usage: standardised.py TREFOIL DATA SET FOLDER      SET: adult, pima or breast_cancer; DATA has the folders adult and tables

Writes FOLDER/private.toml, where every number has a public range (RANGES) and neither mean nor scale; FOLDER/ranges.toml, the same
without ranges, which are found, too; and FOLDER/given.toml, which has besides the ranges the means and deviations of the training
records, for which nothing is charged. Adult's jobs are configs/adult.toml otherwise, with its records; the tables' are drafted by
`init-job --yes`, and FOLDER has their records, of which every fifth of the shuffled rows is for testing. Packages: scikit-learn for
breast cancer.
"""

import csv
import math
import pathlib
import random
import re
import statistics
import subprocess
import sys

# Round numbers that somebody who knows the subject would write down; most columns stay well within.
RANGES = {
    "adult": ((17, 90), (1, 16), (0, 100000), (0, 5000), (1, 99)),
    "pima": ((0, 20), (0, 200), (0, 140), (0, 100), (0, 900), (0, 70), (0, 2.5), (20, 90)),
    "breast_cancer": tuple((0, high) for high in (
        30, 40, 200, 2600, 0.2, 0.4, 0.5, 0.25, 0.4, 0.1, 3, 5, 25, 600, 0.04, 0.15, 0.4, 0.06, 0.1, 0.03, 40, 50, 260, 4500, 0.25, 1.1,
        1.3, 0.3, 0.7, 0.25)),
}
NUMBER = re.compile(r'name = "([^"]+)"\n(?:kind = "number"\n)?mean = \S+\nscale = \S+\n')


def rows_of(name, data):
    if name == "pima":
        return list(csv.reader((data / "tables" / "pima-indians-diabetes.csv").read_text().split()))
    from sklearn.datasets import load_breast_cancer
    found = load_breast_cancer()
    return [[f"{value:g}" for value in row] + [str(label)] for row, label in zip(found.data, found.target)]


def drafted(trefoil, name, data, folder):
    """The job that init-job drafts, with rows as long as standardised numbers make them, and the training rows."""
    rows = rows_of(name, data)
    random.Random(1).shuffle(rows)
    parts = {"test": rows[4::5], "train": [row for place, row in enumerate(rows) if place % 5 != 4]}
    for part, some in parts.items():
        (folder / f"{part}.csv").write_text("".join(",".join(row) + "\n" for row in some))
    answers, job = folder / "given.answers", folder / "drafted.toml"
    answers.write_text(f'"epsilon" = "3"\n"against" = "outsider"\n"name" = "{name}"\n')
    for earlier in (job, job.with_suffix(".toml.answers")):
        earlier.unlink(missing_ok=True)
    subprocess.run([trefoil, "init-job", folder / "train.csv", "--answers", answers, "--yes", "--out", job], check=True)
    thirds = [len(parts["train"][party::3]) for party in range(3)]
    text = re.sub(r"(?m)^rows = .*", f"rows = {thirds}", job.read_text())
    return re.sub(r"(?m)^row_norm = .*", f"row_norm = {math.sqrt(len(RANGES[name])):.1f}", text), parts["train"]


def main():
    trefoil, data, name, folder = sys.argv[1], pathlib.Path(sys.argv[2]), sys.argv[3], pathlib.Path(sys.argv[4])
    folder.mkdir(parents=True, exist_ok=True)
    if name == "adult":
        text = pathlib.Path("configs/adult.toml").read_text()
        lines = (data / "adult" / "adult-train.csv").read_text().splitlines()
        rows = [[cell.strip() for cell in row] for row in csv.reader(lines) if row]
    else:
        text, rows = drafted(trefoil, name, data, folder)
    columns = re.findall(r'\[\[data\.column\]\]\nname = "([^"]+)"', text)
    declared = iter(RANGES[name])
    private, given = text, text
    for found in NUMBER.finditer(text):
        low, high = next(declared)
        place = columns.index(found[1])
        values = [min(max(float(row[place]), low), high) for row in rows]
        limits = f'name = "{found[1]}"\nlow = {low}\nhigh = {high}\n'
        private = private.replace(found[0], limits)
        given = given.replace(found[0], f"{limits}mean = {statistics.fmean(values)!r}\nscale = {statistics.pstdev(values)!r}\n")
    if next(declared, None):
        sys.exit(f"standardised.py: {name}: fewer numbers than ranges")
    private = private.replace("[features]\n", '[features]\nstandardise = "private"\n')
    ranges = re.sub(r"\nlow = \S+\nhigh = \S+\n", '\nrange = "private"\n', private)
    for file, job in (("private", private), ("ranges", ranges), ("given", given)):
        (folder / f"{file}.toml").write_text(job)


if __name__ == "__main__":
    main()
