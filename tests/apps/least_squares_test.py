"""Least squares as three party processes over TLS: against a plain solution, and every documented outcome."""

import csv
import io
import json
import math
import random
import unittest

from plain_models import read_model
from trefoil_program import ProgramTest, prepared

JOB = """
version = 1
type = "least-squares"
name = "squares"
[data]
name = "points"
format = "csv"
rows = [700, 700, 700]
classes = 2
column = [{ name = "a" }, { name = "b" }]
label = { column = "c", values = ["no", "yes"] }
[features]
row_norm = 2.0
[privacy]
sigma = 0.01
delta = 1e-6
"""
SIGMA, BOUND = 0.01, 2.0
SENSITIVITY = math.sqrt(45) / 4  # of a row of norm 1 with its constant 1/2, and a target of 1
DEVIATION = math.sqrt(1.5) * SIGMA * SENSITIVITY
THREE = ("--set", 'data.label.values=["no", "yes", "far"]', "--set", "data.classes=3")


def solved(equations, values):
    """The solution of a system of equations, by elimination."""
    rows = [[*row, value] for row, value in zip(equations, values)]
    for k, pivot in enumerate(rows):
        rows[k] = pivot = [value / pivot[k] for value in pivot]
        for j, other in enumerate(rows):
            if j != k:
                rows[j] = [u - other[k] * v for u, v in zip(other, pivot)]
    return [row[-1] for row in rows]


def ridge(rows, targets, penalty):
    """Weights of two features and the bias: ridge regression in rows of norm 1 at most with a constant 1/2."""
    points = [(a / BOUND, b / BOUND, 0.5) for a, b in rows]
    squares = [[sum(x[j] * x[k] for x in points) + (penalty if j == k else 0) for k in range(3)] for j in range(3)]
    a, b, constant = solved(squares, [sum(x[j] * target for x, target in zip(points, targets)) for j in range(3)])
    return [a / BOUND, b / BOUND, constant / 2]


