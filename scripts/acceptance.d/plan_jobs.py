#!/usr/bin/env python3
"""Writes a job that is no training, and made-up data for it, for scripts/acceptance operation plan.

Usage: plan_jobs.py histogram|pate|classifier-average|ensemble-transfer FOLDER: FOLDER/job.toml, and FOLDER/data for `trefoil local`.
"""

import pathlib
import random
import struct
import sys

VALUES = 200

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
}


def write_npy(path, description, rows, cols, values):
    header = f"{{'descr': '{description}', 'fortran_order': False, 'shape': ({rows}, {cols}), }}".ljust(117) + "\n"
    code = {"|i1": "b", "<f8": "d"}[description]
    path.write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + struct.pack(f"<{rows * cols}{code}", *values))


def write_data(kind, folder):
    source = random.Random(5)
    if kind == "histogram":
        (folder / "train.csv").write_text("value\n" + "".join(f"{source.randrange(VALUES)}\n" for _ in range(600000)))
    elif kind == "pate":
        right = [source.randrange(10) for _ in range(60000)]
        votes = [(label + (teacher % 10 == 0)) % 10 for teacher in range(250) for label in right]
        write_npy(folder / "predictions.npy", "|i1", 250, 60000, votes)
        (folder / "queries.csv").write_text("".join(f"{k}\n" for k in range(60000)))
    elif kind == "classifier-average":
        points = [(source.random(), source.random()) for _ in range(300)]
        (folder / "train.csv").write_text("a,b,c\n" + "".join(f"{a},{b},{'yes' if a > b else 'no'}\n" for a, b in points))
    else:
        rows = [source.uniform(-0.1, 0.1) for _ in range(4000 * 100)]
        write_npy(folder / "queries.npy", "<f8", 4000, 100, rows)
        write_npy(folder / "predictions.npy", "|i1", 100, 4000, [int(rows[100 * k] > 0) for _ in range(100) for k in range(4000)])


def main():
    kind, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    (folder / "data").mkdir(parents=True)
    (folder / "job.toml").write_text(HEAD.format(kind=kind) + SETTINGS[kind])
    write_data(kind, folder / "data")


if __name__ == "__main__":
    main()
