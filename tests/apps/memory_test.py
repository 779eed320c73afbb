"""Steps of a training take their memory once: the kernel counts no page that is mapped anew, step after step. What a summary
says of memory is the party's own."""

import os
import pathlib
import random
import struct
import unittest

from training_test import PARTIES, Training, children_of
from trefoil_program import PATIENCE, TINY_JOB, prepared

SIDES = (108, 144)
ROWS = 500
CAP = 450
BYTES = 5  # of a number, at least
STEPS_WATCHED = 24  # so many that a few that take pages do not count for much
PAGES_OF_STEP = 4000  # in the mean, of all three parties

JOB = f"""
version = 1
type = "dpsgd"
name = "wide"
[data]
name = "wide"
format = "idx"
rows = [{ROWS}, {ROWS}, {ROWS}]
features = {SIDES[0] * SIDES[1]}
classes = 2
scale = 255.0
[training]
steps = 40
expected_batch = 1200
max_batch_per_owner = {CAP}
learning_rate = 8.0
[privacy]
sigma = 2.0
delta = 1e-5
clip = 0.5
"""


def faults(process):
    """Pages that the process was given so far, by proc(5): minflt."""
    return int(pathlib.Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[7])


def write_idx(path, shape, content):
    path.write_bytes(bytes([0, 0, 8, len(shape)]) + struct.pack(f">{len(shape)}I", *shape) + content)


class Memory(Training):
    def write_rows(self, name, count):
        coins = random.Random(count)
        write_idx(self.folder / f"data/{name}-images-idx3-ubyte", (count, *SIDES), coins.randbytes(count * SIDES[0] * SIDES[1]))
        write_idx(self.folder / f"data/{name}-labels-idx1-ubyte", (count,), bytes(coins.randrange(2) for _ in range(count)))

    def steps_done(self):
        return len((self.folder / "out/party-0/out/progress.csv").read_text().splitlines()) - 1

    @unittest.skipIf(os.environ.get("TREFOIL_SANITIZE"), "a sanitizer allocates by its own rules")
    def test_a_step_takes_no_new_pages(self):
        # A component of an owner's rows has more than the 32 MiB from which on glibc maps an allocation anew where it may,
        # and a party has four of them: 8,500 pages each. Most later steps than the fourth take no page. Where threads meet in
        # a new order, a step takes some thousands at a party: in six runs 565 to 917 a step in the mean, of all three, and 2,080
        # beside five builds.
        (self.folder / "data").mkdir()
        self.write_rows("train", 3 * ROWS)
        self.write_rows("t10k", 30)
        self.job.write_text(JOB)
        self.assertGreater(BYTES * CAP * (SIDES[0] * SIDES[1] + 1), 32 << 20)

        process = self.start_program("local", "--job", self.job, "--data", "data", "--out", "out")
        self.wait_for_step("out/party-0/out/progress.csv", 4)
        parties = children_of(process).values()
        self.assertEqual(len(parties), len(PARTIES))
        first, before = self.steps_done(), sum(map(faults, parties))
        self.wait_for_step("out/party-0/out/progress.csv", first + STEPS_WATCHED, timeout=PATIENCE)
        pages = sum(map(faults, parties)) - before
        steps = self.steps_done() - first
        self.assertLess(pages / steps, PAGES_OF_STEP, f"{steps} steps")

    def test_the_peak_of_a_party_is_not_what_starts_it(self):
        # getrusage(2) counts for a program what the process that started it held.
        held = 400 << 20
        self.write("job.toml", TINY_JOB)
        self.succeed("local", "--job", "job.toml", "--out", "d", *prepared())
        much = bytearray(b"1") * held
        parties = [self.start_program("run", "--config", f"d/party-{party}/party.toml", "--job", "job.toml", "--out", f"r{party}")
                   for party in PARTIES]
        self.assertEqual(len(much), held)
        codes, outputs = self.finish(parties)
        self.assertEqual(codes, [0, 0, 0], outputs)
        for party in PARTIES:
            peak = self.summary(f"r{party}")["peak_rss_bytes"]
            self.assertTrue(10 << 20 < peak < held, peak)


if __name__ == "__main__":
    unittest.main()
