"""What the package raises: the library's errors, with their one-line texts (place, found, expected)."""


class Error(Exception):
    """Any error of the library."""


class ConfigError(Error, ValueError):
    """A job, a party file or an argument is wrong."""


class PassingError(ConfigError):
    """Something on this machine may be otherwise soon without anybody's doing: a port is taken, the clock is behind,
    another process executes the run. Worth another try, as no other ConfigError is."""


class DataError(Error, ValueError):
    """Data is not what the job declares."""


class NetworkError(Error, ConnectionError):
    """A link failed: a peer was lost, stayed silent, or stopped. `peer` is its number, where it is known."""

    peer: int = -1


class ProtocolError(Error, RuntimeError):
    """A peer sent something that the protocol does not allow. `peer` is its number, where it is known."""

    peer: int = -1


class ContractError(Error, AssertionError):
    """A caller broke a function's precondition: a defect in the calling program."""


class BudgetError(Error, RuntimeError):
    """The privacy budget does not allow what was asked for."""


class StoppedError(Error, RuntimeError):
    """The run was told to stop."""
