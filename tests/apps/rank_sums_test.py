"""Sums and histograms by parties of two machines each, which mpirun starts. Skipped (code 77) without MPI."""

import json
import os
import re
import signal
import struct
import time

from parties_of_ranks import PARTIES, RANKS, PartiesOfRanks, losses, main, mpirun
from trefoil_program import BINARY, PATIENCE

SUM_JOB = """
version = 1
type = "sum"
name = "sums"
[data]
name = "vectors"
rows = [30, 30, 30]
[sum]
dimension = 5
norm_bound = 2.0
[privacy]
sigma = 0.01
delta = 1e-5
"""
COUNT_JOB = """
version = 1
type = "histogram"
name = "wards"
[data]
name = "wards"
format = "csv"
rows = [4, 4, 4]
[histogram]
mode = "central"
column = "y"
values = ["a", "b", "c"]
[privacy]
epsilon = 50.0
"""


def numbers_of(npy):
    """The doubles of an NPY file of version 1."""
    body = npy[10 + struct.unpack("<H", npy[8:10])[0]:]
    return struct.unpack(f"<{len(body) // 8}d", body)


class RankSums(PartiesOfRanks):
    def check_costs(self, folder):
        """The summary is of all ranks, each of which has sent as much."""
        out = self.folder / folder / "party-0/out"
        summary = json.loads((out / "summary.json").read_text())
        self.assertEqual(summary["cost"]["ranks"], RANKS)
        sent = [int(count) for count in re.findall(r"rank \d: (\d+) bytes sent", (out / "party.log").read_text())]
        self.assertEqual(len(sent), RANKS)
        self.assertEqual(sum(sent), summary["cost"]["bytes_sent"])

    def test_sum_and_count_as_one_machine_does(self):
        self.write("job.toml", SUM_JOB)
        self.succeed("local", "--job", "job.toml", "--out", "one")
        self.succeed("local", "--job", "job.toml", "--out", "two", "--ranks", RANKS)
        self.check_costs("two")
        alone, together = self.summary("one"), self.summary("two")
        for key in ("epsilon_outsider", "epsilon_insider", "job_hash", "sigma", "deviation"):
            self.assertEqual(alone[key], together[key])
        sums = [numbers_of((self.folder / run / "party-0/out/sums.npy").read_bytes()) for run in ("one", "two")]
        # The difference of two has deviation 0.035: another one in 1e44 runs.
        for one, two in zip(*sums, strict=True):
            self.assertAlmostEqual(one, two, delta=0.5)
        self.write("count.toml", COUNT_JOB)
        (self.folder / "data").mkdir()
        self.write("data/train.csv", "y\n" + "a\n" * 7 + "b\n" * 5)
        self.succeed("local", "--job", "count.toml", "--data", "data", "--out", "counted", "--ranks", RANKS)
        self.check_costs("counted")
        lines = (self.folder / "counted/party-2/out/histogram.csv").read_text().splitlines()[1:]
        self.assertEqual([line.split(",")[:2] for line in lines], [["a", "7"], ["b", "5"], ["c", "0"]])

    def kill(self, start, stop=None, stop_rank=None, behind=()):
        """Kills rank 1 of party 1 where its rank 0, or it itself, makes the call, or when the files `behind` are there. Returns
        each party's code, and what it says."""
        self.prepare(SUM_JOB.replace("sigma = 0.01", "sigma = 1.0"), start)  # which the ledgers have room for
        for party in PARTIES:  # the records that the ledgers are of
            self.edit(party, "[data]\n", '[data]\nfile = "data/vectors.npy"\n')
        self.keep_ledgers()
        processes = [self.start_party(party, stop=stop if party == 1 else None,
                                      stop_rank=stop_rank if party == 1 else None) for party in PARTIES]
        ranks = self.rank_processes(processes[1])
        if behind:
            self.wait_for(behind, processes[1])
        else:
            self.wait_until_stopped(processes[1], ranks[stop_rank[0] if stop_rank else 0])
        begin = time.monotonic()
        os.kill(ranks[1], signal.SIGKILL)
        codes, outputs = self.finish(processes)
        self.assertLess(time.monotonic() - begin, 60)
        self.assertNotIn(codes[1], (0, 3), outputs[1])
        return codes, outputs

    def wait_for(self, files, party):
        deadline = time.monotonic() + PATIENCE
        while not all(file.exists() for file in files):
            self.assertLess(time.monotonic(), deadline)
            self.assertIsNone(party.poll(), "the party ended before it was stopped")
            time.sleep(0.01)

    def kill_before_the_opening(self, start, **where):
        codes, outputs = self.kill(start, **where)
        self.assertEqual(codes[0::2], [3, 3], outputs)
        for party in PARTIES:
            self.assertFalse((self.folder / f"r{party}/sums.npy").exists())
        return outputs

    def ledger(self, party):
        path = self.folder / f"d/party-{party}/ledger.jsonl"
        return path.read_text() if path.exists() else ""

    def check_nothing_began(self, outputs):
        """The others have waited for party 1 in vain, whose ranks they had not met. Whose rank gives up first names its own."""
        for party in (0, 2):
            self.assertRegex(outputs[party][1],
                             rf"\Atrefoil: party {party}, rank (\d): before the start: rank \1 of party 1: .*\n\Z")
        for party in PARTIES:
            self.assertNotIn("reserve", self.ledger(party))

    def test_kill_before_files_are_read(self):
        self.check_nothing_began(self.kill_before_the_opening(8, stop="open:vectors"))

    def test_kill_in_the_rows_of_the_rank(self):
        """It reads its half of 30 rows of 5 numbers at once, and nothing else of that size; rank 0 waits for their sum."""
        self.check_nothing_began(self.kill_before_the_opening(8, stop_rank=(1, f"pread:{15 * 5 * 8}:vectors.npy")))

    def test_kill_at_the_start(self):
        self.check_nothing_began(self.kill_before_the_opening(8, stop="rename:/job.toml"))

    def test_kill_at_the_opening(self):
        """Party 1 has not settled: so none of its machines has sent anything, and nobody can open."""
        outputs = self.kill_before_the_opening(60, stop="rename:/record.json")
        for party in (0, 2):
            self.assertRegex(outputs[party][1], rf"\Atrefoil: party {party}, rank {losses(1, 1, 'while computing')}\n\Z")
        for party in PARTIES:
            self.assertIn("reserve", self.ledger(party))

    def test_kill_between_opening_and_joining(self):
        """Three numbers that the rank sends rank 0 are first of its own sum, then what was opened. The others, which have all
        that they need by then, have their results; party 1 has what was opened at its rank 0 alone, and ends."""
        codes, outputs = self.kill(60, stop_rank=(1, "isend:2:24"),
                                   behind=[self.folder / f"r{party}/sums.npy" for party in (0, 2)])
        self.assertEqual(codes, [0, 128 + signal.SIGKILL, 0], outputs)
        self.assertFalse((self.folder / "r1/sums.npy").exists())
        for party in PARTIES:
            self.assertIn("settle", self.ledger(party))
            self.assertTrue((self.folder / f"r{party}/record.json").exists())
        self.assertEqual(*((self.folder / f"r{party}/sums.npy").read_bytes() for party in (0, 2)))

    def test_kill_behind_joining(self):
        """Before the rank has told what it has done, as many bytes as a LaneReport has: its party has the sums by then."""
        sums = [self.folder / f"r{party}/sums.npy" for party in PARTIES]
        codes, outputs = self.kill(60, stop_rank=(1, "isend:1:72"), behind=sums)
        self.assertEqual(codes, [0, 128 + signal.SIGKILL, 0], outputs)
        self.assertEqual(len({file.read_bytes() for file in sums}), 1)

    def test_a_rank_without_rank_0s_files_is_named_before_the_peers_are_met(self):
        self.prepare(SUM_JOB)
        found = {0: "a file that cannot be opened, expected a readable file", 1: "another file than rank 0's, expected .*"}
        data = self.folder / "d/party-1/data"
        (data / "other.npy").write_bytes((data / "vectors.npy").read_bytes()[:-8] + bytes(8))
        processes = []
        for party in found:
            own = self.folder / f"d/party-{party}"
            text = (own / "party.toml").read_text()
            self.assertIn("vectors.npy", text)
            (own / "rank-1.toml").write_text(text.replace("vectors.npy", "other.npy"))
            run = ("run", "--job", "job.toml", "--out", f"r{party}", "--config")
            processes.append(self.start([*mpirun(1), *run, f"d/party-{party}/party.toml", ":", "-np", "1", BINARY, *run,
                                         f"d/party-{party}/rank-1.toml"]))
        codes, outputs = self.finish(processes)
        self.assertEqual(codes, [4, 4], outputs)
        for party, what in found.items():
            self.assertRegex(outputs[party][1], rf"\Atrefoil: party {party}, rank 1: .*other\.npy: found {what}\n\Z")
            self.assertFalse((self.folder / f"r{party}").exists())  # nor a run directory

    def test_another_job_at_one_rank_is_refused_before_anything_is_read(self):
        """Noise would be that of the job which the rank has, and the record that of rank 0's."""
        self.prepare(SUM_JOB)
        self.write("old.toml", SUM_JOB.replace("sigma = 0.01", "sigma = 0.02"))
        (self.folder / "d/party-0/data/vectors.npy").unlink()
        run = ("run", "--config", "d/party-0/party.toml", "--out", "r0")
        process = self.start([*mpirun(1), *run, "--job", "job.toml", ":", "-np", "1", BINARY, *run, "--job", "old.toml"])
        error = process.communicate(timeout=PATIENCE)[1]
        self.assertRegex(error, r"\Atrefoil: party 0, rank 1: found another job than rank 0, of hash \w{12}, expected that of "
                                r"hash \w{12}: copy its file to all machines\n\Z")
        self.assertEqual(process.returncode, 2)

    def test_what_one_rank_finds_in_its_part_is_the_line_of_the_party(self):
        self.prepare(SUM_JOB)
        path = self.folder / "d/party-0/data/vectors.npy"
        path.write_bytes(path.read_bytes()[:-8] + struct.pack("<d", float("nan")))
        process = self.start_party(0)
        error = process.communicate(timeout=PATIENCE)[1]
        self.assertRegex(error, r"\Atrefoil: party 0, rank 1: .*vectors\.npy: record 30, number 5: "
                                r"found nan, expected a finite number\n\Z")
        self.assertEqual(process.returncode, 4)


    def test_bad_data_at_a_rank_is_told_to_the_peers_while_rank_0_reads(self):
        """For longer than its program may take to come to its own end: it never comes back with the keys."""
        self.prepare(SUM_JOB + 'unit = "group"\nmax_group_rows = 3\n', start=60)
        path = self.folder / "d/party-0/data/vectors.npy"
        path.write_bytes(path.read_bytes()[:-8] + struct.pack("<d", float("nan")))
        codes, outputs = self.finish([self.start_party(party, stop_rank=(0, "hang:keys.npy") if party == 0 else None)
                                      for party in PARTIES])
        self.assertEqual(codes, [4, 3, 3], outputs)
        self.assertRegex(outputs[0][1], r"\Atrefoil: party 0, rank 1: .*record 30, number 5: found nan, .*\n\Z")
        for party in (1, 2):
            self.assertRegex(outputs[party][1], r"party 0: .*data")


if __name__ == "__main__":
    main()
