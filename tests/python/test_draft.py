"""Drafts of [data] from frames."""

import numpy as np
import pytest
from conftest import toy_keys

import trefoil

pandas = pytest.importorskip("pandas")


def people(rows=60):
    generator = np.random.default_rng(5)
    return pandas.DataFrame(
        {
            "age": generator.uniform(0, 0.9, rows),
            "ward": generator.choice(["east", "west"], rows),
            "name": [f"person {row}" for row in range(rows)],
            "ill": generator.choice(["no", "yes"], rows),
        }
    )


def test_drafts_a_job_that_trains_and_marks_what_it_read():
    draft = trefoil.schema_of(people(), label="ill", rows=[60, 60, 60], most_values=10)
    job = trefoil.Job.from_dict({**toy_keys(expected_batch=40), "data": draft.data})
    frames = [people().drop(columns="ill")] * 3
    result = trefoil.simulate(job, [(frame, people()["ill"]) for frame in frames])
    assert set(result.model.predict(frames[0])) <= {"no", "yes"}
    assert draft.from_data == (
        "data.column ward: values east, west",
        "data.column name: left out, for it has 60 different values",
        "data.label ill: values no, yes",
    )
    assert draft.to_give == ("data.column age: mean and scale by which its numbers become of size 1",)
    assert "read from the data, and public in a job: data.label ill: values no, yes" in str(draft)


def test_keeps_the_statistics_of_numbers_to_itself():
    frame = people().assign(age=lambda table: table.age * 1000 + 77)
    draft = trefoil.schema_of(frame, label="ill")
    age = next(column for column in draft.data["column"] if column["name"] == "age")
    assert age == {"name": "age", "kind": "number", "mean": 0.0, "scale": 1.0}
    assert draft.to_give[-1] == "data.rows: how many records each party may have"


def test_drafts_truths_dates_and_gaps_as_what_they_are():
    frame = people().assign(smokes=[row % 3 == 0 for row in range(60)], seen=pandas.Timestamp("2024-02-29"))
    frame.loc[3, "age"] = np.nan
    frame.loc[7, "ill"] = None
    draft = trefoil.schema_of(frame, label="ill", rows=[60] * 3)
    columns = {column["name"]: column for column in draft.data["column"]}
    assert columns["smokes"] == {"name": "smokes", "kind": "category", "values": ["False", "True"]}
    assert columns["seen"] == {"name": "seen", "kind": "ignore"}
    assert [line.split(":")[0] for line in draft.to_give] == [
        "data.column age",
        "data.column age",
        "data.column seen",
        "data.label ill",
    ]
    whole = frame.dropna()
    job = trefoil.Job.from_dict({**toy_keys(expected_batch=40), "data": draft.data})
    assert trefoil.simulate(job, [whole] * 3).model is not None
    with pytest.raises(trefoil.ConfigError, match="^data.label age: found 60 classes, expected at most 50: a number"):
        trefoil.schema_of(people(), label="age")


def test_lets_a_column_become_another_kind():
    draft = trefoil.schema_of(people(), label="ill", rows=[60, 60, 60], most_values=10)
    assert trefoil.Job.from_dict({**toy_keys(), "data": draft.data}).to_dict()["data"]["features"] == 3
    draft.data["column"][0] = {"name": "age", "kind": "bin", "edges": [0.2, 0.4, 0.6]}
    assert trefoil.Job.from_dict({**toy_keys(), "data": draft.data}).to_dict()["data"]["features"] == 6


def test_refuses_frames_without_two_classes():
    with pytest.raises(trefoil.DataError, match="^frame: found no column sick, expected the label's$"):
        trefoil.schema_of(people(), label="sick")
    with pytest.raises(trefoil.ConfigError, match="^data.label ill: found 1 classes, expected two or more$"):
        trefoil.schema_of(people().assign(ill="no"), label="ill")


def test_names_columns_by_texts_and_each_once():
    frame = people().set_axis([0, 1, 2, 3], axis=1)
    draft = trefoil.schema_of(frame, label=3, rows=[60] * 3, most_values=10)
    assert draft.data["label"]["column"] == "3"
    assert trefoil.Job.from_dict({**toy_keys(expected_batch=40), "data": draft.data}).type == "dpsgd"
    with pytest.raises(trefoil.DataError, match='^frame: found column "1" twice, expected each column once$'):
        trefoil.schema_of(frame.set_axis([0, 1, "1", 3], axis=1), label=3)
