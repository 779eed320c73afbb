#!/usr/bin/env python3
"""Compares plan.json of a folder with what the run beside it was measured to cost; prints both in one line.

Usage: check_plan.py FOLDER (with plan.json of `trefoil plan --rtt-ms R --mbit M --json`, party-0/out, party-1/out and party-2/out).
Exit code: 0 if rounds and bytes are within a tenth and time is within a factor of 1.5 of the plan; 1 otherwise.
"""

import json
import pathlib
import sys

LARGEST_SHARE = 1.1
LARGEST_TIME = 1.5


def main():
    folder = pathlib.Path(sys.argv[1])
    run = json.loads((folder / "plan.json").read_text())["run_costs"][0]
    ratios = []
    for party in range(3):
        summary = json.loads((folder / f"party-{party}/out/summary.json").read_text())
        ratios += [summary["rounds"] / run["rounds"], summary["bytes_sent"] / run["bytes_sent"][party]]
    summary = json.loads((folder / "party-0/out/summary.json").read_text())
    time = summary["seconds"] / run["seconds"]
    print(f"{run['form']} form, {summary['steps']} steps: planned {run['rounds']} rounds, {run['bytes_sent'][0] / 1e6:.1f} MB, "
          f"{run['seconds']:.1f} s, measured {summary['rounds']}, {summary['bytes_sent'] / 1e6:.1f} MB, {summary['seconds']:.1f} s")
    exact = all(1 / LARGEST_SHARE < ratio < LARGEST_SHARE for ratio in ratios)
    return 0 if exact and 1 / LARGEST_TIME < time < LARGEST_TIME else 1


if __name__ == "__main__":
    sys.exit(main())
