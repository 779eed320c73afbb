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


def written(frame, keys=KEYS, labels=True):
    """What a party gets of a frame."""
    with Inputs() as inputs:
        with open(inputs.put_records(keys, frame, None, labels=labels)["data.file"], encoding="utf-8-sig") as file:
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


CODED = {
    "type": "dpsgd",
    "name": "codes",
    "data": {
        "name": "codes",
        "format": "csv",
        "rows": [60, 60, 60],
        "classes": 2,
        "missing": ["?", "-9"],
        "column": [
            {"name": "sex", "kind": "category", "values": ["0", "1"], "unknown": "missing"},
            {"name": "lab", "kind": "bin", "edges": [0.7], "missing": ["NA"]},
            {"name": "size"},
            {"name": "seen", "kind": "ignore"},
        ],
        "label": {"column": "ill", "values": ["0", "1"]},
    },
    "features": {"row_norm": 2.0},
    "training": {"steps": 20, "expected_batch": 120, "max_batch_per_owner": 60, "learning_rate": 4.0},
    "privacy": {"sigma": 0.5, "delta": 1e-5, "clip": 1.0},
}


def codes(seed, rows=60):
    random = np.random.default_rng(seed)
    sex = random.integers(0, 2, rows)
    return pandas.DataFrame(
        {
            "sex": sex,
            "lab": np.where(random.random(rows) < 0.5, 0.7, 0.2).astype(np.float32),
            "size": random.integers(-10, 10, rows),
            "seen": pandas.date_range("2021-01-01", periods=rows),
            "ill": sex,
        }
    )


@pytest.mark.parametrize("kind", ["int64", "Int64", "float32", "Float32", "float64", "object", "category"])
def test_a_values_text_does_not_depend_on_other_records(kind):
    frame = codes(1)
    frame[["sex", "size", "lab"]] = frame[["sex", "size", "lab"]].astype(
        {"sex": kind, "size": kind, "lab": "float32" if "int" in kind.lower() else kind}
    )
    lines = written(frame, CODED)
    assert {line.split(",")[0] for line in lines[1:]} == {"0", "1"}
    assert {line.split(",")[2] for line in lines[1:]} == {str(number) for number in range(-10, 10)}
    for column in ("sex", "lab", "size", "seen"):
        changed = frame.copy()
        changed[column] = changed[column].where(changed.index != 59)  # what pandas makes of whole numbers
        other = written(changed, CODED)
        assert other[:-1] == lines[:-1] and other[-1] != lines[-1], column
    later = frame.assign(seen=frame["seen"].where(frame.index != 59, pandas.Timestamp("2021-01-01 12:30")))
    assert written(later, CODED)[:-1] == lines[:-1] and "2021-01-01 12:30:00" in written(later, CODED)[-1]


def test_records_are_predicted_by_themselves():
    model = trefoil.simulate(trefoil.Job.from_dict(CODED), [codes(seed) for seed in range(3)]).model
    test = codes(9, 6).drop(columns="ill")
    whole = model.decision_function(test)
    for column in ("sex", "lab"):
        changed = test.copy()
        changed.loc[5, column] = np.nan
        assert (model.decision_function(changed)[:5] == whole[:5]).all()


def column_of(numbers, /, **declared):
    """What is written of a frame with these numbers in a column."""
    label = {"column": "ill", "values": ["0", "1"]}
    keys = {"data": {"format": "csv", "column": [{"name": "code", **declared}], "label": label}}
    return [line.split(",")[0] for line in written(pandas.DataFrame({"code": numbers, "ill": 0}), keys)[1:]]


