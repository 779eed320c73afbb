#!/usr/bin/env python3
"""Kills a party of real trainings with SIGKILL at random instants and checks all three ledgers after each kill.

Every ledger must be unbroken, have each run at most once, charge each run at least the steps that the party's progress.csv
has and at most a fiftieth of the job more than the one under way, and keep what it charged for earlier runs.

Usage: kill_ledger.py TREFOIL JOB FOLDER [--times N] [--seed S]. FOLDER must not exist; JOB's data is generated. Prints one line per
kill and a summary last; exit code 0 if all went as it must, 1 otherwise.
"""

import json
import random
import shutil
import subprocess
import sys
import time

from kill_parties import PARTIES, prepare_with_ledgers, read_options, start

STEPS = 100
# Small, so that a run takes a second or two.
SETTINGS = [f"training.steps={STEPS}", "data.rows=[300, 300, 300]", "training.expected_batch=90",
            "training.max_batch_per_owner=100"]
# A deployment whose ledgers have got longer than this is exchanged for a new one.
KILLS_A_DEPLOYMENT = 20


def jobs_of(trefoil, ledger):
    """What `ledger verify` and `ledger show` say: the jobs, none where there is no job yet."""
    if not ledger.exists():
        return []
    subprocess.run([trefoil, "ledger", "verify", ledger], check=True, stdout=subprocess.DEVNULL)
    shown = subprocess.run([trefoil, "ledger", "show", ledger, "--delta", "1e-5", "--json"], check=True,
                           stdout=subprocess.PIPE)
    return json.loads(shown.stdout)["jobs"]


def executed(run):
    """Steps that a party has finished, by its progress.csv."""
    progress = run / "progress.csv"
    lines = progress.read_text().splitlines() if progress.exists() else []
    complete = [line for line in lines[1:] if line.count(",") == 5]
    return len(complete)


def check(trefoil, folder, out, party, before):
    """The party's jobs now, and what is wrong with them."""
    jobs = jobs_of(trefoil, folder / f"party-{party}/ledger.jsonl")
    steps = executed(out / f"party-{party}")
    wrong = []
    if any(job["state"] == "running" for job in jobs):
        wrong.append("a job that nobody runs is running")
    if len({job["run_id"] for job in jobs}) != len(jobs):
        wrong.append("a run twice")
    if not len(before) <= len(jobs) <= len(before) + 1:
        wrong.append(f"{len(jobs)} jobs after {len(before)}")
    for old, new in zip(before, jobs):
        if (old["run_id"], old["steps"], old["epsilon_insider"]) != (new["run_id"], new["steps"], new["epsilon_insider"]):
            wrong.append("another charge for an earlier run")
    charged = jobs[-1]["steps"] if len(jobs) > len(before) else 0
    if charged < steps:
        wrong.append(f"{charged} steps charged, {steps} executed")
    if charged > steps + 1 + STEPS // 50:
        wrong.append(f"{charged} steps charged, only {steps} executed")
    return jobs, wrong


def kill_once(trefoil, folder, out, victim, seconds, before):
    """What went wrong, and the ledgers' jobs after it."""
    processes = start(trefoil, folder, out)
    try:
        time.sleep(seconds)
        processes[victim].kill()
        for process in processes:
            process.wait(timeout=60)
    finally:
        for process in processes:
            process.kill()
            process.wait()
    results = [check(trefoil, folder, out, party, before[party]) for party in PARTIES]
    return [f"party {party}: {text}" for party in PARTIES for text in results[party][1]], [jobs for jobs, _ in results]


def duration(trefoil, folder, out):
    """Seconds that an undisturbed run takes."""
    begin = time.monotonic()
    for process in start(trefoil, folder, out):
        if process.wait(timeout=300) != 0:
            raise RuntimeError(f"an undisturbed run failed; see {out}")
    return time.monotonic() - begin


def main():
    options = read_options(times=200)

    options.folder.mkdir(parents=True)
    bad, in_between = 0, 0
    for count in range(options.times):
        folder = options.folder / f"parties-{count // KILLS_A_DEPLOYMENT}"
        if count % KILLS_A_DEPLOYMENT == 0:
            prepare_with_ledgers(options.trefoil, options.job, folder, SETTINGS, "10s")
            longest = duration(options.trefoil, folder, options.folder / f"whole-{count}")
            before = [jobs_of(options.trefoil, folder / f"party-{party}/ledger.jsonl") for party in PARTIES]
        victim = random.choice(PARTIES)
        seconds = random.uniform(0, longest)
        out = options.folder / f"kill-{count}"
        wrong, before = kill_once(options.trefoil, folder, out, victim, seconds, before)
        newest = before[victim][-1]
        in_between += newest["state"] == "died" and newest["steps"] > 0
        bad += bool(wrong)
        print(f"party {victim} killed after {seconds:.2f} s: {newest['state']}, {newest['steps']} steps", *wrong, sep="; ",
              flush=True)
        if not wrong:
            shutil.rmtree(out)
    print(f"{options.times - bad} of {options.times} ledgers as they must be; {in_between} kills between first and last step")
    return 1 if bad or in_between == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
