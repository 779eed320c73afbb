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
LINE = re.compile(r"waiting \d+ s for party (\d): its link stands")


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
        self.wait_for(lambda: all(self.waits_for(party) for party in (0, 2)), "the others to say that they wait")
        # One of them may wait for the other, which waits for party 1.
        self.wait_for(lambda: any("1" in self.waits_for(party) for party in (0, 2)), "party 1 to be named")
        self.first = 0 if "1" in self.waits_for(0) else 2
        self.second = 2 - self.first

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

    def waits_for(self, party):
        """The peers that its log says it waits for."""
        return set(LINE.findall(self.log(party)))

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
            self.assertIn("\ntrefoil_ready 0\n", self.get(party, "/metrics")[1])
        waiting = re.search(r'\ntrefoil_waiting_seconds\{peer="1"\} (\S+)', self.get(self.first, "/metrics")[1])
        self.assertGreaterEqual(float(waiting[1]), 2)
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
        self.assertRegex(self.log(self.first), r"party 1 goes on, after \d+ s or more")

    def test_the_first_signal_ends_a_party_that_waits(self):
        first, second = self.processes[self.first], self.processes[self.second]
        first.send_signal(signal.SIGTERM)
        _, error = first.communicate(timeout=30)
        self.assertEqual(first.returncode, 1, error)
        self.assertRegex(error, r"\Atrefoil: stopped by signal 15 after waiting \d+ s for party [012]\n\Z")
        _, error = second.communicate(timeout=30)
        self.assertEqual(second.returncode, 3, error)
        self.assert_one_error_line(error, f"party {self.first}")
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
