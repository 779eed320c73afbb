"""Owners who run no party get predictions of rows that they deposited: `predict.source = "store"`, `trefoil owner open`."""

import csv
import json
import re
import shutil
import stat
import unittest

from deposit_files import change_rows, key_of
from kept_models import PREDICT_JOB
from store_check_test import plus
from store_program import JOB, MASK, ROW, StoreProgramTest, records, table
from trefoil_program import PATIENCE

STORE_JOB = """
version = 1
type = "predict"
name = "visits-of-owners"
[predict]
run = "{run}"
source = "store"
study = "{study}"
capacity = {capacity}
scores = {scores}
"""


def features(rows):
    """A table without labels."""
    return "a,b\n" + "".join(f"{a},{b}\n" for a, b, _ in rows)


class OwnersWithRows(StoreProgramTest):
    """Three parties with a model in shares, and two owners with rows to predict."""

    def setUp(self):
        super().setUp()
        self.make_model()
        self.run_id = json.loads((self.folder / "m0/record.json").read_text())["run_id"]
        for party in range(3):
            with open(self.folder / f"d/party-{party}/party.toml", "a") as file:
                file.write(f'\n[predict]\nshare = "../../m{party}/model.share"\n')
        self.rows = {"hospital": records(3, 11), "clinic": records(5, 8)}

    def take_model_of(self, local):
        for party in range(3):
            shutil.copytree(self.folder / f"{local}/party-{party}/out", self.folder / f"m{party}")
            with open(self.folder / f"d/party-{party}/party.toml", "a") as file:
                file.write(f'\n[storage]\nkey = "../../{local}/party-{party}/party.key"\n')

    def write_predict_job(self, capacity=40, scores="false", more=""):
        self.write("job.toml", STORE_JOB.format(run=self.run_id, study=self.study, capacity=capacity, scores=scores) + more)

    def deposit_rows(self, owner, capacity, purpose="predict"):
        self.write("rows.csv", features(self.rows[owner]))
        output = self.succeed("deposit", "--study", "study.toml", "--key", f"{owner}/owner.key", "--in", "rows.csv", "--capacity", str(capacity),
                              "--purpose", purpose, "--out", f"rows-of-{owner}")
        self.assertIn(f"slots: rows-of-{owner}/slots.csv: keep it", output)
        self.accept(f"rows-of-{owner}")
        return re.search(r"(?m)^deposit ([0-9a-f]{64})$", output)[1]

    def deposit_all_rows(self):
        return {"hospital": self.deposit_rows("hospital", 16), "clinic": self.deposit_rows("clinic", 12)}

    def predict(self):
        for code, output, error in self.train():
            self.assertEqual((code, error), (0, ""), output)

    def files_of(self, deposit):
        return [f"r{party}/predictions-{deposit}.sealed" for party in range(3)]

    def open_args(self, owner, deposit, out, files=None):
        return ("owner", "open", "--key", f"{owner}/owner.key", "--deposit", f"rows-of-{owner}", "--study", "study.toml", "--out", out,
                *(files or self.files_of(deposit)))

    def opened(self, owner, deposit, out=None):
        """Lines of the owner's predictions.csv."""
        out = out or f"{owner}.csv"
        self.succeed(*self.open_args(owner, deposit, out))
        self.assertEqual(stat.S_IMODE((self.folder / out).stat().st_mode), 0o600)
        with open(self.folder / out) as file:
            return list(csv.reader(file))

    def of_a_client(self, owner, scores="false", more=""):
        """What a run for a client gives for the same rows."""
        self.write("client.csv", features(self.rows[owner]))
        path = self.folder / "d/party-0/party.toml"
        before = path.read_text()
        path.write_text(before + 'file = "../../client.csv"\n')
        self.write("job.toml", PREDICT_JOB.format(run=self.run_id, client=0, rows=20, scores=scores) + more)
        self.clear_runs()
        self.predict()
        path.write_text(before)
        with open(self.folder / "r0/predictions.csv") as file:
            return list(csv.reader(file))


