"""Records that bring weights of their own, by a column of the table, from the job to the model."""

import json
import random
import unittest

from evaluate_test import JOB
from trefoil_program import ProgramTest

WEIGHTS = '[[data.column]]\nname = "weight"\nkind = "weight"\nlargest = 2\n'
NO_NOISE = ("--set", "privacy.sigma=0.01")


class Weights(ProgramTest):
    def setUp(self):
        super().setUp()
        self.job = self.write("job.toml", JOB.replace("[data.label]", WEIGHTS + "[data.label]"))
        coins = random.Random(5)
        # Every second row says the opposite of the others, and weighs nothing.
        self.rows = []
        for k in range(600):
            a, b = coins.uniform(-0.6, 0.6), coins.uniform(-0.6, 0.6)
            ill = (a > 0) == (k % 2 == 0)
            self.rows.append(f"{a:.3f},{b:.3f},{2 if k % 2 == 0 else 0},{'ill' if ill else 'well'}\n")
        self.put("data", self.rows, [row for row in self.rows if ",2," in row])

    def put(self, folder, train, test=(), header="a,b,weight,state\n"):
        (self.folder / folder).mkdir()
        self.write(f"{folder}/train.csv", header + "".join(train))
        self.write(f"{folder}/test.csv", header + "".join(test))

    def accuracy(self, *options):
        return json.loads(self.succeed("evaluate", "--model", "out/model.npz", "--json", *options))["accuracy"]

    def test_rows_without_weight_say_nothing(self):
        self.succeed("local", "--job", self.job, "--data", "data", "--out", "out", *NO_NOISE)
        self.assertGreater(self.accuracy("--data", "out/test"), 0.9)
        # Where labels are read weights must be there, and where they are not nobody looks.
        self.write("asked.csv", "a,b\n0.5,0\n-0.5,0\n")
        self.assertEqual(self.succeed("predict", "--model", "out/model.npz", "--data", "asked.csv").splitlines()[-2:],
                         ["1,ill", "2,well"])
        self.fail_with(4, 'asked.csv: row 1: found no column "weight"', "evaluate", "--model", "out/model.npz", "--data", "asked.csv")
        # Without their weights the rows cancel.
        plain = self.write("plain.toml", JOB)
        without = [row.replace(",2,", ",").replace(",0,", ",") for row in self.rows]
        self.put("plain", without, without[::2], "a,b,state\n")
        self.succeed("local", "--job", plain, "--data", "plain", "--out", "plain-out", *NO_NOISE)
        said = self.succeed("evaluate", "--model", "plain-out/model.npz", "--data", "plain-out/test", "--json")
        self.assertLess(json.loads(said)["accuracy"], 0.8)

    def test_the_clip_bounds_what_a_weighted_record_adds(self):
        plan = json.loads(self.succeed("plan", "--job", self.job, "--json"))
        unclipped = json.loads(self.succeed("plan", "--job", self.job, "--json", "--set", "training.clipping=examples"))
        plain = self.write("plain.toml", JOB)
        without = json.loads(self.succeed("plan", "--job", plain, "--json"))
        least = json.loads(self.succeed("plan", "--job", plain, "--json", "--set", "training.clipping=examples"))
        self.assertAlmostEqual(plan["sensitivity"], without["sensitivity"], places=4)
        self.assertAlmostEqual(unclipped["sensitivity"], 2 * least["sensitivity"], places=3)
        self.assertEqual(plan["epsilon_insider"], without["epsilon_insider"])

    def test_refusals(self):
        self.put("bad", ["0.1,0.2,2.01,ill\n"] * 600)
        self.fail_with(4, 'column "weight": found "2.01", expected a weight from 0 to 2', "local", "--job", self.job, "--data", "bad",
                       "--out", "bad-out")
        self.fail_with(2, 'column "weight": found kind "weight", expected another, as only jobs of type "dpsgd" have weights', "plan",
                       "--job", self.write("squares.toml", """
version = 1
type = "least-squares"
name = "squares"
[data]
name = "patients"
format = "csv"
rows = [200, 200, 200]
classes = 2
[[data.column]]
name = "a"
""" + WEIGHTS + """
[data.label]
column = "state"
values = ["well", "ill"]
[privacy]
sigma = 2.0
delta = 1e-5
"""))
        self.fail_with(2, "expected none for an audit", "audit", "--job", self.job, "--data", "data", "--out", "a")


if __name__ == "__main__":
    unittest.main()
