#!/usr/bin/env python3
"""Plants one fault at one moment of a run, for every pair of the table in fault_table.py, and checks how all three parties end.

Three parties run in network namespaces; party 1 is the one that the fault strikes. Each must end as the table says, in time: with the
right exit code, and, where it did not end well, with one line on stderr that names the party and the cause. Needs root; the clock's jump
needs libfaketime. STOP_AT is the library of stop_at.cpp.

Usage: fault_matrix.py TREFOIL STOP_AT FOLDER [--faults A,B] [--phases A,B] [--pairs FAULT@PHASE,...] [--seconds S] [--anew]
       fault_matrix.py --table [--check]      puts the table into docs/howto/operations.md; --check: fails if another one is there
FOLDER keeps what was found: pairs that passed before are not tried again but with --anew; --seconds ends with code 75 after so long. Prints a line for
each pair and a summary last; exit code 0 if all ended as they must, 1 otherwise, 77 if this machine cannot run it.
"""

import argparse
import gzip
import json
import os
import pathlib
import re
import resource
import shutil
import signal
import subprocess
import sys
import time

from fault_network import ADDRESSES, PARTIES, Network
from fault_table import FAULTS, PHASES, STARTS, accepts, expected, table

VICTIM = 1
PORT, PROXY_PORT = 7700, 7790
# Seconds that a party may take to end once a fault is noticed: a link's last words, and the process's own end on a busy machine.
MARGIN = 8
LONGEST_RUN = 120
UNFINISHED, SKIPPED = 75, 77
FAKETIME = "/usr/lib/x86_64-linux-gnu/faketime/libfaketime.so.1"
DOCUMENT = pathlib.Path(__file__).resolve().parents[2] / "docs/howto/operations.md"
BEGIN, END = "<!-- made by scripts/acceptance.d/fault_matrix.py --table: begin -->\n", "<!-- made by fault_matrix.py: end -->\n"
# Where party 1 stops by itself (stop_at.cpp); in the other phase it is stopped from outside.
STOPS = {"handshake": "connect:", "input": "rename:/progress.csv", "checkpoint": "rename:/000018-", "release": "rename:/record.json"}
# A checkpoint that is on disk but for its name needs no more room.
STOPS_BEFORE_WRITING = {**STOPS, "checkpoint": "open:/000018-"}
JOB = """
version = 1
type = "dpsgd"
name = "faults"
[data]
name = "digits"
format = "idx"
rows = [3000, 3000, 3000]
features = 784
classes = 10
scale = 255.0
[features]
row_norm = 4.0
[training]
steps = 40
expected_batch = 300
max_batch_per_owner = 300
learning_rate = 8.0
checkpoint_every = 6
lost_steps_max = 1000
[privacy]
sigma = 20.0
delta = 1e-5
clip = 2.0
sampling = "public"
[evaluation]
holder = 0
rows = 2000
sigma = 30.0
"""


