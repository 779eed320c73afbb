"""scripts/experiments.d/plain_training.py against clear_training: the same accuracies of every way of training, at epsilons where noise
decides them.

Deviations of runs were measured on 200 to 400 by plain_training.py, of targets on 100. Means of four runs of each program differ by 5
deviations of that difference or less: a false alarm in two million comparisons, if accuracies are normal.
"""

import os
import re
import subprocess
import sys
import unittest

from trefoil_program import PROJECT, ProgramTest

try:
    import numpy
    import scipy
except ImportError:
    numpy = scipy = None

SCRIPTS = PROJECT / "scripts" / "experiments.d"
ROWS, FEATURES, CLASSES = {"train": 3000, "test": 2000}, 20, 3
JOB = """version = 1
type = "dpsgd"
name = "clouds"
[data]
name = "clouds"
format = "npz"
rows = [1000, 1000, 1000]
features = 20
classes = 3
[features]
row_norm = 4.0
[training]
steps = 30
expected_batch = 300
max_batch_per_owner = 250
learning_rate = 4.0
momentum = 0.5
clipping = "factorised"
[privacy]
epsilon = 0.5
delta = 1e-5
against = "outsider"
clip = 1.0
sampling = "owner-poisson"
[release]
to = [0, 1, 2]
[local]
split = "even"
"""
TARGET_JOB = re.sub(r"(?s)\[data\].*?\[features\]", """[data]
name = "clouds"
format = "csv"
header = false
rows = [1000, 1000, 1000]
[[data.column]]
name = "a"
mean = 0.1
scale = 0.5
[[data.column]]
name = "b"
mean = 0.0
scale = 0.5
[[data.column]]
name = "kind"
kind = "category"
values = ["x", "y"]
[data.target]
column = "target"
low = 0
high = 10
[model]
loss = "squared"
[features]""", JOB).replace("row_norm = 4.0", "row_norm = 2.0").replace("clip = 1.0", "clip = 0.3").replace("rate = 4.0", "rate = 0.5")
TARGET_DEVIATION = 0.0096  # at epsilon 0.3
LOCAL = ("--set", "initialisation.method=averaging", "--set", "initialisation.steps=20", "--set", "initialisation.expected_batch=100",
         "--set", "initialisation.learning_rate=4.0", "--set", "initialisation.epsilon=0.9", "--set", "privacy.epsilon=1.0")


