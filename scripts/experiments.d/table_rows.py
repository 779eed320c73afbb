"""Makes of a table what plain_training.py reads, as a job that `init-job` has drafted for it wants its rows: numbers less the mean, over
the scale, of each category a 1 in its place, and all shortened to features.row_norm. For tables without missing values.
"""
import csv
import tomllib

import numpy


def write_rows(job, folder):
    """PART-x.npy and PART-y.npy of PART.csv in the folder, for the parts train and test; of a target its shares of the range."""
    settings = tomllib.loads(job.read_text())
    for part in ("train", "test"):
        with (folder / f"{part}.csv").open(newline="") as file:
            columns = list(zip(*csv.reader(file)))
        x = numpy.hstack([encoded(column, values) for column, values in zip(settings["data"]["column"], columns)])
        norms = numpy.linalg.norm(x, axis=1, keepdims=True)
        x *= numpy.minimum(1, settings["features"]["row_norm"] / norms)
        numpy.save(folder / f"{part}-x.npy", x.astype(numpy.float32))
        numpy.save(folder / f"{part}-y.npy", predicted(settings["data"], columns[-1]))


def encoded(column, values):
    kind = column.get("kind", "number")
    if kind == "number":
        return ((numpy.array(values, float) - column["mean"]) / column["scale"])[:, None]
    if kind != "category":
        raise SystemExit(f"table_rows: column {column['name']}: found kind {kind}, expected number or category")
    return (numpy.array(values)[:, None] == numpy.array(column["values"])).astype(float)


def predicted(data, values):
    if "target" in data:
        low, high = data["target"]["low"], data["target"]["high"]
        return (numpy.array(values, float) - low) / (high - low)
    return numpy.array([data["label"]["values"].index(value) for value in values])
