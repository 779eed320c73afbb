"""Three parties add up what owners deposited: jobs of type `sum` and `statistics` with `data.source = "store"`."""

import csv
import json
import math
import random
import re
import statistics
import tomllib
import unittest

from account_votes_test import npy
from deposit_files import change_rows, key_of
from schema_test import errors
from statistics_test import JOB as OWN_STATISTICS
from store_program import JOB as TRAINING
from store_program import StoreProgramTest, gaussian_epsilon
from sum_test import read_npy, shortened

FEATURE, BITS = 4, 28  # of vectors of norm 2 at 24 bits: bytes and bits of a number
MASK = 3 * FEATURE
SUM = """version = 1
type = "sum"
name = "sums"
[data]
name = "sums"
source = "store"
capacity = 80
[sum]
dimension = 3
norm_bound = 2.0
[privacy]
sigma = 0.01
delta = 1e-5
"""
STATISTICS = OWN_STATISTICS.replace("rows = [700, 700, 700]", 'source = "store"\ncapacity = 80').lstrip()


def larger(content, at, length, number):
    """Component 2 with one of its numbers, of `length` bytes at byte `at`, made larger."""
    value = (int.from_bytes(content[at:at + length], "little") + number) % (1 << (64 if length == 8 else BITS))
    return content[:at] + value.to_bytes(length, "little") + content[at + length:]


class StoreAddedTest(StoreProgramTest):
    def refuse_deposit(self, code, text, *options, file="t.csv"):
        self.fail_with(code, text, "deposit", "--study", "study.toml", "--key", "clinic/owner.key", "--in", file, "--out", "none", *options)

    def assert_charged(self, run, owners):
        """One release, to the populations of these owners."""
        record = json.loads((self.folder / f"{run}/record.json").read_text())
        self.assertEqual((record["deposited"], record["unit"], record["neighbours"]), (True, "record", "added"))
        self.assertEqual([event["kind"] for event in record["events"]], ["gaussian_releases"])
        for party in range(3):
            for owner in owners:
                self.assertEqual([job["run_id"] for job in self.ledger(party, owner)["jobs"]], [record["run_id"]])

    def assert_ends_at_a_cap(self):
        """Another run finds no room at one party, and so ends at all three, before anything is charged."""
        self.set_caps((1e9, 1.01 * self.ledger(1, "clinic")["epsilon_insider"], 1e9))
        self.clear_runs()
        for party, (code, output, error) in enumerate(self.train()):
            self.assertEqual(code, 5, output)
            self.assertIn('with data.capped = "leave-out"', error)
            self.assertFalse((self.folder / f"r{party}/record.json").exists())


