"""Three parties count the classes of what owners deposited: jobs of type `histogram` with `data.source = "store"`."""

import csv
import json
import math
import re
import tomllib
import unittest

from account_votes_test import npy
from deposit_files import change_rows, key_of
from schema_test import errors
from store_check_test import plus
from store_program import JOB, MASK, StoreProgramTest, gaussian_epsilon, records

CLASSES = ["mild", "severe", "none"]
LABEL = MASK + 8
ROW = LABEL + 3 * 8  # a label of three words
COUNTS = """[histogram]
mode = "central"
noise = "gaussian"
[privacy]
sigma = 0.05
delta = 1e-5
"""
OF_RECORDS = JOB[:JOB.index("[model]")].replace('"dpsgd"', '"histogram"')
THREE_CLASSES = OF_RECORDS.replace("classes = 2", "classes = 3").replace('["no", "yes"]', json.dumps(CLASSES)) + COUNTS
# Of a column of the parties' own files.
FILES = """version = 1
type = "histogram"
name = "visits"
[data]
name = "visits"
format = "csv"
rows = [20, 20, 20]
[histogram]
mode = "central"
column = "y"
values = ["mild"]
[privacy]
epsilon = 1.0
"""


def records_of_three(owner, count):
    """The same numbers, of three classes at the first owner and two at the next."""
    return [(a, b, min(k % 5, 2 - owner)) for k, (a, b, _) in enumerate(records(owner, count))]


def table_of_three(rows):
    return "a,b,y\n" + "".join(f"{a},{b},{CLASSES[label]}\n" for a, b, label in rows)


class StoreCountsTest(StoreProgramTest):
    def counts(self, run="r0"):
        with open(self.folder / run / "histogram.csv", newline="") as file:
            return {line["value"]: tuple(float(line[key]) for key in ("count", "low", "high")) for line in csv.DictReader(file)}

    def true_counts(self, names):
        labels = [label for owner in ("hospital", "clinic") for _, _, label in self.owners[owner]]
        return {name: labels.count(k) for k, name in enumerate(names)}


