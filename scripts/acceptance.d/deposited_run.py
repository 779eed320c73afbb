#!/usr/bin/env python3
"""Three parties with the deposits that a job of configs/ trains on, for scripts/acceptance scale plan.

Usage: deposited_run.py heart|demo-owners FOLDER HOSTS STEPS [HEART]
  FOLDER   gets job.toml, party-0, party-1 and party-2, as `trefoil local --prepare` makes them
  HOSTS    of the three parties, as A,B,C
  STEPS    of the training, which compares in bulk form
  HEART    the folder with the hospitals' records; without it they are generated
The four hospitals deposit as in scripts/demo-owners; the owner of demo-owners the digits that
configs/demo.toml generates for party 0, as in docker-compose.yml.
"""

import importlib.machinery
import importlib.util
import pathlib
import re
import shutil
import sys
import tempfile

PROJECT = pathlib.Path(__file__).resolve().parents[2]
CAPACITY = 4096  # of configs/demo-owners.toml


def demo():
    """scripts/demo-owners as a module."""
    loader = importlib.machinery.SourceFileLoader("demo_owners", str(PROJECT / "scripts/demo-owners"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("demo_owners", loader))
    loader.exec_module(module)
    return module


def deposit_digits(owners, folder, parties):
    with tempfile.TemporaryDirectory() as made:
        records = pathlib.Path(made) / "records"
        owners.trefoil("local", "--job", PROJECT / "configs/demo.toml", "--prepare", "--out", records)
        files = sorted((records / "party-0/data").iterdir())  # images, then labels
        own = folder / "owner"
        own.mkdir()
        owners.deposit_files("hospital", files, CAPACITY, own, folder, parties)


def deposit_hospitals(owners, folder, parties, records):
    for hospital in owners.CAPACITIES:
        owners.deposit(hospital, owners.lines_of(hospital, records), folder, parties)


def main():
    name, folder, hosts, steps = sys.argv[1], pathlib.Path(sys.argv[2]), sys.argv[3].split(","), sys.argv[4]
    records = pathlib.Path(sys.argv[5]) if len(sys.argv) > 5 else None
    owners = demo()
    shutil.rmtree(folder, ignore_errors=True)
    parties = owners.prepare_parties(folder, hosts)
    job = owners.prepare_job(folder, parties, None, name)
    job.write_text(re.sub(r"(?m)^steps = .*$", f'steps = {steps}\ncomparison = "bulk"', job.read_text()))
    if name == "heart":
        deposit_hospitals(owners, folder, parties, records)
    else:
        deposit_digits(owners, folder, parties)


if __name__ == "__main__":
    main()
