"""A party's run, in a process of its own."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import time
from typing import Any, Callable

from trefoil import _core, _party_child, errors
from trefoil._inputs import Inputs
from trefoil._program import error_of, last_line
from trefoil.result import Step

_STEP = re.compile(r"step (\d+)/(\d+), epsilon (\S+) outsider (\S+) insider")


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
            text=True,
            pass_fds=list(inputs.names),
            start_new_session=True,  # a terminal's Ctrl-C is this process's alone, which hands it on
        )
        self._started = time.monotonic()

    def wait(self, tell: Callable[[Step], Any]) -> None:
        """Blocks until the run has ended, telling of steps. Raises what ended it; interrupted, ends it in order."""
        with self._process as process:
            assert process.stdout is not None and process.stderr is not None
            try:
                for line in process.stdout:
                    if found := _STEP.match(line):
                        step, steps, outsider, insider = found.groups()
                        seconds = time.monotonic() - self._started
                        tell(Step(int(step), int(steps), seconds, float(outsider), float(insider)))
                error = process.stderr.read()
                process.wait()
            except BaseException:
                self._end()
                raise
        if process.returncode != 0:
            raise error_of(process.returncode, self._inputs.explain(last_line(error)))

    def stop(self) -> None:
        """Tells the run to end in order, and its peers."""
        self._process.send_signal(signal.SIGINT)

    def _end(self) -> None:
        """Stops it and waits; interrupted again, ends it at once."""
        self.stop()
        try:
            self._process.wait()
        except BaseException:
            self._process.kill()
            raise
