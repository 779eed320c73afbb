"""The notebooks of examples/notebooks: they run, and git has none of their outputs."""

import json

import pytest
from conftest import PROJECT

from trefoil import _program

NOTEBOOKS = sorted((PROJECT / "examples" / "notebooks").glob("*.ipynb"))


def cells_of(file, kind):
    return [cell for cell in json.loads(file.read_text())["cells"] if cell["cell_type"] == kind]


def test_finds_them():
    assert len(NOTEBOOKS) == 5


@pytest.mark.parametrize("file", NOTEBOOKS, ids=lambda file: file.stem)
def test_keeps_no_outputs(file):
    assert all(cell["outputs"] == [] and cell["execution_count"] is None for cell in cells_of(file, "code"))
    assert "".join(cells_of(file, "markdown")[0]["source"]).startswith("# ")


@pytest.mark.skipif(not _program.PROGRAM.exists(), reason="the program is not built with the package")
@pytest.mark.parametrize("file", NOTEBOOKS, ids=lambda file: file.stem)
def test_runs(file, tmp_path):
    for name in ("ipykernel", "matplotlib", "pandas", "sklearn"):
        pytest.importorskip(name)
    nbformat = pytest.importorskip("nbformat")
    client = pytest.importorskip("nbclient").NotebookClient
    notebook = nbformat.read(file, as_version=4)
    nbformat.validate(notebook)
    client(notebook, timeout=120, kernel_name="python3", resources={"metadata": {"path": str(tmp_path)}}).execute()
