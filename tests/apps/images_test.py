"""PNG files in folders named by class: dealt, trained on, predicted, labelled and known to ledgers. Skipped where the program reads no images."""

import csv
import json
import os
import struct
import time
import unittest
import zlib

from features_test import array
from kept_models import PREDICT_JOB
from trefoil_program import PATIENCE, ProgramTest, TINY_JOB, prepared

CLASSES = ("red", "green", "blue")
HANG_AT = os.environ.get("TREFOIL_HANG_AT_LIBRARY")
JOB = (TINY_JOB.replace('"digits"', '"colours"').replace('"idx"', '"images"').replace("features = 784", "features = 3072")
       .replace("classes = 10", f"classes = 3\nlabel.values = {json.dumps(CLASSES)}").replace("[300, 300, 300]", "[20, 20, 20]")
       .replace("expected_batch = 90", "expected_batch = 20").replace("max_batch_per_owner = 100", "max_batch_per_owner = 20")
       .replace("steps = 6", "steps = 10").replace("sigma = 2.0", "sigma = 0.01") + "[features]\nimage = [32, 32, 3]\n")


def png(planes):
    """Of 1,024 values each of red, green and blue, as CIFAR's binary files have them."""
    def chunk(name, content):
        return struct.pack(">I", len(content)) + name + content + struct.pack(">I", zlib.crc32(name + content))

    pixels = bytes(planes[colour * 1024 + i] for i in range(1024) for colour in range(3))
    rows = b"".join(b"\0" + pixels[k : k + 96] for k in range(0, 3072, 96))
    head = struct.pack(">IIBBBBB", 32, 32, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


class Images(ProgramTest):
    def setUp(self):
        super().setUp()
        self.job = self.write("job.toml", JOB)
        # Class k is red, green or blue on black, in a square that moves.
        self.rows = [(k % 3, bytes((255 - k) * (k % 3 == colour and (i // 32 + k) % 16 < 8) for colour in range(3) for i in range(1024)))
                     for k in range(60)]
        for part, rows in (("train", self.rows), ("test", self.rows[:6])):
            for k, (label, planes) in enumerate(rows):
                folder = self.folder / "data" / part / CLASSES[label]
                folder.mkdir(parents=True, exist_ok=True)
                (folder / f"{k:02}.png").write_bytes(png(planes))
        first = self.run_program("features", "--job", self.job, "--in", "data/train", "--out", "x.npz")
        if "TREFOIL_IMAGES" in first.stderr:
            self.assertEqual(first.returncode, 2)
            self.skipTest("built without images (TREFOIL_IMAGES)")

    def test_are_the_same_bits_as_cifars_files(self):
        # Classes in turn, in the order of their names; as there are three, each round begins with the next one.
        classes = [[row for row in self.rows if CLASSES[row[0]] == name] for name in sorted(CLASSES)]
        order = [classes[(k + i % 3) % 3][i] for i in range(20) for k in range(3)]
        (self.folder / "c.bin").write_bytes(b"".join(bytes([label]) + planes for label, planes in order))
        cifar = self.write("cifar.toml", JOB.replace('"images"', '"cifar"').replace(f"label.values = {json.dumps(CLASSES)}", "")
                           .replace("[features]\nimage = [32, 32, 3]\n", ""))
        for more in ((), ("--set", "features.method=hog")):
            self.succeed("features", "--job", self.job, "--in", "data/train", "--out", "a.npz", *more)
            self.succeed("features", "--job", cifar, "--in", "c.bin", "--out", "b.npz", *more)
            for name in "xy":
                self.assertEqual(array(self.folder / "a.npz", name), array(self.folder / "b.npz", name))

    def test_are_dealt_trained_on_and_predicted(self):
        self.succeed("local", "--job", self.job, "--data", "data", "--out", "run")
        self.assertEqual(self.summary()["accuracy"], 1.0)
        self.assertEqual(len(list((self.folder / "run/party-1/data/train").glob("*/*.png"))), 20)
        for data in ("data", "data/test", "run/test"):
            evaluated = json.loads(self.succeed("evaluate", "--model", "run/model.npz", "--data", data, "--json"))
            self.assertEqual((evaluated["accuracy"], evaluated["records"]), (1.0, 6))
        os.rename(self.folder / "data/test/blue", self.folder / "data/test/unknown")
        self.succeed("predict", "--model", "run/model.npz", "--data", "data/test", "--out", "p.csv")
        self.assertEqual([line.split(",")[1] for line in (self.folder / "p.csv").read_text().split()[1:]],
                         ["green", "green", "red", "red", "blue", "blue"], "by paths: blue is in `unknown`")
        self.fail_with(4, 'data/test/unknown: found a folder "unknown"', "evaluate", "--model", "run/model.npz", "--data", "data/test")

    def test_are_predicted_on_shares_and_labelled_by_teachers(self):
        self.succeed("local", "--job", self.job, "--data", "data", "--out", "run", "--set", "release.to=[]")
        share = json.loads((self.folder / "run/record.json").read_text())["run_id"]
        self.write("predict.toml", PREDICT_JOB.format(run=share, client=1, rows=6, scores="false"))
        self.succeed("local", "--job", "predict.toml", "--model", "run", "--data", "data/test", "--out", "p")
        labels = [line.split(",")[1] for line in (self.folder / "p/party-1/out/predictions.csv").read_text().split()[1:]]
        self.assertEqual(labels, ["blue", "blue", "green", "green", "red", "red"])

        taught = JOB.replace('"dpsgd"', '"pate"').split("[training]")[0] + """
[features]
image = [32, 32, 3]
[pate]
teachers = [2, 2, 2]
queries = 6
mechanism = "lnmax"
scale = 0.01
[teacher]
lambda = 0.02
[privacy]
delta = 1e-5
"""
        # Of six test images, two of each class, the first three are made public.
        cut = self.write("cut.toml", taught.replace("queries = 6", "queries = 3"))
        self.succeed("local", "--job", cut, "--data", "data", "--out", "cut")
        self.assertEqual(sorted(path.parent.name for path in (self.folder / "cut/test/test").glob("*/*")), ["blue", "green", "red"])
        names = sorted(path.name for path in (self.folder / "cut/party-0/data/queries").iterdir())
        self.assertEqual([name[:9] for name in names], ["00000001-", "00000002-", "00000003-"])
        self.assertEqual(sorted(int(name[9:11]) % 3 for name in names), [0, 1, 2], "one of each class, by their numbers")
        # With a student some public records are no queries, which are of every class all the same.
        student = self.write("student.toml", taught.replace("queries = 6", "queries = 3") + "[student]\nrecords = 6\nlambda = 0.02\n")
        self.succeed("local", "--job", student, "--data", "data", "--out", "student", *prepared())
        names = sorted(path.name for path in (self.folder / "student/party-0/data/queries").iterdir())
        self.assertEqual([[int(name[9:11]) % 3 for name in names[k : k + 3]] for k in (0, 3)], [[2, 1, 0], [1, 0, 2]])
        os.rename(self.folder / "data/test", self.folder / "data/queries")
        self.succeed("local", "--job", self.write("pate.toml", taught), "--data", "data", "--out", "taught")
        answers = [row["label"] for row in csv.DictReader((self.folder / "taught/answers.csv").read_text().splitlines())]
        self.assertEqual(answers, labels)
        self.fail_with(4, 'data/queries: found a folder "blue", expected images alone', "local", "--job", student, "--data", "data", "--out", "few")

    def test_are_checked_before_a_run(self):
        self.succeed("local", "--job", self.job, "--data", "data", "--out", "run", *prepared())
        party = self.folder / "run/party-0"
        check = ("check", "--config", party / "party.toml", "--job", self.job, "--wait", "100ms")
        self.assertIn("pass  data: 20 rows as the job declares them", self.run_program(*check).stdout)  # and no peers
        image = sorted((party / "data/train/red").glob("*"))[0]
        whole = image.read_bytes()
        for content, text in ((whole[:100], "found a PNG file that is cut off"), (b"no image", "found something else"),
                              (whole.replace(struct.pack(">II", 32, 32), struct.pack(">II", 64, 32)), "found 32 x 64 x 3 pixels, expected 32 x 32 x 3")):
            image.write_bytes(content)
            self.assertIn(f"fail  data: {image}: {text}", self.run_program(*check).stdout)
            self.fail_with(4, f"{image}: {text}", "run", *check[1:5], "--out", "r")
        image.unlink()
        image.symlink_to("/etc/passwd")
        self.fail_with(4, f"{image}: found a symbolic link", "run", *check[1:5], "--out", "r")

    @unittest.skipUnless(HANG_AT, "sanitizers must be the first library of a process")
    def test_that_change_while_they_are_read_end_the_run(self):
        self.succeed("local", "--job", self.job, "--data", "data", "--out", "run", *prepared())
        images = sorted((self.folder / "run/party-0/data/train").glob("*/*"))
        for changed in (True, False):
            gate = self.write("gate", "")
            process = self.start_program("run", "--config", "run/party-0/party.toml", "--job", self.job, "--out", f"r-{changed}",
                                         environment={"LD_PRELOAD": HANG_AT, "TREFOIL_HANG_READ_AT": f"{images[-1]}:{self.folder / gate}"})
            # All but the last image have been looked at once when that one is opened.
            deadline = time.monotonic() + PATIENCE
            while str(images[-1]) not in self.open_files(process.pid):
                self.assertLess(time.monotonic(), deadline)
                time.sleep(0.02)
            if changed:
                images[0].write_bytes(png(self.rows[59][1]))
            (self.folder / gate).unlink()
            if not changed:  # it waits for the others
                deadline = time.monotonic() + PATIENCE
                while not (self.folder / f"r-{changed}").exists():
                    self.assertIsNone(process.poll())
                    self.assertLess(time.monotonic(), deadline)
                    time.sleep(0.02)
                continue
            _, error = process.communicate(timeout=PATIENCE)
            self.assertEqual(process.returncode, 4, error)
            self.assertIn("found other records at the end of reading a database, or a folder of images, than at its beginning", error)

    @staticmethod
    def open_files(pid):
        found = []
        for link in os.scandir(f"/proc/{pid}/fd"):
            try:
                found.append(os.readlink(link.path))
            except FileNotFoundError:
                continue
        return found

    def test_are_looked_at_before_they_are_hashed(self):
        self.succeed("local", "--job", self.job, "--data", "data", "--out", "run", *prepared())
        train = self.folder / "run/party-0/data/train"
        (train / "red/notes.txt").write_text("no image")
        (train / "zebra").mkdir()
        run = ("run", "--config", "run/party-0/party.toml", "--out", "r", "--job")
        self.fail_with(4, 'data/train/zebra: found a folder "zebra"', *run, self.job)
        table = self.write("table.toml", TINY_JOB.replace('"digits"', '"table"').replace('"idx"', '"csv"').replace("features = 784\n", "")
                           .replace("classes = 10\nscale = 255.0", 'classes = 2\ncolumn = [{ name = "a" }]\nlabel = { column = "y", values = ["0", "1"] }'))
        self.fail_with(4, "data/train: found a folder, expected a regular file", *run, table)

    def test_may_be_those_of_an_evaluation(self):
        job = self.write("e.toml", JOB + "[evaluation]\nholder = 1\nrows = 6\nto = [0]\n")
        self.succeed("local", "--job", job, "--data", "data", "--out", "run")
        self.assertEqual(sorted(path.parent.name for path in (self.folder / "run/party-1/test/test").glob("*/*")),
                         ["blue", "blue", "green", "green", "red", "red"])
        self.assertEqual(self.summary()["accuracy"], 1.0)

    def test_choose_a_first_model_and_carry_canaries(self):
        os.rename(self.folder / "data/test", self.folder / "data/validation")
        chosen = self.write("chosen.toml", JOB + """[initialisation]
method = "accuracy"
steps = 5
expected_batch = 10
learning_rate = 1.0
sigma = 1.0
selection = "public-validation"
validation_holder = 2
validation_rows = 6
""")
        self.succeed("local", "--job", chosen, "--data", "data", "--out", "run")
        self.assertEqual(len(list((self.folder / "run/party-2/validation/validation").glob("*/*.png"))), 6)
        self.assertFalse((self.folder / "run/party-1/validation").exists())
        events = json.loads((self.folder / "run/record.json").read_text())["events"]
        self.assertEqual([event["kind"] for event in events], ["local_training", "dpsgd_steps"])
        self.succeed("audit", "--job", self.job, "--data", "data", "--canaries", "20", "--out", "audit")
        self.assertEqual(len((self.folder / "audit/canaries.csv").read_text().splitlines()), 21)

    def test_are_deposited(self):
        self.succeed("init", "--all", "--hosts", "127.0.0.1,127.0.0.1,127.0.0.1", "--out", "d")
        self.succeed("owner", "init", "--out", "o")
        self.succeed("study", "init", "--job", self.job, "--keys", *(f"d/party-{party}/deposit.pub" for party in range(3)), "--out", "study.toml")
        deposit = ("deposit", "--study", "study.toml", "--key", "o/owner.key", "--in", "data/train", "--capacity", "64", "--out")
        self.assertIn("60 records in 64 rows", self.succeed(*deposit, "out"))
        image = self.folder / "data/train/red/00.png"
        image.write_bytes(image.read_bytes()[:100])
        self.fail_with(4, "data/train/red/00.png: found a PNG file that is cut off", *deposit, "none")
        self.assertFalse((self.folder / "none").exists())

    def test_to_test_with_are_looked_at_before_a_training(self):
        image = self.folder / "data/test/red/00.png"
        image.write_bytes(b"GIF89a")
        self.fail_with(4, "data/test/red/00.png: found something else", "local", "--job", self.job, "--data", "data", "--out", "run")
        self.assertFalse((self.folder / "run").exists())

    def test_are_known_to_a_ledger_by_files_and_places(self):
        self.succeed("local", "--job", self.job, "--data", "data", "--out", "run", *prepared())
        config = self.folder / "run/party-0/party.toml"
        with open(config, "a") as file:
            file.write('[ledger]\nfile = "ledger.jsonl"\nepsilon_cap = 1e9\ndelta = 1e-5\npopulation = "colours"\n')

        def run(out):
            parties = [self.start_program("run", "--config", f"run/party-{k}/party.toml", "--job", self.job, "--out", f"{out}-{k}")
                       for k in range(3)]
            return [(process.communicate(timeout=PATIENCE)[1], process.returncode) for process in parties]

        self.assertEqual([code for _, code in run("a")], [0, 0, 0])
        image = sorted((self.folder / "run/party-0/data/train/red").glob("*"))[0]
        image.rename(image.parent.parent / "blue/other.png")
        (error, code), *_ = run("b")
        self.assertEqual(code, 4)
        self.assertIn('data that was not declared to be of population "colours"', error)
        self.assertIn("20 different records, 0 of them new", self.succeed("ledger", "declare", "--config", config))
        self.assertEqual([code for _, code in run("c")], [0, 0, 0])
        self.assertEqual(len(json.loads(self.succeed("ledger", "show", "run/party-0/ledger.jsonl", "--json"))["jobs"]), 2)


if __name__ == "__main__":
    unittest.main()
