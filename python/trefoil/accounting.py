"""Accountants of differential privacy.

Every epsilon is an upper bound, rounded up; infinity where there is no guarantee. Neighbours differ by one record,
added or removed. Functions raise ConfigError for a number outside its domain.
"""

from __future__ import annotations

import json
import tempfile
from dataclasses import dataclass
from os import PathLike, fspath
from pathlib import Path
from typing import Any, Iterable, Iterator, Literal

from trefoil import _core, _program
from trefoil._inputs import Inputs
from trefoil.errors import ConfigError

Method = Literal["rdp", "pld"]
"""By Renyi divergences, or by the distribution of the privacy loss: tighter, and a second or so slower."""


def _method(name: Method) -> _core.Accounting:
    if name not in ("rdp", "pld"):
        raise ConfigError(f'accountant: found "{name}", expected "rdp" or "pld"')
    return _core.Accounting.rdp if name == "rdp" else _core.Accounting.pld


def epsilon(
    noise_multiplier: float, delta: float, *, steps: int = 1, sampling_rate: float = 1.0, accountant: Method = "pld"
) -> float:
    """Epsilon of `steps` sums of sensitivity 1 with normal noise, each record in each by a coin of its own."""
    return _core.gaussian_epsilon(sampling_rate, noise_multiplier, steps, delta, _method(accountant))


def sigma(
    epsilon: float, delta: float, *, steps: int = 1, sampling_rate: float = 1.0, accountant: Method = "pld"
) -> float:
    """The smallest noise multiplier, to 1e-4 relative, with which that many steps have at most `epsilon`."""
    return _core.gaussian_multiplier(epsilon, delta, sampling_rate, steps, _method(accountant))


def curve(
    noise_multiplier: float,
    delta: float,
    *,
    steps: Iterable[int],
    sampling_rate: float = 1.0,
    accountant: Method = "pld",
) -> list[tuple[int, float]]:
    """(steps, epsilon) for each number of steps."""
    return [
        (count, epsilon(noise_multiplier, delta, steps=count, sampling_rate=sampling_rate, accountant=accountant))
        for count in steps
    ]


class Accountant:
    """Composes releases, in any order."""

    def __init__(self, accountant: Method = "pld") -> None:
        self._core = _core.Accountant(_method(accountant))
        self._releases: list[tuple[str, float, float, int]] = []

    def gaussian(self, noise_multiplier: float, *, steps: int = 1, sampling_rate: float = 1.0) -> Accountant:
        """Adds sums of sensitivity 1 with normal noise, as `epsilon` has them."""
        self._core.add_gaussian(sampling_rate, noise_multiplier, steps)
        self._releases.append(("gaussian", noise_multiplier, sampling_rate, steps))
        return self

    def laplace(self, scale: float, *, count: int = 1) -> Accountant:
        """Adds numbers of sensitivity 1 with Laplace noise of this scale."""
        self._core.add_laplace(scale, count)
        self._releases.append(("laplace", scale, 1.0, count))
        return self

    def pure(self, epsilon: float, *, count: int = 1) -> Accountant:
        """Adds releases by any (epsilon, 0)-differentially private mechanism."""
        self._core.add_pure(epsilon, count)
        self._releases.append(("pure", epsilon, 1.0, count))
        return self

    def event(self, event: Any) -> Accountant:
        """Adds an event of `dp_accounting`: Gaussian, also Poisson-sampled, or Laplace, and compositions of them.

        Raises ConfigError for another one, before anything of it is added.
        """
        for kind, number, rate, count in list(_releases_of(event, 1)):
            if kind == "gaussian":
                self.gaussian(number, steps=count, sampling_rate=rate)
            else:
                self.laplace(number, count=count)
        return self

    def to_event(self) -> Any:
        """All that was added, as an event of `dp_accounting`, which has to be installed and has none for `pure`."""
        import dp_accounting

        def made(kind: str, number: float, rate: float) -> Any:
            if kind == "laplace":
                return dp_accounting.LaplaceDpEvent(number)
            if kind == "pure":
                raise ConfigError("event: found pure releases, for which dp_accounting has no event")
            gaussian = dp_accounting.GaussianDpEvent(number)
            return gaussian if rate == 1.0 else dp_accounting.PoissonSampledDpEvent(rate, gaussian)

        return dp_accounting.ComposedDpEvent(
            [
                dp_accounting.SelfComposedDpEvent(made(kind, number, rate), count)
                for kind, number, rate, count in self._releases
            ]
        )

    def epsilon(self, delta: float) -> float:
        """Of all that was added."""
        return self._core.epsilon(delta)


