#!/usr/bin/env python3
"""Derives the polynomials, knots and series of protocols/, and proves their bounds, in integer and rational arithmetic.

Usage: scripts/derive/derive.py [--check | --write] [NAME ...]
  --check   fail where a generated file, a constant of a source or a stated result is not what is derived (the default)
  --write   write the generated files anew
  NAME      only these: clip_factor, exponential, inverse_sqrt, reciprocal, sigmoid_series, sin_cos
Bounds are proved in both cases. Each module says what it derives and why that is enough; docs/reference/protocols.md has the
mathematics. Prints a line for each thing that does not hold; exit code 0 if all do, 1 otherwise; 2 usage.
"""

import importlib
import pathlib
import sys

MODULES = ["clip_factor", "exponential", "inverse_sqrt", "reciprocal", "sigmoid_series", "sin_cos"]


class Report:
    """What a module derives, held against the project."""

    def __init__(self, project, writing):
        self.project = project
        self.writing = writing
        self.proved = 0
        self.failures = []

    def bound(self, name, value, limit):
        """value <= limit."""
        self.proved += 1
        if not value <= limit:
            self.failures.append(f"{name}: found {float(value):.9g}, expected at most {float(limit):.9g}")

    def equal(self, name, found, expected):
        self.proved += 1
        if found != expected:
            self.failures.append(f"{name}: found {found}, expected {expected}")

    def contains(self, path, text):
        """A constant, or a line, of a source."""
        self.proved += 1
        if text not in (self.project / path).read_text():
            self.failures.append(f"{path}: not found: {text}")

    def stated(self, path, text):
        """A result that a document states."""
        self.contains(path, text)

    def generated(self, path, text):
        """A file that this script makes."""
        if self.writing:
            (self.project / path).write_text(text)
        self.equal(f"{path}: as derived", (self.project / path).read_text() == text, True)


def main(arguments):
    options = {argument for argument in arguments if argument.startswith("-")}
    names = [argument for argument in arguments if not argument.startswith("-")] or MODULES
    if not options <= {"--check", "--write"} or len(options) > 1 or not set(names) <= set(MODULES):
        print(__doc__, file=sys.stderr)
        return 2
    report = Report(pathlib.Path(__file__).resolve().parents[2], "--write" in options)
    for name in names:
        importlib.import_module(name).derive(report)
    print(*report.failures, sep="\n", end="\n" if report.failures else "")
    if not report.failures:
        print(f"derive: {report.proved} constants and bounds hold")
    return 1 if report.failures else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
