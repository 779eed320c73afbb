#!/usr/bin/env python3
"""Kills parties of one training with SIGKILL at random instants, resumes it each time, and checks how it ends.

One party, two or all three are killed, chosen anew each time, from their start to some seconds later. At the end the record must be the
same at all three and charge every step as often as it was executed: at least what the parties' progress.csv had after each kill, at
most two steps more for each session. The ledgers must say the same, the models be equal, and the accuracy that of an undisturbed run.

Usage: kill_resume.py TREFOIL JOB FOLDER [--times N] [--seconds S] [--seed S]. JOB's data is generated. A FOLDER that is there is gone
on with: --seconds ends with code 75 after so long. Prints one line per kill and a summary last; exit code 0 if all went as it must, 1
otherwise.
"""

import argparse
import json
import pathlib
import random
import re
import subprocess
import sys
import time

from kill_parties import PARTIES, prepare_with_ledgers

STEPS = 9000
EVERY = 20
# Small steps and many of them, so that the run takes longer than its parties live.
SETTINGS = [f"training.steps={STEPS}", f"training.checkpoint_every={EVERY}", "data.rows=[300, 300, 300]",
            "training.expected_batch=90", "training.max_batch_per_owner=100", "training.learning_rate=5"]
LONGEST_LIFE = 2.5
UNFINISHED = 75


def start(trefoil, folder, party):
    """One party, its output behind what earlier sessions said."""
    with open(folder / f"{party}.console", "a") as console:
        return subprocess.Popen([trefoil, "run", "--config", folder / f"party-{party}/party.toml", "--job", folder / "job.toml",
                                 "--out", folder / f"party-{party}/out", "--threads", "1", "--resume"],
                                stdout=console, stderr=subprocess.STDOUT)


def last_step(folder, party):
    """The last step that a party has finished, by the whole lines of its progress.csv."""
    path = folder / f"party-{party}/out/progress.csv"
    lines = path.read_text().rpartition("\n")[0].splitlines() if path.exists() else []
    return int(lines[-1].split(",")[0]) if len(lines) > 1 else 0


def resumptions(folder):
    """Where each session that came so far resumed, as party 0 or 1 or 2 said, by the number of the session."""
    found = {}
    for party in PARTIES:
        path = folder / f"{party}.console"
        text = path.read_text() if path.exists() else ""
        for step, session, before, lost in re.findall(
                r"at step (\d+) of \d+, in session (\d+): (\d+) steps were begun before, (\d+) of them lost", text):
            found[int(session)] = (int(step), int(before), int(lost))
    return found


def kill_once(trefoil, folder):
    """Starts all three, kills some, waits for the others. Returns what is to be said, and what went wrong."""
    victims = random.sample(PARTIES, random.choice((1, 1, 1, 2, 3)))
    seconds = random.uniform(0, LONGEST_LIFE)
    processes = [start(trefoil, folder, party) for party in PARTIES]
    wrong = []
    try:
        time.sleep(seconds)
        for party in victims:
            processes[party].kill()
        codes = [process.wait(timeout=60) for process in processes]
        wrong = [f"party {party} ended with {codes[party]}" for party in PARTIES
                 if codes[party] != (-9 if party in victims else 3)]
    except subprocess.TimeoutExpired:
        wrong.append("a party did not end")
    finally:
        for process in processes:
            process.kill()
            process.wait()
    # Who died early has what an earlier session left.
    steps = min(last_step(folder, party) for party in PARTIES)
    return f"parties {victims} killed after {seconds:.2f} s, at step {steps}", wrong, steps


def finish(trefoil, folder):
    """Lets the run come to its end; what is wrong with how it ended, and how many steps it says were lost."""
    codes = [process.wait(timeout=900) for process in [start(trefoil, folder, party) for party in PARTIES]]
    if codes != [0, 0, 0]:
        return [f"the last session ended with {codes}"]
    wrong = []
    records = [json.loads((folder / f"party-{party}/out/record.json").read_text()) for party in PARTIES]
    if not records[0] == records[1] == records[2]:
        wrong.append("records differ")
    models = [(folder / f"party-{party}/out/model.npz").read_bytes() for party in PARTIES]
    if not models[0] == models[1] == models[2]:
        wrong.append("models differ")
    for party in PARTIES:
        shown = json.loads(subprocess.run([trefoil, "ledger", "show", folder / f"party-{party}/ledger.jsonl", "--json"], check=True,
                                          stdout=subprocess.PIPE).stdout)
        subprocess.run([trefoil, "ledger", "verify", folder / f"party-{party}/ledger.jsonl"], check=True, stdout=subprocess.DEVNULL)
        jobs = [(job["state"], job["steps"], job["run_id"]) for job in shown["jobs"]]
        if jobs != [("done", records[0]["events"][0]["steps"], records[0]["run_id"])]:
            wrong.append(f"party {party}'s ledger has {jobs}")
        if (folder / f"party-{party}/out/checkpoint").exists():
            wrong.append(f"party {party} has checkpoints left")
    return wrong


