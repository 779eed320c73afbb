#!/usr/bin/env python3
"""Makes of extracted features what plain_training.py reads, so that its runs are cheap.

Usage: plain_rows.py DIR [COLUMNS]      prints how many features there are now
  DIR       has train.npz and test.npz of x and y, and gets PART-x.npy, or, where most numbers are zero, PART-x.npz (SciPy's), and
            PART-y.npy
  COLUMNS   to so many: a public random projection of the rows, each scaled to the length that it had
Packages: numpy, scipy.
"""
import pathlib
import sys

import numpy
import scipy.sparse

MOSTLY_ZERO = 0.2


def projected(rows, columns):
    directions = numpy.random.default_rng(0).standard_normal((rows.shape[1], columns), dtype=numpy.float32)
    made = rows @ directions
    return made * (numpy.linalg.norm(rows, axis=1) / numpy.linalg.norm(made, axis=1))[:, None]


def main():
    folder = pathlib.Path(sys.argv[1])
    for part in ("train", "test"):
        with numpy.load(folder / f"{part}.npz") as arrays:
            x, y = arrays["x"], arrays["y"]
        if len(sys.argv) > 2:
            x = projected(x, int(sys.argv[2]))
        numpy.save(folder / f"{part}-y.npy", y)
        if numpy.count_nonzero(x[:100]) < MOSTLY_ZERO * x[:100].size:
            scipy.sparse.save_npz(folder / f"{part}-x.npz", scipy.sparse.csr_matrix(x), compressed=False)
        else:
            numpy.save(folder / f"{part}-x.npy", x)
    print(x.shape[1])


if __name__ == "__main__":
    main()
