#!/usr/bin/env python3
"""Runs trainings of three parties back to back and checks that neither memory nor descriptors grow.

Most trainings are of seconds, since what a session leaves behind adds up by sessions; one in twenty-five is ten times as long. Within a
long one: resident memory in its last quarter is that of its second quarter, and so are descriptors and threads. From training to training,
of one length: the peaks' trend over all of them is within the same limits. After each: no process of it is left, and no socket of TCP is
in use.

Usage: unshare --net soak.py TREFOIL JOB FOLDER [--minutes M]. The network namespace must have no other sockets. FOLDER must not exist;
JOB's data is generated. Prints a line a training and a summary last; exit code 0 if nothing grew, 1 otherwise.
"""

import argparse
import os
import pathlib
import re
import shutil
import statistics
import sys
import time

from kill_parties import PARTIES, prepare_with_ledgers, start

LONG_STEPS, SHORT_STEPS, LONG_EVERY = 300, 30, 25
SETTINGS = [f"training.steps={LONG_STEPS}", "training.checkpoint_every=10", "data.rows=[300, 300, 300]", "training.expected_batch=90",
            "training.max_batch_per_owner=150"]
SECONDS_BETWEEN_SAMPLES = 0.1
# What may be between two quarters of a training, or the first and the last of all: freed memory is kept by the allocator now and then.
GROWTH, GROWTH_KIB = 0.05, 4096


def sample(process):
    """Resident KiB, descriptors and threads; nothing of a process that has ended."""
    folder = pathlib.Path(f"/proc/{process.pid}")
    try:
        status = dict(line.split(":", 1) for line in (folder / "status").read_text().splitlines() if ":" in line)
        return int(status["VmRSS"].split()[0]), len(os.listdir(folder / "fd")), int(status["Threads"])
    except (OSError, KeyError):
        return None


def left_behind(folder):
    """What of the trainings in `folder` is still there after their end."""
    wrong = []
    for process in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            command = (process / "cmdline").read_text().split("\0")
        except OSError:
            continue  # it has ended
        if "run" in command and any(argument.startswith(f"{folder}/") for argument in command):
            wrong.append(f"process {process.name} is left")
    sockets = int(pathlib.Path("/proc/net/sockstat").read_text().split("TCP: inuse ")[1].split()[0])
    if sockets > 0:
        wrong.append(f"{sockets} sockets of TCP in use")
    return wrong


def too_much(before, after):
    return after > before * (1 + GROWTH) + GROWTH_KIB


def within(samples):
    """What grew in one party's training."""
    if len(samples) < 20:
        return [f"only {len(samples)} samples"]
    quarter = len(samples) // 4
    second, last = samples[quarter:2 * quarter], samples[-quarter - 2:-2]  # it gives back what it has at its end
    wrong = []
    memory = [statistics.median(entry[0] for entry in part) for part in (second, last)]
    if too_much(*memory):
        wrong.append(f"resident memory from {memory[0]:.0f} to {memory[1]:.0f} KiB")
    for place, what in ((1, "descriptors"), (2, "threads")):
        # Not the most, since a checkpoint may be open as a sample is taken.
        counts = [statistics.median(entry[place] for entry in part) for part in (second, last)]
        if counts[1] > counts[0]:
            wrong.append(f"{what} from {counts[0]:g} to {counts[1]:g}")
    return wrong


def prepare_jobs(trefoil, job, folder):
    """The parties, their long job and their short one."""
    prepare_with_ledgers(trefoil, job, folder, SETTINGS, "30s")
    text, replaced = re.subn(f"(?m)^steps = {LONG_STEPS}$", f"steps = {SHORT_STEPS}", (folder / "job.toml").read_text())
    assert replaced == 1
    (folder / "short.toml").write_text(text)


def train(trefoil, folder, out, long):
    """Each party's peaks (KiB, descriptors, threads), and what went wrong."""
    processes = start(trefoil, folder, out, "job.toml" if long else "short.toml")
    samples = [[], [], []]
    try:
        while any(process.poll() is None for process in processes):
            for party in PARTIES:
                found = sample(processes[party])
                if found:
                    samples[party].append(found)
            time.sleep(SECONDS_BETWEEN_SAMPLES)
    finally:
        for process in processes:
            process.kill()
            process.wait()
    wrong = [f"party {party} ended with {processes[party].returncode}" for party in PARTIES if processes[party].returncode != 0]
    if long:
        wrong += [f"party {party}: {text}" for party in PARTIES for text in within(samples[party])]
    return [[max(entry[place] for entry in samples[party]) for place in range(3)] for party in PARTIES], wrong


def trend(values):
    """First and last value of the straight line through them."""
    if len(values) < 2:
        return values[0], values[-1]
    line = statistics.linear_regression(range(len(values)), values)
    return line.intercept, line.intercept + line.slope * (len(values) - 1)


def across(peaks):
    """What grew from training to training."""
    wrong = []
    for party in PARTIES:
        memory = trend([peak[party][0] for peak in peaks])
        if too_much(*memory):
            wrong.append(f"party {party}: peak memory from {memory[0]:.0f} to {memory[1]:.0f} KiB over {len(peaks)} trainings")
        for place, what in ((1, "descriptors"), (2, "threads")):
            counts = trend([peak[party][place] for peak in peaks])
            if counts[1] > counts[0] + 1:
                wrong.append(f"party {party}: {what} from {counts[0]:.1f} to {counts[1]:.1f} over {len(peaks)} trainings")
    return wrong


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("trefoil")
    parser.add_argument("job")
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--minutes", type=float, default=60)
    options = parser.parse_args()

    options.folder.mkdir(parents=True)
    prepare_jobs(options.trefoil, options.job, options.folder / "parties")
    end = time.monotonic() + 60 * options.minutes
    count, bad = 0, 0
    peaks = {True: [], False: []}  # of the long ones and the short ones
    while time.monotonic() < end or count < LONG_EVERY:
        out = options.folder / "run"
        long = count % LONG_EVERY == 0
        peak, wrong = train(options.trefoil, options.folder / "parties", out, long)
        wrong += left_behind(options.folder)
        peaks[long].append(peak)
        count += 1
        bad += bool(wrong)
        print(f"training {count}{', a long one' if long else ''}: peaks {peak}", *wrong, sep="; ", flush=True)
        if wrong:
            out.rename(options.folder / f"wrong-{count}")
        else:
            shutil.rmtree(out)
    grown = across(peaks[True]) + across(peaks[False])
    print(*grown, sep="\n", end="\n" if grown else "")
    everything = peaks[True] + peaks[False]
    memory = [max(peak[party][0] for party in PARTIES) / 1024 for peak in everything]
    print(f"{count} trainings in {options.minutes:g} minutes, {len(peaks[True])} of them long, {bad} with growth or a failure, {len(grown)} trends; peak memory "
          f"{min(memory):.1f} to {max(memory):.1f} MiB, descriptors {max(peak[party][1] for peak in everything for party in PARTIES)}")
    return 1 if bad or grown else 0


if __name__ == "__main__":
    sys.exit(main())
