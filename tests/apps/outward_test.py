"""What is printed of a bound is never on its wrong side: text against JSON, and JSON against exact arithmetic."""

import decimal
import html
import json
import random
import re
import unittest

from init_job_test import plain_table
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

    def test_a_drafted_job_is_said_to_cost_no_less_than_its_plan(self):
        rounded = 0
        for rows in (240, 267, 291):
            self.write(f"{rows}.csv", plain_table(rows))
            said = self.succeed("init-job", f"{rows}.csv", "--out", f"{rows}.toml", "--yes")
            planned = json.loads(self.succeed("plan", "--job", f"{rows}.toml", "--json"))
            outsider, insider, delta = map(float, re.search(r"epsilon (\S+) outsider (\S+) insider, delta (\S+);", said).groups())
            for shown, computed in ((outsider, planned["epsilon_outsider"]), (insider, planned["epsilon_insider"]), (delta, planned["delta"])):
                self.assertGreaterEqual(shown, computed)
                self.assertLess(shown - computed, 0.0011)
                rounded += shown != computed
        self.assertGreaterEqual(rounded, 3)

    def test_a_run_and_its_report_say_no_less_than_the_summary(self):
        job = self.write("job.toml", TINY_JOB)
        out = self.succeed("local", "--job", job, "--out", "d")
        summary = self.summary("d")
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
        for expected in ("epsilon, outsider", "epsilon, insider", "delta", "noise multiplier", "accuracy"):
            self.assertIn(expected, names)
        for name, value, text in numbers:
            if name.lower() in ("noise multiplier", "accuracy"):
                self.assertLessEqual(float(text), float(value), name)
            else:
                self.assertGreaterEqual(float(text), float(value), name)

    def test_every_number_of_a_report_is_on_the_safe_side(self):
        """Tables of records, rows, an evaluation and an audit too: no number of theirs is better than what was computed."""
        evaluation = "[evaluation]\nholder = 1\nrows = 2000\nto = [1]\nsigma = 25.1234567\n"
        job = self.write("job.toml", TINY_JOB.replace("sigma = 2.0", "sigma = 2.3456789") + evaluation)
        self.succeed("local", "--job", job, "--out", "d")
        attack = {"auc": 0.5123456789, "true_positive_rate": 0.0123456789, "accuracy": 0.6123456789}
        membership = {"canaries": attack, "records": attack, "claim_allows": attack}
        audit = {"epsilon_lower": 1.23456789, "claim": 3.45678912, "refuted": False, "delta": 1e-5, "confidence": 0.98765432199,
                 "canaries": 120, "included": 61, "guesses": 30, "right": 20, "membership": membership, "statement": ["one"]}
        self.write("d/audit.json", json.dumps(audit))
        self.succeed("report", "d")
        page = (self.folder / "d/report.html").read_text()
        data = r"<data value=\"([^\"]+)\">([^<]+)</data>"
        sections = {name: text for name, text in re.findall(r"<h2>([^<]+)</h2>(.*?)(?=<h2>|</main>)", page, re.DOTALL)}
        for name, least in (("Several rows", 12), ("What was computed", 8), ("Empirical audit", 16), ("Record of what was executed", 7)):
            self.assertGreaterEqual(len(re.findall(data, sections[name])), least, name)
        worse_if_smaller = re.compile(r"(evaluation\.)?(sigma|correct)|accuracy|.*deviation")
        rounded = 0
        for section, text in sections.items():
            for label, row in re.findall(r"<tr><td>([^<]+)</td>(.*?)</tr>", text) if section != "Cost" else []:
                for value, shown in ((float(value), float(shown)) for value, shown in re.findall(data, row) if "infinite" not in shown):
                    rounded += shown != value
                    smaller = worse_if_smaller.fullmatch(label) or section.startswith("The released model")
                    compare = self.assertLessEqual if smaller else self.assertGreaterEqual
                    compare(shown, value, f"{section}: {label}")
        self.assertGreater(rounded, 15)
        value, shown, confidence, of_confidence, claim, of_claim = map(float, re.search(
            rf"Epsilon is at least {data} with confidence {data} %, claimed is {data}", sections["Empirical audit"]).groups())
        self.assertEqual((value, confidence, claim), (audit["epsilon_lower"], 100 * audit["confidence"], audit["claim"]))
        self.assertLess(shown, value)
        self.assertLess(of_confidence, confidence)
        self.assertGreater(of_claim, claim)


if __name__ == "__main__":
    unittest.main()
