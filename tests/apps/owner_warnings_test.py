"""What an owner is told of its data: to itself alone."""

import re
import unittest

from evaluate_test import JOB
from trefoil_program import PATIENCE, ProgramTest, prepared

NAME = "owner_warnings.txt"
HOW = "warning to the owner alone: "
CLIPPED = r"note to the owner alone: with the released model privacy\.clip, 0\.5, shortens the gradients of (\d+) of (\d+) rows; .* would tell .*\n"


def row(number, state, misfit=False):
    high = (state == "ill") != misfit
    return f"{0.5 if high else -0.5},0.{number:03},{state}\n"


class OwnerWarnings(ProgramTest):
    def setUp(self):
        super().setUp()
        self.job = self.write("job.toml", JOB.replace("steps = 20", "steps = 2"))
        data = self.folder / "data"
        data.mkdir()
        # Party 0 gets no ill row, and a fifth of the rows that the job declares. Most rows are easily told apart, and a few
        # are not: of the model, and of gradients beside the clip, there is nothing odd.
        (data / "train.csv").write_text("a,b,state\n" + "".join(row(k, "ill" if k % 2 else "well", k % 50 < 2) for k in range(600)))
        self.succeed("local", "--job", self.job, "--data", "data", "--out", "out", *prepared())
        self.rows = self.folder / "out/party-0/data/train.csv"
        self.assertTrue(self.rows.exists(), sorted((self.folder / "out/party-0/data").iterdir()))
        self.rows.write_text("a,b,state\n" + "".join(row(k, "well", k == 7) for k in range(40)))

    def run_of(self, party, *options):
        return self.start_program("run", "--config", f"out/party-{party}/party.toml", "--job", self.job, "--out", f"r{party}", *options)

    def test_nobody_else_is_told(self):
        processes = [self.run_of(party) for party in (0, 1, 2)]
        said = [process.communicate(timeout=PATIENCE) for process in processes]
        self.assertEqual([process.returncode for process in processes], [0, 0, 0], said)
        path = self.folder / "r0" / NAME
        self.assertEqual(path.stat().st_mode & 0o777, 0o600)
        lines = path.read_text().splitlines()
        self.assertEqual(len(lines), 3, lines)
        self.assertTrue(lines[0].startswith(HOW + "data.rows declares 200 rows for this party, and its file has 40: "), lines)
        self.assertTrue(lines[1].startswith(HOW + 'no row is of the declared class "ill"; '), lines)
        for line in lines:
            self.assertIn("would tell", line)
        # The clip is told of in any case, in the file alone.
        self.assertRegex(lines[2] + "\n", f"^{CLIPPED}$")
        self.assertEqual(said[0][1], "".join(line + "\n" for line in lines[:2]))
        # The other two have no word of it; nor has anything else at this party.
        self.assertEqual([said[1][1], said[2][1]], ["", ""])
        for party in (1, 2):
            own = self.folder / f"r{party}" / NAME
            self.assertEqual(own.stat().st_mode & 0o777, 0o600)
            shortened, rows = re.fullmatch(CLIPPED, own.read_text()).groups()
            self.assertLess(int(shortened), 0.9 * int(rows))
            self.assertEqual(rows, "200")
        told = [(text, name) for party in (0, 1, 2) for name, text in [(f"output of {party}", said[party][0])]]
        told += [(file.read_bytes().decode(errors="replace"), file) for party in (0, 1, 2)
                 for file in (self.folder / f"r{party}").rglob("*") if file.is_file() and file.name != NAME]
        for text, place in told:
            self.assertNotIn("the owner alone", text, place)
            self.assertNotIn("no row", text, place)
            self.assertNotIn("would tell", text, place)

    def test_is_no_result_of_a_local_run(self):
        (self.folder / "data/train.csv").write_text("a,b,state\n" + "".join(row(k, "ill" if k % 2 else "well") for k in range(90)))
        said = self.succeed("local", "--job", self.job, "--data", "data", "--out", "again")
        self.assertNotIn("the owner alone", said)
        for party in (0, 1, 2):
            self.assertIn("its file has 30", (self.folder / f"again/party-{party}/out" / NAME).read_text())
        self.assertFalse((self.folder / "again" / NAME).exists())

    def test_says_what_the_model_says_of_each_partys_own_rows(self):
        # A training that does not move: every gradient is as long as the first, and longer than the clip.
        self.write("job.toml", JOB.replace("learning_rate = 4.0", "learning_rate = 0.001"))
        said = self.succeed("local", "--job", self.job, "--data", "data", "--out", "still")
        files = {party: self.folder / f"still/party-{party}/out" for party in range(3)}
        for folder in files.values():
            self.assertEqual((folder / NAME).stat().st_mode & 0o777, 0o600)
            clip, loss = (folder / NAME).read_text().splitlines()
            self.assertTrue(clip.startswith(HOW + "with the released model privacy.clip, 0.5, shortens the gradients of 200 of 200 rows: "))
            self.assertRegex(loss, "has a loss a row of 0.69\\d* on the rows here, hardly below the 0.6931 of a model of zeros: "
                                   "training.learning_rate and training.steps may be too small; ")
            for line in (clip, loss):
                self.assertIn("would tell", line)
            for file in folder.iterdir():
                if file.is_file() and file.name != NAME:
                    self.assertNotIn("of zeros", file.read_bytes().decode(errors="replace"), file)
        self.assertNotIn("of zeros", said)
        self.assertFalse((self.folder / "still" / NAME).exists())
        # One that says one class of all, since nothing tells them apart.
        self.write("data/train.csv", "a,b,state\n" + "".join(f"0.5,0.{k % 7},{'ill' if k % 9 < 3 else 'well'}\n" for k in range(600)))
        self.write("job.toml", JOB)
        self.succeed("local", "--job", self.job, "--data", "data", "--out", "one")
        for party in range(3):
            told = (self.folder / f"one/party-{party}/out" / NAME).read_text()
            self.assertRegex(told, HOW + r'the released model takes all 200 rows for class "well", of which \d+ are; .* would tell')

    def test_other_types_of_job_warn_too(self):
        counts = self.write("counts.toml", """
version = 1
type = "histogram"
name = "states"
[data]
name = "states"
format = "csv"
rows = [200, 200, 200]
[histogram]
mode = "central"
column = "state"
values = ["ill", "healthy"]
[privacy]
epsilon = 1.0
""")
        said = self.succeed("local", "--job", counts, "--data", "data", "--out", "counts")
        self.assertNotIn("the owner alone", said)
        for party in (0, 1, 2):
            told = (self.folder / f"counts/party-{party}/out" / NAME).read_text()
            self.assertIn(HOW + 'no record has 1 of the 2 declared values, "healthy" first of all; ', told)
            self.assertIn("of 200 records have none of the declared values, and count for none; ", told)

    def test_other_models_that_take_all_records_for_one_class(self):
        rows = "".join(f"0.5,0.{k % 7},{'ill' if k % 9 < 3 else 'well'}\n" for k in range(600))
        for file in ("train", "test"):
            self.write(f"data/{file}.csv", "a,b,state\n" + rows)
        head, rest = JOB.replace("[200, 200, 200]", "[600, 600, 600]").split("[training]")  # owners are dealt by chance
        training, _ = rest.split("[privacy]")
        privacy = "[privacy]\nepsilon = 60.0\ndelta = 1e-5\n"
        evaluation = "clip = 0.5\n[evaluation]\nholder = 0\nrows = 600\nsigma = 5.0\n"
        kinds = {"least-squares": privacy,
                 "classifier-average": "[owners]\ncount = [1, 1, 1]\nleast_rows = 100\n[average]\nlambda = 0.1\n" + privacy,
                 "tune": f"[training]{training}{privacy}{evaluation}[tune]\nlearning_rate = [2.0, 4.0]\n"}
        for kind, settings in kinds.items():
            job = self.write("job.toml", head.replace('"dpsgd"', f'"{kind}"') + settings)
            self.succeed("local", "--job", job, "--data", "data", "--out", kind)
            for party in range(3):
                told = (self.folder / f"{kind}/party-{party}/out" / NAME).read_text()
                self.assertRegex(told, HOW + r'the released model takes all \d+ rows for class "well", of which \d+ are; .* would tell')

    def test_a_start_that_failed_can_be_tried_again(self):
        toml = self.folder / "out/party-0/party.toml"
        toml.write_text(toml.read_text().replace('start = "120s"', 'start = "1s"'))
        for _ in range(2):
            process = self.run_of(0)
            _, error = process.communicate(timeout=PATIENCE)
            self.assertEqual(process.returncode, 3, error)
            self.assertTrue((self.folder / "r0" / NAME).exists())


if __name__ == "__main__":
    unittest.main()
