#!/usr/bin/env python3
"""Compares plan.json of a folder with what the run beside it was measured to cost; prints both in one line.

Usage: check_plan.py FOLDER (with plan.json of `trefoil plan --rtt-ms R --mbit M --json`, party-0/out, party-1/out and party-2/out).
Exit code: 0 if rounds and bytes are within a tenth and time is within a factor of 1.5 of the plan; 1 otherwise. Time is compared where
either is longer than START_UP; shorter runs take as long as processes and links take to come up.
"""

import json
import pathlib
import sys

LARGEST_SHARE = 1.1
LARGEST_TIME = 1.5
START_UP = 0.5  # seconds


def main():
    folder = pathlib.Path(sys.argv[1])
    run = json.loads((folder / "plan.json").read_text())["run_costs"][0]
    summaries = [json.loads((folder / f"party-{party}/out/summary.json").read_text())["cost"] for party in range(3)]
    # A party counts the rounds that it waits for: the run's are those of the one that waits for most.
    rounds = max(summary["rounds"] for summary in summaries)
    ratios = [rounds / run["rounds"]] + [summary["bytes_sent"] / planned for summary, planned in zip(summaries, run["bytes_sent"])]
    seconds = summaries[0]["seconds"]
    steps = f"{summaries[0]['steps']} steps, " if run["form"] and "steps" in summaries[0] else ""
    form = f"{run['form']} form, " if run["form"] else ""
    timed = max(seconds, run["seconds"]) > START_UP
    print(f"{form}{steps}planned {run['rounds']} rounds, {run['bytes_sent'][0] / 1e6:.1f} MB, {run['seconds']:.1f} s, "
          f"measured {rounds}, {summaries[0]['bytes_sent'] / 1e6:.1f} MB, {seconds:.1f} s" + ("" if timed else " (not compared)"))
    exact = all(1 / LARGEST_SHARE < ratio < LARGEST_SHARE for ratio in ratios)
    return 0 if exact and (not timed or 1 / LARGEST_TIME < seconds / run["seconds"] < LARGEST_TIME) else 1


if __name__ == "__main__":
    sys.exit(main())
