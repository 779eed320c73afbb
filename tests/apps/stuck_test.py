"""A party whose storage hangs in the midst of a run, while its links stand: all three say what they wait for, and a signal ends them."""

import os
import re
import signal
import subprocess
import time
import unittest
import urllib.error
import urllib.request

from trefoil_program import BINARY, TINY_JOB, ProgramTest, free_base_port, prepared

PARTIES = (0, 1, 2)
HANG_AT = os.environ["TREFOIL_HANG_AT_LIBRARY"]
# A step in the middle, of a party whose checkpoint cannot be written.
LINE = re.compile(r"waiting \d+ s for party 1: its link stands")


class Stuck(ProgramTest):
    def setUp(self):
        super().setUp()
        self.job = self.write("job.toml", TINY_JOB.replace("steps = 6", "steps = 40\ncheckpoint_every = 5"))
        self.succeed("local", "--job", self.job, "--out", "d", *prepared())
        self.port = free_base_port()
        for party in PARTIES:
            path = self.folder / f"d/party-{party}/party.toml"
            text, count = re.subn(r'peer = "[^"]*"', 'peer = "2s"', path.read_text())
            self.assertEqual(count, 1)
            path.write_text(f'{text}\n[metrics]\nlisten = "127.0.0.1:{self.port + party}"\n')
        self.gate = self.write("gate", "")
        self.processes = [self.start(party) for party in PARTIES]
        self.wait_for(lambda: all(self.waits(party) for party in (0, 2)), "the others to say that they wait")

    def start(self, party):
        environment = dict(os.environ)
        if party == 1:
            environment.update(LD_PRELOAD=HANG_AT, TREFOIL_HANG_AT=f".sealed:{self.gate}")
        process = subprocess.Popen(
            [BINARY, "run", "--config", f"d/party-{party}/party.toml", "--job", str(self.job), "--out", f"r{party}", "--threads", "1"],
            cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment)
        self.addCleanup(self.end, process)
        return process

    def wait_for(self, condition, what):
        deadline = time.monotonic() + 60
        while not condition():
            self.assertLess(time.monotonic(), deadline, f"waited in vain for {what}")
            time.sleep(0.05)

    def log(self, party):
        path = self.folder / f"r{party}/party.log"
        return path.read_text() if path.exists() else ""

    def waits(self, party):
        return LINE.search(self.log(party)) is not None

    def get(self, party, page):
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.port + party}{page}", timeout=5) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode()

    def test_it_is_named_everywhere_and_the_run_goes_on_when_storage_does(self):
        for party in (0, 2):
            status, text = self.get(party, "/readyz")
            self.assertEqual(status, 503)
            self.assertRegex(text, r"\Awaiting \d+ s for party [012]\n\Z")
            metrics = self.get(party, "/metrics")[1]
            self.assertIn("\ntrefoil_ready 0\n", metrics)
            self.assertGreaterEqual(float(re.search(r'\ntrefoil_waiting_seconds\{peer="1"\} (\S+)', metrics)[1]), 2)
        own = r"writing r1/checkpoint/\d+-\w+\.sealed has taken \d+ s"
        status, text = self.get(1, "/readyz")
        self.assertEqual(status, 503)
        self.assertRegex(text, own)
        self.assertGreaterEqual(float(re.search(r"\ntrefoil_storage_seconds (\S+)", self.get(1, "/metrics")[1])[1]), 2)
        self.assertEqual(self.get(1, "/healthz")[0], 200)
        self.assertRegex(self.log(1), own + ": the storage does not answer")
        self.gate.unlink()
        for process in self.processes:
            _, error = process.communicate(timeout=120)
            self.assertEqual(process.returncode, 0, error)
        self.assertRegex(self.log(0), r"party 1 goes on, after \d+ s or more")

    def test_the_first_signal_ends_a_party_that_waits(self):
        self.processes[0].send_signal(signal.SIGTERM)
        _, error = self.processes[0].communicate(timeout=30)
        self.assertEqual(self.processes[0].returncode, 1, error)
        self.assertRegex(error, r"\Atrefoil: stopped by signal 15 after waiting \d+ s for party 1\n\Z")
        _, error = self.processes[2].communicate(timeout=30)
        self.assertEqual(self.processes[2].returncode, 3, error)
        self.assert_one_error_line(error, "party 0")
        self.assertIsNone(self.processes[1].poll())
        self.gate.unlink()
        _, error = self.processes[1].communicate(timeout=30)
        self.assertEqual(self.processes[1].returncode, 3, error)

    def test_the_first_signal_ends_a_party_whose_storage_hangs(self):
        self.processes[1].send_signal(signal.SIGTERM)
        _, error = self.processes[1].communicate(timeout=30)
        self.assertEqual(self.processes[1].returncode, -signal.SIGTERM, error)
        self.assertRegex(error, r"\Atrefoil: stopped by signal 15 while writing r1/checkpoint/\S+\.sealed had taken \d+ s\n\Z")
        for party in (0, 2):
            _, error = self.processes[party].communicate(timeout=30)
            self.assertEqual(self.processes[party].returncode, 3, error)
            self.assert_one_error_line(error, "aborted: it was told to stop")


if __name__ == "__main__":
    unittest.main()
