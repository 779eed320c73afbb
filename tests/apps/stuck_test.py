"""A party whose storage hangs in the midst of a run, while its links stand: all three say what they wait for, and a signal ends them, also
where the party is the first process of a container."""

import contextlib
import os
import pathlib
import re
import signal
import subprocess
import time
import unittest
import urllib.error
import urllib.request

from trefoil_program import BINARY, PATIENCE, TINY_JOB, ProgramTest, free_base_port, prepared

PARTIES = (0, 1, 2)
HANG_AT = os.environ["TREFOIL_HANG_AT_LIBRARY"]
LINE = re.compile(r"waiting \d+ s for party (\d): its link stands")
AS_FIRST_PROCESS = ("unshare", "--pid", "--fork", "--kill-child")


def may_unshare():
    try:
        return subprocess.run([*AS_FIRST_PROCESS, "true"], capture_output=True).returncode == 0
    except FileNotFoundError:
        return False


class Hanging(ProgramTest):
    """Three parties, of which party 1 hangs at its first checkpoint, as long as the file `gate` is there."""

    def prepare(self, peer_timeout):
        self.job = self.write("job.toml", TINY_JOB.replace("steps = 6", "steps = 40\ncheckpoint_every = 5"))
        self.succeed("local", "--job", self.job, "--out", "d", *prepared())
        self.port = free_base_port()
        for party in PARTIES:
            path = self.folder / f"d/party-{party}/party.toml"
            text, count = re.subn(r'peer = "[^"]*"', f'peer = "{peer_timeout}"', path.read_text())
            self.assertEqual(count, 1)
            path.write_text(f'{text}\n[metrics]\nlisten = "127.0.0.1:{self.port + party}"\n')
        self.gate = self.write("gate", "")

    def start(self, party, through=(), shown=subprocess.PIPE):
        environment = dict(os.environ)
        if party == 1:
            environment.update(LD_PRELOAD=HANG_AT, TREFOIL_HANG_AT=f".sealed:{self.gate}")
        process = subprocess.Popen(
            [*through, BINARY, "run", "--config", f"d/party-{party}/party.toml", "--job", str(self.job), "--out", f"r{party}", "--threads", "1"],
            cwd=self.folder, stdout=shown, stderr=shown, text=True, env=environment)
        self.addCleanup(self.end, process)
        return process

    def wait_for(self, condition, what):
        deadline = time.monotonic() + PATIENCE
        while not condition():
            self.assertLess(time.monotonic(), deadline, f"waited in vain for {what}")
            time.sleep(0.05)

    def log(self, party):
        path = self.folder / f"r{party}/party.log"
        return path.read_text() if path.exists() else ""

    def waits_for(self, party):
        """The peers that its log says it waits for."""
        return set(LINE.findall(self.log(party)))


class Stuck(Hanging):
    def setUp(self):
        super().setUp()
        self.prepare("2s")
        self.processes = [self.start(party) for party in PARTIES]
        self.wait_for(lambda: all(self.waits_for(party) for party in (0, 2)), "the others to say that they wait")
        # One of them may wait for the other, which waits for party 1.
        self.wait_for(lambda: any("1" in self.waits_for(party) for party in (0, 2)), "party 1 to be named")
        self.first = 0 if "1" in self.waits_for(0) else 2
        self.second = 2 - self.first

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
            _, error = process.communicate(timeout=PATIENCE)
            self.assertEqual(process.returncode, 0, error)
        self.assertRegex(self.log(self.first), r"party 1 goes on, after \d+ s or more")

    def test_the_first_signal_ends_a_party_that_waits(self):
        first, second = self.processes[self.first], self.processes[self.second]
        first.send_signal(signal.SIGTERM)
        _, error = first.communicate(timeout=30)
        self.assertEqual(first.returncode, 143, error)
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


class NobodyReads(Hanging):
    """Party 1 writes to a pipe that is full from the beginning, and that nobody reads."""

    def test_the_run_goes_on_and_the_log_says_so(self):
        self.prepare("60s")
        self.gate.unlink()
        with (self.folder / "d/party-1/party.toml").open("a") as file:
            file.write('\n[log]\nstderr = "debug"\n')
        reader, writer = os.pipe()
        self.addCleanup(os.close, reader)
        os.set_blocking(writer, False)
        for size in (4096, 1):
            with contextlib.suppress(BlockingIOError):
                while True:
                    os.write(writer, b"." * size)
        os.set_blocking(writer, True)
        processes = [self.start(party, shown=writer if party == 1 else subprocess.PIPE) for party in PARTIES]
        os.close(writer)
        for process in processes:
            _, error = process.communicate(timeout=PATIENCE)
            self.assertEqual(process.returncode, 0, error)
        for stream in ("output", "error"):
            self.assertRegex(self.log(1), f"standard {stream} is not read: lines are missing there")
        self.assertNotIn("is not read", self.log(0))


class SecondSignal(Hanging):
    through = ()
    ended_by_signal = -signal.SIGTERM

    def begin(self, party):
        """Starts a party, whose process is `self.party` then; what is returned ends with its code."""
        process = self.start(party, self.through)
        self.party = process.pid
        if self.through:
            children = pathlib.Path(f"/proc/{process.pid}/task/{process.pid}/children")
            self.wait_for(children.read_text, "unshare to start the party")
            self.party = int(children.read_text())
        return process

    def hang(self, peer_timeout):
        self.prepare(peer_timeout)
        others = [self.start(0), self.start(2)]
        process = self.begin(1)
        self.wait_for(lambda: list((self.folder / "r1").glob("checkpoint/*.sealed*")), "the first checkpoint")
        time.sleep(0.5)
        return process, others

    def assert_ended(self, process, error):
        _, found = process.communicate(timeout=30)
        self.assertEqual(process.returncode, self.ended_by_signal, found)
        self.assertRegex(found, error)

    def test_it_ends_a_party_at_once(self):
        process, others = self.hang("60s")
        os.kill(self.party, signal.SIGTERM)
        time.sleep(0.5)
        self.assertIsNone(process.poll())
        os.kill(self.party, signal.SIGTERM)
        self.assert_ended(process, r"\A\Z")
        for other in others:
            _, error = other.communicate(timeout=30)
            self.assertEqual(other.returncode, 3, error)

    def test_a_call_that_does_not_come_back_is_ended_as_by_the_second(self):
        process, _ = self.hang("2s")
        self.wait_for(lambda: "the storage does not answer" in self.log(1), "the storage to be named")
        os.kill(self.party, signal.SIGTERM)
        self.assert_ended(process, r"\Atrefoil: stopped by signal 15 while writing \S+ had taken \d+ s\n\Z")

    def test_while_it_waits_for_the_others_the_first_suffices(self):
        self.prepare("2s")
        process = self.begin(1)
        self.wait_for(lambda: "waiting for parties" in self.log(1), "party 1 to wait")
        os.kill(self.party, signal.SIGTERM)
        self.assert_ended(process, r"\A\Z")


@unittest.skipUnless(may_unshare(), "a namespace of processes needs root")
class SecondSignalInAContainer(SecondSignal):
    through = AS_FIRST_PROCESS
    ended_by_signal = 128 + signal.SIGTERM


if __name__ == "__main__":
    unittest.main()