def _releases_of(event: Any, count: int) -> Iterator[tuple[str, float, float, int]]:
    name = type(event).__name__
    if name == "ComposedDpEvent":
        for part in event.events:
            yield from _releases_of(part, count)
    elif name == "SelfComposedDpEvent":
        yield from _releases_of(event.event, count * event.count)
    elif name == "GaussianDpEvent":
        yield "gaussian", event.noise_multiplier, 1.0, count
    elif name == "PoissonSampledDpEvent" and type(event.event).__name__ == "GaussianDpEvent":
        yield "gaussian", event.event.noise_multiplier, event.sampling_probability, count
    elif name == "LaplaceDpEvent":
        yield "laplace", event.noise_multiplier, 1.0, count
    elif name != "NoOpDpEvent":
        raise ConfigError(f"event: found {event}, expected Gaussian, sampled Gaussian or Laplace releases")


def of_record(file: str | PathLike[str], delta: float, *, accountant: Method = "pld") -> tuple[float, float]:
    """Both epsilons of what a run released, from its record.json: an outsider's and an insider's."""
    return _core.record_epsilons(fspath(file), delta, _method(accountant))


@dataclass(frozen=True)
class Promise:
    """All that releases promise against one adversary, rounded outwards."""

    curve: tuple[tuple[float, float], ...]
    """Pairs (epsilon, delta), each of which holds; empty without a guarantee."""
    trade_off: tuple[tuple[float, float], ...]
    """Pairs (alpha, beta): a test between two neighbours with false alarms alpha misses at least beta."""
    mu: float | None
    """Of Gaussian differential privacy, where all releases are plain Gaussians."""


def promise(noise_multiplier: float, *, steps: int = 1, sampling_rate: float = 1.0) -> Promise:
    """The whole promise of the releases that `epsilon` has."""
    return _promises("--noise-multiplier", noise_multiplier, "--steps", steps, "--sampling-rate", sampling_rate)[1]


def promises_of_record(file: str | PathLike[str]) -> tuple[Promise, Promise]:
    """The whole promise of what a run released, from its record.json: to an outsider, and to an insider."""
    return _promises("--record", fspath(file))


def _promises(*of: str | float) -> tuple[Promise, Promise]:
    with tempfile.TemporaryDirectory(prefix="trefoil-") as folder:
        file = Path(folder) / "curve.json"
        _program.call("account", *of, "--delta", 1e-5, "--curve", file)
        both = json.loads(file.read_text())
    outsider, insider = (_promise_of(both[name]) for name in ("outsider", "insider"))
    return outsider, insider


def _promise_of(one: dict[str, Any]) -> Promise:
    return Promise(
        curve=tuple((point["epsilon"], point["delta"]) for point in one["curve"]),
        trade_off=tuple((point["alpha"], point["beta"]) for point in one["tradeoff"]),
        mu=one["mu"],
    )


def of_votes(votes: Any, mechanism: str, delta: float, **options: float) -> dict[str, Any]:
    """What answers to queries by these votes of teachers cost (PATE), as `trefoil account --votes --json` says it.

    `votes` has a row a query and a column a class. `mechanism` is "lnmax" (`scale`), "gnmax" (`sigma`) or
    "confident-gnmax" (`sigma`, `threshold`, `threshold_sigma`); other options are the command's, too. What is under
    "data_dependent" depends on the votes and is as private as they are.
    """
    words = [word for key, value in options.items() for word in (f"--{key.replace('_', '-')}", str(value))]
    with Inputs() as inputs, inputs.explained():
        file = inputs.put_counts(votes, "votes")
        said = _program.call(
            "account", "--votes", file, "--mechanism", mechanism, "--delta", delta, *words, "--json",
            descriptors=inputs.names,
        )  # fmt: skip
    costs: dict[str, Any] = json.loads(said)
    return costs


def of_ledger(file: str | PathLike[str], delta: float | None = None) -> dict[str, Any]:
    """The jobs of a data set's ledger and what all together have cost it, as `trefoil ledger show --json` says it."""
    at = [] if delta is None else ["--delta", str(delta)]
    ledger: dict[str, Any] = json.loads(_program.call("ledger", "show", fspath(file), *at, "--json"))
    return ledger
