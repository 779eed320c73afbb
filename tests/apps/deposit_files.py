"""Opens an owner's files as docs/reference/deposits.md describes them, without the program; libsodium does the cryptography."""

import ctypes
import ctypes.util
import hashlib
import os
import struct

SODIUM = ctypes.CDLL(ctypes.util.find_library("sodium"))
SODIUM.sodium_init()
CHUNK, TAG = 65536, 17


def key_of(path):
    return bytes.fromhex(path.read_text().split()[-1])


def checked(status):
    assert status == 0, status


def opened_stream(key, sealed, header):
    """What a secretstream of chunks holds, whose last one alone is marked."""
    state = ctypes.create_string_buffer(SODIUM.crypto_secretstream_xchacha20poly1305_statebytes())
    checked(SODIUM.crypto_secretstream_xchacha20poly1305_init_pull(state, sealed[:24], key))
    chunks, text = [sealed[at:at + CHUNK + TAG] for at in range(24, len(sealed), CHUNK + TAG)], b""
    for number, chunk in enumerate(chunks):
        out, tag = ctypes.create_string_buffer(max(len(chunk) - TAG, 1)), ctypes.c_ubyte()
        checked(SODIUM.crypto_secretstream_xchacha20poly1305_pull(state, out, None, ctypes.byref(tag), chunk, ctypes.c_ulonglong(len(chunk)),
                                                                  header, ctypes.c_ulonglong(len(header))))
        assert tag.value == (3 if number == len(chunks) - 1 else 0), tag
        text += out.raw[:len(chunk) - TAG]
    return text


def public_of(secret):
    known = ctypes.create_string_buffer(32)
    checked(SODIUM.crypto_scalarmult_base(known, secret))
    return known.raw


def body_key(secret, other, ephemeral, recipient, header):
    shared = ctypes.create_string_buffer(32)
    checked(SODIUM.crypto_scalarmult(shared, secret, other))
    return hashlib.blake2b(b"trefoil deposit body 1\n" + shared.raw + ephemeral + recipient + header, digest_size=32).digest()


def commitment_of(header, number, salt, component):
    text = b"trefoil deposit commitment 1\n" + header[:32] + header[208:240] + bytes([number]) + salt + component
    return hashlib.sha256(text).digest()


def opened_parts(path, secret):
    """Party, header, and by number the two components, each behind its salt, of a file for the party with that secret key."""
    content = path.read_bytes()
    version, party, header_bytes, body_bytes = struct.unpack("<IIQQ", content[16:40])
    assert (content[:16], version, header_bytes, len(content)) == (b"trefoil deposit\n", 1, 440, 704 + body_bytes)
    owner, signed, signature = content[40:72], b"trefoil deposit 1\n" + content[72:200], content[200:264]
    checked(SODIUM.crypto_sign_verify_detached(signature, signed, ctypes.c_ulonglong(len(signed)), owner))
    header, body = content[264:704], content[704:]
    assert hashlib.sha256(header).digest() == content[72:104] and header[40:72] == owner
    known = public_of(secret)
    assert header[248 + 32 * party:280 + 32 * party] == known
    text, parts = opened_stream(body_key(secret, body[:32], body[:32], known, header), body[32:], header), {}
    for number in (party, (party + 1) % 3):
        salt, text = text[:32], text[32:]
        length = len(text) if number == 2 and party == 1 else 32 if number != 2 else len(text) - 64
        parts[number], text = (salt, text[:length]), text[length:]
        assert commitment_of(header, number, *parts[number]) == header[344 + 32 * number:376 + 32 * number]
    assert text == b""
    return party, header, parts


def opened(path, secret):
    """The same without the salts."""
    party, header, parts = opened_parts(path, secret)
    return party, header, {number: component for number, (_, component) in parts.items()}


def sealed_body(text, recipient, header):
    """In one chunk."""
    secret, out = os.urandom(32), ctypes.create_string_buffer(len(text) + TAG)
    stream_header, ephemeral = ctypes.create_string_buffer(24), public_of(secret)
    key = body_key(secret, recipient, ephemeral, recipient, header)
    state = ctypes.create_string_buffer(SODIUM.crypto_secretstream_xchacha20poly1305_statebytes())
    checked(SODIUM.crypto_secretstream_xchacha20poly1305_init_push(state, stream_header, key))
    checked(SODIUM.crypto_secretstream_xchacha20poly1305_push(state, out, None, text, ctypes.c_ulonglong(len(text)), header,
                                                              ctypes.c_ulonglong(len(header)), ctypes.c_ubyte(3)))
    return ephemeral + stream_header.raw + out.raw


def change_rows(folder, secrets, owner_seed, change):
    """What a hostile owner can do: makes of the three files in a folder those of a deposit whose component 2 is change(component 2),
    right in everything that one party can see. `secrets`: the parties' keys, since the owner's own are gone."""
    paths, parts = [folder / f"party-{party}.deposit" for party in range(3)], {}
    for path, secret in zip(paths, secrets, strict=True):
        _, header, some = opened_parts(path, secret)
        parts.update(some)
    parts[2] = parts[2][0], change(parts[2][1])
    header = header[:344] + b"".join(commitment_of(header, number, *parts[number]) for number in range(3))
    bodies = [sealed_body(b"".join([*parts[party], *parts[(party + 1) % 3]]), public_of(secrets[party]), header) for party in range(3)]
    signed = hashlib.sha256(header).digest() + b"".join(hashlib.sha256(body).digest() for body in bodies)
    known, key, signature = (ctypes.create_string_buffer(size) for size in (32, 64, 64))
    checked(SODIUM.crypto_sign_seed_keypair(known, key, owner_seed))
    text = b"trefoil deposit 1\n" + signed
    checked(SODIUM.crypto_sign_detached(signature, None, text, ctypes.c_ulonglong(len(text)), key))
    for path, body in zip(paths, bodies, strict=True):
        path.write_bytes(path.read_bytes()[:72] + signed + signature.raw + header + body)


def words(seed):
    """Those that a seed stands for, without end."""
    block = 0
    while True:
        out = ctypes.create_string_buffer(4096)
        SODIUM.crypto_stream_chacha20(out, ctypes.c_ulonglong(4096), struct.pack("<Q", block), seed)
        yield from struct.unpack("<512Q", out.raw)
        block += 1


def rows_of(components, capacity, features, bits, labels):
    """The rows that three components add up to: signed features, mask bit, label."""
    size, modulus, total = (bits + 7) // 8, 1 << bits, []
    streams, at, content = [words(components[0]), words(components[1])], 0, components[2]
    for _ in range(capacity):
        row = []
        for number in range(features + 1 + labels):
            length = size if number < features else 8
            value = int.from_bytes(content[at:at + length], "little") + sum(next(stream) for stream in streams)
            at += length
            if number < features:
                value %= modulus
                row.append(value - modulus if value >= modulus // 2 else value)
            else:
                row.append(value % (1 << 64))
        total.append(row)
    assert at == len(content)
    return total
