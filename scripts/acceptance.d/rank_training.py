#!/usr/bin/env python3
"""Trains a job with one rank a party and with several, all on this machine, and compares.

With R ranks epsilon has to be that of one, accuracy at most one point below it, and the bytes that each rank of each
party sends within 15 % of an R-th of what that party sends alone; with --time, in place of accuracy, the processor time
of each rank, waiting for other ranks left out. That wants large batches, since what each message costs is the same at
every rank, and few of them, after which accuracy is still a matter of chance (MNIST after 18 batches of 24,576: 75 to
84 % in the clear). Rank 0, which draws and hands out all rows besides, is shown by itself. One thread a rank, so that
threads do not compete. A machine's speed drifts: with --turns T all numbers of ranks are run T times in turns, every
other turn backwards, and of processor times the middle one of the turns' ratios counts, of accuracies the middle one.

Usage: rank_training.py TREFOIL JOB FOLDER [R ...] [--data DATA] [--set KEY=VALUE ...] [--time] [--turns T] [--any-accuracy]
                        [--network NETSIM lan|wan HOSTS]
The first turn's runs are in FOLDER/ranks-R, further ones' in FOLDER/turn-T/ranks-R; those that finished with the same
job, data and options are not repeated. With --any-accuracy it is not compared: of data that nothing can be learnt from,
or after so few steps that it is chance. With --network the parties are in the namespaces of the network simulator that NETSIM is the program of, at
HOSTS. Prints a line a number of ranks; exit code 0 if all is as it has to be, 1 otherwise.
"""

import argparse
import json
import pathlib
import re
import shutil
import statistics
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
    parser.add_argument("ranks", type=int, nargs="*")
    parser.add_argument("--data")
    parser.add_argument("--set", action="append", default=[], dest="settings")
    parser.add_argument("--time", action="store_true")
    parser.add_argument("--turns", type=int, default=1)
    parser.add_argument("--any-accuracy", action="store_true")
    parser.add_argument("--network", nargs=3, metavar=("NETSIM", "PROFILE", "HOSTS"))
    return parser.parse_args()


def prepare(options, ranks, out):
    where = ["--hosts", options.network[2]] if options.network else ["--base-port", str(free_base_port(3 * ranks))]
    data = ["--data", options.data] if options.data else []
    settings = [word for setting in options.settings for word in ("--set", setting)]
    command = [options.trefoil, "local", "--out", out, "--job", options.job, "--prepare", *where, *data]
    subprocess.run([*command, "--ranks", str(ranks), *settings], check=True, stdout=subprocess.DEVNULL)
    for party in range(3):
        with open(out / f"party-{party}/party.toml", "a") as file:
            file.write('\n[log]\nlevel = "debug"\n')


def run_of(options):
    """What a run is of, for the file `done` in its folder: one of other settings does not count."""
    return json.dumps([pathlib.Path(options.job).read_text(), options.data, options.settings, options.network])


def train(options, ranks, turn):
    """The run directory of three parties with so many ranks each; their logs say all."""
    out = (options.folder if turn == 0 else options.folder / f"turn-{turn + 1}") / f"ranks-{ranks}"
    done = out / "done"
    if done.exists() and done.read_text() == run_of(options):
        return out
    shutil.rmtree(out, ignore_errors=True)
    out.parent.mkdir(parents=True, exist_ok=True)
    prepare(options, ranks, out)
    if options.network:
        netsim, profile, _ = options.network
        script = pathlib.Path(__file__).with_name("run_in_namespaces.sh")
        run = ["bash", script, netsim, options.trefoil, out, profile, str(ranks)]
    else:
        run = [options.trefoil, "local", "--out", out, "--threads", str(ranks), "--resume"]
    subprocess.run(run, check=True, stdout=subprocess.DEVNULL)
    done.write_text(run_of(options))
    return out


def lanes_of(party):
    """Of its ranks bytes sent and processor seconds."""
    log = (party / "out/party.log").read_text()
    lanes = [(int(sent), float(seconds)) for _, sent, seconds, _ in LANE.findall(log)]
    if lanes:
        return lanes
    sent = json.loads((party / "out/summary.json").read_text())["cost"]["bytes_sent"]
    return [(sent, float(ALONE.search(log).group(1)))]


