#!/usr/bin/env python3
"""The ranks of a party over MPI: three processes of ranks_probe, which mpirun starts. Skipped (code 77) without MPI.

Environment: TREFOIL_RANKS_PROBE, the program; TREFOIL_MPI, 1 where it was built with MPI.
"""

import ctypes
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

PROBE = os.environ["TREFOIL_RANKS_PROBE"]
RANKS = 3
# Capabilities, as /proc/self/status numbers them. Source: capabilities(7).
CAP_SETPCAP, CAP_IPC_LOCK = 8, 14


def has_capability(number):
    """Whether this process may use it now. A container's root has few."""
    with open("/proc/self/status") as status:
        return int(next(line for line in status if line.startswith("CapEff:")).split()[1], 16) >> number & 1 == 1


def may_lock():
    """Whether the probe's processes may lock all of their memory."""
    return has_capability(CAP_IPC_LOCK) or resource.getrlimit(resource.RLIMIT_MEMLOCK)[0] == resource.RLIM_INFINITY


def may_forbid_locking():
    return has_capability(CAP_SETPCAP) or not has_capability(CAP_IPC_LOCK)


def forbid_locking():
    """What a process started after this may not do: lock its memory, root included. Source: prctl(2), capabilities(7)."""
    resource.setrlimit(resource.RLIMIT_MEMLOCK, (1 << 16, 1 << 16))
    pr_capbset_drop = 24
    if has_capability(CAP_IPC_LOCK) and ctypes.CDLL(None).prctl(pr_capbset_drop, CAP_IPC_LOCK, 0, 0, 0) != 0:
        raise OSError("found a process that keeps CAP_IPC_LOCK, expected to drop it")


def mpirun(what, ranks=RANKS, before=None, timeout=120):
    """The probe's output, mpirun's exit code, and how long it took. `before` is called in mpirun's process first."""
    command = ["mpirun", "-q", "--oversubscribe", "--bind-to", "none", "-np", str(ranks)]
    if os.geteuid() == 0:
        command.insert(1, "--allow-run-as-root")
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:  # of its own: others may remove a shared one
        begin = time.monotonic()
        done = subprocess.run([*command, PROBE, what], env={**os.environ, "OMPI_MCA_orte_tmpdir_base": folder}, capture_output=True,
                              text=True, timeout=timeout, preexec_fn=before)
        return done.stdout + done.stderr, done.returncode, time.monotonic() - begin


