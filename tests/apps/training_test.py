"""Three party processes: local, run, check and evaluate, and what happens when something goes wrong."""

import csv
import gzip
import json
import os
import pathlib
import re
import signal
import socket
import time
import unittest
import zipfile

from store_program import model_weights
from trefoil_program import PATIENCE, TINY_JOB, ProgramTest, prepared

PARTIES = (0, 1, 2)
SUMMARY_KEYS = ["version", "type", "name", "job_hash", "session", "privacy", "cost", "warnings", "results"]
PROGRESS_COLUMNS = ["step", "seconds", "rounds", "bytes_sent", "epsilon_outsider", "epsilon_insider"]
# Long enough that a party can be stopped in the middle.
LONG = ("--set", "training.steps=5000")


def children_of(process):
    """The process ids of the parties, in order."""
    found = {}
    for entry in pathlib.Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            parent = int((entry / "stat").read_text().rsplit(")", 1)[1].split()[1])
            command = (entry / "cmdline").read_text()
        except OSError:
            continue
        party = re.search(r"party-(\d)/party\.toml", command)
        if parent == process.pid and party:
            found[int(party.group(1))] = int(entry.name)
    return found


class Training(ProgramTest):
    def setUp(self):
        super().setUp()
        self.job = self.write("job.toml", TINY_JOB)

    def wait_for_step(self, progress, least, timeout=60):
        """Until progress.csv has that many steps."""
        deadline = time.monotonic() + timeout
        while time.monotonic() < deadline:
            path = self.folder / progress
            if path.exists() and len(path.read_text().splitlines()) > least:
                return
            time.sleep(0.02)
        self.fail(f"no step {least} within {timeout} s")

    def start_local(self, *arguments):
        process = self.start_program("local", "--job", self.job, "--out", "out", *arguments)
        self.wait_for_step("out/party-0/out/progress.csv", 2)
        return process

    def prepare(self, *arguments):
        self.succeed("local", "--job", self.job, "--out", "d", *prepared(), *arguments)

    def start_parties(self, job="d/job.toml"):
        return [self.start_program("run", "--config", f"d/party-{i}/party.toml", "--job", job, "--out", f"r{i}", "--threads", "1")
                for i in PARTIES]

    def edit_party(self, party, pattern, replacement):
        path = self.folder / f"d/party-{party}/party.toml"
        text, count = re.subn(pattern, replacement, path.read_text(), flags=re.M)
        self.assertGreater(count, 0)
        path.write_text(text)


