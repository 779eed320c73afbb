"""Owners draw the batches of one run, deposit them, and three parties train on them: `privacy.sampling = "deposited"`."""

import json
import re
import signal
import sqlite3
import time
import unittest

from deposit_files import change_rows, key_of, opened, rows_of
from store_check_test import plus
from store_program import JOB, MASK, ROW, StoreProgramTest, model_weights, table

STEPS, ROWS, RATE, BATCH = 8, 23, 1.5, 20.0
BATCHES = JOB.replace("[model]", f'[batches]\nrun = "spring"\ndeposits = 3\nrecords = {ROWS}\n[model]')
for old, new in (("capacity = 80", "capacity = 40"), ('expected_batch = "auto"', "expected_batch = 20\nmax_batch_per_owner = 1000"),
                 ("learning_rate = 3.0", f"learning_rate = {RATE}"), ('sampling = "full"', 'sampling = "deposited"')):
    assert old in BATCHES
    BATCHES = BATCHES.replace(old, new)


class StoreBatches(StoreProgramTest):
    job = BATCHES

    def make(self, owner, out, *options):
        self.write("t.csv", table(self.owners[owner]))
        return self.succeed("deposit", "--study", "study.toml", "--key", f"{owner}/owner.key", "--in", "t.csv", "--out", out, *options)

    def deposit_all(self):
        ids = {owner: re.search(r"(?m)^deposit ([0-9a-f]{64})$", self.make(owner, f"of-{owner}"))[1] for owner in self.owners}
        for owner in self.owners:
            self.accept(f"of-{owner}")
        return ids

    def batches(self, out, steps=STEPS):
        """Of each step the (a, b, class) that a deposit has, by an oracle that shares nothing with the program."""
        components = {}
        for party in range(3):
            components |= opened(self.folder / out / f"party-{party}.deposit", key_of(self.folder / f"d/party-{party}/deposit.key"))[2]
        rows = rows_of(components, steps * ROWS, 2, 19, 1)
        self.assertTrue(all(row == [0, 0, 0, 0] for row in rows if row[2] != 1))
        return [[(a / 65536, b / 65536, label) for a, b, mask, label in rows[at:at + ROWS] if mask] for at in range(0, len(rows), ROWS)]

    def assert_refused(self, why, code=4):
        self.clear_runs()
        for party, (found, output, error) in enumerate(self.train()):
            self.assertEqual(found, code, output + error)
            self.assertRegex(output + error, why)
            self.assertFalse((self.folder / f"r{party}/record.json").exists())

    def test_the_model_is_that_of_the_batches_that_owners_drew(self):
        self.write_job(("sigma = 0.001", "sigma = 4.0"))
        plan = json.loads(self.succeed("plan", "--job", "job.toml", "--json"))
        self.write_job()
        told = self.make("hospital", "of-hospital")
        self.accept("of-hospital")
        self.make("clinic", "of-clinic")
        self.accept("of-clinic")
        sizes = [(self.folder / f"of-clinic/party-{party}.deposit").stat().st_size for party in range(3)]
        self.assertEqual(plan["deposit_bytes"], sizes)
        self.assertIn(f"a deposit has {sizes[0]}, {sizes[1]} and {sizes[2]} bytes", told)
        self.assertEqual(sizes[1], 760 + 96 + STEPS * ROWS * ROW + 17)
        drawn = {owner: self.batches(f"of-{owner}") for owner in self.owners}
        for owner, batches in drawn.items():
            for batch in batches:
                places = [next(k for k, one in enumerate(self.owners[owner]) if label == one[2] and max(abs(a - one[0]), abs(b - one[1])) < 2e-5)
                          for a, b, label in batch]
                self.assertEqual(len(set(places)), len(places))  # a record is in a batch once
        # Of 320 coins of probability 1/2: 160 come up, with a deviation of 8.9; seven of them are exceeded with probability 3e-12.
        self.assertAlmostEqual(sum(len(batch) for batches in drawn.values() for batch in batches), 160, delta=63)
        for code, output, error in self.train():
            self.assertEqual((code, error), (0, ""), output)
        weights = [0.0, 0.0, 0.0]
        for step in range(STEPS):
            gradient = [0.0, 0.0, 0.0]
            for a, b, label in drawn["hospital"][step] + drawn["clinic"][step]:
                error = 0.5 + weights[0] * a + weights[1] * b + weights[2] - label
                gradient = [g + error * x for g, x in zip(gradient, (a, b, 1.0), strict=True)]
            weights = [w - RATE / BATCH * g for w, g in zip(weights, gradient, strict=True)]
        for party in range(3):
            for one, other in zip(model_weights(self.folder / f"r{party}/model.npz"), weights, strict=True):
                self.assertAlmostEqual(one, other, delta=0.004)
        self.assertGreater(max(map(abs, weights)), 0.2)
        record = json.loads((self.folder / "r1/record.json").read_text())
        event, = record["events"]
        self.assertEqual([event[key] for key in ("sampling", "sampling_rate", "steps", "capacity", "max_batch")],
                         ["deposited", 0.5, STEPS, [ROWS, 0, 0], [ROWS, 0, 0]])
        self.assertTrue(record["deposited"])
        listed = self.succeed("store", "list", "--config", "d/party-2/party.toml").splitlines()
        self.assertTrue(len(listed) == 2 and all(line.endswith("  spent") for line in listed), listed)

    def test_batches_are_used_once_and_spent_at_one_party_is_spent(self):
        ids = self.deposit_all()
        self.assertEqual([code for code, _, _ in self.train()], [0] * 3)
        run = json.loads((self.folder / "r0/record.json").read_text())["run_id"]
        self.assertIn(f"spent       by run {run}", self.succeed("store", "show", "--config", "d/party-1/party.toml", ids["clinic"]))
        self.assert_refused("can be used, expected one at least: 2 are left out")
        for party in (0, 2):
            with sqlite3.connect(self.folder / f"d/party-{party}/deposits/deposits.sqlite") as database:
                database.execute("DELETE FROM spent")
            database.close()
        self.assert_refused("can be used, expected one at least: 2 are left out")
        # What owners draw anew is used, beside what is spent, and without --adds.
        again = re.search(r"(?m)^deposit ([0-9a-f]{64})$", self.make("clinic", "again"))[1]
        with sqlite3.connect(self.folder / "d/party-0/deposits/deposits.sqlite") as database:
            database.execute("INSERT INTO spent SELECT id, 'ab', 1 FROM deposits")
        database.close()
        with sqlite3.connect(self.folder / "d/party-2/deposits/deposits.sqlite") as database:
            database.execute("INSERT INTO spent SELECT id, 'ab', 1 FROM deposits")
        database.close()
        self.accept("again")
        self.clear_runs()
        for code, output, error in self.train():
            self.assertEqual((code, error), (0, ""), output)
            self.assertIn("of hospital is left out: another run used its batches, as party", output)
        deposits = self.summary("r1")["deposits"]
        self.assertEqual([one["deposit"] for one in deposits["used"]], [again])
        self.assertEqual([one["why"] for one in deposits["left_out"]], ["spent", "spent"])

    def test_batches_are_of_one_job_and_run(self):
        self.deposit_all()
        run = ("run", "--config", "d/party-0/party.toml", "--job", "job.toml", "--out")
        for number, change in enumerate((('run = "spring"', 'run = "summer"'), ("sigma = 0.001", "sigma = 0.002"))):
            self.write_job(change)
            self.fail_with(2, "data.study: the job's records are not the study's: batches.job: found", *run, f"x{number}")
        self.assertNotIn("spent", self.succeed("store", "list", "--config", "d/party-0/party.toml"))
        self.write("t.csv", table(self.owners["clinic"]))
        made = ("deposit", "--study", "study.toml", "--key", "clinic/owner.key", "--in", "t.csv", "--out", "more")
        self.fail_with(2, "--capacity: found 9, expected none: the study's batches have 184 rows", *made, "--capacity", "9")
        self.write("t.csv", table(self.owners["hospital"] + self.owners["clinic"]))
        self.fail_with(4, "found 40 rows, expected at most the 23 of the study's batches", *made)

    def test_a_hostile_owners_batches_are_left_out(self):
        self.deposit_all()
        secrets = [key_of(self.folder / f"d/party-{party}/deposit.key") for party in range(3)]
        self.make("clinic", "hostile", "--adds")
        # In the last batch, a label that is of two classes or of padding.
        change_rows(self.folder / "hostile", secrets, key_of(self.folder / "clinic/owner.key"),
                    lambda words: plus(words, (STEPS * ROWS - 1) * ROW + MASK + 8, 8, 2))
        hostile = self.accept("hostile")
        for code, output, error in self.train():
            self.assertEqual((code, error), (0, ""), output)
            self.assertIn(f"deposit {hostile} of clinic is left out: a row is neither a record", output)
        self.assertEqual(len(self.summary("r0")["deposits"]["used"]), 2)

    def test_what_is_more_than_there_is_room_for_ends_the_run(self):
        self.deposit_all()
        for out in ("third", "fourth"):
            self.make("clinic", out, "--adds")
            self.accept(out)
        self.assert_refused("batches.deposits: found 3, expected at least 4", code=2)


