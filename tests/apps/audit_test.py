"""trefoil audit: a run of three processes with canaries, what it says of epsilon, and what it refuses."""

import csv
import decimal
import json
import math
import re
import unittest

from trefoil_program import ProgramTest, TINY_JOB

# Three steps that take every second record, few features, small weights.
AUDIT_JOB = (TINY_JOB.replace("rows = [300, 300, 300]", "rows = [40, 40, 40]").replace("steps = 6", "steps = 3")
             .replace("expected_batch = 90", "expected_batch = 60").replace("max_batch_per_owner = 100", "max_batch_per_owner = 40")
             .replace("learning_rate = 20.0", "learning_rate = 0.5")
             .replace("[training]", '[features]\nmethod = "hog"\ncell = 14\nrow_norm = 5.0\n[training]'))


def p_value(canaries, guesses, right, epsilon, delta):
    """The theorem's bound in 50 decimal digits, from the definition."""
    decimal.getcontext().prec = 50
    odds = (-decimal.Decimal(epsilon)).exp()
    chance = [math.comb(guesses, k) * (1 / (1 + odds)) ** k * (odds / (1 + odds)) ** (guesses - k) for k in range(guesses + 1)]
    steepest = max((sum(chance[right - i:right]) / i for i in range(1, right + 1)), default=decimal.Decimal(0))
    return sum(chance[right:]) + 2 * canaries * decimal.Decimal(delta) * steepest