class Parties:
    """Three deployments, and their processes in one run."""

    def __init__(self, trefoil, stop_at, folder):
        assert stop_at.exists(), f"{stop_at}: not there"
        self.trefoil, self.stop_at, self.folder = trefoil, stop_at, folder
        self.processes = {}

    def prepare(self):
        job = self.folder / "source.toml"
        job.write_text(JOB)
        subprocess.run([self.trefoil, "local", "--job", job, "--prepare", "--hosts", ",".join(ADDRESSES), "--out", self.folder / "d"],
                       check=True, stdout=subprocess.DEVNULL)

    def config(self, party):
        return self.folder / f"d/party-{party}/party.toml"

    def out(self, party):
        return self.folder / f"run/party-{party}"

    def error(self, party):
        return (self.folder / f"run/{party}.stderr").read_text()

    def clear(self, timeouts):
        """No processes, empty run directories, and these time-outs in all party files."""
        self.processes = {}
        shutil.rmtree(self.folder / "run", ignore_errors=True)
        (self.folder / "run").mkdir()
        for party in PARTIES:
            text = self.config(party).read_text()
            for key, seconds in timeouts.items():
                text, count = re.subn(f'(?m)^{key} = "[^"]*"', f'{key} = "{seconds}s"', text)
                assert count == 1, f"{self.config(party)}: {count} keys {key}"
            self.config(party).write_text(text)

    def start(self, party, config=None, job=None, environment=None, stop_at=None):
        environment = dict(environment or {})
        if stop_at:
            environment["LD_PRELOAD"] = " ".join([str(self.stop_at), *environment.get("LD_PRELOAD", "").split()])
            environment["TREFOIL_STOP_AT"] = stop_at
        # What an earlier start said is of no interest here.
        with open(self.folder / f"run/{party}.stdout", "w") as stdout, open(self.folder / f"run/{party}.stderr", "w") as stderr:
            # env, so that only the party is preloaded: `ip` would stop at its own calls.
            self.processes[party] = subprocess.Popen(
                Network.at(party, "env", *(f"{key}={value}" for key, value in environment.items()), self.trefoil, "run", "--config",
                           config or self.config(party), "--job", job or self.folder / "d/job.toml", "--out", self.out(party),
                           "--threads", "1", "--resume"), stdout=stdout, stderr=stderr)

    def steps(self, party):
        path = self.out(party) / "progress.csv"
        return path.read_text().count("\n") - 1 if path.exists() else -1

    def is_stopped(self, party):
        return pathlib.Path(f"/proc/{self.processes[party].pid}/stat").read_text().rsplit(")", 1)[1].split()[0] == "T"

    def wait_until(self, condition, what):
        deadline = time.monotonic() + LONGEST_RUN
        while not condition():
            if time.monotonic() > deadline:
                raise RuntimeError(f"{what} did not come")
            for party, process in self.processes.items():
                if process.poll() is not None:
                    raise RuntimeError(f"party {party} ended with {process.returncode} before {what}: {self.error(party).strip()}")
            time.sleep(0.002)

    def stop_in(self, phase):
        """Until party 1 is in the phase, the others with it; it is stopped then."""
        if phase == "step":
            self.wait_until(lambda: self.steps(VICTIM) >= 9, "step 9")
            self.processes[VICTIM].send_signal(signal.SIGSTOP)
        self.wait_until(lambda: self.is_stopped(VICTIM), phase)

    def end(self, seconds, waiting_for=PARTIES):
        """Exit codes once these have ended, after at most so long; None for a party that has not ended."""
        deadline = time.monotonic() + seconds
        while any(self.processes[party].poll() is None for party in waiting_for) and time.monotonic() < deadline:
            time.sleep(0.02)
        return [self.processes[party].poll() for party in PARTIES]

    def kill(self):
        for process in self.processes.values():
            process.kill()
            process.wait()


