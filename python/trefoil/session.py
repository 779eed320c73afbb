"""Sessions of noisy sums: a program of one's own makes vectors, call after call, and nobody sees anything but sums with
noise of all three parties."""

from __future__ import annotations

import os
import threading
import time
import tomllib
from concurrent.futures import Future, wait
from os import PathLike, fspath
from pathlib import Path
from types import TracebackType
from typing import Any, Iterator, NoReturn, Sequence, TypeVar

import numpy as np
from numpy.typing import NDArray

from trefoil import _calls, _core
from trefoil._calls import BEGINS, BEGUN, DONE, KEYS, LEAVE, ROWS, SUM, VECTORS, Calls, Channel, Gone, Pipes, Queues
from trefoil._inputs import Inputs, _numbers
from trefoil._party_run import PartyRun
from trefoil.errors import BudgetError, ConfigError, ContractError, DataError, Error
from trefoil.job import Job
from trefoil.party import Party
from trefoil.result import Result, of_simulation

Rows = NDArray[np.int64]
Numbers = NDArray[np.float64]
_Self = TypeVar("_Self", bound="Sums")


class Sums:
    """What both kinds of sessions have: a channel to the library for each party that they stand for."""

    def __init__(self, job: Job, parties: Sequence[int], records: Sequence[int | None], keys: Sequence[Any]) -> None:
        declared = job.to_dict()
        self.job = job
        self.calls, self.dimension, self.sampling_rate, self._owner_sums = job._core.calls_of_program()
        """`calls`: how many the job has, and is charged for."""
        self.calls_made = 0
        """Those of earlier sessions of the run included, as far as anybody had begun them."""
        self.calls_shared = 0
        """Of a resumed run: the sums of the first so many calls have reached all three parties, which went on with them."""
        self.expected_batch: float = self.sampling_rate * sum(declared["data"]["rows"])
        """Records that a call takes of all three parties, on average: public, and so what sums may be divided by."""
        self.result: Result | None = None
        """Once the session is over: epsilons and record."""
        rows: list[int] = declared["data"]["rows"]
        self.records = [rows[party] if own is None else own for party, own in zip(parties, records, strict=True)]
        """Of each party that the session stands for."""
        self._keys = [b"" if own is None else np.ascontiguousarray(own, dtype=np.int64).tobytes() for own in keys]
        self._channels: list[Channel] = []
        self._begun = False
        self._rows: list[Rows] | None = None

    def __enter__(self: _Self) -> _Self:
        if self._channels:
            raise ContractError("session: found a second start, expected a session of its own for each")
        self._start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is not None:
            self._abort()
            return
        try:
            if self.calls_made < self.calls:
                self._ask()
                for channel in self._channels:
                    self._send(channel, LEAVE, b"")
        except BaseException:  # else the library would wait for this side, and the end of Python for the library
            self._abort()
            raise
        self._finish()

    def _start(self) -> None:
        raise NotImplementedError

    def _finish(self) -> None:
        """Waits for the library to end in order. Raises what ended it otherwise."""
        raise NotImplementedError

    def _abort(self) -> None:
        """Ends the library at once; the peers are told."""
        raise NotImplementedError

    def _fail(self) -> NoReturn:
        """The library has gone: raises why."""
        self._finish()
        raise BudgetError("session: found no call that is left, expected one: the run has come to its end")

    def _send(self, channel: Channel, kind: int, content: Any) -> None:
        try:
            channel.send(kind, content)
        except Gone:
            self._fail()

    def _receive(self, channel: Channel, kind: int) -> Any:
        try:
            found, content = channel.receive()
        except Gone:
            self._fail()
        assert found == kind
        return content

    def _ask(self) -> list[Rows]:
        """Of each party the rows that the coins of the next call take; the same until it is made."""
        if not self._channels:
            raise ContractError("session: found a call, expected `with` before: it meets the peers")
        self._begin()
        if self._rows is None:
            if self.calls_made == self.calls:
                raise BudgetError(
                    f"session: found one more call, expected the {self.calls} that the job is charged for"
                )
            contents = [self._receive(channel, ROWS) for channel in self._channels]
            self._rows = [np.frombuffer(content, dtype=np.int64).copy() for content in contents]
        return self._rows

    def _begin(self) -> None:
        """Learns behind which call the session begins, once."""
        if not self._begun:
            for channel in self._channels:
                self.calls_made, self.calls_shared = BEGUN.unpack(self._receive(channel, BEGINS))
            self._begun = True

    def _answer(self, vectors: Sequence[Any]) -> list[Numbers | None]:
        """Makes the call; what it opened to each party."""
        if self._rows is None and self.sampling_rate < 1:
            raise ContractError("noisy_sum: found no sample, expected sample() before each call: it draws the coins")
        wanted = [1 if self._owner_sums else len(rows) for rows in self._ask()]
        blocks = [self._blocks(own, count) for own, count in zip(vectors, wanted, strict=True)]
        try:
            for channel, own, count in zip(self._channels, blocks, wanted):
                self._bring(channel, own, count)
        except BaseException:
            self._abort()
            raise
        sums = [np.frombuffer(self._receive(channel, SUM), dtype=np.float64) for channel in self._channels]
        self.calls_made += 1
        self._rows = None
        return [numbers.copy() if numbers.size else None for numbers in sums]

    def _blocks(self, vectors: Any, wanted: int) -> Iterator[Numbers]:
        """Some rows after the other. An array is checked whole, so that a call that was refused can be made again."""
        if isinstance(vectors, Iterator):
            return (self._block(block) for block in vectors)
        block = self._block(vectors)
        self._check(len(block), wanted)
        return iter([block])

    def _block(self, vectors: Any) -> Numbers:
        block = np.ascontiguousarray(_numbers(vectors, "vectors"), dtype=np.float64)
        if self._owner_sums and block.shape == (self.dimension,):
            return block[None]
        if block.ndim != 2 or block.shape[1] != self.dimension:
            shape = f"{self.dimension} numbers" if self._owner_sums else f"{self.dimension} columns, a record a row"
            raise DataError(f"vectors: found shape {block.shape}, expected {shape}")
        return block

    def _check(self, found: int, wanted: int) -> None:
        if found != wanted:
            raise DataError(f"vectors: found {found}, expected {wanted}, one for each record of the sample")

    def _bring(self, channel: Channel, blocks: Iterator[Numbers], wanted: int) -> None:
        done = 0
        for block in blocks:
            done += len(block)
            if block.size:
                self._send(channel, VECTORS, block.reshape(-1))
        self._check(done, wanted)
        self._send(channel, DONE, b"")


