#!/usr/bin/env python3
"""Compares the first step of each of some runs with three later ones: what a step sets up once must not hold it up.

Usage: first_step.py FOLDER ...     folders of `trefoil local`, by the progress.csv of party 0
The first step's time is that from the training's beginning, links measured and keys agreed on, a later one's the median of all
that follow. Prints a line a folder; exit code 0 if no first step is longer than three later ones, 1 otherwise.
"""

import csv
import pathlib
import statistics
import sys


def main():
    right = True
    for folder in sys.argv[1:]:
        with open(pathlib.Path(folder) / "party-0/out/progress.csv") as file:
            seconds = [float(row["seconds"]) for row in csv.DictReader(file)]
        later = statistics.median(after - before for before, after in zip(seconds, seconds[1:], strict=False))
        holds = seconds[0] <= 3 * later
        right = right and holds
        print(f"{'/'.join(pathlib.Path(folder).parts[-2:])}: first step {1000 * seconds[0]:.0f} ms, a later one {1000 * later:.0f} ms"
              f"{'' if holds else ' NOT AS IT HAS TO BE'}")
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
