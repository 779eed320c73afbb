#!/usr/bin/env python3
"""Writes the inputs that fuzzing begins with to tests/fuzz/corpus: a few small files for each target, valid ones above all.

Usage: make_corpus.py. Needs the command openssl for the two certificates, which are made only where they are not there. Files that are
there beside those of this script (findings that were mended) stay.
"""

import gzip
import hashlib
import io
import json
import pathlib
import re
import struct
import subprocess
import zipfile
import zlib

CORPUS = pathlib.Path(__file__).parent / "corpus"

# The job whose files sealed_fuzz.cpp opens.
TRAINING = re.search(r'kJob = R"\((.*?)\)"', (CORPUS.parent / "targets" / "sealed_fuzz.cpp").read_text(), re.DOTALL)[1]
WIDE_TRAINING = """version = 1
type = "dpsgd"
name = "wide"
fraction_bits = 20
[data]
name = "wide"
format = "csv"
rows = [100, 200, 300]
features = 4
classes = 2
header = true
missing = "?"
label = { column = "c", values = ["n", "y"], aliases = { no = "n" } }
[[data.column]]
name = "a"
kind = "number"
mean = 0.5
scale = 2.0
[[data.column]]
name = "b"
kind = "category"
values = ["u", "v", "w"]
[features]
row_norm = 2.0
[model]
loss = "softmax"
hidden = []
[training]
steps = 40
expected_batch = 30
max_batch_per_owner = 50
learning_rate = 1.0
schedule = "cosine"
final_rate = 0.1
momentum = 0.5
truncation = "exact"
comparison = "bulk"
checkpoint_every = 5
[privacy]
epsilon = 3.0
delta = 1e-5
clip = 1.0
against = "outsider"
accountant = "pld"
[initialisation]
method = "accuracy"
steps = 5
expected_batch = 20
learning_rate = 1.0
clip = 1.0
sigma = 4.0
delta = 1e-6
selection_rows = 10
selection_sigma = 4.0
[evaluation]
holder = 1
rows = 10
to = [1]
sigma = 5.0
[release]
to = [0, 2]
[local]
split = "sorted"
"""
HISTOGRAM = """version = 1
type = "histogram"
name = "counts"
[data]
name = "people"
format = "csv"
rows = [10, 20, 30]
header = false
columns = ["a", "b"]
[histogram]
mode = "central"
noise = "gaussian"
column = "b"
values = ["u", "v", "w"]
confidence = 0.9
[privacy]
sigma = 4.0
delta = 1e-5
[release]
to = [0, 1]
"""
PATE = """version = 1
type = "pate"
name = "votes"
[pate]
teachers = [10, 10, 10]
queries = 20
classes = 10
mechanism = "interactive-gnmax"
sigma = 4.0
threshold = 15.0
threshold_sigma = 10.0
reinforce = 0.9
answers = 10
[privacy]
delta = 1e-5
"""
TAUGHT = """version = 1
type = "pate"
name = "taught"
[data]
name = "digits"
format = "idx"
rows = [20, 0, 30]
features = 784
classes = 10
scale = 255.0
[features]
method = "hog"
[pate]
teachers = [3, 0, 4]
queries = 20
mechanism = "gnmax"
sigma = 4.0
[teacher]
loss = "one-vs-rest"
lambda = 0.1
tolerance = 1e-3
[student]
records = 30
lambda = 0.1
rounds = 2
keep = 0.5
[privacy]
delta = 1e-5
[local]
split = "sorted"
"""
PREDICTION = """version = 1
type = "predict"
name = "rows"
[predict]
run = "46f39529673efc7b8d0b9ca48998745f"
client = 0
rows = 10
"""
PARTY = """[party]
id = 0
listen = "0.0.0.0:7700"
advertise = "a.example.org:7700"
[[peer]]
id = 1
address = "b.example.org:7700"
certificate = "peers/party-1.crt"
[[peer]]
id = 2
address = "[::1]:7702"
certificate = "peers/party-2.crt"
[tls]
certificate = "party.crt"
private_key = "party.key"
[data]
x = "data/images-idx3-ubyte.gz"
y = "data/labels-idx1-ubyte.gz"
[timeouts]
start = "2m"
peer = "500ms"
[ledger]
file = "ledger.jsonl"
epsilon_cap = 10.0
delta = 1e-5
[storage]
key = "storage.key"
[metrics]
listen = "127.0.0.1:9100"
"""
JOB = {"data": {"classes": 2, "features": 2, "format": "idx", "name": "tiny", "partition": "horizontal", "rows": [10, 10, 10], "scale": 1.0},
       "features": {"method": "none", "row_norm": 1.0}, "fraction_bits": 16, "initialisation": {"method": "none"},
       "model": {"hidden": [], "loss": "one-vs-rest"}, "name": "tiny",
       "privacy": {"accountant": "rdp", "against": "insider", "clip": 1.0, "delta": 1e-05, "sampling": "public", "sigma": 20.0},
       "release": {"to": [0, 1, 2]},
       "training": {"checkpoint_every": 0, "clipping": "factorised", "comparison": "auto", "expected_batch": 3.0, "learning_rate": 1.0,
                    "logit_bound": 64.0, "max_batch_per_owner": 5, "momentum": 0.0, "schedule": "constant", "steps": 4, "steps_ahead": 2,
                    "truncation": "stochastic"},
       "type": "dpsgd", "version": 1}