class StoreHistogram(StoreCountsTest):
    job = THREE_CLASSES
    records = staticmethod(records_of_three)
    table = staticmethod(table_of_three)

    def hostile(self, change):
        """Records of an owner of its own, of which one is changed; its id."""
        secrets = [key_of(self.folder / f"d/party-{party}/deposit.key") for party in range(3)]
        self.deposit("stranger", "changed", capacity=4, rows=self.owners["stranger"])  # no padding
        change_rows(self.folder / "changed", secrets, key_of(self.folder / "stranger/owner.key"), change)
        return self.accept("changed")

    def test_counts_are_those_of_all_owners_records_and_charged_to_them(self):
        ids = self.deposit_all()
        self.add_owner("stranger", self.records(0, 4))
        # The second record is of class 1 and of class 0 beside it.
        two_hot = self.hostile(lambda words: plus(words, ROW + LABEL, 8, 1))
        self.set_caps((1e9, 1e9, 1e9))
        check = ("check", "--config", "d/party-1/party.toml", "--job", "job.toml", "--wait", "100ms")
        checked = self.run_program(*check).stdout
        self.assertIn("3 deposits of 64 rows", checked)
        self.assertIn("pass  ledgers of owners: 3 populations, each with room for the job", checked)
        for code, output, error in self.train():
            self.assertEqual((code, error), (0, ""), output)
            self.assertIn(f"warning: deposit {two_hot} of stranger is left out: a row is neither a record", output)
        truth = self.true_counts(CLASSES)
        self.assertEqual(list(self.counts()), CLASSES)
        self.assertEqual(len(set(truth.values())), 3)
        # The noise of all three parties has deviation 0.0612: seven of them, 0.43, are exceeded with a probability of 10^-11.
        for name, (count, low, high) in self.counts().items():
            self.assertAlmostEqual(count, truth[name], delta=0.43)
            self.assertLess(low, count)
            self.assertLess(count, high)
        for party in (1, 2):
            self.assertEqual(self.counts(f"r{party}"), self.counts())
        summary = self.summary("r2")
        self.assertEqual([one["deposit"] for one in summary["deposits"]["used"]], sorted(ids.values()))
        self.assertEqual([(one["deposit"], one["why"]) for one in summary["deposits"]["left_out"]], [(two_hot, "rows")])
        self.assertEqual((summary["values"], summary["records_declared"], summary["noise"]), (3, 80, "gaussian"))
        record = json.loads((self.folder / "r2/record.json").read_text())
        self.assertEqual((record["deposited"], record["unit"], record["neighbours"]), (True, "record", "added"))
        self.assertEqual([event["kind"] for event in record["events"]], ["gaussian_releases"])
        for party in range(3):
            for owner in ("hospital", "clinic"):
                self.assertEqual([job["run_id"] for job in self.ledger(party, owner)["jobs"]], [record["run_id"]])
            self.assertIsNone(self.ledger(party, "stranger"))
        self.succeed("report", "r0", "--out", "report.html")
        # Another run finds no room at one party, and so ends at all three, before anything is charged.
        self.set_caps((1e9, 1.01 * self.ledger(1, "clinic")["epsilon_insider"], 1e9))
        self.clear_runs()
        for party, (code, output, error) in enumerate(self.train()):
            self.assertEqual(code, 5, output)
            self.assertIn('with data.capped = "leave-out"', error)
            self.assertFalse((self.folder / f"r{party}/record.json").exists())

    def test_a_label_whose_words_add_up_to_one_and_are_no_bits_is_left_out(self):
        ids = self.deposit_all()
        self.add_owner("stranger", self.records(0, 4))
        # The second record, of class 1, counts twice for class 0 and takes one off class 1.
        words = self.hostile(lambda rows: plus(plus(rows, ROW + LABEL, 8, 2), ROW + LABEL + 8, 8, (1 << 64) - 2))
        self.assert_all_done(self.train())
        self.assertEqual([one["deposit"] for one in self.summary("r1")["deposits"]["left_out"]], [words])
        self.assertEqual([one["deposit"] for one in self.summary("r1")["deposits"]["used"]], sorted(ids.values()))
        for name, truth in self.true_counts(CLASSES).items():
            self.assertAlmostEqual(self.counts()[name][0], truth, delta=0.43)  # as above

    def test_costs_what_is_planned_for_as_many_deposits(self):
        self.deposit_all()
        self.write_job(("capacity = 80", "capacity = 60"))
        self.assert_all_done(self.train())
        self.assert_costs_as_planned()

    def test_a_plan_has_an_epsilon_for_each_adversary_and_needs_no_study(self):
        self.write("job.toml", self.job.replace("sigma = 0.05", "sigma = 2.0"))
        told = json.loads(self.succeed("plan", "--job", "job.toml", "--json"))
        entries = {entry["key"]: entry.get("number") for entry in told["statement"]}
        for keys, deviation in ((("epsilon_insider", "epsilon_owner_and_party"), 2), (("epsilon_outsider", "epsilon_owner"), 2 * math.sqrt(1.5))):
            for key in keys:
                self.assertAlmostEqual(entries[key], gaussian_epsilon(deviation, 1e-5), delta=1e-3)
        said = self.succeed("plan", "--job", "job.toml")
        self.assertIn("3 classes of up to 80 records, counted on shares, Gaussian noise", said)
        self.assertIn("the checks of 3 deposits of 26 rows each. This is assumed (--deposits)", said)
        self.assertIn("Not counted in any time: the sums of deposited rows\n", said)

    def test_the_schema_of_jobs_takes_both_sources(self):
        schema = json.loads(self.succeed("schema", "job", "histogram"))
        of_files = tomllib.loads(FILES)
        self.assertEqual(list(errors(tomllib.loads(self.job), schema)), [])
        self.assertEqual(list(errors(of_files, schema)), [])
        for key in ("classes", "column", "label"):
            self.assertIn('Only with data.source "store".', schema["properties"]["data"]["properties"][key]["description"])
        del of_files["histogram"]["mode"]
        self.assertEqual(list(errors(of_files, schema)), [".histogram.mode: missing"])

    def test_refuses_what_is_wrong_in_one_line(self):
        self.deposit_all()
        self.fail_with(2, 'data.source: found "store", expected "files"', "local", "--job", "job.toml", "--out", "l")
        run = ("run", "--config", "d/party-0/party.toml", "--job", "job.toml", "--out")
        self.write("job.toml", self.job)
        self.fail_with(2, "data.study: missing", *run, "a")
        keys = [f"d/party-{party}/deposit.pub" for party in range(3)]
        self.write("files.toml", FILES)
        self.fail_with(2, 'a job of type "histogram" that reads no records which owners could deposit', "study", "init", "--job", "files.toml",
                       "--keys", *keys, "--out", "s.toml")
        self.write_job(("capacity = 80", "capacity = 59"))
        self.fail_with(2, "data.capacity: found 59, expected at least 60", *run, "b")
        self.write_job(("row_norm = 1.5", "row_norm = 2.5"))
        self.fail_with(2, "data.study: the job's records are not the study's: features.row_norm", *run, "c")
        self.write_job(('"none"]', '"other"]'))
        self.fail_with(2, "data.study: the job's records are not the study's", *run, "another")
        self.write_job(("[histogram]", '[histogram]\ncolumn = "y"'))
        self.fail_with(2, 'histogram.column: found it with data.source "store"', *run, "e")


