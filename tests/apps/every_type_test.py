"""What holds for every type of job: it is planned, checked, run and reported alike, and says what it cannot do."""

import hashlib
import json
import os
import pathlib
import random
import re
import signal
import time
import unittest
import urllib.error
import urllib.request

from account_votes_test import npy
from average_test import JOB as AVERAGE_JOB
from features_test import dense_model
from histogram_test import JOB as HISTOGRAM_JOB
from kept_models import PREDICT_JOB
from least_squares_test import JOB as SQUARES_JOB
from pate_test import JOB as PATE_JOB
from statistics_test import JOB as STATISTICS_JOB
from taught_parties import JOB as TAUGHT_JOB
from sum_test import JOB as SUM_JOB
from transfer_test import JOB as TRANSFER_JOB
from tune_test import JOB as TUNE_JOB
from trefoil_program import PATIENCE, TINY_JOB, ProgramTest, free_base_port, prepared

PARTIES = (0, 1, 2)
NOBODY = ("--set", "release.to=[]")
STOP_LIBRARY = os.environ.get("TREFOIL_STOP_LIBRARY")


def points(header, labels, rows):
    """A table of two numbers and a label."""
    source = random.Random(2)
    pairs = [(source.uniform(-0.6, 0.6), source.uniform(-0.6, 0.6)) for _ in range(rows)]
    return (header + "".join(f"{a:.3f},{b:.3f},{labels[int(a > b)]}\n" for a, b in pairs)).encode()


VOTES = [[(teacher + query) % 3 for query in range(40)] for teacher in range(7)]
ROWS = [(k % 7 / 10, k % 5 / 10) for k in range(60)]
# A job of each type, and its data; a second one of a type that can train by itself.
JOBS = {
    "dpsgd": (TINY_JOB, None),
    "histogram": (HISTOGRAM_JOB, {"train.csv": b"id,colour\n" + b"1,red\n2,blue\n" * 30}),
    "pate": (PATE_JOB.replace("classes = 3", 'classes = 3\nmechanism = "gnmax"\nsigma = 40.0'),
             {"predictions.npy": npy(VOTES), "queries.csv": b"1\n" * 40}),
    "pate-taught": (TAUGHT_JOB, {"train.csv": points("a,b,y\n", "pq", 180), "test.csv": points("a,b,y\n", "pq", 60)}),
    "classifier-average": (AVERAGE_JOB + "[local]\nowner_rows = [30, 40, 50]\n",
                           {name: points("a,b,c\n", ("no", "yes"), 120) for name in ("train.csv", "test.csv")}),
    "ensemble-transfer": (TRANSFER_JOB, {"queries.npy": npy(ROWS, "<f8", "d"),
                                         "predictions.npy": npy([[int(a > b) for a, b in ROWS]] * 9)}),
    "sum": (SUM_JOB.replace('name = "sums"\nrows', 'name = "vectors"\nrows'), None),  # of generated vectors
    "least-squares": (SQUARES_JOB.replace("[features]\nrow_norm = 2.0\n", ""),
                      {name: points("a,b,c\n", ("no", "yes"), 120) for name in ("train.csv", "test.csv")}),
    "tune": (TUNE_JOB, {name: points("a,b,c\n", ("no", "yes"), rows) for name, rows in (("train.csv", 180), ("test.csv", 60))}),
    "statistics": (STATISTICS_JOB, {"train.csv": b"age,hours,colour\n" + b"31,?,red\n62,17,green\n" * 30}),
    "predict": (None, None),  # of rows by a model that a run before has kept
}
WITH_FEATURES = {"dpsgd": 784, "pate-taught": 2, "classifier-average": 2, "least-squares": 2, "tune": 2}  # how many numbers a record has


