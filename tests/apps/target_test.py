"""Training, prediction and evaluation of numbers in place of classes, on a table that is generated."""

import csv
import io
import json
import math
import pathlib
import random
import unittest
import xml.etree.ElementTree
import zipfile

from model_readers import Onnx
from trefoil_program import ProgramTest

JOB = """
version = 1
type = "dpsgd"
name = "rents"
[data]
name = "rents"
format = "csv"
rows = [400, 400, 400]
[[data.column]]
name = "area"
mean = 60.0
scale = 30.0
[[data.column]]
name = "floor"
mean = 2.0
scale = 2.0
[data.target]
column = "rent"
low = 200.0
high = 2200.0
[model]
loss = "squared"
[features]
row_norm = 2.0
[training]
steps = 120
expected_batch = 600
max_batch_per_owner = 400
learning_rate = 0.3
[privacy]
sigma = 0.7
delta = 1e-5
clip = 0.5
"""


def rent(area, floor, coins):
    return min(2200, max(200, 300 + 12 * area + 20 * floor + coins.gauss(0, 90)))


def least_squares(rows, targets):
    """Weights and bias by the normal equations, and the plain R² of rows of two numbers."""
    design = [[*row, 1.0] for row in rows]
    table = [[sum(a[i] * a[j] for a in design) for j in range(3)] + [sum(a[i] * t for a, t in zip(design, targets))] for i in range(3)]
    for i in range(3):
        for j in range(3):
            if i != j:
                factor = table[j][i] / table[i][i]
                table[j] = [b - factor * a for a, b in zip(table[i], table[j])]
    return [table[i][3] / table[i][i] for i in range(3)]


def r_squared(targets, predictions):
    mean = sum(targets) / len(targets)
    return 1 - sum((t - p) ** 2 for t, p in zip(targets, predictions)) / sum((t - mean) ** 2 for t in targets)


