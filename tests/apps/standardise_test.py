"""A training that finds the means and scales of its columns by itself, as three processes over TLS."""

import csv
import hashlib
import json
import math
import random
import re
import statistics
import struct
import unittest
import zipfile

from model_readers import Onnx, read_safetensors
from plain_models import read_model
from trefoil_program import ProgramTest, TINY_JOB, prepared

JOB = """
version = 1
type = "dpsgd"
name = "people"
[data]
name = "people"
format = "csv"
rows = [400, 400, 400]
classes = 2
label = { column = "rich", values = ["no", "yes"] }
[[data.column]]
name = "age"
low = 0.0
high = 100.0
[[data.column]]
name = "wage"
low = 0.0
high = 90000.0
[[data.column]]
name = "job"
kind = "category"
values = ["clerk", "nurse"]
[features]
row_norm = 2.0
standardise = "private"
standardise_sigma = 0.01
[training]
steps = 12
expected_batch = 1200
max_batch_per_owner = 400
learning_rate = 2.0
comparison = "bulk"
[privacy]
sigma = 0.02
delta = 1e-5
clip = 1.0
"""
RANGES = {"age": (0, 100), "wage": (0, 90000)}


class Standardise(ProgramTest):
    def setUp(self):
        super().setUp()
        self.job = self.write("job.toml", JOB)
        (self.folder / "people").mkdir()
        coins = random.Random(4)
        self.rows = []
        for k in range(1200):
            age, wage = round(coins.gauss(45, 12), 3), round(coins.gauss(52000, 4000) + (10**6 if k % 300 == 0 else 0), 2)
            rich = "yes" if (age - 45) / 12 + (wage - 52000) / 4000 + coins.gauss(0, 0.3) > 0 else "no"
            self.rows.append((None if k % 9 == 0 else age, wage, coins.choice(("clerk", "nurse")), rich))
        for name, rows in (("train", self.rows), ("test", self.rows[:100])):
            self.write(f"people/{name}.csv", "age,wage,job,rich\n" + "".join(
                f"{'?' if age is None else age},{wage},{job},{rich}\n" for age, wage, job, rich in rows))

    def local(self, out, *settings):
        return self.succeed("local", "--job", self.job, "--data", "people", "--out", out, *settings)

    def found(self):
        return {column["name"]: column for column in self.summary("run")["standardisation"]["columns"]}

    def row_of(self, age, wage, job):
        """What a record is to the model, by what the run found."""
        row = []
        for name, value in (("age", age), ("wage", wage)):
            low, high = RANGES[name]
            mean, scale = self.found()[name]["mean"], self.found()[name]["scale"]
            row.append(0 if value is None else (min(max(value, low), high) - mean) / scale)
        row += [job == "clerk", job == "nurse"]
        length = math.hypot(*row)
        return [value * min(1, 2 / length) for value in row] if length else row

    def test_trains_as_with_the_means_and_scales_that_it_found(self):
        """Noise on a mean is 0.01 √1.5 √3/1200 of half its range, 2e-5; on a weight, of 12 steps, 2e-4."""
        self.local("run")
        within = {"age": [min(max(row[0], 0), 100) for row in self.rows if row[0] is not None],
                  "wage": [min(max(row[1], 0), 90000) for row in self.rows]}
        for name, values in within.items():
            width = RANGES[name][1]
            self.assertAlmostEqual(self.found()[name]["mean"], statistics.fmean(values), delta=width * 1e-3)
            self.assertAlmostEqual(self.found()[name]["scale"], statistics.pstdev(values), delta=width * 1e-3)
        text = JOB.replace('standardise = "private"\nstandardise_sigma = 0.01\n', "")
        for name, (low, high) in RANGES.items():
            line = f"high = {float(high)}\n"
            self.assertIn(line, text)
            text = text.replace(line, f"{line}mean = {self.found()[name]['mean']!r}\nscale = {self.found()[name]['scale']!r}\n")
        self.job = self.write("given.toml", text)
        self.local("given")
        found, given = (read_model(self.folder / out / "model.npz") for out in ("run", "given"))
        self.assertEqual(len(found), 5)
        for one, other in zip(found, given):
            self.assertAlmostEqual(one, other, delta=0.02)
        self.assertGreater(max(map(abs, found)), 0.2)
        self.assertGreater(self.summary("run")["accuracy"], 0.85)

    def test_gives_a_model_that_standardises_wherever_it_is_applied(self):
        self.local("run")
        *weights, bias = read_model(self.folder / "run/model.npz")
        model = ("--model", "run/model.npz", "--data", "people/test.csv")
        scores = [float(row["score_yes"]) for row in csv.DictReader(self.succeed("predict", *model, "--scores").splitlines())]
        plain = [sum(w * x for w, x in zip(weights, self.row_of(*row[:3]))) + bias for row in self.rows[:100]]
        for score, wanted in zip(scores, plain, strict=True):
            self.assertAlmostEqual(score, wanted, delta=1e-4)
        evaluated = json.loads(self.succeed("evaluate", *model, "--json"))
        self.assertEqual(evaluated["correct"], sum((score > 0) == (row[3] == "yes") for score, row in zip(plain, self.rows)))
        self.succeed("export", "--model", "run/model.npz", "--format", "onnx", "--out", "e.onnx")
        onnx = Onnx((self.folder / "e.onnx").read_bytes())
        for (age, wage, job, _), wanted in zip(self.rows, plain):
            row = [self.found()["age"]["mean"] if age is None else age, wage, job == "clerk", job == "nurse"]
            self.assertAlmostEqual(onnx.run(row)[0], wanted, delta=1e-3)

    def test_is_charged_with_the_steps_and_planned(self):
        target = ("--set", "privacy.epsilon=2.0", "--set", "privacy.accountant=\"pld\"", "--set", "features.standardise_share=0.2")
        self.job = self.write("job.toml", JOB.replace("sigma = 0.02\n", "").replace("standardise_sigma = 0.01\n", ""))
        plan = json.loads(self.succeed("plan", "--job", self.job, "--json", *target))
        self.assertLessEqual(plan["epsilon_insider"], 2)
        self.local("run", *target)
        events = json.loads((self.folder / "run/record.json").read_text())["events"]
        self.assertEqual([event["kind"] for event in events], ["gaussian_releases", "dpsgd_steps"])
        self.assertEqual((events[0]["count"], events[0]["coordinates"]), (1, 1 + 3 + 3))
        summary = self.summary("run")
        self.assertAlmostEqual(summary["epsilon_insider"], plan["epsilon_insider"], places=9)
        run, = plan["run_costs"]
        self.assertAlmostEqual(run["rounds"] / summary["rounds"], 1, delta=0.1)
        self.assertEqual(summary["standardisation"]["sigma"], plan["standardise_sigma"])
        self.assertAlmostEqual(events[0]["sigma"], plan["standardise_sigma"], places=9)
        released = [json.loads(line) for line in (self.folder / "run/party-1/out/audit.jsonl").read_text().splitlines()]
        self.assertIn("standardise.age.mean", json.dumps(released))
        self.fail_with(2, "features.standardise: found \"private\"", "audit", "--job", self.job, "--canaries", "50", *target)

    def test_ledgers_take_the_sum_and_the_steps(self):
        """By ledger of each party, whose cap allows one run and no second."""
        self.job = self.write("job.toml", JOB.replace("standardise_sigma = 0.01", "standardise_sigma = 1.0").replace("sigma = 0.02", "sigma = 60.0"))
        cap = ("--ledger", "ledger", "--epsilon-cap", "8")
        self.local("run", *cap)
        events = json.loads((self.folder / "run/record.json").read_text())["events"]
        for event in events:
            self.write("one.json", json.dumps({**json.loads((self.folder / "run/record.json").read_text()), "events": [event]}))
            event["epsilon"] = json.loads(self.succeed("account", "--record", "one.json", "--delta", "1e-5", "--json"))["epsilon_insider"]
        self.assertEqual([event["epsilon"] > 3 for event in events], [True, False], events)
        for party in range(3):
            shown = json.loads(self.succeed("ledger", "show", f"ledger/party-{party}.jsonl", "--json"))
            self.assertEqual([job["state"] for job in shown["jobs"]], ["done"])
            self.assertGreater(shown["epsilon_insider"], events[0]["epsilon"])
        self.fail_with(5, "expected at most the cap 8", "local", "--job", self.job, "--data", "people", "--out", "more", *cap)
        self.assertFalse((self.folder / "more/model.npz").exists())

    def test_a_lost_peer_does_not_give_the_sum_back(self):
        job = self.write("long.toml", JOB.replace("steps = 12", "steps = 50000").replace("standardise_sigma = 0.01", "standardise_sigma = 1.0")
                         .replace("sigma = 0.02", "sigma = 60.0"))
        self.local("d", *prepared())
        for party in range(3):
            with open(self.folder / f"d/party-{party}/party.toml", "a") as file:
                file.write('\n[ledger]\nfile = "ledger.jsonl"\nepsilon_cap = 1e12\ndelta = 1e-5\n')
        codes, outputs = self.lose_a_party(1, job, 5)
        self.assertEqual([codes[0], codes[2]], [3, 3], outputs)
        for party in (0, 2):
            self.assert_one_error_line(outputs[party][1], "party 1")
            self.assertFalse((self.folder / f"r{party}/model.npz").exists())
        for party, state in enumerate(("stopped", "died", "stopped")):
            job, = json.loads(self.succeed("ledger", "show", f"d/party-{party}/ledger.jsonl", "--json"))["jobs"]
            self.assertEqual(job["state"], state)
            self.assertGreater(job["epsilon_insider"], 3)  # of the sum alone; 200 steps have about 1

    def test_subtracts_the_means_of_extracted_features(self):
        """Noise on a mean is 0.01 √1.5 √2 2/900, 4e-5. Rows without means are extracted by another job of the same features."""
        hog = ("--set", "features.method=hog", "--set", "features.cell=7", "--set", "features.row_norm=2.0")
        self.job = self.write("job.toml", TINY_JOB)
        found = ("features.standardise=private", "features.standardise_sigma=0.01", "privacy.sigma=0.05", "training.steps=20")
        self.succeed("local", "--job", self.job, "--out", "run", *hog, *(word for key in found for word in ("--set", key)))
        with zipfile.ZipFile(self.folder / "run/model.npz") as archive:
            content = archive.read("job.npy")
        job = json.loads(content[content.index(b"\n") + 1:].decode())
        self.assertNotIn("standardise", job["features"])
        means = job["features"]["means"]
        rows = [row for party in range(3) for row in self.extracted(f"run/party-{party}/data/{{}}-ubyte.gz", "images-idx3", hog)]
        self.assertEqual((len(rows), len(means)), (900, 324))
        for mean, column in zip(means, zip(*rows)):
            self.assertAlmostEqual(mean, statistics.fmean(column), delta=5e-4)
        events = json.loads((self.folder / "run/record.json").read_text())["events"]
        self.assertEqual([(event["kind"], event.get("coordinates")) for event in events][0], ("gaussian_releases", 325))
        self.assertEqual(self.summary("run")["standardisation"], {"sigma": events[0]["sigma"], "features": 324})

        numbers = read_model(self.folder / "run/model.npz")
        weights, bias = numbers[:-10], numbers[-10:]
        test, = (self.folder / "run/test").glob("*images*")
        centred = []
        for row in self.extracted(str(test), "", hog)[:100]:
            moved = [value - mean for value, mean in zip(row, means)]
            centred.append([2 * value / math.hypot(*moved) for value in moved])
        plain = [[sum(w * x for w, x in zip(weights[k::10], row)) + bias[k] for k in range(10)] for row in centred]
        model = ("--model", "run/model.npz", "--data", "run/test")
        scores = list(csv.DictReader(self.succeed("predict", *model, "--scores").splitlines()))
        for said, wanted in zip(scores, plain):
            for k in range(10):
                self.assertAlmostEqual(float(said[f"score_{k}"]), wanted[k], delta=1e-3)
        evaluated = json.loads(self.succeed("evaluate", *model, "--json"))
        self.assertEqual(evaluated["accuracy"], self.summary("run")["accuracy"])
        self.succeed("export", "--model", "run/model.npz", "--format", "onnx", "--out", "e.onnx")
        onnx = Onnx((self.folder / "e.onnx").read_bytes())
        for row, wanted in zip(self.extracted(str(test), "", hog)[:5], plain):
            for said, score in zip(onnx.run(row), wanted, strict=True):
                self.assertAlmostEqual(said, score, delta=1e-3)
        self.exports_say_the_means(means, str(test), hog, plain)

    def exports_say_the_means(self, means, test, hog, plain):
        """In npz and safetensors, and in onnx, whose rows are those of a job without them."""
        for kind in ("npz", "safetensors"):
            self.succeed("export", "--model", "run/model.npz", "--format", kind, "--out", f"e.{kind}")
        with zipfile.ZipFile(self.folder / "e.npz") as archive:
            content = archive.read("means.npy")
        self.assertEqual(list(struct.unpack("<324d", content[content.index(10) + 1:])), means)
        self.assertEqual(read_safetensors((self.folder / "e.safetensors").read_bytes())[1]["means"], ([324], means))
        released = [json.loads(line) for line in (self.folder / "run/party-1/out/audit.jsonl").read_text().splitlines()]
        logged, = (line for line in released if line.get("what") == "standardise.means")
        with zipfile.ZipFile(self.folder / "run/model.npz") as archive:
            text = re.search(rb'"means":(\[[^]]*\])', archive.read("job.npy"))[1]
        self.assertEqual(logged["sha256"], hashlib.sha256(text).hexdigest())
        given = (*hog, "--set", f"features.means={means}")
        pairs = zip(self.extracted(test, "", hog), self.extracted(test, "", given), self.extracted(test, "", (*given, "--set", "features.means=[]")))
        onnx = Onnx((self.folder / "e.onnx").read_bytes())
        for (row, less, again), wanted in list(zip(pairs, plain))[:5]:
            moved = [value - mean for value, mean in zip(row, means)]
            for value, expected in zip(less, moved, strict=True):
                self.assertAlmostEqual(value, 2 * expected / math.hypot(*moved), delta=1e-5)
            self.assertEqual(again, row)
            self.assertGreater(max(abs(said - score) for said, score in zip(onnx.run(less), wanted)), 1e-2)  # less means twice
        labels = test.replace("images-idx3", "labels-idx1")
        self.fail_with(2, "--row-norm: found 1", "features", "--job", self.job, "--in", test, labels, "--out", "x.npz", *given, "--row-norm", "1.0")

    def extracted(self, file, name, settings):
        images = file.format(name)
        self.succeed("features", "--job", self.job, "--in", images, images.replace("images-idx3", "labels-idx1"), "--out", "x.npz", *settings)
        with zipfile.ZipFile(self.folder / "x.npz") as archive:
            content = archive.read("x.npy")
        values = struct.unpack(f"<{(len(content) - content.index(10) - 1) // 4}f", content[content.index(10) + 1:])
        return [values[k : k + 324] for k in range(0, len(values), 324)]


if __name__ == "__main__":
    unittest.main()
