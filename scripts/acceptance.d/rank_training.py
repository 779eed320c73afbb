#!/usr/bin/env python3
"""Trains a job with one rank a party and with several, all on this machine, and compares.

With R ranks epsilon has to be that of one, accuracy at most one point below it, and the bytes that each rank sends within
15 % of an R-th; with --time also the processor time of ranks above 0, waiting for other ranks left out. That wants large
batches, since what each message costs is the same at every rank. Rank 0, whose time is printed, draws and hands out all
rows besides. One thread a rank, so that threads do not compete.

Usage: rank_training.py TREFOIL JOB FOLDER R [R ...] [--set KEY=VALUE ...] [--time]. Runs that are finished in FOLDER are not repeated. Prints a line a number of
ranks; exit code 0 if all is as it has to be, 1 otherwise.
"""

import argparse
import json
import pathlib
import re
import shutil
import subprocess
import sys

from kill_parties import free_base_port

WITHIN = 1.15
POINTS = 0.01
LANE = re.compile(r"rank (\d+): (\d+) bytes sent, ([0-9.]+) s of processor time, ([0-9.]+) s waited")
ALONE = re.compile(r"DEBUG ([0-9.]+) s of processor time", re.IGNORECASE)


def read_options():
    parser = argparse.ArgumentParser()
    parser.add_argument("trefoil")
    parser.add_argument("job")
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("ranks", type=int, nargs="+")
    parser.add_argument("--set", action="append", default=[], dest="settings")
    parser.add_argument("--time", action="store_true")
    return parser.parse_args()


def train(options, ranks):
    """The run directory of three parties with so many ranks each; their logs say all."""
    out = options.folder / f"ranks-{ranks}"
    if (out / "summary.json").exists():
        return out
    shutil.rmtree(out, ignore_errors=True)
    local = [options.trefoil, "local", "--out", out, "--threads", str(ranks)]
    subprocess.run([*local, "--job", options.job, "--prepare", "--base-port", str(free_base_port(3 * ranks)), "--ranks", str(ranks),
                    *(word for setting in options.settings for word in ("--set", setting))], check=True, stdout=subprocess.DEVNULL)
    with open(out / "party-0/party.toml", "a") as party:
        party.write('\n[log]\nlevel = "debug"\n')
    subprocess.run([*local, "--resume"], check=True, stdout=subprocess.DEVNULL)
    return out


def measures(out):
    """Epsilon, accuracy, and of party 0's ranks bytes and processor seconds."""
    summary = json.loads((out / "summary.json").read_text())
    cost = json.loads((out / "party-0/out/summary.json").read_text())["cost"]
    log = (out / "party-0/out/party.log").read_text()
    lanes = [(int(sent), float(seconds)) for _, sent, seconds, _ in LANE.findall(log)]
    if not lanes:
        lanes = [(cost["bytes_sent"], float(ALONE.search(log).group(1)))]
    return summary["privacy"]["epsilon_insider"], summary["results"][summary["type"]]["accuracy"], lanes


def main():
    options = read_options()
    options.folder.mkdir(parents=True, exist_ok=True)
    epsilon, accuracy, [(sent, seconds)] = measures(train(options, 1))
    print(f"1 rank: accuracy {accuracy:.4f}, epsilon {epsilon:.3f}, {sent / 1e6:.1f} MB, {seconds:.1f} s of processor time")
    right = True
    for ranks in options.ranks:
        its_epsilon, its_accuracy, lanes = measures(train(options, ranks))
        bytes_ratio = max(lane[0] for lane in lanes) * ranks / sent
        first, *others = [lane[1] * ranks / seconds for lane in lanes]
        time_ratio = max(others)
        holds = (its_epsilon == epsilon and its_accuracy >= accuracy - POINTS and len(lanes) == ranks
                 and bytes_ratio <= WITHIN and (time_ratio <= WITHIN or not options.time))
        right = right and holds
        print(f"{ranks} ranks: accuracy {its_accuracy:.4f}, epsilon {its_epsilon:.3f}, of an R-th of one rank's bytes "
              f"{100 * bytes_ratio:.0f} %, of its processor time {100 * time_ratio:.0f} % (rank 0 {100 * first:.0f} %)"
              f"{'' if holds else ' NOT AS IT HAS TO BE'}")
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
