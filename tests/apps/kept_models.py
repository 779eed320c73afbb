"""A model that is released to nobody, and predictions by its shares."""

import csv
import json
import stat

from trefoil_program import ProgramTest

PREDICT_JOB = """
version = 1
type = "predict"
name = "rows"
[predict]
run = "{run}"
client = {client}
rows = {rows}
scores = {scores}
"""


class KeptModelTest(ProgramTest):
    def assert_kept(self, out, output):
        """Every party has its share of the model of `local --out OUT`, and nobody the model."""
        self.assertIn("model released to nobody", output)
        for party in range(3):
            folder = self.folder / out / f"party-{party}/out"
            self.assertFalse((folder / "model.npz").exists())
            self.assertEqual(stat.S_IMODE((folder / "model.share").stat().st_mode), 0o600)
            audit = (folder / "audit.jsonl").read_text()
            self.assertNotIn('"release"', audit)
        for name in ("model.npz", "model.share"):
            self.assertFalse((self.folder / out / name).exists())
        summary = self.summary(out)
        self.assertEqual(summary["released_to"], [])
        self.assertNotIn("accuracy", summary)

    def scores_of(self, out, data, rows):
        """What the kept model says of a file's rows: labels, and the logits of class 1."""
        record = json.loads((self.folder / out / "record.json").read_text())
        self.write("predict.toml", PREDICT_JOB.format(run=record["run_id"], client=1, rows=rows, scores="true"))
        self.succeed("local", "--job", "predict.toml", "--model", out, "--data", data, "--out", f"{out}-rows")
        summary = self.summary(f"{out}-rows")
        kept = self.summary(out)
        for key in ("epsilon_insider", "epsilon_outsider", "delta"):
            self.assertEqual(summary[key], kept[key])
        # A prediction's record is that of what made the model, and promises what that does.
        for party in range(3):
            told = json.loads((self.folder / f"{out}-rows/party-{party}/out/record.json").read_text())
            self.assertEqual(told, record)
            self.assertIn("neighbours", told)
        with open(self.folder / f"{out}-rows/predictions.csv") as file:
            lines = list(csv.reader(file))[1:]
        return [line[1] for line in lines], [float(line[2]) for line in lines]
