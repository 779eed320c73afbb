"""Three parties train on what owners deposited: `data.source = "store"`."""

import json
import math
import re
import shutil
import signal
import time
import unittest

from least_squares_test import solved
from deposit_files import change_rows, key_of
from store_check_test import plus
from store_program import JOB, MASK, ROW, StoreProgramTest, gaussian_epsilon, model_weights, records, table

STEPS, RATE = 8, 3.0

# Of the same records, and so of the same study.
SQUARES = JOB[:JOB.index("[model]")].replace('"dpsgd"', '"least-squares"') + """[privacy]
sigma = 0.01
delta = 1e-5
"""

# Two trials with the same settings, of which the better one is released.
TUNING = JOB.replace('"dpsgd"', '"tune"') + """[evaluation]
holder = 0
rows = 40
sigma = 1.0
[tune]
repeats = 2
"""


def plain_weights(rows):
    """As DP-SGD with all records in every step and no noise, whose steps divide by the capacity."""
    weights = [0.0, 0.0, 0.0]
    for _ in range(STEPS):
        gradient = [0.0, 0.0, 0.0]
        for a, b, label in rows:
            row = (a, b, 1.0)
            error = 0.5 + sum(w * x for w, x in zip(weights, row, strict=True)) - label
            gradient = [g + error * x for g, x in zip(gradient, row, strict=True)]
        weights = [w - RATE / 80 * g for w, g in zip(weights, gradient, strict=True)]
    return weights


def plain_squares(rows):
    """Ridge regression in rows of norm 1 at most with a constant 1/2, of targets 1 and -1; a logit is half of a target."""
    penalty = 1.5 * 0.01 * math.sqrt(45) / 4  # the root of 3/2 times the noise on a square, of all three parties
    points = [(a / 1.5, b / 1.5, 0.5) for a, b, _ in rows]
    targets = [2 * label - 1 for _, _, label in rows]
    squares = [[sum(x[j] * x[k] for x in points) + (penalty if j == k else 0) for k in range(3)] for j in range(3)]
    a, b, constant = solved(squares, [sum(x[j] * target for x, target in zip(points, targets, strict=True)) for j in range(3)])
    return [a / 3, b / 3, constant / 4]


