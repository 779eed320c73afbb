"""Three parties in this process."""

import copy
import dataclasses
import json
import pickle
import subprocess
import sys
import time
from types import SimpleNamespace

import numpy as np
import pytest
from conftest import PROJECT, toy_keys, toy_records

import trefoil
from trefoil.progress import Bar


def test_trains_a_model_within_its_epsilon(job, result):
    X, y = toy_records(9, 300)
    assert result.model.score(X, y) > 0.7  # 1.0 in each of 60 runs; a third by chance
    assert result.epsilon_outsider < result.epsilon_insider <= 4.0
    assert [step.step for step in result.steps[-2:]] == [11, 12]
    assert result.steps[-1].epsilon_insider == pytest.approx(result.epsilon_insider)
    assert job.hash in str(result.record)
    assert "epsilon, insider" in result._repr_html_() and "run directory" not in str(result)


def test_says_no_less_than_what_was_spent(result):
    spent = dataclasses.replace(result, epsilon_outsider=0.99990597, epsilon_insider=1.26314137, delta=1.00000049e-5)
    for name, text in (("epsilon, outsider", "1.000"), ("epsilon, insider", "1.264"), ("delta", "1.00001e-05")):
        assert name.ljust(19) + text in str(spent).splitlines()


def test_a_bar_says_no_less_than_what_is_spent(result):
    bar, said = Bar(), []
    bar._bar = SimpleNamespace(n=0, update=lambda steps: None, set_postfix_str=said.append)  # as of tqdm
    bar(dataclasses.replace(result.steps[0], epsilon_outsider=0.12301, epsilon_insider=0.45678))
    assert said == ["epsilon 0.124 / 0.457"]


def test_gives_a_model_with_the_interface_of_scikit_learn(result):
    X, _ = toy_records(9, 50)
    model = result.model
    assert model.coef_.shape == (3, 6) and model.intercept_.shape == (3,)
    norms = np.maximum(1.0, np.linalg.norm(X, axis=1, keepdims=True))
    np.testing.assert_allclose(model.decision_function(X), X / norms @ model.coef_.T + model.intercept_, atol=1e-5)
    assert (model.predict(X) == model.predict_proba(X).argmax(axis=1)).all()
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1)
    for other in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model), trefoil.Model(**model.get_params())):
        assert (other.predict(X) == model.predict(X)).all()


def test_evaluates_as_scikit_learn_does(parties):
    metrics = pytest.importorskip("sklearn.metrics")
    job = trefoil.Job.from_dict(toy_keys(steps=3, learning_rate=0.5))  # a model that makes mistakes
    model = trefoil.simulate(job, parties).model
    X, y = toy_records(9, 300)
    figures, odds = model.evaluate(X, y), model.predict_proba(X)
    assert figures["accuracy"] == model.score(X, y) and figures["records"] == 300 and "model" not in figures
    assert figures["confusion"] == metrics.confusion_matrix(y, model.predict(X)).tolist()
    assert figures["balanced_accuracy"] == pytest.approx(metrics.balanced_accuracy_score(y, model.predict(X)))
    assert figures["log_loss"] == pytest.approx(metrics.log_loss(y, odds))
    assert figures["auc"] == pytest.approx(metrics.roc_auc_score(y, odds, multi_class="ovr"))
    with pytest.raises(trefoil.DataError, match="^y: row 1: found label .*, expected a class of 0 to 2$"):
        model.evaluate(X, y + 5)
    with pytest.raises(trefoil.DataError, match="^records: found none, expected at least one$"):
        model.evaluate(X[:0], y[:0])


def test_takes_records_of_two_classes_by_the_threshold():
    keys = toy_keys()
    keys["data"]["classes"] = 2
    keys["model"] = {"threshold": 0.2}
    records = [(X, (y > 0).astype(y.dtype)) for X, y in map(toy_records, range(3))]
    model = trefoil.simulate(trefoil.Job.from_dict(keys), records).model
    X, y = toy_records(9, 300)
    likely = model.predict_proba(X)[:, 1]
    assert model.threshold == 0.2
    assert (model.predict(X) == (likely > 0.2)).all()
    assert ((likely > 0.2) != (likely > 0.5)).any()
    assert model.evaluate(X, (y > 0).astype(y.dtype))["threshold"] == 0.2


