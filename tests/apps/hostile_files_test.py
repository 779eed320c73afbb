"""Files that are not what their names promise, and limits of the system: refused in one line, at once, and nothing is waited for."""

import os
import resource
import signal
import subprocess
import time
import unittest

from trefoil_program import BINARY, PATIENCE, TINY_JOB, ProgramTest, prepared

PARTIES = (0, 1, 2)
GIB = 1 << 30


class HostileFiles(ProgramTest):
    def setUp(self):
        super().setUp()
        self.job = self.write("job.toml", TINY_JOB.replace("steps = 6", "steps = 6\ncheckpoint_every = 2"))
        self.succeed("local", "--job", self.job, "--out", "d", *prepared())

    def start(self, *arguments, limits=()):
        """`limits`: pairs of a resource and its limit."""
        def prepare():
            signal.signal(signal.SIGXFSZ, signal.SIG_DFL)  # which Python ignores
            for kind, limit in limits:
                resource.setrlimit(kind, (limit, limit))

        process = subprocess.Popen([BINARY, *map(str, arguments)], cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   preexec_fn=prepare)
        self.addCleanup(self.end, process)
        return process

    def run_arguments(self, party):
        return ("run", "--config", f"d/party-{party}/party.toml", "--job", self.job, "--out", f"r{party}", "--threads", "1")

    def refused(self, code, text, *arguments, limits=()):
        process = self.start(*arguments, limits=limits)
        _, error = process.communicate(timeout=30)
        error = error.decode()
        self.assertEqual(process.returncode, code, error)
        self.assert_one_error_line(error, text)

    def put_pipe(self, name):
        """A named pipe in place of a file of party 0, to which nobody writes; returns what was there."""
        path = self.folder / "d/party-0" / name
        aside = path.with_name(path.name + ".aside")
        path.rename(aside)
        os.mkfifo(path)
        return path, aside

    @unittest.skipIf(os.environ.get("TREFOIL_SANITIZE"), "a sanitizer reserves more memory than the limit")
    def test_a_device_is_no_job(self):
        memory = [(resource.RLIMIT_AS, 4 * GIB)]
        self.refused(2, "/dev/zero: is a device, expected a TOML file", "plan", "--job", "/dev/zero", limits=memory)
        self.refused(2, "/dev/zero: is a device, expected a TOML file", "run", "--config", "/dev/zero", "--job", self.job, limits=memory)
        self.refused(2, "/dev/zero: is a device", "account", "--record", "/dev/zero", "--delta", "1e-5", limits=memory)
        self.refused(2, "/dev/zero: is a device", "ledger", "show", "/dev/zero", limits=memory)

    @unittest.skipIf(os.environ.get("TREFOIL_SANITIZE"), "a sanitizer reserves more memory than the limit")
    def test_text_of_any_length_is_no_job(self):
        path = self.folder / "long.toml"
        path.touch()
        os.truncate(path, 64 * GIB)
        self.refused(2, "long.toml: found 68719476736 bytes, which are more than 16777216, expected a TOML file", "plan", "--job", path,
                     limits=[(resource.RLIMIT_AS, 4 * GIB)])

    def test_a_pipe_is_waited_for_by_nobody(self):
        pipe = "is a named pipe"
        for name, found in {"party.crt": pipe, "peers/party-1.crt": pipe, "party.key": "not a file", "party.toml": pipe}.items():
            with self.subTest(name):
                path, aside = self.put_pipe(name)
                mode = aside.stat().st_mode & 0o777
                path.chmod(mode)
                self.refused(2, f"{name}: {found}", *self.run_arguments(0))
                path.unlink()
                aside.rename(path)
        pipe = self.folder / "pipe"
        os.mkfifo(pipe, 0o600)
        self.refused(2, "pipe: is a named pipe", "plan", "--job", pipe)
        self.refused(2, "pipe: is a named pipe", "trust", "--config", "d/party-0/party.toml", "--peer", "1", pipe)
        self.refused(2, "pipe: is a named pipe", "ledger", "verify", pipe)
        self.refused(2, "pipe: is a named pipe", "account", "--record", pipe, "--delta", "1e-5")
        self.refused(4, "pipe: found something else", "evaluate", "--model", pipe, "--data", "d/party-0/data")
        party = self.folder / "d/party-0/party.toml"
        party.write_text(party.read_text() + f'\n[ledger]\nfile = "{pipe}"\nepsilon_cap = 9.0\ndelta = 1e-5\n')
        self.refused(2, "pipe: is a named pipe", *self.run_arguments(0))

    def test_a_log_follows_no_link(self):
        (self.folder / "r0").mkdir()
        victim = self.write("victim", "of value\n")
        party = self.folder / "d/party-0/party.toml"
        party.write_text(party.read_text().replace('start = "120s"', 'start = "1s"'))
        for make in (lambda log: log.symlink_to(victim), os.mkfifo):
            log = self.folder / "r0/party.log"
            log.unlink(missing_ok=True)
            make(log)
            self.refused(1, "r0/party.log: cannot be written: is a ", *self.run_arguments(0))
        self.assertEqual(victim.read_text(), "of value\n")

    def test_drafts_follow_no_link(self):
        self.succeed("local", "--job", self.job, "--out", "done")
        victim = self.write("victim", "of value\n")
        processes = [self.start(*self.run_arguments(2), "--resume")]
        log = self.folder / "r2/party.log"
        deadline = time.monotonic() + PATIENCE
        while not log.exists() or "waiting for parties" not in log.read_text():  # its directory has been looked at
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.01)
        (self.folder / "r2/progress.csv.part").symlink_to(victim)
        processes += [self.start(*self.run_arguments(party), "--resume") for party in PARTIES[:2]]
        for process in processes:
            _, error = process.communicate(timeout=PATIENCE)
            self.assertEqual(process.returncode, 0, error)
        self.assertEqual(victim.read_text(), "of value\n")

    def test_a_limit_on_the_size_of_files_is_an_error(self):
        processes = [self.start(*self.run_arguments(party), limits=[(resource.RLIMIT_FSIZE, 100_000)] if party == 1 else ())
                     for party in PARTIES]
        errors = [process.communicate(timeout=PATIENCE)[1].decode() for process in processes]
        self.assertEqual([process.returncode for process in processes], [3, 1, 3], errors)
        self.assert_one_error_line(errors[1], "cannot be written: File too large")
        for party in (0, 2):
            self.assert_one_error_line(errors[party], "aborted: it cannot write its files")

    def test_too_few_descriptors_are_named(self):
        for limit in range(8, 13):
            for arguments in (self.run_arguments(0), ("check", "--config", "d/party-0/party.toml", "--job", self.job)):
                self.refused(1, f"open files: found a limit of {limit}, expected at least 256", *arguments,
                             limits=[(resource.RLIMIT_NOFILE, limit)])

    def test_controls_of_a_terminal_are_escaped(self):
        name = "a\u009b31mb.toml"
        process = self.start("plan", "--job", name)
        _, error = process.communicate(timeout=30)
        self.assertEqual(process.returncode, 2)
        self.assertIn(b"a\\u{9b}31mb.toml", error)
        self.assertNotIn("\u009b".encode(), error)
        party = self.folder / "d/party-0/party.toml"
        data = next((self.folder / "d/party-0/data").glob("*images*")).name
        text = party.read_text()
        self.assertIn(data, text)
        for form in ("text", "json"):
            party.write_text(text.replace(data, "no\\u009b31m-such.gz") + f'\n[log]\nformat = "{form}"\nstderr = "info"\n')
            process = self.start(*self.run_arguments(0))
            _, error = process.communicate(timeout=30)
            self.assertEqual(process.returncode, 4, error)
            for shown in (error, (self.folder / "r0/party.log").read_bytes() if (self.folder / "r0/party.log").exists() else b""):
                self.assertNotIn("\u009b".encode(), shown)
            self.assertIn(b"31m-such.gz", error)

    def test_a_certificate_of_another_party_is_noted(self):
        for folder in (self.folder / "d/party-0/peers").iterdir():
            folder.unlink()
        output = self.succeed("trust", "--config", "d/party-0/party.toml", "--peer", "1", "d/party-2/party.crt")
        self.assertIn("warning: its name is party-2, expected party-1 (--peer 1)", output)
        output = self.succeed("trust", "--config", "d/party-0/party.toml", "--peer", "1", "d/party-1/party.crt")
        self.assertNotIn("warning", output)


if __name__ == "__main__":
    unittest.main()
