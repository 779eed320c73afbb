#!/usr/bin/env python3
"""Trains on records that are larger than the memory that a party may take.

Makes one IDX file of at least so many GiB from the prepared parties' MNIST images: again and again all of them, each time with other
noise in the pixels that are not black. Each party reads that file as its own, under a limit on its address space (RLIMIT_AS).

Usage: larger_than_memory.py TREFOIL FOLDER --gib G --limit-gib L. FOLDER is what `trefoil local --prepare` wrote. Prints one line: the
size, each party's peak of resident memory, steps, milliseconds a step, accuracy on MNIST's test images. Exit code 0 if all parties ended
with 0 and the accuracy is at least 0.75, 1 otherwise. The file is removed.
"""

import argparse
import gzip
import json
import pathlib
import random
import re
import resource
import subprocess
import sys

GIB = 1 << 30
LEAST_ACCURACY = 0.75


def read_idx(path):
    content = pathlib.Path(path).read_bytes()
    if content[:2] == b"\x1f\x8b":
        content = gzip.decompress(content)
    return content[4 + 4 * content[3]:]


def head(shape):
    return bytes([0, 0, 8, len(shape)]) + b"".join(size.to_bytes(4, "big") for size in shape)


def data_files(party):
    text = (party / "party.toml").read_text()
    return [pathlib.Path(re.search(rf'(?m)^{key} = "(.*)"', text)[1]) for key in ("x", "y")]


def write_data(folder, size):
    """The files, and their number of rows."""
    parts = [[read_idx(party / name) for name in data_files(party)] for party in sorted(folder.glob("party-?"))]
    images = b"".join(x for x, _ in parts)
    labels = b"".join(y for _, y in parts)
    times = -(-size // len(images))
    rows = times * len(labels)
    # The lowest two bits of every pixel that is not black.
    pixels = int.from_bytes(images, "little")
    noisy = int.from_bytes(images.translate(bytes(1) + 255 * b"\3"), "little")
    coins = random.Random(1)
    with open(folder / "x.idx", "wb") as file:
        file.write(head([rows, len(images) // len(labels)]))
        for _ in range(times):
            noise = noisy & coins.getrandbits(8 * len(images))
            file.write((pixels ^ noise).to_bytes(len(images), "little"))
    (folder / "y.idx").write_bytes(head([rows]) + times * labels)
    return rows


def start(trefoil, folder, party, limit):
    own = folder / f"party-{party}"
    for name, file in zip(data_files(own), ("x.idx", "y.idx")):
        (own / name).unlink()
        (own / name).symlink_to(folder / file)
    with open(own / "console.log", "w") as console:
        return subprocess.Popen(
            [trefoil, "run", "--config", own / "party.toml", "--job", folder / "job.toml", "--out", own / "out", "--threads", "1"],
            stdout=console, stderr=subprocess.STDOUT,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("trefoil")
    parser.add_argument("folder", type=lambda path: pathlib.Path(path).resolve())
    parser.add_argument("--gib", type=float, required=True)
    parser.add_argument("--limit-gib", type=float, required=True)
    options = parser.parse_args()
    folder = options.folder
    try:
        rows = write_data(folder, int(options.gib * GIB))
        parties = [start(options.trefoil, folder, party, int(options.limit_gib * GIB)) for party in range(3)]
        codes = [party.wait() for party in parties]
    finally:
        (folder / "x.idx").unlink(missing_ok=True)
    if any(codes):
        print(*(f"party {k} ended with {code}: {(folder / f'party-{k}/console.log').read_text()[-300:]}" for k, code in enumerate(codes)))
        return 1
    summaries = [json.loads((folder / f"party-{k}/out/summary.json").read_text()) for k in range(3)]
    output = subprocess.run([options.trefoil, "evaluate", "--json", "--model", folder / "party-0/out/model.npz", "--data",
                             folder / "test"], check=True, capture_output=True).stdout
    accuracy = json.loads(output)["accuracy"]
    steps, seconds = summaries[0]["results"]["dpsgd"]["steps"], summaries[0]["cost"]["seconds"]
    peaks = ", ".join(f"{summary['cost']['peak_rss_bytes'] >> 20}" for summary in summaries)
    print(f"{rows} rows of {options.gib:g} GiB; peak MiB {peaks}; {steps} steps of {1000 * seconds / steps:.0f} ms; accuracy {accuracy}")
    return 0 if accuracy >= LEAST_ACCURACY else 1


if __name__ == "__main__":
    sys.exit(main())