def test_trains_a_model_of_numbers():
    keys = toy_keys(learning_rate=0.3, steps=60)
    del keys["data"]["classes"]
    keys["data"]["target"] = {"low": -10, "high": 30}
    keys["model"] = {"loss": "squared"}
    keys["privacy"] = {"sigma": 0.05, "delta": 1e-5, "clip": 1.0}
    records = [(X, 10 + 15 * X[:, 0] - 5 * X[:, 1]) for X, _ in map(toy_records, range(3))]
    model = trefoil.simulate(trefoil.Job.from_dict(keys), records).model
    X, y = np.vstack([X for X, _ in records]), np.hstack([y for _, y in records])
    assert model.target_range == (-10, 30) and "one target" in repr(model)
    np.testing.assert_allclose(model.predict(X), -10 + 40 * (model.decision_function(X) + 0.5))
    errors = model.predict(X) - y
    assert model.score(X, y) == pytest.approx(1 - (errors @ errors) / ((y - y.mean()) @ (y - y.mean())))
    assert model.score(X, y) > 0.8  # the mean has 0
    figures = model.evaluate(X, y)
    assert figures["r_squared"] == pytest.approx(model.score(X, y), abs=1e-5)
    assert model.score(X, y[:, None]) == model.score(X, y)
    for wrong in (y[:1], y[None], y[:-1], y[0]):
        with pytest.raises(trefoil.DataError, match=r"^y: found an array of shape .*, expected \(300,\), X's records$"):
            model.score(X, wrong)
    assert figures["rmse"] == pytest.approx(np.sqrt(np.mean(errors**2)), rel=1e-5)
    with pytest.raises(AttributeError, match="target_range"):
        model.classes_
    with pytest.raises(trefoil.DataError, match="party 1's y: row 3: found target 31, expected a number of -10 to 30"):
        wrong = records[1][1].copy()
        wrong[2] = 31
        trefoil.simulate(trefoil.Job.from_dict(keys), [records[0], (records[1][0], wrong), records[2]])


def test_solves_for_numbers():
    data = {"name": "toy", "format": "npy", "rows": [100, 100, 100], "features": 6, "target": {"low": -10, "high": 30}}
    keys = {"type": "least-squares", "name": "toy", "data": data, "privacy": {"sigma": 0.05, "delta": 1e-5}}
    records = [(X, 10 + 15 * X[:, 0] - 5 * X[:, 1]) for X, _ in map(toy_records, range(3))]
    result = trefoil.simulate(trefoil.Job.from_dict(keys), records)
    assert result.model.target_range == (-10, 30) and "one target" in repr(result.model)
    assert result.model.score(*records[0]) > 0.9


def test_says_what_is_wrong_with_records(job, parties):
    X, y = parties[1]
    with_nan, wrong = X.copy(), y.copy()
    with_nan[3, 2] = np.nan
    wrong[6] = 3
    for records, text in [
        ((with_nan, y), r"^party 1's X: row 4, column 3: found nan, expected a finite number"),
        ((X[:, :5], y), "^party 1's X: found 5 features in a row, expected 6$"),
        ((X[0], y), "^party 1's X: found one dimension, expected two: a row for each record$"),
        ((X.astype(object), y), "^party 1's X: found an array of dtype object, expected numbers$"),
        ((X.tolist()[:-1] + [[1.0]], y), "^party 1's X: found no array"),
        ((X, wrong), "^party 1's y: row 7: found label 3, expected a class of 0 to 2$"),
        ((X, y + 0.5), r"^party 1's y: row 1: found label \d.5, expected"),
        ((X, y[:-1]), "^party 1's y: found 99 labels, expected 100, the rows of party 1's X$"),
        ((X, None), "^party 1's y: found None"),
        ((np.vstack([X, X]), np.hstack([y, y])), "^party 1's X: found 200 rows, expected at most the 100"),
    ]:
        with pytest.raises(trefoil.DataError, match=text):
            trefoil.simulate(job, [parties[0], records, parties[2]])


