"""The notebooks of examples/notebooks: they run, and git has none of their outputs."""

import os
import pathlib

import pytest
from conftest import NOTEBOOKS, PROJECT, cells_of

from trefoil import _program

NEEDS = {"cnn_on_mnist": ["torch"], "features_of_a_foundation_model": ["wordllama"]}
"""Packages that one notebook alone imports."""
DATA = {
    "cnn_on_mnist": "mnist/train-images-idx3-ubyte.gz",
    "features_of_a_foundation_model": "imdb/imdb-train.csv.xz",
}
SHORTER = {"cnn_on_mnist": ("STEPS, BATCH = 800, 1200", "STEPS, BATCH = 2, 30")}
"""What would take more than a minute is tried with other numbers, and without the last cell, which asserts what the
whole run shows: scripts/acceptance python."""


def test_finds_them():
    assert len(NOTEBOOKS) == 7


@pytest.mark.parametrize("file", NOTEBOOKS, ids=lambda file: file.stem)
def test_keeps_no_outputs(file):
    assert all(cell["outputs"] == [] and cell["execution_count"] is None for cell in cells_of(file, "code"))
    assert "".join(cells_of(file, "markdown")[0]["source"]).startswith("# ")


def data_folder(file):
    """Of the data set that a notebook reads: where the program looks for it, too."""
    for folder in (os.environ.get("TREFOIL_DATA"), PROJECT.parent / "shared" / "data"):
        if folder and (pathlib.Path(folder) / file).exists():
            return str(folder)
    pytest.skip(f"no data: found no {file} in TREFOIL_DATA or shared/data")


def shortened(notebook, long, short):
    found = [cell for cell in notebook.cells if long in cell.source]
    assert len(found) == 1
    found[0].source = found[0].source.replace(long, short)
    assert notebook.cells.pop().source.startswith("assert ")


@pytest.mark.skipif(not _program.PROGRAM.exists(), reason="the program is not built with the package")
@pytest.mark.parametrize("file", NOTEBOOKS, ids=lambda file: file.stem)
def test_runs(file, tmp_path, monkeypatch):
    for name in ("ipykernel", "matplotlib", "pandas", "sklearn", *NEEDS.get(file.stem, ())):
        pytest.importorskip(name)
    nbformat = pytest.importorskip("nbformat")
    client = pytest.importorskip("nbclient").NotebookClient
    if file.stem in DATA:
        monkeypatch.setenv("TREFOIL_DATA", data_folder(DATA[file.stem]))
    notebook = nbformat.read(file, as_version=4)
    nbformat.validate(notebook)
    if file.stem in SHORTER:
        shortened(notebook, *SHORTER[file.stem])
    client(notebook, timeout=240, kernel_name="python3", resources={"metadata": {"path": str(tmp_path)}}).execute()
