"""The mean absolute error of a histogram's counts, in percent of all records.

Usage: histogram_error.py HISTOGRAM.csv RECORDS.csv COLUMN     (RECORDS without a header; COLUMN from 0)
"""

import collections
import csv
import sys


def main():
    histogram, records, column = sys.argv[1], sys.argv[2], int(sys.argv[3])
    with open(records, newline="") as file:
        exact = collections.Counter(row[column].strip() for row in csv.reader(file) if row)
    with open(histogram, newline="") as file:
        errors = [abs(float(row["count"]) - exact[row["value"]]) for row in csv.DictReader(file)]
    print(f"{100 * sum(errors) / len(errors) / sum(exact.values()):.5f}")


if __name__ == "__main__":
    main()
