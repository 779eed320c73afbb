"""Feature extraction: in a job, at evaluation, and as a command."""

import json
import struct
import unittest
import zipfile

from trefoil_program import ProgramTest, TINY_JOB

TEXT_JOB = """
version = 1
type = "dpsgd"
name = "moods"
[data]
name = "moods"
format = "csv"
rows = [100, 100, 100]
classes = 2
[[data.column]]
name = "text"
kind = "text"
[data.label]
column = "mood"
values = ["bad", "good"]
[features]
method = "hash-text"
dimension = 256
characters = []
[training]
steps = 20
expected_batch = 100
max_batch_per_owner = 100
learning_rate = 20.0
[privacy]
sigma = 0.5
delta = 1e-5
clip = 0.5
"""


def array(path, name):
    """Header and bytes of an array of an NPZ file."""
    content = zipfile.ZipFile(path).read(name + ".npy")
    length = struct.unpack("<H", content[8:10])[0]
    return content[10 : 10 + length].decode().strip(), content[10 + length :]


class Features(ProgramTest):
    def accuracy_of(self, job, *arguments):
        """Of a local run, after `evaluate` has given the same."""
        self.succeed("local", "--job", job, "--out", "out", *arguments)
        accuracy = json.loads((self.folder / "out/summary.json").read_text())["accuracy"]
        evaluated = self.succeed("evaluate", "--model", "out/model.npz", "--data", "out/test", "--json")
        self.assertEqual(json.loads(evaluated)["accuracy"], accuracy)
        return accuracy

    def test_a_job_extracts_before_it_trains_and_evaluates(self):
        job = self.write("job.toml", TINY_JOB)
        accuracy = self.accuracy_of(job, "--set", "features.method=hog", "--set", "features.cell=7", "--set", "privacy.sigma=0.5")
        self.assertGreater(accuracy, 0.3)  # guessing gives 0.1
        header, _ = array(self.folder / "out/model.npz", "weights")
        self.assertIn("(324, 10)", header)

    def test_a_job_hashes_text(self):
        data = self.folder / "moods"
        data.mkdir()
        good, bad = '"fine, good and nice",good\n', "poor and bad,bad\n"
        (data / "train.csv").write_text("text,mood\n" + (good + bad) * 150)
        (data / "test.csv").write_text("text,mood\n" + good + bad)
        self.assertEqual(self.accuracy_of(self.write("job.toml", TEXT_JOB), "--data", data), 1.0)

    def test_the_command_gives_what_the_job_trains_on(self):
        job = self.write("job.toml", TINY_JOB)
        self.succeed("local", "--job", job, "--out", "d", "--prepare")
        images, labels = (f"d/party-0/data/{name}-ubyte.gz" for name in ("images-idx3", "labels-idx1"))
        output = self.succeed("features", "--method", "scatter", "--in", images, "--labels", labels, "--scale", 255,
                              "--row-norm", 2, "--out", "a.npz")
        self.assertRegex(output, r"^300 records, 3969 features each, [\d.]+ s, \d+ records/s on \d+ threads: a.npz\n$")
        self.succeed("features", "--job", job, "--in", images, labels, "--out", "b.npz", "--set", "features.method=scatter",
                     "--set", "features.row_norm=2")
        for name in "xy":
            self.assertEqual(array(self.folder / "a.npz", name), array(self.folder / "b.npz", name))
        self.assertIn("'<f4'", array(self.folder / "a.npz", "x")[0])

    def test_the_command_hashes_lines(self):
        self.write("t.txt", "one line\nanother line\n")
        self.succeed("features", "--method", "hash-text", "--in", "t.txt", "--out", "t.npz", "--set", "features.dimension=64")
        header, content = array(self.folder / "t.npz", "x")
        self.assertIn("(2, 64)", header)
        self.assertEqual({value % 1 for value in struct.unpack("<128f", content)}, {0.0})

    def test_wrong_options_are_named(self):
        self.write("t.txt", "one line\n")
        for code, text, arguments in [
            (2, "--method or --job", ("--in", "t.txt", "--out", "t.npz")),
            (2, "--out", ("--method", "hash-text", "--in", "t.txt", "--out", "t.csv")),
            (2, "features.cell: method \"hash-text\" does not have it",
             ("--method", "hash-text", "--in", "t.txt", "--out", "t.npz", "--set", "features.cell=3")),
            (2, "unknown key training", ("--method", "hash-text", "--in", "t.txt", "--out", "t.npz", "--set", "training.steps=3")),
            (4, "magic number", ("--method", "hog", "--in", "t.txt", "--out", "t.npz")),
            (4, "none.txt", ("--method", "hash-text", "--in", "none.txt", "--out", "t.npz")),
        ]:
            with self.subTest(arguments=arguments):
                self.fail_with(code, text, "features", *arguments)


if __name__ == "__main__":
    unittest.main()
