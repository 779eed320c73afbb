"""trefoil local --ranks 2: six processes under three mpirun, of which one is killed. Skipped (code 77) without MPI."""

import os
import pathlib
import shutil
import signal
import sys
import time
import unittest

from trefoil_program import PATIENCE, TINY_JOB, ProgramTest, free_base_port

RANKS = 2


def children(pid):
    return [int(child) for task in pathlib.Path(f"/proc/{pid}/task").iterdir() for child in (task / "children").read_text().split()]


def arguments(pid):
    return pathlib.Path(f"/proc/{pid}/cmdline").read_text().split("\0")


class LocalRanks(ProgramTest):
    def wait_until(self, holds):
        deadline = time.monotonic() + PATIENCE
        while not (found := holds()):
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.02)
        return found

    def said(self):
        """What all parties have printed, for a failure that nobody sees twice."""
        logs = sorted(self.folder.glob("d/party-*/console.log"))
        return "".join(f"\n{log.relative_to(self.folder)}:\n{log.read_text()}" for log in logs)

    def start(self, resume=False):
        """A run in its third step, or beyond where it was, its mpirun by party, and all ranks."""
        job = self.write("job.toml", TINY_JOB.replace("steps = 6", "steps = 2000\ncheckpoint_every = 50"))
        progress = self.folder / "d/party-0/out/progress.csv"
        before = progress.stat().st_mtime_ns if progress.exists() else 0
        anew = ("--job", job, "--ranks", RANKS, "--base-port", free_base_port(3 * RANKS))
        local = self.start_program("local", "--out", "d", *(["--resume"] if resume else anew))

        def in_its_third_step():
            return progress.exists() and progress.stat().st_mtime_ns > before and progress.read_text().count("\n") > 3

        try:
            self.wait_until(lambda: in_its_third_step() or local.poll() is not None)
        except AssertionError:
            self.fail(f"no third step in time{self.said()}")
        if local.poll() is not None:
            self.fail(f"ended with {local.returncode}: {local.communicate()}{self.said()}")
        launchers = sorted(children(local.pid), key=lambda pid: arguments(pid)[arguments(pid).index("--config") + 1])
        self.assertEqual(len(launchers), 3)
        return local, launchers, [rank for launcher in launchers for rank in children(launcher)]

    def test_ranks_listen_to_no_other_machine_and_a_killed_one_is_named(self):
        local, launchers, ranks = self.start()
        for rank in ranks:
            self.assertEqual(self.listening_elsewhere(rank), [], arguments(rank))
        for party in range(3):  # files that three mpirun share are in each other's way
            self.assertEqual(len(list((self.folder / f"d/party-{party}").glob("ompi.*"))), 1)
        os.kill(children(launchers[1])[1], signal.SIGKILL)
        _, error = local.communicate(timeout=PATIENCE)
        self.assertRegex(error, r"\Atrefoil: party 1: a rank was killed by signal 9; its output is in d/party-1/console.log\n\Z")
        self.assertEqual(local.returncode, 3)

    def test_a_killed_rank_is_named_whatever_an_earlier_start_has_printed(self):
        for party, resume in ((2, False), (0, True)):  # party 0 has said then that it lost one of party 2
            local, launchers, _ = self.start(resume)
            os.kill(children(launchers[party])[1], signal.SIGKILL)
            _, error = local.communicate(timeout=PATIENCE)
            self.assertRegex(error, rf"\Atrefoil: party {party}: a rank was killed by signal 9; its output is in ")
            self.assertEqual(local.returncode, 3)

    def listening_elsewhere(self, pid):
        """Sockets on which a process listens at another address than 127.0.0.1."""
        own = set()
        for link in pathlib.Path(f"/proc/{pid}/fd").iterdir():
            try:
                own.add(os.readlink(link))
            except OSError:
                continue  # closed meanwhile
        found = []
        for table in ("tcp", "tcp6"):
            for line in pathlib.Path(f"/proc/{pid}/net/{table}").read_text().splitlines()[1:]:
                words = line.split()
                if words[3] == "0A" and f"socket:[{words[9]}]" in own and not words[1].startswith("0100007F:"):
                    found.append(words[1])
        return found

    def test_ends_its_mpirun_in_good_order_when_it_is_killed_itself(self):
        """A killed mpirun would leave the memory that its ranks share in /dev/shm."""
        local, launchers, ranks = self.start()
        mapped = {line.split(maxsplit=5)[5] for rank in ranks for line in pathlib.Path(f"/proc/{rank}/maps").read_text().splitlines()
                  if "/dev/shm/vader_segment" in line}
        self.assertEqual(len(mapped), len(ranks))
        local.kill()
        local.wait(timeout=PATIENCE)
        self.wait_until(lambda: not any(pathlib.Path(f"/proc/{pid}/fd").exists() for pid in launchers + ranks))
        self.assertEqual([path for path in mapped if pathlib.Path(path).exists()], [])


if __name__ == "__main__":
    if os.environ.get("TREFOIL_MPI") != "1" or shutil.which("mpirun") is None:
        print("skipped: built without MPI, or there is no mpirun (scripts/setup --mpi)")
        sys.exit(77)
    unittest.main()
