"""Statistics of columns as three party processes over TLS: against plain ones, and every documented outcome."""

import csv
import json
import random
import re
import statistics
import unittest

from trefoil_program import ProgramTest, prepared

JOB = """
version = 1
type = "statistics"
name = "people"
[data]
name = "people"
format = "csv"
rows = [700, 700, 700]
[[data.column]]
name = "age"
low = 0.0
high = 100.0
edges = [40.0]
missing = []
[[data.column]]
name = "hours"
low = 0.0
high = 80.0
[[data.column]]
name = "colour"
kind = "category"
values = ["red", "green"]
[statistics]
bins = 20
correlations = ["age", "hours"]
[[statistics.table]]
rows = "age"
columns = "colour"
[privacy]
sigma = 0.01
delta = 1e-6
"""
FILES = ["bins.csv", "correlations.csv", "correlations_noise.csv", "moments.csv", "quantiles.csv", "tables.csv"]


class Statistics(ProgramTest):
    def setUp(self):
        super().setUp()
        self.write("job.toml", JOB)
        (self.folder / "people").mkdir()
        source = random.Random(3)
        self.rows = []
        for k in range(2000):
            age = source.randint(20, 80)
            hours = None if k % 10 == 0 else min(79, max(1, round(age / 2 + source.gauss(10, 8))))
            self.rows.append((age, hours, source.choice(("red", "green", "?"))))
        self.write("people/train.csv", "age,hours,colour\n" + "".join(
            f"{age},{'?' if hours is None else hours},{colour}\n" for age, hours, colour in self.rows))

    def local(self, *settings, out="run"):
        return self.succeed("local", "--job", "job.toml", "--data", "people", "--out", out, *settings)

    def released(self, name, out="run"):
        with open(self.folder / out / name) as file:
            return list(csv.DictReader(file))

    def test_are_the_plain_statistics_where_noise_is_small(self):
        """Noise on a count is 0.03, and so beyond 0.3 with a probability below 10^-20."""
        self.assertIn("rows 667, 667, 666", self.local())
        ages = [age for age, _, _ in self.rows]
        worked = [(age, hours) for age, hours, _ in self.rows if hours is not None]
        hours = [hour for _, hour in worked]
        moments = {line["column"]: {key: float(value) for key, value in line.items() if key != "column"} for line in self.released("moments.csv")}
        for name, values in (("age", ages), ("hours", hours)):
            self.assertAlmostEqual(moments[name]["count"], len(values), delta=0.5)
            self.assertAlmostEqual(moments[name]["missing"], 2000 - len(values), delta=0.3)
            self.assertAlmostEqual(moments[name]["mean"], statistics.fmean(values), delta=0.02)
            self.assertAlmostEqual(moments[name]["deviation"], statistics.pstdev(values), delta=0.05)
            self.assertLess(moments[name]["mean_noise"], 0.005)
        for line in self.released("quantiles.csv"):
            values = sorted(ages if line["column"] == "age" else hours)
            width = 5 if line["column"] == "age" else 4
            self.assertAlmostEqual(float(line["quantile"]), values[int(float(line["probability"]) * len(values))], delta=width)
        matrix = self.released("correlations.csv")
        # Of all ages, and of those hours that are known, which are missing by chance.
        self.assertAlmostEqual(float(matrix[0]["hours"]), statistics.correlation(*zip(*worked)), delta=0.02)
        self.assertEqual((matrix[0]["age"], matrix[0]["hours"]), ("1", matrix[1]["age"]))
        counts = {(line["row"], line["column"]): float(line["count"]) for line in self.released("tables.csv")}
        for row, old in (("below 40", False), ("40 and above", True)):
            for colour, name in (("red", "red"), ("green", "green"), ("?", "(missing)")):
                wanted = sum((age >= 40) == old and own == colour for age, _, own in self.rows)
                self.assertAlmostEqual(counts[row, name], wanted, delta=0.3)
        bins = [float(line["count"]) for line in self.released("bins.csv") if line["column"] == "age"]
        for k, count in enumerate(bins):
            self.assertAlmostEqual(count, sum(5 * k <= age < 5 * k + 5 for age in ages), delta=0.3)

    def test_has_one_promise_and_a_report(self):
        self.local("--set", "privacy.sigma=3.0")
        event, = json.loads((self.folder / "run/record.json").read_text())["events"]
        self.assertEqual((event["kind"], event["count"], event["coordinates"]), ("gaussian_releases", 1, 1 + 2 + 3 + 40 + 2 + 6))
        self.assert_promises("run", "record", "added", "by one unit added or removed at one owner.")
        summary = self.summary()
        self.assertEqual((summary["records_declared"], summary["sensitivity"]), (2100, 1))
        # Count, two moments, two quantiles, a pair, a table: all with the same noise.
        for kind in ("count", "moments", "quantiles", "correlations", "tables"):
            self.assertAlmostEqual(summary["noise"][kind + "_deviation"], (1.5 * 7) ** 0.5 * 3, delta=1e-3)
        for party in range(3):
            for name in FILES:
                self.assertEqual((self.folder / f"run/party-{party}/out/{name}").read_bytes(), (self.folder / "run" / name).read_bytes())
        self.succeed("report", "run")
        page = (self.folder / "run/report.html").read_text()
        for text in ("Means and deviations", "Quantiles", "Correlations", "Noise of the correlations", "Records by age and colour", 'aria-label="Distribution of hours"'):
            self.assertIn(text, page)
        self.succeed("local", "--job", "run/job.toml", "--data", "people", "--out", "again")
        (self.folder / "run/moments.csv").write_text("damaged\n")
        self.fail_with(4, "moments.csv: found another number of lines", "report", "run")

    def test_releases_to_those_named_alone_and_keeps_within_its_cap(self):
        self.write("job.toml", JOB.replace("sigma = 0.01", "epsilon = 1.0"))
        cap = ("--ledger", "ledger", "--epsilon-cap", "1.5")
        self.local("--set", "release.to=[2]", *cap, out="one")
        self.assertEqual([[(self.folder / f"one/party-{i}/out" / name).exists() for name in FILES] for i in range(3)],
                         [[i == 2] * len(FILES) for i in range(3)])
        self.assertLessEqual(self.summary("one")["epsilon_insider"], 1)
        self.fail_with(5, "expected at most the cap 1.5", "local", "--job", "job.toml", "--data", "people", "--out", "two", *cap)
        self.assertFalse((self.folder / "two/moments.csv").exists())

    def test_a_party_alone_says_what_is_wrong(self):
        self.local("--set", "data.column=[{ name = \"age\", low = 0.0, high = 60.0 }, { name = \"hours\", kind = \"ignore\" }, "
                   "{ name = \"colour\", kind = \"ignore\" }]", "--set", "statistics.table=[]", "--set", "statistics.correlations=[]", *prepared())
        check = ("check", "--config", "run/party-0/party.toml", "--job", "run/job.toml", "--wait", "100ms")
        beyond = sum(age > 60 for age, _, _ in self.rows[::3])
        self.assertIn(f"pass  data: 667 records as the job declares them, {beyond} numbers beyond low or high count as these",
                      self.run_program(*check).stdout)
        path = self.folder / "run/party-0/data/train.csv"
        path.write_text(re.sub(r"\n\d+,", "\nold,", path.read_text(), count=1))
        self.assertRegex(self.run_program(*check).stdout, r'(?m)^fail  data: .*train\.csv: row 2, column "age": found "old", expected a number')
        other = self.folder / "run/party-1/party.toml"
        other.write_text(other.read_text().replace('start = "120s"', 'start = "1s"'))
        self.fail_with(3, "", "run", "--config", "run/party-1/party.toml", "--job", "run/job.toml", "--out", "alone")
        self.assertFalse((self.folder / "alone/moments.csv").exists())

    def test_tells_the_owner_what_is_odd(self):
        self.write("job.toml", JOB.replace("high = 100.0", "high = 60.0").replace('"green"]', '"green", "blue"]'))
        self.local()
        for party in range(3):
            beyond = sum(age > 60 for age, _, _ in self.rows[party::3])
            lines = (self.folder / f"run/party-{party}/out/owner_warnings.txt").read_text().splitlines()
            self.assertEqual(len(lines), 2, lines)
            self.assertIn('no row has the declared value "blue" of column "colour"; a job without it would tell', lines[0])
            self.assertIn(f"{beyond} numbers lie beyond low or high of their columns, and count as these; a job", lines[1])

    def test_refuses_what_is_wrong_in_one_line(self):
        for text, *settings in (
            ("one of privacy.epsilon and privacy.sigma", "--set", "privacy.epsilon=1"),
            ("release.to: found []", "--set", "release.to=[]"),
            ("statistics.moments: found \"colour\"", "--set", "statistics.moments=[\"colour\"]"),
            ("statistics.bins: found 5000", "--set", "statistics.bins=5000"),
            ("unknown key data.partition", "--set", "data.partition=vertical"),
        ):
            with self.subTest(text):
                self.fail_with(2, text, "local", "--job", "job.toml", "--data", "people", "--out", "none", *settings)
        self.write("people/train.csv", "age,hours,colour\n30,20,blue\n")
        self.fail_with(4, 'column "colour": found "blue"', "local", "--job", "job.toml", "--data", "people", "--out", "none")


if __name__ == "__main__":
    unittest.main()