class Session(Sums):
    """One organisation's side of a session of noisy sums: `trefoil run` of a job of type "sum", for which a program
    brings the vectors.

        with trefoil.Session(party, job) as session:
            for _ in range(session.calls):
                rows = session.sample()
                noisy = session.noisy_sum(vectors_of(rows))

    All three organisations do the same, with the same calls. `records` is how many this party has (default: what the
    job declares), `keys` of each record the key of its group, where the job's unit of privacy is one. `out` is the run
    directory (default: runs/NAME-UTC).

    A record's vector has to be a function of that record and of the sums so far, and of no other record. The program
    shortens it to the job's norm_bound, rounds it, and adds up this party's own before anything leaves it. All calls
    are charged before the first sum opens, and also if the `with` ends before all are made, which all three do after
    the same call. An exception ends the session at all three.

    `resume` goes on with the run that `out` holds, at all three: with the calls that no party has begun, at no further
    charge; BudgetError for a run that has come to its end. Once the `with` has begun, `calls_made` says how many there
    were, and `calls_shared` from which one all three can go on: what a program made of later sums it has to forget, since
    they may have reached some parties only.

    Raises what ended the session: ConfigError, DataError, NetworkError, ProtocolError, BudgetError, StoppedError.
    """

    def __init__(
        self,
        party: Party | str | PathLike[str],
        job: Job,
        *,
        records: int | None = None,
        keys: Any = None,
        out: str | PathLike[str] | None = None,
        threads: int = 0,
        resume: bool = False,
    ) -> None:
        if resume and out is None:
            raise ConfigError("out: missing, expected with resume the run directory that is to be resumed")
        self.party = party if isinstance(party, Party) else Party(party)
        super().__init__(job, [_id_of(self.party.file)], [records], [keys])
        started = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime())
        self._folder = Path(out) if out is not None else Path("runs") / f"{job.name}-{started}"
        self._threads = threads
        self._resume = resume

    def sample(self) -> Rows:
        """Draws the next call's coins: the rows of this party's records that it takes, from 0, ascending; perhaps none.
        Asked again before `noisy_sum`, gives the same. Raises BudgetError once all calls are made."""
        return self._ask()[0]

    def noisy_sum(self, vectors: Any) -> Numbers | None:
        """Makes the call: a vector, as a row, for each row of `sample()`, in its order; or an iterator of blocks of
        them. Where the job has sum.summed = "owner", the one vector that this party's add up to. Returns the sum of all
        three parties' with noise; None where the job's release.to does not name this party. Blocks until the peers have
        made the call. Raises DataError; for an array of a wrong shape the call can be made again."""
        return self._answer([vectors])[0]

    def _start(self) -> None:
        ours_in, theirs_out = os.pipe()
        theirs_in, ours_out = os.pipe()
        with Inputs() as inputs:
            inputs.names |= {theirs_in: "calls", theirs_out: "calls"}  # passed on, and closed here
            calls = {"file": _calls.__file__, "read": theirs_in, "write": theirs_out, "records": self.records[0]}
            call = self.party._call(self.job, inputs, {}, self._folder, self._threads, self._resume)
            self._run = PartyRun({**call, "calls": calls}, inputs)
        self._channels = [Pipes(ours_in, ours_out)]
        self._ended: Future[None] = Future()
        threading.Thread(target=self._wait, name="trefoil.Session").start()
        try:
            self._send(self._channels[0], KEYS, self._keys[0])
            if self._resume:
                self._begin()
        except BaseException:  # no `with` has begun that would end it
            self._abort()
            raise

    def _wait(self) -> None:
        """In a thread of its own, which takes what the run prints."""
        try:
            self._run.wait(lambda step: None)
            self._ended.set_result(None)
        except BaseException as error:  # raised again in the caller's thread
            self._ended.set_exception(error)

    def _finish(self) -> None:
        try:
            while wait([self._ended], timeout=0.1).not_done:
                pass
        except BaseException:
            self._abort()
            raise
        self._channels[0].close()
        self._ended.result()
        self.result = self.party._result(self.job, self._folder)

    def _abort(self) -> None:
        self._channels[0].close()
        self._run.stop()
        try:
            wait([self._ended])
        except BaseException:  # interrupted again
            self._run.kill()
            raise


