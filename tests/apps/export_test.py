"""predict and export: readers that share no code with the program get the same scores from what it exports."""

import csv
import gzip
import importlib.util
import json
import math
import os
import pathlib
import struct
import unittest
import zipfile

from model_readers import Onnx, dense, read_safetensors
from trefoil_program import PROJECT, ProgramTest, TINY_JOB

MNIST = pathlib.Path(os.environ.get("TREFOIL_SHARED", PROJECT / "../shared")) / "data/mnist"

TABLE_JOB = """
version = 1
type = "dpsgd"
name = "people"
[data]
name = "people"
format = "csv"
rows = [100, 100, 100]
classes = 2
header = false
[[data.column]]
name = "age"
mean = 40.0
scale = 10.0
[[data.column]]
name = "job"
kind = "category"
values = ["clerk", "nurse"]
[[data.column]]
name = "note"
kind = "ignore"
[data.label]
column = "rich"
values = ["no, never", "yes"]
[features]
row_norm = 0.75
[training]
steps = 12
expected_batch = 100
max_batch_per_owner = 100
learning_rate = 10.0
[privacy]
sigma = 0.5
delta = 1e-5
clip = 0.5
"""


NPY_HEADER = b"{'descr': '|u1', 'fortran_order': False, 'shape': (1, 8, 8), }"
NPY_OF_ONE_IMAGE = b"\x93NUMPY\x01\x00" + struct.pack("<H", 118) + NPY_HEADER.ljust(117) + b"\n" + bytes(64)

WITH_LITTLE_NOISE = ("--set", "privacy.sigma=0.02", "--set", "training.steps=20")


def installed(module):
    return importlib.util.find_spec(module) is not None


def read_idx(path, count):
    """The first records of an IDX file, each a list of bytes."""
    content = gzip.decompress(pathlib.Path(path).read_bytes())
    dimensions = struct.unpack(f">{content[3]}I", content[4 : 4 + 4 * content[3]])
    begin, size = 4 + 4 * len(dimensions), 1
    for length in dimensions[1:]:
        size *= length
    return [list(content[begin + size * i : begin + size * (i + 1)]) for i in range(min(count, dimensions[0]))]


def write_idx(path, records, shape):
    head = bytes([0, 0, 8, 1 + len(shape)]) + struct.pack(f">{1 + len(shape)}I", len(records), *shape)
    path.write_bytes(gzip.compress(head + b"".join(map(bytes, records))))


