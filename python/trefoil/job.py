"""Jobs: what three parties compute, as a job file declares it."""

from __future__ import annotations

import html
import inspect
import json
import math
from dataclasses import dataclass
from os import PathLike, fspath
from typing import Any, Callable, Iterator, Mapping, Sequence

from trefoil import _core
from trefoil.errors import ConfigError


class Told:
    """What is printed in lines, and shown by a notebook as a table."""

    def _rows(self) -> list[tuple[str, str]]:
        raise NotImplementedError

    def __str__(self) -> str:
        return "\n".join(f"{name:<18} {text}" for name, text in self._rows())

    def _repr_html_(self) -> str:
        cells = "".join(
            f"<tr><th>{html.escape(name)}</th><td>{html.escape(text)}</td></tr>" for name, text in self._rows()
        )
        return f"<table>{cells}</table>"


@dataclass(frozen=True)
class Cost:
    """What a run costs at most, in one form of comparison."""

    form: str
    """ "bulk" or "latency" where a run has the choice; else empty."""
    rounds: int
    bytes_sent: tuple[int, ...]
    """By each party, what is sent ahead included."""


@dataclass(frozen=True)
class Plan(Told):
    """What a job promises and costs, before anything runs."""

    name: str
    type: str
    hash: str
    epsilon_outsider: float
    epsilon_insider: float
    delta: float
    costs: tuple[Cost, ...]
    warnings: tuple[str, ...]

    def _rows(self) -> list[tuple[str, str]]:
        rows = [
            ("job", f"{self.name} ({self.type})"),
            ("epsilon, outsider", f"{_core.epsilon_text(self.epsilon_outsider)} at most"),
            ("epsilon, insider", f"{_core.epsilon_text(self.epsilon_insider)} at most"),
            ("delta", _core.delta_text(self.delta)),
        ]
        for cost in self.costs:
            form = f", {cost.form}" if cost.form else ""
            sent = " / ".join(f"{count / 1e6:.1f}" for count in cost.bytes_sent)
            rows.append((f"cost{form}", f"{cost.rounds} rounds; parties send {sent} MB"))
        return rows + [("not covered", warning) for warning in self.warnings]


class _Types(type):
    """Gives Job a constructor for each type that the library has: Job.dpsgd, Job.pate, ..."""

    def __getattr__(cls, name: str) -> Callable[..., Job]:
        if name not in cls._names():
            raise AttributeError(f"type object 'Job' has no attribute {name!r}")
        constructor = _constructor(name, cls._names()[name])
        setattr(cls, name, constructor)
        return constructor

    def __dir__(cls) -> list[str]:
        return [*super().__dir__(), *cls._names()]

    @staticmethod
    def _names() -> dict[str, str]:
        return {name.replace("-", "_"): name for name in _core.job_types()}


class Job(metaclass=_Types):
    """A job of any type: public, and the same at all three parties.

    Made by `from_toml`, `from_dict` or a constructor named after its type (`Job.dpsgd`), whose help lists every key.
    """

    def __init__(self, core: _core.Job) -> None:
        self._core = core

    @classmethod
    def from_toml(cls, file: str | PathLike[str], assignments: Sequence[str] = ()) -> Job:
        """Reads a job file, sets each "KEY=VALUE" of `assignments`, and checks it whole; opens no data.

        Raises ConfigError: place, key, what was found, what was expected.
        """
        if isinstance(assignments, str):
            raise ConfigError(f'assignments: found the text "{assignments}", expected a list: ["{assignments}"]')
        return cls(_core.Job.read(fspath(file), list(assignments)))

    @classmethod
    def from_dict(cls, keys: Mapping[str, Any]) -> Job:
        """The job of these keys: those of a job file, tables as mappings. Raises ConfigError as `from_toml`."""
        _require_finite(keys, "job")
        return cls(_core.Job.parse(json.dumps({"version": 1, **keys}, default=_plain), "job"))

    @property
    def name(self) -> str:
        return self._core.name

    @property
    def type(self) -> str:
        return self._core.type

    @property
    def delta(self) -> float:
        """At which both epsilons are said."""
        return self._core.delta

    @property
    def release_to(self) -> list[int]:
        """The parties that get results."""
        return self._core.release_to

    @property
    def hash(self) -> str:
        """SHA-256 of the canonical job, which parties compare when they meet."""
        return self._core.hash()

    def to_dict(self) -> dict[str, Any]:
        """Every key, defaults filled in."""
        keys: dict[str, Any] = json.loads(self._core.json())
        return keys

    def _keys_of_records(self) -> dict[str, Any]:
        """As to_dict, with a column that the job counts among those of [data]."""
        keys = self.to_dict()
        if counted := self._core.counted():
            name, values = counted
            keys["data"].setdefault("column", []).append({"name": name, "kind": "category", "values": values})
        return keys

    def to_toml(self) -> str:
        """A job file, defaults filled in."""
        return self._core.toml()

    def plan(self) -> Plan:
        """What the job promises and costs. Raises ConfigError for a privacy target that cannot be met."""
        outsider, insider = self._core.planned_epsilons()
        costs = tuple(Cost(form, rounds, tuple(sent)) for form, rounds, sent in self._core.planned_costs())
        return Plan(
            self.name, self.type, self.hash, outsider, insider, self.delta, costs, tuple(self._core.warnings())
        )

    def __repr__(self) -> str:
        return f"<trefoil.Job {self.name!r} of type {self.type!r}, hash {self.hash[:12]}>"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Job) and self.hash == other.hash

    def __hash__(self) -> int:
        return hash(self.hash)

    def __reduce__(self) -> tuple[Any, ...]:
        return (Job.from_dict, (self.to_dict(),))


