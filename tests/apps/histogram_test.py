"""Histograms as three party processes over TLS: exact against a plain reference, and what is refused."""

import collections
import csv
import json
import math
import os
import re
import subprocess
import unittest

from trefoil_program import PATIENCE, ProgramTest, prepared

VALUES = ["red", "green", "blue"]
JOB = """
version = 1
type = "histogram"
name = "colours"
[data]
name = "colours"
format = "csv"
rows = [40, 40, 40]
[histogram]
mode = "central"
column = "colour"
values = ["red", "green", "blue"]
[privacy]
epsilon = 200.0
"""
LOCAL_MODE = ("--set", "histogram.mode=local", "--set", "histogram.randomiser=k-ary")


class Histogram(ProgramTest):
    def setUp(self):
        super().setUp()
        self.write("job.toml", JOB)
        self.rows = [VALUES[k % 2] if k % 5 else "blue" for k in range(100)] + ["?", "violet", ""]
        (self.folder / "data").mkdir()
        self.write("data/train.csv", "id,colour\n" + "".join(f"{k},{row}\n" for k, row in enumerate(self.rows)))

    def local(self, *settings, out="run", **keywords):
        return self.succeed("local", "--job", "job.toml", "--data", "data", "--out", out, *settings, **keywords)

    def counts(self, out="run"):
        with open(self.folder / out / "histogram.csv") as file:
            rows = list(csv.DictReader(file))
        self.assertEqual([row["value"] for row in rows], VALUES)
        return [[float(row[key]) for key in ("count", "low", "high")] for row in rows]

    def exact(self):
        counted = collections.Counter(self.rows)
        return [counted[value] for value in VALUES]

    def test_counts_exactly_where_noise_is_almost_surely_zero(self):
        # At epsilon 200 a part is zero but for some e^-200.
        output = self.local()
        self.assertIn("rows 35, 34, 34", output)
        self.assertEqual([count for count, _, _ in self.counts()], self.exact())
        summary = self.summary()
        self.assertEqual((summary["type"], summary["mode"], summary["noise"]), ("histogram", "central", "laplace"))
        self.assertEqual((summary["epsilon_outsider"], summary["epsilon_insider"]), (200, 200))
        record = json.loads((self.folder / "run/record.json").read_text())
        self.assertEqual(record["events"], [{"kind": "laplace_counts", "count": 1, "rate": 200.0}])
        self.assert_promises("run", "record", "added", "by one unit added or removed at one owner.")
        for party in range(3):
            out = self.folder / f"run/party-{party}/out"
            self.assertEqual(sorted(path.name for path in out.iterdir()),
                             ["audit.jsonl", "data.salt", "histogram.csv", "job.toml", "party.log", "record.json", "summary.json"])
            self.assertEqual((out / "histogram.csv").read_text(), (self.folder / "run/histogram.csv").read_text())
            self.assertEqual(json.loads((out / "record.json").read_text()), record)
        # The saved job is the job.
        self.succeed("local", "--job", "run/job.toml", "--data", "data", "--out", "again")
        self.assertEqual(json.loads((self.folder / "again/record.json").read_text())["job_hash"], record["job_hash"])

    def test_reports_exactly_where_they_are_almost_surely_true(self):
        for randomiser in ("k-ary", "symmetric-unary"):
            self.local("--set", "histogram.mode=local", "--set", f"histogram.randomiser={randomiser}", out=randomiser)
            for (count, low, high), exact in zip(self.counts(randomiser), self.exact()):
                self.assertAlmostEqual(count, exact, delta=1e-9)
                self.assertLessEqual(high - low, 2e-8)  # outwards at the tenth digit
                self.assertLessEqual(low, count)
                self.assertLessEqual(count, high)
            self.assertEqual(self.summary(randomiser)["mode"], "local")

    def test_noise_and_reports_have_the_law_that_their_intervals_say(self):
        # Twelve numbers within ten times the half-width of a 95 % interval: a Gaussian leaves 20 deviations never, and
        # Laplace noise 27 scales with e^-27. And at least one is not exact, but with probability 1e-6 at epsilon 1.
        seen = set()
        for name, settings in {
            "laplace": ("--set", "privacy.epsilon=1.0"),
            "gaussian": ("--set", "histogram.noise=gaussian", "--set", "privacy.epsilon=1.0", "--set",
                         "privacy.delta=1e-5"),
            "k": (*LOCAL_MODE, "--set", "privacy.epsilon=1.0"),
            "coins": ("--set", "histogram.mode=local", "--set", "histogram.randomiser=two-coins", "--set",
                      'histogram.values=["red"]'),
        }.items():
            job = JOB.replace("epsilon = 200.0\n", "") if name == "coins" else JOB
            self.write("job.toml", job)
            self.local(*settings, out=name)
            with open(self.folder / name / "histogram.csv") as file:
                rows = list(csv.DictReader(file))
            for row, exact in zip(rows, self.exact()):
                count, low, high = (float(row[key]) for key in ("count", "low", "high"))
                self.assertLess(low, count)
                self.assertLess(abs(count - exact), 5 * (high - low), name)
                seen.add(count - exact)
        self.assertGreater(len(seen), 3)
        self.assertAlmostEqual(self.summary("coins")["epsilon_insider"], math.log(3), delta=1e-9)
        gaussian = self.summary("gaussian")
        self.assertLessEqual(gaussian["epsilon_insider"], 1)
        self.assertGreater(gaussian["epsilon_insider"], 0.99)
        self.assertLess(gaussian["epsilon_outsider"], gaussian["epsilon_insider"])

    def test_releases_to_those_named_alone(self):
        self.local("--set", "release.to=[2]")
        self.assertEqual([(self.folder / f"run/party-{i}/out/histogram.csv").exists() for i in range(3)],
                         [False, False, True])
        self.assertEqual([count for count, _, _ in self.counts()], self.exact())

    def test_an_owner_without_data_and_an_empty_value_are_counted_as_none(self):
        self.write("data/train.csv", "id,colour\n0,red\n1,red\n")
        self.local()
        self.assertEqual([count for count, _, _ in self.counts()], [2, 0, 0])

    def test_plan_and_ledger_know_it(self):
        plan = json.loads(self.succeed("plan", "--job", "job.toml", "--set", "privacy.epsilon=0.5", "--json"))
        self.assertAlmostEqual(plan["epsilon_insider"], 0.5, delta=1e-8)
        self.assertLess(plan["epsilon_outsider"], plan["epsilon_insider"] - 0.01)  # three parts of noise
        self.assertIn("laplace_counts", [entry["key"] for entry in plan["statement"]])
        self.assertIn("nothing was run", self.succeed("plan", "--job", "job.toml"))
        cap = ("--ledger", "ledger", "--epsilon-cap", "1.2", "--set", "privacy.epsilon=0.5")
        for out in ("one", "two"):
            self.local(*cap, out=out)
        self.assertRegex(self.succeed("ledger", "show", "ledger/party-0.jsonl"), r"Z  done +epsilon 0\.5000 outsider 0\.5000 insider: ")
        # What a ledger said, not what another party heard of it.
        self.fail_with(5, "expected at most the cap 1.2", "local", "--job", "job.toml", "--data", "data", "--out", "three", *cap)
        self.assertFalse((self.folder / "three/histogram.csv").exists())

    def test_reports_say_what_a_record_costs_that_is_added_and_one_that_is_replaced(self):
        for randomiser, epsilon, added in (("k-ary", 1.0, 1.0), ("symmetric-unary", 1.0, 0.5),
                                           ("optimised-unary", 1.0, math.log((math.e + 1) / 2)),
                                           ("optimised-unary", 4.0, math.log((math.exp(4) + 1) / 2))):
            local = ("--set", "histogram.mode=local", "--set", f"histogram.randomiser={randomiser}", "--set", f"privacy.epsilon={epsilon}")
            plan = json.loads(self.succeed("plan", "--job", "job.toml", "--json", *local))
            for who in ("epsilon_outsider", "epsilon_insider"):
                self.assertAlmostEqual(plan[who], added, delta=1e-8)
            replaced = {entry["key"]: entry.get("number") for entry in plan["statement"]}["epsilon_replaced"]
            self.assertAlmostEqual(replaced, epsilon, delta=1e-9)
        self.local(*local)
        self.assertAlmostEqual(self.summary()["epsilon_replaced"], 4, delta=1e-9)
        self.assertAlmostEqual(self.summary()["epsilon_insider"], added, delta=1e-8)
        event = json.loads((self.folder / "run/record.json").read_text())["events"][0]
        self.assertAlmostEqual(event["epsilon"], added, delta=1e-8)
        self.assertAlmostEqual(event["epsilon_replaced"], 4, delta=1e-8)
        self.assertIn("Epsilon, replaced", self.succeed("account", "--record", "run/record.json", "--delta", "1e-9"))

    def test_gaussian_noise_is_what_the_exact_formula_asks_for(self):
        common = ("plan", "--job", "job.toml", "--json", "--set", "histogram.noise=gaussian", "--set", "privacy.delta=1e-5", "--set",
                  "privacy.epsilon=1.0")
        sigma = {}
        for accountant in ("pld", "rdp"):
            plan = json.loads(self.succeed(*common, "--set", f"privacy.accountant={accountant}"))
            self.assertLessEqual(plan["epsilon_insider"], 1)
            self.assertGreater(plan["epsilon_insider"], 0.999)
            sigma[accountant] = float(re.search(r"noise of ([0-9.]+) times", json.dumps(plan)).group(1))
        self.assertAlmostEqual(sigma["pld"], 3.7307, delta=0.001)
        self.assertAlmostEqual(sigma["rdp"], 4.0455, delta=0.002)
        default = json.loads(self.succeed(*common))
        self.assertEqual(default["accountant"], "pld")

    def test_different_jobs_are_named_and_nothing_is_opened(self):
        self.local(*prepared())
        for party in range(3):
            path = self.folder / f"run/party-{party}/party.toml"
            path.write_text(path.read_text().replace('start = "120s"', 'start = "10s"'))
        other = self.write("other.toml", (self.folder / "run/job.toml").read_text().replace("0.95", "0.9"))
        processes = [self.start_program("run", "--config", f"run/party-{i}/party.toml", "--job",
                                        other if i == 2 else "run/job.toml", "--out", f"o{i}") for i in range(3)]
        outputs = [process.communicate(timeout=PATIENCE) for process in processes]
        self.assertEqual(processes[2].returncode, 2, outputs)
        self.assert_one_error_line(outputs[2][1], "histogram.confidence")
        for i in range(3):
            self.assertFalse((self.folder / f"o{i}/histogram.csv").exists())

    def test_a_party_that_dies_ends_the_others_with_code_3(self):
        self.local(*prepared())
        processes = [self.start_program("run", "--config", f"run/party-{i}/party.toml", "--job", "run/job.toml",
                                        "--out", f"o{i}") for i in (0, 1)]
        stranger = self.start_program("run", "--config", "run/party-2/party.toml", "--job", "run/job.toml", "--out",
                                      "o2")
        for line in stranger.stdout:
            if "connected" in line:
                stranger.kill()
                break
        for process in processes:
            output = process.communicate(timeout=PATIENCE)
            self.assertIn(process.returncode, (0, 3), output)

    @unittest.skipUnless(os.geteuid() == 0, "mounting a small disk needs root")
    def test_a_disk_without_room_is_found_before_anything_is_charged(self):
        self.local(*prepared())
        path = self.folder / "run/party-0/party.toml"
        path.write_text(path.read_text().replace('start = "120s"', 'start = "2s"') +
                        '\n[ledger]\nfile = "ledger.jsonl"\nepsilon_cap = 1000\ndelta = 1e-5\n')
        disk = self.folder / "disk"
        disk.mkdir()
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", disk], check=True)
        self.addCleanup(subprocess.run, ["umount", "-l", disk], check=True)
        self.fail_with(1, "free, expected at least 1.0 MB before the release, which is charged: No space left on device", "run", "--config",
                       path, "--job", "run/job.toml", "--out", "disk/run")

    def test_refuses_what_is_wrong_in_one_line(self):
        for code, text, *settings in (
            (2, "histogram.mode: found \"middle\"", "--set", "histogram.mode=middle"),
            (2, "missing histogram.randomiser", "--set", "histogram.mode=local"),
            (2, "only histogram.mode \"local\" has it", "--set", "histogram.randomiser=k-ary"),
            (2, "only histogram.mode \"central\" has it", *LOCAL_MODE, "--set", "histogram.noise=laplace"),
            (2, "expected one: two coins answer yes or no", "--set", "histogram.mode=local", "--set",
             "histogram.randomiser=two-coins"),
            (2, "1 to 10000 different texts", "--set", 'histogram.values=["a", "a"]'),
            (2, "only histogram.noise \"gaussian\" has it", "--set", "privacy.sigma=1"),
            (2, "one of privacy.epsilon and privacy.sigma", "--set", "histogram.noise=gaussian", "--set",
             "privacy.sigma=1"),
            (2, "privacy.epsilon: found 0", "--set", "privacy.epsilon=0"),
            (2, "did you mean histogram.column", "--set", "histogram.colum=a"),
            (2, "one of data.columns, which has it once", "--set", "data.header=false", "--set", 'data.columns=["a"]'),
            (2, "the file's header has them", "--set", 'data.columns=["a"]'),
            (2, "type: found another by --set", "--set", "type=dpsgd"),
            (2, "at least one", "--set", "release.to=[]"),
            (4, "found 0 columns \"hue\", expected one of that name", "--set", "histogram.column=hue"),
        ):
            with self.subTest(text):
                self.fail_with(code, text, "local", "--job", "job.toml", "--data", "data", "--out", "none", *settings)
        self.fail_with(2, "--model: found m, expected none", "local", "--job", "job.toml", "--model", "m")
        self.fail_with(2, "expected a job that trains on records", "audit", "--job", "job.toml")
        self.fail_with(4, "not found in", "local", "--job", "job.toml", "--out", "none",
                       environment={"TREFOIL_DATA": str(self.folder)})

    def test_check_examines_its_data(self):
        self.local(*prepared())
        check = ("check", "--config", "run/party-0/party.toml", "--job", "run/job.toml", "--wait", "50ms")
        self.assertIn("pass  data: 35 records as the job declares them", self.run_program(*check).stdout)
        table = self.folder / "run/party-0/data/train.csv"
        kept = table.read_text()
        for content, warned in (("id,colour\n", r"data\.rows declares 40 rows for this party, and its file has 0: "),
                                ("id,colour\n1,pink\n2,grey\n", "2 of 2 records have none of the declared values, and count for none; ")):
            table.write_text(content)
            self.assertRegex(self.run_program(*check).stdout, f"(?m)^warn  data, to the owner alone: {warned}")
        table.write_text(kept)
        self.write("run/job.toml", (self.folder / "run/job.toml").read_text().replace("[40,40,40]", "[4,40,40]")
                   .replace("[40, 40, 40]", "[4, 40, 40]"))
        self.assertIn("found 35 records, expected at most the 4", self.run_program(*check).stdout)


if __name__ == "__main__":
    unittest.main()
