"""A local error at one party: it ends with one line and its code, and both peers say why, by a reason code, within seconds."""

import os
import pathlib
import re
import resource
import shutil
import signal
import subprocess
import time
import unittest

from trefoil_program import BINARY, PATIENCE, TINY_JOB, ProgramTest, prepared

PARTIES = (0, 1, 2)


class LocalErrors(ProgramTest):
    def setUp(self):
        super().setUp()
        self.job = self.write("job.toml", TINY_JOB.replace("steps = 6", "steps = 3000\ncheckpoint_every = 2"))
        self.succeed("local", "--job", self.job, "--out", "d", *prepared())

    def start(self, party, out=None, limit=None, ignored=None):
        """`limit`: of address space, in bytes. `ignored`: a signal."""
        def prepare():
            if limit:
                resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
            signal.signal(signal.SIGHUP, signal.SIG_DFL)  # these tests may run under nohup themselves
            if ignored:
                signal.signal(ignored, signal.SIG_IGN)

        process = subprocess.Popen(
            [BINARY, "run", "--config", f"d/party-{party}/party.toml", "--job", str(self.job), "--out", str(out or f"r{party}"), "--threads", "1"],
            cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            preexec_fn=prepare)
        self.addCleanup(self.end, process)
        return process

    def wait_for_step(self, party, step, out=None):
        progress = self.folder / (out or f"r{party}") / "progress.csv"
        deadline = time.monotonic() + PATIENCE
        while not progress.exists() or progress.read_text().count("\n") <= step:
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.01)

    def expect(self, processes, odd, code, own, theirs):
        """Party `odd` ends with `code` and `own` on stderr; both peers with code 3 (or its code, of a budget) and `theirs`."""
        begin = time.monotonic()
        outputs = [process.communicate(timeout=PATIENCE) for process in processes]
        self.assertLess(time.monotonic() - begin, 30)
        for party, (process, (_, error)) in enumerate(zip(processes, outputs)):
            own_one = party == odd
            self.assertEqual(process.returncode, code if own_one else (5 if code == 5 else 3), f"party {party}: {error}")
            self.assert_one_error_line(error, own if own_one else theirs)
            if not own_one:
                self.assertRegex(error, rf"party {odd}\b")
        return outputs

    def test_bad_data_is_told_to_peers_that_wait(self):
        labels = next((self.folder / "d/party-1/data").glob("*labels*"))
        shutil.copy(next((self.folder / "d/party-1/data").glob("*images*")), labels)
        processes = [self.start(0), None, self.start(2)]
        time.sleep(1)
        processes[1] = self.start(1)
        begin = time.monotonic()
        self.expect(processes, 1, 4, "labels", "before the start: party 1: aborted: its data is not what the job declares")
        self.assertLess(time.monotonic() - begin, 10)  # of timeouts.start, two minutes

    def test_a_wrong_run_directory_lets_peers_wait(self):
        self.write("occupied", "")
        waiting = self.start(0)
        first = self.start(1, out="occupied")
        self.assertEqual(first.wait(timeout=20), 2)
        others = [self.start(1), self.start(2)]
        self.wait_for_step(0, 3)
        others[0].send_signal(signal.SIGTERM)
        self.expect([waiting, *others], 1, 143, "stopped by signal 15 after step", "aborted: it was told to stop")

    def test_a_signal_is_told(self):
        processes = [self.start(party) for party in PARTIES]
        self.wait_for_step(2, 5)
        processes[2].send_signal(signal.SIGTERM)
        self.expect(processes, 2, 143, "stopped by signal 15 after step", "aborted: it was told to stop")

    def test_a_terminal_that_is_gone_is_told_but_under_nohup(self):
        processes = [self.start(0), self.start(1), self.start(2, ignored=signal.SIGHUP)]
        self.wait_for_step(2, 5)
        processes[2].send_signal(signal.SIGHUP)
        self.wait_for_step(2, 9)
        processes[1].send_signal(signal.SIGHUP)
        self.expect(processes, 1, 129, "stopped by signal 1 after step", "aborted: it was told to stop")

    def test_an_exceeded_budget_is_told(self):
        toml = self.folder / "d/party-2/party.toml"
        toml.write_text(toml.read_text() + '\n[ledger]\nfile = "ledger.jsonl"\nepsilon_cap = 0.5\ndelta = 1e-5\n')
        self.expect([self.start(party) for party in PARTIES], 2, 5, "expected at most the cap 0.5", "its privacy budget does not allow the job")

    @unittest.skipUnless(os.geteuid() == 0, "mounting a small disk needs root")
    def test_a_full_disk_is_told(self):
        disk = self.folder / "disk"
        disk.mkdir()
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=8m", "tmpfs", disk], check=True)
        self.addCleanup(subprocess.run, ["umount", "-l", disk], check=True)
        processes = [self.start(party, out=disk / "run" if party == 0 else None) for party in PARTIES]
        self.wait_for_step(0, 5, out="disk/run")
        with open(disk / "filler", "wb", buffering=0) as filler, self.assertRaises(OSError):
            while True:
                filler.write(bytes(4096))
        self.expect(processes, 0, 1, "No space left on device", "aborted: it cannot write its files")

    def settled_size(self, process):
        """Bytes of address space of one that waits for the others."""
        sizes = [0, 1]
        while sizes[-1] != sizes[-2] or sizes[-1] < 2**20:
            self.assertIsNone(process.poll())
            time.sleep(1)
            status = pathlib.Path(f"/proc/{process.pid}/status").read_text()
            sizes.append(int(re.search(r"VmSize:\s+(\d+) kB", status)[1]) * 1024)
        return sizes[-1]

    @unittest.skipIf(os.environ.get("TREFOIL_SANITIZE"), "a sanitizer reserves more memory than the limit")
    def test_a_lack_of_memory_is_told(self):
        measured = self.start(1, out="measure")
        size = self.settled_size(measured)
        measured.kill()
        measured.wait()
        # Enough to begin; the batches of the steps are too much. Party 1's links come with what is left.
        self.job.write_text(self.job.read_text().replace("rows = [300, 300, 300]", "rows = [40000, 40000, 40000]")
                            .replace("expected_batch = 90", "expected_batch = 60000").replace("max_batch_per_owner = 100", "max_batch_per_owner = 30000"))
        processes = [self.start(party, limit=size + (200 << 20) if party == 1 else None) for party in PARTIES]
        self.expect(processes, 1, 1, "out of memory", "aborted: it is out of memory")


if __name__ == "__main__":
    unittest.main()
