"""Secure DP-SGD and other private computations among three organisations, from Python.

    job = trefoil.Job.from_toml("job.toml")
    print(job.plan())
    result = trefoil.simulate(job, [(X0, y0), (X1, y1), (X2, y2)])
    result.model.predict(X)

`trefoil.Party("party.toml").run(job, X, y)` is one organisation's side of the same job, over TLS.
"""

from trefoil import accounting
from trefoil._core import load_numpy as _load_numpy
from trefoil._core import version as _version
from trefoil.draft import Draft, schema_of
from trefoil.errors import (
    BudgetError,
    ConfigError,
    ContractError,
    DataError,
    Error,
    NetworkError,
    PassingError,
    ProtocolError,
    StoppedError,
)
from trefoil.job import Job, Plan
from trefoil.model import Model
from trefoil.party import Party, trial_parties
from trefoil.result import Result, Step
from trefoil.session import Session, SimulatedSession
from trefoil.simulation import simulate

__version__ = _version()
_load_numpy()

__all__ = [
    "BudgetError",
    "ConfigError",
    "ContractError",
    "DataError",
    "Draft",
    "Error",
    "Job",
    "Model",
    "NetworkError",
    "Party",
    "PassingError",
    "Plan",
    "ProtocolError",
    "Result",
    "Session",
    "SimulatedSession",
    "Step",
    "StoppedError",
    "accounting",
    "schema_of",
    "simulate",
    "trial_parties",
]