class OfDeposits(OwnersWithRows):
    """The model was trained on the two owners' deposits."""
    job = JOB.replace("[privacy]", "[release]\nto = []\n[privacy]")

    def make_model(self):
        self.deposit_all()
        for code, output, error in self.train():
            self.assertEqual((code, error), (0, ""), output)
        for party in range(3):
            (self.folder / f"r{party}").rename(self.folder / f"m{party}")

    def test_owners_get_what_a_client_gets_and_nobody_else_gets_anything(self):
        ids = self.deposit_all_rows()
        for scores, more in (("false", ""), ("true", ""), ("false", "threshold = 0.7\n"), ("true", "threshold = 0.7\n")):
            self.write_predict_job(scores=scores, more=more)
            self.clear_runs()
            self.predict()
            found = {owner: self.opened(owner, one, f"{owner}-{scores}-{len(more)}.csv") for owner, one in ids.items()}
            labels = set()
            for owner, lines in found.items():
                expected = self.of_a_client(owner, scores, more)
                self.assertEqual(lines, expected)
                self.assertEqual(len(lines), 1 + len(self.rows[owner]))
                labels |= {line[1] for line in lines[1:]}
            self.assertEqual(labels, {"yes", "no"})

    def test_a_run_says_what_it_used_and_has_no_record_or_prediction_in_the_clear(self):
        ids = self.deposit_all_rows()
        self.write_predict_job()
        self.set_caps((1e-9, 1e-9, 1e-9))  # of which nothing is asked
        for party, (code, output, error) in enumerate(self.train()):
            self.assertEqual((code, error), (0, ""), output)
            self.assertIn("28 rows of 2 deposits classified: send each file to the owner of its deposit", output)
            self.assertIn("predictions are post-processing of the training", output)
            self.assertNotIn("ledger of", output)
            names = sorted(path.name for path in (self.folder / f"r{party}").iterdir())
            sealed = sorted(f"predictions-{one}.sealed" for one in ids.values())
            self.assertEqual(names, ["audit.jsonl", "data.salt", "job.toml", "party.log", *sealed, "record.json", "summary.json"])
            for name in sealed:
                path = self.folder / f"r{party}" / name
                self.assertEqual(stat.S_IMODE(path.stat().st_mode), 0o600)
                rows = 16 if ids["hospital"].startswith(name[12:28]) else 12
                self.assertEqual(path.stat().st_size, 132 + 32 + 24 + 17 + 2 * 8 * rows)
            summary = self.summary(f"r{party}")
            self.assertEqual((summary["run"], summary["capacity"], summary["scores"], summary["released_to"]), (self.run_id, 40, False, []))
            self.assertEqual((summary["deposits"]["study"], summary["deposits"]["purpose"], summary["deposits"]["left_out"]),
                             (self.study, "predict", []))
            self.assertEqual({one["deposit"]: one["rows"] for one in summary["deposits"]["used"]}, {ids["hospital"]: 16, ids["clinic"]: 12})
            self.assertEqual((self.folder / f"r{party}/record.json").read_text(), (self.folder / f"m{party}/record.json").read_text())
            self.assertFalse((self.folder / f"d/party-{party}/owner-ledgers").exists())
            # Rows as they were written, and labels, are in no file of a party.
            texts = [f"{a},{b}" for rows in self.rows.values() for a, b, _ in rows] + ["yes,", ",yes", ",no"]
            for folder in (f"r{party}", f"d/party-{party}"):
                for path in (self.folder / folder).rglob("*"):
                    if path.is_file():
                        content = path.read_bytes()
                        self.assertEqual([text for text in texts if text.encode() in content], [], path)

    def test_deposits_of_rows_to_predict_say_nothing_of_labels_and_train_nothing(self):
        self.deposit_rows("clinic", 12)
        lines = (self.folder / "rows-of-clinic/slots.csv").read_text().splitlines()
        self.assertRegex(lines[0], "^deposit,[0-9a-f]{64}$")
        self.assertEqual(lines[1:3], ["records,8", "record,slot"])
        self.assertEqual([line.split(",")[0] for line in lines[3:]], [str(k) for k in range(1, 9)])
        slots = [int(line.split(",")[1]) for line in lines[3:]]
        self.assertEqual((len(set(slots)), min(slots) >= 1, max(slots) <= 12), (8, True, True))
        self.assertEqual(stat.S_IMODE((self.folder / "rows-of-clinic/slots.csv").stat().st_mode), 0o600)
        self.assertFalse((self.folder / "of-clinic/slots.csv").exists())
        self.write_job(("capacity", 'purpose = "predict"\ncapacity'))
        self.fail_with(2, 'data.purpose: found "predict", expected another', "plan", "--job", "job.toml")
        self.write_predict_job(more='purpose = "train"\n')
        self.fail_with(2, 'predict.purpose: found "train", expected "predict" or a name that begins with "predict-"', "plan", "--job", "job.toml")

    def test_rounds_have_purposes_of_their_own(self):
        self.deposit_rows("hospital", 16)
        shutil.move(self.folder / "rows-of-hospital", self.folder / "first")
        self.rows["hospital"] = records(7, 9)
        second = self.deposit_rows("hospital", 10, purpose="predict-may")
        self.write_predict_job(capacity=10, more='purpose = "predict-may"\n')
        self.predict()
        lines = self.opened("hospital", second)
        self.assertEqual(lines, self.of_a_client("hospital"))

    def test_what_is_not_rows_is_left_out_and_the_others_get_theirs(self):
        ids = self.deposit_all_rows()
        secrets = [key_of(self.folder / f"d/party-{party}/deposit.key") for party in range(3)]
        self.write("rows.csv", features(self.rows["clinic"][:4]))
        self.succeed("deposit", "--study", "study.toml", "--key", "clinic/owner.key", "--in", "rows.csv", "--capacity", "4", "--purpose", "predict",
                     "--adds", "--out", "hostile")
        change_rows(self.folder / "hostile", secrets, key_of(self.folder / "clinic/owner.key"), lambda words: plus(words, MASK + ROW, 8, 1 << 16))
        hostile = self.accept("hostile")
        self.write_predict_job()
        for code, output, error in self.train():
            self.assertEqual((code, error), (0, ""), output)
            self.assertIn(f"warning: deposit {hostile} of clinic is left out: a row is neither a record", output)
        self.assertFalse((self.folder / f"r0/predictions-{hostile}.sealed").exists())
        self.assertEqual([(one["deposit"], one["why"]) for one in self.summary("r1")["deposits"]["left_out"]], [(hostile, "rows")])
        found = {owner: self.opened(owner, one) for owner, one in ids.items()}
        self.assertEqual(found, {owner: self.of_a_client(owner) for owner in ids})

    def test_files_that_do_not_belong_together_are_refused(self):
        ids = self.deposit_all_rows()
        self.write_predict_job()
        self.predict()
        own = self.files_of(ids["clinic"])
        others = self.files_of(ids["hospital"])
        # Another owner's key, another owner's deposit.
        self.fail_with(4, "refused (owner)", "owner", "open", "--key", "hospital/owner.key", "--deposit", "rows-of-clinic", "--study", "study.toml",
                       "--out", "x.csv", *own)
        self.fail_with(4, f"{others[0]}: found what this owner's key does not open", *self.open_args("clinic", None, "x.csv", others))
        self.succeed("deposit", "--study", "study.toml", "--key", "clinic/owner.key", "--in", "rows.csv", "--capacity", "9", "--purpose", "predict",
                     "--out", "other-of-clinic")
        self.fail_with(4, f"{own[0]}: found predictions of deposit {ids['clinic']}, expected those of", "owner", "open", "--key", "clinic/owner.key",
                       "--deposit", "other-of-clinic", "--study", "study.toml", "--out", "x.csv", *own)
        # One file twice; another run's; a changed one; none.
        self.fail_with(4, f"{own[1]}: found party 1's file again", *self.open_args("clinic", None, "x.csv", [own[1], own[1], own[2]]))
        changed = self.folder / "changed.sealed"
        content = bytearray((self.folder / own[2]).read_bytes())
        for at in (24, 60, 80, 120, len(content) - 1):
            content[at] ^= 1
            changed.write_bytes(content)
            self.fail_with(4, "changed.sealed: found ", *self.open_args("clinic", None, "x.csv", [own[0], own[1], "changed.sealed"]))
            content[at] ^= 1
        shutil.copytree(self.folder / "r1", self.folder / "before")
        self.write_predict_job(more="threshold = 0.7\n")
        self.clear_runs()
        self.predict()
        self.fail_with(4, "are of different deposits, runs or jobs",
                       *self.open_args("clinic", None, "x.csv", [own[0], f"before/predictions-{ids['clinic']}.sealed", own[2]]))
        # Of one job in another session: whole, and of another sharing.
        shutil.copytree(self.folder / "r1", self.folder / "earlier")
        self.clear_runs()
        self.predict()
        self.fail_with(4, "party 1's part is not what both others have",
                       *self.open_args("clinic", None, "x.csv", [own[2], own[0], f"earlier/predictions-{ids['clinic']}.sealed"]))
        self.assertFalse((self.folder / "x.csv").exists())
        self.opened("clinic", ids["clinic"])
        self.fail_with(2, "clinic.csv: exists already", *self.open_args("clinic", ids["clinic"], "clinic.csv"))
        slots = self.folder / "rows-of-clinic/slots.csv"
        kept = slots.read_text()
        slots.write_text("".join(kept.splitlines(keepends=True)[:-1]))
        self.fail_with(4, "slots.csv: found 7 records, expected the 8 of its second line", *self.open_args("clinic", ids["clinic"], "x.csv"))
        slots.write_text((self.folder / "rows-of-hospital/slots.csv").read_text())
        self.fail_with(4, f"slots.csv: line 1: found something else, expected the deposit {ids['clinic']}",
                       *self.open_args("clinic", ids["clinic"], "x.csv"))
        slots.write_text(kept)
        self.write("other.toml", (self.folder / "study.toml").read_text().replace('["no", "yes"]', '["yes", "no"]'))
        swapped = ["other.toml" if word == "study.toml" else word for word in self.open_args("clinic", ids["clinic"], "x.csv")]
        self.fail_with(4, "other.toml: found study", *swapped)

    def test_what_does_not_fit_is_said_before_peers_are_met(self):
        run = ("run", "--config", "d/party-0/party.toml", "--job", "job.toml", "--out")
        self.write_predict_job()
        self.fail_with(4, f"found no deposit of study {self.study} and purpose predict", *run, "a")
        self.deposit_all_rows()
        self.write_predict_job(capacity=27)
        self.fail_with(2, "predict.capacity: found 27, expected at least 28", *run, "b")
        self.write_predict_job(more="client = 0\n")
        self.fail_with(2, 'predict.client: only predict.source "files" has it', *run, "c")
        self.write_predict_job()
        self.fail_with(2, 'predict.source: found "store", expected "files"', "local", "--job", "job.toml", "--model", "m0", "--data", "rows.csv", "--out", "l")
        checks = [self.start_program("check", "--config", f"d/party-{party}/party.toml", "--job", "job.toml", "--wait", "20s") for party in range(3)]
        for check in checks:
            output, error = check.communicate(timeout=PATIENCE)
            self.assertEqual(check.returncode, 0, output + error)
            self.assertIn("2 deposits of 28 rows", output)
            self.assertNotIn("ledgers of owners", output)
        # Of records that are not the model's.
        self.write("other.toml", self.job.replace('name = "b"\n', 'name = "b"\nscale = 2.0\n'))
        keys = [f"d/party-{party}/deposit.pub" for party in range(3)]
        made = self.succeed("study", "init", "--job", "other.toml", "--keys", *keys, "--out", "other-study.toml")
        other = re.search(r"(?m)^id +([0-9a-f]{64})$", made)[1]
        self.succeed("deposit", "--study", "other-study.toml", "--key", "clinic/owner.key", "--in", "rows.csv", "--capacity", "9", "--purpose", "predict",
                     "--adds", "--out", "other-rows")
        self.succeed("accept", "--config", "d/party-0/party.toml", "--study", "other-study.toml", "other-rows/party-0.deposit")
        self.write("job.toml", STORE_JOB.format(run=self.run_id, study=other, capacity=40, scores="false"))
        self.fail_with(2, "predict.study: the job's records are not the study's: columns.column.1.scale: found 1.0, expected 2.0", *run, "e")

    def test_costs_what_is_planned_for_as_many_deposits(self):
        for owner in ("hospital", "clinic"):
            self.deposit_rows(owner, 16)
        self.write_predict_job(capacity=32)
        self.predict()
        self.write("training.toml", self.job)
        self.assert_costs_as_planned("--model-job", "training.toml", rows=16)

    def test_a_plan_counts_the_capacity(self):
        self.write("training.toml", self.job)
        figures = []
        for capacity in (1024, 2048):
            self.write_predict_job(capacity=capacity)
            plan = ("plan", "--job", "job.toml", "--model-job", "training.toml")
            self.assertIn(f"the checks of 4 deposits of {capacity // 4} rows each. This is assumed (--deposits)", self.succeed(*plan, "--deposits", 4))
            run, = json.loads(self.succeed(*plan, "--json"))["run_costs"]
            figures.append((run["rounds"], sum(run["bytes_sent"])))
        self.assertGreater(figures[1], figures[0])
        self.fail_with(2, "--deposits: found without --model-job", "plan", "--job", "job.toml", "--deposits", 4)


