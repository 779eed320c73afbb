"""Averaged classifiers as three party processes over TLS: against a plain fit, and every documented outcome."""

import json
import math
import random
import unittest

from kept_models import KeptModelTest
from plain_models import minimise, read_model

JOB = """
version = 1
type = "classifier-average"
name = "average"
[data]
name = "points"
format = "csv"
rows = [90, 60, 60]
classes = 2
column = [{ name = "a" }, { name = "b" }]
label = { column = "c", values = ["no", "yes"] }
[owners]
count = [2, 1, 0]
least_rows = 20
[average]
lambda = 0.1
tolerance = 1e-8
[privacy]
epsilon = 900.0
delta = 1e-6
neighbours = "replaced"
"""
SIZES = [30, 40, 50]


def fit(rows, lam):
    return minimise([(a, b) for a, b, _ in rows], [label for _, _, label in rows], lam)


class Average(KeptModelTest):
    def setUp(self):
        super().setUp()
        self.write("job.toml", JOB)
        (self.folder / "points").mkdir()
        source = random.Random(3)
        self.rows = []
        for _ in range(sum(SIZES)):
            a, b = source.uniform(-0.6, 0.6), source.uniform(-0.6, 0.6)
            self.rows.append((round(a, 3), round(b, 3), int(a + 0.3 * b > 0.1)))
        text = "a,b,c\n" + "".join(f"{a},{b},{'yes' if c else 'no'}\n" for a, b, c in self.rows)
        self.write("points/train.csv", text)
        self.write("points/test.csv", text)

    def local(self, *settings, out="run"):
        return self.succeed("local", "--job", "job.toml", "--data", "points", "--out", out, "--set",
                            f"local.owner_rows={SIZES}", *settings)

    def model(self, path="run/model.npz"):
        return read_model(self.folder / path)

    def plain(self):
        parts, first = [], 0
        for size in SIZES:
            parts.append(fit(self.rows[first : first + size], 0.1))
            first += size
        return [sum(values) / len(SIZES) for values in zip(*parts)]

    def assert_near_plain(self, model, scale):
        # Noise of three parts, or one whole, of this scale on the sum: beyond 60 scales with probability below e^-50.
        for found, expected in zip(model, self.plain()):
            self.assertAlmostEqual(found, expected, delta=60 * scale / 3 + 1e-6)

    def test_the_average_is_that_of_plain_fits(self):
        output = self.local()
        # L2 change 2 sqrt(2) / (20 lambda) at the least size, times sqrt(3), over epsilon.
        self.assert_near_plain(self.model(), math.sqrt(3) * 2 * math.sqrt(2) / 2 / 900)
        for party in range(3):
            self.assertEqual((self.folder / f"run/party-{party}/out/model.npz").read_bytes(),
                             (self.folder / "run/model.npz").read_bytes())
        summary = self.summary()
        self.assertEqual((summary["type"], summary["owners"], summary["weights"]), ("classifier-average", 3, 3))
        self.assertGreater(summary["accuracy"], 0.9)
        self.assertIn("accuracy", output)
        self.assertLessEqual(summary["epsilon_insider"], 900)
        self.assertEqual(summary["epsilon_insider"], summary["epsilon_outsider"])
        record = json.loads((self.folder / "run/record.json").read_text())
        self.assertEqual([event["kind"] for event in record["events"]], ["pure_releases"])
        self.assertIn('warning: privacy.neighbours "replaced"', output)
        self.assertEqual(len(summary["warnings"]), 1)
        self.assert_promises("run", "record", "replaced", "by one record of one owner, replaced by another.", warnings=1)
        self.succeed("report", "run")
        page = (self.folder / "run/report.html").read_text()
        for text in ("What was computed", "<td>owners</td>", "pure_releases", "Warning: privacy.neighbours"):
            self.assertIn(text, page)
        self.assertNotIn("Progress", page)
        # Others can apply the model, and the job as it was run runs again.
        self.assertIn("accuracy", self.succeed("evaluate", "--model", "run/model.npz", "--data", "points/test.csv"))
        self.succeed("local", "--job", "run/job.toml", "--data", "points", "--out", "again")
        # Sizes are each owner's affair: no other party's files have them.
        self.assertIn("rows = [30, 40]", (self.folder / "run/party-0/party.toml").read_text())
        self.assertNotIn("[owners]", (self.folder / "run/party-2/party.toml").read_text())
        for name in ("summary.json", "record.json", "job.toml"):
            self.assertNotIn("[30, 40]", (self.folder / f"run/party-1/out/{name}").read_text())

    def test_a_record_that_does_not_say_whom_it_is_for_is_read(self):
        self.local()
        path = self.folder / "run/record.json"
        record = json.loads(path.read_text())
        for key in ("unit", "neighbours", "warnings"):
            del record[key]
        path.write_text(json.dumps(record))
        account = ("account", "--record", path, "--delta", "1e-5")
        text = self.succeed(*account)
        self.assertIn("unit              not stated\nneighbours        not stated\n", text)
        self.assertNotIn("added or removed", text)
        told = json.loads(self.succeed(*account, "--json"))
        self.assertEqual((told["unit"], told["neighbours"], told["warnings"]), (None, None, None))
        # The job beside it says.
        self.succeed("report", "run")
        self.assertIn("replaced by another", (self.folder / "run/report.html").read_text())

    def test_added_records_cost_noise_on_the_smallest_size(self):
        self.local("--set", "privacy.neighbours=added", "--set", "privacy.epsilon=40")
        self.assert_near_plain(self.model(), math.sqrt(3) * 2 * math.sqrt(2) / 2 / 36)
        summary = self.summary()
        self.assertEqual(summary["warnings"], [])
        self.assertGreater(summary["size_margin"], 0)
        self.assertLessEqual(summary["epsilon_insider"], 40)
        self.assertGreater(summary["epsilon_insider"], 39.9)
        events = json.loads((self.folder / "run/record.json").read_text())["events"]
        self.assertEqual([event["kind"] for event in events], ["approximate_releases"])
        self.assert_promises("run", "record", "added", "by one unit added or removed at one owner.")

    def test_gaussian_noise_of_every_party(self):
        for neighbours, kinds in (("replaced", ["gaussian_releases"]), ("added", ["approximate_releases", "gaussian_releases"])):
            settings = ("--set", "average.noise=gaussian", "--set", "privacy.epsilon=40", "--set", f"privacy.neighbours={neighbours}")
            self.local(*settings, out=neighbours)
            summary = self.summary(neighbours)
            # L2 change 2 sqrt(2) / (20 lambda) at the least size; three parties' noise; ten deviations are exceeded with
            # probability below 1e-22. Owners' average is a third of the sum.
            deviation = summary["sigma"] * math.sqrt(1.5) * 2 * math.sqrt(2) / (20 * 0.1) / 3
            for found, expected in zip(self.model(f"{neighbours}/model.npz"), self.plain()):
                self.assertAlmostEqual(found, expected, delta=10 * deviation + 1e-4)
            self.assertEqual((summary["noise"], summary["neighbours"]), ("gaussian", neighbours))
            self.assertLessEqual(summary["epsilon_insider"], 40)
            self.assertGreater(summary["epsilon_insider"], 39)
            self.assertLess(summary["epsilon_outsider"], summary["epsilon_insider"])  # the third party's noise counts
            record = json.loads((self.folder / neighbours / "record.json").read_text())
            self.assertEqual([event["kind"] for event in record["events"]], kinds)
            self.assertEqual((record["events"][-1]["sigma"], record["events"][-1]["coordinates"]), (summary["sigma"], 3))
            self.assert_promises(neighbours, "record", neighbours, "Each of 3 coordinates, with noise of",
                                 warnings=int(neighbours == "replaced"))
            planned = json.loads(self.succeed("plan", "--job", "job.toml", *settings, "--json"))
            self.assertEqual((planned["epsilon_outsider"], planned["epsilon_insider"]),
                             (summary["epsilon_outsider"], summary["epsilon_insider"]))
            self.succeed("report", neighbours)
        self.assertIn("Gaussian noise of", self.succeed("plan", "--job", "added/job.toml"))

    def test_as_published_prints_both_warnings(self):
        output = self.local("--set", "average.noise=as-published")
        self.assertIn("insider epsilon none", output)
        self.assertIn("2/(n lambda) bounds the L2 change", output)
        self.assert_near_plain(self.model(), 3 * 2 / (30 * 900 * 0.1))
        summary = self.summary()
        self.assertIsNone(summary["epsilon_insider"])
        # L sqrt(d) / K of the claim, with L = sqrt(2) for the bias.
        self.assertGreater(summary["epsilon_outsider"], 900 * math.sqrt(2) * math.sqrt(3) / 3)
        self.assertEqual(len(summary["warnings"]), 3)
        plan = " ".join(self.succeed("plan", "--job", "job.toml", "--set", "average.noise=as-published").split())
        self.assertIn("one record of one owner, replaced by another", plan)
        self.assertIn("It may know all of the noise.", plan)

    def test_the_ledger_takes_gaussian_noise_as_it_is_recorded(self):
        self.local("--ledger", "ledger", "--epsilon-cap", "45", "--set", "owners.count=[1, 1, 1]", "--set", "privacy.epsilon=40",
                   "--set", "privacy.neighbours=added", "--set", "average.noise=gaussian")
        shown = json.loads(self.succeed("ledger", "show", "ledger/party-1.jsonl", "--json"))
        self.assertEqual(shown["jobs"][0]["state"], "done")
        self.assertGreater(shown["epsilon_insider"], 39)

    def test_the_ledger_takes_added_records_only(self):
        cap = ("--ledger", "ledger", "--epsilon-cap", "50", "--set", "owners.count=[1, 1, 1]", "--set", "privacy.epsilon=40")
        self.fail_with(5, "privacy.neighbours: found \"replaced\", which no epsilon covers", "local", "--job", "job.toml",
                       "--data", "points", "--out", "replaced", *cap)
        cap += ("--set", "privacy.neighbours=added")
        self.local(*cap)
        for party in range(3):
            shown = json.loads(self.succeed("ledger", "show", f"ledger/party-{party}.jsonl", "--json"))
            self.assertEqual(shown["jobs"][0]["state"], "done")
        self.fail_with(5, "trefoil: party", "local", "--job", "job.toml", "--data", "points", "--out", "twice", "--set",
                       f"local.owner_rows={SIZES}", *cap)

    def test_one_owner_and_a_party_that_gets_nothing(self):
        self.succeed("local", "--job", "job.toml", "--data", "points", "--out", "one", "--set", "owners.count=[0, 1, 0]",
                     "--set", "data.rows=[0, 200, 0]", "--set", "release.to=[2]")
        self.assertEqual([(self.folder / f"one/party-{i}/out/model.npz").exists() for i in range(3)], [False, False, True])
        for found, expected in zip(self.model("one/model.npz"), fit(self.rows, 0.1)):
            self.assertAlmostEqual(found, expected, delta=60 * math.sqrt(3) * 2 * math.sqrt(2) / 2 / 900 + 1e-6)

    def test_an_average_that_nobody_gets_classifies_rows(self):
        for bias in ("true", "false"):
            out = f"kept-{bias}"
            self.assert_kept(out, self.local("--set", "release.to=[]", "--set", f"average.bias={bias}", out=out))
            labels, scores = self.scores_of(out, "points/test.csv", 150)
            self.assertEqual(len(labels), sum(SIZES))
            self.assertEqual(labels, ["yes" if score > 0 else "no" for score in scores])
            if bias == "false":
                continue
            # The noise of each weight as above; rows have |a| + |b| + 1 < 2.2. Three owners, not their sum.
            plain = self.plain()
            for (a, b, _), score in zip(self.rows, scores):
                self.assertAlmostEqual(score, plain[0] * a + plain[1] * b + plain[2],
                                       delta=2.2 * 20 * math.sqrt(3) * 2 * math.sqrt(2) / 2 / 900 + 1e-4)
        # As it was run it runs again, and predictions want the same run.
        self.assertIn("to = []", (self.folder / "kept-true/job.toml").read_text())
        self.fail_with(2, "found the model of run", "local", "--job", "predict.toml", "--model", "kept-true", "--data",
                       "points/test.csv", "--out", "other")

    def test_an_owner_without_enough_data_is_not_told_from_others(self):
        # owners.least_rows is 20: a refusal would be seen by the others, who see the same of all of these.
        self.local()
        for sizes in ("[30, 0, 50]", "[30, 19, 50]"):
            out = "few" + sizes[5]
            self.succeed("local", "--job", "job.toml", "--data", "points", "--out", out, "--set", f"local.owner_rows={sizes}")
            self.assertIn("an owner here has fewer than 20 records: ", (self.folder / f"{out}/party-0/out/owner_warnings.txt").read_text())
            for party in range(3):
                self.assertNotIn("fewer than 20", (self.folder / f"{out}/party-{party}/out/party.log").read_text())
            other = self.folder / f"{out}/party-1/out/owner_warnings.txt"
            self.assertNotIn("fewer than 20", other.read_text() if other.exists() else "")
            events = [json.loads((self.folder / f"{run}/party-1/out/record.json").read_text())["events"] for run in ("run", out)]
            self.assertEqual(*events)

    def test_an_owner_with_too_much_data_takes_no_part(self):
        result = self.run_program("local", "--job", "job.toml", "--data", "points", "--out", "much", "--set",
                                  f"local.owner_rows={SIZES}", "--set", "owners.most_rows=39")
        self.assertEqual(result.returncode, 4, result.stderr)
        self.assertIn("owner 2 of 2 here: found 40 records, expected at most 39",
                      (self.folder / "much/party-0/console.log").read_text())

    def test_refuses_what_is_wrong_in_one_line(self):
        for text, *settings in (
            ("data.classes: found 3", "--set", "data.classes=3", "--set", "data.label.values=['a', 'b', 'c']"),
            ("missing average.lambda", "--set", "average={}"),
            ("average.lambda: found 0", "--set", "average.lambda=0"),
            ("not all 0", "--set", "owners.count=[0, 0, 0]"),
            ("owners.least_rows: found 91", "--set", "owners.least_rows=91"),
            ("local.owner_rows: found [ 1, 2 ]", "--set", "local.owner_rows=[1, 2]"),
            ("expected at most the 120 of the data", "--set", "local.owner_rows=[30, 40, 60]"),
            ("expected at least the 70 of its owners", "--set", "data.rows=[69, 60, 60]", "--set",
             f"local.owner_rows={SIZES}"),
            ("only average.noise \"sound\" and \"gaussian\" have it", "--set", "average.noise=as-published", "--set", "average.scales=3"),
            ("\"replaced\" with average.noise", "--set", "average.noise=as-published", "--set", "privacy.neighbours=added"),
            ("at most 64 with privacy.neighbours", "--set", "privacy.neighbours=added"),
            ("only privacy.neighbours \"added\" has it", "--set", "privacy.size_epsilon=1.0"),
            ("privacy.size_epsilon: found 2", "--set", "privacy.neighbours=added", "--set", "privacy.epsilon=2.0", "--set",
             "privacy.size_epsilon=2.0"),
            ("fraction_bits: found 24, expected fewer", "--set", "fraction_bits=24", "--set", "privacy.epsilon=0.01"),
            ("release.to: found [], expected a party, or fraction_bits below 24", "--set", "fraction_bits=24", "--set",
             "release.to=[]", "--set", "average.lambda=1e-4", "--set", "data.rows=[200000, 100000, 0]", "--set",
             "owners.least_rows=100000"),
            ("average.lambda: found 1e-12, expected a larger one", "--set", "average.lambda=1e-12"),
            ("features.row_norm: found 9e-08, expected more than average.lambda times 2^-20", "--set",
             "features.row_norm=9e-8"),
            *((f"release.to: found [], expected a party, or fewer fraction_bits than 20 or a smaller features.row_norm than {norm}: "
               "no prediction could be made", "--set", f"features.row_norm={norm}.0", "--set", "average.lambda=1e4", "--set",
               "release.to=[]") for norm in (128, 1025)),
            ("did you mean average.lambda", "--set", "average.lamda=1"),
        ):
            with self.subTest(text):
                self.fail_with(2, text, "local", "--job", "job.toml", "--data", "points", "--out", "none", *settings)


if __name__ == "__main__":
    unittest.main()