class Local(Training):
    def test_writes_the_run_directory(self):
        output = self.succeed("local", "--job", self.job, "--out", "out")

        for name in ["job.toml", "summary.json", "progress.csv", "record.json", "model.npz", "test"]:
            self.assertTrue((self.folder / "out" / name).exists(), name)
        summary = self.summary("out")
        self.assertEqual(list(summary)[: len(SUMMARY_KEYS)], SUMMARY_KEYS)
        self.assertEqual((summary["name"], summary["steps"], summary["sigma"]), ("tiny", 6, 2.0))
        self.assertGreater(summary["epsilon_insider"], summary["epsilon_outsider"])
        with open(self.folder / "out/progress.csv") as file:
            rows = list(csv.DictReader(file))
        self.assertEqual(list(rows[0]), PROGRESS_COLUMNS)
        self.assertEqual([row["step"] for row in rows], [str(i) for i in range(1, 7)])
        self.assertIn(f"accuracy {summary['accuracy']:.4f}", output)
        models = {(self.folder / f"out/party-{i}/out/model.npz").read_bytes() for i in PARTIES}
        self.assertEqual(models, {(self.folder / "out/model.npz").read_bytes()})
        with zipfile.ZipFile(self.folder / "out/model.npz") as model:
            self.assertEqual(set(model.namelist()), {"weights.npy", "bias.npy", "classes.npy", "job.npy"})

        evaluated = json.loads(self.succeed("evaluate", "--model", "out/model.npz", "--data", "out/test", "--json"))
        self.assertEqual(evaluated["accuracy"], summary["accuracy"])
        accounted = json.loads(self.succeed("account", "--record", "out/record.json", "--delta", "1e-5", "--json"))
        self.assertAlmostEqual(accounted["epsilon_outsider"], summary["epsilon_outsider"], places=9)
        self.fail_with(2, "not empty", "local", "--job", self.job, "--out", "out")
        self.fail_with(2, "--out: found job.toml/out, which cannot be made (Not a directory)", "local", "--job", self.job, "--out", "job.toml/out")

    def test_starts_from_local_models(self):
        one_step = ("--set", "training.steps=1", "--set", "training.learning_rate=1.0")
        initialised = (*one_step, "--set", "initialisation.method=accuracy", "--set", "initialisation.steps=60",
                       "--set", "initialisation.expected_batch=100", "--set", "initialisation.learning_rate=4.0",
                       "--set", "initialisation.sigma=1.0", "--set", "initialisation.selection_rows=100")
        output = self.succeed("local", "--job", self.job, "--out", "out", *initialised)
        self.assertNotIn("warning", output)
        summary = self.summary("out")
        self.assertEqual(list(summary)[: len(SUMMARY_KEYS)], SUMMARY_KEYS)
        record = json.loads((self.folder / "out/record.json").read_text())
        self.assertEqual([event["kind"] for event in record["events"]],
                         ["local_training", "noisy_selection", "dpsgd_steps"])
        accounted = json.loads(self.succeed("account", "--record", "out/record.json", "--delta", "1e-5", "--json"))
        self.assertAlmostEqual(accounted["epsilon_insider"], summary["epsilon_insider"], places=9)
        self.assertEqual(accounted["noise_multiplier"], summary["sigma"])
        # Local models and a step, against the step alone: 0.74 with deviation 0.02, 0.12 with deviation 0.03 (12 runs).
        self.succeed("local", "--job", self.job, "--out", "alone", *one_step)
        alone = self.summary("alone")
        self.assertGreater(summary["epsilon_insider"], alone["epsilon_insider"])
        self.assertGreater(summary["accuracy"], alone["accuracy"] + 0.2)

        self.succeed("local", "--job", self.job, "--out", "published", *initialised,
                     "--set", "initialisation.selection=as-published")
        summary = self.summary("published")
        self.assertIn("both epsilons are infinite", summary["warnings"][0])
        self.assertEqual((summary["epsilon_outsider"], summary["epsilon_insider"]), (None, None))
        published = json.loads((self.folder / "published/record.json").read_text())
        self.assertEqual([event["kind"] for event in published["events"]],
                         ["local_training", "unbounded_releases", "dpsgd_steps"])
        self.assert_promises("published", "record", "added", "infinite: no guarantee", warnings=1)
        told = json.loads(self.succeed("account", "--record", "published/record.json", "--delta", "1e-5", "--json"))
        self.assertEqual((told["epsilon"], told["epsilon_outsider"], told["epsilon_insider"]), (None, None, None))
        # A target does not make it finite: noise is as if the choice were free.
        target = ("plan", "--job", "published/job.toml", "--set", "privacy={epsilon = 50.0, delta = 1e-5, clip = 0.5}", "--json")
        planned = json.loads(self.succeed(*target))
        self.assertEqual((planned["epsilon_outsider"], planned["epsilon_insider"]), (None, None))
        averaged = json.loads(self.succeed(*target, "--set", "initialisation={method = 'averaging', steps = 60, expected_batch = "
                                           "100.0, learning_rate = 4.0, sigma = 1.0}"))
        self.assertEqual(planned["sigma"], averaged["sigma"])
        self.assertLessEqual(averaged["epsilon_insider"], 50)
        self.succeed("report", "published")
        self.assertIn("infinite: no guarantee", (self.folder / "published/report.html").read_text())
        self.assertIn("warning initialisation.selection", (self.folder / "published/party-0/out/party.log").read_text())

    def test_selects_on_validation_records(self):
        output = self.succeed(
            "local", "--job", self.job, "--out", "out", "--set", "initialisation.method=accuracy",
            "--set", "initialisation.steps=20", "--set", "initialisation.expected_batch=50",
            "--set", "initialisation.learning_rate=8.0", "--set", "initialisation.sigma=1.0",
            "--set", "initialisation.selection=public-validation", "--set", "initialisation.validation_holder=2",
            "--set", "initialisation.validation_rows=1000")
        self.assertIn("accuracy", output)
        summary = self.summary("out")
        self.assertGreater(summary["accuracy"], 0.2)  # guessing gives 0.1; 0.51 with deviation 0.05 (16 runs)
        self.assertIn("party 2's validation records", summary["warnings"][0])
        record = json.loads((self.folder / "out/record.json").read_text())
        self.assertEqual([event["kind"] for event in record["events"]], ["local_training", "dpsgd_steps"])
        self.assertTrue((self.folder / "out/party-2/validation/validation-images-idx3-ubyte.gz").exists())
        self.assertFalse((self.folder / "out/party-1/validation").exists())

    def test_evaluates_on_shares(self):
        evaluation = ("--set", "evaluation.holder=1", "--set", "evaluation.rows=2000", "--set", "training.steps=30")
        output = self.succeed("local", "--job", self.job, "--out", "out", *evaluation, "--set", "evaluation.to=[0, 2]",
                              "--set", "release.to=[0]")
        summaries = [self.summary(f"out/party-{i}/out") for i in PARTIES]
        evaluated = json.loads(self.succeed("evaluate", "--model", "out/model.npz", "--data", "out/test", "--json"))
        self.assertGreater(evaluated["accuracy"], 0.3)  # guessing gives 0.1; 0.56 with deviation 0.04 (16 runs)
        # Rows are rounded to 16 bits before they are shared: a few logits within 2^-14 of each other may change places.
        self.assertAlmostEqual(summaries[0]["evaluation"]["correct"], evaluated["correct"], delta=4)
        self.assertEqual(summaries[0]["accuracy"], summaries[0]["evaluation"]["correct"] / 2000)
        self.assertEqual([summary["evaluation"]["correct"] for summary in summaries],
                         [summaries[0]["evaluation"]["correct"], None, summaries[0]["evaluation"]["correct"]])
        self.assertIsNone(summaries[1]["accuracy"])
        for summary in summaries:
            self.assertEqual(summary["evaluation"]["records"], 2000)
            self.assertIsNone(summary["evaluation"]["epsilon_insider"])
            self.assertIn("party 1's test records", summary["warnings"][0])
            self.assertGreater(summary["evaluation"]["bytes_sent"], 0)
        self.assertIn("on 2000 test records, on shares: no epsilon covers them", output)
        record = json.loads((self.folder / "out/record.json").read_text())
        self.assertEqual([event["kind"] for event in record["events"]], ["dpsgd_steps"])

        self.succeed("local", "--job", self.job, "--out", "noisy", *evaluation, "--set", "evaluation.sigma=4")
        summary = self.summary("noisy")
        self.assertEqual(summary["warnings"], [])
        self.assertLess(abs(summary["evaluation"]["correct"] - 2000 * summary["accuracy"]), 200)
        record = json.loads((self.folder / "noisy/record.json").read_text())
        self.assertEqual([event["kind"] for event in record["events"]], ["dpsgd_steps", "noisy_evaluation"])
        account = ("account", "--record", "noisy/record.json", "--delta", "1e-5")
        accounted = json.loads(self.succeed(*account, "--json"))
        self.assertEqual(accounted["epsilon_insider"], summaries[0]["epsilon_insider"])
        self.assertEqual(accounted["test_epsilon_insider"], summary["evaluation"]["epsilon_insider"])
        self.assertIn("test records      epsilon", self.succeed(*account))

    def test_test_records_must_be_as_the_job_declares(self):
        local = ("local", "--job", self.job, "--set", "evaluation.holder=2", "--set")
        self.fail_with(4, "t10k-images-idx3-ubyte.gz: found 2000 records, expected the 1999 of evaluation.rows",
                       *local, "evaluation.rows=1999", "--out", "out")
        self.prepare("--set", "evaluation.holder=2", "--set", "evaluation.rows=2000")
        self.edit_party(2, r"^\[evaluation\]\n.*\n.*$", "")
        self.fail_with(2, "missing [evaluation], expected x and y, or file", "run", "--config", "d/party-2/party.toml",
                       "--job", "d/job.toml", "--out", "r2")

    def test_releases_to_those_named_only(self):
        self.succeed("local", "--job", self.job, "--out", "out", "--set", "release.to=[1]")
        has_model = [(self.folder / f"out/party-{i}/out/model.npz").exists() for i in PARTIES]
        self.assertEqual(has_model, [False, True, False])
        self.assertTrue((self.folder / "out/model.npz").exists())

    def test_trains_a_network(self):
        self.succeed("local", "--job", self.job, "--out", "out", "--set", "model.hidden=[12, 7]",
                     "--set", "model.loss=softmax", "--set", "training.momentum=0.5",
                     "--set", "training.schedule=cosine")
        summary = self.summary("out")
        evaluated = json.loads(self.succeed("evaluate", "--model", "out/model.npz", "--data", "out/test", "--json"))
        self.assertEqual(evaluated["accuracy"], summary["accuracy"])
        names = zipfile.ZipFile(self.folder / "out/model.npz").namelist()
        self.assertEqual(names[:4], ["hidden_weights_1.npy", "hidden_bias_1.npy", "hidden_weights_2.npy",
                                     "hidden_bias_2.npy"])
        record = json.loads((self.folder / "out/record.json").read_text())
        coordinates = 785 * 12 + 13 * 7 + 8 * 10
        self.assertEqual(record["events"][0]["coordinates"], coordinates)

    def test_trains_with_exact_truncation(self):
        self.succeed("local", "--job", self.job, "--out", "out", "--set", "training.truncation=exact")
        self.succeed("local", "--job", self.job, "--out", "stochastic")
        exact, stochastic = (self.summary(out) for out in ("out", "stochastic"))
        # The same privacy; and keys of comparison functions on top of what is sent.
        self.assertEqual(*([run[key] for key in ("epsilon_outsider", "epsilon_insider", "sigma", "sensitivity")]
                           for run in (exact, stochastic)))
        self.assertGreater(exact["bytes_sent"], 2 * stochastic["bytes_sent"])
        self.assertIn('truncation = "exact"', (self.folder / "out/job.toml").read_text().replace("'", '"'))
        models = {(self.folder / f"out/party-{i}/out/model.npz").read_bytes() for i in PARTIES}
        self.assertEqual(len(models), 1)

    def test_trains_with_fewer_bits_of_rows_and_errors(self):
        """Every record in every step, and next to no noise: models differ by roundings alone."""
        job = TINY_JOB.replace("expected_batch = 90", "expected_batch = 900").replace("sigma = 2.0", "sigma = 0.001")
        job = job.replace("[privacy]", 'comparison = "bulk"\n[privacy]')  # not by what links happen to take
        fewer = ("--set", "features.fraction_bits=8", "--set", "training.error_fraction_bits=10")
        whole, sent = [], {}
        for sampling, batch in (("full", ""), ("public", "max_batch_per_owner = 300")):
            text = job.replace("max_batch_per_owner = 100", batch).replace("[privacy]", f'[privacy]\nsampling = "{sampling}"')
            path = self.write(f"{sampling}.toml", text)
            for bits in ((), fewer):
                out = sampling + ("-fewer" if bits else "")
                self.succeed("local", "--job", path, "--out", out, *bits)
                found = model_weights(self.folder / out / "model.npz")
                sent[out] = self.summary(out)["bytes_sent"]
                whole = whole or found
                # Weights of up to 1.7 moved by 0.04 by the errors' bits, 0.0003 without.
                self.assertLess(max(abs(one - other) for one, other in zip(found, whole, strict=True)), 0.08 if bits else 0.003, out)
            self.assertLess(sent[f"{sampling}-fewer"], sent[sampling])
        self.assertGreater(max(map(abs, whole)), 1)

    def test_the_saved_job_runs_again(self):
        self.succeed("local", "--job", self.job, "--out", "out", "--set", "training.steps=2", "--set", "name=again")
        self.succeed("local", "--job", "out/job.toml", "--out", "second")
        self.assertEqual((self.folder / "out/job.toml").read_text(), (self.folder / "second/job.toml").read_text())

    def test_a_killed_party_ends_the_others_with_code_3(self):
        process = self.start_local(*LONG)
        os.kill(children_of(process)[1], signal.SIGKILL)
        start = time.monotonic()
        _, stderr = process.communicate(timeout=15)
        self.assertLess(time.monotonic() - start, 15)
        self.assertEqual(process.returncode, 3)
        self.assert_one_error_line(stderr, "party 1 was killed by signal 9")
        for survivor in (0, 2):
            log = (self.folder / f"out/party-{survivor}/console.log").read_text()
            self.assertRegex(log, r"trefoil: lost party 1 at step \d+ of 5000: ")

    def test_the_parties_end_with_their_parent(self):
        process = self.start_local(*LONG)
        children = children_of(process)
        self.assertEqual(set(children), set(PARTIES))
        process.kill()
        process.communicate()
        deadline = time.monotonic() + 10
        running = list(children.values())
        while running and time.monotonic() < deadline:
            running = [child for child in running if self.runs(child)]
            time.sleep(0.05)
        self.assertEqual(running, [])

    @staticmethod
    def runs(process):
        try:
            return pathlib.Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
        except OSError:
            return False

    def test_data_is_found_and_checked(self):
        """A folder of 300 training rows and no test data, named in either way."""
        data = self.folder / "root/small"
        self.succeed("local", "--job", self.job, "--out", "d", "--prepare")
        data.mkdir(parents=True)
        for name in ["images-idx3-ubyte.gz", "labels-idx1-ubyte.gz"]:
            (data / f"train-{name}").write_bytes((self.folder / f"d/party-0/data/{name}").read_bytes())
        local = ("local", "--job", self.job, "--set", "data.name=small", "--set", "local.split=[0.5, 0.2, 0.2]", "--out")

        output = self.succeed(*local, "o", "--prepare", environment={"TREFOIL_DATA": str(self.folder / "root")})
        self.assertIn("rows 150, 60, 60; 30 beyond data.rows left out", output)
        output = self.succeed(*local, "p", "--data", data)
        self.assertIn("accuracy unknown", output)
        self.assertIsNone(self.summary("p")["accuracy"])
        self.fail_with(4, "small/train-images", *local, "q", "--data", data, "--set", "data.features=10")
        self.assertFalse((self.folder / "q").exists())


