"""Accountants of differential privacy.

Every epsilon is an upper bound, rounded up; infinity where there is no guarantee. Neighbours differ by one record,
added or removed. Functions raise ConfigError for a number outside its domain.
"""

from __future__ import annotations

from os import PathLike, fspath
from typing import Iterable, Literal

from trefoil import _core

Method = Literal["rdp", "pld"]
"""By Renyi divergences, or by the distribution of the privacy loss: tighter, and a second or so slower."""


def _method(name: Method) -> _core.Accounting:
    if name not in ("rdp", "pld"):
        from trefoil.errors import ConfigError

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

    def gaussian(self, noise_multiplier: float, *, steps: int = 1, sampling_rate: float = 1.0) -> Accountant:
        """Adds sums of sensitivity 1 with normal noise, as `epsilon` has them."""
        self._core.add_gaussian(sampling_rate, noise_multiplier, steps)
        return self

    def laplace(self, scale: float, *, count: int = 1) -> Accountant:
        """Adds numbers of sensitivity 1 with Laplace noise of this scale."""
        self._core.add_laplace(scale, count)
        return self

    def pure(self, epsilon: float, *, count: int = 1) -> Accountant:
        """Adds releases by any (epsilon, 0)-differentially private mechanism."""
        self._core.add_pure(epsilon, count)
        return self

    def epsilon(self, delta: float) -> float:
        """Of all that was added."""
        return self._core.epsilon(delta)


def of_record(file: str | PathLike[str], delta: float, *, accountant: Method = "pld") -> tuple[float, float]:
    """Both epsilons of what a run released, from its record.json: an outsider's and an insider's."""
    return _core.record_epsilons(fspath(file), delta, _method(accountant))
