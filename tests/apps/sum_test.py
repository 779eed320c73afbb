"""Sums of vectors as three party processes over TLS: against a plain reference, and every documented outcome."""

import json
import math
import random
import re
import struct
import unittest

from account_votes_test import npy
from trefoil_program import ProgramTest, prepared

JOB = """
version = 1
type = "sum"
name = "sums"
[data]
name = "sums"
rows = [40, 40, 40]
[sum]
dimension = 3
norm_bound = 2.0
calls = 2
[privacy]
sigma = 0.01
delta = 1e-5
"""
SIGMA = 0.01


def read_npy(path):
    """The rows of an NPY file of doubles."""
    content = path.read_bytes()
    length = struct.unpack("<H", content[8:10])[0]
    rows, columns = map(int, re.search(rb"'shape': \((\d+), (\d+)\)", content[:10 + length]).groups())
    values = struct.unpack(f"<{rows * columns}d", content[10 + length:])
    return [values[row * columns:(row + 1) * columns] for row in range(rows)]


def shortened(vector, bound):
    norm = math.hypot(*vector)  # squares of the longest are beyond a double
    return [x * min(1, bound / norm) if norm else 0.0 for x in vector]


class Sum(ProgramTest):
    def setUp(self):
        super().setUp()
        self.write("job.toml", JOB)
        source = random.Random(3)
        (self.folder / "data").mkdir()
        # Of norm 0 to 6, so that most are shortened; the last one is huge.
        self.calls = [[[source.uniform(-1, 1) * source.uniform(0, 3.5) for _ in range(3)] for _ in range(100)] + [[1e300, 0.0, 0.0]]
                      for _ in range(2)]
        for call, rows in enumerate(self.calls):
            (self.folder / f"data/vectors-{call + 1}.npy").write_bytes(npy(rows, "<f8", "d"))
            (self.folder / f"data/keys-{call + 1}.npy").write_bytes(npy([[row // 6] for row in range(len(rows))]).replace(b", 1), }  ", b",), }    "))

    def local(self, *settings, out="run"):
        return self.succeed("local", "--job", "job.toml", "--data", "data", "--out", out, *settings)

    def exact(self):
        return [[sum(column) for column in zip(*(shortened(row, 2) for row in rows))] for rows in self.calls]

    def assert_sums(self, out="run", sensitivity=2.0):
        """Within seven deviations of all three parties' noise: of six numbers one is beyond it for no more than one key in
        60 billion."""
        deviation = SIGMA * math.sqrt(1.5) * sensitivity
        self.assertAlmostEqual(self.summary(out)["deviation"], deviation, delta=1e-4 * deviation)
        sums = read_npy(self.folder / out / "sums.npy")
        self.assertEqual((len(sums), len(sums[0])), (2, 3))
        for found, wanted in zip(sums, self.exact()):
            for x, y in zip(found, wanted):
                self.assertLess(abs(x - y), 7 * deviation)
                self.assertNotEqual(x, y)

    def test_is_the_sum_of_shortened_vectors_and_the_noise_that_it_says(self):
        self.assertIn("rows 68, 68, 66", self.local())
        self.assert_sums()
        record = json.loads((self.folder / "run/record.json").read_text())
        event, = record["events"]
        self.assertEqual((event["kind"], event["count"], event["coordinates"]), ("gaussian_releases", 2, 3))
        self.assertNotIn("sampling_rate", event)
        self.assert_promises("run", "record", "added", "by one unit added or removed at one owner.")
        for party in range(3):
            out = self.folder / f"run/party-{party}/out"
            self.assertEqual((out / "sums.npy").read_bytes(), (self.folder / "run/sums.npy").read_bytes())
        self.succeed("local", "--job", "run/job.toml", "--data", "data", "--out", "again")
        self.assertEqual(json.loads((self.folder / "again/record.json").read_text())["job_hash"], record["job_hash"])

    def test_releases_to_those_named_alone(self):
        self.local("--set", "release.to=[0, 1]")
        self.assertEqual([(self.folder / f"run/party-{i}/out/sums.npy").exists() for i in range(3)], [True, True, False])
        self.assert_sums()

    def test_groups_are_charged_as_one_and_taken_by_one_coin(self):
        group = ("--set", "privacy.unit=group", "--set", "privacy.max_group_rows=3", "--set", "local.split=sorted")
        self.fail_with(4, "keys-1.npy", "local", "--job", "job.toml", "--data", "data", "--out", "none", *group)
        self.local(*group, "--set", "privacy.max_group_rows=6")
        self.assert_sums(sensitivity=12.0)
        self.assert_promises("run", "group", "added", "of which a file has at most 6.")

    def test_sampling_costs_less(self):
        epsilons = {}
        for rate in (1.0, 0.1):
            setting = ("--set", "privacy.sigma=2", "--set", f"sum.sampling_rate={rate}")
            plan = json.loads(self.succeed("plan", "--job", "job.toml", "--json", *setting))
            epsilons[rate] = plan["epsilon_insider"]
        self.assertLess(epsilons[0.1], 0.3 * epsilons[1.0])
        self.local(*setting)
        event, = json.loads((self.folder / "run/record.json").read_text())["events"]
        self.assertEqual((event["kind"], event["steps"], event["sampling_rate"]), ("dpsgd_steps", 2, 0.1))
        self.assertEqual(event["max_batch"], event["capacity"])
        text = " ".join(self.succeed("account", "--record", "run/record.json", "--delta", "1e-5").split())
        self.assertIn("by private coins anew in every step", text)

    def test_what_owners_sum_is_their_word(self):
        owner = ("--set", "sum.summed=owner", "--set", "sum.allowance=0.5")
        self.local(*owner)
        # C, the allowance, and a unit of the lattice for each number.
        summary = self.summary()
        self.assertAlmostEqual(summary["sensitivity"], 2.5, delta=1e-8)
        self.assertGreater(summary["sensitivity"], 2.5)
        self.assert_sums(sensitivity=2.5)
        self.assert_promises("run", "record", "added", "is the owner's word", warnings=1)
        self.fail_with(2, "every call is charged in full", "plan", "--job", "job.toml", *owner, "--set", "sum.sampling_rate=0.5")

    def test_ledger_counts_every_call(self):
        cap = ("--set", "privacy.epsilon=1.0", "--ledger", "ledger", "--epsilon-cap", "1.5")
        self.write("job.toml", JOB.replace("sigma = 0.01\n", ""))
        self.local(*cap, out="one")
        self.assertLessEqual(self.summary("one")["epsilon_insider"], 1)
        self.assertGreater(self.summary("one")["epsilon_insider"], 0.999)
        self.fail_with(5, "expected at most the cap 1.5", "local", "--job", "job.toml", "--data", "data", "--out", "two", *cap)
        self.assertFalse((self.folder / "two/sums.npy").exists())

    def test_a_party_brings_a_file_for_each_call(self):
        self.local(*prepared())
        path = self.folder / "run/party-0/party.toml"
        check = ("check", "--config", path, "--job", "run/job.toml", "--wait", "100ms")
        self.assertIn("pass  data: 68 vectors for 2 calls", self.run_program(*check).stdout)
        (self.folder / "run/party-0/data/vectors/vectors-2.npy").unlink()
        self.assertRegex(self.run_program(*check).stdout, r"(?m)^fail  data: .*vectors-2\.npy: ")
        text = path.read_text()
        for key, said in (("vector", "data.vectors: found nothing, expected the folder of this party's NPY files, one a call"),
                          ("keys", "data.vectors: found nothing")):
            path.write_text(text.replace('vectors = "data/vectors"', f'{key} = "data/vectors"'))
            self.assertIn(said, self.run_program(*check).stdout)

    def test_draws_vectors_where_the_job_names_none(self):
        self.write("job.toml", JOB.replace('name = "sums"\nrows', 'name = "vectors"\nrows'))
        self.assertIn("dealing generated vectors of 2 calls", self.succeed("local", "--job", "job.toml", "--out", "run"))
        sums = read_npy(self.folder / "run/sums.npy")
        self.assertLess(max(abs(x) for row in sums for x in row), 120)

    def test_refuses_what_is_wrong_in_one_line(self):
        for code, text, *settings in (
            (2, "sum.norm_bound: found 0", "--set", "sum.norm_bound=0"),
            (2, "sum.dimension: found 0", "--set", "sum.dimension=0"),
            (2, "sum.sampling_rate: found 0", "--set", "sum.sampling_rate=0"),
            (2, "missing sum.allowance", "--set", "sum.summed=owner"),
            (2, "only sum.summed \"owner\" has it", "--set", "sum.allowance=1"),
            (2, "only privacy.unit \"group\" has it", "--set", "privacy.max_group_rows=2"),
            (2, "expected norm_bound for whole groups", "--set", "privacy.unit=group", "--set", "privacy.max_group_rows=2",
             "--set", "sum.summed=owner", "--set", "sum.allowance=1"),
            (2, "sum.fraction_bits: found 60, expected some", "--set", "sum.fraction_bits=60"),
            (2, "sum.fraction_bits: found 49, expected at most", "--set", "sum.fraction_bits=49", "--set", "data.rows=[9000, 0, 0]"),
            (2, "noise", "--set", "sum.fraction_bits=2"),
            (2, "one of privacy.epsilon and privacy.sigma", "--set", "privacy.epsilon=1"),
            (2, "at least one", "--set", "release.to=[]"),
            (4, "found shape (101, 3), expected vectors of 4 numbers", "--set", "sum.dimension=4"),
        ):
            with self.subTest(text):
                self.fail_with(code, text, "local", "--job", "job.toml", "--data", "data", "--out", "none", *settings)
        (self.folder / "data/vectors-2.npy").write_bytes(npy([[1.0, math.nan, 0.0]], "<f8", "d"))
        self.fail_with(4, "record 1, number 2: found nan, expected a finite number", "local", "--job", "job.toml", "--data", "data",
                       "--out", "none")


if __name__ == "__main__":
    unittest.main()
