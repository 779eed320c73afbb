"""A job among three parties on this machine."""

from __future__ import annotations

import threading
from typing import Any, Sequence

from trefoil import _core
from trefoil._inputs import Inputs
from trefoil.errors import ConfigError
from trefoil.job import Job
from trefoil.progress import Progress, teller
from trefoil.result import Result, Step, of_simulation


def simulate(job: Job, parties: Sequence[Any], progress: Progress = False) -> Result:
    """Runs a job among three parties within this process, and returns what the first that gets results got.

    `parties` has what each brings: (X, y), or for a job with other inputs a mapping from a party file's keys to files,
    as {"pate.predictions": "labels.npy"}. Every message is serialised and checked as on a network, and nothing is
    encrypted: whoever has the process has all the data, so this is for trials. Nothing is written to disk.

    Raises DataError naming party, row and column; ConfigError; KeyboardInterrupt once the parties have ended.
    """
    if len(parties) != 3:
        raise ConfigError(f"parties: found {len(parties)}, expected three")
    tell = teller(progress)
    steps: list[Step] = []

    def on_step(*values: Any) -> None:
        steps.append(Step(*values))
        tell(steps[-1])

    with Inputs() as inputs, inputs.explained():
        files = [_files(inputs, job, party, f"party {number}'s ") for number, party in enumerate(parties)]
        results = _run(job, files, on_step)
    return of_simulation(job, results[job.release_to[0]], tuple(steps))


def _files(inputs: Inputs, job: Job, party: Any, owner: str) -> dict[str, str]:
    if isinstance(party, dict):
        return {key: str(file) for key, file in party.items()}
    X, y = party if isinstance(party, (tuple, list)) and len(party) == 2 else (party, None)
    return inputs.put_records(job.to_dict(), X, y, owner)


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
