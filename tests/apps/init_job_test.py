#!/usr/bin/env python3
"""`trefoil init-job`: drafts jobs for tables that the test makes, which plan, train and evaluate as they stand."""

import random
import re
import sqlite3
import subprocess
import tomllib
import unittest

from trefoil_program import BINARY, ProgramTest


def plain_table(rows=240, seed=1):
    """No header; two numbers, a category, a running number; the class follows the first number."""
    draw = random.Random(seed)
    lines = []
    for row in range(rows):
        x = draw.gauss(50, 10)
        lines.append(f"{row + 1},{x:.2f},{draw.gauss(0, 1):.3f},{draw.choice('AB')},{'high' if x > 50 else 'low'}")
    return "\n".join(lines) + "\n"


def office_table(rows=180, seed=2):
    """A header, semicolons, decimal commas, Windows-1252, missing values, dates; the label in the middle."""
    draw = random.Random(seed)
    lines = ["größe;ergebnis;stadt;seit"]
    for _ in range(rows):
        size = draw.gauss(1.7, 0.1)
        size_text = "NA" if draw.random() < 0.05 else f"{size:.2f}".replace(".", ",")
        day = f"{draw.randint(1, 28):02}.{draw.randint(1, 12):02}.{draw.randint(2001, 2020)}"
        lines.append(f"{size_text};{int(size > 1.7)};{draw.choice(['Köln', 'Ulm'])};{day}")
    return ("\n".join(lines) + "\n").encode("windows-1252")


def text_table(rows=240, seed=8):
    """No header, tabs; a class, a running number and a text with a word of the class."""
    draw = random.Random(seed)
    lines = []
    for row in range(rows):
        words = [*draw.choices(("and", "then", "here", "there", "with"), k=6),
                 draw.choice(("prize", "free") if row % 2 else ("home", "train"))]
        draw.shuffle(words)
        lines.append(f"{'spam' if row % 2 else 'ham'}\t{row}\t{' '.join(words)}\n")
    return "".join(lines)