class Targets(ProgramTest):
    def setUp(self):
        super().setUp()
        self.job = self.write("job.toml", JOB)
        coins = random.Random(7)
        self.tables = {}
        (self.folder / "data").mkdir()
        for name, count in (("train", 1200), ("test", 300)):
            rows = [(round(coins.uniform(20, 110), 1), coins.randrange(6)) for _ in range(count)]
            self.tables[name] = [(area, floor, rent(area, floor, coins)) for area, floor in rows]
            self.put(name, self.tables[name])

    def put(self, name, rows):
        text = "area,floor,rent\n" + "".join(f"{area},{floor},{target!r}\n" for area, floor, target in rows)
        (self.folder / f"data/{name}.csv").write_text(text)

    def predictions(self, *options):
        text = self.succeed("predict", "--model", "out/model.npz", "--data", "out/test", *options)
        rows = list(csv.DictReader(io.StringIO(text)))
        self.assertEqual(list(rows[0]), ["row", "target"])
        return [float(row["target"]) for row in rows]

    def test_predicts_and_evaluates_in_the_targets_unit(self):
        said = self.succeed("local", "--job", self.job, "--data", "data", "--out", "out")
        test = self.tables["test"]
        targets = [row[2] for row in test]
        weights = least_squares([row[:2] for row in self.tables["train"]], [row[2] for row in self.tables["train"]])
        best = r_squared(targets, [weights[0] * a + weights[1] * b + weights[2] for a, b, _ in test])
        self.assertGreater(best, 0.85)
        found = self.predictions()
        self.assertGreater(r_squared(targets, found), best - 0.05)  # noise, rows of more than row_norm, 120 steps

        figures = json.loads(self.succeed("evaluate", "--model", "out/model.npz", "--data", "out/test", "--json"))
        # Targets are read to within 2^-25 of 2,000.
        self.assertAlmostEqual(figures["r_squared"], r_squared(targets, found), places=6)
        error = math.sqrt(sum((a - b) ** 2 for a, b in zip(targets, found)) / len(targets))
        self.assertAlmostEqual(figures["rmse"], error, places=3)
        self.assertEqual(figures, json.loads((self.folder / "out/evaluation.json").read_text()))
        self.assertRegex(said, rf"R² {math.floor(figures['r_squared'] * 1e4) / 1e4:.4f}, RMSE \d+\.?\d* on 300 test records")
        self.assertIn("R² 0.", self.succeed("evaluate", "--model", "out/model.npz", "--data", "out/test"))
        summary = self.summary("out")
        self.assertEqual((summary["r_squared"], summary["rmse"]), (figures["r_squared"], figures["rmse"]))
        self.assertNotIn("accuracy", summary)
        self.succeed("report", "out")
        page = xml.etree.ElementTree.fromstring((self.folder / "out/report.html").read_text())
        numbers = {float(element.get("value")) for element in page.iter("{http://www.w3.org/1999/xhtml}data")}
        self.assertTrue({figures["r_squared"], figures["rmse"]} <= numbers)
        plots = [plot.get("aria-label") for plot in page.iter("{http://www.w3.org/2000/svg}svg")]
        self.assertIn("Calibration", plots)

        # What is exported says the same of records as they are in the file.
        self.assertIn("one target", self.succeed("export", "--model", "out/model.npz", "--format", "onnx", "--out", "m.onnx"))
        model = Onnx((self.folder / "m.onnx").read_bytes())
        for (area, floor, _), target in list(zip(test, found))[:40]:
            self.assertAlmostEqual(model.run([area, float(floor)])[0], target, delta=0.01)
        self.succeed("export", "--model", "out/model.npz", "--format", "csv", "--out", "m.csv")
        coefficients = list(csv.DictReader(io.StringIO((self.folder / "m.csv").read_text())))
        self.assertEqual([(row["column"], row["standard_error"]) for row in coefficients],
                         [("(intercept)", ""), ("area", ""), ("floor", "")])
        intercept, per_area, per_floor = [float(row["coefficient"]) for row in coefficients]
        short = [k for k, (area, floor, _) in enumerate(test) if math.hypot((area - 60) / 30, (floor - 2) / 2) < 1.9]
        self.assertGreater(len(short), 100)
        for k in short:
            self.assertAlmostEqual(found[k], intercept + per_area * test[k][0] + per_floor * test[k][1], delta=0.01)
        self.assertIn("What the model says of each column", (self.folder / "out/report.html").read_text())
        self.succeed("export", "--model", "out/model.npz", "--format", "npz", "--out", "m.npz")
        names = zipfile.ZipFile(self.folder / "m.npz").namelist()
        self.assertTrue({"target_low.npy", "target_high.npy"} <= set(names))
        self.assertNotIn("classes.npy", names)
        self.fail_with(2, "which predicts a number", "predict", "--model", "out/model.npz", "--data", "out/test", "--scores")
        self.fail_with(2, "data.target: found one", "features", "--job", self.job, "--in", "data/train.csv", "--out", "f.npz")

    def test_hubers_loss_is_not_led_astray_by_a_few(self):
        coins = random.Random(8)
        train = [(area, floor, 2200.0 if coins.random() < 0.2 else target) for area, floor, target in self.tables["train"]]
        self.put("train", train)
        rate = JOB.replace("learning_rate = 0.3", "learning_rate = 1.0")
        self.write("job.toml", rate.replace('loss = "squared"', 'loss = "huber"\nhuber_threshold = 100'))
        self.assertIn("R² 0.", self.succeed("local", "--job", self.job, "--data", "data", "--out", "out"))
        test = self.tables["test"]
        targets = [row[2] for row in test]
        weights = least_squares([row[:2] for row in train], [row[2] for row in train])
        squared = r_squared(targets, [weights[0] * a + weights[1] * b + weights[2] for a, b, _ in test])
        self.assertLess(squared, 0.8)
        found = self.predictions()
        self.assertGreater(r_squared(targets, found), 0.85)
        figures = json.loads(self.succeed("evaluate", "--model", "out/model.npz", "--data", "out/test", "--json"))
        self.assertAlmostEqual(figures["r_squared"], r_squared(targets, found), places=6)
        self.assertIn("one target", self.succeed("export", "--model", "out/model.npz", "--format", "onnx", "--out", "m.onnx"))
        model = Onnx((self.folder / "m.onnx").read_bytes())
        for (area, floor, _), target in list(zip(test, found))[:20]:
            self.assertAlmostEqual(model.run([area, float(floor)])[0], target, delta=0.01)
        self.succeed("report", "out")

    def test_counts_have_a_logarithm_that_is_linear(self):
        coins = random.Random(9)

        def visits(area, floor):
            mean = math.exp(0.02 * (area - 60) - 0.3 * floor + 1)
            count, left = 0, coins.random()  # a Poisson number by its distribution function
            term = math.exp(-mean)
            while left > term and count < 60:
                left -= term
                count += 1
                term *= mean / count
            return count

        for name in ("train", "test"):
            self.tables[name] = [(area, floor, visits(area, floor)) for area, floor, _ in self.tables[name]]
            self.put(name, self.tables[name])
        counts = JOB.replace("low = 200.0", "low = 0.0").replace("high = 2200.0", "high = 60.0")
        counts = counts.replace("clip = 0.5", "clip = 0.1").replace("learning_rate = 0.3", "learning_rate = 10.0")
        counts = counts.replace("steps = 120", "steps = 300").replace('loss = "squared"', 'loss = "poisson"')
        self.write("job.toml", counts.replace("sigma = 0.7", "sigma = 0.3"))
        self.assertIn("R² 0.", self.succeed("local", "--job", self.job, "--data", "data", "--out", "out"))
        test = self.tables["test"]
        targets = [row[2] for row in test]
        found = self.predictions()
        self.assertTrue(all(0 < target <= 60 for target in found))
        means = [math.exp(0.02 * (area - 60) - 0.3 * floor + 1) for area, floor, _ in test]
        self.assertGreater(r_squared(targets, found), r_squared(targets, means) - 0.1)
        figures = json.loads(self.succeed("evaluate", "--model", "out/model.npz", "--data", "out/test", "--json"))
        self.assertAlmostEqual(figures["r_squared"], r_squared(targets, found), places=6)
        self.assertIn("one target", self.succeed("export", "--model", "out/model.npz", "--format", "onnx", "--out", "m.onnx"))
        model = Onnx((self.folder / "m.onnx").read_bytes())
        for (area, floor, _), target in list(zip(test, found))[:40]:
            self.assertAlmostEqual(model.run([area, float(floor)])[0], target, delta=0.001)
        self.assertAlmostEqual(float(model.metadata["target_offset"]), math.log(60) - 2)
        self.succeed("export", "--model", "out/model.npz", "--format", "csv", "--out", "m.csv")
        coefficients = [float(row["coefficient"]) for row in csv.DictReader(io.StringIO((self.folder / "m.csv").read_text()))]
        for k, (area, floor, _) in enumerate(test):
            if math.hypot((area - 60) / 30, (floor - 2) / 2) < 1.9:
                logarithm = coefficients[0] + coefficients[1] * area + coefficients[2] * floor
                self.assertAlmostEqual(min(60, math.exp(logarithm)), found[k], delta=0.001)
        self.succeed("report", "out")
        self.assertIn("natural logarithm", (self.folder / "out/report.html").read_text())
        self.succeed("plan", "--job", self.job, "--set", "privacy.clip=auto", "--set", "training.learning_rate=auto")
        self.fail_with(2, 'expected 0 with model.loss "poisson"', "plan", "--job", self.job, "--set", "data.target.low=1.0")

    def test_refuses_targets_outside_with_file_and_row(self):
        for bad, expected in ((2200.5, '"2200.5", expected a number of 200 to 2200'), (math.nan, "expected a finite number")):
            self.put("train", [*self.tables["train"][:4], (50.0, 1, bad)])
            self.fail_with(4, expected, "local", "--job", self.job, "--data", "data", "--out", "out")
            result = self.run_program("local", "--job", self.job, "--data", "data", "--out", "out")
            self.assertRegex(result.stderr, r'train\.csv: row 6, column "rent": found ')


if __name__ == "__main__":
    unittest.main()
