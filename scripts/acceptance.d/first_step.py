#!/usr/bin/env python3
"""Compares the first step of each of some runs with three later ones: what a step sets up once must not hold it up.

Usage: first_step.py FOLDER ...     folders of `trefoil local`, by the progress.csv of party 0
The first step's time is that from the training's beginning, links measured and keys agreed on, a later one's the median of all
that follow. Of further turns of the same training (rank_training.py, --turns) each has its own, and the middle ones count, since
the first of all finds no memory of the machine's in use before. Prints a line a folder; exit code 0 if no first step is longer
than three later ones, 1 otherwise.
"""

import csv
import pathlib
import statistics
import sys


def first_and_later(run):
    """Seconds of a run's first step and of a later one."""
    with open(run / "party-0/out/progress.csv") as file:
        seconds = [float(row["seconds"]) for row in csv.DictReader(file) if row["step"] != "0"]
    return seconds[0], statistics.median(after - before for before, after in zip(seconds, seconds[1:], strict=False))


def main():
    right = True
    for folder in map(pathlib.Path, sys.argv[1:]):
        turns = [first_and_later(run) for run in (folder, *sorted(folder.parent.glob(f"turn-*/{folder.name}")))]
        first, later = (statistics.median(times) for times in zip(*turns, strict=True))
        holds = first <= 3 * later
        right = right and holds
        print(f"{'/'.join(folder.parts[-2:])}: first step {1000 * first:.0f} ms, a later one {1000 * later:.0f} ms, of {len(turns)} runs"
              f"{'' if holds else ' NOT AS IT HAS TO BE'}")
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
