"""One organisation's party, fed from arrays: three processes over TLS."""

import os
import pathlib
import re
import signal
import socket
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from conftest import toy_keys, toy_records

import trefoil


def run_three(party_files, run):
    """What each party's run ended with; the calls are made by three threads, which wait for each other's messages."""

    def end(party):
        try:
            return run(party, trefoil.Party(party_files[party]))
        except trefoil.Error as error:
            return error

    with ThreadPoolExecutor(3) as pool:
        return list(pool.map(end, range(3)))


def test_trains_with_peers_and_writes_no_record(party_files, job, parties, tmp_path):
    outs = [tmp_path / f"out-{party}" for party in range(3)]
    results = run_three(party_files, lambda i, party: party.run(job, *parties[i], out=outs[i], threads=1))
    assert all(isinstance(result, trefoil.Result) for result in results), results
    for result in results:
        np.testing.assert_array_equal(result.model.coef_, results[0].model.coef_)
        assert result.record["events"] == results[0].record["events"]
        assert result.epsilon_insider == results[0].epsilon_insider <= 4.0
        assert result.steps[-1].step == 12
    assert results[0].model.score(*toy_records(9, 300)) > 0.7
    needle = parties[0][0][5].tobytes()
    for file in tmp_path.rglob("*"):
        assert not file.is_file() or needle not in file.read_bytes(), file
    assert not list(tmp_path.rglob("*.npy"))


def test_says_what_is_wrong_with_records_at_its_party_alone(party_files, job, parties, tmp_path):
    X = parties[1][0].copy()
    X[3, 2] = np.nan
    records = [parties[0], (X, parties[1][1]), parties[2]]
    ends = run_three(party_files, lambda i, party: party.run(job, *records[i], out=tmp_path / str(i), threads=1))
    assert type(ends[1]) is trefoil.DataError
    assert str(ends[1]).startswith("X: row 4, column 3: found nan, expected a finite number")
    for peer in (0, 2):
        assert type(ends[peer]) is trefoil.NetworkError and ends[peer].peer == 1, ends[peer]
        assert "nan" not in str(ends[peer])


def test_makes_trial_parties_once(party_files):
    assert party_files[1].read_text() and (party_files[1].parent / "party.key").stat().st_mode & 0o77 == 0
    with pytest.raises(trefoil.ConfigError, match="party.toml"):
        trefoil.trial_parties(party_files[0].parents[1])


def test_refuses_wrong_files_before_anything_is_sent(job, parties, tmp_path):
    with pytest.raises(trefoil.ConfigError, match=r"absent.toml"):
        trefoil.Party(tmp_path / "absent.toml").run(job, *parties[0], out=tmp_path / "out")
    with pytest.raises(trefoil.DataError, match="^X: found an array of dtype object, expected numbers$"):
        trefoil.Party(tmp_path / "absent.toml").run(job, parties[0][0].astype(object), parties[0][1])


def test_a_port_that_is_taken_is_worth_another_try(party_files, job, parties, tmp_path):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        with party_files[0].open("a") as file:
            file.write(f'\n[metrics]\nlisten = "127.0.0.1:{taken.getsockname()[1]}"\n')
        with pytest.raises(trefoil.PassingError, match="metrics.listen: "):
            trefoil.Party(party_files[0]).run(job, *parties[0], out=tmp_path / "out", threads=1)


def test_keeps_a_ledger_and_to_its_cap(party_files, job, parties, tmp_path):
    ledger = party_files[0].parent / "ledger.jsonl"
    with party_files[0].open("a") as file:
        file.write(f'\n[ledger]\nfile = "{ledger}"\nepsilon_cap = 6.0\ndelta = 1e-5\n')
    runs = [
        run_three(party_files, lambda i, party: party.run(job, *parties[i], out=tmp_path / f"{run}-{i}", threads=1))
        for run in range(2)
    ]
    assert all(isinstance(end, trefoil.Result) for end in runs[0]), runs[0]
    assert type(runs[1][0]) is trefoil.BudgetError, runs[1]
    shown = trefoil.accounting.of_ledger(ledger)
    assert [one["state"] for one in shown["jobs"]] == ["done"]
    assert 4.0 <= shown["epsilon_insider"] <= 6.0
    assert runs[0][0].ledger_entry == shown["jobs"][0] and runs[0][1].ledger_entry is None
    assert "ledger             done, 12 steps charged, epsilon " in str(runs[0][0])
    assert trefoil.accounting.of_ledger(ledger, 1e-7)["epsilon_insider"] > shown["epsilon_insider"]


