#!/usr/bin/env python3
"""Writes a job that is no training, and made-up data for it, for scripts/acceptance operation plan.

Usage: plan_jobs.py TYPE FOLDER: FOLDER/job.toml, and FOLDER/data for `trefoil local`.
  TYPE     histogram, pate, classifier-average, ensemble-transfer, sum, least-squares, statistics or tune
"""

import array
import itertools
import pathlib
import random
import struct
import sys

VALUES = 200
DIMENSION = 1_000_000
SUMS = 3  # one takes less than half a second, from which on times are compared
FEATURES = 600  # fewer make equations that are solved in less than that
COLUMNS = [f"c{k}" for k in range(40)]
EDGES = list(range(3, 93, 3))  # of each column: with all pairs' tables nearly the million numbers that a job may release

HEAD = 'version = 1\ntype = "{kind}"\nname = "planned"\n'
SETTINGS = {
    "histogram": f"""[data]
name = "planned"
format = "csv"
rows = [100000, 100000, 100000]
[histogram]
mode = "local"
randomiser = "symmetric-unary"
column = "value"
values = [{", ".join(f'"{v}"' for v in range(VALUES))}]
[privacy]
epsilon = 1.0
delta = 1e-5
""",
    # Sure of its answers: as many as the job allows are given, and planned.
    "pate": """[pate]
teachers = [84, 83, 83]
queries = 60000
classes = 10
mechanism = "confident-gnmax"
sigma = 4.0
threshold = 10.0
threshold_sigma = 15.0
answers = 40000
[privacy]
delta = 1e-5
""",
    "classifier-average": """fraction_bits = 16
[data]
name = "planned"
format = "csv"
rows = [100, 100, 100]
classes = 2
column = [{ name = "a" }, { name = "b" }]
label = { column = "c", values = ["no", "yes"] }
[owners]
count = [2, 2, 2]
least_rows = 20
[average]
lambda = 0.1
scales = 16
[privacy]
epsilon = 1.0
delta = 1e-6
neighbours = "replaced"
[local]
owner_rows = [50, 50, 50, 50, 50, 50]
""",
    "ensemble-transfer": """[ensemble]
owners = [34, 33, 33]
queries = 4000
features = 100
lambda = 0.1
steps = 120
[privacy]
epsilon = 1.0
delta = 1e-5
""",
    "sum": f"""[data]
name = "planned"
rows = [1, 1, 1]
[sum]
dimension = {DIMENSION}
norm_bound = 1.0
calls = {SUMS}
[privacy]
epsilon = 1.0
delta = 1e-6
""",
    "least-squares": f"""[data]
name = "planned"
format = "npy"
rows = [2000, 2000, 2000]
features = {FEATURES}
classes = 10
[features]
row_norm = 1.0
[privacy]
epsilon = 1.0
delta = 1e-5
""",
    "statistics": f"""[data]
name = "planned"
format = "csv"
rows = [200, 200, 200]
column = [{", ".join(f'{{ name = "{name}", low = 0.0, high = 100.0, edges = {EDGES}, missing = [] }}' for name in COLUMNS)}]
[statistics]
bins = 4096
correlations = [{", ".join(f'"{name}"' for name in COLUMNS)}]
table = [{", ".join(f'{{ rows = "{one}", columns = "{other}" }}' for one, other in itertools.combinations(COLUMNS, 2))}]
[privacy]
epsilon = 1.0
delta = 1e-5
""",
    # In bulk form: on fast networks both may be expected to take as long, and a run goes by what it measures of a busy machine.
    "tune": """[data]
name = "planned"
format = "npy"
rows = [4000, 4000, 4000]
features = 784
classes = 10
[features]
row_norm = 4.0
[training]
steps = 20
expected_batch = 1024
max_batch_per_owner = 480
learning_rate = 8.0
comparison = "bulk"
[privacy]
epsilon = 6.0
delta = 1e-5
clip = 2.0
[evaluation]
holder = 2
rows = 2000
sigma = 20.0
[tune]
learning_rate = [2.0, 4.0, 8.0, 16.0]
competing = 2.0
""",
}


def write_npy(path, description, shape, values):
    header = f"{{'descr': '{description}', 'fortran_order': False, 'shape': {shape}, }}".ljust(117) + "\n"
    code = {"|i1": "b", "<f8": "d", "<i8": "q"}[description]
    path.write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + array.array(code, values).tobytes())


def write_classes(folder, part, rows, features, source):
    """Rows of ten classes, each of which has a feature that its rows have more of."""
    labels = [source.randrange(10) for _ in range(rows)]
    values = (source.random() + (k % 10 == label) for label in labels for k in range(features))
    write_npy(folder / f"{part}-x.npy", "<f8", (rows, features), values)
    write_npy(folder / f"{part}-y.npy", "<i8", (rows,), labels)


def write_data(kind, folder):
    source = random.Random(5)
    if kind == "histogram":
        (folder / "train.csv").write_text("value\n" + "".join(f"{source.randrange(VALUES)}\n" for _ in range(600000)))
    elif kind == "pate":
        right = [source.randrange(10) for _ in range(60000)]
        votes = [(label + (teacher % 10 == 0)) % 10 for teacher in range(250) for label in right]
        write_npy(folder / "predictions.npy", "|i1", (250, 60000), votes)
        (folder / "queries.csv").write_text("".join(f"{k}\n" for k in range(60000)))
    elif kind == "classifier-average":
        points = [(source.random(), source.random()) for _ in range(300)]
        (folder / "train.csv").write_text("a,b,c\n" + "".join(f"{a},{b},{'yes' if a > b else 'no'}\n" for a, b in points))
    elif kind == "sum":
        for call in range(1, SUMS + 1):
            write_npy(folder / f"vectors-{call}.npy", "<f8", (3, DIMENSION), (source.uniform(-1e-3, 1e-3) for _ in range(3 * DIMENSION)))
    elif kind == "least-squares":
        write_classes(folder, "train", 6000, FEATURES, source)
    elif kind == "statistics":
        rows = (",".join(f"{source.uniform(0, 100):.2f}" for _ in COLUMNS) for _ in range(600))
        (folder / "train.csv").write_text("\n".join([",".join(COLUMNS), *rows]) + "\n")
    elif kind == "tune":
        write_classes(folder, "train", 12000, 784, source)
        write_classes(folder, "test", 2000, 784, source)
    else:
        rows = [source.uniform(-0.1, 0.1) for _ in range(4000 * 100)]
        write_npy(folder / "queries.npy", "<f8", (4000, 100), rows)
        write_npy(folder / "predictions.npy", "|i1", (100, 4000), [int(rows[100 * k] > 0) for _ in range(100) for k in range(4000)])


def main():
    kind, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    (folder / "data").mkdir(parents=True)
    (folder / "job.toml").write_text(HEAD.format(kind=kind) + SETTINGS[kind])
    write_data(kind, folder / "data")


if __name__ == "__main__":
    main()