class LeastSquares(ProgramTest):
    def setUp(self):
        super().setUp()
        self.write("job.toml", JOB)
        (self.folder / "points").mkdir()
        source = random.Random(3)
        self.rows = [(round(source.uniform(-1.2, 1.2), 3), round(source.uniform(-1.2, 1.2), 3)) for _ in range(2000)]
        self.labels = [int(a + 0.3 * b > 0.1) for a, b in self.rows]
        self.write_points(self.labels, ("no", "yes"))

    def write_points(self, labels, names):
        text = "a,b,c\n" + "".join(f"{a},{b},{names[label]}\n" for (a, b), label in zip(self.rows, labels))
        self.write("points/train.csv", text)
        self.write("points/test.csv", text)

    def local(self, *settings, out="run"):
        return self.succeed("local", "--job", "job.toml", "--data", "points", "--out", out, *settings)

    def assert_near(self, found, targets):
        """Noise moves the products' numbers by seven deviations with a probability below 10^-10, and the weights, whose equations
        have eigenvalues above 100, by a thousandth."""
        for x, y in zip(found, ridge(self.rows, targets, DEVIATION * math.sqrt(1.5)), strict=True):
            self.assertAlmostEqual(x, y, delta=5e-3)

    def test_the_model_is_the_plain_solution(self):
        output = self.local()
        self.assertIn("rows 667, 667, 666", output)
        self.assert_near(read_model(self.folder / "run/model.npz"), [label - 0.5 for label in self.labels])
        for party in range(3):
            self.assertEqual((self.folder / f"run/party-{party}/out/model.npz").read_bytes(),
                             (self.folder / "run/model.npz").read_bytes())
        summary = self.summary()
        self.assertGreater(summary["accuracy"], 0.95)
        for key, value in (("sensitivity", SENSITIVITY), ("deviation", DEVIATION), ("ridge", DEVIATION * math.sqrt(1.5))):
            self.assertAlmostEqual(summary[key], value, delta=2e-4 * value)
        event, = json.loads((self.folder / "run/record.json").read_text())["events"]
        self.assertEqual((event["kind"], event["count"], event["coordinates"]), ("gaussian_releases", 1, 6 + 3))
        self.assert_promises("run", "record", "added", "by one unit added or removed at one owner.")
        # Others can apply it, and the job as it was run runs again.
        self.assertIn("accuracy", self.succeed("evaluate", "--model", "run/model.npz", "--data", "points/test.csv"))
        self.succeed("export", "--model", "run/model.npz", "--format", "onnx", "--out", "model.onnx")
        self.succeed("report", "run")
        self.assertIn("<td>ridge</td>", (self.folder / "run/report.html").read_text())
        self.succeed("local", "--job", "run/job.toml", "--data", "points", "--out", "again")

    def write_joint(self):
        """Three parties' columns of the same rows: a, b, and the classes with none."""
        job = JOB.replace('column = [{ name = "a" }, { name = "b" }]',
                          'partition = "vertical"\ncolumn = [{ name = "id", kind = "key" }, { name = "a", party = 0 }, { name = "b", party = 1 }]')
        self.write("job.toml", job.replace('values = ["no", "yes"] }', 'values = ["no", "yes"], party = 2 }').replace("[700, 700, 700]", "[2100, 2100, 2100]"))
        text = "id,a,b,c\n" + "".join(f"person-{k},{a},{b},{'yes' if label else 'no'}\n"
                                      for k, ((a, b), label) in enumerate(zip(self.rows, self.labels)))
        self.write("points/train.csv", text)
        self.write("points/test.csv", text)

    def test_of_columns_at_several_parties_it_is_that_of_the_joined_rows(self):
        self.write_joint()
        self.local("--ledger", "ledger", "--epsilon-cap", "1e9")
        self.assertEqual((self.folder / "run/party-2/data/train.csv").read_text().splitlines()[0], "id,c")
        deviation = DEVIATION * math.sqrt(98 / 45)  # another record in the place of one moves the sum by more
        targets = [label - 0.5 for label in self.labels]
        for x, y in zip(read_model(self.folder / "run/model.npz"), ridge(self.rows, targets, deviation * math.sqrt(1.5)), strict=True):
            self.assertAlmostEqual(x, y, delta=5e-3)
        summary = self.summary()
        self.assertAlmostEqual(summary["sensitivity"], math.sqrt(98) / 4, delta=1e-3)
        self.assertGreater(summary["accuracy"], 0.95)
        self.assert_promises("run", "joint-record", "replaced", "by one record, replaced by another at all three parties.")
        event, = json.loads((self.folder / "run/record.json").read_text())["events"]
        self.assertEqual((event["kind"], event["coordinates"]), ("gaussian_releases", 6 + 3))
        plan = json.loads(self.succeed("plan", "--job", "job.toml", "--json"))
        self.assertEqual(plan["epsilon_insider"], summary["epsilon_insider"])
        costs, = plan["run_costs"]
        parties = [self.summary(f"run/party-{party}/out") for party in range(3)]
        self.assertEqual((costs["rounds"], costs["bytes_sent"]),
                         (max(party["rounds"] for party in parties), [party["bytes_sent"] for party in parties]))
        self.succeed("report", "run")
        self.assertIn("unit joint-record, neighbours replaced", self.succeed("ledger", "show", "ledger/party-1.jsonl"))

    def test_other_keys_end_every_party_and_are_not_named(self):
        self.write_joint()
        self.local("--ledger", "ledger", "--epsilon-cap", "1e9", *prepared())
        path = self.folder / "run/party-1/data/train.csv"
        path.write_text(path.read_text().replace("person-7,", "person-x,"))
        processes = [self.start_program("run", "--config", f"run/party-{party}/party.toml", "--job", "run/job.toml", "--out", f"r{party}")
                     for party in range(3)]
        for party, process in enumerate(processes):
            error = process.communicate(timeout=100)[1]
            self.assertEqual(process.returncode, 4, error)
            self.assert_one_error_line(error, "the key column: found other keys")
            self.assertNotIn("person", error)
            self.assertFalse((self.folder / f"r{party}/record.json").exists())
            ledger = json.loads(self.succeed("ledger", "show", f"ledger/party-{party}.jsonl", "--json"))
            self.assertEqual(([job["state"] for job in ledger["jobs"]], ledger["epsilon_insider"]), (["stopped"], 0))

    def test_a_threshold_is_of_the_number_that_is_fitted(self):
        self.local()
        model = ("--model", "run/model.npz", "--data", "points/test.csv", "--threshold", "0.3")
        predicted = list(csv.DictReader(io.StringIO(self.succeed("predict", *model, "--scores"))))
        scores = [float(row["score_yes"]) for row in predicted]
        self.assertGreater(sum(-0.2 < score < 0 for score in scores), 50)
        self.assertEqual([row["label"] == "yes" for row in predicted], [score > -0.2 for score in scores])
        figures = json.loads(self.succeed("evaluate", *model, "--json"))
        right = sum((score > -0.2) == bool(label) for score, label in zip(scores, self.labels, strict=True))
        self.assertEqual(figures["correct"], right)

    def test_a_column_a_class(self):
        labels = [2 if math.hypot(a, b) > 1 and a > 0 else label for (a, b), label in zip(self.rows, self.labels)]
        self.write_points(labels, ("no", "yes", "far"))
        self.local(*THREE)
        model = read_model(self.folder / "run/model.npz")
        for k in range(3):
            self.assert_near(model[k::3], [int(label == k) for label in labels])
        self.assertEqual(json.loads((self.folder / "run/record.json").read_text())["events"][0]["coordinates"], 6 + 9)

    def test_predicts_numbers_of_a_public_range(self):
        self.write("job.toml", JOB.replace("classes = 2\n", "").replace(
            'label = { column = "c", values = ["no", "yes"] }', 'target = { column = "c", low = -10.0, high = 30.0 }'))
        numbers = [round(10 + 5 * a - 7 * b, 4) for a, b in self.rows]
        self.write_points(range(len(numbers)), numbers)
        self.assertIn("R² 0.", self.local())
        # A logit of -1/2 stands for the range's lower end, 1/2 for the upper one.
        self.assert_near(read_model(self.folder / "run/model.npz"), [(number - 10) / 40 for number in numbers])
        summary = self.summary()
        self.assertGreater(summary["r_squared"], 0.99)
        self.assertLess(summary["rmse"], 0.5)
        self.assertEqual({"accuracy", "classes"} & set(summary), set())
        evaluation = json.loads(self.succeed("evaluate", "--model", "run/model.npz", "--data", "points/test.csv", "--json"))
        self.assertEqual((summary["r_squared"], summary["rmse"]), (evaluation["r_squared"], evaluation["rmse"]))
        predicted = self.succeed("predict", "--model", "run/model.npz", "--data", "points/test.csv").splitlines()
        self.assertEqual(predicted[0], "row,target")
        for line, number in zip(predicted[1:], numbers, strict=True):
            self.assertAlmostEqual(float(line.split(",")[1]), number, delta=1)  # 40 times what weights may be off, and a ridge
        self.succeed("report", "run")
        self.assertIn("R²", (self.folder / "run/report.html").read_text())
        self.assertIn("one target", self.succeed("export", "--model", "run/model.npz", "--format", "onnx", "--out", "m.onnx"))
        self.succeed("export", "--model", "run/model.npz", "--format", "csv", "--out", "c.csv")
        table = list(csv.DictReader(io.StringIO((self.folder / "c.csv").read_text())))
        self.assertEqual([(row["output"], row["column"], row["value"]) for row in table],
                         [("c", "(intercept)", ""), ("c", "a", ""), ("c", "b", "")])
        intercept, *factors = [float(row["coefficient"]) for row in table]
        for row, wanted in zip(table, (10, 5, -7)):
            # The ridge takes 10^-4 of it.
            self.assertTrue(1e-4 < float(row["standard_error"]) < 1e-2, row)
            self.assertAlmostEqual(float(row["coefficient"]), wanted, delta=7 * float(row["standard_error"]) + 5e-3)
        for line, (a, b) in zip(predicted[1:], self.rows):
            self.assertAlmostEqual(float(line.split(",")[1]), intercept + factors[0] * a + factors[1] * b, places=4)
        self.assertIn("standard error", (self.folder / "run/report.html").read_text())
        self.write("points/train.csv", "a,b,c\n0.5,0.5,31\n")
        self.fail_with(4, "expected a number of -10 to 30", "local", "--job", "job.toml", "--data", "points", "--out", "none")

    def test_an_intercept_has_the_error_at_0_whatever_the_range_of_numbers(self):
        """Noise moves standard errors by about as much of them as it is beside the equations, a thousandth."""
        self.rows = [(round(50 + 8 * a, 2), b) for a, b in self.rows]
        self.write_points(self.labels, ("no", "yes"))
        errors = []
        for limits in ("", ", low = 40.0, high = 60.0"):
            self.write("job.toml", JOB.replace('{ name = "a" }', f'{{ name = "a", mean = 50.0, scale = 10.0{limits} }}'))
            self.local(out=f"run{len(errors)}")
            self.succeed("export", "--model", f"run{len(errors)}/model.npz", "--format", "csv", "--out", f"c{len(errors)}.csv")
            table = csv.DictReader(io.StringIO((self.folder / f"c{len(errors)}.csv").read_text()))
            errors.append([float(row["standard_error"]) for row in table])
        for free, limited in zip(*errors, strict=True):
            self.assertAlmostEqual(limited / free, 1, delta=0.05)

    def test_releases_to_those_named_alone(self):
        self.local("--set", "release.to=[2]")
        self.assertEqual([(self.folder / f"run/party-{i}/out/model.npz").exists() for i in range(3)], [False, False, True])

    def test_is_of_use_with_noise_and_keeps_within_its_cap(self):
        self.write("job.toml", JOB.replace("sigma = 0.01\n", "epsilon = 1.0\n"))
        cap = ("--ledger", "ledger", "--epsilon-cap", "1.5")
        self.local(*cap, out="one")
        summary = self.summary("one")
        self.assertLessEqual(summary["epsilon_insider"], 1)
        self.assertGreater(summary["epsilon_insider"], 0.999)
        # 95 % of the points in the mean over keys; below 80 % for hardly any.
        self.assertGreater(summary["accuracy"], 0.8)
        self.fail_with(5, "expected at most the cap 1.5", "local", "--job", "job.toml", "--data", "points", "--out", "two", *cap)
        self.assertFalse((self.folder / "two/model.npz").exists())

    def test_a_party_alone_says_what_is_wrong(self):
        self.local(*prepared())
        check = ("check", "--config", "run/party-0/party.toml", "--job", "run/job.toml", "--wait", "100ms")
        self.assertIn("pass  data: 667 rows as the job declares them", self.run_program(*check).stdout)
        path = self.folder / "run/party-0/data/train.csv"
        path.write_text(path.read_text().replace("yes", "perhaps", 1))
        self.assertRegex(self.run_program(*check).stdout, r"(?m)^fail  data: .*train\.csv: .*perhaps")
        other = self.folder / "run/party-1/party.toml"
        other.write_text(other.read_text().replace('start = "120s"', 'start = "1s"'))
        self.fail_with(3, "", "run", "--config", "run/party-1/party.toml", "--job", "run/job.toml", "--out", "alone")
        self.assertFalse((self.folder / "alone/model.npz").exists())

    def test_rows_may_be_as_short_as_single_precision_allows(self):
        self.local("--set", "features.row_norm=1e-30")
        scores = json.loads(self.succeed("evaluate", "--model", "run/model.npz", "--data", "points/test.csv", "--json"))
        self.assertGreater(scores["accuracy"], 0.9)

    def test_refuses_what_is_wrong_in_one_line(self):
        vertical = ("--set", 'data.partition="vertical"', "--set", "data.label.party=2", "--set")
        for text, *settings in (
            ("one of privacy.epsilon and privacy.sigma", "--set", "privacy.epsilon=1"),
            ("release.to: found []", "--set", "release.to=[]"),
            ("fraction_bits: found 24, expected at most 23", "--set", "fraction_bits=24"),
            ("features.row_norm: found 5e-324, expected a number from 1e-30", "--set", "features.row_norm=5e-324"),
            ('found 0 columns of kind "key", expected one', *vertical, 'data.column=[{ name = "a", party = 0 }, { name = "b", party = 1 }]'),
            ('column "b" of party 0 comes after one of party 1', *vertical,
             'data.column=[{ name = "a", party = 1 }, { name = "b", party = 0 }, { name = "id", kind = "key" }]'),
            ("4097 features, expected at most 4096, whose products are solved in the clear", "--set", 'features.method="hash-text"',
             "--set", 'data.column=[{ name = "a", kind = "text" }, { name = "b" }]'),
        ):
            with self.subTest(text):
                self.fail_with(2, text, "local", "--job", "job.toml", "--data", "points", "--out", "none", *settings)
        for line, text in (("sigma = 0.01\nclip = 1.0", "job.toml:16: unknown key privacy.clip"),
                           ("sigma = 0.0", "job.toml:15: privacy.sigma: found 0.0, expected")):
            self.write("wrong.toml", JOB.replace("sigma = 0.01", line))
            self.fail_with(2, text.replace("job", "wrong"), "plan", "--job", "wrong.toml")


if __name__ == "__main__":
    unittest.main()