class Run(Training):
    def test_three_by_hand_give_the_same_model(self):
        self.prepare()
        for process in self.start_parties():
            stdout, stderr = process.communicate(timeout=PATIENCE)
            self.assertEqual((process.returncode, self.errors(stderr)), (0, ""), stdout)
            self.assertIn("step 6/6", stdout)
        self.assertEqual(len({(self.folder / f"r{i}/model.npz").read_bytes() for i in PARTIES}), 1)
        for i in PARTIES:
            self.assertEqual(sorted(path.name for path in (self.folder / f"r{i}").iterdir() if path.name != "owner_warnings.txt"),
                             ["audit.jsonl", "data.salt", "job.toml", "model.npz", "party.log", "progress.csv", "record.json", "summary.json"])
            summary = self.summary(f"r{i}")
            self.assertEqual(list(summary)[: len(SUMMARY_KEYS)], SUMMARY_KEYS)
            self.assertIsNone(summary["accuracy"])
        records = {(self.folder / f"r{i}/record.json").read_text() for i in PARTIES}
        self.assertEqual(len(records), 1)

    def test_a_stopped_party_tells_the_others(self):
        self.prepare(*LONG)
        processes = self.start_parties()
        self.wait_for_step("r1/progress.csv", 2)
        processes[1].terminate()
        outputs = [process.communicate(timeout=30) for process in processes]
        self.assertEqual([process.returncode for process in processes], [3, 143, 3])
        self.assert_one_error_line(outputs[1][1], "stopped by signal 15")
        for survivor in (0, 2):
            self.assert_one_error_line(outputs[survivor][1], "lost party 1 at step")

    def test_a_different_job_is_named(self):
        self.prepare()
        text = (self.folder / "d/job.toml").read_text()
        self.write("other.toml", text.replace("steps = 6", "steps = 7"))
        for i in PARTIES:
            self.edit_party(i, '^start = "[^"]*"', 'start = "4s"')
        jobs = ["d/job.toml", "other.toml", "d/job.toml"]
        processes = [self.start_program("run", "--config", f"d/party-{i}/party.toml", "--job", jobs[i], "--out", f"r{i}")
                     for i in PARTIES]
        outputs = [process.communicate(timeout=PATIENCE) for process in processes]
        self.assertEqual(processes[1].returncode, 2)
        self.assert_one_error_line(outputs[1][1], "training.steps")

    def test_bad_files_end_before_anything_is_written(self):
        self.prepare()
        run = ("run", "--config", "d/party-0/party.toml", "--job", "d/job.toml", "--out", "r0")
        key = self.folder / "d/party-0/party.key"
        key.chmod(0o644)
        self.fail_with(2, "found mode 0644, expected 0600", *run)
        key.chmod(0o600)
        certificate = self.folder / "d/party-0/party.crt"
        own = certificate.read_text()
        certificate.write_text((self.folder / "d/party-1/party.crt").read_text())
        self.fail_with(2, "another certificate's key", *run)
        certificate.write_text(own)
        labels = self.folder / "d/party-0/data/labels-idx1-ubyte.gz"
        values = bytearray(gzip.decompress(labels.read_bytes()))
        values[-1] = 10
        labels.write_bytes(gzip.compress(bytes(values)))
        self.fail_with(4, "labels-idx1-ubyte.gz", *run)
        self.assertFalse((self.folder / "r0").exists())

    def test_an_absent_peer_is_named_within_the_start_time(self):
        self.prepare()
        self.edit_party(0, '^start = "[^"]*"', 'start = "1s"')
        self.fail_with(3, "before the start: party", "run", "--config", "d/party-0/party.toml", "--job", "d/job.toml",
                       "--out", "r0", timeout=20)