def test_takes_frames_and_sparse_matrices(job, parties):
    pandas = pytest.importorskip("pandas")
    sparse = pytest.importorskip("scipy.sparse")
    (X0, y0), (X1, y1), other = parties
    result = trefoil.simulate(job, [(pandas.DataFrame(X0), pandas.Series(y0)), (sparse.csr_matrix(X1), y1), other])
    assert result.model.predict(pandas.DataFrame(X0)).shape == (100,)


def test_refuses_frames_for_arrays_whose_columns_are_in_another_order(job, parties):
    pandas = pytest.importorskip("pandas")
    frames = [(pandas.DataFrame(X, columns=list("abcdef")), y) for X, y in parties]
    turned = (frames[2][0][list("abdcef")], frames[2][1])
    for processes in (False, True):
        with pytest.raises(
            trefoil.DataError, match='party 2\'s X, column 3: found "d", expected "c" as of party 1\'s: '
        ):
            trefoil.simulate(job, [parties[0], frames[1], turned], processes=processes)
    assert trefoil.simulate(job, frames).model is not None


def test_names_what_arrays_cannot_bring(job, parties, result):
    keys = toy_keys()
    onnx = {"method": "onnx", "outputs": 6, "model_sha256": "0" * 64}
    place = 'method: found "onnx", .*, expected files of all three, features.model among'
    with pytest.raises(trefoil.ConfigError, match=place):
        trefoil.simulate(trefoil.Job.from_dict({**keys, "features": onnx}), parties)
    schema = json.dumps({**json.loads(result.model.schema), "features": onnx})
    model = trefoil.Model(**result.model.get_params()).set_params(schema=schema)
    for use in (lambda: model.predict(parties[0][0]), lambda: model.evaluate(*parties[0])):
        with pytest.raises(trefoil.ConfigError, match='"onnx", .*, expected trefoil predict or trefoil evaluate, with'):
            use()
    cifar = {"name": "toy", "format": "cifar", "rows": [100, 100, 100], "classes": 10}
    with pytest.raises(trefoil.ConfigError, match='^party 0\'s records: found arrays, .*, as data.format is "cifar"$'):
        trefoil.simulate(trefoil.Job.from_dict({**keys, "data": cifar}), parties)


class OfAnotherLibrary:
    def __init__(self, array):
        self.array = array

    def __array__(self, dtype=None, copy=None):
        if self.array is None:
            raise RuntimeError("it is elsewhere")
        return np.asarray(self.array, dtype)


def test_takes_what_has_an_array_and_no_masked_numbers(result, parties):
    X, y = parties[0]
    wanted = result.model.predict(X)
    assert (result.model.predict(OfAnotherLibrary(X)) == wanted).all()
    assert (result.model.predict(np.ma.masked_invalid(X)) == wanted).all()  # none is masked
    with pytest.raises(trefoil.DataError, match=r"^X: found no array \(it is elsewhere\), expected an array of numbers$"):
        result.model.predict(OfAnotherLibrary(None))
    with pytest.raises(trefoil.DataError, match="^X: found masked numbers, expected all"):
        result.model.predict(np.ma.masked_greater(X, 0.5))


def test_scores_labels_that_are_texts_or_numbers_in_a_frame():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"x": np.tile([-0.5, 0.5], 60), "ill": np.tile([0, 1], 60)})
    keys = toy_keys(expected_batch=120, max_batch_per_owner=120)
    keys["data"] = trefoil.schema_of(frame, "ill", rows=[120] * 3).data
    keys["privacy"]["epsilon"] = 20.0
    model = trefoil.simulate(trefoil.Job.from_dict(keys), [frame] * 3).model
    assert model.score(frame, frame.ill) == model.score(frame, frame.ill.astype(str)) == 1.0
    assert model.evaluate(frame)["accuracy"] == 1.0
    with pytest.raises(trefoil.DataError, match='found "maybe"'):
        model.score(frame, ["maybe"] * 120)