class OfOwnData(OwnersWithRows):
    """A network of three classes, which `local` trained on data that it dealt to parties."""
    job = (JOB.replace('source = "store"\ncapacity = 80', "rows = [40, 40, 40]").replace("classes = 2", "classes = 3")
           .replace('values = ["no", "yes"]', 'values = ["no", "yes", "perhaps"]').replace("[privacy]", "[release]\nto = []\n[privacy]")
           .replace('loss = "squared"', "hidden = [4]").replace("steps = 8", "steps = 20").replace('sampling = "full"\n', ""))

    def make_model(self):
        kinds = ["no", "yes", "perhaps"]
        rows = [(a, b, kinds[0 if b > 0.2 else 1 + label]) for a, b, label in records(1, 100)]
        self.write("train.csv", "a,b,y\n" + "".join(f"{a},{b},{y}\n" for a, b, y in rows))
        self.succeed("local", "--job", "job.toml", "--data", ".", "--out", "l")
        self.take_model_of("l")

    def test_owners_get_what_a_client_gets(self):
        ids = self.deposit_all_rows()
        self.write_predict_job(scores="true")
        self.predict()
        found = {owner: self.opened(owner, one) for owner, one in ids.items()}
        for owner, lines in found.items():
            self.assertEqual(lines[0], ["row", "label", "score_no", "score_yes", "score_perhaps"])
            for line, expected in zip(lines[1:], self.of_a_client(owner, "true")[1:], strict=True):
                self.assertEqual(line[:2], expected[:2])
                for one, other in zip(line[2:], expected[2:], strict=True):
                    self.assertAlmostEqual(float(one), float(other), delta=0.01)  # hidden layers round by coins


class OfOwnDataInFewBits(OwnersWithRows):
    """The model was trained on parties' own rows, which had fewer bits in its steps than the model has."""
    job = (JOB.replace('source = "store"\ncapacity = 80', "rows = [40, 40, 40]").replace("[privacy]", "[release]\nto = []\n[privacy]")
           .replace('sampling = "full"\n', "").replace("row_norm = 1.5", "row_norm = 1.5\nfraction_bits = 10"))

    def make_model(self):
        self.write("train.csv", table(records(1, 100)))
        self.succeed("local", "--job", "job.toml", "--data", ".", "--out", "l")
        self.take_model_of("l")

    def test_owners_get_what_a_client_gets(self):
        ids = self.deposit_all_rows()
        self.write_predict_job(scores="true")
        self.predict()
        found = {owner: self.opened(owner, one) for owner, one in ids.items()}
        self.assertEqual(found, {owner: self.of_a_client(owner, "true") for owner in ids})


if __name__ == "__main__":
    unittest.main()
