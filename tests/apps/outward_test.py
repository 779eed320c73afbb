"""What is printed of a bound is never on its wrong side: text against JSON, and JSON against exact arithmetic."""

import decimal
import html
import json
import random
import re
import unittest

from trefoil_program import TINY_JOB, ProgramTest

decimal.getcontext().prec = 60
D = decimal.Decimal
ORDERS = [D(k) / 10 for k in range(11, 110)] + [D(k) for k in (*range(12, 64), 72, 80, 96, 128, 192, 256, 384, 512, 1024)]


def plain_gaussian_epsilon(multiplier, steps, delta):
    """RDP of plain Gaussians at the best order, to 50 digits. Canonne, Kamath, Steinke (2020), Proposition 12."""
    rho = D(steps) / (2 * D(multiplier) ** 2)
    return min(order * rho + (1 - 1 / order).ln() - (D(delta).ln() + order.ln()) / (order - 1) for order in ORDERS)


class Outward(ProgramTest):
    def account(self, *options):
        text = self.succeed("account", *options)
        return json.loads(self.succeed("account", *options, "--json")), dict(re.findall(r"(?m)^(epsilon|delta|noise multiplier) +(\S+)$", text))

    def test_account_prints_no_less_than_it_computed_and_computes_no_less_than_is_exact(self):
        random.seed(5)
        for _ in range(25):
            multiplier, steps, delta = random.uniform(0.8, 40), random.randint(1, 900), random.choice((1e-5, 1.234567891e-6, 3.3e-7))
            plain = ("--sampling-rate", 1, "--noise-multiplier", repr(multiplier), "--steps", steps, "--delta", repr(delta))
            shown, text = self.account(*plain)
            exact = plain_gaussian_epsilon(multiplier, steps, delta)
            self.assertGreaterEqual(D(shown["epsilon"]), exact)
            self.assertLess(D(shown["epsilon"]), exact * (1 + D("1e-12")))
            self.assertGreaterEqual(float(text["epsilon"]), shown["epsilon"])
            self.assertGreaterEqual(float(text["delta"]), delta)
            self.assertLessEqual(float(text["noise multiplier"]), multiplier)

    def test_a_run_and_its_report_say_no_less_than_the_summary(self):
        job = self.write("job.toml", TINY_JOB)
        out = self.succeed("local", "--job", job, "--out", "d")
        summary = json.loads((self.folder / "d/summary.json").read_text())
        bounds = {who: summary[f"epsilon_{who}"] for who in ("outsider", "insider")}
        logs = out + (self.folder / "d/party-0/out/party.log").read_text()
        found = re.findall(r"(?:done: |target )?epsilon (\d\S*) outsider,? (\d\S*) insider, delta", logs)
        self.assertGreaterEqual(len(found), 2)
        for outsider, insider in found:
            self.assertGreaterEqual(float(outsider), bounds["outsider"])
            self.assertGreaterEqual(float(insider), bounds["insider"])
        plan = self.succeed("plan", "--job", job)
        for who in bounds:
            self.assertGreaterEqual(float(re.search(rf"(?m)^Epsilon, {who} +(\S+)$", plan).group(1)), bounds[who])
        self.assertLessEqual(float(re.search(r"(?m)^Noise multiplier +(\S+)$", plan).group(1)), summary["sigma"])

        self.succeed("report", "d")
        page = html.unescape((self.folder / "d/report.html").read_text())
        numbers = re.findall(r"<(?:li|dt)>([^<:]+):? ?(?:<b>)?<data value=\"([^\"]+)\">([0-9.e+-]+)</data>", page)
        names = [name.lower() for name, _, _ in numbers]
        for expected in ("epsilon, outsider", "epsilon, insider", "delta", "noise multiplier", "accuracy", "sensitivity"):
            self.assertIn(expected, names)
        for name, value, text in numbers:
            if name.lower() in ("noise multiplier", "accuracy"):
                self.assertLessEqual(float(text), float(value), name)
            else:
                self.assertGreaterEqual(float(text), float(value), name)


if __name__ == "__main__":
    unittest.main()
