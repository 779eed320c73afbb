#!/usr/bin/env python3
"""A hundred owners deposit 600 MNIST images each, and three parties train on all 60,000: every record in every step, or batches
that the owners drew; every record in every step also in blocks, with data.memory. Beside it three parties train on the same
images as their own data, by owner-poisson sampling, at the same epsilon and delta.

Usage: hundred_owners.py TREFOIL MNIST FOLDER SAMPLING     SAMPLING: full or deposited

FOLDER is made anew. Prints a line a stage; the last one has the longest deposit and the bytes of one, which with deposited batches
`plan` has to say before, the time of `store check` of all deposits at the slowest party, and both accuracies on the 10,000 test
images. A line before it has time, accuracy and memory of a training in blocks. Exit code: 0, or that of what failed.
"""

import gzip
import json
import pathlib
import re
import shutil
import struct
import subprocess
import sys
import time

PROJECT = pathlib.Path(__file__).resolve().parents[2]
OWNERS, IMAGES = 100, 600
FIRST_PORT = 7880
STEPS = 120  # with the rate and the clip of configs/mnist.toml
BATCH = 2048
MEMORY = 256  # MiB of a training in blocks
PROGRAM = 200e6  # bytes of a party beside its rows, at most


def job_text(sampling):
    """configs/mnist.toml on deposits, without data.study."""
    text = (PROJECT / "configs/mnist.toml").read_text()
    text = re.sub(r"(?m)^rows = .*$", f'source = "store"\ncapacity = {OWNERS * IMAGES}', text)
    text = re.sub(r"(?m)^fraction_bits = .* of pixels.*\n", "", text)  # narrow rows are of parties' own data
    batch = '"auto"' if sampling == "full" else BATCH
    text = re.sub(r"(?s)\[training\].*?(?=\n\[privacy\])",
                  f'[training]\nsteps = {STEPS}\nexpected_batch = {batch}\nlearning_rate = 10.0\nmomentum = 0.9\nschedule = "linear"\n', text)
    text = text.replace('sampling = "owner-poisson"', f'sampling = "{sampling}"').replace('accountant = "rdp"', 'accountant = "pld"')
    if sampling == "deposited":
        text = text.replace("[model]", f'[batches]\nrun = "hundred"\ndeposits = {OWNERS}\nrecords = {IMAGES}\n\n[model]')
    return re.sub(r"(?s)\n\[local\].*", "\n", text)


