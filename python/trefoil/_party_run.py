"""A party's run, in a process of its own."""

from __future__ import annotations

import json
import math
import os
import re
import signal
import subprocess
import sys
import threading
import time
from typing import Any, Callable

from trefoil import _core, _party_child, errors
from trefoil._inputs import Inputs
from trefoil._program import LastLine, error_of
from trefoil.result import Step

# With a vertical partition the insider's comes first.
_STEP = re.compile(r"step (\d+)/(\d+), epsilon (\S+) (outsider|insider) (\S+) (?:outsider|insider)")


def step_in(line: str, seconds: float) -> Step | None:
    """What the run's line says of a step; None where it says something else."""
    if not (found := _STEP.match(line)):
        return None
    step, steps, first, whose, second = found.groups()
    epsilons = [math.inf if text == "infinite" else float(text) for text in (first, second)]
    outsider, insider = epsilons if whose == "outsider" else epsilons[::-1]
    return Step(int(step), int(steps), seconds, outsider, insider)


class PartyRun:
    """`trefoil run` with these files, which the process holds from then on. To be waited for once."""

    def __init__(self, call: dict[str, Any], inputs: Inputs) -> None:
        self._inputs = inputs
        call |= {"core": _core.__file__, "errors": errors.__file__}
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-B", _party_child.__file__, json.dumps(call)],
            stdin=subprocess.PIPE,  # which ends with this process, and the run with it
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
            errors="replace",
            pass_fds=list(inputs.names),
            start_new_session=True,  # a terminal's Ctrl-C is this process's alone, which hands it on
        )
        self._started = time.monotonic()
        self._error = LastLine()
        # From the first line on: a run that logs there stands still once the pipe is full, and so do its peers.
        self._reader = threading.Thread(target=self._read_errors, name="trefoil.PartyRun", daemon=True)
        self._reader.start()

    def wait(self, tell: Callable[[Step], Any]) -> None:
        """Blocks until the run has ended, telling of steps. Raises what ended it; interrupted, ends it in order."""
        with self._process as process:
            assert process.stdout is not None
            try:
                for line in process.stdout:
                    if step := step_in(line, time.monotonic() - self._started):
                        tell(step)
                process.wait()
                self._reader.join()
            except BaseException:
                self._end()
                raise
        if process.returncode != 0:
            # What a killed run last wrote is no account of that: perhaps a warning to the owner alone.
            text = self._error.own if process.returncode < 0 else str(self._error)
            raise error_of(process.returncode, self._inputs.explain(text))

    def stop(self) -> None:
        """Tells the run to end in order, and its peers."""
        self._process.send_signal(signal.SIGINT)

    def kill(self) -> None:
        """Ends the run's process at once; the peers find the link closed."""
        self._process.kill()

    def _read_errors(self) -> None:
        assert self._process.stderr is not None
        for line in self._process.stderr:
            self._error.add(line)

    def _end(self) -> None:
        """Stops it and waits; interrupted again, ends it at once."""
        assert self._process.stdout is not None
        self.stop()
        try:
            while os.read(self._process.stdout.fileno(), 1 << 16):
                pass  # what it still says, without which it may not come to its end
            self._process.wait()
            self._reader.join()
        except BaseException:
            self.kill()
            self._reader.join()
            raise
