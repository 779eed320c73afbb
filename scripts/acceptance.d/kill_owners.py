#!/usr/bin/env python3
"""Kills what has to do with deposits with SIGKILL at random instants, and checks that nothing is lost and nothing taken twice.

- `trefoil accept` at one party, within the time that it takes: the deposit is then in the store whole or not at all, and there
  where the command said so. In the end each is taken where it was not, and refused where it was.
- a party's inbox while an owner uploads, which begins anew each time: in the end all three parties have all that was sent, once, and
  the owner receipts that do not change.
- parties of one training on all these deposits, one, two or all three, resumed each time: in the end records and models are equal,
  the record counts each step as often as it was executed at least, and the ledger of the owner's population has one job with
  exactly that.
The store is verified after every kill of an accept and of an inbox, and at the end.

Usage: kill_owners.py TREFOIL FOLDER [--times N] [--seed S]. FOLDER must not exist. N kills in all, 200 by default: three eighths of
accepts, as many of inboxes, the rest of runs. Prints a line a stage; exit code 0 if all went as it must, 1 otherwise.
"""

import argparse
import json
import pathlib
import random
import re
import subprocess
import sys
import time

from kill_parties import PARTIES, free_base_port
from visits import with_changes

CAPACITY = 40
STEPS_A_KILL = 60
CHECKPOINT = 10
ACCEPT_TAKES = 0.08  # seconds, about, beside other work
LONGEST_LIFE = 1.5   # of a run's parties
CHANGES = (
    ("capacity = 80\n", f"capacity = {CAPACITY}\n"),
    ("steps = 8\n", f"steps = 1\ncheckpoint_every = {CHECKPOINT}\nlost_steps_max = 1000000\n"),
    ("learning_rate = 3.0\n", "learning_rate = 0.01\n"),
    ("sigma = 0.001\n", "sigma = 100.0\n"),
    ("clip = 8.0\n", "clip = 1.0\n"),
)


class Wrong(Exception):
    """What should not have happened, in a line."""


def expect(holds, text):
    if not holds:
        raise Wrong(text)