def test_gives_a_finished_run_to_the_same_job_on_the_same_records_alone(party_files, parties, tmp_path):
    job = trefoil.Job.from_dict(toy_keys(checkpoint_every=5))
    outs = [tmp_path / f"out-{party}" for party in range(3)]
    ends = run_three(party_files, lambda i, party: party.run(job, *parties[i], out=outs[i], threads=1, resume=True))
    assert all(isinstance(end, trefoil.Result) for end in ends), ends
    party = trefoil.Party(party_files[0])
    again = party.run(job, *parties[0], out=outs[0], resume=True)
    assert again.record == ends[0].record
    np.testing.assert_array_equal(again.model.coef_, ends[0].model.coef_)
    other = trefoil.Job.from_dict(toy_keys(checkpoint_every=5, steps=11))
    with pytest.raises(trefoil.ConfigError, match="training.steps: found 11, expected 12, .* whose run has finished"):
        party.run(other, *parties[0], out=outs[0], resume=True)
    with pytest.raises(trefoil.DataError, match="found the results of a run on other data"):
        party.run(job, *parties[1], out=outs[0], resume=True)


COLOURS = {
    "type": "histogram",
    "name": "colours",
    "data": {"name": "colours", "format": "csv", "rows": [40, 40, 40]},
    "histogram": {"mode": "central", "column": "colour", "values": ["red", "green"]},
    "privacy": {"epsilon": 1.0},
}


def colours(seed, rows=40):
    pandas = pytest.importorskip("pandas")
    generator = np.random.default_rng(seed)
    # Whole numbers in a column of floats: other text than pandas writes.
    sizes = generator.integers(150, 190, rows).astype(float)
    return pandas.DataFrame({"colour": generator.choice(["red", "green"], rows), "size": sizes, "name": range(rows)})


def count_colours(party_files, first, out):
    """What party 0 got, which brings `first`, or what its party file names."""
    job = trefoil.Job.from_dict(COLOURS)
    frames = [first, colours(1), colours(2)]
    return run_three(party_files, lambda i, party: party.run(job, frames[i], out=out / str(i), threads=1))[0]


def test_declares_frames_to_be_of_its_ledgers_population(party_files, tmp_path):
    job, party = trefoil.Job.from_dict(COLOURS), trefoil.Party(party_files[0])
    may, june = colours(0), colours(9)
    ledger = party.file.parent / "patients.jsonl"
    may.to_csv(party.file.parent / "may.csv", index=False)
    kept = f'file = "{ledger.name}"\nepsilon_cap = 20.0\ndelta = 1e-5\npopulation = "patients"\n'
    text = party.file.read_text().replace("[data]\n", '[data]\nfile = "may.csv"\n')
    party.file.write_text(f"{text}\n[ledger]\n{kept}")
    assert isinstance(count_colours(party_files, None, tmp_path / "a"), trefoil.Result)
    for number, frame in enumerate([may, june]):
        refused = count_colours(party_files, frame, tmp_path / f"b{number}")
        assert type(refused) is trefoil.DataError, refused
        assert "trefoil ledger declare, or Party.declare of Python; else" in str(refused)
        told = party.declare(job, frame)
        assert told.startswith("40 different records, 40 of them new to population") and "\n" in told
        assert told.endswith('now belongs to population "patients"')
        assert isinstance(count_colours(party_files, frame, tmp_path / f"c{number}"), trefoil.Result)
    shown = trefoil.accounting.of_ledger(ledger)
    assert len(shown["jobs"]) == len(shown["population"]["data"]) == 3
    assert shown["epsilon_insider"] > 1.5 * shown["jobs"][0]["epsilon_insider"]
    with pytest.raises(trefoil.DataError, match="^X: "):
        party.declare(job, june.values)
    with pytest.raises(trefoil.ConfigError, match="^files: found dta.y, expected data.x and data.y, or data.file"):
        party.declare(job, files={"data.file": party.file.parent / "may.csv", "dta.y": "may.csv"})
    for key in ["date.file", "evaluation.file"]:
        with pytest.raises(trefoil.ConfigError, match=f"^files: found {key}, expected data.x and data.y, or data.file"):
            party.declare(job, files={key: party.file.parent / "may.csv"})
    assert "belonged already" in party.declare(job, files={"data.file": party.file.parent / "may.csv"})


