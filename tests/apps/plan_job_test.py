"""trefoil plan predicts what jobs that are no trainings are then counted to cost: rounds and bytes of each party, to the byte."""

import json
import random
import unittest

from account_votes_test import npy
from average_test import JOB as AVERAGE_JOB
from histogram_test import JOB as HISTOGRAM_JOB, LOCAL_MODE
from kept_models import PREDICT_JOB
from least_squares_test import JOB as LEAST_SQUARES_JOB
from pate_test import GNMAX, JOB as PATE_JOB, LNMAX
from statistics_test import JOB as STATISTICS_JOB
from sum_test import JOB as SUM_JOB
from taught_parties import TaughtParties
from transfer_test import JOB as TRANSFER_JOB
from trefoil_program import ProgramTest, TINY_JOB
from tune_test import JOB as TUNE_JOB, points

PARTIES = (0, 1, 2)
ONE = ("--set", "release.to=[1]")
TWO = ("--set", "release.to=[0, 2]")
NOBODY = ("--set", "release.to=[]")
NEAR = ("--rtt-ms", 0.2, "--mbit", 10000)
WIDE_SQUARES = """version = 1
type = "least-squares"
name = "wide"
[data]
name = "wide"
format = "npy"
rows = [700, 700, 700]
features = 599
classes = 2
[privacy]
epsilon = 1.0
delta = 1e-6
"""
CONFIDENT = ("--set", "pate.mechanism=confident-gnmax", "--set", "pate.sigma=0.05", "--set", "pate.threshold_sigma=0.05")


class Planned(ProgramTest):
    def setUp(self):
        super().setUp()
        self.source = random.Random(8)

    def prepare(self, job, files):
        """The job, and its data as `local` takes it."""
        self.write("job.toml", job)
        (self.folder / "data").mkdir()
        for name, content in files.items():
            (self.folder / "data" / name).write_bytes(content)

    def planned(self, *settings):
        return json.loads(self.succeed("plan", "--job", "job.toml", "--json", *settings))

    def counted(self, out):
        """Rounds, of which each party counts those that it waits for, and bytes of each."""
        summaries = [self.summary(f"{out}/party-{i}/out") for i in PARTIES]
        return max(summary["rounds"] for summary in summaries), [summary["bytes_sent"] for summary in summaries]

    def run_costs(self, *settings):
        runs = self.planned(*settings)["run_costs"]
        self.assertEqual(len(runs), 1)
        return runs[0]

    def expect_as_planned(self, name, *settings):
        run = self.run_costs(*settings)
        self.assertEqual((run["form"], run["at_most"], run["seconds"]), (None, False, None))
        self.succeed("local", "--job", "job.toml", "--data", "data", "--out", name, *settings)
        self.assertEqual((run["rounds"], run["bytes_sent"]), self.counted(name), name)


