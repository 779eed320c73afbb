"""The package's types, and those of the examples that use it."""

import os

import pytest
from conftest import NOTEBOOKS, PROJECT, cells_of


def check_strictly(tmp_path, *files):
    api = pytest.importorskip("mypy.api", reason="mypy is not installed")
    arguments = ["--strict", "--config-file", PROJECT / "pyproject.toml", "--cache-dir", tmp_path / "cache", *files]
    said, wrong, code = api.run([*map(str, arguments)])
    assert code == 0, said + wrong


def test_passes_mypy_strictly(tmp_path):
    check_strictly(tmp_path, PROJECT / "python" / "trefoil")


def test_notebooks_pass_mypy_strictly(tmp_path, monkeypatch):
    monkeypatch.setenv("MYPYPATH", os.fspath(PROJECT / "python"))
    programs = []
    for file in NOTEBOOKS:
        cells = ["".join(cell["source"]) for cell in cells_of(file, "code")]
        programs.append(tmp_path / f"{file.stem}.py")
        programs[-1].write_text("\n\n".join(cells) + "\n")
    check_strictly(tmp_path, *programs)
