"""A `pate` job whose teachers the runtime trains, with records for it, and the same teachers by plain least squares."""

import hashlib
import random
import struct

JOB = """
version = 1
type = "pate"
name = "taught"
[data]
name = "taught"
format = "csv"
rows = [60, 0, 80]
classes = 4
label = { column = "y", values = ["p", "q", "r", "s"] }
[[data.column]]
name = "a"
[[data.column]]
name = "b"
[pate]
teachers = [20, 0, 24]
queries = 30
mechanism = "lnmax"
scale = 0.01
[teacher]
lambda = 0.02
[student]
records = 50
lambda = 0.01
rounds = 2
keep = 0.8
[privacy]
delta = 1e-5
"""
CLASSES = 4
NAMES = "pqrs"


def solve(matrix, right):
    """Gaussian elimination with pivots, several right-hand sides."""
    rows = [a[:] + b[:] for a, b in zip(matrix, right)]
    size = len(rows)
    for k in range(size):
        pivot = max(range(k, size), key=lambda i: abs(rows[i][k]))
        rows[k], rows[pivot] = rows[pivot], rows[k]
        for i in range(size):
            if i != k:
                factor = rows[i][k] / rows[k][k]
                rows[i] = [u - factor * v for u, v in zip(rows[i], rows[k])]
    return [[value / rows[k][k] for value in rows[k][size:]] for k in range(size)]


def fit(records, lam):
    """Plain ridge regression of signs: three rows (a, b, bias), a column a class."""
    x = [(a, b, 1.0) for a, b, _ in records]
    signs = [[1.0 if label == k else -1.0 for k in range(CLASSES)] for _, _, label in records]
    gram = [[sum(row[i] * row[j] for row in x) + (lam * len(x) if i == j else 0.0) for j in range(3)] for i in range(3)]
    right = [[sum(row[i] * sign[k] for row, sign in zip(x, signs)) for k in range(CLASSES)] for i in range(3)]
    return solve(gram, right)


def choose(weights, row):
    """The class, and by how much."""
    scores = [row[0] * weights[0][k] + row[1] * weights[1][k] + weights[2][k] for k in range(CLASSES)]
    first, second = sorted(scores)[:-3:-1]
    return scores.index(first), first - second


def slices_of(records, teachers):
    slices = [[] for _ in range(teachers)]
    for a, b, label in records:
        digest = hashlib.sha256(f"{label},".encode() + struct.pack("<2f", a, b)).hexdigest()
        slices[int(digest[:15], 16) % teachers].append((a, b, label))
    return slices


def labels_of(slices, queries, lam=0.02):
    return [[choose(model, row)[0] for row in queries] for model in (fit(one, lam) for one in slices if one)]


def winners_of(labels):
    counts = [[votes.count(k) for k in range(CLASSES)] for votes in zip(*labels)]
    return counts, [count.index(max(count)) for count in counts]


class TaughtParties:
    """The job and its data in the folder of a ProgramTest. Features are multiples of 1/64, which a float holds, in rows shorter than
    the row norm. Noise of a scale of 0.01 votes is zero but for some e^-100. No record is of the last class."""

    def setUp(self):
        super().setUp()
        self.write("job.toml", JOB)
        self.random = random.Random(11)
        self.train = [self.record() for _ in range(210)]
        self.public = [self.record() for _ in range(50)]
        self.test = [self.record() for _ in range(10)]
        (self.folder / "data").mkdir()
        self.write_csv("data/train.csv", self.train)
        self.write_csv("data/test.csv", self.public + self.test)
        # `local` deals row i to party i mod 3, until a party has its number.
        self.parties = [[r for i, r in enumerate(self.train[:140]) if i % 3 == j][:rows]
                        for j, rows in enumerate((60, 0, 80))]
        self.slices = slices_of(self.parties[0], 20) + slices_of(self.parties[2], 24)
        self.queries = [record[:2] for record in self.public[:30]]

    def record(self):
        label = self.random.randrange(3)
        centre = ((0.3, 0.0), (-0.2, 0.3), (-0.2, -0.3))[label]
        return (*(round((c + self.random.gauss(0, 0.15)) * 64) / 64 for c in centre), label)

    def write_csv(self, name, records):
        self.write(name, "a,b,y\n" + "".join(f"{a},{b},{NAMES[label]}\n" for a, b, label in records))

    def local(self, *settings, out="run"):
        return self.succeed("local", "--job", "job.toml", "--data", "data", "--out", out, *settings)
