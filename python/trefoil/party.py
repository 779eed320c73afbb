"""One organisation's side of a job."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from os import PathLike, fspath
from pathlib import Path
from typing import Any, Callable, Mapping

from trefoil import _core, _party_child, errors
from trefoil._inputs import Inputs
from trefoil.errors import BudgetError, ConfigError, DataError, Error, NetworkError, ProtocolError, StoppedError
from trefoil.job import Job
from trefoil.progress import Progress, teller
from trefoil.result import Result, Step, of_run

_STEP = re.compile(r"step (\d+)/(\d+), epsilon (\S+) outsider (\S+) insider")
_CODES: dict[int, type[Error]] = {2: ConfigError, 3: NetworkError, 4: DataError, 5: BudgetError, 6: ConfigError}


class Party:
    """A party as its party file describes it, which `trefoil init` and `trefoil trust` made."""

    def __init__(self, file: str | PathLike[str]) -> None:
        self.file = Path(file)

    def run(
        self,
        job: Job,
        X: Any = None,
        y: Any = None,
        *,
        files: Mapping[str, str | PathLike[str]] | None = None,
        out: str | PathLike[str] | None = None,
        threads: int = 0,
        resume: bool = False,
        progress: Progress = False,
    ) -> Result:
        """Runs this party's side of a job, as `trefoil run` does: over mutual TLS, with ledger and run directory.

        `X` and `y` are this party's records, in place of the party file's [data]: arrays, frames, sparse matrices.
        They are handed over in memory and never written to disk. `files` names other inputs by the party file's keys.
        `out` is the run directory (default: runs/NAME-UTC); `resume` goes on with the run that it holds. `progress` is
        told about every five seconds. Blocks until the job has ended. The run is a process of its own; Ctrl-C ends it
        in order and tells the peers, a second one at once.

        Raises what ended the run, with the program's one line: ConfigError, DataError, NetworkError, ProtocolError,
        BudgetError, StoppedError.
        """
        started = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime())
        folder = Path(out) if out is not None else Path("runs") / f"{job.name}-{started}"
        with Inputs() as inputs:
            brought = {key: fspath(file) for key, file in (files or {}).items()}
            if X is not None:
                brought |= inputs.put_records(job.to_dict(), X, y)
            call = {
                "party_file": fspath(self.file),
                "job_file": inputs.put_text(job.to_toml(), "job"),
                "out": fspath(folder),
                "threads": threads,
                "resume": resume,
                "again": False,
                "inputs": brought,
            }
            code, error = _run(call, inputs, teller(progress))
        if code != 0:
            raise _error(code, inputs.explain(error))
        return of_run(job, folder)

    def __repr__(self) -> str:
        return f"trefoil.Party({fspath(self.file)!r})"


def _run(call: dict[str, Any], inputs: Inputs, tell: Callable[[Step], Any]) -> tuple[int, str]:
    """Exit code and last line on stderr of the process that runs the party."""
    call |= {"parent": os.getpid(), "core": _core.__file__, "errors": errors.__file__}
    with subprocess.Popen(
        [sys.executable, "-P", "-B", _party_child.__file__, json.dumps(call)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        pass_fds=list(inputs.names),
        start_new_session=True,  # a terminal's Ctrl-C is this process's alone, which hands it on
    ) as process:
        assert process.stdout is not None and process.stderr is not None
        started = time.monotonic()
        try:
            for line in process.stdout:
                if found := _STEP.match(line):
                    step, steps, outsider, insider = found.groups()
                    seconds = time.monotonic() - started
                    tell(Step(int(step), int(steps), seconds, float(outsider), float(insider)))
            error = process.stderr.read()
        except BaseException:
            _end(process)
            raise
    lines = [line for line in error.splitlines() if line.startswith("trefoil: ")] or error.splitlines() or [""]
    return process.returncode, lines[-1].removeprefix("trefoil: ")


def _end(process: subprocess.Popen[str]) -> None:
    """Tells the run to end in order, and waits for it; interrupted again, ends it at once."""
    process.send_signal(signal.SIGINT)
    try:
        process.wait()
    except BaseException:
        process.kill()
        raise


def _error(code: int, text: str) -> Error:
    """The exit code's error; what a peer sent wrong has the network's code, and no party that was lost."""
    if code < 0 or code >= 128:
        return StoppedError(text or f"stopped by signal {-code if code < 0 else code - 128}")
    if code == 3 and not text.startswith(("lost party", "before the start: party", "party")):
        return ProtocolError(text)
    error = _CODES.get(code, Error)(text)
    if isinstance(error, NetworkError) and (peer := re.search(r"party (\d)", text)):
        error.peer = int(peer[1])
    return error
