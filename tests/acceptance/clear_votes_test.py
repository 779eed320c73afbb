"""clear_votes on a job whose noise is nil: its counts are those of plain least squares."""

import os
import subprocess
import unittest

from pate_training_test import PateTraining as Taught
from pate_training_test import labels_of, winners_of
from trefoil_program import prepared


class ClearVotes(Taught):
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


def load_tests(loader, _tests, _pattern):
    """This file's tests only, not those of the class that they build on."""
    return unittest.TestSuite(ClearVotes(name) for name in ("test_prints_the_counts_of_the_trained_teachers",
                                                            "test_says_what_is_missing"))


if __name__ == "__main__":
    unittest.main()