def fill_disk(folder):
    """The folder's file system, which is its own, to the last byte."""
    block = b"\0" * 65536
    with open(folder / "filler", "wb", buffering=0) as filler:
        while block:
            try:
                if filler.write(block) < len(block):
                    block = block[: len(block) // 2]
            except OSError:
                block = block[: len(block) // 2]


def mapped_bytes(process):
    return int(pathlib.Path(f"/proc/{process.pid}/statm").read_text().split()[0]) * resource.getpagesize()


class Fault:
    """One pair: starts the parties, plants the fault, and collects how they ended."""

    def __init__(self, parties, fault, phase):
        self.parties, self.fault, self.phase = parties, fault, phase
        self.expected = expected(fault, phase)
        self.undo = []

    def timeouts(self):
        late = self.fault == "late start by 60 s"
        return {"start": 120 if late else 8, "peer": 10 if self.fault == "5 s stall" else 3}

    def run(self):
        """What went wrong, and the seconds from the fault to the last party's end."""
        self.parties.clear(self.timeouts())
        try:
            if self.fault in STARTS:
                began = self.start_with_fault()
            else:
                began = self.strike_in_phase()
            lives = self.expected["codes"] == (0, 0, 0) or self.expected["or_goes_on"]
            noticed = self.timeouts()["start" if self.phase == "handshake" or self.fault in STARTS else "peer"]
            limit = LONGEST_RUN if lives else noticed + MARGIN
            others = self.fault in ("SIGSTOP", "another version")
            codes = self.parties.end(limit, waiting_for=[0, 2] if others else PARTIES)
            seconds = time.monotonic() - began
            if self.fault == "SIGSTOP":
                self.parties.processes[VICTIM].send_signal(signal.SIGCONT)
                codes[VICTIM] = self.parties.end(limit)[VICTIM]
            return self.judge(codes), seconds
        finally:
            self.parties.kill()
            for step in reversed(self.undo):
                step()

    def strike_in_phase(self):
        environment, config = self.prepare_strike()
        for party in (0, 2):
            self.parties.start(party)
        stops = STOPS_BEFORE_WRITING if self.fault == "disk full" else STOPS
        self.parties.start(VICTIM, config, environment=environment, stop_at=stops.get(self.phase))
        self.parties.stop_in(self.phase)
        began = time.monotonic()
        self.strike()
        if self.fault != "SIGSTOP" and self.parties.processes[VICTIM].poll() is None:
            self.parties.processes[VICTIM].send_signal(signal.SIGCONT)
        return began

    def start_with_fault(self):
        """At the handshake, or again after all three were killed in the phase."""
        if self.phase != "handshake":
            for party in (0, 2):
                self.parties.start(party)
            self.parties.start(VICTIM, stop_at=STOPS.get(self.phase))
            self.parties.stop_in(self.phase)
            self.parties.kill()
        began = time.monotonic()
        config, others, job = None, {}, None
        if self.fault == "another job":
            job = self.parties.folder / "run/other.toml"
            job.write_text(re.sub("(?m)^learning_rate = .*", "learning_rate = 9.0", (self.parties.folder / "d/job.toml").read_text()))
        elif self.fault == "other data shape":
            config = self.other_data()
        elif self.fault == "certificate expired":
            config, others = self.expired_certificate()
        for party in (0, 2):
            self.parties.start(party, others.get(party))
        if self.fault == "late start by 60 s":
            time.sleep(60)
        if self.fault == "another version":
            self.parties.processes[VICTIM] = subprocess.Popen(Network.at(
                VICTIM, sys.executable, "-B", pathlib.Path(__file__).with_name("other_version.py"), self.parties.config(VICTIM).parent,
                ADDRESSES[0], ADDRESSES[VICTIM]), stderr=subprocess.DEVNULL)
        else:
            self.parties.start(VICTIM, config, job)
        return began

    def prepare_strike(self):
        """What has to be there before party 1 is: its environment, and its party file."""
        environment, config = {}, None
        if self.fault == "disk full":
            folder = self.parties.out(VICTIM)
            folder.mkdir(parents=True)
            subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4m", "none", folder], check=True)
            self.undo.append(lambda: subprocess.run(["umount", "-l", folder], check=True))
        elif self.fault == "clock jump":
            clock = self.parties.folder / "run/clock"
            clock.write_text("+0\n")
            environment = {"LD_PRELOAD": FAKETIME, "FAKETIME_TIMESTAMP_FILE": clock, "FAKETIME_NO_CACHE": 1,
                           "FAKETIME_DONT_FAKE_MONOTONIC": 1}
        elif self.fault == "byte flipped below TLS":
            self.proxy = subprocess.Popen(Network.at(0, sys.executable, "-B", pathlib.Path(__file__).with_name("flip_proxy.py"),
                                                     f"{ADDRESSES[0]}:{PROXY_PORT}", f"{ADDRESSES[0]}:{PORT}"), stdout=subprocess.PIPE)
            self.undo.append(lambda: (self.proxy.kill(), self.proxy.communicate()))
            self.proxy.stdout.readline()
            config = self.parties.config(VICTIM).with_name("proxied.toml")
            config.write_text(self.parties.config(VICTIM).read_text().replace(f"{ADDRESSES[0]}:{PORT}", f"{ADDRESSES[0]}:{PROXY_PORT}"))
        return environment, config

    def strike(self):
        victim = self.parties.processes[VICTIM]
        if self.fault == "kill -9":
            victim.kill()
        elif self.fault == "link cut":
            self.undo.append(Network.mend)
            Network.cut()
        elif self.fault == "link half-cut":
            self.undo.append(Network.mend_half)
            Network.cut_half()
        elif self.fault == "5 s stall":
            Network.cut()
            victim.send_signal(signal.SIGCONT)
            time.sleep(5)
            Network.mend()
        elif self.fault == "byte flipped below TLS":
            self.proxy.send_signal(signal.SIGUSR1)
        elif self.fault == "disk full":
            fill_disk(self.parties.out(VICTIM))
        elif self.fault == "memory limit":
            resource.prlimit(victim.pid, resource.RLIMIT_AS, (mapped_bytes(victim),) * 2)
        elif self.fault == "clock jump":
            (self.parties.folder / "run/clock").write_text("+400d\n")
        elif self.fault == "all three restarted":
            self.parties.kill()
            for party in PARTIES:
                self.parties.start(party)

    def expired_certificate(self):
        """Party 1's party file with a certificate of yesterday, and the others' that have pinned it."""
        folder = self.parties.config(VICTIM).parent
        certificate = folder / "expired.crt"
        request = subprocess.run(["openssl", "req", "-new", "-key", folder / "party.key", "-subj", "/CN=party-1"], check=True,
                                 stdout=subprocess.PIPE).stdout
        subprocess.run(["openssl", "x509", "-req", "-signkey", folder / "party.key", "-days", "-1", "-out", certificate], input=request,
                       check=True, stderr=subprocess.DEVNULL)
        configs = {}
        for party in PARTIES:
            stored = "party.crt" if party == VICTIM else f"peers/party-{VICTIM}.crt"
            configs[party] = self.parties.config(party).with_name("expired.toml")
            text = self.parties.config(party).read_text()
            assert text.count(f'"{stored}"') == 1, f"{configs[party]}: {stored}"
            configs[party].write_text(text.replace(f'"{stored}"', f'"{certificate}"'))
        return configs.pop(VICTIM), configs

    def other_data(self):
        """Party 1's file with labels that are not as many as its images."""
        folder = self.parties.config(VICTIM).parent
        labels = next((folder / "data").glob("labels*"))
        content = gzip.decompress(labels.read_bytes())
        count = int.from_bytes(content[4:8], "big") - 7
        short = folder / "data/short.gz"
        short.write_bytes(gzip.compress(content[:4] + count.to_bytes(4, "big") + content[8:8 + count]))
        config = folder / "short.toml"
        config.write_text(self.parties.config(VICTIM).read_text().replace(f"data/{labels.name}", "data/short.gz"))
        return config

    def judge(self, codes):
        if self.expected["or_goes_on"] and codes == [0, 0, 0]:
            return self.compare_models()
        wrong = []
        for party in PARTIES:
            want = self.expected["codes"][party]
            if want is None:
                continue
            text = self.parties.error(party)
            if not accepts(want, codes[party]):
                wrong.append(f"party {party} ended with {codes[party]}, expected {want}: {text.strip()}")
                continue
            says = self.expected["says"][party]
            if says is not None and (text.count("\n") != 1 or not re.search(says, text)):
                wrong.append(f"party {party} said {text!r}, expected one line like {says!r}")
        return wrong or (self.compare_models() if self.expected["codes"] == (0, 0, 0) else [])

    def compare_models(self):
        models = {(self.parties.out(party) / "model.npz").read_bytes() for party in PARTIES}
        return [] if len(models) == 1 else ["the models differ"]


def put_table(check):
    before, rest = DOCUMENT.read_text().split(BEGIN)
    stored, after = rest.split(END)
    if check:
        if stored != table():
            print(f"{DOCUMENT}: the table of faults is stale; run scripts/acceptance.d/fault_matrix.py --table")
            return 1
        return 0
    DOCUMENT.write_text(before + BEGIN + table() + END + after)
    return 0


def chosen(options):
    if options.pairs:
        return [tuple(pair.split("@")) for pair in options.pairs.split(",")]
    faults = options.faults.split(",") if options.faults else FAULTS
    phases = options.phases.split(",") if options.phases else PHASES
    return [(fault, phase) for fault in faults for phase in phases]


def try_pair(parties, fault, phase):
    try:
        return Fault(parties, fault, phase).run()
    except RuntimeError as error:
        return [str(error)], 0


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("trefoil", nargs="?")
    parser.add_argument("stop_at", nargs="?", type=pathlib.Path)
    parser.add_argument("folder", nargs="?", type=pathlib.Path)
    parser.add_argument("--faults")
    parser.add_argument("--phases")
    parser.add_argument("--pairs")
    parser.add_argument("--seconds", type=float, default=1e9)
    parser.add_argument("--anew", action="store_true")
    parser.add_argument("--table", action="store_true")
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    if options.table:
        return put_table(options.check)
    begin = time.monotonic()
    try:
        Network()
    except OSError as error:
        print(f"skipped: {error}")
        return SKIPPED
    folder = options.folder.resolve()
    if options.anew:
        shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True, exist_ok=True)
    kept = folder / "passed.json"
    passed = json.loads(kept.read_text()) if kept.exists() else {}
    parties = Parties(pathlib.Path(options.trefoil).resolve(), options.stop_at.resolve(), folder)
    if not (folder / "d").exists():
        parties.prepare()
    bad, skipped = [], 0
    for fault, phase in chosen(options):
        name = f"{fault} at {phase}"
        if name in passed:
            continue
        if fault == "clock jump" and not os.path.exists(FAKETIME):
            print(f"skipped: {name}: no libfaketime", flush=True)
            skipped += 1
            continue
        if time.monotonic() - begin > options.seconds:
            print(f"{len(passed)} pairs so far", flush=True)
            return UNFINISHED if not bad else 1
        wrong, seconds = try_pair(parties, fault, phase)
        print(f"{'wrong' if wrong else 'right'}: {name}, {seconds:.1f} s", *wrong, sep="; ", flush=True)
        if wrong:
            bad.append(name)
        else:
            passed[name] = round(seconds, 1)
            kept.write_text(json.dumps(passed, indent=1))
    print(f"{len(passed)} pairs ended as they must, {len(bad)} did not, {skipped} were skipped; the slowest took "
          f"{max(passed.values(), default=0)} s")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