def test_refuses_what_is_no_job_and_no_file(job, parties, tmp_path):
    for call in (
        lambda: trefoil.simulate("job.toml", parties),
        lambda: trefoil.Party(tmp_path / "party.toml").run("job.toml", *parties[0]),
    ):
        with pytest.raises(trefoil.ConfigError, match="^job: found str, expected a trefoil.Job"):
            call()
    for processes in (False, True):
        with pytest.raises(trefoil.ConfigError, match="^party 1's age: found list, expected a file's path$"):
            trefoil.simulate(job, [parties[0], {"age": [1]}, parties[2]], processes=processes)


@pytest.mark.parametrize("style", ["npz", "idx"])
def test_takes_arrays_for_every_format(style, parties):
    keys = toy_keys()
    keys["data"] |= {"format": style, "scale": 255.0}
    job = trefoil.Job.from_dict(keys)
    bytes_of = [(np.clip(X * 255, 0, 255).astype(np.uint8), y) for X, y in parties]
    assert trefoil.simulate(job, bytes_of).model.score(*bytes_of[0]) > 0.6
    if style == "idx":
        with pytest.raises(trefoil.DataError, match="party 0's X: found numbers that are no bytes"):
            trefoil.simulate(job, parties)


def test_takes_frames_with_named_columns_for_csv(parties):
    pandas = pytest.importorskip("pandas")
    keys = toy_keys()
    columns = [{"name": f"x{number}"} for number in range(5)] + [
        {"name": "colour", "kind": "category", "values": ["blue", "red"]}
    ]
    label = {"column": "kind", "values": ["a", "b", "c"]}
    keys["data"] |= {"format": "csv", "features": 7, "column": columns, "label": label}
    job = trefoil.Job.from_dict(keys)

    def frame(X, y):
        table = pandas.DataFrame(X[:, :5], columns=[f"x{number}" for number in range(5)])
        return table.assign(colour=np.where(X[:, 5] > 0, "red", "blue")), np.array(["a", "b", "c"])[y]

    frames = [frame(*records) for records in parties]
    model = trefoil.simulate(job, frames).model
    assert set(model.predict(frames[0][0])) <= {"a", "b", "c"}
    with pytest.raises(trefoil.DataError, match='party 2\'s X: found ndarray, expected a frame'):
        trefoil.simulate(job, [*frames[:2], parties[2]])


def test_runs_jobs_of_other_types(tmp_path):
    job = trefoil.Job.pate(
        name="votes",
        pate=dict(teachers=[4, 4, 4], queries=3, classes=2, mechanism="gnmax", sigma=2.0),
        privacy__delta=1e-5,
    )
    for party in range(3):
        np.save(tmp_path / f"{party}.npy", np.ones((4, 3), dtype=np.int64))
    queries = tmp_path / "queries.npy"
    np.save(queries, np.zeros((3, 5)))
    files = [{"pate.queries": queries, "pate.predictions": tmp_path / f"{party}.npy"} for party in range(3)]
    result = trefoil.simulate(job, files)
    assert result.model is None and result.files
    with pytest.raises(trefoil.ConfigError, match="^party 0's records: found arrays, expected files"):
        trefoil.simulate(job, [(np.zeros((3, 5)), None)] * 3)
    wrong = "^pate.predictoins is no file of a party, .* did you mean pate.predictions"
    with pytest.raises(trefoil.ConfigError, match=wrong):
        trefoil.simulate(job, [*files[:2], {"pate.predictoins": queries}])
    assert 0 < result.epsilon_outsider < result.epsilon_insider


