"""A vertical partition: three parties with other columns of the same rows."""

import json
import random
import unittest
from pathlib import Path

from trefoil_program import PATIENCE, ProgramTest, prepared

JOB = """
version = 1
type = "dpsgd"
name = "joined"
[data]
name = "joined"
format = "csv"
partition = "vertical"
rows = [350, 350, 350]
classes = 2
label = { column = "good", values = ["no", "yes"], party = 1 }
[[data.column]]
name = "id"
kind = "key"
[[data.column]]
name = "a"
party = 0
[[data.column]]
name = "b"
party = 1
[[data.column]]
name = "c"
party = 2
[[data.column]]
name = "d"
kind = "category"
values = ["p", "q"]
party = 2
[training]
steps = 30
expected_batch = 150
max_batch_per_owner = 350
learning_rate = 8.0
[privacy]
sigma = 0.2
delta = 1e-5
clip = 0.5
sampling = "public"
"""


class Vertical(ProgramTest):
    def setUp(self):
        super().setUp()
        self.job = self.write("job.toml", JOB)
        coins = random.Random(1)
        data = self.folder / "data"
        data.mkdir()
        for name, count in (("train", 300), ("test", 200)):
            rows = []
            for k in range(count):
                a, b, c = (coins.uniform(-1, 1) for _ in range(3))
                d = coins.choice("pq")
                # No party's columns say enough alone.
                good = "yes" if a + b + c + (0.5 if d == "p" else -0.5) > 0 else "no"
                rows.append(f"{a},{b},{c},{d},{good},person-{k:03}\n")
            (data / f"{name}.csv").write_text("a,b,c,d,good,id\n" + "".join(rows))

    def local(self, out, *arguments):
        return self.run_program("local", "--job", self.job, "--data", "data", "--out", out, *arguments)

    def run_parties(self):
        """Three by hand in the prepared folder; their codes and errors."""
        processes = [self.start_program("run", "--config", f"d/party-{i}/party.toml", "--job", "d/job.toml", "--out", f"r{i}")
                     for i in range(3)]
        errors = [process.communicate(timeout=PATIENCE)[1] for process in processes]
        return [process.returncode for process in processes], errors

    def party_file(self, party):
        return self.folder / f"d/party-{party}/data/train.csv"

    def test_a_run_costs_what_is_planned(self):
        options = ("--set", "training.steps=3", "--set", "training.comparison=bulk")
        planned, = json.loads(self.succeed("plan", "--job", self.job, "--json", *options))["run_costs"]
        self.succeed("local", "--job", self.job, "--data", "data", *options, "--out", "planned")
        costs = [self.summary(f"planned/party-{party}/out") for party in range(3)]
        for party, cost in enumerate(costs):  # a party's smallest block of columns has 7,200 bytes
            self.assertAlmostEqual(cost["bytes_sent"], planned["bytes_sent"][party], delta=1000, msg=f"party {party}")
        self.assertAlmostEqual(max(cost["rounds"] for cost in costs), planned["rounds"], delta=2)

    def test_learns_what_no_party_knows_alone(self):
        result = self.local("out", "--ledger", "ledger", "--epsilon-cap", "1e9")
        self.assertEqual(result.returncode, 0, result.stderr)
        summary = self.summary("out")
        self.assertGreater(summary["accuracy"], 0.85)  # of one party's columns: about 0.7
        # What every line says first is for values in a known record.
        pair = r"epsilon [0-9.]+ insider [0-9.]+ outsider, "
        for line in ("job joined: 30 steps, sigma .*", pair + "delta 1e-05, at most", "step 30/30, " + pair, pair + "delta 1e-05"):
            self.assertRegex(result.stdout, rf"(?m)^{line}")
        console = (self.folder / "out/party-1/console.log").read_text()
        for line in ("job joined: 30 steps, sigma .*", pair + "delta 1e-05, at most", "step 30/30, " + pair, "done: " + pair):
            self.assertRegex(console, rf"(?m)^.*{line}")
        ledger = self.succeed("ledger", "show", "ledger/party-2.jsonl")
        self.assertRegex(ledger, r"epsilon [0-9.]+ insider [0-9.]+ outsider: joined, unit joint-record, neighbours added, run (?s:.*)\ntogether epsilon [0-9.]+ insider ")
        self.assertNotRegex(result.stdout + console + ledger, r"epsilon \S+ outsider")
        self.succeed("report", "out")
        page = (self.folder / "out/report.html").read_text()
        self.assertIn("<th>k</th><th>epsilon, insider</th><th>epsilon, outsider</th><th>delta</th>", page)
        self.assertIn("half of sigma", summary["warnings"][0])
        self.assertEqual((self.folder / "out/party-0/data/train.csv").read_text().splitlines()[0], "a,id")
        self.assertEqual((self.folder / "out/party-1/data/train.csv").read_text().splitlines()[0], "b,good,id")
        evaluated = self.succeed("evaluate", "--model", "out/model.npz", "--data", "out/test", "--json")
        self.assertEqual(json.loads(evaluated)["accuracy"], summary["accuracy"])
        predicted = self.succeed("predict", "--model", "out/model.npz", "--data", "data/test.csv").splitlines()[1:]
        truth = [line.split(",")[4] for line in (self.folder / "data/test.csv").read_text().splitlines()[1:]]
        correct = sum(line.split(",")[1] == label for line, label in zip(predicted, truth))
        self.assertAlmostEqual(correct / 200, summary["accuracy"], places=12)
        record = json.loads((self.folder / "out/record.json").read_text())
        self.assertEqual(record["events"][0]["sampling"], "public")
        self.assert_promises("out", "joint-record", "added", "that only one of them has, at all three parties.", warnings=1)
        self.assertAlmostEqual(record["events"][0]["sampling_rate"], 150 / 350)
        self.fail_with(2, "data.partition: found \"vertical\"", "export", "--model", "out/model.npz", "--format", "onnx")

    def test_the_first_figure_is_of_values_in_a_known_record(self):
        job = Path(__file__).resolve().parents[2] / "configs/adult-vertical.toml"
        plan = json.loads(self.succeed("plan", "--job", job, "--json"))
        self.assertGreater(plan["epsilon_insider"], 2 * plan["epsilon_insider_presence"])
        self.assertEqual([entry["key"] for entry in plan["statement"][:3]],
                         ["epsilon_insider", "epsilon_outsider", "epsilon_insider_presence"])
        text = self.succeed("plan", "--job", job)
        self.assertRegex(text, r"nothing was run\.\n\nEpsilon, insider ")
        rows = next(entry["sentence"] for entry in plan["statement"] if entry["key"] == "several_rows")
        self.assertRegex(rows, r"^Somebody with k rows of the joint table .* k = 1: [0-9.]+ insider, [0-9.]+ outsider; k = 2: ")
        # Records of a run in which a row is in all 150 steps at most, and in 18.
        for participation, values, presence in ((150, 81.6, 30.3), (18, 18.6, 7.9)):
            record = {"version": 1, "job_hash": "ab", "run_id": "cd", "events": [
                {"kind": "dpsgd_steps", "steps": 150, "sampling": "public", "partition": "vertical",
                 "sampling_rate": plan["sampling_rate"], "sigma": plan["sigma"], "sensitivity": 1, "clip": 1,
                 "capacity": [32561] * 3, "max_batch": [32561] * 3, "max_participation": participation,
                 "party_deviation": 1e6, "coordinates": 89}]}
            file = self.write("record.json", json.dumps(record))
            account = json.loads(self.succeed("account", "--record", file, "--delta", 1e-5, "--json"))
            self.assertAlmostEqual(account["epsilon_insider"], values, delta=0.1)
            self.assertAlmostEqual(account["epsilon_insider_presence"], presence, delta=0.1)
            # By hand: half of sigma, so many plain releases.
            by_hand = json.loads(self.succeed("account", "--sampling-rate", 1, "--noise-multiplier", plan["sigma"] / 2,
                                              "--steps", participation, "--delta", 1e-5, "--json"))
            self.assertAlmostEqual(account["epsilon_insider"], by_hand["epsilon"], delta=1e-4)
            text = self.succeed("account", "--record", file, "--delta", 1e-5)
            self.assertLess(text.index("epsilon insider"), text.index("epsilon outsider"))

    def test_rows_are_matched_whatever_their_order(self):
        self.assertEqual(self.local("d", *prepared()).returncode, 0)
        header, *rows = self.party_file(2).read_text().splitlines()
        self.party_file(2).write_text("\n".join([header, *reversed(rows)]) + "\n")
        codes, errors = self.run_parties()
        self.assertEqual(codes, [0, 0, 0], errors)
        evaluated = self.succeed("evaluate", "--model", "r0/model.npz", "--data", "data", "--json")
        self.assertGreater(json.loads(evaluated)["accuracy"], 0.85)

    def test_other_keys_end_every_party_and_are_not_named(self):
        self.assertEqual(self.local("d", *prepared()).returncode, 0)
        text = self.party_file(1).read_text()
        self.party_file(1).write_text(text.replace("person-007", "person-xyz"))
        codes, errors = self.run_parties()
        self.assertEqual(codes, [4, 4, 4], errors)
        for i, error in enumerate(errors):
            self.assert_one_error_line(error, "the key column: found other keys")
            self.assertNotIn("person", error + (self.folder / f"r{i}/party.log").read_text())
            self.assertFalse((self.folder / f"r{i}/record.json").exists())
        self.party_file(1).write_text(text.replace("person-007", "person-008"))
        self.fail_with(4, "the key of an earlier record", "run", "--config", "d/party-1/party.toml", "--job", "d/job.toml", "--out", "q")

    def test_jobs_that_make_no_sense_are_refused(self):
        for text, change in [
            ("privacy.sampling: found \"owner-poisson\", expected \"public\"", ("sampling = \"public\"", "")),
            ("data.rows: found [ 300, 350, 350 ]", ("[350, 350, 350]", "[300, 350, 350]")),
            ("found 0 columns of kind \"key\"", ("kind = \"key\"", "kind = \"ignore\"\nparty = 0")),
            ("all parties hold the key", ("kind = \"key\"", "kind = \"key\"\nparty = 0")),
            ("column \"b\" of party 0 comes after one of party 1", ("name = \"a\"\nparty = 0\n[[data.column]]\nname = \"b\"\nparty = 1",
                                                               "name = \"a\"\nparty = 1\n[[data.column]]\nname = \"b\"\nparty = 0")),
            ("only data.partition \"vertical\" has it", ("partition = \"vertical\"\n", "")),
            ("data.column.party", ("name = \"c\"\nparty = 2", "name = \"c\"")),
            ("evaluation: not with data.partition", ("[training]", "[evaluation]\nholder = 0\nrows = 20\n[training]")),
            ("initialisation.method", ("[training]", "[initialisation]\nmethod = \"averaging\"\nsteps = 2\nexpected_batch = 20\n"
                                       "learning_rate = 1.0\nsigma = 1.0\n[training]")),
        ]:
            with self.subTest(text=text):
                self.assertEqual(JOB.count(change[0]), 1)
                self.fail_with(2, text, "local", "--job", self.write("bad.toml", JOB.replace(*change)), "--data", "data", "--out", "q")


if __name__ == "__main__":
    unittest.main()
