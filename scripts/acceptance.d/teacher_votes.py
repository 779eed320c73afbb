"""Predictions of 250 teachers for 640 queries of 10 classes, and how many answers are the majority's.

Usage: teacher_votes.py write DIR                   predictions.csv and queries.csv; nine of ten teachers are right
       teacher_votes.py compare DIR ANSWERS.csv     prints how many answered queries have the class of the most votes
"""

import collections
import csv
import pathlib
import random
import sys

TEACHERS, QUERIES, CLASSES = 250, 640, 10


def write(folder):
    source = random.Random(1)
    truth = [source.randrange(CLASSES) for _ in range(QUERIES)]
    folder.mkdir(parents=True)
    with open(folder / "predictions.csv", "w") as file:
        for _ in range(TEACHERS):
            print(*(t if source.random() < 0.9 else source.randrange(CLASSES) for t in truth), sep=",", file=file)
    with open(folder / "queries.csv", "w") as file:
        print(*range(QUERIES), sep="\n", file=file)


def compare(folder, answers):
    with open(folder / "predictions.csv") as file:
        votes = list(zip(*csv.reader(file)))
    with open(answers) as file:
        rows = list(csv.DictReader(file))
    print(sum(row["label"] == collections.Counter(vote).most_common(1)[0][0] for row, vote in zip(rows, votes)))


if __name__ == "__main__":
    if sys.argv[1] == "write":
        write(pathlib.Path(sys.argv[2]))
    else:
        compare(pathlib.Path(sys.argv[2]), sys.argv[3])