@pytest.mark.parametrize("header", [True, False])
def test_counts_a_column_of_frames(header):
    pandas = pytest.importorskip("pandas")
    job = trefoil.Job.histogram(
        name="colours",
        data=dict(name="colours", format="csv", rows=[9, 9, 9], header=header)
        | ({} if header else {"columns": ["size", "colour"]}),
        histogram=dict(mode="central", column="colour", values=["blue", "red"]),
        privacy__epsilon=50.0,
    )
    frame = pandas.DataFrame({"colour": ["red", "blue", "red"], "size": [1, 2, 3]})
    result = trefoil.simulate(job, [frame] * 3)
    counts = result.files["histogram.csv"].decode()
    assert "red,6" in counts and "blue,3" in counts  # wrong with a probability below 2e-10 at epsilon 50
    with pytest.raises(trefoil.ConfigError, match="^plot: found a run without steps"):
        result.plot()
    with pytest.raises(trefoil.DataError, match="party 0's X: found ndarray, expected a frame"):
        trefoil.simulate(job, [frame.to_numpy(), frame, frame])
    if not header:
        with pytest.raises(trefoil.DataError, match="^party 0's X: found no column size, expected size, colour$"):
            trefoil.simulate(job, [frame.drop(columns="size"), frame, frame])


def test_gives_statistics_of_frames():
    pandas = pytest.importorskip("pandas")
    job = trefoil.Job.statistics(
        name="ages",
        data=dict(
            name="ages", format="csv", rows=[50, 50, 50], column=[dict(name="age", low=0.0, high=100.0)]
        ),
        statistics=dict(bins=10),
        privacy=dict(sigma=0.01, delta=1e-6),
    )
    frame = pandas.DataFrame({"age": [20, 30, 70] * 10})
    result = trefoil.simulate(job, [frame] * 3)
    line = result.files["moments.csv"].decode().splitlines()[1].split(",")
    assert line[0] == "age" and float(line[3]) == pytest.approx(40, abs=0.1)  # noise on a count is 0.02


def test_draws_what_was_spent(result):
    pytest.importorskip("matplotlib").use("agg")
    axes = result.plot()
    assert [line.get_label() for line in axes.get_lines()] == ["outsider", "insider"]
    assert axes.get_lines()[1].get_ydata()[-1] == pytest.approx(result.epsilon_insider)


def test_shows_a_bar(job, parties, capsys):
    pytest.importorskip("tqdm")
    trefoil.simulate(job, parties, progress=True)
    assert "12/12" in capsys.readouterr().err


def test_tells_of_progress_and_lets_a_callback_end_the_run(job, parties):
    seen = []
    trefoil.simulate(job, parties, progress=seen.append)
    assert [step.step for step in seen][-1] == 12

    def refuse(step):
        raise LookupError("enough")

    with pytest.raises(LookupError, match="enough"):
        trefoil.simulate(job, parties, progress=refuse)


def test_runs_the_lines_of_the_readme(monkeypatch):
    text = (PROJECT / "README.md").read_text().partition("## From Python")[2].partition("## ")[0]
    lines = [line.removeprefix("    ") for line in text.splitlines() if line.startswith("    ")]
    assert 8 <= len(lines) <= 12
    generator = np.random.default_rng(3)
    shards = [(generator.normal(size=(500, 20)), generator.integers(0, 2, 500)) for _ in range(3)]
    (X0, y0), (X1, y1), (X2, y2) = shards
    ran = []
    monkeypatch.setattr(trefoil.Party, "run", lambda self, job, X, y: ran.append((self, job)))
    exec("\n".join(lines), {"X0": X0, "y0": y0, "X1": X1, "y1": y1, "X2": X2, "y2": y2, "X": X0, "y": y0})
    assert len(ran) == 1


INTERRUPTED = """
import os, signal, sys, time
sys.path.insert(0, {tests!r})
from conftest import toy_keys, toy_records
import trefoil
job = trefoil.Job.from_dict(toy_keys(steps=100_000))
def interrupt(step):
    if step.step == 3:
        os.kill(os.getpid(), signal.SIGINT)
try:
    trefoil.simulate(job, [toy_records(party) for party in range(3)], progress=interrupt)
except KeyboardInterrupt:
    print("interrupted")
"""


def test_ends_on_ctrl_c(request):
    started = time.monotonic()
    code = INTERRUPTED.format(tests=str(request.path.parent))
    done = subprocess.run([sys.executable, "-B", "-c", code], capture_output=True, text=True, timeout=60)
    assert done.stdout == "interrupted\n", done.stderr
    assert time.monotonic() - started < 30
