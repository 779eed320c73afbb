#!/usr/bin/env python3
"""Kills parties of one training with SIGKILL at random instants, resumes it each time, and checks how it ends.

One party, two or all three are killed, chosen anew each time, from their start to some seconds later. At the end the record must be the
same at all three and charge every step as often as it was executed: at least what the parties' progress.csv had after each kill, at
most two steps more for each session. The ledgers must say the same, and the models be equal.

Then the run is compared with undisturbed ones of the same job (none has the same seeds: there are no seeds to be given):
- its record is theirs but for the run id and the number of steps;
- its accuracy is within the interval in which another one like five undisturbed ones is, with probability 0.999 (normal, Student's t),
  which must be narrow enough to say something;
- its model has the noise of exactly the steps of the job, lost ones not: the records' outer pixels are black, so that the weights of
  those are sums of noise alone, with variance steps (learning_rate / expected_batch)^2 1.5 sigma^2 sensitivity^2. Five standard
  deviations of the estimate; a false alarm in two million (normal).

Usage: kill_resume.py TREFOIL JOB FOLDER [--times N] [--steps S] [--seconds S] [--seed S]. JOB's data is generated. A FOLDER that is there
is gone on with: --seconds ends with code 75 after so long. --steps: by default 45 a kill, so that the run takes longer than its parties
live. Prints one line per kill and a summary last; exit code 0 if all went as it must, 1 otherwise.
"""

import argparse
import gzip
import json
import math
import pathlib
import random
import re
import shutil
import statistics
import struct
import subprocess
import sys
import time
import zipfile

from kill_parties import LEDGER, PARTIES, prepare_with_ledgers

EVERY = 5
LEARNING_RATE, EXPECTED_BATCH = 0.05, 90
# Small steps and many of them, with so little noise that runs end alike.
SETTINGS = [f"training.checkpoint_every={EVERY}", "data.rows=[300, 300, 300]", f"training.expected_batch={EXPECTED_BATCH}",
            "training.max_batch_per_owner=150", f"training.learning_rate={LEARNING_RATE}", "privacy.epsilon=50",
            "training.lost_steps_max=1000000"]  # it is killed on purpose, again and again
STEPS_A_KILL = 45
UNDISTURBED = 5
STUDENT_T = 8.610  # two-sided 0.999, four degrees of freedom
WIDEST = 0.1  # of that interval, to either side: a model that was damaged is at 0.1, whole ones are at 0.9
SIDE, MARGIN = 28, 4
LONGEST_LIFE = 2.5
UNFINISHED = 75


def blacken_margins(images):
    """The outer pixels of all images of an IDX file."""
    content = bytearray(gzip.decompress(images.read_bytes()))
    for begin in range(16, len(content), SIDE * SIDE):
        for pixel in dead_pixels():
            content[begin + pixel] = 0
    images.write_bytes(gzip.compress(bytes(content)))


def dead_pixels():
    inner = range(MARGIN, SIDE - MARGIN)
    return [row * SIDE + column for row in range(SIDE) for column in range(SIDE) if row not in inner or column not in inner]


def deploy(trefoil, job, folder, steps):
    """Three parties with ledgers, and their job."""
    prepare_with_ledgers(trefoil, job, folder, [f"training.steps={steps}", *SETTINGS], "4s")
    for party in PARTIES:
        blacken_margins(next((folder / f"party-{party}/data").glob("images*")))


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


def progress_file(folder, party):
    """Another one for each session that went on."""
    path = folder / f"party-{party}/out/progress.csv"
    return path.stat().st_ino if path.exists() else None


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
    before = [progress_file(folder, party) for party in PARTIES]
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
    # Who died early has what an earlier session left, with steps that are lost.
    steps = min(last_step(folder, party) if progress_file(folder, party) != before[party] else 0 for party in PARTIES)
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


def run_undisturbed(trefoil, folder, out):
    """The same job and data in a run directory of its own, unless it has a finished run."""
    if all((out / f"party-{party}/summary.json").exists() for party in PARTIES):
        return
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir()
    processes = []
    for party in PARTIES:
        config = folder / f"party-{party}/whole.toml"
        text = (folder / f"party-{party}/party.toml").read_text()
        assert LEDGER in text  # which is of the run that is killed
        config.write_text(text.replace(LEDGER, ""))
        with open(out / f"{party}.console", "w") as console:
            processes.append(subprocess.Popen([trefoil, "run", "--config", config, "--job", folder / "job.toml", "--out",
                                               out / f"party-{party}", "--threads", "1"], stdout=console, stderr=subprocess.STDOUT))
    codes = [process.wait() for process in processes]
    assert codes == [0, 0, 0], f"an undisturbed run ended with {codes}; see {out}"


def accuracy(trefoil, folder, out):
    text = subprocess.run([trefoil, "evaluate", "--model", out / "model.npz", "--data", folder / "test"], check=True, stdout=subprocess.PIPE,
                          text=True).stdout
    return float(re.search(r"accuracy ([0-9.]+)", text).group(1))


def compare_accuracies(found, undisturbed):
    """What is wrong with an accuracy, beside those of undisturbed runs; and the figures."""
    mean, deviation = statistics.mean(undisturbed), statistics.stdev(undisturbed)
    width = STUDENT_T * deviation * math.sqrt(1 + 1 / len(undisturbed))
    figures = f"accuracy {found:.4f}, undisturbed {mean:.4f} +- {width:.4f}"
    if width > WIDEST:
        return [f"{figures}: too far apart to compare with, expected at most {WIDEST}"], figures
    return ([] if abs(found - mean) <= width else [figures]), figures