def test_whole_numbers_are_written_as_the_job_has_them():
    texts = {"kind": "category", "values": ["0", "1.0"], "aliases": {"2.0": "0"}, "missing": ["-9.0"]}
    for numbers in ([0, 1, 2, -9], [0.0, 1.0, 2.0, -9.0], [0, 1, 2, -9.0, None]):
        assert column_of(numbers, **texts)[:4] == ["0", "1.0", "2.0", "-9.0"]
    assert column_of([1.5, -0.0, 1e300, 5.0], kind="number") == ["1.5", "0", "1e+300", "5"]
    assert column_of([1, 2.0], kind="category", values=["1", "2"], aliases={"1.0": "1"}) == ["1", "2"]
    with pytest.raises(trefoil.DataError, match='^X: record 2, column "code": found the number 1, expected a text, as'):
        column_of([0, 1], kind="category", values=["0", "1", "1.0"])


@pytest.mark.parametrize("kind", ["key", "category"])
def test_refuses_numbers_that_a_float_does_not_hold(kind):
    declared = {"kind": kind} | ({"values": ["0"], "unknown": "missing"} if kind == "category" else {})
    number = 123456789012345678
    assert column_of([0, number], **declared) == ["0", str(number)]
    place = 'record 2, column "code": found 1.23.*, too large a float for all its digits, expected integers or texts$'
    with pytest.raises(trefoil.DataError, match=place):
        column_of([0, float(number)], **declared)
    with pytest.raises(trefoil.DataError, match=place):
        column_of(np.array([0, number], dtype=np.float32), **declared)


class Table:
    """A table whose integers are floats beside a null, unless asked otherwise, as Arrow's are."""

    def to_pandas(self, integer_object_nulls=False):
        ids = [123456789012345678, 123456789012345679, None]
        codes = pandas.Series(ids, dtype=object if integer_object_nulls else "float64")
        return pandas.DataFrame({"code": codes, "ill": 0})


def test_takes_integers_beside_nulls_from_tables():
    column = {"name": "code", "kind": "category", "values": ["0"]}
    keys = {"data": {"format": "csv", "column": [column], "label": {"column": "ill", "values": ["0", "1"]}}}
    texts = ["code,ill", "123456789012345678,0", "123456789012345679,0", "?,0"]
    assert written(Table(), keys) == texts
    pyarrow = pytest.importorskip("pyarrow", reason="pyarrow is not installed, which makes tables")
    codes = pyarrow.array([123456789012345678, 123456789012345679, None])
    assert written(pyarrow.table({"code": codes, "ill": [0, 0, 0]}), keys) == texts


def test_counts_numbers_beside_a_missing_one():
    job = trefoil.Job.histogram(
        name="codes",
        data=dict(name="codes", format="csv", rows=[9, 9, 9]),
        histogram=dict(mode="central", column="code", values=["0", "1"]),
        privacy__epsilon=50.0,
    )
    frame = pandas.DataFrame({"code": [0, 1, 1, None]})  # floats, as pandas makes of them
    counts = trefoil.simulate(job, [frame] * 3).files["histogram.csv"].decode()
    assert "\n0,3" in counts and "\n1,6" in counts  # wrong with a probability below 2e-10 at epsilon 50


def test_a_key_is_never_missing():
    columns = [{"name": "id", "kind": "key"}] + [{"name": name, "party": k} for k, name in enumerate("abc")]
    data = {"partition": "vertical", "rows": [8, 8, 8], "column": columns, "missing": "?"}
    data["label"] = CODED["data"]["label"] | {"party": 0}
    keys = CODED | {"data": CODED["data"] | data}
    keys["training"] = {"steps": 2, "expected_batch": 8, "max_batch_per_owner": 8, "learning_rate": 1.0}
    keys["privacy"] = CODED["privacy"] | {"sampling": "public"}
    ids = [f"p{k}" for k in range(7)]
    frames = [pandas.DataFrame({"id": [*ids, None], name: range(8)}) for name in "abc"]
    frames[0]["ill"] = [0, 1] * 4
    place = '^party 0\'s X: record 8, column "id": found a missing value, expected a key$'
    with pytest.raises(trefoil.DataError, match=place):
        trefoil.simulate(trefoil.Job.from_dict(keys), frames)
    for frame in frames:
        frame.loc[7, "id"] = "p7"
    assert trefoil.simulate(trefoil.Job.from_dict(keys), frames).model is not None


