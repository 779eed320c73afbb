"""One run gives one model, whatever instant a party dies at, and shares of two models are not taken for one.

Parties are stopped before chosen calls (scripts/acceptance.d/stop_at.cpp), and then killed.
"""

import csv
import gzip
import json
import os
import pathlib
import re
import shutil
import time
import unittest

from kept_models import PREDICT_JOB
from trefoil_program import PATIENCE, TINY_JOB, ProgramTest, prepared

PARTIES = (0, 1, 2)
STEPS = 12
EVERY = 5
JOB = TINY_JOB.replace("steps = 6", f"steps = {STEPS}\ncheckpoint_every = {EVERY}").replace("sigma = 2.0", "sigma = 0.5")
# Of 2000: shares that do not belong together give about 200, 50 trainings of this noise gave 757 to 1404.
RIGHT_AT_LEAST = 450
NOBODY = "\n[release]\nto = []\n"
STOP_LIBRARY = os.environ["TREFOIL_STOP_LIBRARY"]


class RunsThatAreKilled(ProgramTest):
    def prepare(self, job=JOB):
        self.write("job.toml", job)
        self.succeed("local", "--job", "job.toml", "--out", "d", *prepared())
        for party in PARTIES:
            path = self.folder / f"d/party-{party}/party.toml"
            text = path.read_text().replace('start = "120s"', 'start = "20s"')
            text += f'[predict]\nshare = "../../r{party}/model.share"\n'
            if party == 0:
                text += 'x = "../test/t10k-images-idx3-ubyte.gz"\n'
            path.write_text(text)

    def start(self, out="r", job="job.toml", stop=None, more=("--resume",)):
        """`stop`: a party, and before what it stops itself."""
        processes = []
        for party in PARTIES:
            environment = {}
            if stop and stop[0] == party:
                environment = {"LD_PRELOAD": STOP_LIBRARY, "TREFOIL_STOP_AT": stop[1]}
            processes.append(self.start_program("run", "--config", f"d/party-{party}/party.toml", "--job", job, "--out",
                                                f"{out}{party}", "--threads", "1", *more, environment=environment))
        return processes

    def finish_well(self, processes):
        codes, outputs = self.finish(processes)
        self.assertEqual(codes, [0, 0, 0], outputs)
        return outputs

    def kill_before(self, victim, call):
        """Starts or resumes all three, and kills one before it makes this call."""
        processes = self.start(stop=(victim, call))
        deadline = time.monotonic() + PATIENCE
        state = ""
        while state != "T":
            self.assertLess(time.monotonic(), deadline)
            self.assertIsNone(processes[victim].poll(), f"party {victim} ended before {call}")
            state = pathlib.Path(f"/proc/{processes[victim].pid}/stat").read_text().rpartition(")")[2].split()[0]
            time.sleep(0.005)
        processes[victim].kill()
        return self.finish(processes)

    def files(self, name):
        return [path.read_bytes() for path in (self.folder / f"r{party}/{name}" for party in PARTIES) if path.exists()]

    def record(self, party=0):
        return json.loads((self.folder / f"r{party}/record.json").read_text())

    def correct(self, out):
        """Predicts by the shares that the party files name; how many labels are right."""
        run = self.record()["run_id"]
        self.write("predict.toml", PREDICT_JOB.format(run=run, client=0, rows=2000, scores="false"))
        self.finish_well(self.start(out, "predict.toml", more=()))
        data = gzip.decompress((self.folder / "d/test/t10k-labels-idx1-ubyte.gz").read_bytes())
        with open(self.folder / f"{out}0/predictions.csv") as file:
            labels = [int(row["label"]) for row in csv.DictReader(file)]
        return sum(a == b for a, b in zip(labels, data[8:]))