def accuracy_of(options, out):
    """Of party 0's model on the test records."""
    command = [options.trefoil, "evaluate", "--json", "--model", out / "party-0/out/model.npz", "--data", out / "test"]
    return json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)["accuracy"]


def figures_in(out):
    """Party 0's summary, and of each rank the bytes that each party sent and the middle one of the three parties' processor
    seconds: what one does by the way, as the first to touch memory, is none of its steps."""
    summary = json.loads((out / "party-0/out/summary.json").read_text())
    parties = [lanes_of(out / f"party-{party}") for party in range(3)]
    return summary, [([sent for sent, _ in of_rank], sorted(seconds for _, seconds in of_rank)[1]) for of_rank in zip(*parties)]


def measures(options, out):
    """Epsilon, accuracy unless any will do, party 0's seconds, and what figures_in has of each rank."""
    summary, lanes = figures_in(out)
    accuracy = None if options.any_accuracy or options.time else accuracy_of(options, out)
    return summary["privacy"]["epsilon_insider"], accuracy, summary["cost"]["seconds"], lanes


def middle(runs, figure):
    """Of the turns' figures; None where there are none."""
    figures = [figure(run) for run in runs]
    return None if None in figures else statistics.median(figures)


def text_of(ranks, runs):
    epsilon, seconds = runs[0][0], middle(runs, lambda run: run[2])
    accuracy = middle(runs, lambda run: run[1])
    known = f"accuracy {accuracy:.4f}, " if accuracy is not None else ""
    return f"{ranks} rank{'s' if ranks > 1 else ''}: {known}epsilon {epsilon:.3f}, {seconds:.1f} s"


def shares(runs, alone):
    """Of each rank its processor time times their number, over one rank's in the same turn; the middle turn's."""
    of_turns = [[seconds * len(lanes) / one[3][0][1] for _, seconds in lanes]
                for (_, _, _, lanes), one in zip(runs, alone, strict=True)]
    return [statistics.median(of_rank) for of_rank in zip(*of_turns, strict=True)]


def main():
    options = read_options()
    counts = [1, *options.ranks]
    turns = []
    for turn in range(options.turns):
        order = counts if turn % 2 == 0 else reversed(counts)
        turns.append({ranks: measures(options, train(options, ranks, turn)) for ranks in order})
    alone = [turn[1] for turn in turns]
    sent, seconds = alone[0][3][0][0], middle(alone, lambda run: run[3][0][1])  # of each party; the middle one
    accuracy = middle(alone, lambda run: run[1])
    print(f"{text_of(1, alone)}, {'/'.join(f'{of_party / 1e6:.1f}' for of_party in sent)} MB, {seconds:.1f} s of processor time")
    right = True
    for ranks in options.ranks:
        runs = [turn[ranks] for turn in turns]
        if any(len(run[3]) != ranks for run in runs):
            found = ", ".join(str(len(run[3])) for run in runs)
            print(f"{text_of(ranks, runs)}, logs of {found} ranks NOT AS IT HAS TO BE")
            right = False
            continue
        bytes_ratio = max(of_lane * ranks / of_one for run in runs for lane, _ in run[3] for of_lane, of_one in zip(lane, sent, strict=True))
        first, *others = shares(runs, alone)
        holds = (all(run[0] == alone[0][0] for run in runs)
                 and (accuracy is None or middle(runs, lambda run: run[1]) >= accuracy - POINTS)
                 and bytes_ratio <= WITHIN and (max(first, *others) <= WITHIN or not options.time))
        right = right and holds
        print(f"{text_of(ranks, runs)}, of an R-th of one rank's bytes {100 * bytes_ratio:.0f} %, "
              f"of its processor time {100 * max(others):.0f} % (rank 0 {100 * first:.0f} %)"
              f"{'' if holds else ' NOT AS IT HAS TO BE'}")
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
