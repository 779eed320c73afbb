"""What a job gave a party."""

from __future__ import annotations

import csv
import json
import tempfile
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import Any

from trefoil import _core, _program
from trefoil.errors import ConfigError
from trefoil.job import Job, Told
from trefoil.model import Model


@dataclass(frozen=True)
class Step:
    """After a step: what has been spent so far, and the seconds since the training began."""

    step: int
    steps: int
    seconds: float
    epsilon_outsider: float
    epsilon_insider: float


@dataclass(frozen=True)
class Result(Told):
    """What a job gave a party, with what it has cost the data's privacy."""

    job: Job
    epsilon_outsider: float
    epsilon_insider: float
    delta: float
    record: dict[str, Any]
    """What was executed, as record.json has it: from this the epsilons are computed."""
    summary: dict[str, Any]
    """What the job's type says of its result."""
    model: Model | None = None
    """Where one was released to this party."""
    files: dict[str, bytes] = field(default_factory=dict)
    """What else was released, by name."""
    lines: tuple[str, ...] = ()
    steps: tuple[Step, ...] = ()
    folder: Path | None = None
    """The run directory, where there is one."""
    owner_warnings: tuple[str, ...] = ()
    """What a run says of this party's records to their owner alone."""
    report_files: dict[str, bytes] = field(default_factory=dict, repr=False)
    """The files of the run directory from which a report is made; none of a simulation within one process."""
    ledger_entry: dict[str, Any] | None = None
    """Of a party with a [ledger]: the run's entry there, as `trefoil ledger show --json` prints it."""

    def report(self, file: str | PathLike[str]) -> Path:
        """Writes the run's report, as `trefoil report` does: one HTML page with promise, record, progress, cost and
        job. Returns its path.

        Raises ConfigError for a simulation within one process, which has no cost to tell.
        """
        if not self.report_files:
            raise ConfigError("report: found a simulation in one process, expected simulate(processes=True) or a party")
        with tempfile.TemporaryDirectory(prefix="trefoil-") as folder:
            for name, content in self.report_files.items():
                (Path(folder) / name).write_bytes(content)
            _program.call("report", folder, "--out", Path(file).absolute())
        return Path(file)

    def plot(self, axes: Any = None) -> Any:
        """Draws what was spent after each step, with matplotlib. Returns the axes.

        Raises ConfigError for a run without steps, whose one charge is epsilon_outsider and epsilon_insider.
        """
        if not self.steps:
            raise ConfigError("plot: found a run without steps, expected one whose job has them")
        if axes is None:
            import matplotlib.pyplot

            axes = matplotlib.pyplot.figure().subplots()
        numbers = [step.step for step in self.steps]
        axes.plot(numbers, [step.epsilon_outsider for step in self.steps], label="outsider")
        axes.plot(numbers, [step.epsilon_insider for step in self.steps], label="insider")
        axes.set(xlabel="step", ylabel=f"epsilon at delta {_core.delta_text(self.delta)}", title=self.job.name)
        axes.legend()
        return axes

    def _rows(self) -> list[tuple[str, str]]:
        rows = [
            ("job", f"{self.job.name} ({self.job.type})"),
            ("epsilon, outsider", _core.epsilon_text(self.epsilon_outsider)),
            ("epsilon, insider", _core.epsilon_text(self.epsilon_insider)),
            ("delta", _core.delta_text(self.delta)),
            ("model", repr(self.model) if self.model else "not released to this party"),
        ]
        if self.files:
            rows.append(("files", ", ".join(self.files)))
        if self.folder:
            rows.append(("run directory", str(self.folder)))
        if entry := self.ledger_entry:
            charged = _core.epsilon_text(_number(entry["epsilon_insider"]))
            rows.append(("ledger", f"{entry['state']}, {entry['steps']} steps charged, epsilon {charged} insider"))
        rows += [("note", line) for line in self.lines]
        return rows + [("to the owner", line) for line in self.owner_warnings]


def of_simulation(job: Job, got: _core.JobResult, steps: tuple[Step, ...]) -> Result:
    outsider, insider = got["epsilons"]
    record = json.loads(got["record"])
    return Result(
        job=job,
        epsilon_outsider=outsider,
        epsilon_insider=insider,
        delta=job.delta,
        record=record,
        summary=json.loads(got["summary"]),
        model=Model(**got["model"]) if got["model"] else None,
        files=got["files"],
        lines=tuple(got["lines"]),
        steps=steps,
    )


REPORT_FILES = ("job.toml", "progress.csv", "record.json", "summary.json")
"""The files of a run directory from which a report is made."""
OWNER_WARNINGS = "owner_warnings.txt"
OWN_FILES = {*REPORT_FILES, OWNER_WARNINGS, "audit.jsonl", "model.npz", "model.share", "party.log", "report.html"}


def of_run(job: Job, folder: Path) -> Result:
    """What a run directory holds."""
    summary = json.loads((folder / "summary.json").read_text())
    privacy = summary["privacy"]
    model = folder / "model.npz"
    record = folder / "record.json"
    released = [file for file in folder.iterdir() if file.is_file() and file.name not in OWN_FILES]
    return Result(
        job=job,
        epsilon_outsider=_number(privacy["epsilon_outsider"]),
        epsilon_insider=_number(privacy["epsilon_insider"]),
        delta=privacy["delta"],
        record=json.loads(record.read_text()) if record.exists() else {},
        summary=summary["results"].get(summary["type"], {}),
        model=Model(**_core.read_model(str(model))) if model.exists() else None,
        files={file.name: file.read_bytes() for file in released if file.suffix != ".salt"},
        steps=_steps_of(folder / "progress.csv"),
        folder=folder,
        owner_warnings=_warnings_of(folder / OWNER_WARNINGS),
        report_files={name: (folder / name).read_bytes() for name in REPORT_FILES if (folder / name).exists()},
    )


def _warnings_of(file: Path) -> tuple[str, ...]:
    """Of lines as the library writes them: "warning to the owner alone: TEXT"."""
    lines = file.read_text().splitlines() if file.exists() else []
    return tuple(line.partition(" to the owner alone: ")[2] for line in lines)


def _number(value: float | None) -> float:
    """JSON has null for infinity."""
    return float("inf") if value is None else value


def _steps_of(file: Path) -> tuple[Step, ...]:
    if not file.exists():
        return ()
    with file.open(newline="") as lines:
        rows = list(csv.DictReader(lines))
    return tuple(
        Step(
            int(row["step"]),
            int(rows[-1]["step"]),
            float(row["seconds"]),
            float(row["epsilon_outsider"]),
            float(row["epsilon_insider"]),
        )
        for row in rows
    )
