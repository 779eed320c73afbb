#!/usr/bin/env python3
"""A party 1 that speaks another version of the protocol: right certificate, right job, nothing else.

Usage: other_version.py PARTY_FOLDER ADDRESS_OF_0 OWN_ADDRESS
"""

import pathlib
import socket
import ssl
import struct
import sys
import threading
import time

PORT = 7700
VERSION = 99
HELLO, ANY_CLOCK = 4, 0


def frame(receiver):
    payload = struct.pack("<IBBB", VERSION, 1, receiver, 1) + bytes(range(32)) + bytes(32) + struct.pack("<q", ANY_CLOCK)
    return struct.pack("<BHIQQ", HELLO, 0, 0, 0, len(payload)) + bytes(16) + payload


def talk(connection, receiver):
    with connection:
        connection.sendall(frame(receiver))
        while connection.recv(1 << 16):
            pass


def wrap(folder, peer, purpose):
    context = ssl.SSLContext(purpose)
    context.minimum_version = ssl.TLSVersion.TLSv1_3
    context.check_hostname = False
    context.load_cert_chain(folder / "party.crt", folder / "party.key")
    context.load_verify_locations(folder / f"peers/party-{peer}.crt")
    context.verify_mode = ssl.CERT_REQUIRED
    return context


def serve(folder, listener):
    context = wrap(folder, 2, ssl.PROTOCOL_TLS_SERVER)
    while True:
        plain, _ = listener.accept()
        try:
            talk(context.wrap_socket(plain, server_side=True), 2)
        except OSError:
            pass


def main():
    folder = pathlib.Path(sys.argv[1])
    listener = socket.create_server((sys.argv[3], PORT))
    threading.Thread(target=serve, args=(folder, listener), daemon=True).start()
    context = wrap(folder, 0, ssl.PROTOCOL_TLS_CLIENT)
    while True:
        try:
            talk(context.wrap_socket(socket.create_connection((sys.argv[2], PORT))), 0)
        except OSError:
            pass  # it is not there yet, or has ended
        time.sleep(0.1)


if __name__ == "__main__":
    main()
