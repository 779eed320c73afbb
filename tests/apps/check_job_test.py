"""trefoil check for jobs that are no trainings: finds what is wrong with their files and settings, and says how to mend it."""

import hashlib
import json
import shutil
import unittest

from account_votes_test import npy
from average_test import JOB as AVERAGE_JOB
from checked_parties import CheckedParties
from histogram_test import JOB as HISTOGRAM_JOB
from kept_models import PREDICT_JOB
from pate_test import JOB as PATE_JOB
from transfer_test import JOB as TRANSFER_JOB
from trefoil_program import PATIENCE, TINY_JOB, ProgramTest, prepared

TOO_SMALL = '\n[ledger]\nfile = "ledger.jsonl"\nepsilon_cap = 0.001\ndelta = 1e-5\n'
LARGE = TOO_SMALL.replace("0.001", "100000")
STORAGE = '\n[storage]\nkey = "other.key"\n'
CORRECT = ": correct that file, the party file's table that names it, or what the job says of it"
CORRECT_JOB = ": correct the job, at all three"


class CheckJob(CheckedParties, ProgramTest):
    """Each test deploys three parties with good files, plants one fault after the other, and checks party 0."""

    def prepare(self, job, files):
        self.job = self.write("job.toml", job)
        (self.folder / "data").mkdir()
        for name, content in files.items():
            (self.folder / "data" / name).write_bytes(content)
        self.succeed("local", "--job", self.job, "--data", "data", "--out", "good", *prepared())
        self.deploy()
        self.assertIn("pass  data: ", self.check().stdout)

    def expect_faults(self, faults):
        for name, (plant, code, line) in faults.items():
            with self.subTest(name):
                self.deploy()
                plant()
                self.expect(code, line)

    def expect_job_faults(self, faults):
        for pattern, replacement, code, line in faults:
            with self.subTest(replacement):
                self.deploy()
                self.expect(code, line, self.edited_job(pattern, replacement))

    def party(self, pattern, replacement, party=0):
        return lambda: self.edit("party.toml", pattern, replacement, party)

    def file(self, name, content):
        return lambda: self.path(name).write_bytes(content if isinstance(content, bytes) else content.encode())

    def expect_room(self, *needed, disks=("1.0 MB", "1.0 MB", "1.0 MB")):
        """Memory that each party needs at least, and disk, which but for long results is that of a run's small files."""
        for party, (memory, disk) in enumerate(zip(needed, disks)):
            out = self.check(party).stdout
            self.assertRegex(out, f"(?m)^pass  memory: .* free, about {memory} needed$")
            self.assertRegex(out, f"(?m)^pass  disk of this folder: .* free, at least {disk} needed$")

    def test_histogram(self):
        self.prepare(HISTOGRAM_JOB, {"train.csv": ("id,colour\n" + "1,red\n" * 120).encode()})
        self.expect_room("688 B", "688 B", "688 B")  # 40 records of two words, shares of 3 counts
        self.expect_faults({
            "no [data]": (self.party(r"(?ms)^\[data\].*?(?=^\[|\Z)", ""), 2, "data: .*missing .data. file, expected this party's CSV file" + CORRECT),
            "images": (self.party('(?m)^file = "data.*$', 'x = "data/x"\ny = "data/y"'), 2, "data: .*missing .data. file"),
            "no file": (lambda: self.path("data/train.csv").unlink(), 4, "data: .*train.csv: found no such file.*" + CORRECT),
            "empty": (self.file("data/train.csv", ""), 4, "data: .*train.csv: .*" + CORRECT),
            "no such column": (self.file("data/train.csv", "id,color\n1,red\n"), 4, 'data: .*train.csv: .*colour.*' + CORRECT),
            "a ragged line": (self.file("data/train.csv", "id,colour\n1\n"), 4, "data: .*train.csv: row 2: found 1 fields, expected 2" + CORRECT),
            "too many records": (self.file("data/train.csv", "id,colour\n" + "1,red\n" * 41), 4, "data: .*found 41 r.*at most the 40.*" + CORRECT),
            "spent": (lambda: self.append("party.toml", TOO_SMALL), 5, "ledger: .*at most the cap 0.001.*: spend less by the job"),
        })
        self.expect_job_faults([
            ('"colour"', '""', 4, "data: .*" + CORRECT),
            ("epsilon = 200.0", "epsilon = 0.0", 2, "job: .*privacy.epsilon: found 0.*" + CORRECT_JOB),
            ("epsilon = 200.0", "epsilon = 1.0\nsigma = 1.0", 2, "job: .*privacy.sigma.*" + CORRECT_JOB),
            ('"blue"', '"red"', 2, "job: .*histogram.values: .*different.*" + CORRECT_JOB),
            ("column = ", "colum = ", 2, "job: .*unknown key histogram.colum; did you mean histogram.column.*" + CORRECT_JOB),
            ('"central"', '"global"', 2, "job: .*histogram.mode: found \"global\".*" + CORRECT_JOB),
            (r"\[40, 40, 40\]", "[40, 40]", 2, "job: .*data.rows: .*" + CORRECT_JOB),
        ])

    def test_votes(self):
        labels = [[(teacher + query) % 3 for query in range(40)] for teacher in range(7)]
        queries = "".join(f"{k}\n" for k in range(40)).encode()
        self.prepare(PATE_JOB.replace("classes = 3", 'classes = 3\nmechanism = "gnmax"\nsigma = 40.0'),
                     {"predictions.npy": npy(labels), "queries.csv": queries})
        # What run compares with the others' can be read out here.
        self.assertIn("4 teachers' labels of 40 queries, whose file has SHA-256 " + hashlib.sha256(queries).hexdigest(), self.check().stdout)
        self.expect_room("2.6 kB", "1.9 kB", "2.4 kB")  # a party's labels, shares of 120 votes
        own = labels[:4]
        self.expect_faults({
            "no queries named": (self.party("(?m)^queries.*$", ""), 2, "data: .*missing pate.queries, expected the file of public queries.*" + CORRECT),
            "no query file": (lambda: self.path("data/queries.csv").unlink(), 4, "data: .*queries.csv: .*" + CORRECT),
            "no predictions named": (self.party("(?m)^predictions.*$", ""), 2, "data: .*missing pate.predictions, expected the labels.*" + CORRECT),
            "no predictions": (lambda: self.path("data/predictions.npy").unlink(), 4, "data: .*predictions.npy: .*" + CORRECT),
            "another's predictions": (self.file("data/predictions.npy", npy(labels[4:])), 4,
                                      "data: .*found 3 teachers and 40 queries, expected 4 and 40.*" + CORRECT),
            "fewer queries": (self.file("data/predictions.npy", npy([row[:39] for row in own])), 4, "data: .*found 4 teachers and 39 queries"),
            "a class too many": (self.file("data/predictions.npy", npy([own[0], own[1], [3] + own[2][1:], own[3]])), 4,
                                 "data: .*teacher 3, query 1: found 3, expected a class, a whole number from 0 to 2" + CORRECT),
            "cut": (self.file("data/predictions.npy", npy(own)[:-9]), 4, "data: .*predictions.npy: .*" + CORRECT),
            "a ledger of nothing": (lambda: self.append("party.toml", LARGE), 2,
                                    "data: .*missing .data., expected the teachers' training data, which the ledger is of" + CORRECT),
            "spent": (lambda: (self.edit("party.toml", r"(?m)^\[data\]$", '[data]\nfile = "data/queries.csv"'), self.append("party.toml", TOO_SMALL)), 5,
                      "ledger: .*at most the cap 0.001.*: spend less by the job"),
        })
        self.deploy()
        self.edit("party.toml", "(?m)^queries", 'predictions = "data/queries.csv"\nqueries', 1)
        self.assertRegex(self.check(1).stdout, "fail  data: .*pate.predictions: found a file, expected none: the job declares no teachers here" + CORRECT)
        self.expect_job_faults([
            ('"gnmax"', '"maximum"', 2, "job: .*pate.mechanism: found \"maximum\".*" + CORRECT_JOB),
            ("sigma = 40.0", "", 2, "job: .*missing pate.sigma.*" + CORRECT_JOB),
            (r"\[4, 0, 3\]", "[0, 0, 0]", 2, "job: .*pate.teachers: .*" + CORRECT_JOB),
            ("delta = 1e-5", "delta = 1.0", 2, "job: .*privacy.delta: found 1.*" + CORRECT_JOB),
            (r"teachers = \[4, 0, 3\]\nqueries = 40\nclasses = 3", "teachers = [40000, 0, 3]\nqueries = 1000000\nclasses = 1000", 2,
             "memory: found .* free, expected about 176.0 GB: more memory, or a smaller job, at all three parties"),
            (r"\[4, 0, 3\]", "[0, 4, 3]", 2, "data: .*expected none: the job declares no teachers here" + CORRECT),
        ])

    def test_averages(self):
        rows = "".join(f"{k % 7 / 10},{k % 5 / 10},{'yes' if k % 3 else 'no'}\n" for k in range(120))
        self.prepare(AVERAGE_JOB + "[local]\nowner_rows = [30, 40, 50]\n[release]\nto = []\n", {"train.csv": ("a,b,c\n" + rows).encode()})
        self.expect_room("1.5 kB", "1.3 kB", "1.3 kB")  # records, shares of a sum and 16 noises of 3 weights
        own = self.path("data/train.csv").read_text()
        self.expect_faults({
            "no [data]": (self.party(r"(?ms)^\[data\].*?(?=^\[|\Z)", ""), 2, "data: .*missing .data., expected x and y, or file" + CORRECT),
            "no file": (lambda: self.path("data/train.csv").unlink(), 4, "data: .*train.csv: .*" + CORRECT),
            "owners of other sizes": (self.party(r"\[30, 40\]", "[30, 41]"), 2, "data: .*owners.rows: found 2 numbers of sum 71, expected 2 of sum 70.*" + CORRECT),
            "owners too many": (self.party(r"\[30, 40\]", "[30, 30, 10]"), 2, "data: .*owners.rows: found 3 numbers"),
            "negative": (self.party(r"\[30, 40\]", "[-1, 71]"), 2, "party file: .*owners.rows.*: correct it"),
            "another column": (self.file("data/train.csv", own.replace("a,b,c", "a,d,c")), 4, "data: .*train.csv: .*" + CORRECT),
            "no number": (self.file("data/train.csv", own.replace("0.1,", "x,", 1)), 4, "data: .*train.csv: .*\"x\".*" + CORRECT),
            "an unknown label": (self.file("data/train.csv", own.replace("yes", "maybe", 1)), 4, "data: .*train.csv: .*\"maybe\".*" + CORRECT),
            "no storage key": (lambda: self.append("party.toml", STORAGE), 2, "storage key: .*other.key: No such file.*: correct storage.key, or make it"),
            "what no ledger takes": (lambda: self.append("party.toml", LARGE), 5,
                                     'ledger: .*privacy.neighbours: found "replaced", which no epsilon covers.*' + CORRECT_JOB),
        })
        self.deploy()
        self.append("party.toml", "\n[owners]\nrows = [10]\n", 2)
        self.assertRegex(self.check(2).stdout, "fail  data: .*owners.rows: found numbers, expected none: the job declares no owners here" + CORRECT)
        self.expect_job_faults([
            ("classes = 2", "classes = 3", 2, "job: .*data.classes.*" + CORRECT_JOB),
            ("least_rows = 20", "least_rows = 91", 2, "job: .*owners.least_rows: found 91.*" + CORRECT_JOB),
            ("lambda = 0.1", "lambda = 0.0", 2, "job: .*average.lambda: found 0.*" + CORRECT_JOB),
            (r"rows = \[90", "rows = [69", 4, "data: .*found 70 rows, expected at most the 69.*" + CORRECT),
        ])

    def test_transfer(self):
        rows = [(k % 7 / 10, k % 5 / 10) for k in range(60)]
        labels = [[int(a > b + owner / 20) for a, b in rows] for owner in range(9)]
        self.prepare(TRANSFER_JOB, {"queries.npy": npy(rows, "<f8", "d"), "predictions.npy": npy(labels)})
        self.assertIn("4 classifiers' labels of 60 queries, whose file has SHA-256 ", self.check().stdout)
        self.expect_room("4.8 kB", "3.9 kB", "5.1 kB")  # labels, the rows twice, shares of votes and weights
        nan = [(float("nan"), 0.0)] + rows[1:]
        self.expect_faults({
            "fewer queries": (self.file("data/queries.npy", npy(rows[1:], "<f8", "d")), 4,
                              r"data: .*queries.npy: found shape \(59, 2\), expected 60 queries x 2 features" + CORRECT),
            "no number": (self.file("data/queries.npy", npy(nan, "<f8", "d")), 4, "data: .*query 1, feature 1: found nan, expected a finite number.*" + CORRECT),
            "text": (self.file("data/queries.npy", "1,2\n"), 4, "data: .*queries.npy: header: .*the magic string of an NPY file" + CORRECT),
            "no queries named": (self.party("(?m)^queries.*$", ""), 2, "data: .*missing pate.queries.*" + CORRECT),
            "no predictions": (lambda: self.path("data/predictions.npy").unlink(), 4, "data: .*predictions.npy: .*" + CORRECT),
            "a third class": (self.file("data/predictions.npy", npy([[2] + labels[0][1:], *labels[1:4]])), 4,
                              "data: .*teacher 1, query 1: found 2, expected a class, a whole number from 0 to 1" + CORRECT),
            "a ledger of nothing": (lambda: self.append("party.toml", LARGE), 2, "data: .*missing .data., expected the teachers' training data"),
        })
        self.expect_job_faults([
            ("features = 2", "features = 3", 4, r"data: .*found shape \(60, 2\), expected 60 queries x 3 features"),
            ("sigma = 0.01", "sigma = 0.001", 2, "job: .*privacy.sigma: found 0.001.*" + CORRECT_JOB),
            ("sigma = 0.01", "epsilon = 1.0\nagainst = \"all\"", 2, "job: .*privacy.against: found \"all\".*" + CORRECT_JOB),
            (r"\[4, 0, 5\]", "[5, 0, 5]", 4, "data: .*found 4 teachers and 60 queries, expected 5 and 60.*" + CORRECT),
        ])

    def test_a_ledger_of_other_data(self):
        self.prepare(HISTOGRAM_JOB, {"train.csv": ("id,colour\n" + "1,red\n" * 120).encode()})
        for party in range(3):
            self.append("party.toml", LARGE, party)
        processes = [self.start_program("run", "--config", f"d/party-{i}/party.toml", "--job", self.job, "--out", f"r{i}") for i in range(3)]
        for process in processes:
            _, error = process.communicate(timeout=PATIENCE)
            self.assertEqual(process.returncode, 0, error)
        self.assertRegex(self.check().stdout, "(?m)^pass  ledger: ")
        self.path("data/train.csv").write_text("id,colour\n2,red\n")
        self.expect(4, "ledger: .*found other data than the ledger's: a ledger is of one data set: name its files in .data., or another file in .ledger.")

    def test_predictions(self):
        training = self.write("training.toml", TINY_JOB.replace("steps = 6", "steps = 1"))
        self.succeed("local", "--job", training, "--out", "good", "--set", "release.to=[]")
        run = json.loads((self.folder / "good/record.json").read_text())["run_id"]
        self.job = self.write("job.toml", PREDICT_JOB.format(run=run, client=0, rows=2000, scores="false"))
        self.deploy()
        images, labels = (next(self.path("data").glob(f"*{kind}*")) for kind in ("images", "labels"))
        self.succeed("local", "--job", training, "--out", "second", "--set", "release.to=[]")
        shutil.copy(self.folder / "second/party-0/out/model.share", self.folder / "good/party-0/second.share")
        for name in ("other.key", "short.key"):
            (self.folder / "good/party-0" / name).write_bytes(b"k" * (40 if name == "other.key" else 9))
            (self.folder / "good/party-0" / name).chmod(0o600)
        toml = self.folder / "good/party-0/party.toml"
        toml.write_text(toml.read_text() + f'\n[predict]\nshare = "out/model.share"\nx = "data/{images.name}"\n')
        self.deploy()
        for line in ("storage key: the private key", "share of the model: .*of run " + run, "rows to predict: 300 rows"):
            self.assertRegex(self.check().stdout, "(?m)^pass  " + line)
        # Shares of the weights and of a block of rows; the client's rows.
        self.expect_room("19.3 MB", disks=("1.1 MB",))
        share = self.path("out/model.share")
        sealed = share.read_bytes()
        mend = ": name this party's model.share of that run in the party file's .predict., and in .storage. the key that it was sealed with"
        self.expect_faults({
            "no share named": (self.party('(?m)^share.*$', ""), 2, "share of the model: .*missing predict.share.*" + mend),
            "no share": (lambda: share.unlink(), 2, "share of the model: .*model.share: .*" + mend),
            "a share sealed with another key": (self.party("out/model.share", "second.share"), 4, "share of the model: .*second.share: cannot be opened.*" + mend),
            "another party's share": (lambda: shutil.copy(self.path("out/model.share", 1), share), 4,
                                      "share of the model: .*found party 1's share, expected party 0's" + mend),
            "a changed share": (lambda: share.write_bytes(sealed[:-1] + bytes([sealed[-1] ^ 1])), 4, "share of the model: .*cannot be opened: it was changed.*" + mend),
            "a cut share": (lambda: share.write_bytes(sealed[:40]), 4, "share of the model: .*found an incomplete file.*" + mend),
            "a share that others can read": (lambda: share.chmod(0o644), 2, "share of the model: .*chmod 600"),
            "another key": (lambda: self.append("party.toml", STORAGE), 4, "share of the model: .*this party's storage key is not the one that sealed it" + mend),
            "a short key": (lambda: self.append("party.toml", STORAGE.replace("other", "short")), 2, "storage key: .*found 9 bytes.*: make it anew"),
            "no key": (lambda: self.append("party.toml", STORAGE.replace("other", "no")), 2, "storage key: .*no.key: No such file.*: correct storage.key, or make it"),
            "no rows named": (self.party('(?m)^x = "data/[^"]*"\n\\Z', ""), 2, "rows to predict: .*missing predict.x, expected the rows to predict.*" + CORRECT),
            "labels as rows": (self.party(f'(?m)^x = "data/{images.name}"\n\\Z', f'x = "data/{labels.name}"\n'), 4, "rows to predict: .*labels.*" + CORRECT),
            "cut rows": (lambda: self.path(f"data/{images.name}").write_bytes(images.read_bytes()[:-9]), 4, "rows to predict: .*damaged or cut.*" + CORRECT),
        })
        self.expect_job_faults([
            ("rows = 2000", "rows = 299", 4, "rows to predict: .*found 300 rows, expected at most the 299.*" + CORRECT),
            ("rows = 2000", "rows = 0", 2, "job: .*predict.rows: found 0.*" + CORRECT_JOB),
            ("client = 0", "client = 3", 2, "job: .*predict.client: found 3.*" + CORRECT_JOB),
            (run, "0" * 32, 2, "share of the model: .*found the model of run " + run + ", expected 0000.*" + mend),
            (run, run[:31], 2, "job: .*predict.run: .*32 lower-case hexadecimal digits, or a run directory with it" + CORRECT_JOB),
            ("scores = false", "score = false", 2, "job: .*unknown key predict.score; did you mean predict.scores.*" + CORRECT_JOB),
        ])


if __name__ == "__main__":
    unittest.main()