class StoreSum(StoreAddedTest):
    job = SUM

    @staticmethod
    def records(owner, count):
        """Of norm 0 to 6, so that most are shortened."""
        source = random.Random(owner)
        return [[source.uniform(-1, 1) * source.uniform(0, 3.5) for _ in range(3)] for _ in range(count)]

    def deposit(self, owner, out=None, capacity=30, rows=None):
        (self.folder / "v.npy").write_bytes(npy(rows or self.owners[owner], "<f8", "d"))
        output = self.succeed("deposit", "--study", "study.toml", "--key", f"{owner}/owner.key", "--in", "v.npy", "--capacity", str(capacity),
                              "--adds", "--out", out or f"of-{owner}")
        return re.search(r"(?m)^deposit ([0-9a-f]{64})$", output)[1]

    def assert_sums(self, run, owners=("hospital", "clinic")):
        """The noise of all three parties has deviation 0.0245: eight of them are exceeded with a probability of 10^-14."""
        found, = read_npy(self.folder / run / "sums.npy")
        vectors = [shortened(row, 2.0) for owner in owners for row in self.owners[owner]]
        for value, wanted in zip(found, map(sum, zip(*vectors)), strict=True):
            self.assertAlmostEqual(value, wanted, delta=0.2)

    def test_an_owner_alone_is_told_that_vectors_are_shortened(self):
        (self.folder / "v.npy").write_bytes(npy([[1.0, 1.0, 1.0], [2.0, 1.0, 0.0], [0.0, 0.0, 2.0], [0.0, 3.0, 0.0]], "<f8", "d"))
        told = self.run_program("deposit", "--study", "study.toml", "--key", "clinic/owner.key", "--in", "v.npy", "--capacity", "5", "--out", "long")
        self.assertEqual(told.returncode, 0)
        self.assertIn("warning to the owner alone: 2 of 4 vectors are longer than norm_bound, 2, and are shortened", told.stderr)

    def hostile(self, out, change):
        secrets = [key_of(self.folder / f"d/party-{party}/deposit.key") for party in range(3)]
        self.deposit("stranger", out, capacity=4, rows=self.owners["stranger"])  # no padding
        change_rows(self.folder / out, secrets, key_of(self.folder / "stranger/owner.key"), change)
        return self.accept(out)

    def test_sums_are_those_of_all_owners_vectors_and_charged_to_them(self):
        ids = self.deposit_all()
        self.add_owner("stranger", [[0.5, 0.5, 0.5]] * 4)
        long = self.hostile("long", lambda rows: larger(rows, MASK + 16, FEATURE, 3 << 24))
        hidden = self.hostile("hidden", lambda rows: larger(rows, MASK, 8, (1 << 64) - 1))  # no padding, and no record
        self.set_caps((1e9, 1e9, 1e9))
        checked = self.run_program("check", "--config", "d/party-1/party.toml", "--job", "job.toml", "--wait", "100ms").stdout
        self.assertIn("4 deposits of 68 rows", checked)
        self.assertIn("pass  ledgers of owners: 3 populations, each with room for the job", checked)
        for code, output, error in self.train():
            self.assertEqual((code, error), (0, ""), output)
            self.assertIn(f"warning: deposit {long} of stranger is left out: a row is neither a record", output)
        for party in range(3):
            self.assert_sums(f"r{party}")
        summary = self.summary("r2")
        self.assertEqual([one["deposit"] for one in summary["deposits"]["used"]], sorted(ids.values()))
        self.assertEqual([one["deposit"] for one in summary["deposits"]["left_out"]], sorted((long, hidden)))
        self.assertEqual((summary["records_declared"], summary["calls"], summary["sensitivity"]), (80, 1, 2))
        self.assert_charged("r0", ("hospital", "clinic"))
        self.assertIsNone(self.ledger(0, "stranger"))
        self.succeed("report", "r0", "--out", "report.html")
        self.assert_ends_at_a_cap()

    def test_rows_on_disk_and_one_receiver_give_the_same_sum(self):
        self.deposit_all()
        self.write_job(("capacity", "memory = 1\ncapacity"))
        (self.folder / "job.toml").write_text((self.folder / "job.toml").read_text() + "[release]\nto = [1]\n")
        self.assert_all_done(self.train())
        self.assert_sums("r1")
        self.assertEqual([(self.folder / f"r{party}/sums.npy").exists() for party in range(3)], [False, True, False])

    def test_costs_what_is_planned_for_as_many_deposits(self):
        self.deposit_all()
        for change in (("capacity = 80", "capacity = 60"), ("capacity = 80", "memory = 1\ncapacity = 60")):
            self.write_job(change)
            self.assert_all_done(self.train())
            self.assert_costs_as_planned()
            self.clear_runs()

    def test_a_plan_has_an_epsilon_for_each_adversary_and_needs_no_study(self):
        self.write("job.toml", SUM.replace("sigma = 0.01", "sigma = 2.0"))
        told = json.loads(self.succeed("plan", "--job", "job.toml", "--json"))
        entries = {entry["key"]: entry.get("number") for entry in told["statement"]}
        for keys, deviation in ((("epsilon_insider", "epsilon_owner_and_party"), 2), (("epsilon_outsider", "epsilon_owner"), 2 * math.sqrt(1.5))):
            for key in keys:
                self.assertAlmostEqual(entries[key], gaussian_epsilon(deviation, 1e-5), delta=1e-3)
        said = self.succeed("plan", "--job", "job.toml")
        self.assertIn("1 noisy sum of up to 80 vectors of 3 numbers and norm 2, all that owners deposited", said)
        self.assertIn("the checks of 3 deposits of 26 rows each. This is assumed (--deposits)", said)
        self.assertIn("Not counted in any time: the sums of deposited rows\n", said)
        self.fail_with(2, "--deposits: found 81, expected 1 to 80, as the job has rows", "plan", "--job", "job.toml", "--deposits", 81)

    def test_refuses_what_is_wrong_in_one_line(self):
        self.deposit_all()
        study = tomllib.loads((self.folder / "study.toml").read_text())
        self.assertEqual((study["vectors"], study["fraction_bits"]), ({"dimension": 3, "norm_bound": 2.0}, 24))
        self.assertEqual(list(errors(study, json.loads(self.succeed("schema", "study")))), [])
        self.assertIn(f"rows        3 numbers of {BITS} bits, norm at most 2", self.succeed("study", "show", "study.toml"))
        self.fail_with(2, 'data.source: found "store", expected "files"', "local", "--job", "job.toml", "--out", "l")
        self.fail_with(2, 'found a job of type "sum" that reads no records', "features", "--job", "job.toml", "--in", "v.npy", "--out", "x.npz")
        run = ("run", "--config", "d/party-0/party.toml", "--job", "job.toml", "--out")
        self.write_job(("norm_bound = 2.0", "norm_bound = 1.5"))
        self.fail_with(2, "data.study: the job's records are not the study's: vectors.norm_bound: found 1.5, expected 2.0", *run, "a")
        self.write_job(("capacity = 80", "capacity = 59"))
        self.fail_with(2, "data.capacity: found 59, expected at least 60", *run, "b")
        for job, found in ((STATISTICS, 'of type "statistics"'), (TRAINING, "on records")):
            self.write_job(job=job)
            self.fail_with(2, f'data.study: found a job {found}, expected one of type "sum", which the study is for', *run, "c")
        self.refuse_deposit(2, '--purpose: found "predict", expected another', "--purpose", "predict", "--capacity", "30", file="v.npy")
        self.refuse_deposit(2, "--feature-model: found x.onnx, expected none", "--feature-model", "x.onnx", "--capacity", "30", file="v.npy")
        self.refuse_deposit(4, "found 17 rows, expected at most the 16 of --capacity", "--capacity", "16", file="v.npy")
        (self.folder / "v.npy").write_bytes(npy([[1.0, 2.0]], "<f8", "d"))
        self.refuse_deposit(4, "v.npy", "--capacity", "16", file="v.npy")
        (self.folder / "both.toml").write_text((self.folder / "study.toml").read_text() + '[columns]\nformat = "npy"\n')
        self.fail_with(2, "columns: found it beside [vectors] or [statistics]", "study", "show", "both.toml")