RUN = "46f39529673efc7b8d0b9ca48998745f"
STEPS = {"capacity": [10, 10, 10], "clip": 1.0, "coordinates": 3, "kind": "dpsgd_steps", "max_batch": [10, 10, 10], "max_participation": 4,
         "party_deviation": 91116232292.0, "sampling": "public", "sampling_rate": 0.1, "sensitivity": 1.0000682393801963, "sigma": 20.0,
         "steps": 4}


def compact(value):
    return json.dumps(value, sort_keys=True, separators=(",", ":"))


def record(steps=4, **more):
    return {"events": [{**STEPS, "steps": steps, "max_participation": steps}], "job_hash": "d" * 64, "run_id": RUN, "version": 1, **more}


def write(target, name, content):
    folder = CORPUS / target
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_bytes(content.encode() if isinstance(content, str) else content)


def pack(content):
    return gzip.compress(content, mtime=0)


def frame(kind, sequence, payload, session=bytes(16), lane=0, depth=0, length=None):
    return struct.pack("<BHIQQ", kind, lane, depth, sequence, len(payload) if length is None else length) + session + payload


def hello(sender, receiver, purpose=1, version=2, job=bytes(32), pins=bytes(96)):
    return struct.pack("<IBBB", version, sender, receiver, purpose) + bytes(range(32)) + job + struct.pack("<q", 1_700_000_000_000) + pins


def npy(descr, shape, content, fortran=False, version=1):
    head = f"{{'descr': '{descr}', 'fortran_order': {fortran}, 'shape': {shape}, }}"
    size = "<H" if version == 1 else "<I"
    begin = 8 + struct.calcsize(size)
    head += " " * (-(begin + len(head) + 1) % 64) + "\n"
    return b"\x93NUMPY" + bytes([version, 0]) + struct.pack(size, len(head)) + head.encode() + content


def npz(arrays, method=zipfile.ZIP_STORED):
    memory = io.BytesIO()
    with zipfile.ZipFile(memory, "w", method) as archive:
        for name, content in arrays.items():
            archive.writestr(zipfile.ZipInfo(name + ".npy", (1980, 1, 1, 0, 0, 0)), content, method)
    return memory.getvalue()


def doubles(*values):
    return struct.pack(f"<{len(values)}d", *values)


def chained(entries):
    lines, previous = "", "0" * 64
    for entry in entries:
        text = compact({**entry, "previous": previous})[:-1]
        previous = hashlib.sha256(text.encode()).hexdigest()
        lines += f'{text},"hash":"{previous}"}}\n'
    return lines