class PlanJob(Planned):
    def test_histograms(self):
        rows = "".join(f"{k},{'red' if k % 2 else 'blue'}\n" for k in range(100))
        self.prepare(HISTOGRAM_JOB, {"train.csv": ("id,colour\n" + rows).encode()})
        self.expect_as_planned("central")
        self.expect_as_planned("one", *ONE)
        self.expect_as_planned("local", *LOCAL_MODE, *TWO)
        # Reports are of declared records and values, and are made before the parties connect.
        many = ("--set", "histogram.mode=local", "--set", "histogram.randomiser=symmetric-unary", "--set", "data.rows=[9000000, 40, 40]")
        self.assertLess(self.run_costs(*NEAR, *many)["seconds"], 0.1)
        before = self.planned(*NEAR, *many)["before_seconds"]
        self.assertGreater(before, 0.5)
        self.assertEqual(self.planned(*NEAR, *many, "--speed", 2)["before_seconds"], before / 2)
        self.assertNotIn("before_seconds", self.planned(*NEAR))
        self.assertIn("Before the session, and not counted in its time: the reports of all declared records, about ",
                      self.succeed("plan", "--job", "job.toml", *NEAR, *many))

    def test_votes(self):
        votes = [[(k if k < 20 else teacher + k) % 3 for k in range(40)] for teacher in range(7)]
        self.prepare(PATE_JOB, {"predictions.npy": npy(votes), "queries.csv": b"".join(b"%d\n" % k for k in range(40))})
        self.expect_as_planned("lnmax", *LNMAX)
        self.expect_as_planned("gnmax", *GNMAX, *TWO)
        self.expect_as_planned("one", *GNMAX, *ONE)

    def test_votes_cost_at_most_what_is_planned_where_few_are_answered(self):
        # Of 20 queries all 7 teachers say the same, of the others three at most.
        votes = [[(k if k < 20 else teacher + k) % 3 for k in range(40)] for teacher in range(7)]
        self.prepare(PATE_JOB, {"predictions.npy": npy(votes), "queries.csv": b"".join(b"%d\n" % k for k in range(40))})
        for answers, to in ((13, ONE), (40, ())):
            settings = (*CONFIDENT, "--set", "pate.threshold=5", "--set", f"pate.answers={answers}", *to)
            run = self.run_costs(*settings)
            self.assertTrue(run["at_most"])
            self.succeed("local", "--job", "job.toml", "--data", "data", "--out", f"run{answers}", *settings)
            rounds, sent = self.counted(f"run{answers}")
            self.assertEqual(rounds, run["rounds"])
            if answers == 13:  # all that the job allows
                self.assertEqual(sent, run["bytes_sent"])
            for found, most in zip(sent, run["bytes_sent"]):
                self.assertLessEqual(found, most)
        self.assertLess(sum(sent), sum(run["bytes_sent"]))  # 20 answers of 40
        self.succeed("local", "--job", "job.toml", "--data", "data", "--out", "none", *settings, "--set", "pate.threshold=100")
        rounds, fewer = self.counted("none")
        self.assertLess((rounds, sum(fewer)), (run["rounds"], sum(sent)))
        self.assertRegex(self.succeed("plan", "--job", "job.toml", *settings, "--rtt-ms", 40, "--mbit", 100),
                         r"The run: at most \d+ rounds; the parties send at most .* kB, .* kB and .* kB, fewer where fewer queries are "
                         r"answered than the job allows; about \d+.\d s on this link\nA party needs about .* kB of memory\n\Z")

    def test_votes_where_a_student_is_asked_first(self):
        scores = [[0.0, 1.0, 0.0]] * 40  # all wrong: every query is answered by the teachers
        self.prepare(PATE_JOB, {"predictions.npy": npy([[0] * 40] * 7), "queries.csv": b"1\n", "student.npy": npy(scores, "<f8", "d")})
        settings = ("--set", "pate.mechanism=interactive-gnmax", *CONFIDENT[2:], "--set", "pate.threshold=3", "--set", "pate.reinforce=0.9", *ONE)
        run = self.run_costs(*settings)
        self.succeed("local", "--job", "job.toml", "--data", "data", "--out", "run", *settings)
        self.assertEqual((run["rounds"], run["bytes_sent"]), self.counted("run"))

    def test_averages(self):
        rows = "".join(f"{self.source.random()},{self.source.random()},{'yes' if k % 3 else 'no'}\n" for k in range(120))
        self.prepare(AVERAGE_JOB + "[local]\nowner_rows = [30, 40, 50]\n", {"train.csv": ("a,b,c\n" + rows).encode()})
        added = ("--set", "privacy.neighbours=added")
        self.expect_as_planned("sound")
        self.expect_as_planned("added", *added, "--set", "privacy.epsilon=40", *ONE)
        self.expect_as_planned("one-scale", "--set", "average.scales=1", *TWO)
        self.expect_as_planned("published", "--set", "average.noise=as-published", *ONE)
        self.expect_as_planned("gaussian", "--set", "average.noise=gaussian", *added, "--set", "privacy.epsilon=40")
        self.expect_as_planned("kept", *NOBODY)
        self.assertNotIn("Not counted in any time", self.succeed("plan", "--job", "job.toml"))
        # The solver takes as long as it may, on the rows of the party that has most; a faster machine takes less.
        longer = self.run_costs(*NEAR, "--set", "data.rows=[4000000, 40, 50]", "--set", "local.owner_rows=[]")["seconds"]
        self.assertGreater(longer, 10 * self.run_costs(*NEAR)["seconds"])
        self.assertAlmostEqual(longer / 2, self.run_costs(*NEAR, "--speed", 2, "--set", "data.rows=[4000000, 40, 50]",
                                                          "--set", "local.owner_rows=[]")["seconds"], delta=0.1)
        self.predict_by("kept", "data/train.csv")

    def test_transfer(self):
        rows = [(self.source.uniform(-0.7, 0.7), self.source.uniform(-0.7, 0.7)) for _ in range(60)]
        labels = [[int(a > b + owner / 20) for a, b in rows] for owner in range(9)]
        self.prepare(TRANSFER_JOB, {"queries.npy": npy(rows, "<f8", "d"), "predictions.npy": npy(labels)})
        self.expect_as_planned("votes")
        self.expect_as_planned("majority", "--set", "ensemble.labels=majority", *ONE)
        self.expect_as_planned("kept", *NOBODY)
        # Each of 60 steps is waited for: rounds of 20 ms one way, and what the dealer of a step sends.
        run = self.run_costs("--rtt-ms", 40, "--mbit", 100)
        self.assertGreater(run["seconds"], run["rounds"] * 0.02)
        self.assertLess(self.run_costs("--rtt-ms", 0.2, "--mbit", 10000)["seconds"], run["seconds"] / 5)

    def test_sums(self):
        vectors = npy([[self.source.uniform(-1, 1) for _ in range(3)] for _ in range(90)], "<f8", "d")
        self.prepare(SUM_JOB, {f"vectors-{call}.npy": vectors for call in (1, 2, 3)})
        self.expect_as_planned("sums")
        self.expect_as_planned("one", *ONE, "--set", "sum.calls=3")
        self.expect_as_planned("sampled", *TWO, "--set", "sum.sampling_rate=0.5")

    def test_statistics(self):
        rows = "".join(f"{self.source.randint(20, 80)},{self.source.randint(1, 79)},red\n" for _ in range(200))
        self.prepare(STATISTICS_JOB, {"train.csv": ("age,hours,colour\n" + rows).encode()})
        self.expect_as_planned("statistics")
        self.expect_as_planned("one", *ONE)
        # Two microseconds a line of the files, and the noise.
        more = self.run_costs(*NEAR, "--set", "statistics.bins=4096")["seconds"] - self.run_costs(*NEAR)["seconds"]
        self.assertAlmostEqual(more, 2 * (4096 - 20) * 2.4e-6, delta=0.002)

    def test_least_squares(self):
        rows = "".join(f"{self.source.random():.3f},{self.source.random():.3f},{'yes' if k % 3 else 'no'}\n" for k in range(200))
        self.prepare(LEAST_SQUARES_JOB, {"train.csv": ("a,b,c\n" + rows).encode()})
        self.expect_as_planned("solved")
        self.expect_as_planned("two", *TWO)
        # Equations of many features take long to be solved.
        self.write("wide.toml", WIDE_SQUARES)
        wide = json.loads(self.succeed("plan", "--job", "wide.toml", "--json", *NEAR))["run_costs"][0]["seconds"]
        self.assertAlmostEqual(wide, 0.82, delta=0.05)
        self.assertIn("Not counted in any time: the products of each party's records\n", self.succeed("plan", "--job", "wide.toml"))

    def test_tunings_cost_a_little_less_than_their_trials(self):
        self.prepare(TUNE_JOB, {"train.csv": points(180).encode(), "test.csv": points(60).encode()})
        for form in ("latency", "bulk"):
            settings = ("--set", f"training.comparison={form}")
            run = self.run_costs(*settings)
            self.succeed("local", "--job", "job.toml", "--data", "data", "--out", form, *settings)
            rounds, sent = self.counted(form)
            self.assertTrue(run["at_most"])
            for found, most in zip((rounds, *sent), (run["rounds"], *run["bytes_sent"])):
                self.assertLess(0.8 * most, found)  # four steps a trial, and each is planned to begin as if it were the first
                self.assertLessEqual(found, most)
            # The keys of the three trials after the first, and the choice behind the last step; all else to the byte.
            choice = (50, 43876)
            self.assertEqual((run["rounds"] - rounds, sum(run["bytes_sent"]) - sum(sent)), (3 + choice[0], 3 * 3 * 64 + choice[1]))

    def predict_by(self, made, data):
        """Of a model that `made` keeps in shares."""
        run = json.loads((self.folder / made / "record.json").read_text())["run_id"]
        for rows, scores, client in ((1100, "false", 1), (320, "true", 2)):
            name = f"{made}-{rows}"
            self.write("predict.toml", PREDICT_JOB.format(run=run, client=client, rows=rows, scores=scores))
            plan = json.loads(self.succeed("plan", "--job", "predict.toml", "--model-job", f"{made}/job.toml", "--json"))
            self.succeed("local", "--job", "predict.toml", "--model", made, "--data", data, "--out", name)
            self.assertIn(self.counted(name), [(run["rounds"], run["bytes_sent"]) for run in plan["run_costs"]], name)
            self.assertGreater(plan["memory_bytes"], 0)
        return plan

    def test_predictions_by_models_of_trainings(self):
        self.write("training.toml", TINY_JOB.replace("steps = 6", "steps = 1"))
        self.succeed("local", "--job", "training.toml", "--out", "linear", *NOBODY)
        images = next((self.folder / "linear/party-1/data").glob("*images*"))
        plan = self.predict_by("linear", images)
        self.assertEqual([run["form"] for run in plan["run_costs"]], [None])
        self.succeed("local", "--job", "training.toml", "--out", "network", *NOBODY, "--set", "model.hidden=[8]")
        plan = self.predict_by("network", images)
        self.assertEqual([run["form"] for run in plan["run_costs"]], ["latency", "bulk"])

        def forms(made, *link):
            plan = json.loads(self.succeed("plan", "--job", "predict.toml", "--model-job", made, "--json", *link))
            return [run["form"] for run in plan["run_costs"]]

        near, far = ("--rtt-ms", 0.01, "--mbit", 100000), ("--rtt-ms", 200, "--mbit", 1000)
        self.assertEqual((forms("network/job.toml", *near), forms("network/job.toml", *far)), (["bulk"], ["latency"]))
        job = (self.folder / "network/job.toml").read_text()
        self.assertIn('comparison = "auto"', job)
        fixed = self.write("fixed.toml", job.replace('comparison = "auto"', 'comparison = "bulk"'))
        self.assertEqual((forms(fixed), forms(fixed, *far)), (["bulk"], ["bulk"]))

    def test_predictions_whose_model_is_not_known(self):
        self.write("predict.toml", PREDICT_JOB.format(run="a" * 32, client=0, rows=10, scores="false"))
        text = self.succeed("plan", "--job", "predict.toml", "--set", "predict.rows=20")
        self.assertIn("up to 20 rows of party 0, classes, by the model of run aaaa", text)
        self.assertIn("What it costs depends on the model: --model-job names the job that made it\n", text)
        plan = json.loads(self.succeed("plan", "--job", "predict.toml", "--json"))
        self.assertEqual((plan["run_costs"], plan["memory_bytes"]), ([], None))

        def refused(text, job, made):
            self.fail_with(2, text, "plan", "--job", job, "--model-job", made)

        training = self.write("training.toml", TINY_JOB)
        refused("release.to: found parties that get the model, expected the job of a training, an average", "predict.toml", training)
        refused("type: found \"predict\", expected the job of a training, an average or a transfer", "predict.toml", "predict.toml")
        refused("type: found \"histogram\", expected", "predict.toml", self.write("histogram.toml", HISTOGRAM_JOB))
        refused("release.to: found parties that get the model, expected", "predict.toml", self.write("average.toml", AVERAGE_JOB))
        refused("--model-job: found with a job that is no prediction", training, training)
        refused("none.toml: No such file or directory, expected a TOML file", "predict.toml", "none.toml")