class Export(ProgramTest):
    def train(self, job, *arguments):
        self.succeed("local", "--job", self.write("job.toml", job), "--out", "out", *arguments)

    def predictions(self, *data):
        """Labels and scores of `predict --scores`, after its other forms have given the same."""
        predict = ("predict", "--model", "out/model.npz", "--data", *data)
        text = self.succeed(*predict, "--scores")
        self.assertEqual(self.succeed(*predict, "--scores", "--out", "p.csv"), "")
        self.assertEqual((self.folder / "p.csv").read_text(), text)
        header, *rows = csv.reader(text.splitlines())
        labels = list(csv.reader(self.succeed(*predict).splitlines()))
        self.assertEqual(labels, [row[:2] for row in [header, *rows]])
        self.assertEqual([row[0] for row in rows], [str(i + 1) for i in range(len(rows))])
        return header, [row[1] for row in rows], [[float(score) for score in row[2:]] for row in rows]

    def exported(self, form):
        self.succeed("export", "--model", "out/model.npz", "--format", form, "--out", f"e.{form}")
        return (self.folder / f"e.{form}").read_bytes()

    def assert_close(self, scores, expected):
        """Single precision has 24 bits, and sums of a thousand products lose at most ten of them."""
        self.assertEqual(len(scores), len(expected))
        largest = max(abs(score) for row in expected for score in row)
        for row, wanted in zip(scores, expected):
            self.assertEqual(len(row), len(wanted))
            for score, value in zip(row, wanted):
                self.assertAlmostEqual(score, value, delta=2**-13 * (1 + largest))

    def read_by_weights(self, tensors, constants, row):
        """What the tensors give for a row of the data."""
        row = [value / constants["scale"] for value in row]
        excess = max(1, sum(value * value for value in row) ** 0.5 / constants["row_norm"])
        row = [value / excess for value in row]
        layer = 1
        while f"hidden_weights_{layer}" in tensors:
            row = dense(row, tensors[f"hidden_weights_{layer}"][1], tensors[f"hidden_bias_{layer}"][1])
            row = [min(max(value, 0), constants["activation_bound"]) for value in row]
            layer += 1
        return dense(row, tensors["weights"][1], tensors["bias"][1])

    def check_every_reader(self, images, records, scores):
        """All exports give `scores` for `records`, which are those of the file `images`."""
        metadata, tensors = read_safetensors(self.exported("safetensors"))
        constants = {name: float(metadata[name]) for name in ("scale", "row_norm", "activation_bound") if name in metadata}
        self.assertEqual(json.loads(metadata["labels"]), [str(k) for k in range(10)])
        self.assert_close([self.read_by_weights(tensors, constants, row) for row in records], scores)

        model = Onnx(self.exported("onnx"))
        self.assertEqual((model.opset, model.inputs, model.outputs), (10, 784, 10))
        self.assertEqual(model.metadata, metadata)
        self.assert_close([model.run(row) for row in records], scores)

        self.exported("npz")
        self.assertEqual(self.succeed("predict", "--model", "e.npz", "--data", images, "--scores"),
                         (self.folder / "p.csv").read_text())
        with self.subTest("numpy"):
            self.check_numpy(records, scores)
        with self.subTest("onnx's checker"):
            self.check_onnx_checker()
        with self.subTest("OpenCV"):
            self.check_opencv(images, scores)

    def check_numpy(self, records, scores):
        if not installed("numpy"):
            self.skipTest("no numpy (Debian: python3-numpy)")
        import numpy

        model = numpy.load(self.folder / "e.npz")
        x = numpy.array(records) / model["scale"]
        x /= numpy.maximum(1, numpy.linalg.norm(x, axis=1, keepdims=True) / model["row_norm"])
        layer = 1
        while f"hidden_weights_{layer}" in model:
            x = x @ model[f"hidden_weights_{layer}"] + model[f"hidden_bias_{layer}"]
            x = numpy.clip(x, 0, model["activation_bound"])
            layer += 1
        self.assert_close((x @ model["weights"] + model["bias"]).tolist(), scores)

    def check_onnx_checker(self):
        if not installed("onnx"):
            self.skipTest("no onnx (Debian: python3-onnx)")
        import onnx

        model = onnx.load(str(self.folder / "e.onnx"))
        onnx.checker.check_model(model, full_check=True)
        inferred = onnx.shape_inference.infer_shapes(model, strict_mode=True)
        self.assertEqual(len(inferred.graph.value_info), len(model.graph.node) - 1)

    def check_opencv(self, images, scores):
        command = ("features", "--method", "onnx", "--in", images, "--feature-model", "e.onnx",
                   "--set", "features.outputs=10", "--out", "scores.npy")
        if "TREFOIL_ONNX" in self.run_program(*command).stderr:
            self.skipTest("built without OpenCV (TREFOIL_ONNX)")
        self.succeed(*command)
        content = (self.folder / "scores.npy").read_bytes()
        values = struct.unpack(f"<{len(scores) * 10}f", content[-len(scores) * 40 :])
        self.assert_close([values[10 * i : 10 * i + 10] for i in range(len(scores))], scores)

    def check_images(self, test, count):
        """Readers, `predict` and `evaluate` on the first images of a test set."""
        images, labels = (test / f"t10k-{name}-ubyte.gz" for name in ("images-idx3", "labels-idx1"))
        records = read_idx(images, count)
        truth = [label for (label,) in read_idx(labels, count)]
        some, theirs = self.folder / "some.gz", self.folder / "theirs.gz"
        write_idx(some, records, [28, 28])
        write_idx(theirs, [[label] for label in truth], [])

        header, predicted, scores = self.predictions(some)

        self.assertEqual(header, ["row", "label", *(f"score_{k}" for k in range(10))])
        self.assertEqual(predicted, [str(row.index(max(row))) for row in scores])
        self.assertEqual(self.predictions(some, theirs)[1:], (predicted, scores))
        evaluated = json.loads(self.succeed("evaluate", "--model", "out/model.npz", "--data", some, theirs, "--json"))
        self.assertEqual(evaluated["correct"], sum(int(a) == b for a, b in zip(predicted, truth)))
        # Not one for all; a few units of a small network may be at rest for several images.
        self.assertGreater(len(set(map(tuple, scores))), count / 2)
        self.check_every_reader(some, records, scores)
        return evaluated["accuracy"]

    def test_a_linear_model(self):
        # Some digits are longer, some shorter: the latter show whether values are divided by the scale.
        self.train(TINY_JOB, *WITH_LITTLE_NOISE, "--set", "features.row_norm=8.0", "--set", "training.learning_rate=1.0")
        # Guessing gives 0.1; 0.71 with deviation 0.06 (12 runs).
        self.assertGreater(self.check_images(self.folder / "out/test", 100), 0.3)

    def test_a_network_of_a_whole_test_folder(self):
        # With 12 and 7 units and rate 2, one run in 100 gave several images the same scores; here none in 150.
        self.train(TINY_JOB, "--set", "model.hidden=[24, 16]", "--set", "features.row_norm=3.0", *WITH_LITTLE_NOISE,
                   "--set", "training.learning_rate=1.0", "--set", "training.steps=60")
        self.check_images(self.folder / "out/test", 60)
        _, predicted, _ = self.predictions("out/test")
        summary = self.summary("out")
        truth = read_idx(self.folder / "out/test/t10k-labels-idx1-ubyte.gz", len(predicted))
        correct = sum(int(label) == value for label, (value,) in zip(predicted, truth))
        self.assertAlmostEqual(correct / len(predicted), summary["accuracy"], places=12)

    def test_real_images(self):
        if not MNIST.exists():
            self.skipTest(f"no MNIST in {MNIST}")
        self.train(TINY_JOB, *WITH_LITTLE_NOISE, "--set", "data.name=mnist", "--set", "data.rows=[20000, 20000, 20000]",
                   "--data", MNIST)
        self.assertGreater(self.check_images(MNIST, 400), 0.3)

    def test_extracted_features(self):
        self.train(TINY_JOB, "--set", "features.method=hog", "--set", "features.cell=7", "--set", "features.row_norm=2.0")
        files = [f"out/test/t10k-{name}-ubyte.gz" for name in ("images-idx3", "labels-idx1")]
        self.succeed("features", "--job", "out/job.toml", "--in", *files, "--out", "hog.npz")
        _, _, scores = self.predictions(files[0])
        model = Onnx(self.exported("onnx"))
        content = zipfile.ZipFile(self.folder / "hog.npz").read("x.npy")[-4 * 324 * len(scores) :]
        for k in range(50):
            row = struct.unpack("<324f", content[1296 * k : 1296 * (k + 1)])
            # Of any length: the file normalises by itself.
            self.assert_close([model.run([0.1 * value for value in row])], [scores[k]])

    def test_a_table(self):
        data = self.folder / "people"
        data.mkdir()
        (data / "train.csv").write_text("55,nurse,x,yes\n30,clerk,y,\"no, never\"\n" * 150)
        self.train(TABLE_JOB, "--data", data)
        records = [["61", "nurse", ""], ["17.5", "clerk", "?"], ["?", "nurse", "a"], ["39", "?", "b"]]
        for label in ([], ["perhaps"]):
            (self.folder / "rows.csv").write_text("".join(",".join(record + label) + "\n" for record in records))
            header, predicted, scores = self.predictions("rows.csv")
        self.assertEqual(header, ["row", "label", "score_yes"])
        self.assertEqual(predicted, ["yes" if score > 0 else "no, never" for (score,) in scores])
        self.assertEqual(predicted[:2], ["yes", "no, never"])
        model = Onnx(self.exported("onnx"))
        self.assertEqual(json.loads(model.metadata["labels"]), ["no, never", "yes"])
        rows = [[40.0 if age == "?" else float(age), float(job == "clerk"), float(job == "nurse")] for age, job, _ in records]
        self.assert_close([model.run(row) for row in rows], scores)
        self.assertNotIn("decision", model.metadata)
        with self.subTest("onnx's checker"):
            self.check_onnx_checker()
        (self.folder / "out").rename(self.folder / "without")
        self.train(TABLE_JOB, "--data", data, "--set", "model.threshold=0.75")
        self.assertAlmostEqual(float(Onnx(self.exported("onnx")).metadata["decision"]), math.log(3), places=12)

    def assert_overwrites_no_input(self):
        """Of every command with an output file; the run in out/ is of one step."""
        model, test = "out/model.npz", sorted((self.folder / "out/test").iterdir())
        (self.folder / "link").symlink_to(self.folder / model)
        images = next(file for file in test if "images" in file.name)
        (self.folder / "in.npy").write_bytes(NPY_OF_ONE_IMAGE)
        for inputs, option, outputs in [
            (("predict", "--model", model, "--data", "out/test"), "--out", (model, "link", *test)),
            (("evaluate", "--model", model, "--data", "out/test"), "--out", (model, *test)),
            (("report", "out"), "--out", (model, "link", "out/summary.json", "out/party-1/out/record.json", images)),
            (("account", "--record", "out/record.json", "--delta", 1e-5), "--curve", ("out/record.json",)),
            (("features", "--method", "hog", "--in", "in.npy"), "--out", ("in.npy", self.folder / "in.npy")),
        ]:
            for output in outputs:
                with self.subTest(command=inputs[0], output=output):
                    before = (self.folder / output).read_bytes()
                    self.fail_with(2, f"{option}: found the input itself, {output}, expected another file", *inputs, option, output)
                    self.assertEqual((self.folder / output).read_bytes(), before)

    def test_names_and_overwriting(self):
        self.train(TINY_JOB, "--set", "training.steps=1")
        export = ("export", "--model", "out/model.npz", "--format")
        self.assertRegex(self.succeed(*export, "onnx"), r"^out/model\.onnx: 784 features, 0 hidden layers, 10 classes, \d+ bytes\n$")
        before = (self.folder / "out/model.onnx").read_bytes()
        self.succeed(*export, "onnx")
        self.assertEqual((self.folder / "out/model.onnx").read_bytes(), before)
        self.fail_with(2, "--out: found the input itself", *export, "npz")
        self.fail_with(2, "--out: found the input itself", *export, "onnx", "--out", "out/../out/model.npz")
        self.fail_with(2, "--format: ", *export, "pickle")
        self.fail_with(1, "none/m.onnx: cannot be written", *export, "onnx", "--out", "none/m.onnx")
        self.fail_with(4, "none.npz: ", "export", "--model", "none.npz", "--format", "onnx")

        self.assert_overwrites_no_input()

        predict = ("predict", "--model", "out/model.npz", "--data")
        self.fail_with(4, "none.gz: is not there", *predict, "none.gz")
        self.fail_with(2, "--data: found 3 files, expected features, or features and labels", *predict, *["job.toml"] * 3)
        self.fail_with(4, "magic number", *predict, "job.toml")
        self.fail_with(4, "job.toml", "predict", "--model", "job.toml", "--data", "out/test")
        self.fail_with(1, "none/p.csv: cannot be written", *predict, "out/test", "--out", "none/p.csv")


if __name__ == "__main__":
    unittest.main()
