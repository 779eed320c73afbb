"""A population has a budget, whatever files it comes in; records of another population are asked about."""

import json
import re
import unittest

from trefoil_program import PATIENCE, ProgramTest, prepared

JOB = """
version = 1
type = "histogram"
name = "colours"
[data]
name = "colours"
format = "csv"
rows = [100, 100, 100]
[histogram]
mode = "central"
column = "colour"
values = ["red", "green", "blue"]
[privacy]
epsilon = 1.0
"""
CONFIG = "d/party-0/party.toml"


def table(first, last):
    return "name,colour\n" + "".join(f"n{k},{('red', 'green', 'blue')[k // 7 % 3]}\n" for k in range(first, last))


class Population(ProgramTest):
    def setUp(self):
        super().setUp()
        self.job = self.write("job.toml", JOB)
        (self.folder / "data").mkdir()
        self.write("data/train.csv", table(0, 300))
        self.succeed("local", "--job", self.job, "--data", "data", "--out", "d", *prepared())
        self.party = (self.folder / CONFIG).read_text()
        self.runs = 0

    def use(self, file, population, ledger="ledger.jsonl", cap=50):
        """Party 0 brings this file, as one of a population's, whose ledger that is."""
        text = re.sub(r'file = "data/[^"]*"', f'file = "data/{file}"', self.party)
        key = f'population = "{population}"\n' if population else ""
        (self.folder / CONFIG).write_text(f'{text}\n[ledger]\nfile = "{ledger}"\nepsilon_cap = {cap}\ndelta = 1e-5\n{key}')

    def bring(self, name, text):
        self.write(f"d/party-0/data/{name}", text)

    def run_parties(self):
        self.runs += 1
        parties = [self.start_program("run", "--config", f"d/party-{party}/party.toml", "--job", self.job, "--out",
                                      f"r{self.runs}-{party}") for party in range(3)]
        outputs = [process.communicate(timeout=PATIENCE) for process in parties]
        return [process.returncode for process in parties], [error for _, error in outputs]

    def run_well(self):
        codes, errors = self.run_parties()
        self.assertEqual(codes, [0, 0, 0], errors)

    def show(self, ledger="ledger.jsonl"):
        return json.loads(self.succeed("ledger", "show", f"d/party-0/{ledger}", "--json"))

    def test_a_corrected_file_and_a_new_one_are_charged_to_the_same_budget(self):
        self.bring("first.csv", table(0, 100))
        self.bring("corrected.csv", table(0, 100).replace("n7,", "Anna,"))
        self.use("first.csv", "patients")
        self.run_well()
        once = self.show()["epsilon_insider"]
        self.use("corrected.csv", "patients")
        codes, errors = self.run_parties()
        self.assertEqual(codes, [4, 3, 3], errors)
        self.assert_one_error_line(errors[0], 'data that was not declared to be of population "patients": if whoever is in it '
                                   "may be in that population's other files, run: trefoil ledger declare, or Party.declare of Python; else "
                                   "name another")
        declare = ("ledger", "declare", "--config", CONFIG)
        told = self.succeed(*declare)
        self.assertIn('100 different records, 1 of them new to population "patients", and of these 0 equal to another', told)
        self.assertIn('now belongs to population "patients"', told)
        self.assertIn("belonged already", self.succeed(*declare))
        self.run_well()
        shown = self.show()
        self.assertEqual(len(shown["jobs"]), 2)
        self.assertGreater(shown["epsilon_insider"], 1.2 * once)
        self.assertEqual((shown["population"]["name"], len(shown["population"]["data"])), ("patients", 2))
        self.assertIn('people   of population "patients", data sets declared: 2\n',
                      self.succeed("ledger", "show", "d/party-0/ledger.jsonl"))
        self.use("corrected.csv", "patients", cap=shown["epsilon_insider"])
        self.assertEqual(self.run_parties()[0], [5, 5, 5])
        known = (self.folder / "d/party-0/known_records.jsonl")
        self.assertEqual(known.stat().st_mode & 0o777, 0o600)
        self.assertNotIn("Anna", known.read_text())
        self.assertIn("unbroken", self.succeed("ledger", "verify", "d/party-0/ledger.jsonl"))

    def test_declares_a_file_that_the_party_file_does_not_name(self):
        self.bring("first.csv", table(0, 100))
        self.bring("second.csv", table(100, 150))
        self.use("first.csv", "patients")
        self.run_well()
        declare = ("ledger", "declare", "--config", CONFIG, "--input")
        second = "data.file=d/party-0/data/second.csv"
        self.assertIn("50 different records, 50 of them new", self.succeed(*declare, second))
        self.use("second.csv", "patients")
        self.run_well()
        self.assertEqual(len(self.show()["jobs"]), 2)
        self.fail_with(2, "--input: found data.file, expected KEY=FILE", *declare, "data.file")
        self.fail_with(2, "--input: found data.file twice", *declare, second, "--input", second)
        self.fail_with(2, "--input: found evaluation.file, expected a file of [data]", *declare, "evaluation.file=x.csv")
        self.fail_with(2, "data.xx is no file of a party, expected one of data.file, ", *declare, "data.xx=second.csv")

    def test_records_of_another_population_are_refused(self):
        self.bring("patients.csv", table(0, 100))
        self.bring("visitors.csv", table(99, 150))
        self.use("patients.csv", "patients")
        self.run_well()
        self.use("visitors.csv", "visitors", "visitors.jsonl")
        check = self.run_program("check", "--config", CONFIG, "--job", self.job, "--wait", "50ms")
        self.assertIn('found records that population "patients" has, too', check.stdout)
        codes, errors = self.run_parties()
        self.assertEqual(codes, [4, 3, 3], errors)
        mend = "name its ledger ledger.jsonl in [ledger], or, only if they are others' and equal by chance, run: trefoil ledger declare"
        self.assert_one_error_line(errors[0], mend)
        declare = ("ledger", "declare", "--config", CONFIG)
        self.fail_with(4, mend, *declare)
        self.assertIn("51 different records, 51 of them new to", self.run_program(*declare).stdout)
        self.succeed(*declare, "--equal-by-chance")
        self.assertTrue(self.show_members("visitors.jsonl")[0]["equal_by_chance"])
        self.use("patients.csv", "patients", "other.jsonl")
        self.fail_with(2, "expected ledger ledger.jsonl, which has its budget", *declare)
        self.use("patients.csv", "visitors")
        self.fail_with(2, 'found population "visitors" asked for', *declare)

    def show_members(self, ledger):
        lines = (self.folder / f"d/party-0/{ledger}").read_text().splitlines()
        return [entry for entry in map(json.loads, lines) if entry["kind"] == "population"]

    def test_a_ledger_without_a_population_gets_one(self):
        self.bring("first.csv", table(0, 100))
        self.bring("second.csv", table(50, 150))
        self.use("first.csv", "")
        self.run_well()
        self.assertNotIn("population", self.show())
        declare = ("ledger", "declare", "--config", CONFIG)
        self.fail_with(2, "missing ledger.population, expected the name", *declare)
        self.use("second.csv", "")
        codes, errors = self.run_parties()
        self.assertEqual(codes, [4, 3, 3], errors)
        self.use("second.csv", "patients")
        self.fail_with(2, "declared first, so that its records are known", *declare)
        self.use("first.csv", "patients")
        self.succeed(*declare)
        self.run_well()
        self.use("second.csv", "patients")
        self.succeed(*declare)
        self.run_well()
        self.assertEqual(len(self.show()["jobs"]), 3)


if __name__ == "__main__":
    unittest.main()
