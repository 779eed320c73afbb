"""The program `trefoil`, which comes with the package."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from os import PathLike, fspath
from pathlib import Path
from typing import Iterable

from trefoil.errors import (
    BudgetError,
    ConfigError,
    DataError,
    Error,
    NetworkError,
    PassingError,
    ProtocolError,
    StoppedError,
)

PROGRAM = Path(__file__).parent / "bin" / "trefoil"
_CODES: dict[int, type[Error]] = {2: ConfigError, 3: NetworkError, 4: DataError, 5: BudgetError, 6: PassingError}


def call(*arguments: str | int | float | PathLike[str], descriptors: Iterable[int] = ()) -> str:
    """What `trefoil ARGUMENTS` prints, which keeps these descriptors open. Raises its error."""
    words = [argument if isinstance(argument, str) else str(argument) for argument in arguments]
    try:
        done = subprocess.run(
            [fspath(PROGRAM), *words],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            errors="replace",  # a file's name may be anything
            pass_fds=tuple(descriptors),
        )
    except FileNotFoundError:
        raise ConfigError(f"{PROGRAM}: not there, expected the program, which is built with the package") from None
    if done.returncode != 0:
        raise error_of(done.returncode, last_line(done.stderr))
    return done.stdout


def main() -> None:
    """The command `trefoil` that pip installs."""
    os.execv(PROGRAM, ["trefoil", *sys.argv[1:]])


class LastLine:
    """The program's one line of what a process writes on standard error, line by line; else the last one."""

    def __init__(self) -> None:
        self._last = ""
        self.own = ""

    def add(self, line: str) -> None:
        line = line.rstrip("\n")
        self._last = line or self._last
        if line.startswith("trefoil: "):
            self.own = line.removeprefix("trefoil: ")

    def __str__(self) -> str:
        return self.own or self._last


def last_line(error: str) -> str:
    """Of all that a process wrote there."""
    found = LastLine()
    for line in error.splitlines():
        found.add(line)
    return str(found)


def error_of(code: int, text: str) -> Error:
    """The exit code's error; what a peer sent wrong has the network's code, and its text names no party that was lost."""
    if code < 0 or code >= 128:
        return StoppedError(text or f"stopped by signal {-code if code < 0 else code - 128}")
    kind = _CODES.get(code, Error)
    if kind is NetworkError and not re.match(r"lost party \d|(before the start: )?party \d: ", text):
        kind = ProtocolError
    error = kind(text)
    if isinstance(error, (NetworkError, ProtocolError)) and (peer := re.search(r"party (\d)", text)):
        error.peer = int(peer[1])
    return error