def test_enters_jobs_on_frames_in_a_closed_ledger(party_files, tmp_path):
    party = trefoil.Party(party_files[0])
    ledger = party.file.parent / "closed.jsonl"
    with party.file.open("a") as file:
        file.write(f'\n[ledger]\nfile = "{ledger.name}"\nepsilon_cap = 4.0\ndelta = 1e-5\nmode = "closed"\n')
    frame = colours(0)
    job = trefoil.Job.from_dict(COLOURS)
    second = trefoil.Job.from_dict({**COLOURS, "name": "again"})
    sizes = {"mode": "central", "column": "size", "values": [f"{size}.0" for size in range(150, 190)]}
    other = trefoil.Job.from_dict({**COLOURS, "histogram": sizes})  # which writes 150 as 150.0
    with pytest.raises(trefoil.ConfigError, match="jobs: found two that make other bytes of the records"):
        party.enter([job, other], frame)
    with pytest.raises(trefoil.ConfigError, match="jobs: found none"):
        party.enter([], frame)
    assert not ledger.exists()
    assert "line hash" in party.enter([job, second], frame)
    assert isinstance(count_colours(party_files, frame, tmp_path / "a"), trefoil.Result)
    assert type(count_colours(party_files, frame, tmp_path / "b")) is trefoil.BudgetError
    assert [one["name"] for one in trefoil.accounting.of_ledger(ledger)["entered"]] == ["colours", "again"]


KILLED = """
import os, signal, sys
sys.path.insert(0, {tests!r})
from conftest import toy_keys, toy_records
import trefoil
def at_once(step):
    os.killpg(0, signal.{signal})  # as a terminal does
try:
    job = trefoil.Job.from_dict(toy_keys(steps=100_000))
    trefoil.Party({file!r}).run(job, *toy_records(1), out={out!r}, threads=1, progress=at_once)
except KeyboardInterrupt:
    print("interrupted")
"""


@pytest.mark.parametrize("sent", ["SIGINT", "SIGKILL"])
def test_a_party_that_is_ended_tells_its_peers(request, party_files, tmp_path, sent):
    code = KILLED.format(
        tests=str(request.path.parent), signal=sent, file=str(party_files[1]), out=str(tmp_path / "out-1")
    )
    job = trefoil.Job.from_dict(toy_keys(steps=100_000))
    killed = subprocess.Popen(
        [sys.executable, "-B", "-c", code], stdout=subprocess.PIPE, text=True, start_new_session=True
    )

    def run(number, party):
        if number == 1:
            return killed.communicate(timeout=60)[0]
        return party.run(job, *toy_records(number), out=tmp_path / f"out-{number}", threads=1)

    started = time.monotonic()
    ends = run_three(party_files, run)
    assert time.monotonic() - started < 40
    assert ends[1] == ("interrupted\n" if sent == "SIGINT" else "")
    for peer in (0, 2):
        assert type(ends[peer]) is trefoil.NetworkError and ends[peer].peer == 1, ends[peer]
        assert re.match(r"lost party 1 at step \d+ of 100000: .*was told to stop", str(ends[peer]))
