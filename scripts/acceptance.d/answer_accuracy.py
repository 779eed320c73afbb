"""How many of a `pate` run's answers are right, in percent, and how many there are.

Usage: answer_accuracy.py ANSWERS.csv LABELS     LABELS: the queries' classes, in their order, IDX, gzipped or not
"""

import csv
import gzip
import pathlib
import sys


def main():
    content = pathlib.Path(sys.argv[2]).read_bytes()
    labels = (gzip.decompress(content) if content[:2] == b"\x1f\x8b" else content)[8:]
    with open(sys.argv[1]) as file:
        answers = [(int(row["label"]), labels[int(row["query"]) - 1]) for row in csv.DictReader(file) if row["label"]]
    print(f"{100 * sum(found == label for found, label in answers) / len(answers):.2f} {len(answers)}")


main()
