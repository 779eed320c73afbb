"""The hierarchy of errors, against the header that declares them."""

import re

import pytest
from conftest import PROJECT, toy_keys

import trefoil
import trefoil.errors
from trefoil import _core, _program


def test_has_a_class_for_each_error_of_the_library():
    declared = set(re.findall(r"^class (\w+) : public", (PROJECT / "include/trefoil/error.h").read_text(), re.M))
    made = {name for name, kind in vars(trefoil.errors).items() if isinstance(kind, type)}
    assert made == declared | {"Error", "PassingError"}  # the latter is of exit codes alone
    for name in declared | {"PassingError"}:
        assert issubclass(getattr(trefoil, name), trefoil.Error)


def test_stubs_name_what_the_module_has():
    stub = (PROJECT / "python/trefoil/_core.pyi").read_text()
    stubbed = set(re.findall(r"^(?:def|class) (\w+)", stub, re.M)) - {"ModelParts", "JobResult"}
    assert stubbed == {name for name in dir(_core) if not name.startswith("_")} - {"trefoil"}
    for name in ("Job", "Accountant", "Stop"):
        body = re.search(rf"^class {name}:\n((?:    .*\n|\n)*)", stub, re.M)[1]
        members = {member for member in dir(getattr(_core, name)) if not member.startswith("_")}
        assert set(re.findall(r"def ([a-z]\w*)\(", body)) == members


@pytest.mark.parametrize(
    "text, kind, peer",
    [
        ("lost party 2 at step 3 of 40: closed the connection", trefoil.NetworkError, 2),
        ("before the start: party 1: did not connect within 2 s", trefoil.NetworkError, 1),
        ("at step 3 of 40: party 1: frame of unknown type 9", trefoil.ProtocolError, 1),
        ("before the start: party 1 sent a message of 3 bytes, expected 8", trefoil.ProtocolError, 1),
        ("while computing: a frame cut short", trefoil.ProtocolError, -1),
    ],
)
def test_tells_a_lost_peer_from_one_that_sent_something_wrong(text, kind, peer):
    error = _program.error_of(3, text)
    assert type(error) is kind and error.peer == peer


def test_translates_errors_of_numbers():
    with pytest.raises(trefoil.ConfigError, match="delta"):
        trefoil.accounting.epsilon(1.0, 2.0)


def test_shows_bytes_that_are_no_utf_8(tmp_path):
    keys = toy_keys()
    towns = {"name": "town", "kind": "category", "values": ["Ulm"]}
    keys["data"] = {
        "name": "toy",
        "format": "csv",
        "rows": [9, 9, 9],
        "classes": 2,
        "column": [towns],
        "label": {"column": "ill", "values": ["0", "1"]},
    }
    keys["training"] |= {"expected_batch": 9, "max_batch_per_owner": 9}
    for party in range(3):
        (tmp_path / f"{party}.csv").write_bytes(b"town,ill\nUlm,0\n" + (b"K\xf6ln,1\n" if party == 1 else b"Ulm,1\n"))
    with pytest.raises(trefoil.DataError, match=r'1\.csv: row 3, column "town": found "K\\xf6ln"'):
        trefoil.simulate(
            trefoil.Job.from_dict(keys), [{"data.file": str(tmp_path / f"{party}.csv")} for party in range(3)]
        )
    with pytest.raises(trefoil.ConfigError, match=r"absent\\xf6\.toml: "):
        trefoil.Job.from_toml(tmp_path / "absent\udcf6.toml")
