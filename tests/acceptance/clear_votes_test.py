"""clear_votes on a job whose noise is nil: its counts are those of plain least squares."""

import os
import subprocess
import unittest

from taught_parties import TaughtParties, labels_of, winners_of
from trefoil_program import ProgramTest, prepared


class ClearVotes(TaughtParties, ProgramTest):
    def votes(self, folder):
        return subprocess.run([os.environ["CLEAR_VOTES"], str(self.folder / folder)], capture_output=True, text=True)

    def test_prints_the_counts_of_the_trained_teachers(self):
        self.local(*prepared())
        done = self.votes("run")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        counts = [list(map(int, line.split(","))) for line in done.stdout.splitlines()]
        self.assertEqual(counts, winners_of(labels_of(self.slices, self.queries))[0])

    def test_says_what_is_missing(self):
        done = self.votes("none")
        self.assertEqual(done.returncode, 2)
        self.assertIn("none/job.toml", done.stderr)


if __name__ == "__main__":
    unittest.main()
