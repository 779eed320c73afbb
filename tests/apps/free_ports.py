"""Ports for programs that tests and scripts start."""

import fcntl
import functools
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


def free_base_port(count=3):
    """A port that is free as are those behind it, `count` in all, as far as can be told; no other test is given them."""
    while True:
        base = own_block()[0] + random.randrange(BLOCK - count)
        try:
            for port in range(base, base + count):
                with socket.socket() as one:
                    one.bind(("127.0.0.1", port))
            return base
        except OSError:
            continue
