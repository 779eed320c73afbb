"""What the tests of the Python package share. They use the package as it is installed, or PYTHONPATH=build/python."""

import json
import pathlib
import sys

import numpy as np
import pytest

import trefoil
from trefoil import _program

PROJECT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(PROJECT / "tests" / "apps"))
from free_ports import free_base_port  # noqa: E402  (it lies beside the program's tests)

NOTEBOOKS = sorted((PROJECT / "examples" / "notebooks").glob("*.ipynb"))


def cells_of(notebook, kind):
    return [cell for cell in json.loads(notebook.read_text())["cells"] if cell["cell_type"] == kind]


def toy_keys(**training):
    """A job that is over in a fraction of a second: three classes that one number in three tells apart."""
    return {
        "type": "dpsgd",
        "name": "toy",
        "data": {"name": "toy", "format": "npy", "rows": [100, 100, 100], "features": 6, "classes": 3},
        "training": {
            "steps": 12,
            "expected_batch": 60,
            "max_batch_per_owner": 60,
            "learning_rate": 3.0,
            **training,
        },
        "privacy": {"epsilon": 4.0, "delta": 1e-5, "clip": 1.0},
    }


def toy_records(seed, rows=100):
    generator = np.random.default_rng(seed)
    y = generator.integers(0, 3, rows)
    X = generator.normal(0, 0.1, (rows, 6))
    X[np.arange(rows), y] += 0.6
    return X, y


@pytest.fixture(autouse=True)
def own_ports(monkeypatch):
    """Trial parties get ports that no other test is given, also between two runs, when nobody listens there."""
    monkeypatch.setattr("trefoil.party._free_ports", free_base_port)


@pytest.fixture(scope="session")
def job():
    return trefoil.Job.from_dict(toy_keys())


@pytest.fixture(scope="session")
def parties():
    return [toy_records(seed) for seed in range(3)]


@pytest.fixture(scope="session")
def result(job, parties):
    return trefoil.simulate(job, parties)


@pytest.fixture
def party_files(tmp_path):
    """Three party folders, certificates exchanged, as the program makes them; skipped without the program."""
    if not _program.PROGRAM.exists():
        pytest.skip("the program, which makes the parties' keys, is not built with the package")
    files = [party.file for party in trefoil.trial_parties(tmp_path)]
    for file in files:
        text = file.read_text().replace('start = "120s"', 'start = "20s"')
        file.write_text(text.replace('peer = "10s"', 'peer = "5s"'))
    return files