def noise_ratio(out, steps):
    """Variance of the weights that are noise alone, over what the noise of so many steps has; and how many they are."""
    summary = json.loads((out / "summary.json").read_text())["results"]["dpsgd"]
    with zipfile.ZipFile(out / "model.npz") as model:
        content = model.read("weights.npy")
    weights = struct.unpack(f"<{SIDE * SIDE * 10}d", content[-8 * SIDE * SIDE * 10:])
    dead = [weights[pixel * 10 + label] for pixel in dead_pixels() for label in range(10)]
    expected = steps * 1.5 * (LEARNING_RATE / EXPECTED_BATCH * summary["sigma"] * summary["sensitivity"]) ** 2
    return statistics.mean(value * value for value in dead) / expected, len(dead)


def compare_noise(out, steps):
    """What is wrong with the noise in a model, and the figures."""
    ratio, count = noise_ratio(out, steps)
    width = 5 * math.sqrt(2 / count)
    figures = f"variance of its noise {ratio:.3f} times that of {steps} steps, expected 1 +- {width:.3f}"
    return ([] if abs(ratio - 1) <= width else [figures]), figures


def compare_records(out, undisturbed, executed):
    """What is wrong with the record beside an undisturbed run's, of which it says the same but for steps and run."""
    found, whole = (json.loads((folder / "record.json").read_text()) for folder in (out, undisturbed))
    del found["run_id"], whole["run_id"]
    whole["events"][0]["steps"] = executed
    return [] if found == whole else [f"the record is {found}, undisturbed {whole}"]


def compare_epsilons(trefoil, out, undisturbed):
    """What is wrong with the epsilons: what account computes from the record, above those of an undisturbed run."""
    computed = json.loads(subprocess.run([trefoil, "account", "--record", out / "record.json", "--delta", "1e-5", "--json"], check=True,
                                         stdout=subprocess.PIPE).stdout)
    found, whole = (json.loads((folder / "summary.json").read_text())["privacy"] for folder in (out, undisturbed))
    wrong = []
    for key in ("epsilon_outsider", "epsilon_insider"):
        if not whole[key] <= found[key] == computed[key]:
            wrong.append(f"{key} {found[key]}, by its record {computed[key]}, undisturbed {whole[key]}")
    return wrong


def check_end(trefoil, folder, state, undisturbed):
    """What is wrong at the end, and the figures."""
    wrong = finish(trefoil, folder)
    if wrong:
        return wrong, ""
    out, steps = folder / "party-0/out", state["steps"]
    executed = json.loads((out / "record.json").read_text())["events"][0]["steps"]
    sessions = resumptions(folder)
    starts = {number: step for number, (step, _, _) in sessions.items()}
    last = max(starts)
    # Each session finished what its progress.csv has, at the party that came least far; another may have finished one more, and begun
    # one after that.
    least = steps - starts[last] + state["finished"]
    if not least <= executed <= least + 2 * last:
        wrong.append(f"{executed} steps charged, expected {least} to {least + 2 * last}")
    if executed != steps + sessions[last][2]:
        wrong.append(f"{executed} steps charged, but {sessions[last][2]} said to be lost")
    wrong += compare_records(out, undisturbed[0], executed)
    wrong += compare_epsilons(trefoil, out, undisturbed[0])
    for whole in undisturbed:
        wrong += [f"{whole}: {text}" for text in compare_noise(whole, steps)[0]]
    inaccurate, accuracies = compare_accuracies(accuracy(trefoil, folder, out), [accuracy(trefoil, folder, whole) for whole in undisturbed])
    noisy, noise = compare_noise(out, steps)
    return wrong + inaccurate + noisy, f"{last} sessions, {executed} steps executed for {steps}, {accuracies}, {noise}"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("trefoil")
    parser.add_argument("job")
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--times", type=int, default=200)
    parser.add_argument("--steps", type=int)
    parser.add_argument("--seconds", type=float, default=1e9)
    parser.add_argument("--seed", type=int, help="default: another one each time, printed")
    options = parser.parse_args()
    seed = options.seed if options.seed is not None else random.SystemRandom().randrange(2**32)
    random.seed(seed)
    print(f"seed {seed}")

    begin = time.monotonic()
    kept = options.folder / "kills.json"
    if not kept.exists():
        steps = options.steps or STEPS_A_KILL * options.times
        deploy(options.trefoil, options.job, options.folder, steps)
        kept.write_text(json.dumps({"steps": steps, "kills": 0, "bad": 0, "finished": 0, "sessions": 1, "counted": 0}))
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
        counted = max(state["counted"], steps)
        state["finished"] += counted - state["counted"]
        state["counted"] = counted
        state["kills"] += 1
        state["bad"] += bool(wrong)
        print(text, *wrong, sep="; ", flush=True)
        kept.write_text(json.dumps(state))
    undisturbed = [options.folder / f"whole-{number}" for number in range(UNDISTURBED)]
    for whole in undisturbed:
        if time.monotonic() - begin > options.seconds:
            print(f"{options.times} kills so far; undisturbed runs up to {whole}")
            return UNFINISHED
        run_undisturbed(options.trefoil, options.folder, whole)
    undisturbed = [whole / "party-0" for whole in undisturbed]
    wrong, figures = check_end(options.trefoil, options.folder, state, undisturbed)
    print(*wrong, sep="\n")
    print(f"{options.times - state['bad']} of {options.times} kills ended as they must; {figures}")
    return 1 if state["bad"] or wrong else 0


if __name__ == "__main__":
    sys.exit(main())
