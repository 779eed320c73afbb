"""Ports for programs that tests and scripts start."""

import random
import socket


def free_base_port(count=3):
    """A port below those that the system gives to clients, free as are those behind it, `count` in all, as far as can be told."""
    while True:
        base = random.randrange(20_000, 32_000 - count)
        try:
            for port in range(base, base + count):
                with socket.socket() as one:
                    one.bind(("127.0.0.1", port))
            return base
        except OSError:
            continue
