"""The package's types."""

import pytest
from conftest import PROJECT


def test_passes_mypy_strictly(tmp_path):
    api = pytest.importorskip("mypy.api", reason="mypy is not installed")
    arguments = ["--strict", "--config-file", PROJECT / "pyproject.toml", "--cache-dir", tmp_path]
    said, wrong, code = api.run([*map(str, arguments), str(PROJECT / "python" / "trefoil")])
    assert code == 0, said + wrong
