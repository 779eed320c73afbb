#!/usr/bin/env python3
"""Forwards TCP connections and, once told to by SIGUSR1, flips one bit of what is sent to the server next.

Usage: flip_proxy.py LISTEN_HOST:PORT HOST:PORT
"""

import select
import signal
import socket
import sys

flips = 0


def on_signal(*_):
    global flips
    flips += 1


def address(text):
    host, port = text.rsplit(":", 1)
    return host, int(port)


def main():
    global flips
    signal.signal(signal.SIGUSR1, on_signal)
    listener = socket.create_server(address(sys.argv[1]))
    target = address(sys.argv[2])
    print("ready", flush=True)
    peers = {}  # each socket's other side
    servers = set()
    while True:
        ready, _, _ = select.select([listener, *peers], [], [])
        for source in ready:
            if source is listener:
                client, _ = listener.accept()
                try:
                    server = socket.create_connection(target)
                except OSError:
                    client.close()
                    continue
                peers[client], peers[server] = server, client
                servers.add(server)
                continue
            if source not in peers:
                continue
            try:
                data = bytearray(source.recv(1 << 16))
                if data and flips and source not in servers:
                    flips -= 1
                    data[len(data) // 2] ^= 1
                if data:
                    peers[source].sendall(data)
            except OSError:
                data = b""
            if not data:
                other = peers.pop(source)
                peers.pop(other, None)
                servers.discard(source)
                servers.discard(other)
                source.close()
                other.close()


if __name__ == "__main__":
    main()
