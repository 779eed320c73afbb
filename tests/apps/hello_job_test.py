"""A type of job that the program does not ship (examples/hello_job): all that holds for every type holds for it."""

import json
import math
import os
import struct
import subprocess
import unittest
import zipfile

import every_type_test
from trefoil_program import TINY_JOB

JOB = """
version = 1
type = "hello-mean"
name = "ages"
[data]
rows = [50, 50, 50]
column = "age"
low = 0
high = 100
[privacy]
epsilon = 1.0
delta = 1e-6
"""
AGES = [20 + 37 * k % 70 for k in range(139)] + [250]  # the last is cut to 100, and 10 of 150 are missing: 50 each
MEAN = (sum(AGES[:-1]) + 100 + 10 * 50) / 150

every_type_test.JOBS = {"hello-mean": (JOB, {"train.csv": "\n".join(map(str, ["age", *AGES])).encode()})}


class HelloJob(every_type_test.EveryType):
    def test_these_are_all_types(self):
        """The shipped program does not know it, the one with a longer table does, beside all others."""
        def refused(program):
            job = self.write("none.toml", TINY_JOB.replace('"dpsgd"', '"none"'))
            return subprocess.run([program, "plan", "--job", job], capture_output=True, text=True, check=False).stderr

        shipped, longer = refused(os.environ["TREFOIL_SHIPPED"]), refused(os.environ["TREFOIL_BINARY"])
        self.assertNotIn("hello", shipped)
        self.assertEqual(longer, shipped.rstrip() + ', "hello-mean"\n')
        self.assertEqual(self.succeed("schema", "job").split()[-1], "hello-mean")
        schema = json.loads(self.succeed("schema", "job", "hello-mean"))
        self.assertIn("low", schema["properties"]["data"]["properties"])

    def test_opens_the_mean_and_charges_for_it(self):
        def check(name, job, options):
            self.succeed("local", "--job", job, "--out", "run", *options, "--ledger", "ledger", "--epsilon-cap", 1.5)
            results = self.summary()
            # The noise of all three parties: beyond 6 deviations once in 500 million runs; numbers are rounded to 2^-17 of 50.
            deviation = results["sigma"] * math.sqrt(1.5) * 50 / 150
            self.assertAlmostEqual(float((self.folder / "run/mean.txt").read_text()), MEAN, delta=6 * deviation + 0.001)
            self.assertLess(deviation, 3)
            self.assertLessEqual(results["epsilon_insider"], 1)
            self.assert_promises("run", "record", "added", "One record, a row of an owner")
            costs, = json.loads(self.succeed("plan", "--job", job, "--json"))["run_costs"]
            parties = [self.summary(f"run/party-{party}/out") for party in range(3)]
            self.assertEqual((costs["rounds"], costs["bytes_sent"]),
                             (max(party["rounds"] for party in parties), [party["bytes_sent"] for party in parties]))
            self.assertRegex(self.succeed("ledger", "show", "ledger/party-2.jsonl"), r"Z  done +epsilon ")
            self.fail_with(5, "party ", "local", "--job", job, "--out", "again", *options, "--ledger", "ledger", "--epsilon-cap", 1.5)

        self.each(check)

    def refused_by_shipped(self, text, *arguments):
        result = subprocess.run([os.environ["TREFOIL_SHIPPED"], *map(str, arguments)], cwd=self.folder, capture_output=True, text=True,
                                check=False)
        self.assertEqual(result.returncode, 2, result.stdout + result.stderr)
        self.assert_one_error_line(result.stderr, text)

    def test_its_table_of_the_party_file_is_known_to_every_command(self):
        self.succeed("init", "--all", "--hosts", "a,b,c", "--out", "d")
        party = self.folder / "d/party-0/party.toml"
        party.write_text(party.read_text().replace('start = "120s"', 'start = "50ms"') + '\n[hello]\nnote = "note.txt"\n')
        self.succeed("owner", "init", "--out", "o")
        for command in (("trust", "--config", party, "--peer", "1", "d/party-1/party.crt"),
                        ("trust-owner", "--config", party, "--name", "one", "o/owner.pub"),
                        ("store", "list", "--config", party)):
            self.succeed(*command)
            self.refused_by_shipped("unknown key hello", *command)
        for code, command in ((2, ("accept", "--config", party, "--study", "none", "none")), (3, ("bench", "--config", party)),
                              (2, ("inbox", "--config", party, "--study", "none", "--listen", "127.0.0.1:1"))):
            self.assertNotIn("hello", self.run_program(*command).stderr)
            self.assertEqual(self.run_program(*command).returncode, code)
            self.refused_by_shipped("unknown key hello", *command)

    def test_its_models_mean_what_the_type_says(self):
        schema = {"version": 1, "type": "hello-mean", "name": "m", "features": {"row_norm": 1.0}, "data": {
            "name": "m", "format": "csv", "rows": [1, 1, 1], "classes": 2, "column": [{"name": "a"}],
            "label": {"column": "y", "values": ["no", "yes"]}}}
        job = json.dumps(schema).encode()
        with zipfile.ZipFile(self.folder / "model.npz", "w") as file:
            for name, code, shape, content in (("weights", "<f8", (1, 1), struct.pack("<d", 1)),
                                               ("bias", "<f8", (1,), struct.pack("<d", 0)), ("classes", "<i8", (), struct.pack("<q", 2)), ("job", f"|S{len(job)}", (), job)):
                header = f"{{'descr': '{code}', 'fortran_order': False, 'shape': {shape}, }}\n".encode()
                file.writestr(f"{name}.npy", b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + content)
        # A logit of 0.3 is a share of 0.8 for "yes"; of log-odds it would be one of 0.57.
        self.write("rows.csv", "a\n0.3\n")
        self.write("test.csv", "a,y\n0.3,yes\n")
        self.assertIn(",yes", self.succeed("predict", "--model", "model.npz", "--data", "rows.csv", "--threshold", 0.7))
        self.assertIn("accuracy 1", self.succeed("evaluate", "--model", "model.npz", "--data", "test.csv", "--threshold", 0.7))
        self.succeed("export", "--model", "model.npz", "--format", "csv")
        unknown = 'type: found "hello-mean", expected one of "dpsgd", '
        for command in (("predict", "--data", "rows.csv"), ("evaluate", "--data", "test.csv"), ("export", "--format", "npz", "--out", "x.npz")):
            self.refused_by_shipped(unknown, *command, "--model", "model.npz")

    def test_refuses_what_its_keys_do_not_allow(self):
        job = self.write("job.toml", JOB)
        for key, value, error in (("data.high", "0", "data.high: found 0, expected a number above data.low"),
                                  ("data.rows", "[0, 0, 0]", "data.rows: found [ 0, 0, 0 ], expected at least one row in all"),
                                  ("data.hihg", "1", "unknown key data.hihg; did you mean data.high?")):
            self.fail_with(2, error, "plan", "--job", job, "--set", f"{key}={value}")


if __name__ == "__main__":
    unittest.main()