class EveryType(ProgramTest):
    def each(self, check):
        """Calls `check` for each type: its name, its job file, and the options by which `local` finds what the job is about."""
        for name, (job, files) in JOBS.items():
            with self.subTest(name):
                folder = self.folder / f"{name}-data"
                options = ("--data", folder) if files else ()
                if files:
                    folder.mkdir()
                    for file, content in files.items():
                        (folder / file).write_bytes(content)
                if name == "predict":
                    job, options = self.kept_model()
                check(name, self.write(f"{name}.toml", job), options)

    def kept_model(self):
        training = self.write("training.toml", TINY_JOB.replace("steps = 6", "steps = 1"))
        self.succeed("local", "--job", training, "--out", "kept", *NOBODY)
        run = json.loads((self.folder / "kept/record.json").read_text())["run_id"]
        images = next((self.folder / "kept/party-1/data").glob("*images*"))
        return PREDICT_JOB.format(run=run, client=1, rows=300, scores="false"), ("--model", "kept", "--data", images)

    def test_these_are_all_types(self):
        error = self.run_program("plan", "--job", self.write("none.toml", TINY_JOB.replace('"dpsgd"', '"none"'))).stderr
        self.assertEqual(set(re.findall(r'"([a-z-]+)"', error)), {"none"} | {name.partition("-taught")[0] for name in JOBS}, error)

    def test_is_planned(self):
        def check(name, job, _):
            made = ("--model-job", "kept/job.toml") if name == "predict" else ()
            plan = json.loads(self.succeed("plan", "--job", job, "--json", *made))
            self.assertRegex(plan["job_hash"], r"^[0-9a-f]{64}$")
            self.assertGreater(plan["memory_bytes"], 0)
            self.assertGreater(plan["run_costs"][0]["rounds"], 0)
            text = self.succeed("plan", "--job", job, *made, "--rtt-ms", 10, "--mbit", 100)
            self.assertRegex(text, rf"^Plan of job {plan['job']}: .*; nothing was run\.\n\n")
            self.assertRegex(text, r"(?m)^The run.*: .*\d+ rounds; the parties send .*; about .* on this link$")
            if name != "predict":
                self.assertRegex(text, r"(?m)^Epsilon, outsider ")
                self.fail_with(2, "--model-job: found", "plan", "--job", job, "--model-job", job)

        self.each(check)

    def test_runs_is_checked_and_is_reported(self):
        def check(name, job, options):
            output = self.succeed("local", "--job", job, "--out", name, "--threads", 1, *options)
            self.assertRegex(output, r"^job \S+: ")
            summary = json.loads((self.folder / name / "summary.json").read_text())
            self.assertEqual((summary["version"], summary["type"]), (2, name.partition("-taught")[0]))
            self.assertEqual(list(summary["results"]), [summary["type"]])
            for folder in (name, f"{name}/party-1/out"):
                self.assertEqual(self.succeed("report", folder), f"report {folder}/report.html\n")
            checked = self.run_program("check", "--config", f"{name}/party-1/party.toml", "--job", job, "--wait", "50ms").stdout
            self.assertNotRegex(checked, r"(?m)^fail  (?!party )")
            for line in ("job: .*, hash ", "memory: .* free", "disk of this folder: "):
                self.assertRegex(checked, "(?m)^pass  " + line)
            # None of these has anything to go on from, and a run that has ended least of all.
            self.fail_with(2, "--resume: found a job without ", "local", "--job", job, "--resume", "--out", name)
            self.fail_with(2, "--resume: found a job without ", "run", "--config", f"{name}/party-1/party.toml", "--job", job,
                           "--resume", "--out", f"{name}/party-1/out")
            self.fail_with(2, "found a folder that is not empty", "local", "--job", job, "--out", name, *options)
            if name != "predict":
                self.fail_with(2, "--model: found kept, expected none", "local", "--job", job, "--out", "none", "--model", "kept", *options)
            self.assertFalse((self.folder / "none").exists())

        self.each(check)

    def test_takes_a_model_of_features_where_it_extracts_them(self):
        def check(name, job, options):
            width = WITH_FEATURES.get(name)
            model = self.folder / "features.onnx"
            model.write_bytes(dense_model(width or 2, 3))
            given = ("--feature-model", model)
            self.fail_with(2, "--feature-model: found a model, expected none", "local", "--job", job, "--out", "none", *given, *options)
            if not width:
                return
            digest = hashlib.sha256(model.read_bytes()).hexdigest()
            text = job.read_text() + f'\n[features]\nmethod = "onnx"\noutputs = 3\nmodel_sha256 = "{digest}"\n'
            onnx = ("local", "--job", self.write("onnx.toml", text), "--out", f"{name}-onnx", *options)
            self.fail_with(2, "--feature-model: missing", *onnx)
            result = self.run_program(*onnx, *given)
            if "TREFOIL_ONNX" in result.stderr:
                self.skipTest("built without OpenCV (TREFOIL_ONNX)")
            self.assertEqual(result.returncode, 0, result.stderr)
            for party in PARTIES:
                self.assertEqual((self.folder / f"{name}-onnx/party-{party}/data/features.onnx").read_bytes(), model.read_bytes())
            summary = json.loads((self.folder / f"{name}-onnx/summary.json").read_text())
            self.assertIsNotNone(summary["results"][summary["type"]]["accuracy"])

        self.each(check)

    @unittest.skipUnless(STOP_LIBRARY, "a party is stopped by a library that cannot be loaded before a sanitizer's")
    def test_metrics_have_its_epsilon(self):
        """Party 2 is stopped before it keeps its record, and so before anything is opened; what the others have charged is there."""
        def check(name, job, options):
            if name == "predict":
                return  # whose epsilon is that of the model
            self.succeed("local", "--job", job, "--out", f"{name}-parties", *options, *prepared())
            port = free_base_port()
            with open(self.folder / f"{name}-parties/party-1/party.toml", "a") as file:
                file.write(f'\n[metrics]\nlisten = "127.0.0.1:{port}"\n')
            stop = {"LD_PRELOAD": STOP_LIBRARY, "TREFOIL_STOP_AT": "rename:record.json"}
            processes = [self.start_program("run", "--config", f"{name}-parties/party-{i}/party.toml", "--job", job, "--out", f"{name}-{i}",
                                            environment=stop if i == 2 else {}) for i in PARTIES]
            self.assertGreater(self.epsilon_at(port, processes[1]), 0)
            while pathlib.Path(f"/proc/{processes[2].pid}/stat").read_text().rpartition(")")[2].split()[0] not in "TZ":
                time.sleep(0.01)
            processes[2].send_signal(signal.SIGCONT)
            for process in processes:
                said = process.communicate(timeout=PATIENCE)[1].splitlines()
                self.assertEqual([line for line in said if not line.startswith("warning to the owner alone: ")], [])

        self.each(check)

    @unittest.skipUnless(STOP_LIBRARY, "a party is stopped by a library that cannot be loaded before a sanitizer's")
    def test_gives_nobody_a_result_before_all_three_have_charged_it(self):
        """Party 1 alone is to get it, which needs one message of party 0; party 2 dies before its record is kept."""
        def check(name, job, options):
            if name in ("dpsgd", "predict"):
                return  # steps are charged before they are done; predictions are their model's
            self.succeed("local", "--job", job, "--out", f"{name}-three", *options, *prepared(), "--set", "release.to=[1]")
            stop = {"LD_PRELOAD": STOP_LIBRARY, "TREFOIL_STOP_AT": "rename:record.json"}
            processes = [self.start_program("run", "--config", f"{name}-three/party-{i}/party.toml", "--job", f"{name}-three/job.toml",
                                            "--out", f"{name}-of-{i}", environment=stop if i == 2 else {}) for i in PARTIES]
            while pathlib.Path(f"/proc/{processes[2].pid}/stat").read_text().rpartition(")")[2].split()[0] not in "TZ":
                time.sleep(0.01)
            processes[2].kill()
            outputs = [process.communicate(timeout=PATIENCE) for process in processes]
            self.assertEqual([process.returncode for process in processes], [3, 3, -9], outputs)
            self.assertFalse((self.folder / f"{name}-of-1/summary.json").exists(), outputs)

        self.each(check)

    @staticmethod
    def epsilon_at(port, process):
        """The insider's, as soon as it is not zero; or when the process has ended."""
        epsilon = 0.0
        while epsilon == 0 and process.poll() is None:
            time.sleep(0.01)
            try:
                with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=5) as answer:
                    epsilon = float(re.search(r'trefoil_epsilon\{adversary="insider"\} (\S+)', answer.read().decode())[1])
            except (urllib.error.URLError, ConnectionError):
                pass
        return epsilon


if __name__ == "__main__":
    unittest.main()
