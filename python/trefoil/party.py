"""One organisation's side of a job."""

from __future__ import annotations

import filecmp
import random
import socket
import time
import tomllib
from dataclasses import replace
from os import PathLike, fspath
from pathlib import Path
from typing import Any, Mapping, Sequence

from trefoil import _program, accounting
from trefoil._inputs import Inputs, paths_of
from trefoil._party_run import PartyRun
from trefoil.errors import ConfigError
from trefoil.job import Job, require_job
from trefoil.progress import Progress, teller
from trefoil.result import Result, of_run


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
        again: bool = False,
        progress: Progress = False,
    ) -> Result:
        """Runs this party's side of a job, as `trefoil run` does: over mutual TLS, with ledger and run directory.

        `X` and `y` are this party's records, in place of the party file's [data]: arrays, frames, sparse matrices.
        They are handed over in memory and never written to disk. `files` names other inputs by the party file's keys.
        `out` is the run directory (default: runs/NAME-UTC); `resume` goes on with the run that it holds, and `again`
        with it does so although the run has lost more steps than training.lost_steps_max, if all three say so.
        `progress` is told about every five seconds. Blocks until the job has ended. The run is a process of its own;
        Ctrl-C ends it in order and tells the peers, a second one at once.

        Raises what ended the run, with the program's one line: ConfigError, which may be a PassingError, DataError,
        NetworkError, ProtocolError, BudgetError, StoppedError.
        """
        require_job(job)
        if again and not resume:
            raise ConfigError("again: found it without resume, expected resume=True with it")
        started = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime())
        folder = Path(out) if out is not None else Path("runs") / f"{job.name}-{started}"
        self._start(job, X, y, files, folder, threads, resume, again).wait(teller(progress))
        return self._result(job, folder)

    def declare(
        self,
        job: Job,
        X: Any = None,
        y: Any = None,
        *,
        files: Mapping[str, str | PathLike[str]] | None = None,
        equal_by_chance: bool = False,
    ) -> str:
        """Declares records to be of the population of the party file's [ledger], as `trefoil ledger declare` does: what
        `run` with this job, `X`, `y` and `files` would bring. Returns what the program says of them.

        A ledger knows records by the bytes that the job makes of them. So records that were declared as a file, for a
        job with another separator, say, or with a column more, are declared anew where the bytes differ; they are
        charged to the same budget.
        `equal_by_chance` is for records that another population has, too, and that are others' all the same.

        Raises ConfigError where the party file names no population; DataError for records of another population.
        """
        words = ["--equal-by-chance"] if equal_by_chance else []
        return self._tell_ledger("declare", [job], X, y, files, words)

    def enter(
        self,
        jobs: Sequence[Job],
        X: Any = None,
        y: Any = None,
        *,
        files: Mapping[str, str | PathLike[str]] | None = None,
        lost_steps: int = 0,
    ) -> str:
        """Enters jobs on these records in the party file's closed ledger, all or none, as `trefoil ledger enter` does,
        before the first of them runs. Each may lose and do again so many steps when it is resumed. Returns what the
        program says of them.

        Raises BudgetError beyond the cap; ConfigError where two jobs make other bytes of the records: where the ledger
        is of a population, enter such jobs one after the other, and declare the records for each.
        """
        return self._tell_ledger("enter", jobs, X, y, files, ["--lost-steps", str(lost_steps)])

    def _tell_ledger(
        self,
        command: str,
        jobs: Sequence[Job],
        X: Any,
        y: Any,
        files: Mapping[str, str | PathLike[str]] | None,
        words: list[str],
    ) -> str:
        jobs = [jobs] if isinstance(jobs, Job) else list(jobs)
        for job in jobs:
            require_job(job)
        if not jobs:
            raise ConfigError("jobs: found none, expected jobs on the same data")
        with Inputs() as inputs, inputs.explained():
            brought = _brought(inputs, jobs[0], X, y, files)
            for job in jobs[1:]:
                with Inputs() as others, others.explained():
                    if not _same(_brought(others, job, X, y, files), brought):
                        raise ConfigError(
                            "jobs: found two that make other bytes of the records, expected jobs on the same data"
                        )
            data = {key: file for key, file in brought.items() if key.startswith("data.")}
            strange = [key for key in files or {} if not key.startswith(("data.", "features."))]
            if strange or (files and not data):
                found = ", ".join(strange or files or ())
                raise ConfigError(
                    f"files: found {found}, expected data.x and data.y, or data.file: a ledger is of records"
                )
            words = [*words, *(word for key, file in data.items() for word in ("--input", f"{key}={file}"))]
            if command == "enter":
                words += [w for job in jobs for w in ("--job", inputs.put_text(job.to_toml(), f"job {job.name}"))]
            told = _program.call(
                "ledger", command, "--config", fspath(self.file), *words, descriptors=inputs.names
            )
        return told.rstrip("\n")

    def _result(self, job: Job, folder: Path) -> Result:
        """What the run directory and this party's ledger hold of a run that has ended."""
        result = of_run(job, folder)
        ledger = tomllib.loads(self.file.read_text()).get("ledger")
        if ledger is None:
            return result
        jobs = accounting.of_ledger(self.file.parent / ledger["file"])["jobs"]
        own = [entry for entry in jobs if entry["run_id"] == result.record.get("run_id")]
        return replace(result, ledger_entry=own[-1] if own else None)

    def _start(
        self,
        job: Job,
        X: Any,
        y: Any,
        files: Mapping[str, str | PathLike[str]] | None,
        folder: Path,
        threads: int,
        resume: bool = False,
        again: bool = False,
        owner: str = "",
    ) -> PartyRun:
        """The run of `run`, begun; errors call the arrays `owner`'s."""
        with Inputs() as inputs:
            brought = _brought(inputs, job, X, y, files, owner)
            return PartyRun(self._call(job, inputs, brought, folder, threads, resume, again), inputs)

    def _call(
        self,
        job: Job,
        inputs: Inputs,
        brought: dict[str, str],
        folder: Path,
        threads: int,
        resume: bool = False,
        again: bool = False,
    ) -> dict[str, Any]:
        """What the run's process is told."""
        return {
            "party_file": fspath(self.file),
            "job_file": inputs.put_text(job.to_toml(), "job"),
            "out": fspath(folder),
            "threads": threads,
            "resume": resume,
            "again": again,
            "inputs": brought,
        }

    def __repr__(self) -> str:
        return f"trefoil.Party({fspath(self.file)!r})"