class SimulatedSession(Sums):
    """A session of noisy sums of three parties in this process, for trials: whoever has the process has all the data.

        with trefoil.SimulatedSession(job) as session:
            rows = session.sample()
            noisy = session.noisy_sum([vectors_of(party, own) for party, own in enumerate(rows)])

    As `Session`, with three of each: `records`, `keys`, what `sample` returns and `noisy_sum` takes. Messages are
    serialised and checked as on a network, coins and noise are the real ones, and nothing is written to disk.
    """

    def __init__(
        self, job: Job, *, records: Sequence[int | None] = (None,) * 3, keys: Sequence[Any] = (None,) * 3
    ) -> None:
        if len(records) != 3 or len(keys) != 3:
            raise ConfigError(f"records, keys: found {len(records)} and {len(keys)}, expected three of each")
        super().__init__(job, range(3), records, keys)
        declared = job.to_dict()
        for party, (found, most) in enumerate(zip(self.records, declared["data"]["rows"])):
            if not 0 <= found <= most:  # before the other parties wait for vectors in vain
                raise DataError(f"party {party}: records: found {found}, expected at most the {most} declared")
        self._check_keys(keys, declared["privacy"])

    def _check_keys(self, keys: Sequence[Any], privacy: dict[str, Any]) -> None:
        groups = privacy.get("unit", "record") == "group"
        for party, (own, records) in enumerate(zip(keys, self.records)):
            wanted = records if groups else 0
            found = 0 if own is None else len(own)
            if found != wanted:
                raise DataError(f"party {party}: keys: found {found}, expected {wanted}")
            if found and np.unique(own, return_counts=True)[1].max() > privacy["max_group_rows"]:
                raise DataError(f"party {party}: keys: found a group of more rows, expected at most max_group_rows")

    def sample(self) -> list[Rows]:
        """Of each party the rows that the next call takes, as Session.sample."""
        return self._ask()

    def noisy_sum(self, vectors: Sequence[Any]) -> Numbers:
        """Makes the call with each party's vectors, as Session.noisy_sum. Returns the sum as those got it whom the
        job's release.to names."""
        if len(vectors) != 3:
            raise DataError(f"vectors: found those of {len(vectors)} parties, expected three")
        sums = self._answer(vectors)
        got = sums[self.job.release_to[0]]
        assert got is not None
        return got

    def _start(self) -> None:
        self._channels = [Queues() for _ in range(3)]
        theirs = [channel.other_side() for channel in self._channels if isinstance(channel, Queues)]
        for channel, keys in zip(self._channels, self._keys):
            channel.send(KEYS, keys)
        programs = [Calls(other, records) for other, records in zip(theirs, self.records)]
        self._stop = _core.Stop()
        self._ends: list[_core.JobResult] | BaseException = []
        self._ended = threading.Event()  # a thread that join() was interrupted for counts as ended in CPython 3.11

        def run() -> None:
            try:
                self._ends = _core.simulate(self.job._core, [{}, {}, {}], None, self._stop, programs)
            except BaseException as error:  # raised again in the caller's thread
                self._ends = error
            finally:
                for other in theirs:
                    other.close()
                self._ended.set()

        threading.Thread(target=run, name="trefoil.SimulatedSession").start()

    def _finish(self) -> None:
        try:
            while not self._ended.wait(0.1):
                pass
        except BaseException:
            self._abort()
            raise
        if isinstance(self._ends, BaseException):
            raise self._ends
        self.result = of_simulation(self.job, self._ends[self.job.release_to[0]], ())

    def _abort(self) -> None:
        self._stop.request()
        for channel in self._channels:
            channel.close()
        self._ended.wait()


def _id_of(party_file: Path) -> int:
    """A party's number, to know what the job declares for it; all else the run itself reads and checks."""
    try:
        found = tomllib.loads(party_file.read_text())["party"]["id"]
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError, KeyError, TypeError) as error:
        raise ConfigError(f"{party_file}: found no party.id ({error}), expected a party file") from None
    if found not in (0, 1, 2):
        raise ConfigError(f"{party_file}: party.id: found {found}, expected 0, 1 or 2")
    return int(found)