class InitJob(ProgramTest):
    def table(self, content=None, name="table.csv"):
        path = self.folder / name
        content = plain_table() if content is None else content
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    def talk(self, lines, *arguments):
        return subprocess.run([BINARY, "init-job", *map(str, arguments)], cwd=self.folder, input=lines,
                              capture_output=True, text=True, timeout=100, check=False)

    def job(self, name="job.toml"):
        return tomllib.loads((self.folder / name).read_text())

    def test_takes_every_proposal_trains_and_evaluates(self):
        self.table()
        said = self.succeed("init-job", "table.csv", "--out", "job.toml", "--yes")
        self.assertIn("(becomes public)", said)
        data = self.job()["data"]
        self.assertEqual([column["name"] for column in data["column"]], ["c1", "c2", "c3", "c4"])
        self.assertEqual(data["column"][0]["kind"], "ignore")
        self.assertEqual(data["column"][3]["values"], ["A", "B"])
        self.assertEqual((data["label"]["column"], data["label"]["values"]), ("c5", ["high", "low"]))
        self.assertEqual(data["rows"], [80, 80, 80])
        self.assertEqual(self.job()["privacy"]["against"], "insider")  # as without the key
        training = self.job()["training"]
        self.assertEqual([training[key] for key in ("steps", "learning_rate", "momentum")], ["auto"] * 3)
        self.succeed("plan", "--job", "job.toml")
        (self.folder / "data").mkdir()
        (self.folder / "data/train.csv").write_text(plain_table())
        (self.folder / "data/test.csv").write_text(plain_table(seed=3))
        self.succeed("local", "--job", "job.toml", "--data", "data", "--out", "run", "--set", "privacy.epsilon=8",
                     "--set", "training.steps=30")
        shown = self.succeed("evaluate", "--model", "run/model.npz", "--data", "run/test")
        # Of 240 rows split at the median; chance would come above 0.7 once in 10^9.
        self.assertGreater(float(shown.split("accuracy")[1].split()[0].strip(":,")), 0.7, shown)
        self.succeed("report", "run")

    def test_reads_an_offices_file(self):
        self.table(office_table())
        self.succeed("init-job", "table.csv", "--out", "job.toml", "--yes", "--label", "ergebnis")
        data = self.job()["data"]
        self.assertEqual((data["separator"], data["decimal"], data["encoding"], data["header"]),
                         (";", ",", "windows-1252", True))
        self.assertEqual(data["missing"], ["NA"])
        self.assertEqual([column.get("kind", "number") for column in data["column"]], ["number", "category", "date"])
        self.assertEqual(data["column"][1]["values"], ["Köln", "Ulm"])
        self.assertTrue(data["label"]["numeric"])
        (self.folder / "data").mkdir()
        self.table(office_table(), "data/train.csv")
        self.succeed("local", "--job", "job.toml", "--data", "data", "--out", "run", "--set", "training.steps=3")

    def test_learns_from_texts_where_there_is_nothing_else(self):
        (self.folder / "data").mkdir()
        for part in ("train", "test"):
            self.table(text_table(), f"data/{part}.csv")
        self.succeed("init-job", "data/train.csv", "--out", "job.toml", "--yes", "--label", "1")
        self.assertEqual([column["kind"] for column in self.job()["data"]["column"]], ["ignore", "ignore", "text"])
        self.succeed("local", "--job", "job.toml", "--data", "data", "--out", "run", "--set", "privacy.epsilon=20")
        shown = self.succeed("evaluate", "--model", "run/model.npz", "--data", "run/test")
        # Of 240 rows of which half are of each class; chance would come above 0.7 once in 10^9.
        self.assertGreater(float(shown.split("accuracy")[1].split()[0].strip(":,")), 0.7, shown)

    def test_takes_separators_at_the_end_and_decimal_commas_in_quotes(self):
        draw = random.Random(9)
        rows = [(draw.gauss(3, 1), draw.randint(0, 1)) for _ in range(60)]
        self.table("x,y,\n" + "".join(f'"{x:.2f}",{y},\n'.replace(".", ",") for x, y in rows))
        self.fail_with(4, "header: found a separator at the end of the lines", "init-job", "table.csv", "--out", "job.toml", "--yes")
        self.table("".join(f'"{x:.2f}",{y},\n'.replace(".", ",") for x, y in rows))
        self.succeed("init-job", "table.csv", "--out", "job.toml", "--yes")
        data = self.job()["data"]
        self.assertEqual((data["decimal"], data["label"]["column"]), (",", "c2"))
        self.assertEqual([column.get("kind", "number") for column in data["column"]], ["number", "ignore", "ignore"])
        self.succeed("plan", "--job", "job.toml")
        # What may be thousands is no decimal comma.
        self.table("".join(f'"{1000 * k + k:,}",{k % 2}\n' for k in range(1, 60)), "thousands.csv")
        self.fail_with(2, "columns: found none beside the label", "init-job", "thousands.csv", "--out", "none.toml", "--yes")

    def test_proposes_a_target_where_a_label_has_many_numbers(self):
        self.table()
        self.succeed("init-job", "table.csv", "--out", "job.toml", "--yes", "--label", "2")
        job = self.job()
        self.assertEqual(job["model"]["loss"], "squared")
        self.assertEqual(job["data"]["target"]["column"], "c2")
        numbers = [float(line.split(",")[1]) for line in plain_table().split()]
        self.assertLess(job["data"]["target"]["low"], min(numbers))
        self.assertGreater(job["data"]["target"]["high"], max(numbers))
        (self.folder / "data").mkdir()
        self.table(plain_table(), "data/train.csv")
        self.succeed("local", "--job", "job.toml", "--data", "data", "--out", "run", "--set", "training.steps=3")

    def label_table(self, counts, name):
        """Rows of each label as often as `counts` says, beside a number that follows it."""
        draw = random.Random(7)
        lines = [f"{draw.gauss(label, 1):.2f},{label}" for label, rows in counts.items() for _ in range(rows)]
        draw.shuffle(lines)
        return self.table("\n".join(lines) + "\n", name)

    def test_proposes_a_target_for_ratings_and_classes_for_kinds(self):
        tables = {"ratings": ({3: 10, 4: 53, 5: 681, 6: 638, 7: 199, 8: 18}, True),
                  "digits": ({digit: 30 + digit for digit in range(10)}, False),
                  "kinds": ({1: 70, 2: 76, 3: 17, 5: 13, 6: 9, 7: 29}, False),
                  "flowers": ({0: 50, 1: 50, 2: 50}, False),
                  "five": ({1: 3, 2: 60, 3: 90, 4: 40, 5: 4}, False)}
        for name, (counts, target) in tables.items():
            with self.subTest(name):
                said = self.succeed("init-job", self.label_table(counts, f"{name}.csv"), "--out", f"{name}.toml", "--yes")
                self.assertEqual("target" in self.job(f"{name}.toml")["data"], target)
                self.assertIn("their values, here 3, 4, 5, 6, 7, 8" if target else 'or "target ', said)
                self.succeed("plan", "--job", f"{name}.toml")
        self.assertEqual(self.job("ratings.toml")["data"]["target"], {"column": "c2", "low": 3, "high": 8})
        # The other form is taken as an answer.
        given = self.answers(classes="3, 4, 5, 6, 7, 8")
        self.succeed("init-job", "ratings.csv", "--out", "classes.toml", "--yes", "--answers", given)
        self.assertEqual(self.job("classes.toml")["data"]["classes"], 6)

    def answers(self, **given):
        path = self.folder / "given.answers"
        path.write_text("".join(f'"{key.replace("_", " ")}" = "{value}"\n' for key, value in given.items()))
        return path

    def test_ignores_numbers_that_name_records(self):
        draw = random.Random(3)
        numbers = draw.sample(range(10_000, 900_000_000), 120)
        rows = [(number, f"{draw.gauss(0, 1):.3f}", draw.choice("ab")) for number in numbers]

        def kind(name, first=numbers):
            head = f"{name},x,y\n" if name else ""
            self.table(head + "".join(f"{one},{x},{y}\n" for one, (_, x, y) in zip(first, rows)))
            for old in self.folder.glob("job.toml*"):
                old.unlink()
            self.succeed("init-job", "table.csv", "--out", "job.toml", "--yes", "--label", "y" if name else "c3")
            return self.job()["data"]["column"][0].get("kind", "number")

        for name in ("id", "patient_id", "ID number", "encounterId", "PatientID", ""):
            self.assertEqual(kind(name), "ignore", name)
        for name in ("income", "idle", "width", "covid", "Ideal"):
            self.assertEqual(kind(name), "number", name)
        self.assertEqual(kind("id", numbers[1:2] + numbers[1:]), "number")  # twice the same: of no record
        self.assertEqual(kind("", draw.sample(range(10_000, 100_000), 120)), "number")

    def test_drafts_each_kind_of_column(self):
        draw = random.Random(4)
        lines = ["note,age,weight,seen,unit,grade"]
        for row in range(120):
            ill = draw.random() < 0.5
            seen = f"2024-0{draw.randint(1, 9)}-1{draw.randint(0, 9)} 0{draw.randint(0, 9)}:30"
            age = "NA" if row % 9 == 0 else draw.randint(1, 99)
            lines.append(f"{'pain and fever' if ill else 'all is well'} {row},{age},{draw.random():.2f},{seen},"
                         f"{draw.choice(['0', '1', '3.0'])},{'cured' if row == 0 else 'ill' if ill else 'well'}")
        self.table("\n".join(lines) + "\n", "mixed.csv")
        said = self.succeed("init-job", "mixed.csv", "--out", "proposed.toml", "--yes")
        self.assertIn("classes: cured, ill, well (1 of them in fewer than 10 rows); the values of grade in this order", said)
        columns = {column["name"]: column for column in self.job("proposed.toml")["data"]["column"]}
        self.assertEqual((columns["note"]["kind"], columns["age"]["missing_indicator"]), ("ignore", True))
        self.assertEqual(columns["seen"]["format"], "%Y-%m-%d %H:%M")
        self.assertEqual((columns["unit"]["values"], columns["unit"]["unknown"]), (["0", "1", "3"], "missing"))
        given = self.answers(column_note="text", column_age="indicator bin 18, 65", column_weight="weight 1",
                             column_unit="category 0 or 0.5, 1", classes="well or cured, ill")
        self.succeed("init-job", "mixed.csv", "--out", "job.toml", "--yes", "--answers", given)
        job = self.job()
        columns = {column["name"]: column for column in job["data"]["column"]}
        self.assertEqual(columns["age"], {"name": "age", "kind": "bin", "edges": [18, 65], "missing_indicator": True})
        self.assertEqual(columns["weight"], {"name": "weight", "kind": "weight", "largest": 1})
        self.assertEqual((job["features"]["method"], job["features"]["dimension"]), ("hash-text", 256))
        (self.folder / "data").mkdir()
        self.table("\n".join(lines) + "\n", "data/train.csv")
        self.succeed("local", "--job", "job.toml", "--data", "data", "--out", "run", "--set", "training.steps=3")
        # A unit that nobody declared is missing: it does not change what is predicted.
        rows = [f"pain,30,1,2024-01-01 00:00,{unit},ill" for unit in ("7", "NA", "0")]
        self.table("\n".join([lines[0], *rows]) + "\n", "new.csv")
        shown = self.succeed("predict", "--model", "run/model.npz", "--data", "new.csv", "--scores").splitlines()
        unknown, missing, declared = (line.split(",", 1)[1] for line in shown[-3:])
        self.assertEqual(unknown, missing)
        self.assertNotEqual(unknown, declared)

    def test_leaves_ranges_to_the_training(self):
        draw = random.Random(12)
        lines = ["".join((f"{draw.gauss(50, 10):.2f},", f"{draw.gauss(0, 1):.3f},", "?," if row % 9 == 0 else f"{row % 70},",
                          f"{draw.randint(1, 28)}.1.2024,", draw.choice("AB"))) for row in range(900)]
        (self.folder / "data").mkdir()
        self.table("\n".join(lines) + "\n", "data/train.csv")
        given = self.answers(column_c1="private", column_c2="range -3 3", column_c3="indicator private; missing ?, -1")
        self.succeed("init-job", "data/train.csv", "--out", "job.toml", "--yes", "--answers", given)
        job = self.job()
        first, second, third, date = job["data"]["column"]
        self.assertEqual(first, {"name": "c1", "range": "private"})
        self.assertEqual(second, {"name": "c2", "low": -3.0, "high": 3.0})
        self.assertEqual(third, {"name": "c3", "range": "private", "missing": ["?", "-1"], "missing_indicator": True})
        self.assertEqual(date.keys(), {"name", "kind", "format", "origin", "mean", "scale"})
        self.assertEqual(job["features"], {"standardise": "private", "row_norm": 1.8})  # of three numbers and a date
        self.succeed("local", "--job", "job.toml", "--data", "data", "--out", "run", "--set", "training.steps=3")
        # The proposals for numbers have a mean and a scale.
        out = ("--out", "none.toml", "--yes")
        for answers, cause in (({"column_c2": "private"}, "c2: found private, expected number MEAN SCALE or range LEAST MOST, as c1 is"),
                               ({"column_c1": "private"}, "c2: found number MEAN SCALE, expected private or range LEAST MOST, as c1 is"),
                               ({"column_c1": "private 3"}, 'c1: found "private 3"'),
                               ({"column_c1": "private", "column_c2": "private", "column_c3": "private", "column_c4": "text"},
                                'c4: found text, expected another answer (ignore, category), as c1 is private'),
                               ({"column_c1": "text", "column_c2": "range 0 1", "column_c3": "private"},
                                "c3: found private, expected number MEAN SCALE or range LEAST MOST, as c1 is text")):
            self.fail_with(2, cause, "init-job", "data/train.csv", *out, "--answers", self.answers(**answers))
        told = self.talk("\nall\nno\nyes\nyes\nno\nprivate\nyes\nrange 0 1\nprivate\nyes\nyes\nyes\nyes\n\n\n\n",
                         "data/train.csv", "--out", "asked.toml")
        self.assertEqual(told.returncode, 0, told.stdout + told.stderr)
        self.assertIn("  c2: found number MEAN SCALE, expected private or range LEAST MOST, as c1 is private\n", told.stdout)
        self.assertEqual([column.get("range", "") for column in self.job("asked.toml")["data"]["column"]], ["private", "", "private", ""])
        self.fail_with(2, "age: found private, expected number or range: what a query gives is read once", "init-job",
                       *self.visits(), *out, "--label", "ill", "--answers", self.answers(column_age="private"))

    def test_takes_marks_of_a_column(self):
        draw = random.Random(5)
        marked = [draw.choice([*["n/k"] * 4, "?", *map(str, range(40))]) for _ in range(200)]
        rows = [f"{mark},{draw.gauss(0, 1):.2f},{draw.choice('AB')},{draw.choice(['yes', 'no'])}" for mark in marked]
        self.table("\n".join(rows) + "\n")
        said = self.succeed("init-job", "table.csv", "--out", "proposed.toml", "--yes")
        self.assertIn("; missing n/k, ?", said)
        self.assertNotIn("typing error", said)
        proposed = self.job("proposed.toml")["data"]
        self.assertEqual((proposed["column"][0]["missing"], proposed["column"][0]["missing_indicator"]), (["n/k", "?"], True))
        self.assertEqual(proposed["missing"], ["?"])
        self.table("\n".join([*(row for row in rows if not row.startswith("n/k")), "4o,1,A,no"]) + "\n", "typed.csv")
        said = self.succeed("init-job", "typed.csv", "--out", "typed.toml", "--yes")
        self.assertRegex(said, r'c1: .*; missing 4o, \? \("4o" in fewer than 10 rows, perhaps by a typing error\)')
        given = self.answers(column_c1="range 0 40; missing n/k, ?", column_c3='category A, \\"B; missing C\\"; missing B')
        self.succeed("init-job", "table.csv", "--out", "job.toml", "--yes", "--answers", given)
        number, _, category = self.job()["data"]["column"]
        self.assertEqual((number["missing"], category["values"], category["missing"]), (["n/k", "?"], ["A", "B; missing C"], ["B"]))
        (self.folder / "data").mkdir()
        self.table("\n".join(rows) + "\n", "data/train.csv")
        self.succeed("local", "--job", "job.toml", "--data", "data", "--out", "run", "--set", "training.steps=3")

    def visits(self):
        """A database, and what a command needs to read a table from it."""
        with sqlite3.connect(self.folder / "visits.db") as database:
            database.execute("CREATE TABLE visits (age REAL, sex TEXT, ill INTEGER)")
            draw = random.Random(6)
            rows = [(draw.choice([None, draw.uniform(1, 90)]), draw.choice("fm"), draw.randint(0, 1)) for _ in range(120)]
            database.executemany("INSERT INTO visits VALUES (?, ?, ?)", rows)
        database.close()
        return "visits.db", "--query", "SELECT age, sex, ill FROM visits ORDER BY rowid"

    def test_drafts_from_a_query(self):
        _, *query = self.visits()
        out = ("--out", "job.toml", "--yes")
        self.fail_with(2, "--header: found with --query", "init-job", "visits.db", *query, *out, "--header", "yes")
        self.fail_with(4, "none.db: is not there", "init-job", "none.db", *query, *out)
        self.fail_with(4, "visits.db: query", "init-job", "visits.db", "--query", "SELECT * FROM visits WHERE 0", *out)
        self.assertIn("what a query gives", self.succeed("init-job", "visits.db", *query, *out))
        data = self.job()["data"]
        self.assertEqual([column["name"] for column in data["column"]], ["age", "sex"])
        self.assertTrue(data["column"][0]["missing_indicator"] and data["header"])
        self.assertNotIn("SELECT", (self.folder / "job.toml").read_text() + (self.folder / "job.toml.answers").read_text())
        self.succeed("plan", "--job", "job.toml")

    def test_asks_for_the_loss_of_a_target(self):
        self.table()
        range_from_0 = {"classes": "target 0 100", "epsilon": "8"}
        for answer, model in (("huber 15", {"loss": "huber", "huber_threshold": 15}), ("poisson", {"loss": "poisson"})):
            out = self.folder / f"{answer.split()[0]}.toml"
            given = self.answers(**range_from_0, loss=answer)
            self.succeed("init-job", "table.csv", "--out", out, "--yes", "--label", "2", "--answers", given)
            self.assertEqual(tomllib.loads(out.read_text())["model"], model)
            self.succeed("plan", "--job", out)
        for answer, cause in (("poison", "expected squared, huber THRESHOLD or poisson"), ("huber 0", "found the threshold 0")):
            self.fail_with(2, cause, "init-job", "table.csv", "--out", "none.toml", "--yes", "--label", "2",
                           "--answers", self.answers(loss=answer))
        self.fail_with(2, "found poisson with a target from 10", "init-job", "table.csv", "--out", "none.toml", "--yes",
                       "--label", "2", "--answers", self.answers(classes="target 10 90", loss="poisson"))

    def test_the_same_answers_give_the_same_job_of_any_file(self):
        self.table()
        self.succeed("init-job", "table.csv", "--out", "one.toml", "--yes")
        self.table(plain_table(rows=90, seed=9), "other.csv")
        said = self.succeed("init-job", "other.csv", "--out", "two.toml", "--answers", "one.toml.answers")
        self.assertNotIn("?", said)  # nothing is asked
        self.assertEqual((self.folder / "one.toml").read_text(), (self.folder / "two.toml").read_text())
        self.assertEqual((self.folder / "one.toml.answers").read_text(), (self.folder / "two.toml.answers").read_text())
        # Nobody is told to press a key where nobody is asked.
        self.table(plain_table(rows=90, seed=9).replace(",", ";"), "else.csv")
        self.fail_with(2, """file: found "',' between fields, decimal point, no header", expected "';' between fields, """
                          """decimal point, no header", as the table is written, or no such answer\n""",
                       "init-job", "else.csv", "--out", "three.toml", "--answers", "one.toml.answers")

    def test_asks_six_questions(self):
        self.table()
        self.table(text_table(), "texts.csv")
        self.table(office_table(), "office.csv")
        self.table("".join(f"{'n/k' if row % 7 else row},{row % 13 / 7},{'AB'[row % 2]}\n" for row in range(300)), "marks.csv")
        answers = ["", "one", "yes", "2", "outsider", "1"]
        for name, label, source in (("classes", "", ("table.csv",)), ("target", "c2", ("table.csv",)),
                                    ("texts", "1", ("texts.csv",)), ("query", "", self.visits()),
                                    ("office", "ergebnis", ("office.csv",)), ("marks", "", ("marks.csv",))):
            with self.subTest(name):
                told = self.talk("\n".join([label, *answers[1:]]) + "\n", *source, "--out", f"{name}.toml")
                self.assertEqual((told.returncode, told.stdout.count(" > ")), (0, 6), told.stderr)
                job = self.job(f"{name}.toml")
                self.assertEqual((job["privacy"]["epsilon"], job["privacy"]["against"], job["release"]["to"]), (2, "outsider", [1]))
                # What was not asked is said, and how to change it.
                unasked = told.stdout.split(f"Not asked; for others change {name}.toml:\n")[1].split("\nNext: ")[0]
                self.assertIn("  privacy.delta = 1e-5: ", unasked)
                self.assertEqual(job["privacy"]["delta"], 1e-5)
                self.assertEqual("  model.loss = squared: " in unasked, name == "target")
                self.assertEqual(job.get("model"), {"loss": "squared"} if name == "target" else None)
                self.assert_listed(job, told.stdout.split("yes or no > ")[0])
        # Without one of the answers nothing is written.
        for count in range(6):
            ended = self.talk("".join(f"{line}\n" for line in answers[:count]), "table.csv", "--out", "none.toml")
            self.assertEqual((ended.returncode, ended.stdout.count(" > ")), (2, count + 1), ended.stderr)
            self.assertEqual(list(self.folder.glob("none*")), [])

    def assert_listed(self, job, shown):
        """All that the job took from the file was shown in one list before the yes to it."""
        data = job["data"]
        listed = dict(re.findall(r"^  (file|classes|missing|rows|name|column [^:]+): (.*)$", shown, re.MULTILINE))
        listed = {key: re.sub(r"( \(\d+ of them in .*\))?(; (the|how|rows) .*)?$", "", line) for key, line in listed.items()}

        def values(texts):
            return ", ".join(text if re.fullmatch(r"[\w?./]+", text) else f'"{text}"' for text in texts)

        predicted = data.get("label") or data["target"]
        expected = {"classes": values(predicted["values"]) if "label" in data else
                    f"target {predicted['low']:.15g} {predicted['high']:.15g}",
                    "missing": values(data["missing"]), "rows": ", ".join(map(str, data["rows"])), "name": job["name"]}
        if listed["file"] == "what a query gives":
            self.assertEqual((data["header"], data.keys() & {"separator", "decimal", "encoding"}), (True, set()))
        else:
            separator = data.get("separator", ",")
            separator = separator if separator == "tab" else f"'{separator}'"
            decimal = "comma" if data.get("decimal") == "," else "point"
            encoding = {"windows-1252": ", Windows-1252"}[data["encoding"]] if "encoding" in data else ""
            header = "a header" if data["header"] else "no header"
            self.assertEqual(listed["file"], f"{separator} between fields, decimal {decimal}, {header}{encoding}")
        for column in data["column"]:
            if column["name"] == predicted["column"]:  # which stands among them where it is known by its place
                continue
            parts = [column.get("kind", "number")]
            if "missing_indicator" in column:
                parts.insert(0, "indicator")
            parts += [column["format"]] if "format" in column else []
            parts += [f"{column['mean']:.15g} {column['scale']:.15g}"] if "mean" in column else []
            parts += [values(column["values"])] if "values" in column else []
            marks = f"; missing {values(column['missing'])}" if "missing" in column else ""
            expected[f"column {column['name']}"] = " ".join(parts) + marks
        self.assertEqual({key: line for key, line in listed.items() if key != "file"}, expected)

    def test_only_a_yes_makes_public_what_the_file_says(self):
        self.table()
        own = ["c5", "all", "no", "yes", "low, high or HIGH", "no", "ignore", "range 0 100", "number 0 1", "category A, B, C",
               "", "500, 500, 500", "study", "2", "insider", "0, 2"]
        told = self.talk("\n".join(own) + "\n", "table.csv", "--out", "job.toml")
        self.assertEqual((told.returncode, told.stdout.count(" > ")), (0, len(own)), told.stderr)
        self.assertNotIn("80", (self.folder / "job.toml").read_text() + (self.folder / "job.toml.answers").read_text())
        job = self.job()
        self.assertEqual(job["data"]["column"][1], {"name": "c2", "mean": 50.0, "scale": 50.0})
        self.assertEqual(job["data"]["label"]["aliases"], {"HIGH": "high"})
        self.assertEqual((job["name"], job["data"]["rows"]), ("study", [500] * 3))
        self.assertEqual((job["privacy"]["epsilon"], job["privacy"]["against"], job["release"]["to"]), (2, "insider", [0, 2]))
        # Enter is no yes, and no none of one's own: it is asked again, until the input ends.
        for start, line, cause, key in ((2, "", "Only yes makes it public.", "public"),
                                        (3, "", "Only yes makes it public.", "file"), (3, "no", "Without a yes to it there is no job", "file"),
                                        (12, "", "Only yes makes it public.", "name"), (12, "no", "an answer of your own", "name")):
            refused = self.talk("\n".join([*own[:start], line, line]) + "\n", "table.csv", "--out", "none.toml")
            self.assertEqual((refused.returncode, refused.stdout.count(cause)), (2, 2), refused.stdout)
            self.assert_one_error_line(refused.stderr, f'ended before the answer "{key}"')
            self.assertEqual(list(self.folder.glob("none*")), [])

    def test_hides_nothing_from_a_terminal(self):
        hidden = "z\x1b[2K\r  column city: ignore", "line\n  name: x; the job", "v\u202e\u009b2K"
        values = ["Ann", "Mr Secret", *hidden] * 12
        self.table("city,x\x1b[8m,y\n" + "".join(f'"{value}",{k},{"ab"[k % 2]}\n' for k, value in enumerate(values)))
        lines = ["y", "all", "no", "yes", "yes", "no", "yes", "yes", "", "yes", "yes", "\x1b[2J", "2", "", ""]
        for given, more in (("\n".join(lines) + "\n", []), ("", ["--yes"])):
            told = subprocess.run([BINARY, "init-job", "table.csv", "--out", f"job{len(more)}.toml", *more], cwd=self.folder,
                                  input=given.encode(), capture_output=True, timeout=100, check=False)
            self.assertEqual(told.returncode, 0, told.stderr)
            shown = told.stdout.decode().split("\n")
            for line in shown:
                self.assertNotRegex(line, "[\x00-\x1f\x7f-\x9f\u202e]")
            listed = [line for line in shown if line.startswith("  column city: ")]
            self.assertTrue(listed)
            for line in listed:
                for value in ("Ann", "Mr Secret", "z [2K   column city: ignore", "line   name: x; the job"):
                    self.assertIn(value, line)
        self.assertEqual(set(self.job("job0.toml")["data"]["column"][0]["values"]), set(values))

    def test_says_of_a_single_question_that_a_value_is_rare(self):
        towns = ["Mr Secret", *["Bonn", "Ulm"] * 30]
        self.table("town,x,y\n" + "".join(f"{town},{k % 17},{k % 2}\n" for k, town in enumerate(towns)))
        self.succeed("init-job", "table.csv", "--out", "job.toml", "--yes")
        answers = (self.folder / "job.toml.answers").read_text().splitlines()
        self.write("given.answers", "\n".join(line for line in answers if "column town" not in line))
        rare = "category Bonn, Mr Secret, Ulm (1 of them in fewer than 10 rows)"
        told = self.talk("yes\n", "table.csv", "--out", "asked.toml", "--answers", "given.answers")
        self.assertEqual((told.returncode, told.stdout.count(" > ")), (0, 1), told.stderr)
        self.assertIn(f"From the file: {rare}\n", told.stdout)
        self.assertIn(f"  {rare} (becomes public)\n", self.succeed("init-job", "table.csv", "--out", "taken.toml", "--answers",
                                                                 "given.answers", "--yes"))

    def test_goes_back_to_the_question_before(self):
        self.table()
        ways = {"list": (["c5", "one", "yes", "3", "outsider", "0"],
                         ["c2", "all", "back", "back", "c5", "one", "yes", "2", "Back", "3", "insider", "back", "outsider", "0"]),
                "each": (["c5", "all", "no", "yes", "low, high", "no", "ignore", "range 0 100", "yes", "yes", "", "yes", "study", "2", "", ""],
                         ["c5", "all", "yes", "back", "no", "back", "no", "yes", "low, high", "no", "range 0 9", "back", "ignore",
                          "c9", "back", "ignore", "range 0 100", "yes", "yes", "", "yes", "a b", "study", "2", "", ""])}
        for name, (straight, winding) in ways.items():
            files = {}
            for lines in (straight, winding):
                told = self.talk("\n".join(lines) + "\n", "table.csv", "--out", "job.toml")
                self.assertEqual((told.returncode, told.stdout.count(" > "), told.stdout.count('"back" returns')), (0, len(lines), 1), told.stdout)
                files[len(lines)] = [(self.folder / file).read_text() for file in ("job.toml", "job.toml.answers")]
                self.assertEqual(told.stdout.count("Not asked"), 1)
                for file in ("job.toml", "job.toml.answers"):
                    (self.folder / file).unlink()
            self.assertEqual(files[len(straight)], files[len(winding)], name)
        # Before the first question there is none: a column may have the name.
        told = self.talk("back\n", "table.csv", "--out", "none.toml")
        self.assertIn('label: found "back", expected one of the columns', told.stdout)
        # But to a question that proposes an answer it is none.
        told = self.talk("back\nall\nyes\n3\noutsider\n0\n", "table.csv", "--out", "first.toml", "--answers", self.answers(label="c5"))
        self.assertEqual(told.returncode, 0, told.stderr)
        self.assertIn("  There is no question before this one.\n", told.stdout)
        # Known answers stay.
        given = self.answers(epsilon="5", classes="low, high")
        told = self.talk("c5\nall\nyes\nback\nyes\n\n1\n", "table.csv", "--out", "known.toml", "--answers", given)
        self.assertEqual(told.returncode, 0, told.stderr)
        self.assertEqual(self.job("known.toml")["privacy"]["epsilon"], 5)

    def test_asks_again_where_answers_give_no_job_together(self):
        self.table("x,y,z\n" + "".join(f"{k % 9},{'?' if k % 7 == 0 else k % 2},{k % 3 % 2}\n" for k in range(60)), "gaps.csv")
        told = self.talk("y\nz\nall\nyes\n\n\n\n", "gaps.csv", "--out", "gaps.toml")
        self.assertEqual((told.returncode, told.stdout.count(" > ")), (0, 7), told.stderr)
        self.assertRegex(told.stdout, r'  label: column "y" has missing values, expected rows with a label only\n(.*\n)?'
                                      r"Which is to be predicted\?\n  Enter: z > ")
        self.assertEqual(self.job("gaps.toml")["data"]["label"]["column"], "z")
        # Where no other answer comes, or the same one again, the cause is what the program ends with.
        cause = 'label: column "y" has missing values, expected rows with a label only'
        for lines in ("y\n", "y\ny\nz\nall\nyes\n\n\n\n"):
            told = self.talk(lines, "gaps.csv", "--out", "none.toml")
            self.assert_one_error_line(told.stderr, cause)
            self.assertEqual(told.returncode, 2)
            self.assertFalse((self.folder / "none.toml").exists())
        self.table("".join(f"text{k},{k % 2}\n" for k in range(30)), "texts.csv")
        told = self.talk("\nall\nyes\nno\nyes\nyes\ntext\n\nyes\nyes\n\n\n\n", "texts.csv", "--out", "texts.toml")
        self.assertEqual(told.returncode, 0, told.stdout + told.stderr)
        self.assertIn("  columns: found none beside the label to learn from", told.stdout)
        self.assertEqual(self.job("texts.toml")["data"]["column"][0]["kind"], "text")
        # What a file of answers says is no answer that could be asked for again.
        given = self.answers(column_c1="number 0")
        told = self.talk("\nall\nyes\n", "texts.csv", "--out", "none.toml", "--answers", given)
        self.assertEqual(told.returncode, 2)
        self.assert_one_error_line(told.stderr, 'answer "column c1": c1: found "number 0"')

    def test_takes_no_yes_or_no_for_an_answer_of_ones_own(self):
        self.table(name="yes.csv")
        start = ["c5", "all", "NO", "Yes", "low, high", "no", "ignore", "range 0 100", "number 0 1", "category A, B"]
        end = ["2", "insider", "0, 2"]
        told = self.talk("\n".join([*start, "no", "No", "n", "Yes", "y", "", "500, 500, 500", "no", "N", "y", "study", *end]) + "\n",
                         "yes.csv", "--out", "job.toml")
        self.assertEqual((told.returncode, told.stdout.count("Then an answer of your own")), (0, 8), told.stderr)
        self.assertIn("  From the file: yes\n", told.stdout)
        self.assertEqual((self.job()["data"]["missing"], self.job()["name"]), (["?"], "study"))
        # A column may have such a name: yes is no proposal that is taken there.
        for name in ("y", "No", "yes"):
            self.table("x,n,No,y,yes,last\n" + "".join(f"{k % 9},{k % 2},{k % 3 % 2},{k % 2},{k % 2},{k}\n" for k in range(60)), "named.csv")
            told = self.talk(f"{name}\n\nyes\n\n\n\n", "named.csv", "--out", f"{name}.toml")
            self.assertEqual((told.returncode, self.job(f"{name}.toml")["data"]["label"]["column"]), (0, name), told.stderr)
        # One that is meant stands among the known answers.
        given = self.answers(missing="no", name="No")
        self.succeed("init-job", "yes.csv", "--out", "meant.toml", "--yes", "--answers", given)
        self.assertEqual((self.job("meant.toml")["data"]["missing"], self.job("meant.toml")["name"]), (["no"], "No"))

    def test_keeps_no_answer_that_nobody_gave(self):
        self.table()
        self.succeed("init-job", "table.csv", "--out", "job.toml", "--yes", "--label", "c2")
        kept = (self.folder / "job.toml.answers").read_text()
        # A tenth of one over the rows at most: of 10,000 in all that is 1e-5 itself.
        for rows, delta in (("4000, 3000, 3000", "1e-5"), ("4000, 3000, 3001", "1e-6"), ("11000, 11000, 11000", "1e-6"),
                            ("20000, 40000, 40000", "1e-6"), ("1, 40000, 60000", "1e-7")):
            self.write("given.answers", kept.replace("80, 80, 80", rows))
            said = self.succeed("init-job", "table.csv", "--out", f"{rows}.toml", "--answers", "given.answers")
            self.assertIn(f"  privacy.delta = {delta}: ", said)
            self.assertEqual(self.job(f"{rows}.toml")["privacy"]["delta"], float(delta))
        # Classes in place of the target have no loss.
        self.write("given.answers", re.sub('"classes" = .*', '"classes" = "low, high"', kept))
        self.assertNotIn("model.loss", self.succeed("init-job", "table.csv", "--out", "classes.toml", "--answers", "given.answers"))
        # What was given stays.
        self.write("given.answers", kept + '"delta" = "1e-7"\n"loss" = "huber 15"\n')
        self.succeed("init-job", "table.csv", "--out", "own.toml", "--answers", "given.answers")
        again = self.succeed("init-job", "table.csv", "--out", "again.toml", "--answers", "own.toml.answers")
        self.assertNotIn("Not asked", again)
        self.assertEqual((self.job("again.toml")["privacy"]["delta"], self.job("again.toml")["model"]["loss"]), (1e-7, "huber"))

    def test_asks_no_list_twice_and_knows_no_answer_to_it(self):
        self.table()
        self.succeed("init-job", "table.csv", "--out", "job.toml", "--yes")
        answers = (self.folder / "job.toml.answers").read_text().splitlines()
        columns = [line for line in answers if line.startswith('"column ')]
        self.write("given.answers", "\n".join(line for line in answers if line not in columns))
        # After a no to a list of columns alone each of them is asked.
        told = self.talk("no\nignore\nrange 0 100\nyes\nyes\n", "table.csv", "--out", "own.toml", "--answers", "given.answers")
        self.assertEqual((told.returncode, told.stdout.count(" > "), told.stdout.count("  column c2: ")), (0, 5, 1), told.stderr)
        # After a no to the list of all of it they are asked together, and then what answers there are is said once.
        told = self.talk("\nall\nno\nyes\nyes\nno\nignore\nyes\nyes\nyes\n\nyes\nyes\n\n\n\n", "table.csv", "--out", "each.toml")
        self.assertEqual((told.returncode, told.stdout.count("  column c2: "), told.stdout.count("number MEAN SCALE")), (0, 1, 1), told.stdout)
        self.assertLess(told.stdout.index("number MEAN SCALE"), told.stdout.index("Column c1\n"))
        # Nor is a question said again whose answer was none.
        told = self.talk("\nall\nn\nmaybe\nyes\n\n\n\n", "table.csv", "--out", "again.toml")
        self.assertEqual((told.returncode, told.stdout.count("expected yes or no\n  yes or no > ")), (0, 2), told.stdout)
        self.assertEqual((told.stdout.count("  column c2: "), told.stdout.count("Is all of it public")), (1, 1))
        # But one that is gone back to is.
        told = self.talk("\nall\nyes\nback\nyes\n\n\n\n", "table.csv", "--out", "back.toml")
        self.assertEqual((told.returncode, told.stdout.count("  column c2: ")), (0, 2), told.stdout)
        # What will be refused is refused before the next question.
        for key in ("share", "public", "columns"):
            self.write("given.answers", "\n".join([*columns, f'"{key}" = "yes"']))
            told = self.talk("", "table.csv", "--out", "none.toml", "--answers", "given.answers")
            self.assertEqual((told.returncode, told.stdout), (2, ""))
            self.assert_one_error_line(told.stderr, f'answer "{key}": found one beforehand, expected none')
        self.write("given.answers", "\n".join(columns))
        told = self.talk("", "table.csv", "--out", "none.toml", "--answers", "given.answers", "--label", "c2")
        self.assertEqual((told.returncode, told.stdout), (2, ""))
        self.assert_one_error_line(told.stderr, 'answer "column c2": found one, expected none: c2 is the label')
        self.write("given.answers", '"column c6" = "ignore"\n')
        told = self.talk("", "table.csv", "--out", "none.toml", "--answers", "given.answers")
        self.assertEqual((told.returncode, told.stdout), (2, ""))
        self.assert_one_error_line(told.stderr, 'given.answers: found an answer "column c6" to no question')

    def test_lists_what_no_answer_is_known_to(self):
        self.table()
        given = self.answers(column_c2="range 0 100", rows="90, 90, 90", delta="1e-7")
        told = self.talk("\nyes\n\n\n\n", "table.csv", "--out", "job.toml", "--answers", given)
        self.assertEqual((told.returncode, told.stdout.count(" > ")), (0, 5), told.stderr)
        self.assertIn("  column c3: number ", told.stdout)
        for key in ("column c2", "rows"):
            self.assertNotIn(f"  {key}: ", told.stdout)
        self.assertNotIn("Not asked", told.stdout)
        job = self.job()
        self.assertEqual(job["data"]["column"][1], {"name": "c2", "mean": 50.0, "scale": 50.0})
        self.assertEqual((job["data"]["rows"], job["privacy"]["delta"]), ([90] * 3, 1e-7))
        # One that is left alone needs no list.
        lines = [line for line in (self.folder / "job.toml.answers").read_text().splitlines() if not line.startswith('"name"')]
        given.write_text("\n".join(lines))
        told = self.talk("study\n", "table.csv", "--out", "study.toml", "--answers", given)
        self.assertEqual((told.returncode, told.stdout.count(" > ")), (0, 1), told.stderr)
        self.assertEqual(self.job("study.toml")["name"], "study")

    def test_asks_again_where_an_answer_is_none(self):
        self.table()
        wrong = ["c9", "", "two", "", "maybe", "no", "perhaps", "yes", "one", "yes", "yes", "", "1, 2", "yes", "a b", "yes",
                 "zero", "3", "nobody", "", "7", ""]
        told = self.talk("\n".join(wrong) + "\n", "table.csv", "--out", "job.toml")
        self.assertEqual(told.returncode, 0, told.stderr)
        for cause in ('found "c9"', 'found "two"', 'public: found "maybe"', 'file: found "perhaps"', "at least two values",
                      "found 2 numbers", 'found "a b"', 'found "zero"', 'found "nobody"', 'found "7"'):
            self.assertIn(cause, told.stdout)

    def test_refuses(self):
        self.table()
        out = ("--out", "job.toml", "--yes")
        for column in ("text 1", "bin", "indicator text", "weight 0", "weight 5000", "date 1 2", "date %Y 1 2", "date %Y-%m-%d 1 6000 2000",
                       "text; missing x", "number 1 2; missing x or y", "category A, B; missing B"):
            self.fail_with(2, "c2: found ", "init-job", "table.csv", *out, "--answers", self.answers(column_c2=column))
        self.fail_with(2, 'answer "label": label: found "age"', "init-job", "table.csv", *out, "--label", "age")
        self.fail_with(2, "one value in all rows", "init-job", self.table("1,a\n2,a\n", "same.csv"), *out)
        self.fail_with(2, "/nowhere is no folder", "init-job", "nothing.csv", "--out", "nowhere/job.toml")
        texts = self.table("".join(f"text{k},{k % 2}\n" for k in range(30)), "texts.csv")
        self.fail_with(2, "columns: found none beside the label to learn from", "init-job", texts, *out)
        for content, cause in (("1 2 a\n3 4 b\n", "found one column, expected several, with , ; | or a tab between fields"),
                               ("# of 2024\n1,a\n2,b\n", 'row 2: found 2 fields, the last "a", expected 1, as the header has'),
                               ("a\na,1\nb,2\n", 'row 2: found 2 fields, the last "1", expected 1, as the first line has'),
                               (",a,y\n0,1,2\n1,3,4\n", 'found a column without a name, expected a name for each (of pandas'),
                               ("x,y\r1,a\r2,b\r", "row 1: found carriage returns as line ends, expected newlines"),
                               ('no\ta "b" c\nyes\t"it is, I said\nno\td, e\n', "row 2: found a quoted field without an end")):
            self.fail_with(4, cause, "init-job", self.table(content, "odd.csv"), *out)
        many = self.table("".join(f"{k},word{k}\n" for k in range(30)), "many.csv")
        self.fail_with(2, "more than 20 texts, expected numbers, or classes", "init-job", many, *out)
        self.fail_with(2, "missing values, expected rows with a label", "init-job", self.table("1,a\n2,?\n3,b\n", "m.csv"), *out)
        self.fail_with(4, "an empty file", "init-job", self.table("", "empty.csv"), *out)
        self.fail_with(4, "row 2: found 2 fields, expected 3", "init-job", self.table("1,2,3\n1,2\n1,2,3\n", "ragged.csv"), *out)
        self.fail_with(4, "nothing.csv", "init-job", "nothing.csv", *out)
        self.write("odd.toml", 'colour = "red"\n')
        self.fail_with(2, 'found an answer "colour" to no question', "init-job", "table.csv", *out, "--answers", "odd.toml")
        self.assertFalse((self.folder / "job.toml").exists())
        self.succeed("init-job", "table.csv", *out)
        self.fail_with(2, "job.toml is there already", "init-job", "table.csv", *out)


if __name__ == "__main__":
    unittest.main()
