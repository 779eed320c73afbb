"""A model that is released to nobody, and predictions by its shares: three party processes over TLS."""

import csv
import gzip
import hashlib
import json
import os
import stat
import unittest

from kept_models import PREDICT_JOB
from training_test import PARTIES, Training
from trefoil_program import PATIENCE


class PredictRun(Training):
    """Trained with release.to = [] in setUp; the test set of 2000 digits is party 0's."""

    def setUp(self):
        super().setUp()
        self.prepare("--set", "release.to=[]", "--set", "evaluation.holder=0", "--set", "evaluation.rows=2000",
                     "--set", "training.steps=30")
        self.outputs = self.end_all(self.start_parties())
        self.run_id = json.loads((self.folder / "r0/record.json").read_text())["run_id"]
        for i in PARTIES:
            self.name_in_party_file(i, f'[predict]\nshare = "../../r{i}/model.share"\n')
        self.name_in_party_file(0, 'x = "test/t10k-images-idx3-ubyte.gz"\n')

    def name_in_party_file(self, party, text):
        with open(self.folder / f"d/party-{party}/party.toml", "a") as file:
            file.write(text)

    def end_all(self, processes, codes=(0, 0, 0)):
        outputs = [process.communicate(timeout=PATIENCE) for process in processes]
        self.assertEqual(tuple(process.returncode for process in processes), codes, outputs)
        return outputs

    def write_job(self, client=0, rows=2000, scores="false", run=None):
        self.write("predict.toml", PREDICT_JOB.format(run=run or self.run_id, client=client, rows=rows, scores=scores))

    def start_prediction(self, out):
        return [self.start_program("run", "--config", f"d/party-{i}/party.toml", "--job", "predict.toml", "--out",
                                   f"{out}{i}", "--threads", "1") for i in PARTIES]

    def test_the_client_alone_gets_predictions(self):
        for i in PARTIES:
            self.assertFalse((self.folder / f"r{i}/model.npz").exists())
            share = self.folder / f"r{i}/model.share"
            self.assertEqual(stat.S_IMODE(share.stat().st_mode), 0o600)
            self.assertIn(f"model.share of run {self.run_id}", self.outputs[i][0])
        trained = self.summary("r0")
        self.assertGreater(trained["accuracy"], 0.3)  # guessing gives 0.1; 0.56 with deviation 0.04 (16 runs)

        self.write_job()
        outputs = self.end_all(self.start_prediction("p"))
        self.assertEqual([(self.folder / f"p{i}/predictions.csv").exists() for i in PARTIES], [True, False, False])
        with open(self.folder / "p0/predictions.csv") as file:
            rows = list(csv.DictReader(file))
        self.assertEqual((len(rows), list(rows[0])), (2000, ["row", "label"]))
        labels = self.labels()
        correct = sum(int(row["label"]) == label for row, label in zip(rows, labels))
        self.assertEqual(correct, trained["evaluation"]["correct"])  # the same integers twice
        for i in PARTIES:
            summary = self.summary(f"p{i}")
            self.assertEqual((summary["run"], summary["client"], summary["rows"]), (self.run_id, 0, 2000))
            self.assertEqual(summary["epsilon_insider"], trained["epsilon_insider"])
            self.assertIn("post-processing", summary["covered_by"])
            self.assertGreater(summary["bytes_sent"], 0)
            self.assertEqual((self.folder / f"p{i}/record.json").read_text(),
                             (self.folder / f"r{i}/record.json").read_text())
            self.assertEqual(sorted(path.name for path in (self.folder / f"p{i}").iterdir()),
                             ["audit.jsonl", "data.salt", "job.toml", "party.log"] + ["predictions.csv"] * (i == 0) + ["record.json", "summary.json"])
        self.assertIn("predictions are post-processing", outputs[1][0])
        # Few classes of few rows are soon guessed: a reader of the log must not see that a guess is right.
        log = (self.folder / "p0/audit.jsonl").read_text()
        digest = hashlib.sha256((self.folder / "p0/predictions.csv").read_bytes()).hexdigest()
        self.assertNotIn(digest, log)
        salted = hashlib.sha256(((self.folder / "p0/data.salt").read_text() + digest).encode()).hexdigest()
        self.assertEqual([json.loads(line)["salted_sha256"] for line in log.splitlines() if '"release"' in line], [salted])
        self.assertIn("1 releases, unbroken", self.succeed("ledger", "verify", "p0/audit.jsonl"))

        # With scores, of fewer rows than declared: the same classes, and their logits are the largest.
        self.write_job(rows=2500, scores="true")
        self.end_all(self.start_prediction("s"))
        with open(self.folder / "s0/predictions.csv") as file:
            scored = list(csv.DictReader(file))
        self.assertEqual([row["label"] for row in scored], [row["label"] for row in rows])
        self.assertEqual(list(scored[0])[2:], [f"score_{k}" for k in range(10)])
        for row in scored[:50]:
            scores = [float(row[f"score_{k}"]) for k in range(10)]
            self.assertEqual(scores.index(max(scores)), int(row["label"]))

    def labels(self):
        data = gzip.decompress((self.folder / "d/party-0/test/t10k-labels-idx1-ubyte.gz").read_bytes())
        return list(data[8:])

    def test_shares_that_do_not_fit_are_refused(self):
        for i in PARTIES:
            self.edit_party(i, '^start = "[^"]*"', 'start = "10s"')
        self.write_job()
        run = [("run", "--config", f"d/party-{i}/party.toml", "--job", "predict.toml", "--out", f"x{i}") for i in PARTIES]

        # Changed at party 1: it says so, tells the others if they are there in time, and does not go on.
        share = self.folder / "r1/model.share"
        sealed = bytearray(share.read_bytes())
        sealed[-1] ^= 1
        share.write_bytes(sealed)
        outputs = self.end_all(self.start_prediction("t"), (3, 4, 3))
        self.assert_one_error_line(outputs[1][1], "model.share: cannot be opened: it was changed")
        for i in (0, 2):
            self.assert_one_error_line(outputs[i][1], "before the start: party 1: ")
        sealed[-1] ^= 1
        share.write_bytes(sealed)

        # Another party's, another key's, readable by others, another run's, more rows than declared, none named.
        own = share.read_bytes()
        share.write_bytes((self.folder / "r2/model.share").read_bytes())
        self.fail_with(4, "found party 2's share, expected party 1's", *run[1])
        share.write_bytes(own)
        key = self.folder / "d/party-1/other.key"
        key.write_bytes(os.urandom(64))
        key.chmod(0o600)
        self.name_in_party_file(1, '[storage]\nkey = "other.key"\n')
        self.fail_with(4, "storage key is not the one that sealed it", *run[1])
        share = self.folder / "r2/model.share"
        share.chmod(0o644)
        self.fail_with(2, "found mode 0644, expected 0600", *run[2])
        share.chmod(0o600)
        self.write_job(rows=1999)
        self.fail_with(4, "found 2000 rows, expected at most the 1999", *run[0])
        self.write_job(run="0" * 32)
        self.fail_with(2, f"found the model of run {self.run_id}, expected 000", *run[2])
        self.write_job(client=2)
        self.fail_with(2, "missing predict.x, expected the rows to predict", *run[2])
        self.edit_party(2, "^share = .*$", "")
        self.fail_with(2, "missing predict.share", *run[2])

    def test_local_runs_a_prediction_by_the_shares_of_an_earlier_one(self):
        for i in PARTIES:  # as `local` leaves them
            (self.folder / f"r{i}").rename(self.folder / f"d/party-{i}/out")
        rows = "d/party-0/test/t10k-images-idx3-ubyte.gz"
        local = ("local", "--job", "predict.toml", "--model", "d", "--data", rows)
        self.write_job(client=2)
        result = self.run_program(*local, "--out", "lp")
        self.assertEqual(result.returncode, 0, result.stderr)
        with open(self.folder / "lp/predictions.csv") as file:
            labels = [int(row["label"]) for row in csv.DictReader(file)]
        trained = self.summary("d/party-0/out")
        correct = sum(a == b for a, b in zip(labels, self.labels()))
        self.assertEqual(correct, trained["evaluation"]["correct"])  # the same integers twice
        self.assertEqual(self.summary("lp")["client"], 2)

        self.fail_with(2, "--model: missing, expected the run directory", "local", "--job", "predict.toml")
        self.fail_with(2, "--data: missing, expected the file with the rows", *local[:5])
        self.fail_with(2, "--ledger: found with a job that no ledger charges", *local, "--ledger", "l", "--epsilon-cap", "1")
        self.fail_with(2, "nowhere/party-0/party.toml", *local[:4], "nowhere", *local[5:])
        self.write_job(client=2, rows=1999)
        self.fail_with(4, "found 2000 rows, expected at most the 1999", *local, "--out", "none")
        self.assertFalse((self.folder / "none").exists())
        self.fail_with(2, "--model: found d, expected none: the job asks no model of another run", "local", "--job", "job.toml", "--model", "d")

    def test_check_examines_share_and_rows(self):
        self.write_job()
        check = ("check", "--job", "predict.toml", "--wait", "50ms", "--config")
        passed = self.run_program(*check, "d/party-0/party.toml").stdout
        self.assertIn(f"pass  share of the model: d/party-0/../../r0/model.share, of run {self.run_id}", passed)
        self.assertIn("pass  rows to predict: 2000 rows", passed)
        self.assertNotIn("rows to predict", self.run_program(*check, "d/party-1/party.toml").stdout)
        self.write_job(run="0" * 32, rows=1999)
        self.assertIn("fail  share of the model: d/party-0/../../r0/model.share: found the model of run",
                      self.run_program(*check, "d/party-0/party.toml").stdout)
        self.write_job(rows=1999)
        self.assertIn("fail  rows to predict: ", self.run_program(*check, "d/party-0/party.toml").stdout)

    def test_different_jobs_are_named_at_all_three(self):
        for i in PARTIES:
            self.edit_party(i, '^start = "[^"]*"', 'start = "10s"')
        self.write_job()
        self.write("other.toml", (self.folder / "predict.toml").read_text().replace("client = 0", "client = 1"))
        processes = [self.start_program("run", "--config", f"d/party-{i}/party.toml", "--job",
                                        "other.toml" if i == 2 else "predict.toml", "--out", f"o{i}") for i in PARTIES]
        outputs = [process.communicate(timeout=PATIENCE) for process in processes]
        self.assertEqual(processes[2].returncode, 2, outputs)
        self.assert_one_error_line(outputs[2][1], "predict.client")
        for i in (0, 1):
            self.assertIn(processes[i].returncode, (2, 3), outputs)


if __name__ == "__main__":
    unittest.main()
