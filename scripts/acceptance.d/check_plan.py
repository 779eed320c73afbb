#!/usr/bin/env python3
"""Plans the job of a run on the network that it had, and compares with what the run was measured to cost; one line.

Usage: check_plan.py TREFOIL FOLDER RTT_MS MBIT [RANKS [PLAN OPTION ...]]
       check_plan.py --speed TREFOIL RTT_MS MBIT FOLDER ...     prints what plan's --speed is of this machine: the geometric mean of
           planned over measured time of these runs
       check_plan.py --round-trip FOLDER ...    prints the median of the milliseconds that party 0 of these trainings measured
  FOLDER   has job.toml and party-0/out, party-1/out and party-2/out
  RANKS    of each party, by default 1. The plan is for a host each; here all compute on one, so that the seconds that one
           rank is planned to compute count as often as there are ranks, and each has its share of the link.
Exit code: 0 if rounds and bytes are within a tenth, and planned are 0.75 to 1.33 of the measured seconds; 1 otherwise. Time is
compared where either is longer than START_UP; shorter runs take as long as processes and links take to come up.
"""

import json
import math
import pathlib
import re
import statistics
import subprocess
import sys

LARGEST_SHARE = 1.1
LARGEST_TIME = 4 / 3
START_UP = 0.5  # seconds


def planned(trefoil, folder, rtt, mbit, ranks, *options):
    command = [trefoil, "plan", "--job", folder / "job.toml", "--rtt-ms", rtt, "--mbit", str(float(mbit) / ranks), "--json", *options]
    if ranks > 1:
        command += ["--ranks", str(ranks)]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)["run_costs"][0]


def lane_bytes(out, of_all):
    """What rank 0 had sent behind the last step: of all ranks, less what the log says of the others, who send nothing after it."""
    of_others = re.findall(r"rank [1-9]\d*: (\d+) bytes sent", (out / "party.log").read_text())
    return of_all - sum(map(int, of_others))


def speed_of(trefoil, rtt, mbit, folders):
    logarithms = []
    for folder in map(pathlib.Path, folders):
        seconds = json.loads((folder / "party-0/out/summary.json").read_text())["cost"]["seconds"]
        if seconds > START_UP:
            logarithms.append(math.log(planned(trefoil, folder, rtt, mbit, 1)["seconds"] / seconds))
    return math.exp(statistics.mean(logarithms))


def round_trip_of(folders):
    logs = [(pathlib.Path(folder) / "party-0/out/party.log").read_text() for folder in folders]
    return statistics.median(float(re.search(r"links: round trip ([\d.]+) ms", log)[1]) for log in logs)


def main():
    if sys.argv[1] == "--round-trip":
        print(f"{round_trip_of(sys.argv[2:]):.2f}")
        return 0
    if sys.argv[1] == "--speed":
        print(f"{speed_of(*sys.argv[2:5], sys.argv[5:]):.2f}")
        return 0
    trefoil, folder, rtt, mbit, ranks, *options = (*sys.argv[1:], "1") if len(sys.argv) == 5 else sys.argv[1:]
    folder, ranks = pathlib.Path(folder), int(ranks)
    run = planned(trefoil, folder, rtt, mbit, ranks, *options)
    expected = run["seconds"]
    if ranks > 1:  # a link that takes no time leaves what is computed
        expected += (ranks - 1) * planned(trefoil, folder, "0", "1000000", ranks, "--set", f"training.comparison={run['form']}", *options)["seconds"]
    summaries = [json.loads((folder / f"party-{party}/out/summary.json").read_text())["cost"] for party in range(3)]
    # A party counts the rounds that it waits for: the run's are those of the one that waits for most.
    rounds = max(summary["rounds"] for summary in summaries)
    sent = [summary["bytes_sent"] for summary in summaries]
    if ranks > 1:  # those are of all ranks, the plan's of the first
        sent = [lane_bytes(folder / f"party-{party}/out", of_all) for party, of_all in enumerate(sent)]
    ratios = [rounds / run["rounds"], *(measured / of_plan for measured, of_plan in zip(sent, run["bytes_sent"], strict=True))]
    seconds = summaries[0]["seconds"]
    steps = f"{summaries[0]['steps']} steps, " if run["form"] and "steps" in summaries[0] else ""
    form = f"{run['form']} form, " if run["form"] else ""
    timed = max(seconds, expected) > START_UP
    ratio = expected / seconds
    print(f"{form}{steps}planned {run['rounds']} rounds, {run['bytes_sent'][0] / 1e6:.1f} MB, {expected:.1f} s, "
          f"measured {rounds}, {sent[0] / 1e6:.1f} MB, {seconds:.1f} s" + (f", ratio {ratio:.2f}" if timed else " (not compared)"))
    exact = all(1 / LARGEST_SHARE < share < LARGEST_SHARE for share in ratios)
    return 0 if exact and (not timed or 1 / LARGEST_TIME < ratio < LARGEST_TIME) else 1


if __name__ == "__main__":
    sys.exit(main())