class StoreTraining(StoreProgramTest):
    def assert_trained_on(self, rows, plain=plain_weights, delta=0.004):
        """By all three, within what noise and fixed point come to."""
        expected = plain(rows)
        for party in range(3):
            found = model_weights(self.folder / f"r{party}/model.npz")
            self.assertEqual(found, model_weights(self.folder / "r0/model.npz"))
            for one, other in zip(found, expected, strict=True):
                self.assertAlmostEqual(one, other, delta=delta)
        self.assertGreater(max(map(abs, expected)), 0.2)

    def test_the_model_is_that_of_all_owners_records(self):
        ids = self.deposit_all()
        for code, output, error in self.train():
            self.assertEqual((code, error), (0, ""), output)
        self.assert_trained_on(self.owners["hospital"] + self.owners["clinic"])
        summary = self.summary("r1")
        self.assertEqual(summary["deposits"]["study"], self.study)
        self.assertEqual([one["deposit"] for one in summary["deposits"]["used"]], sorted(ids.values()))
        self.assertEqual(summary["deposits"]["left_out"], [])
        record = json.loads((self.folder / "r2/record.json").read_text())
        event, = record["events"]
        self.assertEqual((event["sampling"], event["sampling_rate"], event["steps"], record["deposited"]), ("full", 1, STEPS, True))

    def test_costs_what_is_planned_for_as_many_deposits(self):
        self.deposit_all()
        for more, job in (("", JOB), ("memory = 1\n", JOB), ("", SQUARES)):
            self.write_job(("capacity = 80", more + "capacity = 60"), job=job)
            self.assert_all_done(self.train())
            self.assert_costs_as_planned()
            self.clear_runs()

    def test_rows_are_read_in_blocks_where_memory_is_set(self):
        ids = {owner: self.deposit(owner, capacity=700) for owner in self.owners}
        for owner in self.owners:
            self.accept(f"of-{owner}")
        secrets = [key_of(self.folder / f"d/party-{party}/deposit.key") for party in range(3)]
        self.deposit("clinic", "hostile", capacity=4, rows=self.owners["clinic"][:4])
        change_rows(self.folder / "hostile", secrets, key_of(self.folder / "clinic/owner.key"), lambda words: plus(words, MASK + ROW, 8, 1 << 16))
        hostile = self.accept("hostile")
        # Three blocks; a step's sum is divided by the capacity.
        blocks = (("capacity = 80", "capacity = 1500\nmemory = 1"), ("learning_rate = 3.0", "learning_rate = 56.25"))
        for job, plain, delta in ((JOB, plain_weights, 0.004), (SQUARES, plain_squares, 0.08)):
            self.write_job(*blocks[:2 if job == JOB else 1], job=job)
            self.assertIn("about 1.0 MB of memory", self.succeed("plan", "--job", "job.toml"))
            for code, output, error in self.train():
                self.assertEqual((code, error), (0, ""), output)
                self.assertIn(f"warning: deposit {hostile} of clinic is left out: a row is neither a record", output)
            self.assert_trained_on(self.owners["hospital"] + self.owners["clinic"], plain, delta)
            self.assertEqual([one["deposit"] for one in self.summary("r0")["deposits"]["used"]], sorted(ids.values()))
            self.clear_runs()

    def test_a_tuning_is_of_all_owners_records_and_charged_to_them(self):
        ids = self.deposit_all()
        rows = self.owners["hospital"] + self.owners["clinic"]
        self.write("test.csv", table(rows))
        party = self.folder / "d/party-0/party.toml"
        party.write_text(party.read_text() + '\n[evaluation]\nfile = "../../test.csv"\n')
        self.write_job(job=TUNING)
        self.set_caps((1e12, 1e12, 1e12))
        for code, output, error in self.train():
            self.assertEqual((code, error), (0, ""), output)
        self.assert_trained_on(rows)
        self.assertEqual([one["deposit"] for one in self.summary("r1")["deposits"]["used"]], sorted(ids.values()))
        self.assertEqual([len(self.ledger(party, "clinic")["jobs"]) for party in range(3)], [1] * 3)
        self.clear_runs()
        self.write_job(("capacity = 80", "capacity = 80\nmemory = 1"), job=TUNING)
        self.assertEqual([code for code, _, _ in self.train()], [0] * 3)
        self.assert_trained_on(rows)
        # Both trials always compete, so that the two are charged: not less than the exact formula of one Gaussian has for all
        # their steps, and by Renyi curves not much more.
        self.write_job(("sigma = 0.001", "sigma = 8.0"), job=TUNING)
        said = self.succeed("plan", "--job", "job.toml")
        self.assertIn("the checks of 3 deposits of 26 rows each. This is assumed (--deposits)", said)
        self.assertNotIn("Not counted in any time", said)
        told = json.loads(self.succeed("plan", "--job", "job.toml", "--json"))
        entries = {entry["key"]: entry.get("number") for entry in told["statement"]}
        exact = gaussian_epsilon(8 / math.sqrt(2 * STEPS), 1e-5)
        self.assertGreater(entries["epsilon_owner_and_party"], exact)
        self.assertLess(entries["epsilon_owner_and_party"], 1.25 * exact)
        self.write_job(('sampling = "full"', 'sampling = "public"'), ('expected_batch = "auto"', "expected_batch = 20"), job=TUNING)
        self.fail_with(2, 'privacy.sampling: found "public", expected "full" in a tuning on deposits', "plan", "--job", "job.toml")

    def test_memory_has_its_refusals(self):
        self.write_job(("capacity = 80", "capacity = 80\nmemory = 1"), ('sampling = "full"', 'sampling = "public"'), ('expected_batch = "auto"', "expected_batch = 20"))
        self.fail_with(2, 'data.memory: found it with privacy.sampling "public", expected "full" with it', "plan", "--job", "job.toml")
        self.write_job(("capacity = 80", "capacity = 80\nmemory = 1"), ('loss = "squared"', "hidden = [3]"))
        self.fail_with(2, "data.memory: found it with model.hidden, expected a linear model with it", "plan", "--job", "job.toml")
        self.write_job(("capacity = 80", "capacity = 1000000000\nmemory = 1"), ("steps = 8", "steps = 100000"))
        self.fail_with(2, "data.memory: found 1, which makes more than 10000000 blocks of all steps", "plan", "--job", "job.toml")
        self.write_job(("capacity = 80", "capacity = 80\nmemory = 0"))
        self.fail_with(2, "data.memory: found 0, expected", "plan", "--job", "job.toml")

    def test_each_adversary_has_its_epsilon(self):
        self.deposit_all()
        self.write_job(("sigma = 0.001", "sigma = 8.0\naccountant = \"pld\""))
        self.assertEqual([code for code, _, _ in self.train()], [0] * 3)
        told = json.loads(self.succeed("account", "--record", "r0/record.json", "--delta", "1e-5", "--accountant", "pld", "--json"))
        entries = {entry["key"]: entry.get("number") for entry in told["statement"]}
        # One release of deviation 8/sqrt(8), or sqrt(1.5) times that, of a vector that a record moves by 1: by bisection.
        for keys, deviation in ((("epsilon_insider", "epsilon_owner_and_party"), 8 / math.sqrt(STEPS)),
                                (("epsilon_outsider", "epsilon_owner"), 8 * math.sqrt(1.5 / STEPS))):
            for key in keys:
                self.assertAlmostEqual(entries[key], gaussian_epsilon(deviation, 1e-5), delta=1e-3)
        self.assert_promises("r0", "record", "added", "Epsilon, owner")
        self.assertIn("this party has no [owner_ledgers], so that nothing here adds up", (self.folder / "r0/party.log").read_text())

    def test_public_coins_take_rows_of_deposits(self):
        self.deposit_all()
        self.write_job(('sampling = "full"', 'sampling = "public"'), ("steps = 8", "steps = 60"), ('expected_batch = "auto"', "expected_batch = 20"),
                       ("sigma = 0.001", "sigma = 0.01"))
        for code, output, error in self.train():
            self.assertEqual((code, error), (0, ""), output)
        summary = self.summary("r0")
        self.assertEqual(len(summary["deposits"]["used"]), 2)
        event, = json.loads((self.folder / "r0/record.json").read_text())["events"]
        self.assertEqual((event["sampling"], event["sampling_rate"], event["steps"]), ("public", 0.25, 60))
        self.write_job(('sampling = "full"', 'sampling = "public"'), ('expected_batch = "auto"', "expected_batch = 20"), ("sigma = 0.001", "sigma = 2.0"))
        told = json.loads(self.succeed("plan", "--job", "job.toml", "--json"))
        entries = {entry["key"]: entry.get("number") for entry in told["statement"]}
        # An owner does not know the coins; a party does.
        self.assertEqual(entries["epsilon_owner"], entries["epsilon_outsider"])
        self.assertEqual(entries["epsilon_owner_and_party"], entries["epsilon_insider"])
        self.assertLess(entries["epsilon_outsider"], entries["epsilon_insider"])
        weights = model_weights(self.folder / "r0/model.npz")
        rows = self.owners["hospital"] + self.owners["clinic"]
        right = sum((weights[0] * a + weights[1] * b + weights[2] > 0) == bool(label) for a, b, label in rows)
        self.assertGreater(right, 30)  # of 40; of 600 plain runs with as much noise none had fewer

    def test_least_squares_are_of_all_owners_records_and_charged_to_them(self):
        ids = self.deposit_all()
        # A hostile row would weigh as much as 2^16 records.
        secrets = [key_of(self.folder / f"d/party-{party}/deposit.key") for party in range(3)]
        self.deposit("clinic", "hostile", capacity=4, rows=self.owners["clinic"][:4])
        change_rows(self.folder / "hostile", secrets, key_of(self.folder / "clinic/owner.key"), lambda words: plus(words, MASK + ROW, 8, 1 << 16))
        hostile = self.accept("hostile")
        self.write_job(job=SQUARES)
        self.set_caps((1e9, 1e9, 1e9))
        check = ("check", "--config", "d/party-1/party.toml", "--job", "job.toml", "--wait", "100ms")
        self.assertIn("pass  ledgers of owners: 2 populations, each with room for the job", self.run_program(*check).stdout)
        for code, output, error in self.train():
            self.assertEqual((code, error), (0, ""), output)
            self.assertIn(f"warning: deposit {hostile} of clinic is left out: a row is neither a record", output)
        # The noise of a square has deviation 0.0205, that of an equation with these weights 0.072, and the equations have
        # eigenvalues above 2.1: a weight's deviation is below 0.0115, and seven of them are exceeded with a probability of 10^-11.
        self.assert_trained_on(self.owners["hospital"] + self.owners["clinic"], plain_squares, delta=0.08)
        summary = self.summary("r2")
        self.assertEqual([one["deposit"] for one in summary["deposits"]["used"]], sorted(ids.values()))
        self.assertEqual([one["deposit"] for one in summary["deposits"]["left_out"]], [hostile])
        record = json.loads((self.folder / "r2/record.json").read_text())
        self.assertEqual((record["deposited"], record["unit"], record["neighbours"]), (True, "record", "added"))
        self.assertEqual([len(self.ledger(party, "hospital")["jobs"]) for party in range(3)], [1] * 3)
        # Of the same budgets as a training.
        spent = self.ledger(1, "clinic")["epsilon_insider"]
        self.set_caps((1e9, 1.01 * spent, 1e9))
        self.clear_runs()
        for party, (code, output, error) in enumerate(self.train()):
            self.assertEqual(code, 5, output)
            self.assertIn('with data.capped = "leave-out"', error)
            self.assertFalse((self.folder / f"r{party}/record.json").exists())

    def test_least_squares_on_deposits_have_an_epsilon_for_each_adversary_and_their_refusals(self):
        self.write_job(("sigma = 0.01", 'sigma = 2.0\naccountant = "pld"'), job=SQUARES)
        told = json.loads(self.succeed("plan", "--job", "job.toml", "--json"))
        entries = {entry["key"]: entry.get("number") for entry in told["statement"]}
        for keys, deviation in ((("epsilon_insider", "epsilon_owner_and_party"), 2), (("epsilon_outsider", "epsilon_owner"), 2 * math.sqrt(1.5))):
            for key in keys:
                self.assertAlmostEqual(entries[key], gaussian_epsilon(deviation, 1e-5), delta=1e-3)
        self.fail_with(2, 'data.source: found "store", expected "files"', "local", "--job", "job.toml", "--out", "l")
        self.write_job(("row_norm = 1.5", "row_norm = 1e5"), job=SQUARES)
        self.fail_with(2, "fraction_bits: found 16 with features.row_norm 100000 and data.source", "plan", "--job", "job.toml")

    def test_a_hostile_deposit_is_left_out_and_named(self):
        self.deposit_all()
        secrets = [key_of(self.folder / f"d/party-{party}/deposit.key") for party in range(3)]
        hostile = []
        for out, at, length, number in (("weight", MASK, 8, 1), ("scaled", MASK, 8, 1 << 48), ("label", MASK + 8, 8, 2), ("long", 0, 3, 1 << 17)):
            self.deposit("clinic", out, capacity=4, rows=self.owners["clinic"][:4])  # no padding
            change_rows(self.folder / out, secrets, key_of(self.folder / "clinic/owner.key"), lambda words: plus(words, at + ROW, length, number))
            hostile.append(self.accept(out))
        for code, output, error in self.train():
            self.assertEqual((code, error), (0, ""), output)
            for one in hostile:
                self.assertIn(f"warning: deposit {one} of clinic is left out: a row is neither a record", output)
        self.assert_trained_on(self.owners["hospital"] + self.owners["clinic"])
        self.assertEqual([one["deposit"] for one in self.summary("r0")["deposits"]["left_out"]], sorted(hostile))

    def test_nothing_is_trained_on_hostile_deposits_alone(self):
        secrets = [key_of(self.folder / f"d/party-{party}/deposit.key") for party in range(3)]
        self.deposit("clinic", "weight", capacity=4, rows=self.owners["clinic"][:4])
        change_rows(self.folder / "weight", secrets, key_of(self.folder / "clinic/owner.key"), lambda words: plus(words, MASK, 8, 1))
        self.accept("weight")
        for party, (code, _, error) in enumerate(self.train()):
            self.assertEqual(code, 4)
            self.assertIn("that can be used, expected one at least: 1 are left out", error)
            self.assertFalse((self.folder / f"r{party}/record.json").exists())

    def test_what_one_party_lacks_is_named(self):
        self.deposit_all()
        self.deposit("clinic", "third", capacity=18)
        missing = self.accept("third", parties=(0, 2))
        for party, (code, output, error) in enumerate(self.train()):
            self.assertEqual(code, 2, output)
            self.assertIn(f"deposit {missing}: not in the store of party 1", error)
            self.assertFalse((self.folder / f"r{party}/model.npz").exists())

    def test_a_withdrawn_deposit_is_not_used(self):
        ids = self.deposit_all()
        self.succeed("withdraw", "--key", "clinic/owner.key", "--out", "w", ids["clinic"])
        for party in (0, 1):
            self.succeed("store", "withdraw", "--config", f"d/party-{party}/party.toml", "w")
        for code, _, error in self.train():
            self.assertEqual(code, 2)
            self.assertRegex(error, f"deposit {ids['clinic']}: not in the store of party [01], .* withdrawn or set aside there, run trefoil store withdraw")
        self.succeed("store", "withdraw", "--config", "d/party-2/party.toml", "w")
        for party in range(3):
            for file in (self.folder / f"r{party}").iterdir():
                file.unlink()
        self.assertEqual([code for code, _, _ in self.train()], [0] * 3)
        self.assert_trained_on(self.owners["hospital"])

    def test_what_does_not_fit_is_said_before_peers_are_met(self):
        run = ("run", "--config", "d/party-0/party.toml", "--job", "job.toml", "--out")
        self.fail_with(4, f"found no deposit of study {self.study} and purpose train", *run, "a")
        self.deposit_all()
        self.write_job(("capacity = 80", "capacity = 59"))
        self.fail_with(2, "data.capacity: found 59, expected at least 60", *run, "b")
        self.write_job(('name = "b"\n', 'name = "b"\nscale = 2.0\n'))
        self.fail_with(2, "data.study: the job's records are not the study's: columns.column.1.scale: found 2.0, expected 1.0", *run, "c")
        self.write("job.toml", JOB)
        self.fail_with(2, "data.study: missing, expected the id of the deposits' study", *run, "e")
        self.write_job(study="0" * 64)
        self.fail_with(4, "found no deposit of study 0000", *run, "f")
        self.write_job()
        self.fail_with(2, 'data.source: found "store", expected "files"', "local", "--job", "job.toml", "--out", "l")
        party = self.folder / "d/party-0/party.toml"
        text = party.read_text()
        party.write_text(text + '\n[ledger]\nfile = "ledger.jsonl"\nepsilon_cap = 5\ndelta = 1e-5\n')
        self.fail_with(5, 'data.source: found "store", whose owners\' records are in no ledger of a party\'s own data', *run, "g")
        self.assertFalse((self.folder / "d/party-0/ledger.jsonl").exists())
        party.write_text(re.sub(r"(?s)\n\[deposits\].*?(?=\n\[|$)", "\n", text))
        self.fail_with(2, "found no [deposits], expected one with key, owners and store", *run, "h")

    def test_each_owners_population_has_a_budget_that_no_deposit_renews(self):
        ids = self.deposit_all()
        self.write_job(("sigma = 0.001", "sigma = 8.0"), ("capacity = 80", 'capped = "leave-out"\ncapacity = 80'))
        self.set_caps((100, 100, 100))
        check = ("check", "--config", "d/party-1/party.toml", "--job", "job.toml", "--wait", "100ms")
        self.assertIn("pass  ledgers of owners: 2 populations, each with room for the job", self.run_program(*check).stdout)
        for code, output, error in self.train():
            self.assertEqual((code, error), (0, ""), output)
            self.assertNotIn("has no [owner_ledgers]", output)
            self.assertRegex(output, "ledger of clinic, population default .*: epsilon [0-9.]+ spent before, [0-9.]+ with this job, cap 100 ")
        spent = self.ledger(1, "hospital")["epsilon_insider"]
        # By the filter's few orders, at a part of delta each.
        self.assertTrue(self.summary("r1")["epsilon_insider"] <= spent < 1.3 * self.summary("r1")["epsilon_insider"], spent)
        self.assertEqual(self.ledger(1, "hospital")["jobs"][0]["run_id"], json.loads((self.folder / "r1/record.json").read_text())["run_id"])
        for party in range(3):
            for path in (self.folder / f"d/party-{party}/owner-ledgers", self.folder / f"d/party-{party}/owner-ledgers/clinic"):
                self.assertEqual(path.stat().st_mode & 0o777, 0o700)
        # Another owner comes; the hospital deposits anew in place of what it withdrew, and has no more budget for that.
        self.succeed("withdraw", "--key", "hospital/owner.key", "--out", "w", ids["hospital"])
        for party in range(3):
            self.succeed("store", "withdraw", "--config", f"d/party-{party}/party.toml", "w")
        again = self.deposit("hospital", "again")
        self.accept("again")
        self.owners["practice"] = records(2, 11)
        self.succeed("owner", "init", "--out", "practice")
        for party in range(3):
            self.succeed("trust-owner", "--config", f"d/party-{party}/party.toml", "--name", "practice", "practice/owner.pub")
        self.deposit("practice", capacity=20)
        self.accept("of-practice")
        self.set_caps((100, 1.2 * spent, 100))  # at one party, and so at all
        self.assertRegex(self.run_program(*check).stdout, r"(?m)^pass  ledgers of owners: 2 of 3 populations are capped: .*clinic/default.jsonl: epsilon")
        self.clear_runs()
        for party, (code, output, error) in enumerate(self.train()):
            self.assertEqual((code, error), (0, ""), output)
            why = "epsilon " if party == 1 else "its population has no budget left for this job at party 1"
            self.assertRegex(output, f"warning: deposit {again} of hospital is left out: .*{why}")
        deposits = self.summary("r0")["deposits"]
        self.assertEqual([(one["rows"]) for one in deposits["used"]], [20])
        self.assertEqual([one["why"] for one in deposits["left_out"]], ["capped", "capped"])
        for owner in self.owners:
            self.assertEqual([len(self.ledger(party, owner)["jobs"]) for party in range(3)], [1] * 3)
        # The same job without leave-out ends at all three, before anything is charged.
        self.write_job(("sigma = 0.001", "sigma = 8.0"))
        self.clear_runs()
        self.assertRegex(self.run_program(*check).stdout, r"(?m)^fail  ledgers of owners: .*leave such deposits out: data.capped")
        for party, (code, output, error) in enumerate(self.train()):
            self.assertEqual(code, 5, output)
            self.assertIn('with data.capped = "leave-out"', error)
            self.assertFalse((self.folder / f"r{party}/record.json").exists())
        self.assertEqual([len(self.ledger(party, "practice")["jobs"]) for party in range(3)], [1] * 3)

    def test_where_all_is_capped_or_no_ledger_can_be_kept_nothing_is_computed(self):
        self.deposit_all()
        self.write_job(("sigma = 0.001", "sigma = 8.0"), ("capacity = 80", 'capped = "leave-out"\ncapacity = 80'))
        self.set_caps((100, 0.01, 100))
        check = ("check", "--config", "d/party-1/party.toml", "--job", "job.toml", "--wait", "100ms")
        self.assertRegex(self.run_program(*check).stdout, r"(?m)^fail  ledgers of owners: all 2 populations are capped")
        for party, (code, output, error) in enumerate(self.train()):
            self.assertEqual(code, 5, output)
            self.assertIn("all 2 deposits are left out", error)
            self.assertFalse((self.folder / f"r{party}/record.json").exists())
        for cap, text in (("folder", "owner-ledgers"), ("above", "nowhere/owner-ledgers")):
            path = self.folder / "d/party-1/party.toml"
            whole = path.read_text()
            path.write_text(whole.replace('folder = "owner-ledgers"', f'folder = "{text}"'))
            if cap == "folder":
                shutil.rmtree(self.folder / "d/party-1/owner-ledgers", ignore_errors=True)
                (self.folder / "d/party-1/owner-ledgers").write_text("a file")
            self.assertRegex(self.run_program(*check).stdout, rf"(?m)^fail  ledgers of owners: .*{text.split('/')[0]}")
            self.clear_runs()
            self.fail_with(2, text.split("/")[0], "run", "--config", "d/party-1/party.toml", "--job", "job.toml", "--out", f"r-{cap}")
            path.write_text(whole)

    def test_a_partys_own_ledger_stays_as_it_is(self):
        self.deposit_all()
        self.write_job(("sigma = 0.001", "sigma = 8.0"))
        self.set_caps((100, 100, 100))
        party = self.folder / "d/party-0/party.toml"
        party.write_text(party.read_text() + '\n[ledger]\nfile = "ledger.jsonl"\nepsilon_cap = 0.01\ndelta = 1e-5\n')
        self.assertEqual([code for code, _, _ in self.train()], [0] * 3)
        self.assertFalse((self.folder / "d/party-0/ledger.jsonl").exists())

    def test_a_stopped_run_is_charged_once_to_each_population(self):
        self.deposit_all()
        self.write_job(("steps = 8", "steps = 400\ncheckpoint_every = 50"), ("learning_rate = 3.0", "learning_rate = 0.06"), ("sigma = 0.001", "sigma = 80.0"))
        self.set_caps((20, 20, 20))
        processes = self.start()
        deadline = time.monotonic() + 120
        while not (self.folder / "r0/progress.csv").exists() or (self.folder / "r0/progress.csv").read_text().count("\n") < 60:
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.02)
        processes[2].kill()
        for process in processes:
            process.communicate(timeout=120)
        before = [self.ledger(party, "clinic")["epsilon_insider"] for party in range(3)]
        # A check, which asks for a run that begins, says so where this is too much; not of another job.
        self.set_caps((20, 1.2 * before[1], 20))
        text = (self.folder / "job.toml").read_text()
        self.write("other.toml", text.replace("steps = 400", "steps = 401"))
        for job, told in (("job.toml", True), ("other.toml", False)):
            checked = self.run_program("check", "--config", "d/party-1/party.toml", "--job", job, "--wait", "100ms").stdout
            self.assertRegex(checked, r"(?m)^fail  ledgers of owners: .*expected at most the cap")
            self.assertEqual("is asked only for what it has not spent yet, where --resume goes on with it" in checked, told)
        self.set_caps((20, 20, 20))
        for code, output, error in self.train("--resume"):
            self.assertEqual((code, error), (0, ""), output)
        record = json.loads((self.folder / "r2/record.json").read_text())
        for party in range(3):
            shown = self.ledger(party, "clinic")
            job, = shown["jobs"]
            self.assertEqual((job["run_id"], job["state"]), (record["run_id"], "done"))
            self.assertGreater(shown["epsilon_insider"], before[party])

    def test_a_plan_needs_no_study_and_a_check_reads_the_deposits(self):
        self.write("job.toml", JOB)
        plan = json.loads(self.succeed("plan", "--job", "job.toml", "--json"))
        self.assertEqual(plan["sampling_rate"], 1)
        self.deposit_all()
        self.write_job()
        checks = [self.start_program("check", "--config", f"d/party-{party}/party.toml", "--job", "job.toml", "--wait", "20s") for party in range(3)]
        for check in checks:
            output, error = check.communicate(timeout=120)
            self.assertEqual(check.returncode, 0, output + error)
            self.assertIn("2 deposits of 60 rows", output)

    def test_a_stopped_run_goes_on_and_counts_what_it_did_again(self):
        self.deposit_all()
        self.write_job(("steps = 8", "steps = 400\ncheckpoint_every = 50"), ("learning_rate = 3.0", "learning_rate = 0.06"))
        processes = self.start()
        deadline = time.monotonic() + 120
        while not (self.folder / "r0/progress.csv").exists() or (self.folder / "r0/progress.csv").read_text().count("\n") < 60:
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.02)
        processes[0].send_signal(signal.SIGTERM)
        self.assertEqual(processes[0].wait(timeout=120), 128 + signal.SIGTERM)
        for process in processes[1:]:
            self.assertEqual(process.wait(timeout=120), 3)
        self.assertEqual([code for code, _, _ in self.train("--resume")], [0] * 3)
        event, = json.loads((self.folder / "r0/record.json").read_text())["events"]
        self.assertEqual(event["sampling"], "full")
        self.assertGreaterEqual(event["steps"], 400)
        self.assertLess(event["steps"], 400 + 60)


if __name__ == "__main__":
    unittest.main()
