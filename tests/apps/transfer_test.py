"""Ensemble transfer as three party processes over TLS: against plain minimisers, and every documented outcome."""

import json
import math
import random
import signal
import time
import unittest

from account_votes_test import npy
from kept_models import KeptModelTest
from plain_models import minimise, read_model
from trefoil_program import PATIENCE, prepared

JOB = """
version = 1
type = "ensemble-transfer"
name = "transfer"
[ensemble]
owners = [4, 0, 5]
queries = 60
features = 2
lambda = 0.1
steps = 60
[privacy]
sigma = 0.01
delta = 1e-5
"""


class Transfer(KeptModelTest):
    def setUp(self):
        super().setUp()
        self.write("job.toml", JOB)
        (self.folder / "public").mkdir()
        source = random.Random(5)
        self.rows = [(source.uniform(-0.7, 0.7), source.uniform(-0.7, 0.7)) for _ in range(60)]
        # Nine classifiers with thresholds of their own.
        self.labels = [[int(a + 0.5 * b > (owner - 4) / 12) for a, b in self.rows] for owner in range(9)]
        self.write_public()

    def write_public(self):
        (self.folder / "public/queries.npy").write_bytes(npy(self.rows, "<f8", "d"))
        (self.folder / "public/predictions.npy").write_bytes(npy(self.labels))

    def local(self, *settings, out="run"):
        return self.succeed("local", "--job", "job.toml", "--data", "public", "--out", out, *settings)

    def model(self, path="run/model.npz"):
        return read_model(self.folder / path)

    def fractions(self):
        return [sum(owner[k] for owner in self.labels) / len(self.labels) for k in range(60)]

    def assert_near(self, expected, out="run"):
        # Ten deviations of three parties' noise; the sigmoid's series is within 0.0034, which moves a minimiser by at most
        # that times L over lambda; and the gap.
        summary = self.summary(out)
        noise = 10 * 0.01 * summary["sensitivity"] * math.sqrt(1.5)
        for found, value in zip(self.model(f"{out}/model.npz"), expected):
            self.assertAlmostEqual(found, value, delta=noise + 0.0034 * math.sqrt(2) / 0.1 + summary["gap"])

    def test_votes_and_the_majority_give_the_plain_minimisers(self):
        self.local()
        self.assert_near(minimise(self.rows, self.fractions(), 0.1))
        self.local("--set", "ensemble.labels=majority", out="majority")
        self.assert_near(minimise(self.rows, [float(f > 0.5) for f in self.fractions()], 0.1), "majority")
        votes, majority = self.summary(), self.summary("majority")
        # One owner of nine against all of them: a ninth of the sensitivity, but for the gaps.
        self.assertAlmostEqual(votes["sensitivity"] - 2 * votes["gap"],
                               (majority["sensitivity"] - 2 * majority["gap"]) / 9, delta=1e-4)
        self.assertEqual((votes["type"], votes["owners"], votes["queries"]), ("ensemble-transfer", 9, 60))
        event = json.loads((self.folder / "run/record.json").read_text())["events"][0]
        self.assertEqual((event["kind"], event["count"], event["coordinates"]), ("gaussian_releases", 1, 3))
        for party in range(3):
            self.assertEqual((self.folder / f"run/party-{party}/out/model.npz").read_bytes(),
                             (self.folder / "run/model.npz").read_bytes())
        self.assertFalse((self.folder / "run/party-1/data/predictions.npy").exists())
        self.succeed("local", "--job", "run/job.toml", "--data", "public", "--out", "again")

    def test_a_target_is_met_and_a_model_can_be_applied(self):
        target = ("--set", "privacy={epsilon = 2.0, delta = 1e-5}")
        self.local(*target)
        summary = self.summary()
        self.assertLessEqual(summary["epsilon_insider"], 2)
        self.assertGreater(summary["epsilon_insider"], 1.99)
        self.assertLess(summary["epsilon_outsider"], summary["epsilon_insider"])
        self.assert_promises("run", "owner", "replaced", "of which one owner's records, all of them, are others.")
        self.succeed("report", "run")
        for text in ((self.folder / "run/report.html").read_text(), self.succeed("plan", "--job", "job.toml", *target)):
            self.assertIn("An owner: all its records at once", text)
        self.succeed("predict", "--model", "run/model.npz", "--data", "public/queries.npy", "--out", "p.csv")
        self.assertEqual((self.folder / "p.csv").read_text().count("\n"), 61)

    def test_a_signal_is_told(self):
        self.write("job.toml", JOB.replace("steps = 60", "steps = 10000"))
        self.succeed("local", "--job", "job.toml", "--data", "public", "--out", "d", *prepared())
        processes = [self.start_program("run", "--config", f"d/party-{i}/party.toml", "--job", "job.toml", "--out", f"r{i}") for i in range(3)]
        log = self.folder / "r1/party.log"
        deadline = time.monotonic() + PATIENCE
        while not log.exists() or "connected: " not in log.read_text():
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.01)
        begin = time.monotonic()
        processes[1].send_signal(signal.SIGTERM)
        outputs = [process.communicate(timeout=PATIENCE) for process in processes]
        self.assertLess(time.monotonic() - begin, 10)
        self.assertEqual([process.returncode for process in processes], [3, 143, 3], outputs)
        self.assert_one_error_line(outputs[1][1], "stopped by signal 15")
        for i in (0, 2):
            self.assert_one_error_line(outputs[i][1], "lost party 1 while computing: aborted: it was told to stop")
        self.assertIn("stopped", (self.folder / "r1/audit.jsonl").read_text())

    def test_the_published_noise_is_an_option(self):
        published = ("--set", "ensemble.noise=published", "--set", "privacy={epsilon = 20.0, delta = 1e-3}", "--set",
                     "fraction_bits=24")
        output = self.local(*published)
        self.assertIn("published noise of scale", output)
        self.local(*published, out="twice")
        summary = self.summary()
        scale = summary["noise_scale"]
        self.assertAlmostEqual(scale, summary["sensitivity"] / 20, delta=1e-5)
        # Two parts' norm is a gamma variable of shape 7: beyond 50 scales with probability below e^-30; two runs are
        # within 0.003 scales of each other in all three weights with probability below 1e-7.
        for found, value in zip(self.model(), minimise(self.rows, self.fractions(), 0.1)):
            self.assertAlmostEqual(found, value, delta=70 * scale + 0.0034 * math.sqrt(2) / 0.1 + summary["gap"])
        self.assertGreater(max(abs(a - b) for a, b in zip(self.model(), self.model("twice/model.npz"))), 0.003 * scale)
        event = json.loads((self.folder / "run/record.json").read_text())["events"][0]
        self.assertEqual((event["kind"], event["count"]), ("approximate_releases", 1))
        self.assertEqual(event["failure"], summary["failure"])
        self.assertLess(event["failure"], 1e-11)
        self.assertEqual(summary["epsilon_insider"], summary["epsilon_outsider"])
        self.assertLessEqual(summary["epsilon_insider"], 20)
        self.local("--set", "ensemble.noise=published", "--set", "privacy={epsilon = 2.0, delta = 1e-5}", out="two")
        summary = self.summary("two")
        self.assertLessEqual(summary["epsilon_insider"], 2)
        self.assertGreater(summary["epsilon_insider"], 1.9999)
        self.succeed("local", "--job", "two/job.toml", "--data", "public", "--out", "again")

    def test_a_model_that_nobody_gets_classifies_rows(self):
        self.assert_kept("kept", self.local("--set", "release.to=[]", out="kept"))
        labels, scores = self.scores_of("kept", "public/queries.npy", 60)
        summary = self.summary("kept")
        model = minimise(self.rows, self.fractions(), 0.1)
        near = 10 * 0.01 * summary["sensitivity"] * math.sqrt(1.5) + 0.0034 * math.sqrt(2) / 0.1 + summary["gap"]
        for (a, b), label, score in zip(self.rows, labels, scores):
            self.assertAlmostEqual(score, model[0] * a + model[1] * b + model[2], delta=2.4 * near)
            self.assertEqual(label, str(int(score > 0)))

    def test_one_owner_and_a_party_that_gets_nothing(self):
        self.labels = self.labels[4:5]
        self.write_public()
        self.local("--set", "ensemble.owners=[0, 1, 0]", "--set", "release.to=[2]")
        self.assert_near(minimise(self.rows, self.fractions(), 0.1))
        self.assertEqual([(self.folder / f"run/party-{i}/out/model.npz").exists() for i in range(3)], [False, False, True])

    def test_a_party_with_other_queries_ends_all_three_before_anything_is_shared(self):
        self.local(*prepared())
        self.rows[0] = (0.1, 0.1)
        (self.folder / "run/party-2/data/queries.npy").write_bytes(npy(self.rows, "<f8", "d"))
        processes = [self.start_program("run", "--config", f"run/party-{i}/party.toml", "--job", "run/job.toml", "--out",
                                        f"o{i}") for i in range(3)]
        for i, process in enumerate(processes):
            _, error = process.communicate(timeout=PATIENCE)
            self.assertEqual(process.returncode, 2, error)
            self.assert_one_error_line(error, "pate.queries")
            self.assertFalse((self.folder / f"o{i}/record.json").exists())

    def test_refuses_what_is_wrong_in_one_line(self):
        for code, text, *settings in (
            (2, "missing ensemble.owners", "--set", "ensemble={}"),
            (2, "not all 0", "--set", "ensemble.owners=[0, 0, 0]"),
            (2, "one of privacy.epsilon and privacy.sigma", "--set", "privacy.epsilon=1.0"),
            (2, "ensemble.lambda: found 0.01, expected a larger one", "--set", "ensemble.lambda=0.01"),
            (2, "ensemble.row_norm: found 3e-06, expected more than 2^-18", "--set", "ensemble.row_norm=3e-6"),
            (2, "release.to: found [], expected a party, or fewer fraction_bits than 18 or a smaller ensemble.row_norm than 1023: no "
             "prediction", "--set", "ensemble.row_norm=1023.0", "--set", "ensemble.lambda=1e5", "--set", "release.to=[]"),
            (2, "ensemble.labels: found \"soft\"", "--set", "ensemble.labels=soft"),
            (2, "privacy.sigma: only ensemble.noise \"gaussian\" has it", "--set", "ensemble.noise=published"),
            (2, "ensemble.noise: found \"laplace\"", "--set", "ensemble.noise=laplace"),
            (2, "at least 2^16, by more fraction_bits", "--set", "ensemble.noise=published", "--set", "fraction_bits=10",
             "--set", "privacy={epsilon = 16.0, delta = 1e-5}"),
            (2, "privacy.delta: found 1e-15, expected at least", "--set", "ensemble.noise=published", "--set",
             "privacy={epsilon = 2.0, delta = 1e-15}"),
            # The rounding takes 2.04e-10, more than half of it.
            (2, "privacy.delta: found 3e-10, expected at least 4.0", "--set", "ensemble.noise=published", "--set",
             "privacy={epsilon = 2.0, delta = 3e-10}"),
            (2, "did you mean ensemble.steps", "--set", "ensemble.step=1"),
            (4, "expected 60 queries x 3 features", "--set", "ensemble.features=3"),
            (4, "expected 9 and 59", "--set", "ensemble.queries=59"),
            (4, "expected 8 and 60", "--set", "ensemble.owners=[4, 0, 4]"),
        ):
            with self.subTest(text):
                result = self.run_program("local", "--job", "job.toml", "--data", "public", "--out", "none" + str(len(text)),
                                          *settings)
                self.assertEqual(result.returncode, code, result.stderr)
                said = result.stderr + "".join(path.read_text() for path in self.folder.glob(f"none{len(text)}/*/console.log"))
                self.assertIn(text, said)


if __name__ == "__main__":
    unittest.main()
