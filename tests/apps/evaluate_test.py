"""evaluate, predict --probabilities and the report's section of them, against the definitions, record by record."""

import csv
import io
import json
import math
import pathlib
import random
import xml.etree.ElementTree
import unittest

from trefoil_program import ProgramTest, TINY_JOB

HTML = "{http://www.w3.org/1999/xhtml}"
SVG = "{http://www.w3.org/2000/svg}"

JOB = """
version = 1
type = "dpsgd"
name = "patients"
[data]
name = "patients"
format = "csv"
rows = [200, 200, 200]
classes = 2
[[data.column]]
name = "a"
[[data.column]]
name = "b"
[data.label]
column = "state"
values = ["well", "ill"]
[training]
steps = 20
expected_batch = 200
max_batch_per_owner = 150
learning_rate = 4.0
[privacy]
sigma = 2.0
delta = 1e-5
clip = 0.5
"""


def auc(scored):
    """The share of pairs of a yes and a no in which the yes has the larger score; ties count half."""
    yes, no = ([score for score, is_yes in scored if is_yes == kind] for kind in (True, False))
    return sum((a > b) + (a == b) / 2 for a in yes for b in no) / (len(yes) * len(no))


class Evaluate(ProgramTest):
    def setUp(self):
        super().setUp()
        self.job = self.write("job.toml", JOB)
        coins = random.Random(3)
        data = self.folder / "data"
        data.mkdir()
        self.truth = []
        for name, count in (("train", 600), ("test", 150)):
            rows = []
            for _ in range(count):
                ill = coins.random() < 0.4
                # In tenths, so that some records are equal.
                rows.append((round(coins.gauss(0.4 if ill else 0, 0.4), 1), round(coins.gauss(0, 0.4), 1), "ill" if ill else "well"))
            (data / f"{name}.csv").write_text("a,b,state\n" + "".join(f"{a},{b},{state}\n" for a, b, state in rows))
            self.truth = [row[2] for row in rows]

    def train(self, *settings):
        return self.succeed("local", "--job", self.job, "--data", "data", "--out", "out", *settings)

    def evaluate(self, *options):
        return self.succeed("evaluate", "--model", "out/model.npz", "--data", "out/test", *options)

    def page(self):
        self.succeed("report", "out")
        return xml.etree.ElementTree.fromstring((self.folder / "out/report.html").read_text())

    def test_takes_records_by_the_threshold_everywhere(self):
        self.train("--set", "model.threshold=0.3")
        text = self.succeed("predict", "--model", "out/model.npz", "--data", "out/test", "--probabilities")
        rows = list(csv.DictReader(io.StringIO(text)))
        self.assertEqual([row["label"] == "ill" for row in rows], [float(row["probability_ill"]) > 0.3 for row in rows])
        found = json.loads((self.folder / "out/evaluation.json").read_text())
        self.assertEqual(found["threshold"], 0.3)
        self.assertEqual(found["correct"], sum(row["label"] == state for row, state in zip(rows, self.truth)))
        self.assertEqual(found, json.loads(self.evaluate("--json")))
        self.assertIn("threshold 0.3\n", self.evaluate())
        self.assertIn(0.3, {float(element.get("value")) for element in self.page().iter(HTML + "data")})
        # Another one is tried without a training; the ranks stay.
        half = json.loads(self.evaluate("--json", "--threshold", "0.5"))
        self.assertNotIn("threshold", half)
        self.assertEqual(half["auc"], found["auc"])
        self.assertLess(half["classes"][1]["predicted"], found["classes"][1]["predicted"])
        text = self.succeed("predict", "--model", "out/model.npz", "--data", "out/test", "--threshold", "0.5")
        labels = [row["label"] for row in csv.DictReader(io.StringIO(text))]
        self.assertEqual(labels.count("ill"), half["classes"][1]["predicted"])
        self.fail_with(2, "out: found a folder, expected a model's file, as out/model.npz", "evaluate", "--model", "out", "--data", "out/test")
        self.fail_with(2, "--threshold: found 1, expected a number", "evaluate", "--model", "out/model.npz", "--data", "out/test", "--threshold", "1")

    def test_estimates_metrics_from_a_noisy_histogram_on_shares(self):
        evaluation = {"holder": 1, "rows": 150, "sigma": 0.01, "bins": 20, "to": [0, 2]}
        output = self.train(*(word for key, value in evaluation.items() for word in ("--set", f"evaluation.{key}={value}")))
        summaries = [self.summary(f"out/party-{k}/out")["evaluation"] for k in range(3)]
        self.assertEqual(summaries[0], summaries[2] | {"rounds": summaries[0]["rounds"], "bytes_sent": summaries[0]["bytes_sent"]})
        self.assertNotIn("histogram", summaries[1])
        found = summaries[0]
        text = self.succeed("predict", "--model", "out/model.npz", "--data", "out/test", "--probabilities")
        counts = [[0] * 20, [0] * 20]
        for row, state in zip(csv.DictReader(io.StringIO(text)), self.truth):
            counts[state == "ill"][min(19, math.ceil(20 * float(row["probability_ill"])) - 1)] += 1
        # A count's noise has deviation 0.017; at most two records at an edge of their bin are rounded over it.
        away = [abs(a - b) for one, other in zip(counts, found["histogram"]) for a, b in zip(one, other)]
        self.assertLess(sum(away), 4 + 40 * 0.2)
        self.assertLess(max(away), 2.2)
        clear = json.loads((self.folder / "out/evaluation.json").read_text())
        self.assertAlmostEqual(found["auc"], clear["auc"], delta=0.05)
        self.assertAlmostEqual(found["log_loss"], clear["log_loss"], delta=0.05)
        self.assertAlmostEqual(found["correct"], clear["correct"], delta=3)
        tried = json.loads(self.evaluate("--json", "--threshold", str(found["best_threshold"])))
        self.assertAlmostEqual(tried["balanced_accuracy"], found["best_balanced_accuracy"], delta=0.05)
        self.assertRegex(output, r"on 150 test records, on shares \(AUC 0\.\d+ ± \S+ by noise; at threshold 0\.\d+ balanced accuracy 0\.\d+\): with noise")
        event = json.loads((self.folder / "out/record.json").read_text())["events"][-1]
        self.assertEqual((event["kind"], event["coordinates"]), ("noisy_evaluation", 40))
        self.succeed("report", "out")
        page = (self.folder / "out/report.html").read_text()
        self.assertIn(f"<td>{found['histogram'][1][19]:.1f}</td>", page[page.index("Predictions, counted on shares with noise"):])
        for plot in ("ROC, on shares", "Calibration, on shares"):
            self.assertIn(plot, page)

    def use_three_classes(self):
        """Returns their names."""
        coins = random.Random(4)
        names = ("cold", "flu", "well")
        job = self.job.read_text().replace("classes = 2", "classes = 3").replace('["well", "ill"]', json.dumps(names))
        self.job.write_text(job)
        for file, count in (("train", 600), ("test", 150)):
            rows = [(coins.gauss(0.5 * (k == 0), 0.2), coins.gauss(0.5 * (k == 1), 0.2), names[k])
                    for k in (coins.randrange(3) for _ in range(count))]
            (self.folder / f"data/{file}.csv").write_text("a,b,state\n" + "".join(f"{a:.3f},{b:.3f},{state}\n" for a, b, state in rows))
        return names

    def predictions(self, names, kind, probability):
        """Of each class, for each test record what `predict --KIND` says of it, and whether the record is of it."""
        table = list(csv.reader(io.StringIO(self.succeed("predict", "--model", "out/model.npz", "--data", "out/test", f"--{kind}"))))
        actual = [line.split(",")[-1] for line in (self.folder / "data/test.csv").read_text().splitlines()[1:]]
        for k, name in enumerate(names):
            said = [probability(float(row[2 + k])) for row in table[1:]]
            yield [(p, state == name) for p, state in zip(said, actual)]

    def log_losses(self, names, kind, probability):
        """Of each class against all others."""
        for found in self.predictions(names, kind, probability):
            yield sum(-math.log(p if of_it else 1 - p) for p, of_it in found) / len(found)

    def binned_aucs(self, names, kind, probability):
        """Of each class against all others, by bins of a twentieth, in which records are tied."""
        for found in self.predictions(names, kind, probability):
            of_it, others = ([int(20 * p) for p, own in found if own is wanted] for wanted in (True, False))
            yield sum((a > b) + (a == b) / 2 for a in of_it for b in others) / (len(of_it) * len(others))

    def test_counts_on_shares_by_the_probabilities_of_softmax(self):
        names = self.use_three_classes()
        evaluation = {"holder": 1, "rows": 150, "sigma": 0.01, "confusion": "true", "bins": 20}
        self.train("--set", "model.loss=softmax",
                   *(word for key, value in evaluation.items() for word in ("--set", f"evaluation.{key}={value}")))
        found = self.summary("out")["evaluation"]
        clear = json.loads((self.folder / "out/evaluation.json").read_text())
        for k, loss in enumerate(self.log_losses(names, "probabilities", float)):
            self.assertAlmostEqual(found["class_log_loss"][k], loss, delta=0.03)
            self.assertAlmostEqual(found["class_auc"][k], clear["classes"][k]["auc"], delta=0.05)

    def test_counts_on_shares_which_class_is_taken_for_which(self):
        names = self.use_three_classes()
        evaluation = {"holder": 1, "rows": 150, "sigma": 0.01, "confusion": "true", "bins": 20, "to": [0, 2]}
        output = self.train(*(word for key, value in evaluation.items() for word in ("--set", f"evaluation.{key}={value}")))
        summaries = [self.summary(f"out/party-{k}/out")["evaluation"] for k in range(3)]
        self.assertNotIn("confusion", summaries[1])
        found = summaries[0]
        clear = json.loads((self.folder / "out/evaluation.json").read_text())
        # A count's noise has deviation 0.035; two records at an edge are rounded over it at most.
        away = [abs(a - b) for one, other in zip(found["confusion"], clear["confusion"]) for a, b in zip(one, other)]
        self.assertLess(sum(away), 5)
        self.assertAlmostEqual(found["correct"], clear["correct"], delta=3)
        self.assertAlmostEqual(found["balanced_accuracy"], clear["balanced_accuracy"], delta=0.03)
        for kind in ("recall", "precision"):
            for one, other in zip(found[kind], clear["classes"]):
                self.assertAlmostEqual(one, other[kind], delta=0.06)
            self.assertTrue(all(0 < noise < 0.01 for noise in found[f"{kind}_noise"]))
        least = names[min(range(3), key=lambda k: found["recall"][k])]
        self.assertRegex(output, rf"on 150 test records, on shares \(smallest recall 0\.\d+ ± \S+ by noise, of class {least}\) "
                                 r"\(AUC 0\.\d+ ± \S+ by noise, mean of the classes, each against the others\): with noise")
        self.assertEqual([[len(half) for half in one] for one in found["histogram"]], [[20, 20]] * 3)
        def score(logit):
            return 1 / (1 + math.exp(-logit))

        for one, other in zip(found["class_auc"], self.binned_aucs(names, "scores", score)):
            self.assertAlmostEqual(one, other, delta=0.02)
        self.assertAlmostEqual(found["auc"], sum(found["class_auc"]) / 3)
        self.assertTrue(all(0 < noise < 0.01 for noise in (found["auc_noise"], *found["class_auc_noise"])))
        # Of each class's probability by itself, from the middles of bins of a twentieth.
        for k, loss in enumerate(self.log_losses(names, "scores", score)):
            self.assertAlmostEqual(found["class_log_loss"][k], loss, delta=0.03)
            self.assertTrue(0 <= found["class_calibration_error"][k] <= 1)
        event = json.loads((self.folder / "out/record.json").read_text())["events"][-1]
        self.assertEqual((event["kind"], event["coordinates"]), ("noisy_evaluation", 9 + 3 * 2 * 20))
        log = (self.folder / "out/party-0/out/audit.jsonl").read_text()
        self.assertIn("evaluation.confusion.8", log)
        self.succeed("report", "out")
        page = (self.folder / "out/report.html").read_text()
        self.assertIn("Classes, counted on shares with noise", page)
        for title in ("ROC of class cold, on shares", "Calibration of class well, on shares", f">{found['class_log_loss'][1]:.4f}<"):
            self.assertIn(title, page)
        self.assertIn(f"<td>{found['confusion'][2][1]:.1f}</td>", page[page.index("Taken for, counted on shares with noise"):])
        # Where noise hides the classes nothing is said of them.
        evaluation["sigma"] = 20
        self.succeed("local", "--job", self.job, "--data", "data", "--out", "noisy",
                     *(word for key, value in evaluation.items() for word in ("--set", f"evaluation.{key}={value}")))
        self.assertEqual(self.summary("noisy")["evaluation"]["recall"], [None] * 3)
        self.succeed("report", "noisy")
        page = (self.folder / "noisy/report.html").read_text()
        self.assertIn("-, -, -", page)
        self.assertNotIn("infinite", page)
        self.assertNotIn("ROC of class", page)

    CHOSEN = ("--set", "evaluation.holder=1", "--set", "evaluation.rows=150", "--set", "evaluation.sigma=0.05", "--set",
              "evaluation.bins=20", "--set", "evaluation.choose_threshold=true")

    def test_releases_a_model_with_the_threshold_that_the_histogram_gives(self):
        self.train(*self.CHOSEN)
        found = self.summary("out")["evaluation"]
        chosen = found["best_threshold"]
        self.assertEqual(found["threshold"], chosen)
        clear = json.loads((self.folder / "out/evaluation.json").read_text())
        self.assertEqual(clear.get("threshold", 0.5), chosen)
        self.assertAlmostEqual(found["correct"], clear["correct"], delta=5)  # noise of deviation 0.4, and two records at edges
        models = [(self.folder / f"out/party-{k}/out/model.npz").read_bytes() for k in range(3)]
        self.assertEqual(models[0], models[1])
        self.assertEqual(models[0], models[2])
        text = self.succeed("predict", "--model", "out/model.npz", "--data", "out/test", "--probabilities")
        for row in csv.DictReader(io.StringIO(text)):
            self.assertEqual(row["label"] == "ill", float(row["probability_ill"]) > chosen)

    def test_predicts_by_shares_with_the_threshold_that_was_chosen_or_another(self):
        self.train(*self.CHOSEN, "--set", "release.to=[]")
        chosen = self.summary("out")["evaluation"]["threshold"]
        run = json.loads((self.folder / "out/record.json").read_text())["run_id"]
        for threshold, line in ((chosen, ""), (0.8, "threshold = 0.8\n")):
            job = self.write("predict.toml", f'version = 1\ntype = "predict"\nname = "p"\n[predict]\nrun = "{run}"\nclient = 0\n'
                             f"rows = 200\nscores = true\n{line}")
            out = f"by-{threshold}"
            self.succeed("local", "--job", job, "--model", "out", "--data", "data/test.csv", "--out", out)
            (file,) = (self.folder / out / "party-0").rglob("predictions.csv")
            with open(file) as rows:
                for row in csv.DictReader(rows):
                    self.assertEqual(row["label"] == "ill", float(row["score_ill"]) > math.log(threshold / (1 - threshold)))

    def test_weighs_the_classes_of_a_training(self):
        self.train()
        self.succeed("local", "--job", self.job, "--data", "data", "--out", "weighted", "--set", "model.class_weights=[0.1, 1]")
        even, weighted = (json.loads((self.folder / out / "evaluation.json").read_text()) for out in ("out", "weighted"))
        # From about a half to nearly all: the noise of twenty steps moves a logit by about 0.1.
        self.assertGreater(weighted["classes"][1]["recall"], even["classes"][1]["recall"] + 0.1)
        self.assertAlmostEqual(self.summary("weighted")["sensitivity"], self.summary("out")["sensitivity"], delta=1e-4)
        self.assertEqual(*(self.summary(out)["row_bits"] for out in ("out", "weighted")))

    def test_balances_the_classes_by_noisy_counts(self):
        self.train("--set", "model.class_weights=balanced", "--set", "model.class_counts_sigma=0.05")
        summary = self.summary("out")
        lines = (self.folder / "data/train.csv").read_text().splitlines()
        counts = [sum(line.endswith(state) for line in lines) for state in ("well", "ill")]
        self.assertEqual(summary["class_counts"], counts)  # noise of deviation 0.06
        for weight, count in zip(summary["class_weights"], counts):
            self.assertAlmostEqual(weight, min(counts) / count, delta=2**-16)
        first, *others = json.loads((self.folder / "out/record.json").read_text())["events"]
        self.assertEqual((first["kind"], first["count"], first["coordinates"], first["sigma"]), ("gaussian_releases", 1, 2, 0.05000019073486328))
        self.assertEqual([event["kind"] for event in others], ["dpsgd_steps"])
        self.assertIn("class_counts.1", (self.folder / "out/party-2/out/audit.jsonl").read_text())
        charge = summary["class_counts_charge"]
        self.assertEqual((charge["sigma"], charge["releases"]), (0.05, 1))
        self.assertLess(charge["epsilon_outsider"], charge["epsilon_insider"])
        self.assertLessEqual(charge["epsilon_insider"], summary["epsilon_insider"])
        self.succeed("report", "out")
        page = (self.folder / "out/report.html").read_text()
        for shown in ("class_counts<", "class_weights<", "class_counts_charge.epsilon_insider<", f'<data value="{counts[0]}'):
            self.assertIn(shown, page)
        plan = json.loads(self.succeed("plan", "--job", self.job, "--json", "--set", "model.class_weights=balanced"))
        even = json.loads(self.succeed("plan", "--job", self.job, "--json"))
        self.assertGreater(plan["epsilon_outsider"], even["epsilon_outsider"])
        self.assertGreater(plan["epsilon_insider"], even["epsilon_insider"])
        self.assertAlmostEqual(plan["sensitivity"], even["sensitivity"], delta=1e-4)
        vertical = pathlib.Path(__file__).resolve().parents[2] / "configs/adult-vertical.toml"
        self.fail_with(2, 'model.class_weights: "balanced" not with data.partition', "plan", "--job", vertical, "--set",
                       "model.class_weights=balanced")

    def test_says_what_the_predictions_are_worth(self):
        self.train()
        text = self.succeed("predict", "--model", "out/model.npz", "--data", "out/test", "--scores", "--probabilities")
        rows = list(csv.DictReader(io.StringIO(text)))
        self.assertEqual(list(rows[0]), ["row", "label", "score_ill", "probability_ill"])
        for row in rows:
            self.assertAlmostEqual(float(row["probability_ill"]), 1 / (1 + math.exp(-float(row["score_ill"]))), places=14)
        found = json.loads(self.evaluate("--json", "--out", "again.json"))
        said = [float(row["probability_ill"]) for row in rows]
        ill = [state == "ill" for state in self.truth]
        taken = [row["label"] == "ill" for row in rows]
        self.assertEqual(found["correct"], sum(a == b for a, b in zip(ill, taken)))
        table = [[sum(a == actual and b == as_ for a, b in zip(ill, taken)) for as_ in (False, True)] for actual in (False, True)]
        self.assertEqual(found["confusion"], table)
        recalls = [table[k][k] / sum(table[k]) for k in (0, 1)]
        self.assertEqual([one["recall"] for one in found["classes"]], recalls)
        self.assertEqual([one["precision"] for one in found["classes"]], [table[k][k] / (table[0][k] + table[1][k]) for k in (0, 1)])
        self.assertAlmostEqual(found["balanced_accuracy"], sum(recalls) / 2, places=14)
        self.assertAlmostEqual(found["auc"], auc([(float(row["score_ill"]), yes) for row, yes in zip(rows, ill)]), places=12)
        self.assertAlmostEqual(found["log_loss"], -sum(math.log(p if yes else 1 - p) for p, yes in zip(said, ill)) / len(ill), places=12)
        bins = [[k for k, p in enumerate(said) if min(9, int(10 * p)) == b] for b in range(10)]
        error = sum(abs(sum(said[k] - ill[k] for k in members)) for members in bins) / len(ill)
        self.assertAlmostEqual(found["calibration_error"], error, places=12)

        # `local` has written the same beside the model, and the report shows it.
        self.assertEqual(found, json.loads((self.folder / "again.json").read_text()))
        self.assertEqual(found, json.loads((self.folder / "out/evaluation.json").read_text()))
        text = self.evaluate()
        self.assertRegex(text, rf"^accuracy 0\.\d{{4}} \({found['correct']} of 150 records\)\n")
        self.assertNotIn("warning", text)
        root = self.page()
        numbers = {float(element.get("value")) for element in root.iter(HTML + "data")}
        for key in ["accuracy", "balanced_accuracy", "auc", "log_loss", "calibration_error"]:
            self.assertIn(found[key], numbers, key)
        plots = {plot.get("aria-label"): plot for plot in root.iter(SVG + "svg")}
        for title in ("ROC", "Calibration"):
            self.assertEqual(len(list(plots[title].iter(SVG + "polyline"))), 2)
        points = [line.get("points").split() for line in plots["ROC"].iter(SVG + "polyline")][0]
        self.assertEqual(len(points), len(found["roc"][0]["points"]))

        path = self.folder / "out/evaluation.json"
        whole = json.loads(path.read_text())
        path.write_text(json.dumps({**whole, "model": "0" * 64}))
        self.fail_with(4, "the evaluation of another model", "report", "out")

    def test_warns_of_what_an_accuracy_hides(self):
        # Rows so short say next to nothing beside the bias, which moves to where most are, many deviations of its noise.
        said = self.train("--set", "model.loss=squared", "--set", "training.learning_rate=0.01", "--set", "features.row_norm=0.01")
        text = self.evaluate()
        for place in (said, text):
            self.assertRegex(place, 'warning: (all records are taken|no record is recognised)')
        found = json.loads(self.evaluate("--json"))
        self.assertIsNone(found["log_loss"])
        self.assertIsNone(found["calibration"])
        self.assertEqual(len(found["warnings"]), 1)
        self.fail_with(2, "--probabilities: found out/model.npz", "predict", "--model", "out/model.npz", "--data", "out/test", "--probabilities")

    def test_gives_probabilities_of_several_classes(self):
        for loss in ("one-vs-rest", "softmax"):
            job = self.write("digits.toml", TINY_JOB)
            self.succeed("local", "--job", job, "--out", loss, "--set", f"model.loss={loss}")
            text = self.succeed("predict", "--model", f"{loss}/model.npz", "--data", f"{loss}/test", "--scores", "--probabilities")
            for row in list(csv.DictReader(io.StringIO(text)))[:50]:
                scores = [float(row[f"score_{k}"]) for k in range(10)]
                weights = [math.exp(z) if loss == "softmax" else 1 / (1 + math.exp(-z)) for z in scores]
                for k in range(10):
                    self.assertAlmostEqual(float(row[f"probability_{k}"]), weights[k] / sum(weights), places=12)
            found = json.loads(self.succeed("evaluate", "--model", f"{loss}/model.npz", "--data", f"{loss}/test", "--json"))
            self.assertEqual(len(found["roc"]), 2)
            self.assertLess(max(found["calibration_error"], found["accuracy"]), 1)


if __name__ == "__main__":
    unittest.main()