class Deployment:
    """Three parties with ledgers for owners, and an owner whom they trust."""

    def __init__(self, trefoil, folder):
        self.trefoil, self.folder = trefoil, folder
        folder.mkdir(parents=True)
        self.run("init", "--all", "--hosts", "127.0.0.1,127.0.0.1,127.0.0.1", "--base-port", free_base_port(), "--out", "d")
        self.run("owner", "init", "--out", "o")
        for party in PARTIES:
            file = folder / self.config(party)
            text, replaced = re.subn('(?m)^start = "[^"]*"', 'start = "4s"', file.read_text())
            assert replaced == 1, f"{file}: no start time-out"
            file.write_text(text + '\n[owner_ledgers]\nfolder = "owner-ledgers"\nepsilon_cap = 1000000\ndelta = 1e-5\n')
            self.run("trust-owner", "--config", self.config(party), "--name", "clinic", "o/owner.pub")
        self.port = free_base_port()
        self.job = with_changes(*CHANGES)  # the study is of its records alone
        (folder / "job.toml").write_text(self.job)
        made = self.run("study", "init", "--job", "job.toml", "--keys", *(f"d/party-{party}/deposit.pub" for party in PARTIES),
                        "--inboxes", *(f"127.0.0.1:{self.port + party}" for party in PARTIES),
                        "--certificates", *(f"d/party-{party}/party.crt" for party in PARTIES), "--out", "study.toml")
        self.study = re.search(r"(?m)^id +([0-9a-f]{64})$", made)[1]
        rows = [(random.uniform(-0.7, 0.7), random.uniform(-0.7, 0.7)) for _ in range(CAPACITY // 2)]
        (folder / "t.csv").write_text("a,b,y\n" + "".join(f"{a:.3f},{b:.3f},{'yes' if a + b > 0 else 'no'}\n" for a, b in rows))

    def write_job(self, deposits, steps):
        text = self.job.replace(f"capacity = {CAPACITY}", f'study = "{self.study}"\ncapacity = {CAPACITY * deposits}')
        (self.folder / "job.toml").write_text(text.replace("steps = 1\n", f"steps = {steps}\n"))

    @staticmethod
    def config(party):
        return f"d/party-{party}/party.toml"

    def start(self, *words, log=None):
        out = open(self.folder / log, "a") if log else subprocess.PIPE
        return subprocess.Popen([self.trefoil, *map(str, words)], cwd=self.folder, stdout=out, stderr=subprocess.STDOUT, text=True)

    def run(self, *words, code=0):
        """What a command prints, which has to end with the code."""
        process = self.start(*words)
        output = process.communicate()[0]
        expect(process.returncode == code, f"trefoil {words[0]} ended with {process.returncode}, expected {code}: {output.strip()}")
        return output

    def deposit(self, out, *more):
        made = self.run("deposit", "--study", "study.toml", "--key", "o/owner.key", "--in", "t.csv", "--capacity", CAPACITY, "--adds", "--out", out,
                        *more)
        return re.search(r"(?m)^deposit (\w+)$", made)[1]

    def accept(self, party, out):
        return "accept", "--config", self.config(party), "--study", "study.toml", f"{out}/party-{party}.deposit"

    def listed(self, party):
        """The ids of what a party has taken, after its store was verified."""
        ids = [line.split()[0] for line in self.run("store", "list", "--config", self.config(party)).splitlines()]
        expect(len(ids) == len(set(ids)), f"party {party} lists a deposit twice")
        *left, verified = self.run("store", "verify", "--config", self.config(party)).splitlines()
        expect(verified == f"{len(ids)} deposits, each as it was taken", f"party {party}: {verified}")
        expect(all("did not end; repeat that" in line for line in left), f"party {party}: {left}")
        return set(ids)


def kill_accepts(deployment, times):
    """The ids of what all three have taken in the end."""
    taken, outs = set(), {}
    for number in range(times):
        out = f"accepted-{number}"
        deposit = deployment.deposit(out)
        outs[deposit] = out
        process = deployment.start(*deployment.accept(1, out))
        time.sleep(random.uniform(0, ACCEPT_TAKES))
        process.kill()
        told = process.communicate()[0]
        found = deployment.listed(1)
        expect(taken <= found <= taken | {deposit}, f"kill {number} of an accept: {len(found)} deposits, {len(taken)} before")
        expect("taken" not in told or deposit in found, f"kill {number} of an accept: it said that it took what is not there")
        taken = found
    in_time = len(taken)
    for deposit, out in outs.items():
        deployment.run(*deployment.accept(1, out), code=4 if deposit in taken else 0)
        for party in (0, 2):
            deployment.run(*deployment.accept(party, out))
    print(f"{times} accepts killed, {in_time} of them when the deposit was taken", flush=True)
    return set(outs)


def kill_inboxes(deployment, times, before):
    def serve(party):
        process = deployment.start("inbox", "--config", deployment.config(party), "--study", "study.toml", "--listen",
                                   f"127.0.0.1:{deployment.port + party}")
        line = process.stdout.readline()
        expect(line.startswith("listening on"), f"an inbox of party {party} did not begin: {line}")
        return process

    inboxes = [serve(party) for party in PARTIES]
    ids, kills = set(before), 0
    try:
        while kills < times:
            out = f"sent-{len(ids)}"
            ids.add(deployment.deposit(out))
            send = ("deposit", "--study", "study.toml", "--out", out, "--send")
            sender = deployment.start(*send)
            while sender.poll() is None and kills < times:
                time.sleep(random.uniform(0, 0.15))
                victim = random.choice(PARTIES)
                inboxes[victim].kill()
                inboxes[victim].communicate()
                kills += 1
                deployment.listed(victim)
                inboxes[victim] = serve(victim)
            output = sender.communicate(timeout=180)[0]
            expect(sender.returncode == 0, f"an owner could not send: {output}")
            receipts = [deployment.folder / out / f"party-{party}.receipt" for party in PARTIES]
            kept = [receipt.read_text() for receipt in receipts]
            for receipt in receipts:
                receipt.unlink()
            deployment.run(*send)
            expect([receipt.read_text() for receipt in receipts] == kept, f"{out}: other receipts the second time")
    finally:
        for inbox in inboxes:
            inbox.kill()
            inbox.communicate()
    print(f"{times} inboxes killed while {len(ids) - len(before)} deposits were sent", flush=True)
    return ids


def kill_runs(deployment, times, deposits):
    deployment.write_job(deposits, STEPS_A_KILL * times)

    def start():
        return [deployment.start("run", "--config", deployment.config(party), "--job", "job.toml", "--out", f"run-{party}", "--threads", 1, "--resume",
                                 log=f"{party}.console") for party in PARTIES]

    for number in range(times):
        victims = random.sample(PARTIES, random.choice((1, 1, 1, 2, 3)))
        processes = start()
        time.sleep(random.uniform(0, LONGEST_LIFE))
        for party in victims:
            processes[party].kill()
        codes = [process.wait(timeout=60) for process in processes]
        wanted = [-9 if party in victims else 3 for party in PARTIES]
        expect(codes == wanted, f"kill {number} of parties {victims} of a run: codes {codes}")
    codes = [process.wait(timeout=1800) for process in start()]
    expect(codes == [0, 0, 0], f"the last session of the run ended with {codes}")
    records = [json.loads((deployment.folder / f"run-{party}/record.json").read_text()) for party in PARTIES]
    models = [(deployment.folder / f"run-{party}/model.npz").read_bytes() for party in PARTIES]
    expect(records[0] == records[1] == records[2], "records differ")
    expect(models[0] == models[1] == models[2], "models differ")
    steps = records[0]["events"][0]["steps"]
    expect(steps >= STEPS_A_KILL * times, f"{steps} steps charged for {STEPS_A_KILL * times}")
    for party in PARTIES:
        ledger = deployment.folder / f"d/party-{party}/owner-ledgers/clinic/default.jsonl"
        deployment.run("ledger", "verify", ledger)
        jobs = [(job["state"], job["steps"], job["run_id"]) for job in json.loads(deployment.run("ledger", "show", ledger, "--json"))["jobs"]]
        expect(jobs == [("done", steps, records[0]["run_id"])], f"the ledger of the owner at party {party} has {jobs}")
    print(f"{times} runs killed, {steps} steps charged for the {STEPS_A_KILL * times} of the model", flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("trefoil", type=pathlib.Path)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--times", type=int, default=200)
    parser.add_argument("--seed", type=int, help="default: another one each time, printed")
    options = parser.parse_args()
    seed = options.seed if options.seed is not None else random.SystemRandom().randrange(2**32)
    random.seed(seed)
    print(f"seed {seed}")
    share = options.times * 3 // 8
    try:
        deployment = Deployment(options.trefoil.resolve(), options.folder)
        ids = kill_inboxes(deployment, share, kill_accepts(deployment, share))
        for party in PARTIES:
            expect(deployment.listed(party) == ids, f"party {party} has other deposits than were handed in")
        kill_runs(deployment, options.times - 2 * share, len(ids))
        for party in PARTIES:
            expect(deployment.listed(party) == ids, f"party {party} has other deposits behind the run")
    except Wrong as wrong:
        print(wrong)
        return 1
    print(f"{options.times} kills: {len(ids)} deposits at all three parties, each whole and once")
    return 0


if __name__ == "__main__":
    sys.exit(main())
