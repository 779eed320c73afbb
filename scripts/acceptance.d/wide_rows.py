#!/usr/bin/env python3
"""Writes data for wide.toml: random numbers of one byte, and a class at random.

Usage: wide_rows.py FOLDER. What is there already is not written again.
"""

import pathlib
import random
import struct
import sys

SIDES = (108, 144)
TRAINED, TESTED = 18_000, 300
CLASSES = 10


def write(path, shape, rows):
    with open(path, "wb") as file:
        file.write(bytes([0, 0, 8, len(shape)]) + struct.pack(f">{len(shape)}I", *shape))
        file.writelines(rows)


def main():
    folder = pathlib.Path(sys.argv[1])
    coins = random.Random(1)
    if (folder / "done").exists():
        return
    folder.mkdir(parents=True, exist_ok=True)
    for name, count in (("train", TRAINED), ("t10k", TESTED)):
        write(folder / f"{name}-images-idx3-ubyte", (count, *SIDES), (coins.randbytes(SIDES[0] * SIDES[1]) for _ in range(count)))
        write(folder / f"{name}-labels-idx1-ubyte", (count,), [bytes(coins.randrange(CLASSES) for _ in range(count))])
    (folder / "done").touch()


if __name__ == "__main__":
    main()
