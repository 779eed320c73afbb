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
