"""Feature extraction: in a job, at evaluation, and as a command."""

import hashlib
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


def field(number, content):
    """A field of a protobuf message: a number, or bytes (or text) with their length."""

    def varint(value):
        return bytes([value]) if value < 128 else bytes([value % 128 + 128]) + varint(value // 128)

    if isinstance(content, int):
        return varint(number * 8) + varint(content)
    content = content.encode() if isinstance(content, str) else content
    return varint(number * 8 + 2) + varint(len(content)) + content


def dense_model(inputs, outputs):
    """An ONNX model: ReLU of a dense layer with small whole weights. Field numbers are those of onnx.proto."""

    def value(name, width):
        shape = b"".join(field(1, field(1, length)) for length in (1, width))
        return field(1, name) + field(2, field(1, field(1, 1) + field(2, shape)))

    weights = struct.pack(f"<{inputs * outputs}f", *((i * i % 7 - 3) / 10 for i in range(inputs * outputs)))
    tensor = field(1, inputs) + field(1, outputs) + field(2, 1) + field(8, "w") + field(9, weights)
    product = field(1, "x") + field(1, "w") + field(2, "z") + field(4, "MatMul")
    rectifier = field(1, "z") + field(2, "y") + field(4, "Relu")
    graph = (field(1, product) + field(1, rectifier) + field(2, "graph") + field(5, tensor) + field(11, value("x", inputs))
             + field(12, value("y", outputs)))
    return field(1, 7) + field(7, graph) + field(8, field(1, "") + field(2, 11))


class Features(ProgramTest):
    def accuracy_of(self, job, *arguments):
        """Of a local run, after `evaluate` has given the same."""
        self.succeed("local", "--job", job, "--out", "out", *arguments)
        accuracy = self.summary("out")["accuracy"]
        evaluated = self.succeed("evaluate", "--model", "out/model.npz", "--data", "out/test", "--json")
        self.assertEqual(json.loads(evaluated)["accuracy"], accuracy)
        return accuracy

    def test_a_job_extracts_before_it_trains_and_evaluates(self):
        job = self.write("job.toml", TINY_JOB)
        accuracy = self.accuracy_of(job, "--set", "features.method=hog", "--set", "features.cell=7", "--set", "privacy.sigma=0.5",
                                    "--set", "training.steps=30")
        self.assertGreater(accuracy, 0.5)  # guessing gives 0.1; 0.86 with deviation 0.04 (12 runs)
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

    def test_colour_is_the_same_from_cifars_files_and_from_arrays(self):
        """Class k is red, green or blue on black, by k, in a square that moves with the row."""
        rows = [(k % 3, bytes(255 * (k % 3 == colour and (i // 32 + k) % 16 < 8) for colour in range(3) for i in range(1024)))
                for k in range(90)]
        own = self.folder / "own"
        own.mkdir()
        for part in range(5):
            content = b"".join(bytes([label]) + planes for label, planes in rows[part * 18 : part * 18 + 18])
            (own / f"data_batch_{part + 1}.bin").write_bytes(content)
        (own / "test_batch.bin").write_bytes(content)
        job = self.write("job.toml", TINY_JOB.replace('"digits"', '"colours"').replace("features = 784", "").replace('"idx"', '"cifar"')
                         .replace("classes = 10", "classes = 3").replace("[300, 300, 300]", "[30, 30, 30]"))
        sets = ("--set", "features.method=scatter", "--set", "features.scales=3", "--set", "features.angles=4", "--set", "features.groups=61")
        quick = ("training.expected_batch=30", "training.max_batch_per_owner=30", "training.steps=15", "privacy.sigma=0.01")
        self.assertEqual(self.accuracy_of(job, "--data", own, *sets, *(word for key in quick for word in ("--set", key))), 1.0)

        shape = struct.pack(">BBBBIIII", 0, 0, 8, 4, 90, 32, 32, 3)
        last = b"".join(bytes(planes[colour * 1024 + i] for i in range(1024) for colour in range(3)) for _, planes in rows)
        (self.folder / "last.idx").write_bytes(shape + last)
        (self.folder / "flat.idx").write_bytes(struct.pack(">BBBBII", 0, 0, 8, 2, 90, 3072) + last)
        (self.folder / "first.idx").write_bytes(struct.pack(">BBBBIIII", 0, 0, 8, 4, 90, 3, 32, 32) + b"".join(x for _, x in rows))
        self.succeed("features", "--job", job, "--in", own, "--out", "job.npz", *sets)
        command = ("features", "--method", "scatter", "--scale", 255, "--row-norm", 1, *sets[2:])
        for name, more in (("last", ()), ("flat", ("--set", "features.image=[32,32,3]"))):
            self.succeed(*command, "--in", f"{name}.idx", "--out", f"{name}.npz", *more)
            self.assertEqual(array(self.folder / f"{name}.npz", "x"), array(self.folder / "job.npz", "x"))
        first = (*command, "--in", "first.idx", "--out", "x.npz")
        self.fail_with(2, "features.image: found [ 3, 32, 32 ], expected [height, width] or [height, width, channels]", *first)
        self.fail_with(4, "first.idx: found 3 x 32 x 32 images, expected 32 x 32 x 3", *first, "--set", "features.image=[32,32,3]")

    def test_the_command_hashes_lines(self):
        self.write("t.txt", "one line\nanother line\n")
        self.succeed("features", "--method", "hash-text", "--in", "t.txt", "--out", "t.npz", "--set", "features.dimension=64")
        header, content = array(self.folder / "t.npz", "x")
        self.assertIn("(2, 64)", header)
        self.assertEqual({value % 1 for value in struct.unpack("<128f", content)}, {0.0})

    def test_a_job_without_a_method_makes_rows_no_longer(self):
        job = """
version = 1
type = "dpsgd"
name = "rows"
[data]
name = "rows"
format = "csv"
%srows = [9, 9, 9]
classes = 2
%s[data.label]
column = "y"
values = ["0", "1"]
%s[features]
row_norm = %s
[training]
steps = 2
expected_batch = 9
max_batch_per_owner = 9
learning_rate = 1.0
[privacy]
sigma = 0.5
delta = 1e-5
clip = 1.0
%s"""
        columns = "".join(f'[[data.column]]\nname = "{name}"\n' for name in "ab")
        self.write("flat.toml", job % ("", columns, "", 4, ""))
        parts = "".join(f'[[data.column]]\nname = "{name}"\nparty = {k}\n' for k, name in enumerate("abc"))
        key = '[[data.column]]\nname = "id"\nkind = "key"\n'
        self.write("vertical.toml", job % ('partition = "vertical"\n', key + parts, "party = 0\n", 1, 'sampling = "public"\n'))
        self.write("flat.csv", "a,b,y\n0.3,0.4,0\n3,4,1\n0.6,0,1\n")
        self.write("vertical.csv", "id,a,b,c,y\np,0.3,0.4,0,0\nq,3,0,0,1\n")

        def rows(name, *more):
            self.succeed("features", "--job", f"{name}.toml", "--in", f"{name}.csv", "--out", f"{name}.npz", *more)
            content = array(self.folder / f"{name}.npz", "x")[1]
            return [round(value, 3) for value in struct.unpack(f"<{len(content) // 4}f", content)]

        self.assertEqual(rows("flat"), [0.3, 0.4, 2.4, 3.2, 0.6, 0])
        self.assertEqual(rows("vertical"), [0.3, 0.4, 0, 0.577, 0, 0])
        self.assertEqual(rows("flat", "--row-norm", "5"), [3, 4, 3, 4, 5, 0])

    def test_a_job_runs_a_model(self):
        (self.folder / "m.onnx").write_bytes(dense_model(784, 64))
        job = self.write("job.toml", TINY_JOB)
        self.succeed("local", "--job", job, "--out", "d", "--prepare")
        images = "d/party-0/data/images-idx3-ubyte.gz"
        command = ("features", "--method", "onnx", "--in", images, "--feature-model", "m.onnx", "--scale", 255, "--row-norm", 1,
                   "--set", "features.outputs=64", "--out", "a.npz")
        if "TREFOIL_ONNX" in self.run_program(*command).stderr:
            self.skipTest("built without OpenCV (TREFOIL_ONNX)")
        self.assertIn("300 records, 64 features each", self.succeed(*command))

        digest = hashlib.sha256((self.folder / "m.onnx").read_bytes()).hexdigest()
        onnx = ("--set", "features.method=onnx", "--set", "features.outputs=64", "--set", f"features.model_sha256={digest}")
        self.succeed("local", "--job", job, "--out", "out", "--feature-model", "m.onnx", *onnx)
        self.assertIn('model = "data/features.onnx"', (self.folder / "out/party-1/party.toml").read_text())
        summary = self.summary("out")
        evaluate = ("evaluate", "--model", "out/model.npz", "--data", "out/test", "--json")
        evaluated = self.succeed(*evaluate, "--feature-model", "m.onnx")
        self.assertEqual(json.loads(evaluated)["accuracy"], summary["accuracy"])
        self.fail_with(2, "--feature-model", *evaluate)
        self.fail_with(2, "--feature-model: missing", "local", "--job", job, "--out", "q", *onnx)
        self.fail_with(2, "expected none", "local", "--job", job, "--out", "q", "--feature-model", "m.onnx")
        (self.folder / "other.onnx").write_bytes(dense_model(784, 32))
        self.fail_with(4, "SHA-256", "local", "--job", job, "--out", "q", "--feature-model", "other.onnx", *onnx)

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