class Check(Training):
    def check(self, party, *arguments):
        return self.start_program("check", "--config", f"d/party-{party}/party.toml", *arguments)

    def test_passes_when_all_is_well(self):
        self.prepare()
        for process in [self.check(i, "--job", "d/job.toml", "--wait", "20s") for i in PARTIES]:
            stdout, stderr = process.communicate(timeout=PATIENCE)
            self.assertEqual((process.returncode, self.errors(stderr)), (0, ""), stdout)
            # But that so small a job learns little.
        self.assertTrue(all(line.startswith(("pass  ", "warn  job: the noise in a record's logit")) for line in stdout.splitlines()), stdout)

    def test_names_the_first_failure_and_goes_on(self):
        self.prepare()
        (self.folder / "d/party-0/data/labels-idx1-ubyte.gz").unlink()
        process = self.check(0, "--job", "d/job.toml", "--wait", "50ms")
        stdout, stderr = process.communicate(timeout=PATIENCE)
        self.assertEqual(process.returncode, 4, stdout)
        self.assert_one_error_line(stderr, "check failed: data: ")
        self.assertRegex(stdout, r"fail  party 1 at 127\.0\.0\.1:\d+: connection")

    def test_finds_a_wrong_certificate(self):
        self.prepare()
        self.succeed("init", "--party", "1", "--hosts", "a,b,c", "--out", "other")
        peer = self.folder / "d/party-0/peers/party-1.crt"
        peer.write_text((self.folder / "other/party.crt").read_text())
        processes = [self.check(i, "--wait", "3s") for i in PARTIES]
        outputs = [process.communicate(timeout=PATIENCE) for process in processes]
        # Party 2 hears from party 0 that it knows party 1 by another certificate.
        self.assertEqual([process.returncode for process in processes], [3, 3, 2], outputs)
        self.assertRegex(outputs[0][0], r"fail  party 1 at 127\.0\.0\.1:\d+: TLS: ")
        self.assertRegex(outputs[2][0], r"fail  party 0 at \S+: greeting: party 0: knows party 1 by the certificate .*trefoil trust\n")


if __name__ == "__main__":
    unittest.main()
