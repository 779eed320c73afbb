"""The job of owners who deposit records of two columns."""

JOB = """version = 1
type = "dpsgd"
name = "visits"
[data]
name = "visits"
format = "csv"
source = "store"
capacity = 80
classes = 2
[[data.column]]
name = "a"
[[data.column]]
name = "b"
[data.label]
column = "y"
values = ["no", "yes"]
[features]
row_norm = 1.5
[model]
loss = "squared"
[training]
steps = 8
expected_batch = "auto"
learning_rate = 3.0
[privacy]
sigma = 0.001
delta = 1e-5
clip = 8.0
sampling = "full"
"""


def with_changes(*changes):
    """JOB with each (old, new) line replaced."""
    text = JOB
    for old, new in changes:
        assert text.count(old) == 1, f"{old}: not once in the job"
        text = text.replace(old, new)
    return text