@unittest.skipIf(scipy is None, "needs numpy and scipy")
class PlainTraining(ProgramTest):
    def setUp(self):
        super().setUp()
        generator = numpy.random.default_rng(3)
        centres = generator.standard_normal((CLASSES, FEATURES))
        for part, rows in ROWS.items():
            y = generator.integers(0, CLASSES, rows)
            x = (0.4 * centres[y] + generator.standard_normal((rows, FEATURES))).astype(numpy.float32)
            x *= 4 / numpy.linalg.norm(x, axis=1, keepdims=True)
            numpy.savez(self.folder / f"{part}.npz", x=x, y=y.astype(numpy.uint8))
        (self.folder / "job.toml").write_text(JOB)
        self.python("plain_rows.py", self.folder)

    def python(self, script, *arguments):
        made = subprocess.run([sys.executable, "-B", SCRIPTS / script, *map(str, arguments)], cwd=self.folder, capture_output=True, text=True,
                              check=False)
        self.assertEqual(made.returncode, 0, made.stderr)
        return made.stdout

    def check(self, deviation, name, *arguments):
        """That both programs' accuracies in the four lines that begin with `name` agree on average; `deviation`: of a run's."""
        arguments = ("--job", "job.toml", "--data", ".", "--runs", "4", "--every", "30", *arguments)
        means = []
        for output in (self.succeed(*arguments), self.python("plain_training.py", *arguments)):
            found = [float(line.split(",")[1]) for line in output.split() if re.match(f"{name},", line)]
            self.assertEqual(len(found), 4, output)
            means.append(sum(found) / 4)
        self.assertLess(abs(means[0] - means[1]), 5 * deviation * (2 / 4) ** 0.5, means)
        return means[1]

    def test_agrees_on_joint_training_and_its_noise(self):
        noisy = self.check(0.041, "30", "--set", "privacy.epsilon=0.05")
        self.assertGreater(self.check(0.006, "30"), noisy + 0.05)

    def test_agrees_on_baselines(self):
        self.check(0.034, "30", "--as", "single-party", "--set", "privacy.epsilon=0.2")
        self.check(0.027, "30", "--as", "federated", "--local-steps", "5", "--set", "local.split=sorted", "--set", "privacy.epsilon=0.2")
        self.check(0.023, "30", "--as", "local-dp", "--set", "privacy.epsilon=30", "--set", "training.learning_rate=1.0")

    def test_agrees_on_first_models(self):
        self.check(0.006, "average", "--as", "local", *LOCAL)
        self.check(0.031, "0", "--as", "local", *LOCAL, "--set", "local.split=sorted")
        self.check(0.008, "30", *LOCAL)

    def test_agrees_on_settings_side_by_side(self):
        output = self.python("plain_training.py", "--job", "job.toml", "--data", ".", "--runs", "4", "--every", "30", "--times-rate", "1",
                             "10", "--times-clip", "1", "20")
        found = [float(line.split(",")[1]) for line in output.split() if line.startswith("30,")]
        means = [sum(found[place : place + 4]) / 4 for place in range(0, 16, 4)]
        for place, (rate, clip, deviation) in enumerate(((1, 1, 0.006), (1, 20, 0.032), (10, 1, 0.012), (10, 20, 0.032))):
            alone = self.check(deviation, "30", "--times-rate", str(rate), "--times-clip", str(clip))
            self.assertLess(abs(means[place] - alone), 5 * deviation * (2 / 4) ** 0.5, means)

    def test_agrees_on_runs_together(self):
        alone = self.check(0.041, "30", "--set", "privacy.epsilon=0.05")
        output = self.python("plain_training.py", "--job", "job.toml", "--data", ".", "--set", "privacy.epsilon=0.05", "--runs", "40",
                             "--together", "--every", "30")
        found = [float(line.split(",")[1]) for line in output.split() if line.startswith("30,")]
        self.assertEqual(len(found), 40)
        # Each has noise of its own: 40 deviate by half of 0.041 at least and twice that at most.
        self.assertLess(0.02, numpy.std(found))
        self.assertLess(numpy.std(found), 0.08)
        self.assertLess(abs(numpy.mean(found) - alone), 5 * 0.041 * (1 / 4 + 1 / 40) ** 0.5)

    def test_agrees_on_targets(self):
        generator = numpy.random.default_rng(4)
        slopes = generator.standard_normal(2)
        for part, rows in ROWS.items():
            numbers = generator.uniform(-1, 1, (rows, 2))
            kinds = generator.integers(0, 2, rows)
            targets = numpy.clip(5 + numbers @ slopes + kinds + generator.standard_normal(rows), 0, 10)
            lines = (f"{a},{b},{'xy'[kind]},{target}\n" for (a, b), kind, target in zip(numbers, kinds, targets))
            (self.folder / f"{part}.csv").write_text("".join(lines))
        (self.folder / "job.toml").write_text(TARGET_JOB)
        sys.path.insert(0, str(SCRIPTS))
        import table_rows
        table_rows.write_rows(self.folder / "job.toml", self.folder)
        self.check(TARGET_DEVIATION, "30", "--set", "privacy.epsilon=0.3")
        self.check(0.0001, "0")  # the middle of the range

    def test_agrees_on_least_squares(self):
        noisy = self.check(0.051, "[1-4]", "--as", "least-squares", "--set", "privacy.epsilon=0.05")
        self.assertGreater(self.check(0.007, "[1-4]", "--as", "least-squares"), noisy + 0.05)


if __name__ == "__main__":
    unittest.main()
