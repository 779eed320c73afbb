"""PATE whose teachers and student the runtime trains, as three party processes over TLS: against plain least squares, and every
documented outcome."""

import csv
import unittest

from plain_models import read_model
from taught_parties import JOB, NAMES, TaughtParties, choose, fit, labels_of, slices_of, winners_of
from trefoil_program import PATIENCE, ProgramTest, prepared


def student_of(public, answers, lam=0.01, rounds=2, keep=0.8):
    answered = [(*public[i], label) for i, label in enumerate(answers)]
    others = range(len(answers), len(public))
    model = fit(answered, lam)
    for round_ in range(1, rounds + 1):
        surest = sorted(others, key=lambda i: -choose(model, public[i])[1])[:int(keep * round_ / rounds * len(others))]
        model = fit(answered + [(*public[i], choose(model, public[i])[0]) for i in surest], lam)
    return model


class PateTraining(TaughtParties, ProgramTest):
    def answers(self, out="run"):
        with open(self.folder / out / "answers.csv") as file:
            return [NAMES.index(row["label"]) if row["label"] else None for row in csv.DictReader(file)]

    def assert_model(self, expected, out="run"):
        found = read_model(self.folder / out / "model.npz")
        for value, plain in zip(found, [value for row in expected for value in row], strict=True):
            self.assertAlmostEqual(value, plain, delta=1e-9)

    def test_answers_and_student_are_those_of_plain_least_squares(self):
        sizes = [len(one) for one in self.slices]
        kinds = [len({label for _, _, label in one}) for one in self.slices]
        self.assertIn(0, sizes)  # more than one slice of each kind that is documented
        self.assertIn(1, kinds)
        said = self.local()
        counts, winners = winners_of(labels_of(self.slices, self.queries))
        self.assertTrue(any(sorted(count)[-1] == sorted(count)[-2] for count in counts))  # ties
        self.assertEqual(self.answers(), winners)
        model = student_of([record[:2] for record in self.public], winners)
        self.assert_model(model)
        correct = sum(choose(model, record)[0] == record[2] for record in self.test) / len(self.test)
        summary = self.summary()
        self.assertEqual((summary["accuracy"], summary["answered"], summary["teachers"]), (correct, 30, 44))
        self.assertIn(f"accuracy {correct:.4f} on 10 test records\nepsilon 6000.000 outsider 6000.000 insider", said)
        # All three have the same, a party without teachers too, and the program reads the model.
        for party in (1, 2):
            for name in ("answers.csv", "model.npz"):
                self.assertEqual((self.folder / f"run/party-{party}/out/{name}").read_bytes(),
                                 (self.folder / f"run/{name}").read_bytes())
        self.assertIn(f"accuracy {correct:.4f}", self.succeed("evaluate", "--model", "run/model.npz", "--data",
                                                             "run/test/test.csv"))
        self.succeed("local", "--job", "run/job.toml", "--data", "data", "--out", "again")
        self.assertEqual((self.folder / "again/model.npz").read_bytes(), (self.folder / "run/model.npz").read_bytes())

    def test_public_records_of_their_own_and_no_student(self):
        self.write("data/queries.csv", "a,b\n" + "".join(f"{a},{b}\n" for a, b in self.queries))
        job = JOB.split("[student]")[0] + "[privacy]\ndelta = 1e-5\n"
        self.write("job.toml", job)
        self.local("--set", "release.to=[1]")
        self.assertEqual(self.answers(), winners_of(labels_of(self.slices, self.queries))[1])
        self.assertFalse((self.folder / "run/model.npz").exists())
        self.assertFalse((self.folder / "run/party-0/out/answers.csv").exists())
        self.assertEqual((self.folder / "run/test/test.csv").read_text().count("\n"), 61)

    def test_teachers_that_are_brought_and_a_student(self):
        self.write("job.toml", JOB.replace("[teacher]\nlambda = 0.02\n", ""))
        labels = labels_of(self.slices, self.queries)
        self.write("data/predictions.csv", "".join(",".join(map(str, row)) + "\n" for row in labels))
        self.local("--set", f"pate.teachers=[{len(labels)}, 0, 0]")
        self.assertEqual(self.answers(), winners_of(labels)[1])
        self.assert_model(student_of([record[:2] for record in self.public], winners_of(labels)[1]))

    def test_one_vs_rest_teachers(self):
        self.local("--set", "teacher.loss=one-vs-rest")
        right = sum(answer == record[2] for answer, record in zip(self.answers(), self.public))
        self.assertGreater(right, 24)

    def test_one_teacher_of_all(self):
        self.local("--set", "pate.teachers=[0, 1, 0]", "--set", "data.rows=[0, 60, 0]")
        # With two capacities of 0, row i of the first 60 goes to party i mod 3.
        own = [r for i, r in enumerate(self.train[:60]) if i % 3 == 1]
        self.assertEqual(self.answers(), labels_of([own], self.queries)[0])

    def test_no_answer_no_student(self):
        self.write("job.toml", JOB.replace('mechanism = "lnmax"\nscale = 0.01\n', ""))
        self.local("--set", "pate.mechanism=confident-gnmax", "--set", "pate.threshold=10000", "--set",
                   "pate.threshold_sigma=1", "--set", "pate.sigma=1")
        self.assertEqual(self.answers(), [None] * 30)
        self.assertFalse((self.folder / "run/model.npz").exists())
        self.assert_promises("run", "record", "added", "by one unit added or removed at one owner.")
        self.assertIn("no answers, so no student", (self.folder / "run/party-0/out/party.log").read_text())

    def run_parties(self, codes):
        processes = [self.start_program("run", "--config", f"run/party-{i}/party.toml", "--job", "run/job.toml", "--out",
                                        f"o{i}") for i in range(3)]
        outputs = [process.communicate(timeout=PATIENCE) for process in processes]
        self.assertEqual(tuple(process.returncode for process in processes), codes, outputs)
        return outputs

    def test_an_owner_without_data_has_no_vote(self):
        self.local(*prepared())
        party = self.folder / "run/party-0/party.toml"
        rows = [20, 0, 5, 5, 0, 10, 1, 2, 4] + 11 * [0]
        party.write_text(party.read_text() + f"[owners]\nrows = {rows}\n")
        own = self.parties[0]
        slices = [own[sum(rows[:k]):sum(rows[:k + 1])] for k in range(20)] + slices_of(self.parties[2], 24)
        self.run_parties((0, 0, 0))
        self.assertEqual(self.answers("o1"), winners_of(labels_of(slices, self.queries))[1])

    def test_a_party_with_other_queries_ends_all_three_before_anything_is_shared(self):
        self.local(*prepared())
        path = self.folder / "run/party-2/data/queries.csv"
        lines = path.read_text().splitlines(keepends=True)
        path.write_text("".join([lines[0], "0.125,0.5,p\n", *lines[2:]]))
        for _, error in self.run_parties((2, 2, 2)):
            self.assert_one_error_line(error, "pate.queries")
        for party in range(3):
            self.assertFalse((self.folder / f"o{party}/answers.csv").exists())

    def test_files_that_do_not_fit_are_named(self):
        self.local(*prepared())
        run = ("run", "--config", "run/party-0/party.toml", "--job", "run/job.toml", "--out", "x")
        party = self.folder / "run/party-0/party.toml"
        text = party.read_text()
        self.write_csv("run/party-0/data/train.csv", self.train[:61])
        self.fail_with(4, "found 61 rows, expected at most the 60 that the job declares", *run)
        self.write_csv("run/party-0/data/train.csv", self.parties[0])
        self.write_csv("run/party-0/data/queries.csv", self.public[:49])
        self.fail_with(4, "found 49 records, expected 50 (student.records)", *run)
        party.write_text(text.replace("queries =", "#"))
        self.fail_with(2, "missing pate.queries", *run)
        party.write_text(text.replace("queries =", 'predictions = "data/queries.csv"\nqueries ='))
        self.fail_with(2, "pate.predictions: found a file, expected none: the job trains the teachers", *run)
        party.write_text(text.replace("[data]\nfile", "[data]\n#"))
        self.fail_with(2, "missing [data]", *run)
        nobody = self.folder / "run/party-1/party.toml"
        nobody.write_text(nobody.read_text().replace("[data]\n", '[data]\nfile = "data/train.csv"\n'))
        self.fail_with(2, "data: found files, expected none", "run", "--config", "run/party-1/party.toml", "--job",
                       "run/job.toml", "--out", "y")
        self.write_csv("data/test.csv", self.public[:49])
        self.fail_with(4, "found 49 test records, expected at least 50", "local", "--job", "job.toml", "--data", "data",
                       "--out", "z")

    def test_refuses_what_is_wrong_in_one_line(self):
        for text, *settings in (
            ("pate.teachers: found 61 at party 0, expected at most its data.rows, 60", "pate.teachers=[61, 0, 1]"),
            ("data.rows: found 60 at party 0, expected 0: it has no teachers", "pate.teachers=[0, 0, 1]"),
            ("pate.classes: found it, expected data.classes alone", "pate.classes=4"),
            ("teacher.loss: found \"tree\"", "teacher.loss=tree"),
            ("teacher.lambda: found 0", "teacher.lambda=0"),
            ("only teacher.loss \"one-vs-rest\" has it", "teacher.tolerance=0.1"),
            ("student.records: found 29", "student.records=29"),
            ("student.rounds: found -1", "student.rounds=-1"),
            ("student.keep: found 0", "student.keep=0"),
            (", expected a number above 0, at most 1", "student.keep=1.00005"),
            ("did you mean student.lambda", "student.lamda=1"),
        ):
            with self.subTest(text):
                self.fail_with(2, text, "local", "--job", "job.toml", "--data", "data", "--out", "none", "--set", *settings)


if __name__ == "__main__":
    unittest.main()
