#!/usr/bin/env python3
"""Kills one of three parties at a random step, many times, and checks how the other two end.

Each must exit with code 3 in under 15 seconds, with one line on stderr that names the party that was killed.

Usage: kill_parties.py TREFOIL JOB FOLDER [--times N] [--seed S]. FOLDER must not exist. Prints one line per kill and a
summary last; exit code 0 if all went as it must, 1 otherwise.
"""

import argparse
import pathlib
import random
import re
import signal
import subprocess
import sys
import time

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "tests/apps"))  # what tests share with programs here
from free_ports import free_base_port

PARTIES = (0, 1, 2)
LIMIT_SECONDS = 15.0
LAST_STEP = 40
LEDGER = '\n[ledger]\nfile = "ledger.jsonl"\nepsilon_cap = 1000000\ndelta = 1e-5\n'


def read_options(times):
    """The command line: trefoil, job, folder, times (by default as given). Seeds `random`, and prints the seed."""
    parser = argparse.ArgumentParser()
    parser.add_argument("trefoil")
    parser.add_argument("job")
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--times", type=int, default=times)
    parser.add_argument("--seed", type=int, help="default: another one each time, printed")
    options = parser.parse_args()
    seed = options.seed if options.seed is not None else random.SystemRandom().randrange(2**32)
    random.seed(seed)
    print(f"seed {seed}")
    return options


def prepare(trefoil, job, folder, settings=()):
    """Three deployments on loopback with generated data, the job changed by the settings."""
    subprocess.run([trefoil, "local", "--job", job, "--prepare", "--base-port", str(free_base_port()), "--out", folder,
                    *(word for setting in settings for word in ("--set", setting))], check=True, stdout=subprocess.DEVNULL)


def prepare_with_ledgers(trefoil, job, folder, settings, start_timeout):
    """As `prepare`; each party keeps a ledger, and waits no longer than this for one that dies before it meets the others."""
    prepare(trefoil, job, folder, settings)
    for party in PARTIES:
        file = folder / f"party-{party}/party.toml"
        text, replaced = re.subn('(?m)^start = "[^"]*"', f'start = "{start_timeout}"', file.read_text())
        assert replaced == 1, f"{file}: no start time-out"
        file.write_text(text + LEDGER)


def start(trefoil, folder, out, job="job.toml"):
    """The three processes; each one's stderr goes to a file beside its run directory. The job is a file of the folder."""
    out.mkdir()
    processes = []
    for party in PARTIES:
        with open(out / f"{party}.stdout", "w") as stdout, open(out / f"{party}.stderr", "w") as stderr:
            processes.append(subprocess.Popen(
                [trefoil, "run", "--config", folder / f"party-{party}/party.toml", "--job", folder / job,
                 "--out", out / f"party-{party}", "--threads", "1"], stdout=stdout, stderr=stderr))
    return processes


def wait_for_step(out, processes, step):
    """Until every party has finished that step; fails if one ends first or nothing happens for two minutes."""
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline:
        if any(process.poll() is not None for process in processes):
            raise RuntimeError("a party ended before the kill")
        files = [out / f"party-{party}/progress.csv" for party in PARTIES]
        if all(path.exists() and len(path.read_text().splitlines()) > step for path in files):
            return
        time.sleep(0.01)
    raise RuntimeError(f"step {step} was not reached")


def check_survivor(process, stderr, victim, killed_at):
    """Seconds until the survivor ended, and what is wrong with how it did (nothing: an empty list)."""
    try:
        process.wait(timeout=max(0.0, killed_at + LIMIT_SECONDS - time.monotonic()))
    except subprocess.TimeoutExpired:
        return LIMIT_SECONDS, ["still running"]
    seconds = time.monotonic() - killed_at
    wrong = []
    if process.returncode != 3:
        wrong.append(f"exit code {process.returncode}, expected 3")
    text = stderr.read_text()
    if text.count("\n") != 1 or f"party {victim}" not in text or "step" not in text:
        wrong.append(f"stderr {text!r}, expected one line that names party {victim} and the step")
    return seconds, wrong


def kill_once(trefoil, folder, out, victim, step):
    """The slower survivor's seconds, and what went wrong."""
    processes = start(trefoil, folder, out)
    try:
        wait_for_step(out, processes, step)
        # A moment into the next step, not always at its beginning.
        time.sleep(random.uniform(0.0, 0.3))
        processes[victim].send_signal(signal.SIGKILL)
        killed_at = time.monotonic()
        results = [check_survivor(processes[party], out / f"{party}.stderr", victim, killed_at)
                   for party in PARTIES if party != victim]
    finally:
        for process in processes:
            process.kill()
            process.wait()
    return max(seconds for seconds, _ in results), [text for _, wrong in results for text in wrong]


def main():
    options = read_options(times=20)

    parties = options.folder / "parties"
    prepare(options.trefoil, options.job, parties)
    bad, slowest = 0, 0.0
    for count in range(options.times):
        victim = count % 3 if count < 3 else random.choice(PARTIES)
        step = random.randint(1, LAST_STEP)
        seconds, wrong = kill_once(options.trefoil, parties, options.folder / f"kill-{count}", victim, step)
        bad += bool(wrong)
        slowest = max(slowest, seconds)
        print(f"party {victim} killed after step {step}: others ended within {seconds:.2f} s", *wrong, sep="; ", flush=True)
    print(f"{options.times - bad} of {options.times} as they must, slowest {slowest:.2f} s")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