def require_job(job: Any) -> None:
    if not isinstance(job, Job):
        raise ConfigError(f"job: found {type(job).__name__}, expected a trefoil.Job, as Job.from_toml reads it")


def _plain(value: Any) -> Any:
    """A number or an array of NumPy, as JSON has it."""
    if hasattr(value, "tolist"):
        return value.tolist()
    raise TypeError(f"{type(value).__name__} is no value of a job")


def _require_finite(value: Any, place: str) -> None:
    """JSON has no other numbers, and its reader could not say where one is."""
    if isinstance(value, Mapping):
        for key, one in value.items():
            _require_finite(one, f"{place}: {key}" if place == "job" else f"{place}.{key}")
    elif isinstance(value, (list, tuple)):
        for one in value:
            _require_finite(one, place)
    elif hasattr(value, "tolist"):
        _require_finite(value.tolist(), place)
    elif isinstance(value, float) and not math.isfinite(value):
        raise ConfigError(f"{place}: found {value}, expected a finite number")


_Leaf = tuple[tuple[str, ...], Mapping[str, Any]]


def _leaves(schema: Mapping[str, Any], path: tuple[str, ...] = ()) -> Iterator[_Leaf]:
    """Every key that is no table, with its tables' names before it."""
    for key, value in schema.get("properties", {}).items():
        if "properties" in value:
            yield from _leaves(value, (*path, key))
        elif path or key not in ("version", "type"):
            yield (*path, key), value


def _limits(key: Mapping[str, Any]) -> str:
    names = {"minimum": "at least", "exclusiveMinimum": "above", "maximum": "at most", "exclusiveMaximum": "below"}
    said = [f"{text} {key[name]}" for name, text in names.items() if name in key]
    said += [limits[2:-1] for one in key.get("oneOf", ()) if (limits := _limits(one))]
    if "enum" in key:
        said.append("one of " + ", ".join(map(json.dumps, key["enum"])))
    if "default" in key:
        said.append(f"default {json.dumps(key['default'])}")
    return f" ({'; '.join(said)})" if said else ""


def _constructor(name: str, job_type: str) -> Callable[..., Job]:
    """A function whose parameters are the keys of a type: TABLE__KEY for a key of a table, or the table whole."""
    schema = json.loads(_core.job_schema(job_type))
    leaves = dict(_leaves(schema))

    def make(**keys: Any) -> Job:
        tree: dict[str, Any] = {"type": job_type, "name": name}
        for key, value in keys.items():
            if value is not None:
                _put(tree, key.split("__"), value)
        return Job.from_dict(tree)

    parameter = inspect.Parameter
    unique = {"__".join(path): key.get("default") for path, key in leaves.items()}
    parameters = [parameter(key, parameter.KEYWORD_ONLY, default=value) for key, value in unique.items()]
    parameters.append(parameter("tables", parameter.VAR_KEYWORD))
    make.__name__ = name
    make.__qualname__ = f"Job.{name}"
    make.__signature__ = inspect.Signature(parameters, return_annotation=Job)  # type: ignore[attr-defined]
    lines = [f"    {'__'.join(path)}: {key.get('description', '')}{_limits(key)}" for path, key in leaves.items()]
    make.__doc__ = (
        f'A job of type "{job_type}". A key K of a table T is T__K, or a member of the mapping T.\n\n'
        + "\n".join(lines)
        + "\n\nRaises ConfigError: key, what was found, what was expected."
    )
    return make


def _put(tree: dict[str, Any], path: Sequence[str], value: Any) -> None:
    for depth, table in enumerate(path[:-1], 1):
        inner = tree.get(table, {})
        if not isinstance(inner, Mapping):
            place = ".".join(path[:depth])
            raise ConfigError(f"job: {place}: found {inner!r}, expected a table, which {'.'.join(path)} is a key of")
        tree[table] = dict(inner)  # never the caller's own
        tree = tree[table]
    before = tree.get(path[-1])
    if isinstance(before, Mapping) and isinstance(value, Mapping):
        value = {**before, **value}
    tree[path[-1]] = value