class Audit(ProgramTest):
    def setUp(self):
        super().setUp()
        self.job = self.write("job.toml", AUDIT_JOB)

    def canaries(self, folder):
        with open(self.folder / folder / "canaries.csv") as file:
            return list(csv.DictReader(file))

    def check_bound(self, result, canaries):
        """The bound that the file of canaries gives, computed anew."""
        ranked = sorted(canaries, key=lambda canary: -float(canary["score"]))
        best = 0.0
        for k in (len(ranked) // part for part in (4, 8, 16, 32)):
            right = sum(c["included"] == "1" for c in ranked[:k]) + sum(c["included"] == "0" for c in ranked[-k:])
            low, high = 0.0, 20.0
            for _ in range(20):
                middle = (low + high) / 2
                refuted = p_value(len(ranked), 2 * k, right, middle, result["delta"]) <= (1 - result["confidence"]) / 4
                low, high = (middle, high) if refuted else (low, middle)
            best = max(best, low)
        self.assertAlmostEqual(result["epsilon_lower"], best, delta=1e-4)

    def test_does_not_refute_what_holds(self):
        output = self.succeed("audit", "--job", self.job, "--canaries", "120", "--out", "out")
        result = json.loads((self.folder / "out/audit.json").read_text())
        summary = self.summary("out")
        canaries = self.canaries("out")
        self.assertEqual(len(canaries), 120)
        self.assertEqual(result["included"], sum(canary["included"] == "1" for canary in canaries))
        self.assertEqual(result["claim"], summary["epsilon_outsider"])
        self.assertEqual((result["delta"], result["confidence"], result["refuted"]), (1e-5, 0.997, False))
        # Above the claim with probability 0.3 % at most, by the theorem; in fact much more rarely.
        self.assertLessEqual(result["epsilon_lower"], result["claim"])
        self.check_bound(result, canaries)
        membership = result["membership"]
        self.assertEqual(membership["canaries"]["members"], result["included"])
        self.assertEqual((membership["records"]["members"], membership["records"]["others"]), (120, 2000))
        pairs = [(float(a["loss"]), float(b["loss"])) for a in canaries if a["included"] == "1"
                 for b in canaries if b["included"] == "0"]
        self.assertAlmostEqual(membership["canaries"]["auc"], sum((a < b) + (a == b) / 2 for a, b in pairs) / len(pairs), places=9)
        self.assertIn(f"epsilon at least  {math.floor(1000 * result['epsilon_lower']) / 1000:.3f}  with confidence 99.7 %", output)
        self.assertIn("the claim is not refuted (nor is it proved)", output)
        for sentence in result["statement"]:
            self.assertIn(sentence, output)
        # Intervals and limits are rounded outwards, and what the theorem supposes is not rounded at all.
        low, high = map(float, re.search(r"(?m)^canaries, .* \[([0-9.]+), ([0-9.]+)\]", output).groups())
        self.assertLessEqual(low, membership["canaries"]["auc_interval"][0])
        self.assertGreaterEqual(high, membership["canaries"]["auc_interval"][1])
        limits = map(float, re.search(r"(?m)^the claim allows +(\S+) +(\S+) +(\S+)$", output).groups())
        for said, key in zip(limits, ("auc", "true_positive_rate", "accuracy")):
            self.assertGreaterEqual(said, membership["claim_allows"][key])
        self.assertIn("(E, 1e-05)-differentially private", result["statement"][0])
        self.assertIn("with probability at most 1 - 0.997,", result["statement"][0])
        # The same sampling rate and the same noise as the job's own, and a released model of every party.
        record = json.loads((self.folder / "out/record.json").read_text())
        self.assertAlmostEqual(record["events"][0]["sampling_rate"], 0.5, places=12)
        self.assertEqual(record["events"][0]["sigma"], 2.0)
        models = {(self.folder / f"out/party-{i}/out/model.npz").read_bytes() for i in range(3)}
        self.assertEqual(len(models), 1)

    def test_refutes_a_claim_that_the_noise_does_not_keep(self):
        # Hardly any noise: 6 steps at rate 1/2 leave one canary in 64 without a part in any, all others far out.
        result = self.run_program("audit", "--job", self.job, "--canaries", "300", "--claim", "1.5", "--out", "out", "--json",
                                  "--set", "privacy.sigma=0.1", "--set", "training.steps=6")
        self.assertEqual(result.returncode, 5, result.stdout + result.stderr)
        found = json.loads(result.stdout)
        self.assertEqual(found, json.loads((self.folder / "out/audit.json").read_text()))
        self.assertTrue(found["refuted"])
        self.assertEqual((found["claim"], found["claim_is"]), (1.5, "given"))
        self.assertGreater(found["epsilon_lower"], 1.5)
        self.assert_one_error_line(result.stderr, f"the claim is refuted: epsilon is at least {math.floor(1000 * found['epsilon_lower']) / 1000:.3f}")
        self.assertGreater(found["membership"]["canaries"]["auc"], 0.8)
        self.check_bound(found, self.canaries("out"))

    def test_works_with_public_coins(self):
        self.succeed("audit", "--job", self.job, "--canaries", "8", "--set", "privacy.sampling=public", "--out", "out")
        result = json.loads((self.folder / "out/audit.json").read_text())
        self.assertEqual(result["guesses"] % 2, 0)
        self.assertLessEqual(result["epsilon_lower"], result["claim"])

    def test_says_what_cannot_be_audited(self):
        audit = ("audit", "--job", self.job)
        self.fail_with(2, "model.hidden: found hidden layers", *audit, "--set", "model.hidden=[4]")
        self.fail_with(2, "privacy.delta: found 0.01, expected below 0.0005", *audit, "--set", "privacy.delta=0.01")
        self.fail_with(2, "--canaries", *audit, "--canaries", "3")
        self.fail_with(2, "--confidence", *audit, "--confidence", "1")
        self.fail_with(2, "--claim", *audit, "--claim", "-1")
        self.fail_with(2, "none.toml: No such file or directory", "audit", "--job", "none.toml")
        self.fail_with(4, "not a folder", *audit, "--data", "nowhere")
        (self.folder / "full").mkdir()
        self.write("full/file", "")
        self.fail_with(2, "found a folder that is not empty", *audit, "--out", "full")
        self.assertRegex(self.succeed("audit", "--help"), "Exit codes: 0 done, [^\\n]*\nExit code 5 of an audit: ")


if __name__ == "__main__":
    unittest.main()