class StoreStatistics(StoreAddedTest):
    job = STATISTICS

    @staticmethod
    def records(owner, count):
        source = random.Random(3 + owner)
        return [(source.randint(20, 80), None if k % 10 == 0 else source.randint(1, 79), source.choice(("red", "green", "?")))
                for k in range(count)]

    @staticmethod
    def table(rows):
        return "age,hours,colour\n" + "".join(f"{age},{'?' if hours is None else hours},{colour}\n" for age, hours, colour in rows)

    def released(self, name, run="r0"):
        with open(self.folder / run / name, newline="") as file:
            return list(csv.DictReader(file))

    def test_are_those_of_all_owners_records_and_charged_to_them(self):
        """Noise on a count is 0.032, and so beyond 0.3 with a probability below 10^-19."""
        ids = self.deposit_all()
        self.set_caps((1e9, 1e9, 1e9))
        checked = self.run_program("check", "--config", "d/party-1/party.toml", "--job", "job.toml", "--wait", "100ms").stdout
        self.assertIn("2 deposits of 60 rows", checked)
        self.assert_all_done(self.train())
        rows = [row for owner in ("hospital", "clinic") for row in self.owners[owner]]
        ages, hours = [age for age, _, _ in rows], [hour for _, hour, _ in rows if hour is not None]
        moments = {line["column"]: {key: float(value) for key, value in line.items() if key != "column"} for line in self.released("moments.csv")}
        for name, values, width in (("age", ages, 100), ("hours", hours, 80)):
            self.assertAlmostEqual(moments[name]["count"], len(values), delta=0.6)
            self.assertAlmostEqual(moments[name]["missing"], len(rows) - len(values), delta=0.3)
            self.assertAlmostEqual(moments[name]["mean"], statistics.fmean(values), delta=0.015 * width)
            self.assertAlmostEqual(moments[name]["deviation"], statistics.pstdev(values), delta=0.03 * width)
        counts = {(line["row"], line["column"]): float(line["count"]) for line in self.released("tables.csv")}
        for row, old in (("below 40", False), ("40 and above", True)):
            for colour, name in (("red", "red"), ("green", "green"), ("?", "(missing)")):
                self.assertAlmostEqual(counts[row, name], sum((age >= 40) == old and own == colour for age, _, own in rows), delta=0.3)
        for k, line in enumerate(line for line in self.released("bins.csv", "r2") if line["column"] == "age"):
            self.assertAlmostEqual(float(line["count"]), sum(5 * k <= age < 5 * k + 5 for age in ages), delta=0.3)
        worked = [(age, hour) for age, hour, _ in rows if hour is not None]
        self.assertAlmostEqual(float(self.released("correlations.csv")[0]["hours"]), statistics.correlation(*zip(*worked)), delta=0.1)
        summary = self.summary("r1")
        self.assertEqual((summary["records_declared"], summary["numbers"], summary["sensitivity"]), (80, 1 + 2 + 3 + 40 + 2 + 6, 1))
        self.assertEqual([one["deposit"] for one in summary["deposits"]["used"]], sorted(ids.values()))
        self.assert_charged("r0", ("hospital", "clinic"))
        self.succeed("report", "r0", "--out", "report.html")
        self.assertIn("Records by age and colour", (self.folder / "report.html").read_text())
        self.assert_ends_at_a_cap()

    def test_rows_on_disk_give_the_same_counts_and_quantiles_are_the_jobs_own(self):
        self.deposit_all()
        self.write_job(("capacity", "memory = 2\ncapacity"), ("bins = 20", "bins = 20\nprobabilities = [0.5]"))
        self.assert_all_done(self.train())
        self.assertEqual(len(self.released("quantiles.csv", "r1")), 2)
        total = sum(float(line["count"]) for line in self.released("tables.csv", "r1"))
        self.assertAlmostEqual(total, 40, delta=0.8)

    def test_the_study_has_all_that_an_owner_needs(self):
        text = (self.folder / "study.toml").read_text()
        study = tomllib.loads(text)
        self.assertEqual(list(errors(study, json.loads(self.succeed("schema", "study")))), [])
        self.assertEqual(study["fraction_bits"], 24)
        self.assertEqual([column["name"] for column in study["statistics"]["column"]], ["age", "hours", "colour"])
        for absent in ("probabilities", "capacity", "[columns]", "[features]"):
            self.assertNotIn(absent, text)
        self.assertIn("rows        54 numbers of 27 bits, norm at most 1", self.succeed("study", "show", "study.toml"))
        (self.folder / "other.toml").write_text(text.replace("fraction_bits = 24", "fraction_bits = 20"))
        self.fail_with(2, "fraction_bits: found 20, expected 24, for rows of 54 numbers", "study", "show", "other.toml")
        (self.folder / "other.toml").write_text(text.replace("bins = 20", "bins = 1"))
        self.fail_with(2, "statistics.bins: found 1", "study", "show", "other.toml")

    def test_an_owner_of_two_studies_deposits_under_a_purpose_for_each(self):
        """The same records, so that --adds would not be true."""
        self.write("sum.toml", SUM)
        keys = [f"d/party-{party}/deposit.pub" for party in range(3)]
        made = self.succeed("study", "init", "--job", "sum.toml", "--keys", *keys, "--out", "sums.toml")
        self.write("t.csv", self.table(self.owners["clinic"]))
        (self.folder / "v.npy").write_bytes(npy([[0.5, 0.5, 0.5]] * 17, "<f8", "d"))
        for study, file, purpose, out in (("sums.toml", "v.npy", "train", "of-sums"), ("study.toml", "t.csv", "train", "barred"),
                                          ("study.toml", "t.csv", "statistics", "of-statistics")):
            self.succeed("deposit", "--study", study, "--key", "clinic/owner.key", "--in", file, "--capacity", "30", "--purpose", purpose,
                         "--out", out)
        for party in range(3):
            accept = ("accept", "--config", f"d/party-{party}/party.toml", "--study")
            self.succeed(*accept, "sums.toml", f"of-sums/party-{party}.deposit")
            self.fail_with(4, "of clinic for population default, purpose train", *accept, "study.toml", f"barred/party-{party}.deposit")
            self.succeed(*accept, "study.toml", f"of-statistics/party-{party}.deposit")
        self.set_caps((1e9, 1e9, 1e9))
        self.write_job(("capacity", 'purpose = "statistics"\ncapacity'))
        self.assert_all_done(self.train())
        self.clear_runs()
        self.write_job(job=SUM, study=re.search(r"(?m)^id +([0-9a-f]{64})$", made)[1])
        self.assert_all_done(self.train())
        self.assertEqual([len(self.ledger(party, "clinic")["jobs"]) for party in range(3)], [2, 2, 2])

    def test_tells_the_owner_alone_what_is_odd_and_refuses_what_is_no_record(self):
        self.write("t.csv", self.table([(120, 5, "red")] * 3))
        told = self.run_program("deposit", "--study", "study.toml", "--key", "clinic/owner.key", "--in", "t.csv", "--capacity", "5", "--out", "odd")
        self.assertEqual(told.returncode, 0)
        self.assertIn("3 numbers lie beyond low or high of their columns", told.stderr)
        self.assertIn('no row has the declared value "green"', told.stderr)
        self.assertIn("3 records in 5 rows", told.stdout)
        self.write("t.csv", self.table([(20, 5, "blue")]))
        self.refuse_deposit(4, 'column "colour": found "blue"', "--capacity", "5")
        self.write("t.csv", self.table([(20, 5, "red")] * 6))
        self.refuse_deposit(4, "found 6 rows, expected at most the 5 of --capacity", "--capacity", "5")

    def test_refuses_what_is_wrong_in_one_line(self):
        self.deposit_all()
        self.fail_with(2, 'data.source: found "store", expected "files"', "local", "--job", "job.toml", "--out", "l")
        run = ("run", "--config", "d/party-0/party.toml", "--job", "job.toml", "--out")
        self.write_job(("bins = 20", "bins = 25"))
        self.fail_with(2, "data.study: the job's records are not the study's: statistics.bins: found 25, expected 20", *run, "a")
        self.write_job(("high = 80.0", "high = 81.0"))
        self.fail_with(2, "data.study: the job's records are not the study's: statistics.column", *run, "b")
        self.write_job(("capacity = 80", "capacity = 59"))
        self.fail_with(2, "data.capacity: found 59, expected at least 60", *run, "c")
        for job, found in ((SUM, 'of type "sum"'), (TRAINING, "on records")):
            self.write_job(job=job)
            self.fail_with(2, f'data.study: found a job {found}, expected one of type "statistics", which the study is for', *run, "e")


if __name__ == "__main__":
    unittest.main()
