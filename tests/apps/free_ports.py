"""Ports for programs that tests and scripts start."""

import fcntl
import functools
import itertools
import os
import pathlib
import random
import socket
import tempfile

FIRST, BLOCK, BLOCKS = 20_000, 120, 100  # below the ports that the system gives to clients


@functools.cache
def own_block():
    """The first port of a block that no other test has, and the lock that keeps it until this process ends."""
    folder = pathlib.Path(tempfile.gettempdir()) / f"trefoil-ports-{os.getuid()}"
    folder.mkdir(exist_ok=True)
    while True:
        first = FIRST + BLOCK * random.randrange(BLOCKS)
        lock = open(folder / str(first), "w")
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return first, lock
        except OSError:
            lock.close()


@functools.cache
def offsets():
    """Those of ports in the block, over and over, so that none is given twice while others are left."""
    return itertools.cycle(range(BLOCK))


def free_base_port(count=3):
    """A port that is free as are those behind it, `count` in all, as far as can be told; no other test is given them."""
    first, _ = own_block()
    while True:
        ports = [first + offset for offset in itertools.islice(offsets(), count)]
        if ports[-1] < ports[0]:  # the block's end is in between
            continue
        try:
            for port in ports:
                with socket.socket() as one:
                    one.bind(("127.0.0.1", port))
            return ports[0]
        except OSError:
            continue