class OneModel(RunsThatAreKilled):
    def check_instant(self, victim, call, released, holders=3):
        """`released`: how many parties may have a model when the victim is dead. `holders`: how many get one in the end."""
        codes, outputs = self.kill_before(victim, call)
        self.assertEqual(codes[victim], -9)
        models = self.files("model.npz")
        self.assertIn(len(models), released, outputs)
        outputs = self.finish_well(self.start())
        lost = re.search(r"(\d+) of them lost and charged", outputs[0][0])
        self.assertIsNotNone(lost, outputs[0][0])
        self.assertEqual({event["steps"] for event in self.record()["events"]}, {STEPS + int(lost.group(1))})
        self.assertEqual(len(set(models + self.files("model.npz"))), 1, "two models of one run")
        self.assertEqual(len(self.files("model.npz")), holders)
        return int(lost.group(1))

    def test_nothing_is_released_before_all_three_hold_the_last_checkpoint(self):
        self.prepare(JOB + NOBODY.replace("[]", "[1]"))  # who needs one message of party 0, and none of party 2
        lost = self.check_instant(2, f"rename:checkpoint/0000{STEPS}", released={0}, holders=1)
        self.assertEqual(lost, STEPS % EVERY)

    def test_a_crash_between_the_last_checkpoint_and_the_release_releases_the_same(self):
        self.prepare()
        self.assertEqual(self.check_instant(2, "rename:record.json", released={0, 1}), 0)

    def test_a_crash_while_the_model_is_written_releases_the_same(self):
        self.prepare()
        self.assertEqual(self.check_instant(1, "rename:model.npz", released={0, 1, 2}), 0)

    def test_an_old_copy_does_not_repeat_a_noisy_evaluation_for_nothing(self):
        self.prepare(JOB.replace("[privacy]", "[evaluation]\nholder = 0\nrows = 2000\nto = [0]\nsigma = 25.0\n[privacy]"))
        path = self.folder / "d/party-0/party.toml"
        path.write_text(path.read_text() + '\n[evaluation_ledger]\nfile = "tests.jsonl"\nepsilon_cap = 10\ndelta = 1e-5\nmode = "gdp"\n')
        self.kill_before(0, f"rename:checkpoint/0000{STEPS}")
        for party in PARTIES:
            shutil.copytree(self.folder / f"r{party}", self.folder / f"copy{party}")
        # The newest copy goes on and opens what was counted, which is charged once.
        self.kill_before(0, "rename:record.json")
        self.finish_well(self.start())
        ledger = self.folder / "d/party-0/tests.jsonl"
        before = ledger.read_bytes()
        self.assertEqual(len(json.loads(before.splitlines()[-1])["record"]["events"]), 1)
        for party in PARTIES:
            shutil.rmtree(self.folder / f"r{party}")
            shutil.move(self.folder / f"copy{party}", self.folder / f"r{party}")
        codes, outputs = self.finish(self.start())
        self.assertEqual(codes, [2, 3, 3], outputs)
        self.assert_one_error_line(outputs[0][1], "resumed after 0 steps and 0 other releases, expected at least the 0 steps and 1 other "
                                   "releases that it executed")
        self.assertEqual(ledger.read_bytes(), before)

    def test_a_crash_behind_the_release_releases_the_same(self):
        self.prepare()
        self.assertEqual(self.check_instant(0, "rename:summary.json", released={1, 2, 3}), 0)

    def test_a_party_that_dies_as_it_removes_its_checkpoints_ends_by_itself(self):
        self.prepare()
        self.kill_before(1, "rename:record.json")
        checkpoints = self.folder / "r1/checkpoint"
        shutil.copytree(checkpoints, self.folder / "copy")
        self.finish_well(self.start())
        path = self.folder / "d/party-1/party.toml"
        path.write_text(path.read_text().replace('start = "20s"', 'start = "1s"'))
        resume = ("run", "--config", path, "--job", "job.toml", "--out", "r1", "--resume")
        shutil.copytree(self.folder / "copy", checkpoints)  # as if it had been killed before it removed anything
        model = self.files("model.npz")
        self.assertRegex(self.succeed(*resume), r"note: no peer came \(party \d: .*\); this party has its results, and keeps its last checkpoint")
        self.assertTrue((checkpoints / "run.json").exists())
        (checkpoints / "run.json").unlink()  # in the midst of it
        self.assertIn("the run has finished, nothing to resume", self.succeed(*resume))
        self.assertFalse(checkpoints.exists())
        self.assertEqual(self.files("model.npz"), model)

    def test_a_party_that_went_back_to_an_older_copy_gets_no_second_model(self):
        self.prepare()
        self.kill_before(1, f"rename:checkpoint/0000{STEPS}")
        shutil.copytree(self.folder / "r1", self.folder / "copy1")
        self.kill_before(1, "rename:summary.json")
        models = self.files("model.npz")
        self.assertGreater(len(models), 0)
        shutil.move(self.folder / "r1", self.folder / "newest1")
        shutil.move(self.folder / "copy1", self.folder / "r1")
        codes, outputs = self.finish(self.start())
        self.assertEqual(codes, [2, 2, 2], outputs)
        self.assert_one_error_line(outputs[1][1], "a run whose model may have been released at party 0")
        shutil.rmtree(self.folder / "r1")
        shutil.move(self.folder / "newest1", self.folder / "r1")
        self.finish_well(self.start())
        self.assertEqual(len(set(models + self.files("model.npz"))), 1)

    def test_a_second_crash_in_the_release_releases_the_same(self):
        self.prepare(JOB.replace("[privacy]", f"lost_steps_max = {STEPS}\n[privacy]"))
        self.kill_before(2, f"rename:checkpoint/0000{STEPS}")
        self.assertEqual(self.files("model.npz"), [])
        self.kill_before(0, "rename:summary.json")
        self.check_instant(1, "rename:summary.json", released={1, 2, 3})

    def test_shares_are_given_out_only_when_all_three_hold_the_last_checkpoint(self):
        self.prepare(JOB + NOBODY)
        codes, outputs = self.kill_before(2, f"rename:checkpoint/0000{STEPS}")
        self.assertEqual(codes, [3, 3, -9], outputs)
        self.assertEqual(self.files("model.share"), [])
        self.finish_well(self.start())
        self.assertGreater(self.correct("p"), RIGHT_AT_LEAST)

    def test_shares_that_are_given_out_again_go_with_the_first_ones(self):
        self.prepare(JOB + NOBODY)
        self.kill_before(2, "open:model.share")
        shutil.copy(self.folder / "r0/model.share", self.folder / "first.share")
        self.finish_well(self.start())
        right = self.correct("p")
        self.assertGreater(right, RIGHT_AT_LEAST)
        shutil.copy(self.folder / "first.share", self.folder / "r0/model.share")
        self.assertEqual(self.correct("q"), right)


