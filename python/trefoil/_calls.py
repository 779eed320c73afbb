"""One party's calls in a session of noisy sums: between the program that makes vectors and the library that runs the
protocol, which are two processes, or two threads. Without NumPy, since the process that runs a party has none."""

from __future__ import annotations

import os
import queue
import struct
from typing import Any, Callable, Protocol

BEGINS, ROWS, SUM, KEYS, VECTORS, DONE, LEAVE = range(7)
"""What a message is: of the library where the session begins, the rows that a call takes and its sum; of the program its
keys, vectors, that they are all there, and that the session ends."""

BEGUN = struct.Struct("=qq")
"""Where a session begins: calls that were begun before, and how many of the first sums all three parties have had."""

_HEAD = struct.Struct("<bq")


class Gone(Exception):
    """The other side is no longer there."""


class Channel(Protocol):
    def send(self, kind: int, content: Any) -> None: ...

    def receive(self) -> tuple[int, Any]: ...

    def close(self) -> None: ...


class Pipes:
    """One side's ends of two pipes."""

    def __init__(self, read: int, write: int) -> None:
        self._read = os.fdopen(read, "rb")
        self._write = os.fdopen(write, "wb", buffering=0)

    def send(self, kind: int, content: Any) -> None:
        view = memoryview(content).cast("B")
        try:
            self._write_all(memoryview(_HEAD.pack(kind, len(view))))
            self._write_all(view)
        except BrokenPipeError:
            raise Gone from None

    def _write_all(self, view: memoryview) -> None:
        while view:
            view = view[self._write.write(view) or 0 :]

    def receive(self) -> tuple[int, Any]:
        kind, length = _HEAD.unpack(self._exactly(_HEAD.size))
        return kind, self._exactly(length)

    def _exactly(self, length: int) -> bytes:
        content = self._read.read(length)
        if len(content) < length:
            raise Gone
        return content

    def close(self) -> None:
        self._read.close()
        self._write.close()


class Queues:
    """One side of two queues within this process."""

    def __init__(self) -> None:
        self._inbox: queue.SimpleQueue[tuple[int, Any] | None] = queue.SimpleQueue()
        self._outbox: queue.SimpleQueue[tuple[int, Any] | None] = queue.SimpleQueue()

    def other_side(self) -> Queues:
        other = Queues()
        other._inbox, other._outbox = self._outbox, self._inbox
        return other

    def send(self, kind: int, content: Any) -> None:
        self._outbox.put((kind, bytes(memoryview(content).cast("B"))))  # the program may fill its array anew

    def receive(self) -> tuple[int, Any]:
        message = self._inbox.get()
        if message is None:
            self._inbox.put(None)  # for who asks again
            raise Gone
        return message

    def close(self) -> None:
        self._outbox.put(None)


class Calls:
    """The library's side: it asks for vectors and tells sums, as the C++ class VectorProgram says."""

    def __init__(self, channel: Channel, records: int) -> None:
        self._channel = channel
        self.records = records
        self.keys = bytes(self._expect(KEYS))

    def _expect(self, kind: int) -> Any:
        found, content = self._channel.receive()
        if found != kind:
            raise Gone
        return content

    def begins(self, begun: int, shared: int) -> None:
        self._channel.send(BEGINS, BEGUN.pack(begun, shared))

    def bring(self, rows: bytes, add: Callable[[Any], None]) -> bool:
        self._channel.send(ROWS, rows)
        while True:
            kind, content = self._channel.receive()
            if kind == VECTORS:
                add(content)
            elif kind in (DONE, LEAVE):
                return bool(kind == DONE)
            else:
                raise Gone

    def opened(self, numbers: bytes) -> None:
        self._channel.send(SUM, numbers)


def over_pipes(read: int, write: int, records: int) -> Calls:
    return Calls(Pipes(read, write), records)
