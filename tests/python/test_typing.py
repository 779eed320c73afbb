"""The package's types, and those of the examples that use it."""

import os

import pytest
from conftest import NOTEBOOKS, PROJECT, cells_of


@pytest.fixture(scope="module")
def cache(tmp_path_factory):
    """What mypy found out about NumPy and other packages, which takes most of the time."""
    return tmp_path_factory.mktemp("cache")


def check_strictly(cache, *files):
    api = pytest.importorskip("mypy.api", reason="mypy is not installed")
    arguments = ["--strict", "--config-file", PROJECT / "pyproject.toml", "--cache-dir", cache, *files]
    said, wrong, code = api.run([*map(str, arguments)])
    assert code == 0, said + wrong


def test_passes_mypy_strictly(cache):
    check_strictly(cache, PROJECT / "python" / "trefoil")


def test_notebooks_pass_mypy_strictly(cache, tmp_path, monkeypatch):
    monkeypatch.setenv("MYPYPATH", os.fspath(PROJECT / "python"))
    programs = []
    for file in NOTEBOOKS:
        cells = ["".join(cell["source"]) for cell in cells_of(file, "code")]
        programs.append(tmp_path / f"{file.stem}.py")
        programs[-1].write_text("\n\n".join(cells) + "\n")
    check_strictly(cache, *programs)
