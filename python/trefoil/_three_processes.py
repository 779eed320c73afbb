"""A job among three processes on this machine, as three organisations would run it."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor, wait
from pathlib import Path
from typing import Any, Callable, Sequence

from trefoil._party_run import PartyRun
from trefoil.errors import NetworkError, StoppedError
from trefoil.job import Job
from trefoil.party import trial_parties
from trefoil.result import Step


def run(job: Job, parties: Sequence[tuple[Any, Any, dict[str, str]]], tell: Callable[[Step], Any], home: Path) -> Path:
    """Makes three party folders in `home` and runs the job: over mutual TLS, on ports of 127.0.0.1.

    `parties` has (X, y, files) for each. Returns the run directory of the first party that gets results; that of party
    i is home/party-i/out. Raises what ended the run: of several errors the cause, which is no lost peer.
    """
    trial = trial_parties(home)
    folders = [party.file.parent for party in trial]
    threads = max(1, (os.cpu_count() or 1) // 3)
    runs: list[PartyRun] = []
    try:
        for number, (X, y, files) in enumerate(parties):
            out = folders[number] / "out"
            runs.append(trial[number]._start(job, X, y, files, out, threads, owner=f"party {number}'s "))
    except BaseException:
        for one in runs:
            one.stop()
        _ends(runs, lambda step: None)
        raise
    _raise_cause(_ends(runs, tell))
    return folders[job.release_to[0]] / "out"


def _ends(runs: Sequence[PartyRun], tell: Callable[[Step], Any]) -> list[BaseException | None]:
    """How each ended; party 0 tells of steps. The threads wait, so that Ctrl-C reaches this one and stops them all."""
    tellers = [tell, *[lambda step: None] * 2]
    with ThreadPoolExecutor(3) as pool:
        waiting = [pool.submit(one.wait, teller) for one, teller in zip(runs, tellers)]
        try:
            while wait(waiting, timeout=0.1).not_done:
                pass
        except BaseException:
            for one in runs:
                one.stop()
            try:
                wait(waiting)
            except BaseException:  # interrupted again
                for one in runs:
                    one.kill()
                raise
            raise
    return [one.exception() for one in waiting]


def _raise_cause(errors: Sequence[BaseException | None]) -> None:
    for party, error in enumerate(errors):
        if isinstance(error, StoppedError):
            error.args = (f"party {party}: {error}",)
    found = [error for error in errors if error is not None]
    causes = [error for error in found if not isinstance(error, NetworkError)]
    for error in causes or found:
        raise error