def main():
    trefoil, mnist, out, sampling = sys.argv[1], *map(pathlib.Path, sys.argv[2:4]), sys.argv[4]
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)

    def run(*words):
        done = subprocess.run([trefoil, *map(str, words)], stdout=subprocess.PIPE, text=True)
        if done.returncode != 0:
            sys.exit(done.returncode)
        return done.stdout

    def together(*words):
        """The same command at all three parties; how long the slowest took."""
        start = time.monotonic()
        processes = [subprocess.Popen([trefoil, *(str(word).format(party) for word in words)], stdout=subprocess.DEVNULL) for party in range(3)]
        codes = [process.wait() for process in processes]
        if any(codes):
            sys.exit(max(codes))
        return time.monotonic() - start

    job = out / "job.toml"
    job.write_text(job_text(sampling))
    run("init", "--all", "--hosts", ",".join(["127.0.0.1"] * 3), "--base-port", FIRST_PORT, "--out", out / "d")
    made = run("study", "init", "--job", job, "--keys", *(out / f"d/party-{party}/deposit.pub" for party in range(3)), "--out", out / "study.toml")
    study = re.search(r"(?m)^id +([0-9a-f]{64})$", made)[1]
    job.write_text(job.read_text().replace("capacity = ", f'study = "{study}"\ncapacity = ', 1))
    planned = json.loads(run("plan", "--job", job, "--json")).get("deposit_bytes")

    images = gzip.decompress((mnist / "train-images-idx3-ubyte.gz").read_bytes())[16:]
    labels = gzip.decompress((mnist / "train-labels-idx1-ubyte.gz").read_bytes())[8:]
    longest = 0.0
    for owner in range(OWNERS):
        name, own = f"owner-{owner:02}", out / "owners" / f"{owner:02}"
        own.mkdir(parents=True)
        rows = range(owner * IMAGES, (owner + 1) * IMAGES)
        (own / "x").write_bytes(struct.pack(">IIII", 0x803, IMAGES, 28, 28) + images[rows.start * 784:rows.stop * 784])
        (own / "y").write_bytes(struct.pack(">II", 0x801, IMAGES) + labels[rows.start:rows.stop])
        run("owner", "init", "--out", own / "key")
        start = time.monotonic()
        run("deposit", "--study", out / "study.toml", "--key", own / "key/owner.key", "--in", own / "x", own / "y",
            *(["--capacity", IMAGES] if sampling == "full" else []), "--out", own / "deposit")
        longest = max(longest, time.monotonic() - start)
        sizes = [(own / f"deposit/party-{party}.deposit").stat().st_size for party in range(3)]
        if planned is not None and sizes != planned:
            sys.exit(f"{name}: found deposits of {sizes} bytes, expected {planned}")
        for party in range(3):
            run("trust-owner", "--config", out / f"d/party-{party}/party.toml", "--name", name, own / "key/owner.pub")
            run("accept", "--config", out / f"d/party-{party}/party.toml", "--study", out / "study.toml", own / f"deposit/party-{party}.deposit")
        shutil.rmtree(own)
    print(f"{OWNERS} owners deposited {sizes} bytes each, {longest:.2f} s for the slowest", flush=True)
    checked = together("store", "check", "--config", out / "d/party-{}/party.toml", "--study", out / "study.toml")
    print(f"all checked on shares in {checked:.1f} s", flush=True)
    trained = together("run", "--config", out / "d/party-{}/party.toml", "--job", job, "--out", out / "run-{}")
    print(f"trained on deposits in {trained:.1f} s", flush=True)
    test = [mnist / "t10k-images-idx3-ubyte.gz", mnist / "t10k-labels-idx1-ubyte.gz"]
    of_deposits = json.loads(run("evaluate", "--model", out / "run-0/model.npz", "--data", *test, "--json"))["accuracy"]
    if sampling == "full":
        job.write_text(job.read_text().replace("capacity = ", f"memory = {MEMORY}\ncapacity = ", 1))
        trained = together("run", "--config", out / "d/party-{}/party.toml", "--job", job, "--out", out / "blocks-{}")
        of_blocks = json.loads(run("evaluate", "--model", out / "blocks-0/model.npz", "--data", *test, "--json"))["accuracy"]
        peaks = [[json.loads((out / f"{kind}-{party}/summary.json").read_text())["cost"]["peak_rss_bytes"] for party in range(3)]
                 for kind in ("run", "blocks")]
        print(f"with data.memory {MEMORY} trained in {trained:.1f} s, accuracy {of_blocks:.4f}, "
              f"{max(peaks[1]) / 1e6:.0f} MB of memory a party where {max(peaks[0]) / 1e6:.0f} MB were before", flush=True)
        if max(peaks[1]) > MEMORY * 2**20 + PROGRAM or abs(of_blocks - of_deposits) > 0.01:
            sys.exit("a training in blocks: expected data.memory to hold, and about the accuracy of one without")
    run("local", "--job", PROJECT / "configs/mnist.toml", "--data", mnist, "--set", "privacy.accountant=pld", "--out", out / "own")
    of_own = json.loads(run("evaluate", "--model", out / "own/model.npz", "--data", *test, "--json"))["accuracy"]
    print(f"deposit {longest:.2f} s at most, {sum(sizes) / 1e6:.1f} MB, check {checked:.1f} s, accuracy {of_deposits:.4f}, of own data {of_own:.4f}")


if __name__ == "__main__":
    main()