def _brought(
    inputs: Inputs, job: Job, X: Any, y: Any, files: Mapping[str, Any] | None, owner: str = ""
) -> dict[str, str]:
    """What a party brings in place of its party file's, by the keys there."""
    brought = paths_of(files or {})
    if X is not None:
        brought |= inputs.put_records(job._keys_of_records(), X, y, owner)
    return brought


def _same(files: dict[str, str], others: dict[str, str]) -> bool:
    """Whether files by these keys have the same bytes."""
    filecmp.clear_cache()  # it goes by names, and those of files in memory come again
    return files.keys() == others.keys() and all(
        path == others[key] or filecmp.cmp(path, others[key], shallow=False) for key, path in files.items()
    )


def trial_parties(folder: str | PathLike[str]) -> list[Party]:
    """Makes three parties on this machine for trials, in folder/party-0 to folder/party-2, their keys exchanged.

    Their files are those of organisations, as `trefoil init --all` makes them: a table like [ledger] may be added. They
    meet on ports of 127.0.0.1 when each runs the same job, in threads or processes. Raises ConfigError where there are
    keys already.
    """
    hosts = ",".join(["127.0.0.1"] * 3)
    _program.call("init", "--all", "--hosts", hosts, "--base-port", _free_ports(), "--out", fspath(folder))
    return [Party(Path(folder) / f"party-{party}" / "party.toml") for party in range(3)]


def _free_ports() -> int:
    """A port below those that the system gives to clients, free as are the two behind it, as far as can be told."""
    for base in random.sample(range(20_000, 32_000, 3), 100):
        try:
            for port in range(base, base + 3):
                with socket.socket() as one:
                    one.bind(("127.0.0.1", port))
            return base
        except OSError:
            continue
    raise ConfigError("127.0.0.1: found no three free ports between 20000 and 32000")