class PlanTaughtVotes(TaughtParties, Planned):
    def test_teachers_and_a_student_that_are_trained(self):
        self.expect_as_planned("taught")
        said = self.succeed("plan", "--job", "job.toml")
        self.assertIn("Before the session, and not counted in its time: the teachers' training\n", said)
        self.assertNotIn("Not counted in any time", said)
        self.assertRegex(self.succeed("plan", "--job", "job.toml", *NEAR, "--set", "data.rows=[40000000, 0, 40]"),
                         r"Before the session, and not counted in its time: the teachers' training, about 0.1 s\n")
        self.assertIsNone(self.planned()["before_seconds"])
        before = self.planned(*NEAR, "--set", "data.rows=[40000000, 0, 40]")["before_seconds"]
        self.assertAlmostEqual(before, 0.1, delta=0.05)
        self.assertEqual(self.planned(*NEAR, "--speed", 2, "--set", "data.rows=[40000000, 0, 40]")["before_seconds"], before / 2)
        # The student's is in the session, which answers begin.
        few, many = (self.run_costs(*NEAR, "--set", f"student.records={records}")["seconds"] for records in (60, 60000000))
        self.assertGreater(many, few + 0.05)

        def memory(rows):
            return self.planned("--set", f"data.rows=[60, 0, {rows}]")["memory_bytes"]

        # The public records' two features; and labels with shares of the votes, or a party's records while it trains.
        self.assertEqual(memory(80), 50 * 8 + 24 * 30 * 4 + 30 * 4 * 16)
        self.assertEqual(memory(40000), 50 * 8 + 40000 * 8)


if __name__ == "__main__":
    unittest.main()