class StoreHistogramOfATraining(StoreCountsTest):
    """On deposits for a study that was made of a training, of two classes: a label of one word."""

    def test_counts_exactly_where_noise_is_almost_surely_zero(self):
        self.deposit_all()
        self.write_job(job=OF_RECORDS + '[histogram]\nmode = "central"\n[privacy]\nepsilon = 40.0\n[release]\nto = [1]\n')
        self.assert_all_done(self.train())
        truth = self.true_counts(["no", "yes"])
        self.assertGreater(len(set(truth.values())), 1)
        # A part of noise is not 0 with a probability below 10^-16.
        self.assertEqual({name: count for name, (count, _, _) in self.counts("r1").items()}, truth)
        self.assertEqual([(self.folder / f"r{party}/histogram.csv").exists() for party in range(3)], [False, True, False])
        event, = json.loads((self.folder / "r0/record.json").read_text())["events"]
        self.assertEqual((event["kind"], event["rate"]), ("laplace_counts", 40.0))
        # The training that the study was made of has the same deposits.
        self.write_job()
        check = self.run_program("check", "--config", "d/party-1/party.toml", "--job", "job.toml", "--wait", "100ms").stdout
        self.assertIn("2 deposits of 60 rows", check)
        made = self.succeed("study", "init", "--job", "job.toml", "--keys", *[f"d/party-{party}/deposit.pub" for party in range(3)], "--out", "s.toml")
        self.assertEqual(re.search(r"(?m)^id +([0-9a-f]{64})$", made)[1], self.study)


class StoreHistogramOfArrays(StoreCountsTest):
    job = """version = 1
type = "histogram"
name = "arrays"
[data]
name = "arrays"
format = "npy"
source = "store"
capacity = 80
features = 2
classes = 4
[features]
row_norm = 1.5
""" + COUNTS
    records = staticmethod(records_of_three)

    def deposit(self, owner):
        rows = self.owners[owner]
        (self.folder / "x.npy").write_bytes(npy([row[:2] for row in rows], "<f8", "d"))
        (self.folder / "y.npy").write_bytes(npy([row[2:] for row in rows]).replace(f"({len(rows)}, 1)".encode(), f"({len(rows)},)  ".encode()))
        output = self.succeed("deposit", "--study", "study.toml", "--key", f"{owner}/owner.key", "--in", "x.npy", "y.npy", "--capacity", "30",
                              "--out", f"of-{owner}")
        return re.search(r"(?m)^deposit ([0-9a-f]{64})$", output)[1]

    def test_classes_go_by_their_numbers_also_one_that_nobody_has(self):
        self.deposit_all()
        self.assert_all_done(self.train())
        truth = self.true_counts("0123")
        self.assertEqual((list(self.counts()), truth["3"]), (list("0123"), 0))
        for name, (count, _, _) in self.counts().items():
            self.assertAlmostEqual(count, truth[name], delta=0.43)  # as above, of four counts


if __name__ == "__main__":
    unittest.main()
