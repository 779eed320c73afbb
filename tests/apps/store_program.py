"""Owners who deposit records of two columns, and three parties that run jobs on them."""

import json
import math
import re
import shutil
import struct
import zipfile

from owners_test import HOSTS
from trefoil_program import PATIENCE, ProgramTest, free_base_port
from visits import JOB

ROW, MASK = 2 * 3 + 2 * 8, 2 * 3  # two features of 19 bits in three bytes each, then mask bit and label


def records(owner, count):
    """(a, b, class), rows shorter than 1."""
    rows = []
    for k in range(count):
        angle = 2.4 * k + owner
        a, b = 0.6 * math.cos(angle) + 0.1 * owner, 0.5 * math.sin(angle)
        rows.append((round(a, 3), round(b, 3), int(a + b > 0.1)))
    return rows


def table(rows):
    return "a,b,y\n" + "".join(f"{a},{b},{'yes' if label else 'no'}\n" for a, b, label in rows)


def model_weights(path):
    """Weights and intercepts of a model.npz, as numbers in a row."""
    values = []
    with zipfile.ZipFile(path) as archive:
        for name in ("weights.npy", "bias.npy"):
            content = archive.read(name)
            start = 10 + struct.unpack("<H", content[8:10])[0]
            values += struct.unpack(f"<{(len(content) - start) // 8}d", content[start:])
    return values


def gaussian_epsilon(deviation, delta):
    """The least epsilon of one Gaussian release at delta, by its exact formula."""
    def phi(x):
        return math.erfc(-x / math.sqrt(2)) / 2

    def delta_at(epsilon):
        return phi(0.5 / deviation - epsilon * deviation) - math.exp(epsilon) * phi(-0.5 / deviation - epsilon * deviation)
    low, high = 0.0, 50.0
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if delta_at(middle) > delta else (low, middle)
    return high


class StoreProgramTest(ProgramTest):
    job = JOB
    records = staticmethod(records)
    table = staticmethod(table)

    def setUp(self):
        super().setUp()
        self.succeed("init", "--all", "--hosts", HOSTS, "--base-port", str(free_base_port()), "--out", "d")
        self.write("job.toml", self.job)
        keys = [f"d/party-{party}/deposit.pub" for party in range(3)]
        made = self.succeed("study", "init", "--job", "job.toml", "--keys", *keys, "--out", "study.toml")
        self.study = re.search(r"(?m)^id +([0-9a-f]{64})$", made)[1]
        self.write_job()
        self.owners = {}
        self.add_owner("hospital", self.records(0, 23))
        self.add_owner("clinic", self.records(1, 17))

    def add_owner(self, name, rows):
        self.succeed("owner", "init", "--out", name)
        for party in range(3):
            self.succeed("trust-owner", "--config", f"d/party-{party}/party.toml", "--name", name, f"{name}/owner.pub")
        self.owners[name] = rows

    def assert_all_done(self, outcomes):
        for code, output, error in outcomes:
            self.assertEqual((code, error), (0, ""), output)

    def write_job(self, *changes, study=None, job=None):
        """The job with its study named, and what else it should say."""
        text = (job or self.job).replace("capacity", f'study = "{study or self.study}"\ncapacity')
        for old, new in changes:
            self.assertIn(old, text)
            text = text.replace(old, new)
        self.write("job.toml", text)

    def deposit(self, owner, out=None, capacity=30, rows=None):
        out = out or f"of-{owner}"
        self.write("t.csv", self.table(rows or self.owners[owner]))
        output = self.succeed("deposit", "--study", "study.toml", "--key", f"{owner}/owner.key", "--in", "t.csv", "--capacity", str(capacity),
                              "--adds", "--out", out)
        return re.search(r"(?m)^deposit ([0-9a-f]{64})$", output)[1]

    def accept(self, out, parties=range(3)):
        for party in parties:
            output = self.succeed("accept", "--config", f"d/party-{party}/party.toml", "--study", "study.toml", f"{out}/party-{party}.deposit")
        return re.search(r"taken: deposit (\w+) of", output)[1]

    def deposit_all(self):
        ids = {owner: self.deposit(owner) for owner in self.owners}
        for owner in self.owners:
            self.accept(f"of-{owner}")
        return ids

    def start(self, *options):
        return [self.start_program("run", "--config", f"d/party-{party}/party.toml", "--job", "job.toml", "--out", f"r{party}", "--threads", "1",
                                   *options) for party in range(3)]

    def train(self, *options):
        """Code, output and errors of each party."""
        processes = self.start(*options)
        outputs = [process.communicate(timeout=PATIENCE) for process in processes]
        return [(process.returncode, *output) for process, output in zip(processes, outputs, strict=True)]

    def planned(self, *options):
        return json.loads(self.succeed("plan", "--job", "job.toml", "--json", *options))

    def assert_costs_as_planned(self, *options, rows=30):
        """To the byte, where the run's two deposits have so many rows each, and the job room for no more."""
        plan = self.planned("--deposits", 2, *options)
        summaries = [self.summary(f"r{party}") for party in range(3)]
        counted = {"rounds": max(one["rounds"] for one in summaries), "bytes_sent": [one["bytes_sent"] for one in summaries]}
        self.assertIn(counted, [{key: run[key] for key in counted} for run in plan["run_costs"]])
        self.assertEqual(plan["assumed_deposits"], {"deposits": 2, "rows": rows})

    def set_caps(self, caps, delta="1e-5"):
        """[owner_ledgers] of the parties, with these caps."""
        for party, cap in enumerate(caps):
            path = self.folder / f"d/party-{party}/party.toml"
            text = re.sub(r"(?s)\n\[owner_ledgers\].*?(?=\n\[|$)", "\n", path.read_text())
            path.write_text(text + f'\n[owner_ledgers]\nfolder = "owner-ledgers"\nepsilon_cap = {cap}\ndelta = {delta}\n')

    def ledger(self, party, owner, population="default"):
        path = self.folder / f"d/party-{party}/owner-ledgers/{owner}/{population}.jsonl"
        return json.loads(self.succeed("ledger", "show", path, "--json")) if path.exists() else None

    def clear_runs(self):
        for party in range(3):
            shutil.rmtree(self.folder / f"r{party}", ignore_errors=True)
