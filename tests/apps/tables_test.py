"""Tables that lie in several files or in a database: three processes, evaluations and predictions read them as one."""

import csv
import gzip
import re
import sqlite3
import subprocess
import unittest

from evaluate_test import JOB
from trefoil_program import BINARY, PATIENCE, ProgramTest, prepared

HEADER = "a,b,state\n"


class Tables(ProgramTest):
    def setUp(self):
        super().setUp()
        self.job = self.write("job.toml", JOB)
        rows = [f"{k % 7 / 10},{k % 5 / 10},{'ill' if k % 3 else 'well'}\n" for k in range(90)]
        self.put("data", train=rows[:60], test=rows[60:])
        self.put("parts", **{"train-1": rows[:7], "train-2": rows[7:60], "test-1": rows[60:70], "test-2": rows[70:]})

    def put(self, folder, **tables):
        (self.folder / folder).mkdir(exist_ok=True)
        for name, rows in tables.items():
            self.write(f"{folder}/{name}.csv", HEADER + "".join(rows))

    def prepare(self):
        self.succeed("local", "--job", self.job, "--data", "data", "--out", "d", *prepared())
        return self.folder / "d/party-0"

    def split(self, party):
        """The party's file as two, of which one is named first; what the party file's [data] then is."""
        lines = (party / "data/train.csv").read_text().splitlines(keepends=True)
        (party / "data/1.csv").write_text("".join(lines[:9]))
        (party / "data/2.csv").write_text("".join([lines[0], *lines[9:]]))
        return '[data]\nfile = ["data/1.csv", "data/2.csv"]\n'

    def name(self, party, tables):
        text = re.sub(r"(?m)^\[(data|ledger)\]\n(?:\w.*\n)*", "", (party / "party.toml").read_text())
        (party / "party.toml").write_text(f"{text}\n{tables}")

    def check(self, party):
        return self.run_program("check", "--config", party / "party.toml", "--job", self.job, "--wait", "50ms").stdout

    def test_local_deals_numbered_files_as_one_table(self):
        for source in ("data", "parts"):
            output = self.succeed("local", "--job", self.job, "--data", source, "--out", source + "-run")
            self.assertIn("20, 20, 20", output)
        dealt = [[(self.folder / f"{source}-run/party-{i}/data/train.csv").read_text() for i in range(3)] for source in ("data", "parts")]
        self.assertEqual(*dealt)
        tests = [self.folder / f"parts/test-{k}.csv" for k in (1, 2)]
        for command in ("evaluate", "predict"):
            one = self.succeed(command, "--model", "data-run/model.npz", "--data", "data/test.csv")
            self.assertEqual(self.succeed(command, "--model", "data-run/model.npz", "--data", *tests), one)
            self.assertEqual(self.succeed(command, "--model", "data-run/model.npz", "--data", "parts"), one)
        self.fail_with(4, "test-2.csv: row 1, column 1: found \"x\", expected \"a\", as in ", "evaluate", "--model",
                       "data-run/model.npz", "--data", tests[0], self.write("test-2.csv", "x,b,state\n"))

    def test_local_reads_test_records_before_it_trains(self):
        (self.folder / "data/test.csv").write_text(HEADER + "0.1,0.2,cold\n")
        self.fail_with(4, 'data/test.csv: row 2, column "state": found "cold"', "local", "--job", self.job, "--data", "data", "--out", "out")
        self.assertFalse((self.folder / "out").exists())

    def test_rows_come_from_standard_input(self):
        self.succeed("local", "--job", self.job, "--data", "data", "--out", "run")
        rows = (self.folder / "data/test.csv").read_text()
        for command in ("predict", "evaluate"):
            options = (command, "--model", "run/model.npz", "--data")
            expected = self.succeed(*options, "data/test.csv")
            for given in (rows, gzip.compress(rows.encode())):
                result = self.feed(given, *options, "-")
                self.assertEqual((result.returncode, result.stdout.decode()), (0, expected), result.stderr)
            bad = self.feed(rows + "0.1,x,ill\n", *options, "-")
            self.assertEqual(bad.returncode, 4)
            self.assertIn(b'/dev/stdin: row 32, column "b": found "x"', bad.stderr)
            self.assertEqual(self.feed(b"", *options, "-").returncode, 4)
        self.assertEqual([path for path in self.folder.iterdir() if path.name == "-"], [])

    def feed(self, given, *arguments):
        return subprocess.run([BINARY, *arguments], cwd=self.folder, input=given if isinstance(given, bytes) else given.encode(),
                              capture_output=True, timeout=100, check=False)

    def test_an_empty_first_file_has_no_header(self):
        self.put("empty", **{"train-2": ["0.1,0.2,ill\n"] * 90, "test": ["0.1,0.2,ill\n"]})
        self.write("empty/train-1.csv", "")
        self.fail_with(4, "train-1.csv: row 1: found an empty file", "local", "--job", self.job, "--data", "empty", "--out", "o")

    def test_a_party_file_names_several(self):
        party = self.prepare()
        ledger = '[ledger]\nfile = "ledger.jsonl"\nepsilon_cap = 100.0\ndelta = 1e-5\n'
        data = self.split(party)
        self.name(party, data + ledger)
        self.assertRegex(self.check(party), r"(?m)^pass  data: 20 rows")
        self.succeed("ledger", "init", "--config", party / "party.toml")
        self.assertRegex(self.check(party), r"(?m)^pass  ledger: ")
        self.name(party, data.replace(', "data/2.csv"', "") + ledger)  # other data
        self.assertRegex(self.check(party), r"(?m)^fail  ledger: ")
        self.name(party, data)
        with open(party / "data/2.csv", "a") as file:
            file.write("0.1,secret\n")
        self.assertRegex(self.check(party), r"(?m)^fail  data: .*data/2.csv: row 14: found 2 fields, expected 3")

    def store(self, source, name):
        """The rows of a CSV file in a database, and the query that gives them."""
        with open(source) as file:
            rows = list(csv.reader(file))[1:]
        with sqlite3.connect(name) as database:
            database.execute("CREATE TABLE visits (id INTEGER PRIMARY KEY, a REAL, b REAL, state TEXT)")
            database.executemany("INSERT INTO visits (a, b, state) VALUES (?, ?, ?)", rows)
        database.close()
        return "SELECT state, b, a FROM visits ORDER BY id"

    def test_a_query_gives_a_table(self):
        party = self.prepare()
        query = self.store(party / "data/train.csv", party / "visits.db")
        before = (party / "visits.db").read_bytes()
        ledger = '[ledger]\nfile = "ledger.jsonl"\nepsilon_cap = 100.0\ndelta = 1e-5\n'
        data = f'[data]\nsqlite = "visits.db"\nquery = "{query}"\n'
        self.name(party, data + ledger)
        self.assertRegex(self.check(party), r"(?m)^pass  data: 20 rows")
        parties = [self.start_program("run", "--config", f"d/party-{i}/party.toml", "--job", self.job, "--out", f"r{i}")
                   for i in range(3)]
        told = [process.communicate(timeout=PATIENCE) for process in parties]
        self.assertEqual([process.returncode for process in parties], [0, 0, 0], told)
        files = [path.read_bytes() for i in range(3) for path in (self.folder / f"r{i}").rglob("*") if path.is_file()]
        for text in [str(told).encode(), (party / "ledger.jsonl").read_bytes(), *files]:
            self.assertNotIn(b"visits", text)  # neither the query nor the database's name
        self.assertEqual((party / "visits.db").read_bytes(), before)
        self.assertEqual(sorted(path.name for path in party.iterdir() if "visits" in path.name), ["visits.db"])

        # The ledger knows what the query gives, and not the database's bytes.
        with sqlite3.connect(party / "visits.db") as database:
            database.execute("CREATE TABLE notes (text)")
        self.assertRegex(self.check(party), r"(?m)^pass  ledger: ")
        with sqlite3.connect(party / "visits.db") as database:
            database.execute("UPDATE visits SET a = NULL WHERE id = 3")
        self.assertRegex(self.check(party), r"(?m)^fail  ledger: ")
        self.name(party, data.replace("SELECT", "DELETE"))
        self.assertRegex(self.check(party), r"(?m)^fail  data: .*visits.db: query: found .*, expected one SELECT, which only reads")

        test = self.folder / "data/test.csv"
        query = self.store(test, self.folder / "test.db")
        for command in ("evaluate", "predict"):
            self.assertEqual(self.succeed(command, "--model", "r0/model.npz", "--data", "test.db", "--query", query),
                             self.succeed(command, "--model", "r0/model.npz", "--data", test))


if __name__ == "__main__":
    unittest.main()
