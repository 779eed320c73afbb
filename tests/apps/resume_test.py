"""Runs that are killed and resumed: what they execute is charged exactly, and they end as if nothing had happened."""

import gzip
import json
import os
import random
import re
import shutil
import signal
import socket
import subprocess
import time
import unittest

from trefoil_program import PATIENCE, PROJECT, TINY_JOB, ProgramTest, prepared

PARTIES = (0, 1, 2)
STEPS = 70
EVERY = 7
# As many steps may be lost as there are; what happens beyond the limit is tested by itself.
JOB = TINY_JOB.replace("steps = 6", f"steps = {STEPS}\ncheckpoint_every = {EVERY}\nlost_steps_max = {STEPS}")
LONG_JOB = JOB.replace(f"= {STEPS}", "= 160")  # room for ten kills
# Killed before its first checkpoint it begins anew; a tenth of its steps may be lost.
LOSSY_JOB = TINY_JOB.replace("steps = 6", f"steps = {STEPS}\ncheckpoint_every = {STEPS // 2}")
MANIFEST = PROJECT / "deploy/kubernetes/party.yaml"
LEDGER = '\n[ledger]\nfile = "ledger.jsonl"\nepsilon_cap = 1000\ndelta = 1e-5\n'


class Resume(ProgramTest):
    def prepare(self, job=JOB, name="job.toml"):
        self.job = self.write(name, job)
        self.steps = int(re.search(r"(?m)^steps = (\d+)$", job).group(1))
        self.succeed("local", "--job", self.job, "--out", "d", *prepared())
        for party in PARTIES:
            path = self.folder / f"d/party-{party}/party.toml"
            path.write_text(path.read_text().replace('start = "120s"', 'start = "20s"') + LEDGER)

    def arguments(self, party, *more, out=None):
        return ("run", "--config", f"d/party-{party}/party.toml", "--job", self.job, "--out", out or f"r{party}",
                "--threads", "1", *more)

    def start(self, *more):
        return [self.start_program(*self.arguments(party, *more)) for party in PARTIES]

    def progress_file(self, party):
        """Another one for each session, which makes it anew."""
        path = self.folder / f"r{party}/progress.csv"
        return path.stat().st_ino if path.exists() else None

    def wait_for_session(self, party, before, processes):
        """Until progress.csv is no longer the file that it was."""
        deadline = time.monotonic() + PATIENCE
        while self.progress_file(party) == before:
            self.assertLess(time.monotonic(), deadline)
            self.assertIsNone(processes[party].poll(), f"party {party} ended")
            time.sleep(0.005)

    def wait_for_step(self, party, step, processes):
        deadline = time.monotonic() + PATIENCE
        while self.last_step(party) < step:
            self.assertLess(time.monotonic(), deadline)
            self.assertIsNone(processes[party].poll(), f"party {party} ended")
            time.sleep(0.005)

    def kill_at(self, step, victim=0):
        """Starts all three from nothing and kills one once it has come to a step."""
        processes = self.start()
        self.wait_for_step(victim, step, processes)
        processes[victim].kill()
        return self.finish(processes)

    def record(self, party):
        return json.loads((self.folder / f"r{party}/record.json").read_text())

    def accuracy(self, model):
        return float(re.search(r"accuracy ([0-9.]+)", self.succeed("evaluate", "--model", model, "--data", "d/test")).group(1))

    def check_after_kills(self, kills, seed):
        """Kills one party after the other, at random instants, and resumes each time."""
        generator = random.Random(seed)
        finished = 0  # steps of all sessions that some party has finished
        latest = 0  # the last step of which all three may hold a checkpoint
        for kill in range(kills):
            victim = generator.choice(PARTIES)
            before = self.progress_file(victim)
            processes = self.start("--resume")
            self.wait_for_session(victim, before, processes)
            self.wait_for_step(victim, latest + generator.randrange(1, 3 * EVERY), processes)
            time.sleep(generator.uniform(0, 0.02))
            processes[victim].kill()
            codes, outputs = self.finish(processes)
            self.assertEqual(codes[victim], -9)
            for party in PARTIES:
                if party != victim:
                    self.assertEqual(codes[party], 3, outputs[party])
                    self.assert_one_error_line(outputs[party][1], f"lost party {victim} at step")
                    self.assertIn("the run can go on: start all three parties with --resume", outputs[party][0])
            resumed = re.search(r"resuming run [0-9a-f]+ at step (\d+) of", outputs[(victim + 1) % 3][0])
            first = int(resumed.group(1)) if resumed else 0
            # A checkpoint is there before the line of its step, which a kill may have prevented.
            self.assertIn(first, (latest, latest + EVERY))
            finished += max(self.last_step(party) for party in PARTIES) - first
            latest = min(self.last_step(party) for party in PARTIES) // EVERY * EVERY
        codes, outputs = self.finish(self.start("--resume"))
        self.assertEqual(codes, [0, 0, 0], outputs)
        said = re.search(rf"resuming run [0-9a-f]+ at step (\d+) of {self.steps}, in session {kills + 1}: (\d+) steps were begun "
                         r"before, (\d+) of them lost and charged", outputs[0][0])
        self.assertIsNotNone(said, outputs[0][0])
        start, before, lost = map(int, said.groups())
        self.assertEqual(before - lost, start)
        # Of the step that was under way when it was killed a session may have begun one more.
        self.assertGreaterEqual(before, finished)
        self.assertLessEqual(before, finished + kills)
        return self.steps + lost

    def check_charges(self, executed):
        records = [self.record(party) for party in PARTIES]
        self.assertEqual(records[0], records[1])
        self.assertEqual(records[0], records[2])
        self.assertEqual(sum(event["steps"] * event.get("executions", 1) for event in records[0]["events"]), executed)
        for party in PARTIES:
            shown = json.loads(self.succeed("ledger", "show", f"d/party-{party}/ledger.jsonl", "--json"))
            self.assertEqual([(job["state"], job["steps"], job["run_id"]) for job in shown["jobs"]],
                             [("done", executed, records[0]["run_id"])])
            summary = self.summary(f"r{party}")
            # A filter charges more than the run's own epsilon.
            self.assertGreater(shown["epsilon_insider"], summary["epsilon_insider"])
            self.assertLess(shown["epsilon_insider"], 1.4 * summary["epsilon_insider"])
            self.assertEqual(summary["steps"], self.steps)
            steps = [int(line.split(",")[0]) for line in (self.folder / f"r{party}/progress.csv").read_text().splitlines()[1:]]
            # There is a line of step 0 where the run began again, its first steps lost.
            self.assertIn(steps, [list(range(1, self.steps + 1)), list(range(self.steps + 1))])
            self.assertFalse((self.folder / f"r{party}/checkpoint").exists())
        models = [(self.folder / f"r{party}/model.npz").read_bytes() for party in PARTIES]
        self.assertEqual(models[0], models[1])
        self.assertEqual(models[0], models[2])

    def test_killed_ten_times_ends_as_if_it_had_not_been_and_charges_what_it_executed(self):
        self.prepare(LONG_JOB)
        self.check_charges(self.check_after_kills(kills=10, seed=20261121))
        self.succeed("local", "--job", self.job, "--out", "whole")
        # Of 1000 records; runs differ by their noise, too.
        self.assertGreater(self.accuracy("r0/model.npz"), self.accuracy("whole/model.npz") - 0.1)
        whole = json.loads((self.folder / "whole/party-0/out/record.json").read_text())
        resumed = self.record(0)
        self.assertGreater(resumed["events"][0]["steps"], whole["events"][0]["steps"])
        resumed["events"][0]["steps"] = self.steps
        self.assertEqual(resumed["events"], whole["events"])  # noise, rate and all

    def test_goes_on_with_public_coins(self):
        self.prepare(JOB.replace("sigma = 2.0", 'sigma = 20.0\nsampling = "public"'))
        executed = self.check_after_kills(kills=3, seed=5)
        self.check_charges(executed)
        participation = sum(event["max_participation"] for event in self.record(0)["events"])
        self.assertLess(participation, executed // 2)  # a tenth on average; what was lost counts for every row
        self.assertGreater(participation, executed // 10)

    def test_goes_on_with_rows_whose_bits_follow_from_what_comes_before_the_steps(self):
        self.prepare(JOB.replace("sigma = 2.0", 'epsilon = 40.0\nsampling = "public"') +
                     '[model]\nclass_weights = "balanced"\nclass_counts_sigma = 20.0\n')
        self.check_after_kills(kills=2, seed=9)
        self.assertLess(self.summary("r0")["row_bits"], 64)
        self.assertEqual(len({self.summary(f"r{party}")["row_bits"] for party in PARTIES}), 1)

    def test_goes_on_at_the_rate_of_its_step_on_narrow_rows(self):
        self.prepare(re.sub(r"(?m)^learning_rate = .*$", 'learning_rate = 20.0\nmomentum = 0.5\nschedule = "linear"', JOB))
        self.check_charges(self.check_after_kills(kills=2, seed=11))
        self.assertLess(self.summary("r0")["row_bits"], 64)
        self.succeed("local", "--job", self.job, "--out", "whole")
        self.assertGreater(self.accuracy("r0/model.npz"), self.accuracy("whole/model.npz") - 0.1)

    def test_goes_on_with_an_adaptive_clip(self):
        self.prepare(re.sub(r"(?m)^clip = .*$", 'clip = "adaptive"\nfirst_clip = 4.0', JOB))
        self.check_charges(self.check_after_kills(kills=2, seed=7))
        self.assertEqual({event["clip_count_sigma"] for event in self.record(0)["events"]}, {4.5})
        self.assertLess(self.summary("r0")["row_bits"], 64)
        clips = {self.summary(f"r{party}")["last_clip"] for party in PARTIES}
        self.assertEqual(len(clips), 1)
        self.assertLess(clips.pop(), 3.5)  # no gradient is so long; from 4 down by 0.1 of its logarithm a step

    def test_survives_a_kill_of_all_three_and_before_the_first_step(self):
        self.prepare()
        processes = self.start("--resume")
        time.sleep(0.05)
        for process in processes:
            process.kill()
        self.finish(processes)
        processes = self.start("--resume")
        self.wait_for_step(1, 10, processes)
        for process in processes:
            process.kill()
        self.finish(processes)
        codes, outputs = self.finish(self.start("--resume"))
        self.assertEqual(codes, [0, 0, 0], outputs)
        # What all three had before they were killed, which steps had gone on to.
        self.assertRegex(outputs[1][0], r"at step (7|14|21|28) of")

    def test_says_what_cannot_be_resumed(self):
        self.prepare()
        self.kill_at(15)
        error = lambda party, code, text, *more, **keywords: self.fail_with(code, text, *self.arguments(party, *more, **keywords))
        error(0, 2, "found a folder that is not empty, expected an empty one or none, or --resume to go on with its run")
        self.fail_with(2, "--out: missing, expected with --resume", "run", "--config", "d/party-0/party.toml", "--job", self.job,
                       "--resume")
        job = self.job
        self.job = self.write("other.toml", JOB.replace("sigma = 2.0", "sigma = 2.5"))
        error(0, 2, "privacy.sigma: found 2.5, expected 2.0, as in r0/checkpoint/run.json", "--resume")
        self.job = self.write("none.toml", JOB.replace(f"checkpoint_every = {EVERY}", ""))
        error(0, 2, "found a job without checkpoints", "--resume")
        self.job = job
        error(1, 4, "r0/checkpoint/run.json: found party 0's run, expected party 1's", "--resume", out="r0")
        key = self.folder / "d/party-0/party.key"
        sealed = max((self.folder / "r0/checkpoint").glob("*.sealed"))  # the newest: an older one would be left aside
        content = sealed.read_bytes()
        sealed.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
        error(0, 4, f"r0/checkpoint/{sealed.name}: cannot be opened: it was changed, or", "--resume")
        sealed.write_bytes(content)
        labels = next((self.folder / "d/party-0/data").glob("*labels*"))
        good = labels.read_bytes()
        changed = bytearray(gzip.decompress(good))
        changed[-1] = (changed[-1] + 1) % 10
        labels.write_bytes(gzip.compress(bytes(changed)))
        error(0, 4, "a run goes on with the files of [data] that it began with", "--resume")
        labels.write_bytes(good)
        self.assertTrue(key.exists())

        # One party names another folder, or lost its checkpoints: all three say so and nothing is lost.
        shutil.move(self.folder / "r1", self.folder / "aside")
        codes, outputs = self.finish(self.start("--resume"))
        self.assertEqual(codes, [2, 2, 2], outputs)
        self.assertRegex(outputs[0][1], r"\Atrefoil: .*found checkpoints of steps \d+ and \d+ here, none at party 1.*\n\Z")
        self.assert_one_error_line(outputs[1][1], "none here")
        shutil.rmtree(self.folder / "r1")
        shutil.move(self.folder / "aside", self.folder / "r1")

        # A start in a new folder, without --resume, cannot slip in either.
        processes = [self.start_program(*self.arguments(party, "--resume", out="new" if party == 2 else None)) for party in PARTIES]
        self.assertEqual(self.finish(processes)[0], [2, 2, 2])
        codes, outputs = self.finish(self.start("--resume"))
        self.assertEqual(codes, [0, 0, 0], outputs)
        self.assertIn("the run has finished, nothing to resume", self.succeed(*self.arguments(0, "--resume")))

        # Nor is a run that has finished taken for another job's or party's, or for one on other data.
        self.job = self.folder / "other.toml"
        error(0, 2, "privacy.sigma: found 2.5, expected 2.0, as in r0/job.toml, whose run has finished: another job wants another --out",
              "--resume")
        self.job = job
        error(1, 4, "r0/summary.json: found party 0's results, expected party 1's", "--resume", out="r0")
        labels.write_bytes(gzip.compress(bytes(changed)))
        error(0, 4, "r0/summary.json: found the results of a run on other data than the files of [data]", "--resume")
        labels.rename(self.folder / "gone")
        self.assertRegex(self.succeed(*self.arguments(0, "--resume")), "note: .*: not compared .*\n.*the run has finished, nothing to resume")
        (self.folder / "gone").rename(labels)
        (self.folder / "r0/data.salt").unlink()  # then nobody can tell
        self.assertIn("the run has finished, nothing to resume", self.succeed(*self.arguments(0, "--resume")))

    def lose(self, step, *more):
        """One session that is killed once it has come to a step."""
        before = self.progress_file(1)
        processes = self.start("--resume", *more)
        self.wait_for_session(1, before, processes)
        self.wait_for_step(1, step, processes)
        processes[1].kill()
        self.assertEqual(self.finish(processes)[0], [3, -9, 3])

    def test_a_restart_loop_ends_before_it_spends_much(self):
        """Version 0.1 went on for ever: eight sessions from step 0 ended at epsilon 4.63 for a target of 3."""
        self.prepare(LOSSY_JOB)
        self.lose(8)
        self.lose(8)  # the first that is resumed from there is let be
        ledgers = [self.folder / f"d/party-{party}/ledger.jsonl" for party in PARTIES]
        before = [ledger.read_bytes() for ledger in ledgers]
        expected = r"\Atrefoil: training.lost_steps_max: found \d+ lost steps, which take epsilon from [0-9.]+ outsider [0-9.]+ insider " \
                   r"to [0-9.]+ outsider [0-9.]+ insider, .* resumed from step 0, too; expected at most 7 lost steps, or run --resume --again at all three"
        processes = [self.start_program(*self.arguments(party, "--resume", *(["--again"] if party == 2 else []))) for party in PARTIES]
        for attempt in (self.finish(processes), self.finish(self.start("--resume"))):
            codes, outputs = attempt
            self.assertEqual(codes, [5, 5, 5], outputs)
            for _, error in outputs:
                self.assertRegex(error, expected)
        self.assertEqual([ledger.read_bytes() for ledger in ledgers], before)
        codes, outputs = self.finish(self.start("--resume", "--again"))
        self.assertEqual(codes, [0, 0, 0], outputs)
        self.assertGreaterEqual(self.record(0)["events"][0]["steps"], STEPS + 16)
        self.fail_with(2, "--again: found without --resume", *self.arguments(0, "--again", out="other"))

    @unittest.skipUnless(os.geteuid() == 0, "mounting a small disk needs root")
    def test_a_disk_without_room_is_found_before_anything_is_charged(self):
        self.prepare()
        disk = self.folder / "disk"
        disk.mkdir()
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", disk], check=True)
        self.addCleanup(subprocess.run, ["umount", "-l", disk], check=True)
        processes = [self.start_program(*self.arguments(party, "--resume", out="disk/run" if party == 0 else None)) for party in PARTIES]
        codes, outputs = self.finish(processes)
        self.assertEqual(codes, [1, 3, 3], outputs)
        self.assertRegex(outputs[0][1], r"\Atrefoil: disk/run: found .* free, expected at least .* before the first step, which is "
                                        r"charged: No space left on device\n\Z")
        for party in PARTIES:
            ledger = self.folder / f"d/party-{party}/ledger.jsonl"
            self.assertTrue(not ledger.exists() or "reserve" not in ledger.read_text())

    def test_conditions_that_may_pass_have_a_code_of_their_own(self):
        self.prepare()
        address = re.search(r'listen = "127.0.0.1:(\d+)"', (self.folder / "d/party-0/party.toml").read_text())
        with socket.socket() as other:
            other.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            other.bind(("127.0.0.1", int(address.group(1))))
            other.listen()
            self.fail_with(6, "cannot listen on 127.0.0.1", *self.arguments(0, "--resume"))
        processes = self.start("--resume")
        self.wait_for_step(0, 3, processes)
        self.fail_with(6, "found a run that another process executes", *self.arguments(0, "--resume"))
        self.assertEqual(self.finish(processes)[0], [0, 0, 0])

    def mount(self, volume, policy):
        """What kubelet does to a volume with fsGroup, this user's group: its own rules, pkg/volume/volume_linux.go."""
        wanted = 0o2770
        if policy == "OnRootMismatch" and volume.stat().st_mode & wanted == wanted:
            return
        for path in (volume, *volume.rglob("*")):
            path.chmod(path.stat().st_mode | (wanted if path.is_dir() else 0o660))

    def test_goes_on_on_a_volume_that_kubelet_mounted_anew(self):
        manifest = MANIFEST.read_text()
        policy = re.search(r"fsGroupChangePolicy: (\w+)", manifest)
        self.prepare()
        volume = self.folder / "volume"
        out = "volume/runs/first"
        party_file = self.folder / "d/party-0/party.toml"
        ledger, audit, known, data = (volume / name for name in ("ledger.jsonl", "logs/audit.jsonl", "known_records.jsonl", "train.csv"))
        party_file.write_text(party_file.read_text().replace('file = "ledger.jsonl"', f'file = "{ledger}"') + f'\n[log]\naudit = "{audit}"\n')
        start = lambda: [self.start_program(*self.arguments(party, "--resume", out=out if party == 0 else None)) for party in PARTIES]
        volume.mkdir()
        audit.parent.mkdir()
        for path in (known, data):
            path.touch(0o600)
        self.mount(volume, policy and policy.group(1))
        processes = start()
        self.wait_for_step(1, 15, processes)
        processes[1].kill()
        self.finish(processes)
        self.mount(volume, "Always")
        for path in (ledger, audit):
            path.chmod(0o600)  # not what is refused first
        refusal = "found mode 0660, expected 0600: run chmod 600 volume/runs/first/checkpoint/"
        self.fail_with(2, refusal, *self.arguments(0, "--resume", out=out))
        self.mount(volume, "Always")
        self.assertEqual({path.stat().st_mode & 0o777 for path in (ledger, audit, known)}, {0o660})
        # A volume that was restored, or whose driver has a rule of its own, is mended before the party starts.
        command = re.search(r'command: \[sh, -c, "(.*)"\]', manifest).group(1)
        subprocess.run(["sh", "-c", command.replace("/data/", f"{volume}/")], check=True)
        self.assertEqual({path.stat().st_mode & 0o777 for path in (ledger, audit, known)}, {0o600})
        self.assertEqual(data.stat().st_mode & 0o777, 0o660)  # which others may write
        self.mount(volume, policy and policy.group(1))
        codes, outputs = self.finish(start())
        self.assertEqual(codes, [0, 0, 0], outputs)
        self.assertIn("resuming run", outputs[0][0])

    def test_begins_a_run_where_there_is_none(self):
        self.prepare()
        # What another run left must not be taken for this one's; what a start left that was killed may be there.
        (self.folder / "r0/checkpoint").mkdir(parents=True)
        (self.folder / "r0/job.toml.part").touch()
        model = self.folder / "r0/model.npz"
        model.touch()
        self.fail_with(2, "r0: found a folder that is not empty, expected an empty one or none", *self.arguments(0, "--resume"))
        model.unlink()
        codes, outputs = self.finish(self.start("--resume"))
        self.assertEqual(codes, [0, 0, 0], outputs)
        self.assertIn("nothing to resume: the run begins", outputs[0][0])
        self.check_charges(STEPS)

    def test_an_old_copy_of_a_run_is_refused_by_the_ledgers(self):
        """Else a second model would be released at the price of one."""
        self.prepare()
        self.kill_at(5 * EVERY)
        for party in PARTIES:
            shutil.copytree(self.folder / f"r{party}", self.folder / f"copy{party}")
        self.assertEqual(self.finish(self.start("--resume"))[0], [0, 0, 0])
        for party in PARTIES:
            shutil.rmtree(self.folder / f"r{party}")
            shutil.move(self.folder / f"copy{party}", self.folder / f"r{party}")
        before = [(self.folder / f"d/party-{party}/ledger.jsonl").read_bytes() for party in PARTIES]
        codes, outputs = self.finish(self.start("--resume"))
        self.assertIn(2, codes, outputs)
        self.assertTrue(set(codes) <= {2, 3}, outputs)
        refused = codes.index(2)
        self.assert_one_error_line(outputs[refused][1], "that it executed: all three have an old copy of its checkpoint folder")
        for party in PARTIES:
            self.assertFalse((self.folder / f"r{party}/model.npz").exists())
            self.assertEqual((self.folder / f"d/party-{party}/ledger.jsonl").read_bytes(), before[party])

    def test_local_resumes(self):
        job = self.write("job.toml", JOB)
        process = self.start_program("local", "--job", job, "--out", "run")
        progress = self.folder / "run/party-2/out/progress.csv"
        deadline = time.monotonic() + PATIENCE
        while not (progress.exists() and progress.read_text().count("\n") > 20):
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.01)
        with open(f"/proc/{process.pid}/task/{process.pid}/children") as children:
            victim = children.read().split()[1]
        os.kill(int(victim), signal.SIGKILL)
        _, error = process.communicate(timeout=PATIENCE)
        self.assertEqual(process.returncode, 3, error)
        self.fail_with(2, "privacy.sigma: found 3.0, expected 2.0, as in run/job.toml", "local", "--resume", "--out", "run", "--job",
                       job, "--set", "privacy.sigma=3.0")
        self.fail_with(2, "--data: found with --resume", "local", "--resume", "--out", "run", "--data", ".")
        self.fail_with(2, "--base-port: found with --resume", "local", "--resume", "--out", "run", "--base-port", "7700")
        self.fail_with(2, "--set: found with --resume", "local", "--resume", "--out", "run", "--set", "privacy.sigma=3.0")
        self.fail_with(2, "--out: missing", "local", "--resume")
        self.succeed("local", "--resume", "--out", "run")
        summary = self.summary()
        self.assertGreater(summary["accuracy"], 0.6)  # guessing gives 0.1
        record = json.loads((self.folder / "run/party-1/out/record.json").read_text())
        self.assertGreaterEqual(record["events"][0]["steps"], STEPS + 1)
        self.assertLess(record["events"][0]["steps"], STEPS + 2 * EVERY)


if __name__ == "__main__":
    unittest.main()