def test_a_weight_is_never_missing_where_it_counts():
    column = {"name": "code", "kind": "weight", "largest": 2.0}
    keys = {"data": {"format": "csv", "missing": "1", "column": [column], "label": CODED["data"]["label"]}}
    frame = pandas.DataFrame({"code": [0.5, None], "ill": [0, 1]})
    with pytest.raises(trefoil.DataError, match='^X: record 2, column "code": found a missing value, expected a weight'):
        written(frame, keys)
    assert written(frame, keys, labels=False) == ["code,ill", "0.5,0", "1,1"]


@pytest.mark.parametrize("kind", ["Float64", "Float32"])
def test_a_nan_of_a_nullable_type_is_a_missing_value(kind):
    quotient = pandas.Series([0.0, 1.5], dtype=kind) / pandas.Series([0.0, 1.0], dtype=kind)
    assert not quotient.isna().any()  # it is NaN all the same
    frame = pandas.DataFrame({"code": quotient, "ill": [0, 1]})
    data = {"format": "csv", "missing": "-", "label": CODED["data"]["label"]}
    assert written(frame, {"data": data | {"column": [{"name": "code"}]}}) == ["code,ill", "-,0", "1.5,1"]
    for column in ({"kind": "key"}, {"kind": "weight", "largest": 2.0}):
        place = f'^X: record 1, column "code": found a missing value, expected a {column["kind"]}$'
        with pytest.raises(trefoil.DataError, match=place):
            written(frame, {"data": data | {"column": [{"name": "code", **column}]}})


@pytest.mark.parametrize("inside", [True, False])
def test_trains_and_predicts_without_a_header(inside):
    columns = [{"name": "ill", "kind": "ignore"}] * inside + [{"name": "weight", "kind": "weight"}, {"name": "size"}]
    data = CODED["data"] | {"header": False, "column": columns}
    frames = [codes(seed).assign(size=lambda one: one["ill"] - 0.5, weight=1.0) for seed in range(3)]
    model = trefoil.simulate(trefoil.Job.from_dict(CODED | {"data": data}), frames).model
    whole = model.decision_function(frames[0])
    assert (model.predict(frames[0]) == frames[0]["ill"].astype(str)).all()
    for absent in (["ill"], ["weight"], ["ill", "weight"]):
        assert (model.decision_function(frames[0].drop(columns=absent)) == whole).all()
    with pytest.raises(trefoil.DataError, match="^X: found no column size, expected (ill, )?weight, size(, ill)?$"):
        model.predict(frames[0][["weight", "ill"]])
    with pytest.raises(trefoil.DataError, match="^X: found no column ill, expected"):
        model.evaluate(frames[0].drop(columns="ill"))


@pytest.mark.parametrize("header", [True, False])
def test_refuses_a_column_that_is_there_twice(header):
    column = {"name": "code", "missing": "not measured as the device was out of order"}
    data = {"format": "csv", "header": header, "column": [column], "label": CODED["data"]["label"]}
    frame = pandas.DataFrame([[1.5, None, 0]], columns=["code", "code", "ill"])
    with pytest.raises(trefoil.DataError, match='^X: found column "code" twice, expected each column once$'):
        written(frame, {"data": data})
    assert written(frame.iloc[:, 1:], {"data": data})[-1] == f"{column['missing']},0"


def test_labels_may_be_a_frame_of_one_column():
    frames = [codes(seed) for seed in range(3)]
    records = [(frame.drop(columns="ill"), frame[["ill"]]) for frame in frames]
    model = trefoil.simulate(trefoil.Job.from_dict(CODED), records).model
    assert model.score(*records[0]) == model.score(frames[0], frames[0]["ill"])
    with pytest.raises(trefoil.DataError, match="^party 0's y: found 2 dimensions, expected one, a label for each"):
        trefoil.simulate(trefoil.Job.from_dict(CODED), [(records[0][0], frames[0][["ill", "sex"]]), *records[1:]])
