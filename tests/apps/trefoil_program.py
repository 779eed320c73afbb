"""Runs the program `trefoil` for the end-to-end tests. Its path is in the environment variable TREFOIL_BINARY."""

import json
import os
import pathlib
import re
import subprocess
import tempfile
import time
import unittest

from free_ports import free_base_port

BINARY = os.environ["TREFOIL_BINARY"]
PROJECT = pathlib.Path(__file__).resolve().parents[2]
# Seconds that something is waited for which comes: minutes under a sanitizer on a machine that does other work.
PATIENCE = 800

# Small enough for a few seconds under a sanitizer: generated digits, a handful of steps.
TINY_JOB = """
version = 1
type = "dpsgd"
name = "tiny"
[data]
name = "digits"
format = "idx"
rows = [300, 300, 300]
features = 784
classes = 10
scale = 255.0
[training]
steps = 6
expected_batch = 90
max_batch_per_owner = 100
learning_rate = 20.0
[privacy]
sigma = 2.0
delta = 1e-5
clip = 0.5
"""


def prepared():
    """Options of `local` for three parties that a test starts by itself, at ports that are free."""
    return "--prepare", "--base-port", str(free_base_port())


class ProgramTest(unittest.TestCase):
    """A folder for each test, and ways to run the program in it."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="trefoil-test-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def run_program(self, *arguments, timeout=PATIENCE, environment=None):
        return subprocess.run(
            [BINARY, *map(str, arguments)],
            cwd=self.folder,
            capture_output=True,
            text=True,
            timeout=timeout,
            env={**os.environ, **(environment or {})},
        )

    def start_program(self, *arguments, environment=None):
        process = subprocess.Popen(
            [BINARY, *map(str, arguments)],
            cwd=self.folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, **(environment or {})},
        )
        self.addCleanup(self.end, process)
        return process

    @staticmethod
    def end(process):
        if process.poll() is None:
            process.kill()
        process.communicate()

    @staticmethod
    def finish(processes):
        """Codes of processes that come to their end, and what each has said: output, errors."""
        outputs = [process.communicate(timeout=PATIENCE) for process in processes]
        return [process.returncode for process in processes], outputs

    def last_step(self, party):
        """The last step that party has finished in its newest session, by the whole lines of r0 to r2/progress.csv."""
        path = self.folder / f"r{party}/progress.csv"
        lines = path.read_text().rpartition("\n")[0].splitlines() if path.exists() else []
        return int(lines[-1].split(",")[0]) if len(lines) > 1 else 0

    def lose_a_party(self, victim, job, step):
        """Parties of d/party-0 to 2, the victim of which is killed after that step: codes, and what each has said."""
        parties = [self.start_program("run", "--config", f"d/party-{party}/party.toml", "--job", job, "--out", f"r{party}")
                   for party in range(3)]
        deadline = time.monotonic() + PATIENCE
        while self.last_step(victim) < step:
            self.assertLess(time.monotonic(), deadline)
            self.assertIsNone(parties[victim].poll())
            time.sleep(0.01)
        parties[victim].kill()
        return self.finish(parties)

    def succeed(self, *arguments, **keywords):
        result = self.run_program(*arguments, **keywords)
        self.assertEqual(result.returncode, 0, result.stderr)
        return result.stdout

    def fail_with(self, code, text, *arguments, **keywords):
        """The program ends with this code and says one line on stderr, which contains `text`."""
        result = self.run_program(*arguments, **keywords)
        self.assertEqual(result.returncode, code, result.stdout + result.stderr)
        self.assert_one_error_line(result.stderr, text)

    def summary(self, folder="run"):
        """All that a run's summary says, in one level: what every job's has, and what the job's type adds."""
        summary = json.loads((self.folder / folder / "summary.json").read_text())
        return {**summary, **summary["privacy"], **summary["cost"], **summary["results"][summary["type"]]}

    def assert_promises(self, folder, unit, neighbours, sentence, warnings=0):
        """The record there says whom its epsilons are for, and `account` what the record says."""
        path = self.folder / folder / "record.json"
        record = json.loads(path.read_text())
        self.assertEqual((record["unit"], record["neighbours"], len(record["warnings"])), (unit, neighbours, warnings))
        account = ("account", "--record", path, "--delta", "1e-5")
        told = json.loads(self.succeed(*account, "--json"))
        self.assertEqual((told["unit"], told["neighbours"], told["warnings"]), (unit, neighbours, record["warnings"]))
        text = self.succeed(*account)
        self.assertIn(f"unit              {unit}\nneighbours        {neighbours}\n", text)
        self.assertIn(sentence, " ".join(text.split()))
        for warning in record["warnings"]:
            self.assertIn(warning, " ".join(text.split()))

    @staticmethod
    def errors(stderr):
        """What is on stderr beside warnings to the owner of the data."""
        return re.sub(r"(?m)^warning to the owner alone: .*\n", "", stderr)

    def assert_one_error_line(self, stderr, text):
        stderr = self.errors(stderr)
        self.assertEqual(stderr.count("\n"), 1, stderr)
        self.assertTrue(stderr.startswith("trefoil: "), stderr)
        self.assertIn(text, stderr)

    def write(self, name, text):
        path = self.folder / name
        path.write_text(text)
        return path
