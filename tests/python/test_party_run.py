"""What Party.run makes of its process, which is a program of the test's own here."""

import json
import math
import signal
import subprocess
import sys
from concurrent.futures import wait

import pytest
from test_session import sum_job

import trefoil
from trefoil import _party_child, _three_processes, errors
from trefoil._inputs import Inputs
from trefoil._party_run import PartyRun, step_in

HEAD = "import json, os, signal, sys\nsignal.alarm(30)  # for a run that stands still\ncall = json.loads(sys.argv[1])\n"


@pytest.fixture
def child_is(tmp_path, monkeypatch):
    """Has runs be this program in Python."""

    def put(code):
        file = tmp_path / "child.py"
        file.write_text(HEAD + code)
        monkeypatch.setattr(_party_child, "__file__", str(file))

    return put


@pytest.fixture
def run_of(child_is):
    """Of a program in Python its run, begun."""

    def begun(code):
        child_is(code)
        with Inputs() as inputs:
            return PartyRun({}, inputs)

    return begun


LOUD = """
print("step 1/2, epsilon 1.0 outsider 2.0 insider", flush=True)
for _ in range(8):
    os.write(2, b"debug: a line of the log\\n" * 1000)
print("step 2/2, epsilon 1.5 outsider 2.5 insider", flush=True)
os.write(2, b"trefoil: \\xff: found 1, expected 2\\ndebug: the end\\n")
sys.exit(4)
"""


def test_a_long_log_on_standard_error_holds_nothing_up(run_of):
    steps = []
    with pytest.raises(trefoil.DataError, match="^\ufffd: found 1, expected 2$"):
        run_of(LOUD).wait(steps.append)
    assert [(step.step, step.epsilon_insider) for step in steps] == [(1, 2.0), (2, 2.5)]


NEVER_READ = """
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
print("step 1/2, epsilon 1.0 outsider 2.0 insider", flush=True)
signal.sigwait([signal.SIGINT])
for stream in (1, 2) * 8:
    os.write(stream, b"what a run says at its end\\n" * 1000)
with open({file!r}, "w") as done:
    done.write("ended in order")
"""


def test_an_interrupted_run_may_say_much_at_its_end(run_of, tmp_path):
    def interrupt(step):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_of(NEVER_READ.format(file=str(tmp_path / "done"))).wait(interrupt)
    assert (tmp_path / "done").read_text() == "ended in order"


def test_without_a_line_of_the_program_the_last_one_is_the_error(run_of):
    with pytest.raises(trefoil.Error, match="^ImportError: no such module$"):
        run_of('os.write(2, b"Traceback:\\nImportError: no such module\\n\\n")\nsys.exit(1)').wait(lambda step: None)
    with pytest.raises(trefoil.StoppedError, match=f"^stopped by signal {int(signal.SIGKILL)}$"):
        run_of("os.kill(os.getpid(), signal.SIGKILL)").wait(lambda step: None)


@pytest.mark.parametrize(
    "code, kind",
    [
        (1, "Error"),
        (2, "ConfigError"),
        (3, "ProtocolError"),
        (4, "DataError"),
        (5, "BudgetError"),
        (6, "PassingError"),
        (143, "StoppedError"),
    ],
)
def test_each_exit_code_has_its_error(run_of, code, kind):
    with pytest.raises(trefoil.Error, match="^found 1, expected 2$") as raised:
        run_of(f'os.write(2, b"trefoil: found 1, expected 2\\n")\nsys.exit({code})').wait(lambda step: None)
    assert type(raised.value) is getattr(trefoil, kind)


def test_what_passes_is_caught_as_a_configuration_too():
    assert issubclass(trefoil.PassingError, trefoil.ConfigError)


