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


RANGED_JOB = """
version = 1
type = "dpsgd"
name = "plants"
[data]
name = "plants"
format = "csv"
rows = [400, 400, 400]
classes = 2
label = { column = "kind", values = ["no", "yes"] }
column = [
  { name = "grams", range = "private" },
  { name = "metres", range = "private" },
  { name = "charge", range = "private", missing = [] },
  { name = "seeds", range = "private", missing = [] },
]
[features]
row_norm = 2.0
standardise = "private"
standardise_sigma = 0.01
range_sigma = 0.01
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
NAMES = ("grams", "metres", "charge", "seeds")
OPENED = [f"standardise.{name}.{end}" for ends in (("low", "high"), ("mean", "scale")) for name in NAMES for end in ends]


def cell_ends(value):
    """Of the cell of the grid that the value is in, the ends in order."""
    if abs(value) < 2.0**-64:
        return -2.0**-64, 2.0**-64
    least = 2.0 ** (math.frexp(abs(value))[1] - 1)
    return (least, 2 * least) if value > 0 else (-2 * least, -least)


def plain_range(values):
    """Of the cells that values lie in the outermost, without those at either end that have a hundredth of them at most."""
    counts = {}
    for value in values:
        counts[cell_ends(value)] = counts.get(cell_ends(value), 0) + 1
    cells = sorted(counts)
    for last in (0, -1):
        beyond = counts[cells[last]]
        while beyond <= len(values) / 100:
            cells.pop(last)
            beyond += counts[cells[last]]
    zero = (-2.0**-64, 2.0**-64)
    return 0 if cells[0] == zero else cells[0][0], 0 if cells[-1] == zero else cells[-1][1]


class Ranges(ProgramTest):
    """Columns from 10^-19 to 10^9 of which nobody knows anything; the noise on a count is 0.01 √1.5 √4, 0.02 records."""

    def setUp(self):
        super().setUp()
        self.job = self.write("job.toml", RANGED_JOB)
        (self.folder / "plants").mkdir()
        coins = random.Random(6)
        self.rows = []
        for k in range(1200):
            grams = None if k % 7 == 0 else math.exp(coins.gauss(math.log(2e6), 1.5)) * (10**40 if k % 300 == 1 else 1)
            metres, charge = coins.gauss(-4e-6, 1e-6), coins.gauss(0, 1.6e-19)
            seeds = coins.choice((0, 0, 0, 1, 3, 800))
            kind = "yes" if (metres + 4e-6) / 1e-6 + charge / 1.6e-19 + (seeds - 134) / 300 + coins.gauss(0, 0.3) > 0 else "no"
            self.rows.append((grams, metres, charge, seeds, kind))
        for name, rows in (("train", self.rows), ("test", self.rows[:100])):
            self.write(f"plants/{name}.csv", ",".join((*NAMES, "kind")) + "\n" + "".join(
                ",".join("?" if value is None else str(value) for value in row) + "\n" for row in rows))

    def local(self, out, *settings):
        return self.succeed("local", "--job", self.job, "--data", "plants", "--out", out, *settings)

    def values_of(self, k):
        return [row[k] for row in self.rows if row[k] is not None]

    def test_finds_ranges_then_trains_as_with_those_declared(self):
        self.local("run", "--set", "release.to=[0]")  # who gets no model hears of ranges all the same
        found = self.summary("run")["standardisation"]
        ranges = {column["name"]: column for column in found["ranges"]["columns"]}
        text = RANGED_JOB.replace("range_sigma = 0.01\n", "")
        for k, name in enumerate(NAMES):
            low, high = plain_range(self.values_of(k))
            self.assertEqual((ranges[name]["low"], ranges[name]["high"], ranges[name]["above_noise"]), (low, high, True), name)
            within = [min(max(value, low), high) for value in self.values_of(k)]
            mean, scale = next((one["mean"], one["scale"]) for one in found["columns"] if one["name"] == name)
            self.assertAlmostEqual(mean, statistics.fmean(within), delta=(high - low) * 1e-3)
            self.assertAlmostEqual(scale, statistics.pstdev(within), delta=(high - low) * 2e-3)
            given = f'name = "{name}", range = "private"'
            self.assertIn(given, text)
            text = text.replace(given, f'name = "{name}", low = {float(low)!r}, high = {float(high)!r}')
        self.job = self.write("given.toml", text)
        self.local("given")
        for one, other in zip(*(read_model(self.folder / out / "model.npz") for out in ("run", "given")), strict=True):
            self.assertAlmostEqual(one, other, delta=0.02)
        self.assertGreater(self.summary("run")["accuracy"], 0.85)

        # The model has them, and moves what lies beyond.
        with zipfile.ZipFile(self.folder / "run/model.npz") as archive:
            content = archive.read("job.npy")
        columns = json.loads(content[content.index(b"\n") + 1:].decode())["data"]["column"]
        self.assertEqual([(column["low"], column["high"]) for column in columns],
                         [(ranges[name]["low"], ranges[name]["high"]) for name in NAMES])
        self.assertNotIn("range", columns[0])
        *weights, bias = read_model(self.folder / "run/model.npz")
        moments = [next((one["mean"], one["scale"]) for one in found["columns"] if one["name"] == name) for name in NAMES]
        scores = list(csv.DictReader(self.succeed("predict", "--model", "run/model.npz", "--data", "plants/test.csv", "--scores").splitlines()))
        for said, row in zip(scores, self.rows):
            scaled = [0 if value is None else (min(max(value, ranges[name]["low"]), ranges[name]["high"]) - mean) / scale
                      for name, value, (mean, scale) in zip(NAMES, row, moments)]
            shorter = min(1, 2 / math.hypot(*scaled))
            self.assertAlmostEqual(float(said["score_yes"]), sum(w * x * shorter for w, x in zip(weights, scaled)) + bias, delta=1e-4)

        # Each owner hears how many of its own these are, and nobody else.
        low, high = ranges["grams"]["low"], ranges["grams"]["high"]
        beyond = 0
        for party in range(3):
            lines = (self.folder / f"run/party-{party}/out/owner_warnings.txt").read_text()
            for file in ("party.log", "audit.jsonl", "summary.json"):
                self.assertNotIn("lie beyond", (self.folder / f"run/party-{party}/out/{file}").read_text())
            beyond += sum(map(int, re.findall(r'note to the owner alone: (\d+) of \d+ numbers of column "grams" lie beyond', lines)))
        self.assertEqual(beyond, sum(not low <= value < high for value in self.values_of(0)))
        self.assertGreater(beyond, 2)

    def test_is_charged_before_the_means_and_planned(self):
        target = ("--set", "privacy.epsilon=2.0", "--set", "privacy.accountant=\"pld\"")
        self.job = self.write("job.toml", re.sub(r"(?m)^(standardise_|range_|)sigma = .*\n", "", RANGED_JOB))
        plan = json.loads(self.succeed("plan", "--job", self.job, "--json", *target))
        self.assertLessEqual(plan["epsilon_insider"], 2)
        self.local("run", *target)
        events = json.loads((self.folder / "run/record.json").read_text())["events"]
        self.assertEqual([(event["kind"], event.get("of"), event.get("coordinates")) for event in events[:2]],
                         [("gaussian_releases", "ranges", 4 * 257), ("gaussian_releases", "means", 1 + 2 * 3 + 2 * 2)])
        self.assertEqual([event["kind"] for event in events[2:]], ["dpsgd_steps"])
        for event, key in zip(events, ("range_sigma", "standardise_sigma")):
            self.assertAlmostEqual(event["sigma"], plan[key], places=9)
        summary = self.summary("run")
        self.assertAlmostEqual(summary["epsilon_insider"], plan["epsilon_insider"], places=9)
        self.assertEqual(summary["standardisation"]["ranges"]["sigma"], plan["range_sigma"])
        run, = plan["run_costs"]
        self.assertAlmostEqual(run["rounds"] / summary["rounds"], 1, delta=0.1)
        lines = map(json.loads, (self.folder / "run/party-1/out/audit.jsonl").read_text().splitlines())
        opened = [line["what"] for line in lines if line["kind"] == "release" and line["what"].startswith("standardise.")]
        self.assertEqual(opened, OPENED)
        few = ("--set", "data.rows=[40, 40, 40]", "--set", "training.expected_batch=100")
        self.assertIn("the counts by which the ranges of 4 columns are found see", self.succeed("plan", "--job", self.job, *target, *few))

    def test_a_lost_peer_gives_neither_back(self):
        job = self.write("long.toml", RANGED_JOB.replace("steps = 12", "steps = 50000").replace("_sigma = 0.01", "_sigma = 1.0")
                         .replace("\nsigma = 0.02", "\nsigma = 60.0"))
        self.local("d", *prepared())
        for party in range(3):
            with open(self.folder / f"d/party-{party}/party.toml", "a") as file:
                file.write('\n[ledger]\nfile = "ledger.jsonl"\nepsilon_cap = 1e12\ndelta = 1e-5\n')
        codes, outputs = self.lose_a_party(1, job, 5)
        self.assertEqual([codes[0], codes[2]], [3, 3], outputs)
        for party in range(3):
            job, = json.loads(self.succeed("ledger", "show", f"d/party-{party}/ledger.jsonl", "--json"))["jobs"]
            self.assertGreater(job["epsilon_insider"], 6)  # of the two sums; one has below 5, and 200 steps about 1
        logs = [[json.loads(line) for line in (self.folder / f"r{party}/audit.jsonl").read_text().splitlines()] for party in range(3)]
        opened = [[(line["what"], line["value"]) for line in log if line["kind"] == "release"] for log in logs]
        self.assertEqual([what for what, _ in opened[0]], OPENED)
        self.assertEqual(opened, [opened[0]] * 3)
        for party in (0, 2):
            self.assertEqual(logs[party][-1]["outcome"], "failed")
            self.assertIn("opened 8 of the results ahead of the others", (self.folder / f"r{party}/party.log").read_text())

    def test_says_what_it_wants(self):
        text = RANGED_JOB.replace('range = "private", missing = [] },\n]', 'range = "private", low = 0.0 },\n]')
        self.fail_with(2, 'found it beside range "private"', "plan", "--job", self.write("low.toml", text))
        self.fail_with(2, "features.range_sigma: missing", "plan", "--job", self.write("sigma.toml", RANGED_JOB.replace("range_sigma = 0.01\n", "")))
        self.write("plants/train.csv", (self.folder / "plants/train.csv").read_text().replace("?", "much", 1))
        self.fail_with(4, '"much"', "local", "--job", self.job, "--data", "plants", "--out", "run")


if __name__ == "__main__":
    unittest.main()
