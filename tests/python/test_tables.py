"""Frames as a job's columns have them, and tables of Parquet and Arrow by what reads them."""

import datetime

import numpy as np
import pytest

import trefoil
from trefoil._inputs import Inputs

pandas = pytest.importorskip("pandas")

COLUMNS = [
    {"name": "size", "mean": 1.7, "scale": 0.2, "missing": ["NA", ""]},
    {"name": "seen", "kind": "date", "format": "%d.%m.%Y", "origin": "2020-01-01", "scale": 500.0},
    {"name": "town", "kind": "category", "values": ["Köln", "Ulm"]},
    {"name": "weight", "kind": "weight", "largest": 2.0},
]
KEYS = {
    "type": "dpsgd",
    "name": "offices",
    "data": {
        "name": "offices",
        "format": "csv",
        "rows": [90, 90, 90],
        "classes": 2,
        "separator": ";",
        "decimal": ",",
        "encoding": "windows-1252",
        "missing": ["?", "-"],
        "column": COLUMNS,
        "label": {"column": "tall", "values": ["no", "yes"]},
    },
    "features": {"row_norm": 2.0},
    "training": {"steps": 30, "expected_batch": 180, "max_batch_per_owner": 90, "learning_rate": 4.0},
    "privacy": {"sigma": 0.5, "delta": 1e-5, "clip": 1.0},
}


def office(seed, rows=90):
    random = np.random.default_rng(seed)
    size = random.normal(1.7, 0.1, rows).round(2)
    days = [datetime.date(2021, 1, 1) + datetime.timedelta(int(day)) for day in random.integers(0, 900, rows)]
    frame = pandas.DataFrame(
        {
            "size": size,
            "seen": days,
            "town": random.choice(["Köln", "Ulm"], rows),
            "weight": random.uniform(0.5, 2, rows),
            "tall": np.where(size > 1.7, "yes", "no"),
        }
    )
    frame.loc[3, "size"] = np.nan
    frame.loc[4, "town"] = None
    return frame


def written(frame):
    """What a party gets of a frame."""
    with Inputs() as inputs:
        with open(inputs.put_records(KEYS, frame, None)["data.file"], encoding="utf-8-sig") as file:
            return file.read().splitlines()


def test_writes_frames_as_the_jobs_columns_have_them():
    frame = office(1)
    lines = written(frame)
    assert lines[0] == "size;seen;town;weight;tall"
    for row, line in zip(frame.itertuples(), lines[1:]):
        size, seen, town, _, _ = line.split(";")
        assert size == ("NA" if row.Index == 3 else str(row.size).replace(".", ","))
        assert seen == row.seen.strftime("%d.%m.%Y")
        assert town == ("?" if row.Index == 4 else row.town)
    stamps = frame.assign(seen=pandas.to_datetime(frame["seen"]))
    assert written(stamps) == lines
    zoned = stamps.assign(seen=stamps["seen"].dt.tz_localize("Europe/Berlin"))
    assert written(zoned) == lines
    texts = frame.assign(seen=[day.strftime("%d.%m.%Y") for day in frame["seen"]])
    assert written(texts) == lines
    with pytest.raises(trefoil.DataError, match='^party 1\'s X: row 2, column "seen": found "soon", expected a date'):
        wrong = texts.assign(seen="soon")
        trefoil.simulate(trefoil.Job.from_dict(KEYS), [texts, wrong, texts])


def test_says_where_rows_are_counted_from_and_that_a_label_is_missing():
    job = trefoil.Job.from_dict(KEYS)
    frames = [office(seed) for seed in range(3)]
    wrong = frames[1].copy()
    wrong.loc[0, "town"] = "Rome"
    with pytest.raises(trefoil.DataError, match=r"^party 1's X: row 2, .* found \"Rome\".* \(the header is row 1\)$"):
        trefoil.simulate(job, [frames[0], wrong, frames[2]])
    wrong = frames[1].copy()
    wrong.loc[4, "tall"] = None
    place = 'record 5, column "tall": found a missing value, expected a label$'
    with pytest.raises(trefoil.DataError, match=f"^party 1's X: {place}"):
        trefoil.simulate(job, [frames[0], wrong, frames[2]])
    with pytest.raises(trefoil.DataError, match=f"^party 1's y: {place}"):
        trefoil.simulate(job, [frames[0], (wrong.drop(columns="tall"), wrong["tall"]), frames[2]])


def test_trains_on_frames_whose_job_is_of_other_files():
    job = trefoil.Job.from_dict(KEYS)
    model = trefoil.simulate(job, [office(seed) for seed in range(3)]).model
    test = office(9)
    assert np.mean(model.predict(test.drop(columns=["tall", "weight"])) == test["tall"]) > 0.8


@pytest.mark.parametrize("way", ["pandas", "arrow"])
def test_takes_parquet(tmp_path, way):
    pyarrow = pytest.importorskip("pyarrow", reason="pyarrow is not installed, which reads Parquet")
    parquet = pytest.importorskip("pyarrow.parquet", reason="pyarrow is not installed, which reads Parquet")
    frame = office(2)
    file = tmp_path / "office.parquet"
    parquet.write_table(pyarrow.Table.from_pandas(frame), file)
    table = pandas.read_parquet(file) if way == "pandas" else parquet.read_table(file)
    assert written(table) == written(frame)
