"""A job among three parties on this machine."""

from __future__ import annotations

import tempfile
import threading
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Any, Sequence

from trefoil import _core, _three_processes
from trefoil._inputs import Inputs, paths_of, require_own_features
from trefoil.errors import ConfigError, DataError
from trefoil.job import Job, require_job
from trefoil.progress import Progress, teller
from trefoil.result import Result, Step, of_run, of_simulation


def simulate(
    job: Job,
    parties: Sequence[Any],
    progress: Progress = False,
    *,
    processes: bool = False,
    out: str | PathLike[str] | None = None,
) -> Result:
    """Runs a job among three parties on this machine, and returns what the first that gets results got.

    `parties` has what each brings: (X, y), or for a job with other inputs a mapping from a party file's keys to files,
    as {"pate.predictions": "labels.npy"}. Whoever has the process has all the data, so this is for trials.

    In this process: every message is serialised and checked as on a network, nothing is encrypted, and nothing is
    written to disk. With `processes`: `trefoil run` three times over mutual TLS, with keys made for this run; the
    records go to the parties in memory, and what they write is in a folder that is removed afterwards, or in `out`,
    party i's run directory as out/party-i/out. Both give the same results, and other noise each time.

    Raises DataError naming party, row and column; ConfigError; KeyboardInterrupt once the parties have ended.
    """
    require_job(job)
    if len(parties) != 3:
        raise ConfigError(f"parties: found {len(parties)}, expected three")
    if not all(isinstance(party, dict) for party in parties):
        require_own_features(job.to_dict(), "files of all three, features.model among them")
    _require_same_columns(job, parties)
    if processes:
        return _among_processes(job, parties, progress, out)
    if out is not None:
        raise ConfigError("out: found a folder, expected none: a simulation in one process writes nothing")
    tell = teller(progress)
    steps: list[Step] = []

    def on_step(*values: Any) -> None:
        steps.append(Step(*values))
        tell(steps[-1])

    with Inputs() as inputs, inputs.explained():
        files = [_files(inputs, job, party, f"party {number}'s ") for number, party in enumerate(parties)]
        results = _run(job, files, on_step)
    return of_simulation(job, results[job.release_to[0]], tuple(steps))


def _require_same_columns(job: Job, parties: Sequence[Any]) -> None:
    """An array has no names, by which its columns could be told: frames for one are compared here."""
    if job.to_dict().get("data", {}).get("format") == "csv":
        return
    framed: dict[int, list[str]] = {}
    for number, party in enumerate(parties):
        X = None if isinstance(party, dict) else _records(party)[0]
        names = getattr(X, "column_names", getattr(X, "columns", None))  # of Arrow; of pandas and Polars
        if names is not None:
            framed[number] = [str(name) for name in names]
    for number, found in framed.items():
        other, expected = next(iter(framed.items()))
        for place, (name, wanted) in enumerate(zip(found, expected), 1):
            if name != wanted:
                raise DataError(
                    f'party {number}\'s X, column {place}: found "{name}", expected "{wanted}" as of party {other}\'s:'
                    " a frame counts as its array here, its columns in their order"
                )


def _among_processes(
    job: Job, parties: Sequence[Any], progress: Progress, out: str | PathLike[str] | None
) -> Result:
    if not job.release_to:
        raise ConfigError("release.to: found nobody, expected at least one of 0, 1 and 2 in a simulation")
    brought = [
        (None, None, paths_of(party, f"party {number}'s ")) if isinstance(party, dict) else (*_records(party), {})
        for number, party in enumerate(parties)
    ]
    if out is not None:
        return of_run(job, _three_processes.run(job, brought, teller(progress), Path(out)))
    with tempfile.TemporaryDirectory(prefix="trefoil-") as home:
        result = of_run(job, _three_processes.run(job, brought, teller(progress), Path(home)))
        return replace(result, folder=None)


def _records(party: Any) -> tuple[Any, Any]:
    X, y = party if isinstance(party, (tuple, list)) and len(party) == 2 else (party, None)
    return X, y


def _files(inputs: Inputs, job: Job, party: Any, owner: str) -> dict[str, str]:
    if isinstance(party, dict):
        return paths_of(party, owner)
    return inputs.put_records(job._keys_of_records(), *_records(party), owner)


def _run(job: Job, files: list[dict[str, str]], on_step: Any) -> list[_core.JobResult]:
    """In a thread of its own, so that Ctrl-C reaches this one and ends the parties."""
    stop = _core.Stop()
    ends: list[Any] = []
    ended = threading.Event()  # a thread that join() was interrupted for counts as ended in CPython 3.11

    def run() -> None:
        try:
            ends.append(_core.simulate(job._core, files, on_step, stop))
        except BaseException as error:  # raised again below, in the caller's thread
            ends.append(error)
        finally:
            ended.set()

    threading.Thread(target=run, name="trefoil.simulate").start()
    try:
        while not ended.wait(0.1):
            pass
    except BaseException:
        stop.request()
        ended.wait()
        raise
    if isinstance(ends[0], BaseException):
        raise ends[0]
    results: list[_core.JobResult] = ends[0]
    return results
