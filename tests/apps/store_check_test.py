"""Three parties check their deposits on shares: `trefoil store check`."""

import os
import re
import signal
import subprocess
import time
import unittest

from deposit_files import change_rows, key_of, opened
from owners_test import HOSTS, JOB, TABLE
from trefoil_program import BINARY, ProgramTest, free_base_port

HANG_AT = os.environ.get("TREFOIL_HANG_AT_LIBRARY")
FEATURES, ROW = 3, 3 * 3 + 2 * 8  # age, two wards; of 19 bits in three bytes each, then mask bit and label


def plus(content, at, length, number):
    """Component 2 with one of its numbers, of `length` bytes at byte `at`, made larger."""
    value = (int.from_bytes(content[at:at + length], "little") + number) % (1 << (64 if length == 8 else 19))
    return content[:at] + value.to_bytes(length, "little") + content[at + length:]


class StoreCheck(ProgramTest):
    def setUp(self):
        super().setUp()
        self.succeed("init", "--all", "--hosts", HOSTS, "--base-port", str(free_base_port()), "--out", "d")
        self.succeed("owner", "init", "--out", "o")
        self.write("job.toml", JOB)
        self.write("t.csv", TABLE)
        keys = [f"d/party-{party}/deposit.pub" for party in range(3)]
        self.succeed("study", "init", "--job", "job.toml", "--keys", *keys, "--out", "study.toml")
        for party in range(3):
            self.succeed("trust-owner", "--config", f"d/party-{party}/party.toml", "--name", "hospital", "o/owner.pub")
        self.secrets = [key_of(self.folder / f"d/party-{party}/deposit.key") for party in range(3)]

    def deposit(self, out, capacity=10):
        output = self.succeed("deposit", "--study", "study.toml", "--key", "o/owner.key", "--in", "t.csv", "--capacity", str(capacity), "--adds",
                              "--out", out)
        return re.search(r"(?m)^deposit ([0-9a-f]{64})$", output)[1]

    def accept(self, out, parties=range(3)):
        for party in parties:
            output = self.succeed("accept", "--config", f"d/party-{party}/party.toml", "--study", "study.toml", f"{out}/party-{party}.deposit")
        return re.search(r"taken: deposit (\w+) of", output)[1]

    def check(self, studies=("study.toml",) * 3):
        """Code, output and errors of each party that has a study."""
        processes = [self.start_program("store", "check", "--config", f"d/party-{party}/party.toml", "--study", study, "--threads", "1")
                     for party, study in enumerate(studies)]
        outputs = [process.communicate(timeout=120) for process in processes]
        return [(process.returncode, *output) for process, output in zip(processes, outputs, strict=True)]

    def test_rows_of_honest_owners_are_taken(self):
        self.assertEqual(self.check(), [(0, "0 deposits checked on shares\n", "")] * 3)
        ids = sorted([self.deposit("a"), self.deposit("b", capacity=200)])
        for out in "ab":
            self.accept(out)
        lines = "".join(f"{deposit_id}  hospital  rows within the study's bounds\n" for deposit_id in ids)
        self.assertEqual(self.check(), [(0, lines + "2 deposits checked on shares\n", "")] * 3)

    def test_what_a_hostile_owner_signs_is_named(self):
        fates = {self.deposit("honest"): "rows"}
        self.accept("honest")
        mask, label = FEATURES * 3, FEATURES * 3 + 8
        for out, at, length, number in (("weight", mask, 8, 2), ("scaled", mask, 8, 1 << 48), ("label", label, 8, 2), ("top", label, 8, 1 << 63),
                                        ("long", 0, 3, 1 << 17), ("range", 3, 3, 1 << 18)):
            self.deposit(out)
            change_rows(self.folder / out, self.secrets, key_of(self.folder / "o/owner.key"), lambda words: plus(words, at + ROW, length, number))
            fates[self.accept(out)] = "REFUSED:"
        for code, output, error in self.check():
            self.assertEqual((code, error), (4, ""))
            self.assertEqual({line.split()[0]: line.split()[2] for line in output.splitlines()[:-1]}, fates)

    def test_what_the_parties_have_not_in_common_is_named(self):
        self.deposit("a")
        self.deposit("b")
        self.accept("a")
        missing = self.accept("b", parties=(0, 1))
        for code, output, error in self.check():
            self.assertEqual((code, output), (2, ""))
            self.assert_one_error_line(error, f"deposit {missing}: not in the store of party 2")
        for party in (0, 1):
            self.succeed("store", "set-aside", "--config", f"d/party-{party}/party.toml", missing)
        for code, output, error in self.check():
            self.assertEqual((code, error), (0, ""))
            self.assertIn("1 deposits checked on shares\n", output)
        self.succeed("study", "init", "--job", "job.toml", "--set", "fraction_bits=15", "--keys", *(f"d/party-{k}/deposit.pub" for k in range(3)),
                     "--out", "other.toml")
        results = self.check(("study.toml", "other.toml"))  # who finds out first tells the other, or ends before
        self.assertNotIn(0, [code for code, _, _ in results], results)
        self.assertTrue(any(code == 2 and "trefoil: study: " in error for code, _, error in results), results)

    def stand_still(self):
        """The three processes, of which party 1 writes to a disk that hangs, its links standing, and the one that says that it waits for
        party 1. The disk answers once self.gate is gone."""
        for out in "ab":
            self.deposit(out)
            self.accept(out)
        self.gate = self.write("gate", "")
        processes = []
        for party in range(3):
            path = self.folder / f"d/party-{party}/party.toml"
            text, count = re.subn(r'peer = "[^"]*"', 'peer = "2s"', path.read_text())
            self.assertEqual(count, 1)
            path.write_text(text)
            environment = dict(os.environ, LD_PRELOAD=HANG_AT, TREFOIL_HANG_AT=f"/out1:{self.gate}") if party == 1 else None
            with open(self.folder / f"out{party}", "wb") as out, open(self.folder / f"err{party}", "wb") as err:
                processes.append(subprocess.Popen(
                    [BINARY, "store", "check", "--config", path, "--study", "study.toml", "--threads", "1"], cwd=self.folder,
                    stdout=out, stderr=err, env=environment))
            self.addCleanup(self.end, processes[-1])
        deadline = time.monotonic() + 120
        while True:
            for party in (0, 2):
                if re.search(r"(?m)^warning: waiting \d+ s for party 1: its link stands", self.errors_of(party)):
                    return processes, party
            self.assertLess(time.monotonic(), deadline, [self.errors_of(party) for party in range(3)])
            time.sleep(0.05)

    def errors_of(self, party):
        return (self.folder / f"err{party}").read_text()

    @unittest.skipUnless(HANG_AT, "sanitizers must be the first library of a process")
    def test_a_silent_peer_is_named_and_the_check_goes_on_when_it_does(self):
        processes, _ = self.stand_still()
        self.gate.unlink()
        self.assertEqual([process.wait(timeout=120) for process in processes], [0] * 3)
        for party in (0, 2):
            self.assertIn("2 deposits checked on shares", (self.folder / f"out{party}").read_text())

    @unittest.skipUnless(HANG_AT, "sanitizers must be the first library of a process")
    def test_one_signal_ends_a_check_that_waits_and_the_others_are_told(self):
        processes, waits = self.stand_still()
        processes[waits].send_signal(signal.SIGTERM)
        self.assertEqual(processes[waits].wait(timeout=60), 128 + signal.SIGTERM)
        self.assertEqual(processes[2 - waits].wait(timeout=60), 3)
        self.assertIn(f"party {waits}: aborted: it was told to stop", self.errors_of(2 - waits))
        self.gate.unlink()
        self.assertEqual(processes[1].wait(timeout=60), 3)

    def test_a_damaged_store_is_named_before_the_peers_are_met(self):
        self.deposit("a")
        self.accept("a")
        body, = (self.folder / "d/party-1/deposits/bodies").iterdir()
        content = body.read_bytes()
        body.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
        self.fail_with(4, f"{body.name}: cannot be opened", "store", "check", "--config", "d/party-1/party.toml", "--study", "study.toml")

    def test_a_changed_deposit_is_right_but_for_what_was_changed(self):
        self.deposit("a")
        paths = [self.folder / f"a/party-{party}.deposit" for party in range(3)]
        before = [opened(path, secret)[2] for path, secret in zip(paths, self.secrets, strict=True)]
        change_rows(self.folder / "a", self.secrets, key_of(self.folder / "o/owner.key"), lambda words: plus(words, 0, 3, 1))
        after = [opened(path, secret)[2] for path, secret in zip(paths, self.secrets, strict=True)]
        for party in range(3):
            for number, component in before[party].items():
                self.assertEqual(after[party][number] != component, number == 2)


if __name__ == "__main__":
    unittest.main()
