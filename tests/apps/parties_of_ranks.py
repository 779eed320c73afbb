"""Parties of two machines each, which mpirun starts, for end-to-end tests.

Environment: TREFOIL_NETSIM_HOSTS, three addresses, where the parties are to be in the network namespaces p0, p1 and p2 of a
network simulator that runs (scripts/acceptance scale kills).
"""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

from trefoil_program import BINARY, PATIENCE, ProgramTest, free_base_port

PARTIES = (0, 1, 2)
RANKS = 2
LEDGER = '\n[ledger]\nfile = "ledger.jsonl"\nepsilon_cap = 1000\ndelta = 1e-5\n'
STOP_LIBRARY = os.environ.get("TREFOIL_STOP_LIBRARY")
NETSIM_HOSTS = os.environ.get("TREFOIL_NETSIM_HOSTS")


def mpirun(ranks, *more):
    command = ["mpirun", "-q", "--oversubscribe", "--bind-to", "none"]
    if os.geteuid() == 0:
        command.append("--allow-run-as-root")
    return [*command, *more, "-np", str(ranks), BINARY]


def losses(party, rank, when):
    """What the others say, behind "rank ", of one that was killed: the rank of its number has lost it, by its own link. Whatever
    mpirun, which ends the others of its party, has these say or lose meanwhile comes later. Not so where a whole machine is gone:
    no link of it ends then before it is silent for timeouts.peer, and rank 0 may be named, which was told to stop."""
    return rf"{rank}: lost rank {rank} of party {party} {when}: (?!aborted|.*reported by).*"


class PartiesOfRanks(ProgramTest):
    def prepare(self, job, start=15):
        self.write("job.toml", job)
        where = ("--hosts", NETSIM_HOSTS) if NETSIM_HOSTS else ("--base-port", str(free_base_port(3 * RANKS)))
        self.succeed("local", "--job", "job.toml", "--out", "d", "--prepare", "--ranks", RANKS, *where)
        for party in PARTIES:
            self.edit(party, 'start = "120s"', f'start = "{start}s"')

    def edit(self, party, found, instead):
        path = self.folder / f"d/party-{party}/party.toml"
        text = path.read_text()
        self.assertIn(found, text)
        path.write_text(text.replace(found, instead))

    def keep_ledgers(self):
        for party in PARTIES:
            path = self.folder / f"d/party-{party}/party.toml"
            path.write_text(path.read_text() + LEDGER)

    def start_party(self, party, ranks=RANKS, stop=None, options=(), stop_rank=None):
        """`stop`: where every rank stops; `stop_rank`: which one of two does, and where."""
        def environment(call):
            return ("-x", f"LD_PRELOAD={STOP_LIBRARY}", "-x", f"TREFOIL_STOP_AT={call}") if call else ()
        run = ["run", "--config", f"d/party-{party}/party.toml", "--job", "job.toml", "--out", f"r{party}", "--threads", "1",
               *options]
        if stop_rank:
            first, second = (environment(stop_rank[1] if stop_rank[0] == rank else None) for rank in range(2))
            return self.start([*mpirun(1, *first), *run, ":", *second, "-np", "1", BINARY, *run])
        # A namespace has a LAN to the other parties, and MPI is not to use it.
        there = ["ip", "netns", "exec", f"p{party}"] if NETSIM_HOSTS else []
        within = ["--mca", "btl", "self,vader", "--mca", "oob_tcp_if_include", "lo"] if NETSIM_HOSTS else []
        return self.start([*there, *mpirun(ranks, *within, *environment(stop)), *run])

    def start(self, command):
        """Starts mpirun with a folder of its own for its files: where several share one, the first to end removes it while
        another creates its own within."""
        environment = {**os.environ, "OMPI_MCA_orte_tmpdir_base": tempfile.mkdtemp(prefix="mpi", dir=self.folder)}
        process = subprocess.Popen(command, cwd=self.folder, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True)
        self.addCleanup(self.end, process)
        return process

    def rank_processes(self, process):
        """Of a party, in the order of their ranks."""
        deadline = time.monotonic() + PATIENCE
        while True:
            children = pathlib.Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
            if len(children) == RANKS:
                return sorted(map(int, children))
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.01)

    def wait_until_stopped(self, party, pid):
        deadline = time.monotonic() + PATIENCE
        while pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "T":
            self.assertLess(time.monotonic(), deadline)
            self.assertIsNone(party.poll(), "the party ended before it was stopped")
            time.sleep(0.005)


def main():
    """unittest.main, or the code 77 where there is no MPI."""
    if os.environ.get("TREFOIL_MPI") != "1" or shutil.which("mpirun") is None:
        print("skipped: built without MPI, or there is no mpirun (scripts/setup --mpi)")
        sys.exit(77)
    unittest.main()