class SharesOfTwoModels(RunsThatAreKilled):
    def test_shares_of_two_sessions_of_one_run_are_refused(self):
        """All three go back to a copy of the run, so that it ends twice; one then names its first share."""
        self.prepare(JOB + NOBODY)
        self.kill_before(1, f"rename:checkpoint/0000{2 * EVERY}")
        for party in PARTIES:
            shutil.copytree(self.folder / f"r{party}", self.folder / f"copy{party}")
        self.finish_well(self.start())
        first = self.record()
        shutil.copy(self.folder / "r1/model.share", self.folder / "first.share")
        for party in PARTIES:
            shutil.rmtree(self.folder / f"r{party}")
            shutil.move(self.folder / f"copy{party}", self.folder / f"r{party}")
        self.finish_well(self.start())
        self.assertEqual(self.record()["run_id"], first["run_id"])
        self.assertGreater(self.correct("p"), RIGHT_AT_LEAST)

        shutil.copy(self.folder / "first.share", self.folder / "r1/model.share")
        codes, outputs = self.finish(self.start("q", "predict.toml", more=()))
        self.assertEqual(codes, [2, 2, 2], outputs)
        for party in PARTIES:
            name = "this party" if party == 1 else "party 1"
            self.assert_one_error_line(outputs[party][1], f"{name} holds a share of the model that does not belong with the other two's: "
                                       f"predict.share: found one of run {first['run_id']}, session ")
            self.assertFalse((self.folder / f"q{party}/predictions.csv").exists())


if __name__ == "__main__":
    unittest.main()