class Ranks(unittest.TestCase):
    def test_every_call_gives_what_it_says_whatever_the_size(self):
        for ranks in (2, RANKS):
            output, code, _ = mpirun("calls", ranks)
            self.assertEqual((output.split(), code), (ranks * ["ok"], 0), output)

    def test_a_rank_that_computes_for_long_is_waited_for_without_effort(self):
        output, code, _ = mpirun("slow")
        self.assertEqual((output.split(), code), (RANKS * ["ok"], 0), output)

    def test_a_killed_rank_ends_all(self):
        _, code, seconds = mpirun("killed")
        self.assertNotEqual(code, 0)
        self.assertLess(seconds, 30)

    def test_a_rank_that_says_nothing_ends_all(self):
        output, code, seconds = mpirun("silent")
        # Whichever of the others notices first says so.
        self.assertRegex(output, r"rank 0: party 2: rank \d of this party has failed; "
                                 r"party 2, rank [02]: nothing came from rank 1 for 4000 ms \(timeouts.peer\)\n")
        self.assertEqual(code, 3)
        self.assertLess(seconds, 30)

    def test_a_rank_that_fails_has_rank_0_end_all_with_its_code(self):
        for what, cause in (("ended", "rank 1: bad data, again and again"), ("aborted", "rank 1: behind an Abort")):
            output, code, seconds = mpirun(what)
            # Rank 2, which hears of an Abort, says that its calls have ended, too.
            self.assertRegex(output, rf"\Arank 0: party 2: rank [12] of this party has failed; {cause}\n\Z")
            self.assertEqual(code, 4)
            self.assertLess(seconds, 15)  # rank 1 would report it itself then

    def test_the_rank_whose_link_ended_first_is_the_cause_of_what_rank_0_has_heard(self):
        output, code, seconds = mpirun("heard")
        self.assertEqual((output, code), ("the link of rank 2\n", 3))
        self.assertLess(seconds, 15)

    def test_what_is_under_way_to_a_rank_that_has_failed_is_kept(self):
        """So that rank 0's program does not come to its own end, which another of its threads brings about."""
        output, code, _ = mpirun("unsent")
        self.assertEqual((output, code), ("trefoil: rank 1: bad data\n", 4))

    def test_rank_0_ends_all_whatever_its_threads_wait_for(self):
        """Its program comes to its own end unless something is under way already; then the group reports in its place."""
        for what, output in (("late", "rank 0: bad data; bad data\n"), ("stuck", "trefoil: bad data\n")):
            found, code, seconds = mpirun(what)
            self.assertEqual((found, code), (output, 9))
            self.assertLess(seconds, 30)

    def test_a_rank_that_never_starts_ends_all(self):
        output, code, seconds = mpirun("absent")
        self.assertEqual(output, "trefoil: party 2, rank 0: not all 3 ranks have started MPI within 8000 ms (timeouts.start)\n")
        self.assertEqual(code, 3)
        self.assertLess(seconds, 30)

    def test_a_rank_that_does_not_come_to_the_end_is_warned_of(self):
        # Where a process leaves MPI without its end, mpirun of Open MPI 4.1 itself crashes or hangs in one of ten cases.
        for _ in range(6):
            try:
                output, code, seconds = mpirun("unended", timeout=30)
            except subprocess.TimeoutExpired:
                continue
            if code != 139:
                break
        self.assertIn("trefoil: warning: party 2, rank 0: all ranks are done, but MPI has not ended within 4000 ms (timeouts.peer)\n",
                      output)
        self.assertEqual(code, 1, output)  # mpirun's, of a process that ends with 0 and not by MPI
        self.assertLess(seconds, 30)

    def test_a_rank_of_another_build_ends_all(self):
        output, code, _ = mpirun("other")
        self.assertRegex(output, r"\Arank 0: party 2: rank [12] of this party has failed; found the program of version 9, expected "
                                 r"that of rank 0, version 8: all machines of a party run one program\n\Z")
        self.assertEqual(code, 9)

    def test_a_rank_of_another_job_or_party_ends_all(self):
        output, code, _ = mpirun("job")
        self.assertRegex(output, r"\Arank 0: party 2: rank [12] of this party has failed; found another job than rank 0, of hash "
                                 r"c{12}, expected that of hash b{12}: copy its file to all machines\n\Z")
        self.assertEqual(code, 9)
        output, code, _ = mpirun("party")
        self.assertRegex(output, r"\Arank 0: .*; party\.id: found 1, expected 2, as rank 0's party file says\n\Z")
        self.assertEqual(code, 9)

    def test_a_message_that_is_too_short_ends_all(self):
        output, code, _ = mpirun("shorter")
        self.assertRegex(output, r"\Arank 0: .*: found 16 bytes of rank 0, expected 24\n\Z")
        self.assertEqual(code, 9)

    def test_every_rank_says_whether_its_memory_is_locked(self):
        if may_forbid_locking():
            output, code, _ = mpirun("memory", before=forbid_locking)
            self.assertEqual((sorted(output.split()), code), (RANKS * ["ok"] + RANKS * ["unlocked"], 0), output)
        if may_lock():
            output, code, _ = mpirun("memory")
            self.assertEqual((sorted(output.split()), code), (RANKS * ["locked"] + RANKS * ["ok"], 0), output)

    def test_a_process_alone_has_no_ranks(self):
        done = subprocess.run([PROBE, "calls"], capture_output=True, text=True, timeout=60)
        self.assertEqual((done.stdout, done.returncode), ("alone\n", 0))


if __name__ == "__main__":
    if os.environ.get("TREFOIL_MPI") != "1" or shutil.which("mpirun") is None:
        print("skipped: built without MPI, or there is no mpirun (scripts/setup --mpi)")
        sys.exit(77)
    unittest.main()
