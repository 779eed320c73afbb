"""The ledger of a data set: three parties that keep one, refuse beyond the cap, and die."""

import decimal
import gzip
import hashlib
import json
import os
import pathlib
import re
import signal
import time
import unittest

from trefoil_program import PATIENCE, TINY_JOB, ProgramTest, prepared

PARTIES = (0, 1, 2)


def upwards(value, unit):
    """The decimal of this unit that is not below the double."""
    return str(decimal.Decimal(repr(value)).quantize(decimal.Decimal(unit), rounding=decimal.ROUND_CEILING))


class Ledger(ProgramTest):
    def setUp(self):
        super().setUp()
        self.job = self.write("job.toml", TINY_JOB)
        self.runs = 0

    def prepare(self, *caps):
        """Three deployments; party i has a ledger with caps[i], where that is not None."""
        self.succeed("local", "--job", self.job, "--out", "d", *prepared())
        for party, cap in enumerate(caps):
            if cap is not None:
                self.set_cap(party, cap)

    def set_cap(self, party, cap):
        path = self.folder / f"d/party-{party}/party.toml"
        text = re.sub(r"\n\[ledger\][^[]*", "", path.read_text())
        path.write_text(f'{text}\n[ledger]\nfile = "ledger.jsonl"\nepsilon_cap = {cap}\ndelta = 1e-5\n')

    def ledger(self, party):
        return self.folder / f"d/party-{party}/ledger.jsonl"

    def show(self, party):
        return json.loads(self.succeed("ledger", "show", self.ledger(party), "--json"))

    def start_parties(self, *assignments):
        job = TINY_JOB
        for pattern, replacement in assignments:
            job, count = re.subn(pattern, replacement, job)
            self.assertEqual(count, 1)
        self.runs += 1
        path = self.write(f"job-{self.runs}.toml", job)
        return [self.start_program("run", "--config", f"d/party-{i}/party.toml", "--job", path, "--out", f"r{self.runs}-{i}",
                                   "--threads", "1") for i in PARTIES]

    def finish(self, parties):
        outputs = [process.communicate(timeout=PATIENCE) for process in parties]
        return [process.returncode for process in parties], [error for _, error in outputs]

    def run_parties(self, *assignments):
        return self.finish(self.start_parties(*assignments))

    def test_adds_jobs_up_and_refuses_beyond_the_cap(self):
        self.prepare(1.6, 1.6, 1.6)
        epsilons = []
        for _ in range(2):
            codes, errors = self.run_parties()
            self.assertEqual(codes, [0, 0, 0], errors)
            shown = self.show(0)
            epsilons.append(shown["epsilon_insider"])
        summary = self.summary("r1-0")
        # A filter for jobs that may depend on each other's results charges more than the job's own epsilon.
        self.assertGreater(epsilons[0], summary["epsilon_insider"])
        self.assertLess(epsilons[0], 1.3 * summary["epsilon_insider"])
        self.assertEqual(shown["filter"], {"mode": "rdp", "delta": 1e-5, "delta_cut": 5e-6, "orders": [1.75, 2.5, 4, 6, 10, 16, 32, 64]})
        self.assertLess(epsilons[1], 1.5 * epsilons[0])  # records composed
        self.assertEqual([job["state"] for job in shown["jobs"]], ["done", "done"])
        self.assertEqual([job["steps"] for job in shown["jobs"]], [6, 6])
        self.assertEqual([(job["unit"], job["neighbours"]) for job in shown["jobs"]], [("record", "added")] * 2)
        record = json.loads((self.folder / "r2-0/record.json").read_text())
        self.assertEqual((shown["jobs"][1]["run_id"], shown["jobs"][1]["job_hash"]), (record["run_id"], record["job_hash"]))
        text = self.succeed("ledger", "show", self.ledger(0))
        self.assertIn(f"together epsilon {upwards(shown['epsilon_outsider'], '0.0001')} outsider {upwards(epsilons[1], '0.0001')} insider, delta 1e-05", text)
        self.assertIn("filter   rdp: ", text)
        self.assertEqual(text.count(" insider: tiny, unit record, neighbours added, run "), 2)
        self.assertNotIn("units or neighbours of the jobs differ", text)
        self.assertIn("unbroken", self.succeed("ledger", "verify", self.ledger(0)))
        self.assertEqual(self.ledger(0).stat().st_mode & 0o777, 0o600)

        before = self.ledger(1).read_bytes()
        codes, errors = self.run_parties((r"steps = 6", "steps = 60\ncheckpoint_every = 5"))
        self.assertEqual(codes, [5, 5, 5], errors)
        # A party that hears of another's refusal before it has asked its own ledger says that; the first says its own.
        refused = [party for party in PARTIES if "its privacy budget does not allow the job" not in errors[party]]
        self.assertTrue(refused, errors)
        for party in refused:
            self.assert_one_error_line(errors[party], f"d/party-{party}/ledger.jsonl: epsilon {float(upwards(epsilons[1], '0.00001')):.6g} is spent, and with this job (")
            self.assertIn("expected at most the cap 1.6 (insider, delta 1e-05)", errors[party])
        for party in PARTIES:
            self.assertEqual((self.folder / f"r3-{party}/progress.csv").read_text().count("\n"), 1)
            self.assertFalse((self.folder / f"r3-{party}/record.json").exists())
            self.assertNotIn("the run can go on", (self.folder / f"r3-{party}/party.log").read_text())
        self.assertEqual(self.ledger(1).read_bytes(), before)

    def test_one_partys_refusal_is_everybodys_and_in_time(self):
        self.prepare(None, 0.5, 2)
        start = time.monotonic()
        codes, errors = self.run_parties()
        self.assertLess(time.monotonic() - start, 60)  # the start's time-out is 120 s
        self.assertEqual(codes, [5, 5, 5], errors)
        self.assertIn("party 1: aborted: its privacy budget does not allow the job", errors[0])
        self.assertIn("expected at most the cap 0.5", errors[1])
        self.assertFalse(self.ledger(0).exists())
        if self.ledger(2).exists():  # it may hear of the refusal before it reserves; else nothing of that was executed
            shown = json.loads(self.succeed("ledger", "show", self.ledger(2), "--delta", "1e-5", "--json"))
            for job in shown["jobs"]:
                self.assertEqual((job["state"], job["steps"], job["epsilon_insider"]), ("stopped", 0, 0))

    def test_charges_what_a_killed_run_executed(self):
        self.prepare(50, 50, 50)
        parties = self.start_parties((r"steps = 6", "steps = 5000"))
        progress = self.folder / "r1-1/progress.csv"
        deadline = time.monotonic() + PATIENCE
        while not (progress.exists() and progress.read_text().count("\n") > 150):
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.01)
        running = self.show(1)["jobs"][0]
        self.assertEqual((running["state"], running["steps"]), ("running", 5000))
        parties[1].kill()
        codes, _ = self.finish(parties)
        self.assertEqual((codes[0], codes[2]), (3, 3))
        whole = progress.read_text().rpartition("\n")[0]  # the kill may have cut a line that was being written
        executed = int(whole.splitlines()[-1].split(",")[0])
        self.assertGreaterEqual(executed, 150)
        died = self.show(1)["jobs"][0]
        self.assertEqual(died["state"], "died")
        self.assertEqual(died["steps_reserved"], 5000)
        for job in (died, *(self.show(party)["jobs"][0] for party in (0, 2))):
            self.assertGreaterEqual(job["steps"], executed)
            self.assertLessEqual(job["steps"], executed + 2 + 100)
        self.assertEqual(self.show(0)["jobs"][0]["state"], "stopped")
        spent = self.show(1)["epsilon_insider"]
        codes, errors = self.run_parties()
        self.assertEqual(codes, [0, 0, 0], errors)
        shown = self.show(1)
        self.assertEqual([job["state"] for job in shown["jobs"]], ["died", "done"])
        self.assertEqual(shown["jobs"][0]["steps"], died["steps"])
        self.assertGreater(shown["epsilon_insider"], spent)
        kinds = [json.loads(line)["kind"] for line in self.ledger(1).read_text().splitlines()]
        self.assertEqual(kinds.count("settle"), 2)

    def test_a_closed_ledger_takes_entered_jobs_alone_and_once(self):
        self.prepare(0.8, None, None)
        config = "d/party-0/party.toml"
        self.assertEqual(self.run_parties()[0], [5, 5, 5])  # by RDP with room for adaptivity beyond the cap
        self.ledger(0).unlink(missing_ok=True)
        path = self.folder / config
        path.write_text(path.read_text() + 'mode = "closed"\n')
        codes, errors = self.run_parties()
        self.assertEqual(codes, [5, 5, 5], errors)
        self.assertIn("is closed, and found no entry for all of job tiny", errors[0])
        self.assertIn("epsilon 0.000 spent before", self.succeed("ledger", "enter", "--config", config, "--job", self.job))
        self.fail_with(5, "expected at most the cap 0.8", "ledger", "enter", "--config", config, "--job", self.job)
        self.assertEqual(self.show(0)["entered"][0]["run_id"], None)
        self.assertIn("entered  charged, not run, unit record, neighbours added: tiny", self.succeed("ledger", "show", self.ledger(0)))
        codes, errors = self.run_parties()
        self.assertEqual(codes, [0, 0, 0], errors)
        self.assertEqual(self.run_parties()[0], [5, 5, 5])
        self.fail_with(2, "jobs that have begun", "ledger", "enter", "--config", config, "--job", self.job)
        shown = self.show(0)
        self.assertEqual([job["run_id"] for job in shown["entered"]], [shown["jobs"][0]["run_id"]])

    def test_entered_jobs_say_whom_their_epsilons_are_for(self):
        self.prepare(50, None, None)
        config = self.folder / "d/party-0/party.toml"
        config.write_text(config.read_text() + 'mode = "closed"\n')
        enter = ("ledger", "enter", "--config", config, "--job")
        self.succeed(*enter, self.job)
        self.assertNotIn("units or neighbours of the jobs differ", self.succeed("ledger", "show", self.ledger(0)))
        transfer = pathlib.Path(__file__).resolve().parents[2] / "configs/ensemble-transfer.toml"
        self.succeed(*enter, transfer)
        text = self.succeed("ledger", "show", self.ledger(0))
        self.assertIn("charged, not run, unit record, neighbours added: tiny\n", text)
        self.assertIn("charged, not run, unit owner, neighbours replaced: ensemble-transfer\n", text)
        self.assertIn("note     units or neighbours of the jobs differ", text)
        shown = self.show(0)["entered"]
        self.assertEqual([(job["unit"], job["neighbours"]) for job in shown], [("record", "added"), ("owner", "replaced")])
        lines = [json.loads(line) for line in self.ledger(0).read_text().splitlines()]
        written = [line["record"]["warnings"] for line in lines if line["kind"] == "enter"]
        self.assertEqual([job["warnings"] for job in shown], written)

    def test_no_text_of_a_ledger_or_record_commands_a_terminal(self):
        self.prepare(0.8, None, None)
        path = self.folder / "d/party-0/party.toml"
        path.write_text(path.read_text() + 'mode = "closed"\n')
        self.succeed("ledger", "enter", "--config", path, "--job", self.job)
        *before, entered = self.ledger(0).read_text().splitlines()
        record = json.loads(entered)["record"]
        covered = entered[: entered.rindex(',"hash":"')].replace('"name":"tiny"', '"name":"\\u001b[31m\u009b\u202etiny"')
        entered = covered + f',"hash":"{hashlib.sha256(covered.encode()).hexdigest()}"}}'
        self.ledger(0).write_text("\n".join((*before, entered, "")), encoding="utf-8")
        commands = "\x1b[31m\u009b\u202etiny"
        record |= {"unit": "record", "neighbours": "replaced", "warnings": [commands]}
        file = self.write("record.json", json.dumps(record))
        asked = {("ledger", "show", self.ledger(0)): lambda shown: shown["entered"][0]["name"],
                 ("account", "--record", file, "--delta", "1e-5"): lambda shown: shown["warnings"][0]}
        for command, found in asked.items():
            text = self.succeed(*command)
            self.assertIn("[31m\\u{9b}\\u{202e}tiny\n", text)
            shown = self.succeed(*command, "--json")
            self.assertEqual(found(json.loads(shown)), commands)
            for character in commands[:1] + commands[5:7]:
                self.assertNotIn(character, text + shown)

    def test_init_fixes_the_filter_for_good(self):
        self.prepare(5, None, None)
        init = ("ledger", "init", "--config", "d/party-0/party.toml")
        self.assertIn("ledger.jsonl: mode rdp, delta 1e-05, orders 8, 32", self.succeed(*init, "--orders", "8,32"))
        self.fail_with(2, "its filter is fixed for good", *init)
        for delta in ("-1", "0", "1", "2", "nan"):
            self.fail_with(2, f"--delta: found {delta}, expected a number above 0 and below 1", "ledger", "show", self.ledger(0), f"--delta={delta}")
        self.succeed("ledger", "show", self.ledger(0), "--delta", "0.5")
        self.assertEqual(self.run_parties()[0], [0, 0, 0])
        self.assertEqual(self.show(0)["filter"]["orders"], [8, 32])
        path = self.folder / "d/party-0/party.toml"
        path.write_text(path.read_text().replace("delta = 1e-5", "delta = 1e-6"))
        codes, errors = self.run_parties()
        self.assertEqual(codes[0], 2, errors)
        self.assertIn("found delta 1e-06 asked for, expected 1e-05", errors[0])
        self.fail_with(2, "missing [evaluation_ledger]", *init, "--evaluation")

    def test_evaluations_of_one_test_set_add_up(self):
        self.prepare(None, None, None)
        path = self.folder / "d/party-0/party.toml"
        own = re.search(r"\[data\]\n((?:.+\n)+)", path.read_text()).group(1)
        data = own.replace('"data/', '"../party-1/data/')  # other records, as many
        self.assertNotEqual(data, own)
        path.write_text(path.read_text() + f'\n[evaluation]\n{data}\n[evaluation_ledger]\nfile = "tests.jsonl"\n'
                        'epsilon_cap = 0.35\ndelta = 1e-5\nmode = "gdp"\npopulation = "tests"\n')
        rows = int(re.search(r"rows = \[(\d+)", TINY_JOB).group(1))
        noisy = (r"\[privacy\]", f"[evaluation]\nholder = 0\nrows = {rows}\nto = [0]\nsigma = 25.0\n[privacy]")
        show = lambda: json.loads(self.succeed("ledger", "show", self.folder / "d/party-0/tests.jsonl", "--json"))
        codes, errors = self.run_parties(noisy)
        self.assertEqual(codes, [0, 0, 0], errors)
        once = show()["epsilon_insider"]
        codes, errors = self.run_parties(noisy)
        self.assertEqual(codes, [0, 0, 0], errors)
        twice = show()["epsilon_insider"]
        self.assertEqual([(job["unit"], job["neighbours"]) for job in show()["jobs"]], [("record", "replaced")] * 2)
        self.assertIn("note     jobs of neighbours replaced are for somebody whose records in all data sets are other ones, not for",
                      self.succeed("ledger", "show", self.folder / "d/party-0/tests.jsonl"))
        self.assertGreater(twice, 1.3 * once)
        self.assertLess(twice, 2 * once)
        for _ in range(5):
            codes, errors = self.run_parties(noisy)
            if codes != [0, 0, 0]:
                break
        self.assertEqual(codes, [5, 5, 5], errors)
        self.assertIn("tests.jsonl: epsilon ", errors[0])
        codes, errors = self.run_parties((noisy[0], noisy[1].replace("sigma = 25.0\n", "")))
        self.assertEqual(codes, [5, 5, 5], errors)
        self.assertIn("evaluation.sigma: found none, which no epsilon covers", errors[0])
        path.write_text(path.read_text().replace("../party-1/data/", "data/"))
        codes, errors = self.run_parties(noisy)
        self.assertEqual(codes[0], 4, errors)
        self.assertIn("found the same data in [data] and [evaluation], expected other records in each", errors[0])
        checked = self.run_program("check", "--config", path, "--job", self.folder / f"job-{self.runs}.toml", "--wait", "50ms")
        self.assertIn("test and validation data: ", checked.stdout)
        self.assertRegex(checked.stdout, r"(?m)^fail  .*found the same data in \[data\] and \[evaluation\]")

    def test_finds_changes_and_other_data(self):
        self.prepare(50, None, None)
        self.assertEqual(self.run_parties()[0], [0, 0, 0])
        good = self.ledger(0).read_text()
        self.ledger(0).write_text(good.replace('"steps":6', '"steps":5', 1))
        self.fail_with(4, "ledger.jsonl: line 2: found another hash", "ledger", "verify", self.ledger(0))
        self.fail_with(4, "line 2:", "ledger", "show", self.ledger(0))
        codes, errors = self.run_parties()
        self.assertEqual(codes[0], 4)
        self.assertIn("line 2:", errors[0])
        self.ledger(0).write_text(good + '{"kind":"settle"')
        self.assertIn("was not written to its end", self.succeed("ledger", "verify", self.ledger(0)))
        self.assertEqual(self.run_parties()[0], [0, 0, 0])
        self.assertNotIn("not written", self.succeed("ledger", "verify", self.ledger(0)))
        self.fail_with(2, "expected a ledger", "ledger", "verify", "nowhere")
        self.fail_with(2, "--delta", "ledger", "show", self.write("empty", ""))

        labels = next((self.folder / "d/party-0/data").glob("*labels*"))
        content = bytearray(gzip.decompress(labels.read_bytes()))
        content[-1] = (content[-1] + 1) % 10
        labels.write_bytes(gzip.compress(bytes(content)))
        codes, errors = self.run_parties()
        self.assertEqual(codes[0], 4)
        self.assertIn("a ledger is of one data set: name its files in [data], or another file in [ledger]", errors[0])

    def test_says_where_jobs_promise_different_things(self):
        self.prepare(50, None, None)
        for _ in range(2):
            self.assertEqual(self.run_parties()[0], [0, 0, 0])
        run = self.show(0)["jobs"][1]["run_id"]
        previous, lines = "0" * 64, []
        for line in self.ledger(0).read_text().splitlines():
            content = re.sub(r'"previous":"[0-9a-f]{64}"', f'"previous":"{previous}"', line.rpartition(',"hash":')[0])
            if run in line:
                content = content.replace('"neighbours":"added"', '"neighbours":"replaced"')
            previous = hashlib.sha256(content.encode()).hexdigest()
            lines.append(f'{content},"hash":"{previous}"}}\n')
        self.ledger(0).write_text("".join(lines))
        text = self.succeed("ledger", "show", self.ledger(0))
        self.assertIn(f"tiny, unit record, neighbours replaced, run {run}", text)
        self.assertIn("note     units or neighbours of the jobs differ: the epsilon together is for data sets that are neighbours in all", text)

    def stop_a_run(self):
        """Stops job-1.toml, of 5,000 steps, behind its first checkpoint."""
        parties = self.start_parties((r"steps = 6", "steps = 5000\ncheckpoint_every = 100"))
        progress = self.folder / "r1-0/progress.csv"
        deadline = time.monotonic() + PATIENCE
        while not (progress.exists() and progress.read_text().count("\n") > 110):
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.01)
        parties[1].kill()
        self.finish(parties)

    def check_ledger(self, job, told):
        """The ledger refuses the job; whether it is told that a stopped run of it would be asked for less."""
        result = self.run_program("check", "--config", "d/party-0/party.toml", "--job", job, "--wait", "50ms")
        self.assertEqual(result.returncode, 5, result.stdout)
        self.assertIn("fail  ledger: ", result.stdout)
        self.assertEqual("is asked only for what it has not spent yet, where --resume goes on with it" in result.stdout, told)
        return result.stdout

    def test_check_says_that_a_stopped_run_is_asked_for_less(self):
        self.prepare(50, None, None)
        self.stop_a_run()
        self.set_cap(0, 1.2 * self.show(0)["epsilon_insider"])
        self.write("other.toml", (self.folder / "job-1.toml").read_text().replace("5000", "5001"))
        self.check_ledger("job-1.toml", told=True)
        self.check_ledger("other.toml", told=False)

    def test_check_says_nothing_of_that_where_the_ledger_is_closed(self):
        self.prepare(100, None, None)
        config = self.folder / "d/party-0/party.toml"
        config.write_text(config.read_text() + 'mode = "closed"\n')
        job = self.write("job-1.toml", TINY_JOB.replace("steps = 6", "steps = 5000\ncheckpoint_every = 100"))
        self.succeed("ledger", "enter", "--config", config, "--job", job)
        self.stop_a_run()
        self.assertIn("found no entry for all of job tiny", self.check_ledger(job, told=False))

    def test_check_tells_beforehand(self):
        self.prepare(0.5, None, None)
        check = ("check", "--config", "d/party-0/party.toml", "--job", self.job, "--wait", "50ms")
        result = self.run_program(*check)
        self.assertEqual(result.returncode, 5)
        self.assertIn("fail  ledger: ", result.stdout)
        self.set_cap(0, 5)
        self.assertRegex(self.run_program(*check).stdout,
                         r"pass  ledger: d/party-0/ledger.jsonl: epsilon 0\.000 spent before, 0\.(8|9)\d\d with this job, cap 5")
        self.assertFalse(self.ledger(0).exists())

    def test_local_keeps_ledgers_where_asked_to(self):
        local = ("local", "--job", self.job, "--ledger", "ledgers", "--epsilon-cap", "1.1", "--out")
        self.succeed(*local, "first")
        self.fail_with(5, "expected at most the cap 1.1 (insider, delta 1e-05)", *local, "second")
        for party in PARTIES:
            shown = json.loads(self.succeed("ledger", "show", f"ledgers/party-{party}.jsonl", "--json"))
            self.assertEqual([job["state"] for job in shown["jobs"]], ["done"])
        self.fail_with(2, "--epsilon-cap", "local", "--job", self.job, "--ledger", "ledgers")
        self.fail_with(2, "--ledger", "local", "--job", self.job, "--epsilon-cap", "1")

    def test_refuses_what_no_epsilon_covers(self):
        self.prepare(1000, None, None)
        # Batches are cut so often that nothing of delta is left.
        codes, errors = self.run_parties((r"max_batch_per_owner = 100", "max_batch_per_owner = 31"))
        self.assertEqual(codes, [5, 5, 5], errors)
        self.assertIn("batches cut at their limits would take ", errors[0])
        initialisation = ("[initialisation]\nmethod = \"accuracy\"\nsteps = 2\nexpected_batch = 50\nlearning_rate = 1.0\n"
                          "sigma = 2.0\nselection_rows = 100\nselection = \"as-published\"\n[privacy]")
        codes, errors = self.run_parties((r"\[privacy\]", initialisation))
        self.assertEqual(codes, [5, 5, 5], errors)
        self.assertIn("found \"as-published\", which no epsilon covers", errors[0])
        codes, errors = self.run_parties((r"\[privacy\]", initialisation.replace("as-published", "noisy")))
        self.assertEqual(codes, [0, 0, 0], errors)
        record = json.loads((self.folder / "r3-0/record.json").read_text())
        settled = json.loads(self.ledger(0).read_text().splitlines()[-1])
        self.assertEqual(settled["record"], record)


if __name__ == "__main__":
    unittest.main()