def accuracy(trefoil, folder, model):
    text = subprocess.run([trefoil, "evaluate", "--model", model, "--data", folder / "test"], check=True, stdout=subprocess.PIPE,
                          text=True).stdout
    return float(re.search(r"accuracy ([0-9.]+)", text).group(1))


def check_end(trefoil, folder, state):
    """What is wrong at the end, and the figures."""
    wrong = finish(trefoil, folder)
    if wrong:
        return wrong, ""
    executed = json.loads((folder / "party-0/out/record.json").read_text())["events"][0]["steps"]
    sessions = resumptions(folder)
    starts = {number: step for number, (step, _, _) in sessions.items()}
    last = max(starts)
    # Each session finished what its progress.csv has, at the party that came least far; another may have finished one more, and begun
    # one after that.
    least = STEPS - starts[last] + state["finished"]
    if not least <= executed <= least + 2 * last:
        wrong.append(f"{executed} steps charged, expected {least} to {least + 2 * last}")
    if executed != STEPS + sessions[last][2]:
        wrong.append(f"{executed} steps charged, but {sessions[last][2]} said to be lost")
    subprocess.run([trefoil, "local", "--job", folder / "job.toml", "--out", folder / "whole"], check=True,
                   stdout=subprocess.DEVNULL)
    disturbed = accuracy(trefoil, folder, folder / "party-0/out/model.npz")
    whole = accuracy(trefoil, folder, folder / "whole/model.npz")
    # Of 1000 test records; two runs differ by their noise.
    if disturbed < whole - 0.03:
        wrong.append(f"accuracy {disturbed}, undisturbed {whole}")
    return wrong, f"{last} sessions, {executed} steps executed for {STEPS}, accuracy {disturbed}, undisturbed {whole}"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("trefoil")
    parser.add_argument("job")
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--times", type=int, default=200)
    parser.add_argument("--seconds", type=float, default=1e9)
    parser.add_argument("--seed", type=int, help="default: another one each time, printed")
    options = parser.parse_args()
    seed = options.seed if options.seed is not None else random.SystemRandom().randrange(2**32)
    random.seed(seed)
    print(f"seed {seed}")

    begin = time.monotonic()
    kept = options.folder / "kills.json"
    if not kept.exists():
        prepare_with_ledgers(options.trefoil, options.job, options.folder, SETTINGS, "4s")
        kept.write_text(json.dumps({"kills": 0, "bad": 0, "finished": 0, "sessions": 1, "counted": 0}))
    state = json.loads(kept.read_text())
    while state["kills"] < options.times:
        if time.monotonic() - begin > options.seconds:
            print(f"{state['kills']} of {options.times} kills so far")
            return UNFINISHED
        text, wrong, steps = kill_once(options.trefoil, options.folder)
        sessions = resumptions(options.folder)
        newest = max(sessions, default=1)
        if newest > state["sessions"]:
            state["sessions"], state["counted"] = newest, sessions[newest][0]
        # A session that did not come so far leaves progress.csv as it was.
        counted = max(state["counted"], steps)
        state["finished"] += counted - state["counted"]
        state["counted"] = counted
        state["kills"] += 1
        state["bad"] += bool(wrong)
        print(text, *wrong, sep="; ", flush=True)
        kept.write_text(json.dumps(state))
    wrong, figures = check_end(options.trefoil, options.folder, state)
    print(*wrong, sep="\n")
    print(f"{options.times - state['bad']} of {options.times} kills ended as they must; {figures}")
    return 1 if state["bad"] or wrong else 0


if __name__ == "__main__":
    sys.exit(main())
