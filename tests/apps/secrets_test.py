"""Keys in the memory of a running party: in locked pages that no core file gets, and nowhere else."""

import base64
import os
import pathlib
import re
import subprocess
import time
import unittest

from trefoil_program import PATIENCE, TINY_JOB, ProgramTest, prepared

STORAGE_KEY = b"planted-storage-key-of-more-than-32-bytes: correct horse battery staple"


def mappings(pid):
    """First and last address, and flags, of each writable mapping."""
    found = []
    for line in pathlib.Path(f"/proc/{pid}/smaps").read_text().splitlines():
        if match := re.match(r"([0-9a-f]+)-([0-9a-f]+) (\S+) ", line):
            found.append([int(match[1], 16), int(match[2], 16), match[3], set()])
        elif line.startswith("VmFlags:"):
            found[-1][3] |= set(line.split()[1:])
    return [(first, last, flags) for first, last, access, flags in found if access.startswith("rw") or "dd" in flags]


def places_of(pid, secrets):
    """Flags of the mappings in which one of the secrets stands."""
    places = []
    with open(f"/proc/{pid}/mem", "rb", buffering=0) as memory:
        for first, last, flags in mappings(pid):
            try:
                memory.seek(first)
                content = memory.read(last - first)
            except OSError:  # guard pages
                continue
            places += [flags for secret in secrets if secret in content]
    return places


@unittest.skipUnless(os.geteuid() == 0, "reading another process's memory needs root")
@unittest.skipIf(os.environ.get("TREFOIL_SANITIZE"), "a sanitizer maps all addresses and ends the process by itself")
class Secrets(ProgramTest):
    def setUp(self):
        super().setUp()
        self.job = self.write("job.toml", TINY_JOB.replace("steps = 6", "steps = 3000\ncheckpoint_every = 5"))
        self.succeed("local", "--job", self.job, "--out", "d", *prepared())
        (self.folder / "storage.key").write_bytes(STORAGE_KEY)
        (self.folder / "storage.key").chmod(0o600)
        toml = self.folder / "d/party-1/party.toml"
        toml.write_text(toml.read_text() + '\n[storage]\nkey = "../../storage.key"\n')

    def test_keys_are_in_locked_memory_alone(self):
        processes = [self.start_program("run", "--config", f"d/party-{party}/party.toml", "--job", self.job, "--out", f"r{party}") for party in (0, 1, 2)]
        progress = self.folder / "r1/progress.csv"
        deadline = time.monotonic() + PATIENCE
        while not progress.exists() or progress.read_text().count("\n") < 12:
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.01)
        pid = processes[1].pid
        self.assertRegex(pathlib.Path(f"/proc/{pid}/limits").read_text(), r"Max core file size +0 +0 ")
        # The scan sees what is in memory: the job's name is there.
        self.assertNotEqual(places_of(pid, [b'"name":"tiny"']), [])
        self.assertEqual(places_of(pid, [STORAGE_KEY[:24]]), [])  # gone, once the storage key is derived from it
        key = (self.folder / "d/party-1/party.key").read_text()
        body = key.split("-----")[2].strip().splitlines()
        der = base64.b64decode("".join(body))
        scalar = re.search(rb"\x04\x20(.{32})\xa1", der, re.S)[1]  # RFC 5915: privateKey of 32 bytes, before publicKey
        for secrets in ([line.encode()[8:56] for line in body[:2]], [scalar, scalar[::-1]]):
            for flags in places_of(pid, secrets):
                self.assertLessEqual({"lo", "dd"}, flags)
        # Shares, records and what else it has are kept from swap space, since root may lock as much as it likes.
        written = [flags for _, _, flags in mappings(pid) if "wr" in flags]
        self.assertGreater(len(written), 10)
        self.assertEqual([flags for flags in written if "lo" not in flags], [])
        for process in processes:
            process.kill()

    def test_no_core_file_is_written(self):
        process = self.start_program("run", "--config", "d/party-2/party.toml", "--job", self.job, "--out", "r2")
        time.sleep(0.5)
        subprocess.run(["kill", "-SEGV", str(process.pid)], check=True)
        self.assertLess(process.wait(timeout=20), 0)
        self.assertEqual(list(self.folder.glob("**/core*")), [])


if __name__ == "__main__":
    unittest.main()