def network():
    session = bytes(range(16))
    whole = (frame(4, 0, hello(1, 0)) + frame(5, 1, b"", session) + frame(2, 2, b"", session) +
             frame(1, 3, b"x" * 20, session, lane=1, depth=7) + frame(3, 4, b"\x01\xff", session))
    for step in (0, 6, 127, 128 + 64):
        write("frame", f"session-{step}", bytes([step]) + whole)
    write("frame", "abort", b"\x10" + frame(3, 0, b"\x02\x01"))
    write("frame", "long", b"\xff" + frame(1, 0, b"y" * 40, length=1 << 31))
    write("greeting", "hello", hello(1, 0))
    write("greeting", "check", hello(1, 0, purpose=2, job=b"\x07" * 32))
    write("greeting", "version", hello(1, 0, version=8))
    write("greeting", "pins", hello(1, 0, pins=bytes(95) + b"\x01"))
    write("greeting", "job", '{"name":"test","data":{"rows":[1,2,4]},"privacy":{"delta":1e-05},"y":null}')
    write("greeting", "other-types", '{"name":{"a":[1]},"data":7,"privacy":[],"x":[[[]]]}')
    claim = {"run_id": RUN, "held": [{"step": 4, "session": RUN}, {"step": 8, "session": "0" * 32}],
             "sessions": [{"id": RUN, "from_start": True, "first": 0, "begun": 9, "evaluated": False}]}
    write("claim", "whole", compact(claim))
    write("claim", "none", compact({"run_id": "", "held": [], "sessions": []}))


def certificates():
    for name, curve in (("p256", "prime256v1"), ("p384", "secp384r1")):
        folder = CORPUS / "certificate"
        folder.mkdir(parents=True, exist_ok=True)
        if (folder / f"{name}.crt").exists():
            continue
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", f"ec_paramgen_curve:{curve}", "-nodes", "-subj", "/CN=fuzz",
                        "-days", "3650", "-keyout", folder / f"{name}.key", "-out", folder / f"{name}.crt"], check=True,
                       stderr=subprocess.DEVNULL)
    write("certificate", "empty.crt", "-----BEGIN CERTIFICATE-----\n-----END CERTIFICATE-----\n")


def configuration():
    for name, text in (("training", TRAINING), ("wide", WIDE_TRAINING), ("histogram", HISTOGRAM), ("pate", PATE), ("taught", TAUGHT),
                       ("prediction", PREDICTION)):
        write("job", f"{name}.toml", text)
    write("job", "job.json", compact(JOB))
    write("party", "party.toml", PARTY)
    write("party", "predict.toml", PARTY.split("[data]")[0] + '[predict]\nshare = "model.share"\nx = "rows.npy"\n'
          '[pate]\nqueries = "q.npy"\npredictions = "p.npy"\n[features]\nmodel = "f.onnx"\n')
    for number, text in enumerate(("data.rows=[1,2]", "name=b", "local.split=\"even\"", "a.b.c=1e5", "peer.id=2", "version=1979-05-27",
                                   "=", "name={a=1}")):
        write("set", f"{number}", text)


def png(colours, rows, *chunks, bits=8):
    """Of 8 x 8 pixels; `colours` as PNG's head has them."""
    def chunk(name, content):
        return struct.pack(">I", len(content)) + name + content + struct.pack(">I", zlib.crc32(name + content))

    head = struct.pack(">IIBBBBB", 8, 8, bits, colours, 0, 0, 0)
    packed = zlib.compress(b"".join(b"\0" + row for row in rows))
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunk(*one) for one in ((b"IHDR", head), *chunks, (b"IDAT", packed), (b"IEND", b"")))


