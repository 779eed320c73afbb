"""trefoil account --curve: the whole promise, from numbers and from a record, and its plot in the report."""

import json
import math
import statistics
import unittest

from trefoil_program import ProgramTest, TINY_JOB


class Curve(ProgramTest):
    def curves(self, *arguments):
        self.succeed("account", *arguments, "--delta", 1e-5, "--curve", "curve.json", "--json")
        return json.loads((self.folder / "curve.json").read_text())

    def test_of_plain_gaussians_is_that_of_mu(self):
        curves = self.curves("--sampling-rate", 1, "--noise-multiplier", 4, "--steps", 9)
        self.assertEqual((curves["unit"], curves["neighbours"]), (None, None))
        for adversary, mu in (("insider", 0.75), ("outsider", 0.75 / math.sqrt(1.5))):
            self.assertAlmostEqual(curves[adversary]["mu"], mu, places=9)
            self.assertGreaterEqual(curves[adversary]["mu"], mu * (1 - 1e-15))
            normal = statistics.NormalDist()
            for point in curves[adversary]["tradeoff"]:
                alpha = point["alpha"]
                exact = 1 - alpha if alpha in (0, 1) else normal.cdf(normal.inv_cdf(1 - alpha) - mu)
                self.assertLessEqual(point["beta"], exact + 1e-12)
                self.assertGreaterEqual(point["beta"], exact - 0.002)
            for point in curves[adversary]["curve"]:
                epsilon = point["epsilon"]
                exact = normal.cdf(mu / 2 - epsilon / mu) - math.exp(epsilon) * normal.cdf(-mu / 2 - epsilon / mu)
                self.assertGreaterEqual(point["delta"], exact - 1e-13)

    def test_of_a_run_goes_through_its_epsilons_and_is_plotted(self):
        self.write("job.toml", TINY_JOB)
        self.succeed("local", "--job", "job.toml", "--out", "run")
        curves = self.curves("--record", "run/record.json")
        self.assertEqual((curves["unit"], curves["neighbours"]), ("record", "added"))
        account = json.loads(self.succeed("account", "--record", "run/record.json", "--delta", 1e-5, "--accountant", "pld", "--json"))
        for adversary in ("insider", "outsider"):
            self.assertIsNone(curves[adversary]["mu"])
            points = [(point["epsilon"], point["delta"]) for point in curves[adversary]["curve"]]
            self.assertEqual(points, sorted(points))
            self.assertEqual(sorted((delta for _, delta in points), reverse=True), [delta for _, delta in points])
            above = min(epsilon for epsilon, delta in points if delta <= 1e-5)
            below = max(epsilon for epsilon, delta in points if delta >= 1e-5)
            epsilon = account[f"epsilon_{adversary}"]
            self.assertLessEqual(below, epsilon * 1.001)
            self.assertGreaterEqual(above, epsilon * 0.999)
            betas = [point["beta"] for point in curves[adversary]["tradeoff"]]
            self.assertEqual(betas, sorted(betas, reverse=True))
        self.succeed("report", "run")
        page = (self.folder / "run/report.html").read_text()
        for text in ("Trade-off: tests for a record", "delta at every epsilon, for a record", "<h2>Several rows</h2>"):
            self.assertIn(text, page)

    def test_is_not_of_votes(self):
        self.fail_with(2, "found --votes with options of a training", "account", "--votes", "v.npy", "--curve", "c.json")


if __name__ == "__main__":
    unittest.main()
