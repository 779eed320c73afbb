"""The hierarchy of errors, against the header that declares them."""

import re

import pytest
from conftest import PROJECT

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