def jpeg(*values):
    """Of 8 x 8 pixels alike: grey, or luminance and two differences of colour, each 192 to 255."""
    count = len(values)
    bits = "".join(f"0{value - 128:07b}0" for value in values)
    bits += "1" * (-len(bits) % 8)
    table = b"\1" + bytes(15)
    return (b"\xff\xd8\xff\xdb\0\x43\0\x08" + b"\1" * 63
            + b"\xff\xc0" + struct.pack(">HBHHB", 8 + 3 * count, 8, 8, 8, count) + b"".join(bytes([k + 1, 0x11, 0]) for k in range(count))
            + b"\xff\xc4\0\x14\0" + table + b"\7" + b"\xff\xc4\0\x14\x10" + table + b"\0"
            + b"\xff\xda" + struct.pack(">HB", 6 + 2 * count, count) + b"".join(bytes([k + 1, 0]) for k in range(count)) + b"\0\x3f\0"
            + int(bits, 2).to_bytes(len(bits) // 8, "big") + b"\xff\xd9")


def images():
    grey = [bytes(range(8 * y, 8 * y + 8)) for y in range(8)]
    write("image", "grey.png", png(0, grey, (b"tEXt", b"a\0b")))
    write("image", "colour.png", png(2, [row * 3 for row in grey]))
    write("image", "palette.png", png(3, [row[:1] for row in grey], (b"PLTE", bytes(range(6))), bits=1))
    write("image", "clear.png", png(6, [row * 4 for row in grey]))
    write("image", "grey.jpg", jpeg(200))
    write("image", "colour.jpg", jpeg(200, 210, 220))


def tables():
    images = struct.pack(">BBBBIII", 0, 0, 8, 3, 3, 2, 2) + bytes(range(12))
    labels = struct.pack(">BBBBI", 0, 0, 8, 1, 3) + bytes([0, 1, 1])
    for name, content in (("images", images), ("labels", labels), ("flat", struct.pack(">BBBBII", 0, 0, 8, 2, 3, 4) + bytes(12)),
                          ("colours", struct.pack(">BBBBIIII", 0, 0, 8, 4, 3, 1, 2, 2) + bytes(range(12)))):
        write("idx", name, content)
        write("idx", name + ".gz", pack(content))
    write("csv", "header.csv", 'a,b,d,c\r\n1.5, u,x,n\r\n"2",?,"y""\n",y\r\n-3e2,w,,no\r\n\r\n')
    write("csv", "plain.csv", "\ufeff1,u,2,n\n2,v,3,y\n")
    write("csv", "semicolons.csv", "\ufeffd;b;n;c\n31.12.1999 23:59;-1,5;2,50;1,0\n;-9,0;\u00fc;00\n29.2.2000 0:00;2,5;01;0\n")
    write("csv", "tabs.csv", "c\tn\tb\td\n1\t\xfc\tNA\t\n0\t1,0\t7\t1.1.2001 12:00\n".encode("latin-1"))
    write("csv", "bars.csv", 'd|b|n|c\n|"0"|""|1\n1.1.0001 0:00|1e300|\u20ac1|0\n'.encode("cp1252"))
    write("csv", "labels.csv", "0,1,2\n3,0,1\n")
    write("csv", "packed.csv.gz", pack(b"a,b,d,c\n1,u,0,n\n"))
    rows = npy("<f8", (3, 4), doubles(*range(12)))
    classes = npy("<i8", (3,), struct.pack("<3q", 0, 1, 1))
    write("npy", "rows.npy", rows)
    write("npy", "labels.npy", classes)
    write("npy", "fortran.npy", npy("<f4", (4, 2), struct.pack("<8f", *range(8)), fortran=True, version=2))
    write("npy", "teachers.npy", npy("|u1", (2, 3), bytes([0, 1, 2, 3, 0, 1]), version=3))
    write("npy", "text.npy", npy("|S5", (), b"hello"))
    write("npy", "flags.npy", npy("|b1", (2, 2), b"\0\1\1\0"))
    write("npz", "table.npz", npz({"x": rows, "y": classes}))
    write("npz", "deflated.npz", npz({"x": rows, "y": classes}, zipfile.ZIP_DEFLATED))
    job = compact(JOB).encode()
    write("npz", "model.npz", npz({"weights": npy("<f8", (2, 1), doubles(0.5, -1)), "bias": npy("<f8", (1,), doubles(0.25)),
                                   "classes": npy("<i8", (), struct.pack("<q", 2)), "job": npy(f"|S{len(job)}", (), job)}))


def kept():
    head = {"party": 0, "job": compact(JOB), "record": record()}
    # Two components of 3 x 1 words; a checkpoint has weights, velocity and two keys.
    write("sealed", "share", compact(head) + "\n" + "w" * 48)
    write("sealed", "share-of-a-session", compact({**head, "session": RUN}) + "\n" + "w" * 48)
    write("sealed", "task-share", compact({**head, "task": compact({"privacy": {"delta": 1e-5}})}) + "\n" + "w" * 48)
    write("sealed", "checkpoint", compact({"party": 0, "run_id": "ab", "job_hash": "cd", "step": 2, "session": RUN}) + "\n" + "v" * 160)
    header = compact(head).encode()
    for kind, name in ((b"trefoil model share 1\n", "model"), (b"trefoil model share 2\n", "model-2"), (b"trefoil checkpoint 1\n", "checkpoint")):
        write("sealed", name + "-unsealed", kind + struct.pack("<Q", len(header)) + header + bytes(88))
    write("sealed", "long-header", b"trefoil checkpoint 1\n" + struct.pack("<Q", 1 << 63) + b"{}")
    write("results", "record.json", json.dumps(record(), indent=2))
    events = [{"kind": "local_training", "steps": 5, "sampling_rate": 0.1, "sigma": 4.0, "sensitivity": 1.0, "clip": 1.0, "deviation": 1e6},
              {"kind": "noisy_selection", "candidates": 3, "sampling_rate": 0.1, "sigma": 4.0, "capacity": [9, 9, 9], "max_batch": [5, 5, 5],
               "party_deviation": 1e6},
              {"kind": "noisy_evaluation", "sigma": 4.0, "party_deviation": 1e6}, {"kind": "pure_releases", "count": 3, "epsilon": 0.5},
              {"kind": "pure_releases", "count": 1, "epsilon": 0.5, "epsilon_replaced": 1.0}, {"kind": "laplace_counts", "count": 6, "rate": 0.05},
              {"kind": "gaussian_releases", "count": 3, "coordinates": 10, "sigma": 4.0, "party_deviation": 1e6},
              {"kind": "tuning", "trials": [{"count": 2, "events": [{"kind": "noisy_evaluation", "sigma": 4.0, "party_deviation": 1e6}]}],
               "weights": [3, 1]}]
    write("results", "events.json", compact(record(events=events)))
    summary = {"job": "tiny", "steps": 4, "epsilon_outsider": 0.5, "epsilon_insider": None, "delta": 1e-05, "sigma": 20.0, "sensitivity": 1.0,
               "accuracy": 0.5, "seconds": 0.1, "rounds": 61, "bytes_sent": 3277996, "peak_rss_bytes": 21377024, "warnings": ["a"]}
    write("results", "summary.json", json.dumps(summary, indent=2))
    summary = {"version": 2, "type": "dpsgd", "name": "tiny", "job_hash": "1" * 64, "session": "2" * 32,
               "privacy": {"epsilon_outsider": 0.5, "epsilon_insider": None, "delta": 1e-05, "accountant": "rdp", "released_to": [0, 1, 2]},
               "cost": {"seconds": 0.1, "rounds": 61, "bytes_sent": 3277996, "peak_rss_bytes": 21377024}, "warnings": ["a"],
               "results": {"dpsgd": {"steps": 4, "sigma": 20.0, "sensitivity": 1.0, "accuracy": 0.5, "evaluation": None}}}
    write("results", "summary-2.json", json.dumps(summary, indent=2))
    write("results", "progress.csv", "step,seconds,rounds,bytes_sent,epsilon_outsider,epsilon_insider\n"
          "1,0.050,28,2361368,0.014270309600134125,0.01730325531894014\n2,0.062,37,2815974,0.0202,inf\n")
    time = "2026-01-31T12:00:00Z"
    entries = [{"kind": "data", "sha256": "3" * 64, "version": 1},
               {"kind": "reserve", "time": time, "name": "tiny", "delta": 1e-05, "epsilon_cap": 9.0, "epsilon_insider": 0.5,
                "epsilon_outsider": None, "record": record()},
               {"kind": "announce", "record": record(2)},
               {"kind": "settle", "time": time, "ended": "died", "epsilon_insider": 0.5, "epsilon_outsider": 0.4, "record": record(2)},
               {"kind": "resume", "time": time, "delta": 1e-05, "epsilon_cap": 9.0, "epsilon_insider": 0.5, "epsilon_outsider": 0.4,
                "record": record(), "executed": record(1)},
               {"kind": "settle", "time": time, "ended": "done", "epsilon_insider": 0.5, "epsilon_outsider": 0.4, "record": record()}]
    write("ledger", "chain.jsonl", chained(entries))
    write("ledger", "unknown-run.jsonl", chained([entries[0], {**entries[1], "executed": record(2)}, entries[3]]))
    write("ledger", "torn.jsonl", chained(entries)[:-40])
    rdp = {"mode": "rdp", "delta": 1e-05, "delta_cut": 5e-06, "orders": [4.0, 16.0]}
    carried = [*entries, {"kind": "filter", "version": 2, "filter": rdp}]
    write("ledger", "carried.jsonl", chained(carried))
    entered = {"kind": "enter", "time": time, "name": "tiny", "epsilon_insider": 0.5, "epsilon_outsider": 0.4, "record": {**record(), "run_id": "0"}}
    closed = [{**entries[0], "version": 2, "filter": {"mode": "closed", "delta": 1e-05}}, entered, *entries[1:]]
    write("ledger", "closed.jsonl", chained(closed))
    write("ledger", "closed-entries.jsonl", "".join(compact(entry) + "\n" for entry in closed))
    people = {"kind": "population", "time": time, "name": "patients", "sha256": "3" * 64, "equal_by_chance": False}
    write("ledger", "population.jsonl", "".join(compact(entry) + "\n" for entry in [carried[0], people, {**people, "sha256": "4" * 64}, *carried[1:]]))
    known = {"kind": "records", "key": "0123456789abcdef", "ledger": "ledger.jsonl", "population": "patients", "sha256": "3" * 64,
             "tags": f"{2:016x}{5:016x}"}
    write("ledger", "known-records.jsonl", "".join(compact(entry) + "\n" for entry in [known, {**known, "sha256": "4" * 64, "tags": f"{3:016x}"}]))
    write("ledger", "entries.jsonl", "".join(compact(entry) + "\n" for entry in entries))


# Of the secret keys that deposit_fuzz.cpp fixes: the owner's, and the parties'.
OWNER_KEY = "fd1724385aa0c75b64fb78cd602fa1d991fdebf76b13c58ed702eac835e9f618"
DEPOSIT_KEYS = ("a4e09292b651c278b9772c569f5fa9bb13d906b46ab68c9df9dc2b4409f8a209",
                "ce8d3ad1ccb633ec7b70c17814a5c76ecd029685050d344745ba05870e587d59",
                "5dfedd3b6bd47f6fa28ee15d969d5bb0ea53774d488bdaf9df1c6e0124b3ef22")


def deposits():
    # For party 1: salt and seed, salt and two rows of two features in three bytes, a mask bit and a label.
    row = bytes([1, 0, 0, 255, 255, 7]) + struct.pack("<2Q", 1, 0)
    write("deposit", "body", bytes(range(96)) + row + row)
    write("deposit", "body-beyond", bytes(range(96)) + bytes([0, 0, 8]) + row[3:] + row)
    names = b"people".ljust(64, b"\0") + b"train".ljust(64, b"\0")
    header = bytes(32) + struct.pack("<Q", 2) + bytes.fromhex(OWNER_KEY) + names + struct.pack("<Q", 1) + bytes(32) + struct.pack("<Q", 1_795_000_000) + bytes(192)
    write("deposit", "header", header)
    prefix = b"trefoil deposit\n" + struct.pack("<IIQQ", 1, 1, len(header), 9) + bytes.fromhex(OWNER_KEY) + hashlib.sha256(header).digest() + bytes(160)
    write("deposit", "file", prefix + header + b"x" * 9)
    write("deposit", "long", prefix[:24] + struct.pack("<QQ", 1 << 63, 1 << 63) + prefix[40:])
    write("prefix", "prefix", prefix)
    write("prefix", "long", prefix[:24] + struct.pack("<QQ", 1 << 63, 1 << 63) + prefix[40:])
    write("prefix", "receipt", json.dumps({"deposit": "00" * 32, "party": 1, "time": 1, "signature": "00", "certificate": "x"}).encode())
    ids = bytes(32) + bytes(16) + bytes(32)
    predictions = b"trefoil predictions\n" + struct.pack("<II", 1, 1) + ids
    write("predictions", "classes", predictions + struct.pack("<QIHHQ", 2, 1, 0, 0, 0) + struct.pack("<4Q", 1, 0, 1, 1))
    write("predictions", "scores", predictions + struct.pack("<QIHHQ", 2, 1, 1, 32, 1 << 31) + struct.pack("<4Q", 1 << 33, 0, 1, 1))
    write("predictions", "long", predictions + struct.pack("<QIHHQ", 1 << 63, 1 << 31, 0, 0, 0) + bytes(32))
    write("predictions", "slots.csv", "deposit," + 64 * "0" + "\nrecords,2\nrecord,slot\n1,4\n2,1\n")
    write("deposit", "withdrawal", b"trefoil withdrawal\n" + struct.pack("<I", 1) + hashlib.sha256(header).digest() + bytes.fromhex(OWNER_KEY) + bytes(72))
    study = 'version = 1\nname = "s"\nfraction_bits = 16\n'
    study += re.sub(r"(?m)^(name|rows|version|type) = .*\n", "", TRAINING.split("[training]")[0]).replace("[data]", "[columns]").lstrip()
    study += "[features]\nrow_norm = 1.5\n"
    keys = ""
    for number, key in enumerate(DEPOSIT_KEYS):
        text = f"trefoil deposit public key 1\n{key}\n"
        digest = hashlib.sha256(text.encode()).hexdigest().upper()
        fingerprint = ":".join(digest[k:k + 2] for k in range(0, 64, 2))
        keys += f'[[party]]\nid = {number}\nkey = "{key}"\nfingerprint = "{fingerprint}"\n'
    write("study", "study.toml", study + keys)
    added = 'version = 1\nname = "s"\nfraction_bits = 24\n'
    write("study", "vectors.toml", added + "[vectors]\ndimension = 3\nnorm_bound = 2.0\n" + keys)
    write("study", "statistics.toml", added + '[statistics]\nformat = "csv"\nbins = 4\n[[statistics.column]]\nname = "a"\nlow = 0.0\n'
          'high = 9.0\nedges = [2.0]\n[[statistics.table]]\nrows = "a"\n' + keys)
    write("study", "deposit.pub", text)
    write("study", "owner.pub", f"trefoil owner public key 1\n{OWNER_KEY}\n")
    write("study", "owner.key", f"trefoil owner key 1\n{'09' * 32}\n")


def main():
    network()
    certificates()
    configuration()
    images()
    tables()
    kept()
    deposits()


if __name__ == "__main__":
    main()