@pytest.mark.parametrize("asked", [{}, {"resume": True}, {"resume": True, "again": True}])
def test_hands_on_that_a_run_is_to_go_on(child_is, job, parties, tmp_path, asked):
    child_is('os.write(2, f"trefoil: {call[\'resume\']} {call[\'again\']}\\n".encode())\nsys.exit(5)')
    party = trefoil.Party(tmp_path / "party.toml")
    expected = f"^{asked.get('resume', False)} {asked.get('again', False)}$"
    with pytest.raises(trefoil.BudgetError, match=expected):
        party.run(job, *parties[0], out=tmp_path / "out", **asked)
    with pytest.raises(trefoil.ConfigError, match="^again: found it without resume"):
        party.run(job, *parties[0], out=tmp_path / "out", again=True)


WAITING = "signal.sigwait([signal.SIGUSR1])"


@pytest.fixture
def deaf():
    """Has runs take no notice of SIGINT, from their first instruction on."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    yield
    signal.pthread_sigmask(signal.SIG_SETMASK, before)


def interrupt(*_, **__):
    raise KeyboardInterrupt


def test_a_second_interrupt_ends_three_processes_at_once(run_of, deaf, monkeypatch):
    runs = [run_of(WAITING) for _ in range(3)]
    monkeypatch.setattr(_three_processes, "wait", interrupt)
    with pytest.raises(KeyboardInterrupt):
        _three_processes._ends(runs, lambda step: None)
    for run in runs:
        run._process.wait(timeout=20)  # no other signal ends it; the thread that waits may have taken its status


@pytest.fixture
def session(child_is, tmp_path):
    """Of a party whose run waits for a signal."""
    child_is(WAITING)
    file = tmp_path / "party.toml"
    file.write_text("[party]\nid = 1\n")
    return trefoil.Session(file, sum_job(), out=tmp_path / "out")


@pytest.mark.parametrize("method", ["_send", "_ask"])
def test_a_session_that_is_interrupted_leaves_no_run_behind(session, monkeypatch, method):
    monkeypatch.setattr(session, method, interrupt)  # at the keys, and where the `with` ends
    with pytest.raises(KeyboardInterrupt):
        with session:
            pass
    wait([session._ended], timeout=20)
    assert session._ended.done() and session._run._process.returncode not in (None, -signal.SIGALRM)


def test_a_session_that_is_interrupted_twice_ends_its_run_at_once(session, deaf, monkeypatch):
    with pytest.raises(KeyboardInterrupt):
        with session:
            monkeypatch.setattr("trefoil.session.wait", interrupt)
            raise KeyboardInterrupt
    wait([session._ended], timeout=20)
    assert session._ended.done() and session._run._process.returncode == -signal.SIGKILL


CORE = """
import sys

def run_party(what):
    raise getattr(sys.modules["trefoil.errors"], what[0])(what[1])
"""


@pytest.mark.parametrize("kind, code", [("DataError", 4), ("ConfigError", 2), ("BudgetError", 5), ("Error", 1)])
def test_the_process_hands_on_an_error_of_several_lines(tmp_path, kind, code):
    core = tmp_path / "core.py"
    core.write_text(CORE)
    call = {"core": str(core), "errors": errors.__file__, "what": [kind, "found 1,\nexpected 2"]}
    command = [sys.executable, "-P", "-B", _party_child.__file__, json.dumps(call)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stderr.read() == b"trefoil: found 1, expected 2\n"
        assert process.wait(timeout=60) == code


def test_reads_what_a_run_says_of_its_steps() -> None:
    step = step_in("step 3/9, epsilon 0.5 outsider 0.7 insider, 1.0 MB sent", 2.0)
    assert step is not None
    assert (step.step, step.steps, step.epsilon_outsider, step.epsilon_insider) == (3, 9, 0.5, 0.7)
    step = step_in("step 1/9, epsilon infinite outsider infinite insider", 2.0)
    assert step is not None
    assert step.epsilon_outsider == step.epsilon_insider == math.inf
    step = step_in("step 1/9, epsilon 0.7 insider 0.5 outsider", 2.0)  # of a vertical partition
    assert step is not None
    assert (step.epsilon_outsider, step.epsilon_insider) == (0.5, 0.7)
    assert step_in("ended", 2.0) is None
