"""Jobs as objects."""

import dataclasses
import math
import pickle
import re

import numpy as np
import pytest
from conftest import PROJECT, toy_keys

import trefoil
from trefoil import _core

DEMO = PROJECT / "configs" / "demo.toml"


def test_names_a_misspelt_key_with_place_and_remedy(tmp_path):
    file = tmp_path / "job.toml"
    file.write_text(DEMO.read_text().replace("steps =", "stepps ="))
    wrong = r"unknown key training\.stepps; did you mean training\.steps\?"
    with pytest.raises(trefoil.ConfigError, match=rf"job.toml:\d+: {wrong}"):
        trefoil.Job.from_toml(file)
    with pytest.raises(trefoil.ConfigError, match=f"^job: {wrong}$"):
        trefoil.Job.from_dict(toy_keys(stepps=3))


def test_takes_assignments_as_a_list():
    with pytest.raises(trefoil.ConfigError, match=r'^assignments: found the text "training.steps=3", expected a list'):
        trefoil.Job.from_toml(DEMO, "training.steps=3")


def test_is_the_same_job_from_a_file_a_dict_and_a_constructor():
    read = trefoil.Job.from_toml(DEMO)
    keys = read.to_dict()
    assert trefoil.Job.from_dict(keys) == read
    made = trefoil.Job.dpsgd(
        name="demo",
        data={key: keys["data"][key] for key in ("name", "format", "rows", "features", "classes", "scale")},
        features__row_norm=4.0,
        training__steps=np.int64(150),
        training__expected_batch=1024,
        training={"max_batch_per_owner": 480, "learning_rate": 8.0},
        privacy=dict(epsilon=3.0, delta=1e-5, against="outsider", clip=2.0),
    )
    assert made.hash == read.hash
    assert pickle.loads(pickle.dumps(made)) == read
    assert made != trefoil.Job.from_toml(DEMO, ["training.steps=151"])


def test_has_a_documented_constructor_for_every_type():
    for job_type in _core.job_types():
        make = getattr(trefoil.Job, job_type.replace("-", "_"))
        assert job_type.replace("-", "_") in dir(trefoil.Job)
        assert f'type "{job_type}"' in make.__doc__
        assert "name" in make.__signature__.parameters
    assert re.search(r"training__steps: .*at least 1; at most 500000", trefoil.Job.dpsgd.__doc__)
    with pytest.raises(AttributeError, match="nothing_of_this_name"):
        trefoil.Job.nothing_of_this_name


def test_plans_what_it_promises_and_costs(job):
    plan = job.plan()
    assert plan.epsilon_outsider < plan.epsilon_insider <= 4.0
    assert {cost.form for cost in plan.costs} == {"bulk", "latency"}
    assert all(sent > 0 for cost in plan.costs for sent in cost.bytes_sent)
    shown = re.search(r"(?m)^epsilon, insider   (\S+) at most$", str(plan)).group(1)
    assert f"<th>epsilon, insider</th><td>{shown} at most</td>" in plan._repr_html_()


def test_says_no_less_than_what_is_promised():
    plan = trefoil.Job.from_toml(DEMO).plan()
    for epsilon, text in ((1.26314137, "1.264"), (0.99990597, "1.000"), (4.0, "4.000"), (math.inf, "infinite")):
        one = dataclasses.replace(plan, epsilon_outsider=epsilon, epsilon_insider=epsilon, delta=1.00000049e-5)
        for who in ("outsider", "insider"):
            assert f"epsilon, {who}".ljust(19) + f"{text} at most" in str(one).splitlines()
        assert "delta".ljust(19) + "1.00001e-05" in str(one).splitlines()


def test_refuses_what_is_no_value_of_a_job():
    with pytest.raises(TypeError, match="object is no value of a job"):
        trefoil.Job.from_dict({"type": "dpsgd", "name": object()})
    with pytest.raises(trefoil.ConfigError, match="training.steps: found 0, expected"):
        trefoil.Job.from_dict(toy_keys(steps=0))
    for value in (float("nan"), np.float32("inf"), [1.0, float("-inf")], np.array([np.nan])):
        place = "^job: training.learning_rate: found .*, expected a finite number$"
        with pytest.raises(trefoil.ConfigError, match=place):
            trefoil.Job.from_dict(toy_keys(learning_rate=value))


def test_constructors_refuse_a_key_of_what_is_no_table():
    with pytest.raises(trefoil.ConfigError, match="^job: data: found 'x', expected a table, which data.rows is a key"):
        trefoil.Job.dpsgd(data="x", data__rows=[1, 1, 1])
    with pytest.raises(trefoil.ConfigError, match="^job: name: found 'a', expected a table, which name.b is a key of$"):
        trefoil.Job.dpsgd(name="a", name__b=1)
    with pytest.raises(trefoil.ConfigError, match="^job: unknown key name.b$"):
        trefoil.Job.dpsgd(name={"b": 1})


def test_constructors_leave_their_callers_tables_alone():
    label = {"column": "ill"}
    with pytest.raises(trefoil.ConfigError):
        trefoil.Job.dpsgd(data={"label": label}, data__label__values=["0", "1"])
    assert label == {"column": "ill"}
