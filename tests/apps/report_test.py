"""trefoil report: a page of its own for a run, with the run's numbers, whatever its texts are."""

import json
import re
import shutil
import unittest
import xml.etree.ElementTree

from trefoil_program import ProgramTest, TINY_JOB

HTML = "{http://www.w3.org/1999/xhtml}"
SVG = "{http://www.w3.org/2000/svg}"
HOSTILE = "<script>alert(\"1\")</script> & 'x' \u20ac"


class Report(ProgramTest):
    def setUp(self):
        super().setUp()
        self.job = self.write("job.toml", TINY_JOB)

    def train(self):
        self.succeed("local", "--job", self.job, "--out", "out")

    def page(self, folder, *arguments):
        """The page's elements, once it has been seen to need nothing from elsewhere."""
        output = self.succeed("report", folder, *arguments)
        path = self.folder / (arguments[1] if arguments else f"{folder}/report.html")
        self.assertEqual(output, f"report {path.relative_to(self.folder)}\n")
        text = path.read_text()
        for outside in ["<script", "<link", "<img", "<iframe", "src=", "href=", "url(", "@import", "onload"]:
            self.assertNotIn(outside, text)
        self.assertEqual(set(re.findall(r"https?://[^\"]*", text)), {"http://www.w3.org/1999/xhtml", "http://www.w3.org/2000/svg"})
        return xml.etree.ElementTree.fromstring(text)

    @staticmethod
    def numbers(root):
        return {float(element.get("value")) for element in root.iter(HTML + "data")}

    @staticmethod
    def text(root):
        return " ".join(root.itertext())

    @staticmethod
    def cards(root):
        """Title and number of each."""
        items = next(element for element in root.iter(HTML + "ul") if element.get("class") == "cards").iter(HTML + "li")
        return {item.text: float(number.get("value")) for item in items for number in item.iter(HTML + "data")}

    def change(self, name, edit):
        path = self.folder / "out" / name
        content = json.loads(path.read_text())
        edit(content)
        path.write_text(json.dumps(content))

    def test_shows_every_number_of_the_run(self):
        self.train()
        root = self.page("out")
        summary = self.summary("out")
        numbers = self.numbers(root)
        for key, value in summary.items():
            if isinstance(value, (int, float)) and key != "version":
                self.assertIn(float(value), numbers, key)
        for party in range(3):
            own = self.summary(f"out/party-{party}/out")
            for key in ["seconds", "rounds", "bytes_sent", "peak_rss_bytes"]:
                self.assertIn(float(own[key]), numbers, f"party {party} {key}")
        self.assertEqual(self.cards(root), {"epsilon, outsider": summary["epsilon_outsider"], "epsilon, insider": summary["epsilon_insider"],
                                            "delta": summary["delta"], "accuracy": summary["accuracy"]})
        text = self.text(root)
        record = json.loads((self.folder / "out/record.json").read_text())
        for part in [record["run_id"], record["job_hash"], "dpsgd_steps", "epsilon, outsider", 'name = "tiny"', "party 2"]:
            self.assertIn(part, text)
        plan = json.loads(self.succeed("account", "--record", "out/record.json", "--delta", "1e-5", "--json"))
        self.assertIn(plan["epsilon_insider"], numbers)
        plots = list(root.iter(SVG + "svg"))
        self.assertEqual([plot.get("aria-label") for plot in plots],
                         ["delta at every epsilon, for a record", "Trade-off: tests for a record", "ROC", "Calibration",
                          "Epsilon spent", "Time since the start", "Sent by this party", "Rounds"])
        for row in plan["rows"]:
            self.assertIn(row["epsilon_outsider"], numbers)
        plots = plots[4:]  # what is promised and what the model is worth have no steps
        for plot in plots:
            self.assertIn("step", [label.text for label in plot.iter(SVG + "text")])
            for line in plot.iter(SVG + "polyline"):
                self.assertEqual(len(line.get("points").split()), 6)
        labels = [label.text for label in plots[0].iter(SVG + "text")]
        self.assertLess(labels.index("insider"), labels.index("outsider"))
        insider, outsider = ([float(point.split(",")[1]) for point in line.get("points").split()]
                             for line in plots[0].iter(SVG + "polyline"))
        for above, below in zip(insider, outsider):  # larger epsilons lie higher up, at a smaller y
            self.assertLess(above, below)

        self.assertIn("rdp: ", text)
        of_party = self.page("out/party-1/out", "--out", "party.html")
        self.assertIn("this party", self.text(of_party))
        self.assertNotIn("party 2 ", self.text(of_party))  # but for "this party 2.2 s"

    def test_reads_a_summary_of_version_1(self):
        self.train()
        now = self.cards(self.page("out"))
        summary = self.summary("out")
        old = ("steps", "epsilon_outsider", "epsilon_insider", "delta", "sigma", "sensitivity", "accuracy", "seconds", "rounds", "bytes_sent",
               "peak_rss_bytes")
        self.write("out/summary.json", json.dumps({"job": summary["name"], **{key: summary[key] for key in old}}))
        self.assertEqual(self.cards(self.page("out")), now)

    def test_accounts_as_the_job_does(self):
        self.succeed("local", "--job", self.job, "--out", "out", "--set", "privacy.accountant=pld")
        self.assertIn("pld: ", self.text(self.page("out")))

    def test_escapes_every_text(self):
        self.train()
        self.change("summary.json", lambda s: s.update(name=HOSTILE, warnings=[HOSTILE]))
        self.change("summary.json", lambda s: s["privacy"].update(epsilon_insider=None))
        self.change("summary.json", lambda s: s["results"]["dpsgd"].update(accuracy=None))
        job = self.folder / "out/job.toml"
        job.write_text(job.read_text() + f"\n# {HOSTILE} ]]> <!--\n")
        root = self.page("out")
        self.assertEqual(root.find(f"{HTML}head/{HTML}title").text, HOSTILE + ": report")
        self.assertIn("Report: " + HOSTILE, [h.text for h in root.iter(HTML + "h1")])
        self.assertIn("Warning: " + HOSTILE, self.text(root))
        self.assertIn(f"# {HOSTILE} ]]> <!--", next(root.iter(HTML + "pre")).text)
        self.assertIn(float("inf"), self.numbers(root))
        self.assertIn("unknown", self.text(root))

    def test_shows_an_audit_and_an_evaluation(self):
        self.succeed("audit", "--job", self.job, "--canaries", "20", "--out", "out")
        self.change("audit.json", lambda a: a["statement"].append(HOSTILE))
        evaluation = {"records": 77, "correct": 55.25, "sigma": None, "epsilon_outsider": None, "epsilon_insider": 1.25,
                      "rounds": 3, "bytes_sent": 4}
        self.change("summary.json", lambda s: s["results"]["dpsgd"].update(evaluation=evaluation))
        root = self.page("out")
        audit = json.loads((self.folder / "out/audit.json").read_text())
        expected = [audit[key] for key in ["epsilon_lower", "claim", "right", "guesses", "canaries", "included"]]
        expected += [attack[key] for attack in (audit["membership"]["canaries"], audit["membership"]["records"])
                     for key in ["auc", "true_positive_rate", "accuracy"]]
        self.assertLessEqual({float(number) for number in expected + [77, 55.25, 1.25]}, self.numbers(root))
        self.assertIn(HOSTILE, [item.text for item in root.iter(HTML + "li")])
        self.assertIn("with confidence 99.7 %", " ".join(self.text(root).split()))
        self.assertIn("the claim is not refuted (nor is it proved)", self.text(root))
        self.change("audit.json", lambda a: a.update(refuted=True))
        self.assertIn("the claim is refuted", self.text(self.page("out")))
        self.change("audit.json", lambda a: a.update(claim=None))
        self.assertIn("no epsilon is claimed", self.text(self.page("out")))
        self.change("audit.json", lambda a: a["membership"].pop("canaries"))
        self.fail_with(4, "audit.json: not what `trefoil audit` writes", "report", "out")

    def test_says_what_is_missing_or_damaged(self):
        self.fail_with(2, "RUN_DIR", "report")
        self.fail_with(4, "nowhere: not a folder", "report", "nowhere")
        self.train()
        for name in ["summary.json", "record.json", "progress.csv", "job.toml"]:
            shutil.copytree(self.folder / "out", self.folder / "copy")
            (self.folder / "copy" / name).unlink()
            self.fail_with(4, f"copy/{name}: not there", "report", "copy")
            (self.folder / "copy" / name).write_text('{"version": 1}\n')
            self.fail_with(4, f"copy/{name}", "report", "copy")
            shutil.rmtree(self.folder / "copy")
        progress = self.folder / "out/progress.csv"
        progress.write_text(progress.read_text() + "7,1.0,x\n")
        self.fail_with(4, "progress.csv, line 8: found no step", "report", "out")
        self.assertFalse((self.folder / "out/report.html").exists())
        progress.write_text("\n".join(progress.read_text().splitlines()[:-1]) + "\n")
        self.fail_with(2, "--out: out: found a folder", "report", "out", "--out", "out")
        self.change("summary.json", lambda s: s["privacy"].update(delta=2.0))
        self.fail_with(4, "summary.json: ", "report", "out")


if __name__ == "__main__":
    unittest.main()