class ResumedBatches(StoreProgramTest):
    job = BATCHES.replace("steps = 8", "steps = 120\ncheckpoint_every = 40").replace(f"learning_rate = {RATE}", "learning_rate = 0.1").replace(
        "sigma = 0.001", "sigma = 4.0")

    make, deposit_all, assert_refused = StoreBatches.make, StoreBatches.deposit_all, StoreBatches.assert_refused

    def test_the_same_run_alone_goes_on_and_a_batch_done_twice_is_charged_as_one(self):
        self.deposit_all()
        planned = json.loads(self.succeed("plan", "--job", "job.toml", "--json"))["epsilon_insider"]
        processes = self.start()
        deadline = time.monotonic() + 600
        while not (self.folder / "r0/progress.csv").exists() or (self.folder / "r0/progress.csv").read_text().count("\n") < 50:
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.02)
        processes[0].send_signal(signal.SIGKILL)
        for process in processes:
            process.communicate(timeout=600)
        for party in range(3):
            (self.folder / f"r{party}").rename(self.folder / f"k{party}")
        self.assert_refused("can be used, expected one at least: 2 are left out")
        self.clear_runs()
        for party in range(3):
            (self.folder / f"k{party}").rename(self.folder / f"r{party}")
        for code, output, error in self.train("--resume"):
            self.assertEqual((code, error), (0, ""), output)
        events = json.loads((self.folder / "r2/record.json").read_text())["events"]
        self.assertEqual(sum(event["steps"] for event in events), 120)
        self.assertEqual([event.get("executions", 1) for event in events], [1, 2])
        self.assertGreater(self.summary("r2")["epsilon_insider"], planned)

    def test_each_population_is_charged(self):
        self.deposit_all()
        self.set_caps((100, 100, 100))
        self.assertEqual([code for code, _, _ in self.train()], [0] * 3)
        for party in range(3):
            for owner in self.owners:
                shown = self.ledger(party, owner)
                self.assertEqual([job["state"] for job in shown["jobs"]], ["done"])
                # By the filter's few orders, at a part of delta each.
                self.assertTrue(self.summary(f"r{party}")["epsilon_insider"] <= shown["epsilon_insider"] < 1.3 * self.summary(f"r{party}")["epsilon_insider"])


if __name__ == "__main__":
    unittest.main()
