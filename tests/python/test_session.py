"""Sessions of noisy sums: in this process, and of three parties over TLS."""

import os
import re
import signal
import time
from concurrent.futures import ThreadPoolExecutor, wait

import numpy as np
import pytest

import trefoil

ROWS = [30, 0, 50]
SIGMA = 0.02


def sum_job(dimension=4, **tables):
    """Vectors of norm 2 at most, and noise of all three of 2 SIGMA sqrt(1.5) = 0.05."""
    keys = {
        "type": "sum",
        "name": "sums",
        "data": {"name": "sums", "rows": ROWS},
        "sum": {"dimension": dimension, "norm_bound": 2.0, "calls": 3},
        "privacy": {"sigma": SIGMA, "delta": 1e-5},
    }
    for table, values in tables.items():
        keys[table] = {**keys[table], **values} if table in keys else values
    return trefoil.Job.from_dict(keys)


def vectors_of(party, dimension=4):
    return np.random.default_rng(party).normal(0, 1.2, (ROWS[party], dimension))


def shortened(vectors):
    norms = np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors * np.minimum(1, 2 / np.maximum(norms, 1e-12))


def assert_noisy(found, exact):
    """Seven deviations: a false alarm for one key in 30 billion at each of the dozens of numbers here."""
    np.testing.assert_allclose(found, exact, rtol=0, atol=7 * 2 * SIGMA * np.sqrt(1.5))
    assert not np.any(found == exact)


def test_sums_are_exact_but_for_the_noise():
    job = sum_job()
    with trefoil.SimulatedSession(job) as session:
        assert (session.calls, session.dimension, session.expected_batch) == (3, 4, 80)
        for call in range(3):
            rows = session.sample()
            assert [len(own) for own in rows] == ROWS
            noisy = session.noisy_sum([vectors_of(party)[own] for party, own in enumerate(rows)])
            assert_noisy(noisy, sum(shortened(vectors_of(party)).sum(axis=0) for party in range(3)))
            assert session.calls_made == call + 1
        with pytest.raises(trefoil.BudgetError, match="one more call, expected the 3"):
            session.sample()
    assert session.result.epsilon_insider == job.plan().epsilon_insider
    assert session.result.record["events"][0]["count"] == 3
    assert session.result.summary["calls_made"] == 3


def test_takes_every_record_by_a_coin_of_the_session():
    job = sum_job(sum={"sampling_rate": 0.4, "calls": 20})
    counts, seen = [], set()
    with trefoil.SimulatedSession(job, records=[30, 0, 25]) as session:
        for _ in range(session.calls):
            with pytest.raises(trefoil.ContractError, match="expected sample"):
                session.noisy_sum([np.zeros((0, 4))] * 3)
            rows = session.sample()
            again = session.sample()
            assert all(np.array_equal(own, other) for own, other in zip(rows, again))  # no second draw to choose from
            vectors = [np.tile([1.0, 0, 0, 0], (len(own), 1)) for own in rows]
            blocks = [iter(np.array_split(own, 3)) for own in vectors]
            assert_noisy(session.noisy_sum(blocks), [sum(map(len, rows)), 0, 0, 0])
            counts.append(sum(map(len, rows)))
            seen.add(tuple(rows[0]))
            assert rows[0].max(initial=0) < 30 and rows[2].max(initial=0) < 25
    # Binomial, 1100 coins: six deviations, a false alarm for one key in 500 million.
    assert abs(sum(counts) - 440) < 6 * np.sqrt(1100 * 0.24)
    assert len(seen) > 15


def test_takes_blocks_that_share_one_buffer():
    def blocks(party):
        buffer = np.empty((1, 4))
        for vector in vectors_of(party):
            buffer[0] = vector
            yield buffer

    with trefoil.SimulatedSession(sum_job()) as session:
        noisy = session.noisy_sum([blocks(party) for party in range(3)])
    assert_noisy(noisy, sum(shortened(vectors_of(party)).sum(axis=0) for party in range(3)))


def test_refuses_what_are_no_vectors_and_goes_on():
    job = sum_job()
    with trefoil.SimulatedSession(job) as session:
        good = [vectors_of(party) for party in range(3)]
        for bad, text in [
            (np.zeros((30, 5)), r"found shape \(30, 5\), expected 4 columns"),
            (np.zeros((29, 4)), "found 29, expected 30, one for each record of the sample"),
            (good[0].astype(object), "found an array of dtype object"),
        ]:
            with pytest.raises(trefoil.DataError, match=text):
                session.noisy_sum([bad, good[1], good[2]])
        session.noisy_sum(good)
        assert session.calls_made == 1


def test_what_is_not_finite_ends_the_session():
    bad = vectors_of(2)
    bad[7, 1] = np.nan
    with pytest.raises(trefoil.DataError, match="call 1: record 8, number 2: found nan, expected a finite number"):
        with trefoil.SimulatedSession(sum_job()) as session:
            session.noisy_sum([vectors_of(0), vectors_of(1), bad])
    with pytest.raises(trefoil.DataError, match="records: found 51, expected at most the 50 declared"):
        trefoil.SimulatedSession(sum_job(), records=[1, 0, 51])


def test_an_early_end_is_charged_in_full():
    job = sum_job()
    with trefoil.SimulatedSession(job) as session:
        session.noisy_sum([vectors_of(party) for party in range(3)])
    assert session.result.summary["calls_made"] == 1
    assert session.result.epsilon_insider == job.plan().epsilon_insider


def test_an_exception_ends_the_parties():
    with pytest.raises(ZeroDivisionError):
        with trefoil.SimulatedSession(sum_job()) as session:
            session.sample()
            _ = 1 / 0
    assert session.result is None


def test_is_of_jobs_that_sum(job):
    with pytest.raises(trefoil.ConfigError, match='type: found "dpsgd", expected a job whose vectors'):
        trefoil.SimulatedSession(job)
    with pytest.raises(trefoil.ContractError, match="expected `with`"):
        trefoil.SimulatedSession(sum_job()).sample()


def test_takes_groups_and_what_owners_sum():
    job = sum_job(sum={"sampling_rate": 0.5}, privacy={"unit": "group", "max_group_rows": 2})
    keys = [np.arange(rows) // 2 for rows in ROWS]
    with trefoil.SimulatedSession(job, keys=keys) as session:
        rows = session.sample()
        for own in rows:
            assert np.array_equal(own[::2] + 1, own[1::2])  # both of a group, or none
        session.noisy_sum([vectors_of(party)[own] for party, own in enumerate(rows)])
    job = sum_job(sum={"summed": "owner", "allowance": 0.001})
    own = [shortened(vectors_of(party)).sum(axis=0) for party in range(3)]
    with trefoil.SimulatedSession(job) as session:
        assert_noisy(session.noisy_sum(own), sum(own))


def end_of(party_file, job, out, act, **options):
    try:
        with trefoil.Session(party_file, job, out=out, threads=1, **options) as session:
            act(session)
        return session.result
    except trefoil.Error as error:
        return error


def at_three(party_files, job, tmp_path, act, **options):
    """How each party's session ended; act(party, session) is the program of each."""

    def run(party):
        out = tmp_path / f"out-{party}"
        return end_of(party_files[party], job, out, lambda session: act(party, session), **options)

    with ThreadPoolExecutor(3) as pool:
        return list(pool.map(run, range(3)))


def test_three_parties_get_the_same_sums_and_record(party_files, tmp_path):
    job = sum_job(release={"to": [0, 2]})
    sums = [[], [], []]

    def act(party, session):
        for _ in range(session.calls):
            rows = session.sample()
            sums[party].append(session.noisy_sum(vectors_of(party)[rows]))

    results = at_three(party_files, job, tmp_path, act)
    assert all(isinstance(result, trefoil.Result) for result in results), results
    assert sums[1] == [None] * 3
    for call in range(3):
        np.testing.assert_array_equal(sums[0][call], sums[2][call])
        assert_noisy(sums[0][call], sum(shortened(vectors_of(party)).sum(axis=0) for party in range(3)))
    for result in results:
        assert result.record["events"] == results[0].record["events"]
        assert result.epsilon_insider == job.plan().epsilon_insider
        assert (result.folder / "record.json").exists()
    needle = vectors_of(0)[5].tobytes()
    for file in tmp_path.rglob("*"):
        assert not file.is_file() or needle not in file.read_bytes(), file
    assert not list(tmp_path.rglob("*.npy"))


def test_a_party_that_fails_ends_its_peers_in_time(party_files, tmp_path):
    def act(party, session):
        vectors = vectors_of(party)
        session.noisy_sum(vectors)
        if party == 2:
            vectors[3, 1] = np.inf
        session.noisy_sum(vectors)
        session.sample()

    started = time.monotonic()
    ends = at_three(party_files, sum_job(), tmp_path, act)
    assert time.monotonic() - started < 40
    assert type(ends[2]) is trefoil.DataError and "call 2: record 4, number 2: found inf" in str(ends[2])
    for peer in (0, 1):
        assert type(ends[peer]) is trefoil.NetworkError and ends[peer].peer == 2, ends[peer]
        assert "inf" not in str(ends[peer])


@pytest.mark.parametrize("ended", ["by an exception", "killed"])
def test_a_party_that_leaves_ends_its_peers_in_time(party_files, tmp_path, ended):
    class Left(trefoil.Error):
        pass

    def act(party, session):
        session.noisy_sum(vectors_of(party))
        if party == 1:
            if ended == "killed":
                os.kill(session._run._process.pid, signal.SIGKILL)
            else:
                raise Left
        session.noisy_sum(vectors_of(party))
        session.sample()

    started = time.monotonic()
    ends = at_three(party_files, sum_job(), tmp_path, act)
    assert time.monotonic() - started < 40
    assert type(ends[1]) is (trefoil.StoppedError if ended == "killed" else Left), ends[1]
    for peer in (0, 2):
        assert type(ends[peer]) is trefoil.NetworkError and ends[peer].peer == 1, ends[peer]
        assert (tmp_path / f"out-{peer}" / "record.json").exists()  # all calls are charged


def test_a_slow_program_is_named_by_its_own_party_and_ends_by_a_signal(party_files, tmp_path):
    log = tmp_path / "out-1" / "party.log"
    slow = r"waiting for the program's vectors has taken \d+ s: the peers wait, too"

    def act(party, session):
        session.noisy_sum(vectors_of(party))
        if party == 1:
            session.sample()
            deadline = time.monotonic() + 30
            while not re.search(slow, log.read_text()) and time.monotonic() < deadline:
                time.sleep(0.1)
            os.kill(session._run._process.pid, signal.SIGTERM)
            wait([session._ended], timeout=30)
        session.noisy_sum(vectors_of(party))
        session.sample()

    started = time.monotonic()
    ends = at_three(party_files, sum_job(), tmp_path, act)
    assert time.monotonic() - started < 60
    assert re.search(slow, log.read_text())
    assert type(ends[1]) is trefoil.StoppedError, ends[1]
    assert re.match(r"stopped by signal 15 while waiting for the program's vectors had taken \d+ s", str(ends[1]))
    for peer in (0, 2):
        assert type(ends[peer]) is trefoil.NetworkError and ends[peer].peer == 1, ends[peer]


def test_says_which_number_is_none_to_the_owner_alone(party_files, tmp_path):
    def act(party, session):
        vectors = vectors_of(party)
        if party == 2:
            vectors[17, 2] = np.nan
        session.noisy_sum(vectors)

    ends = at_three(party_files, sum_job(), tmp_path, act)
    assert type(ends[2]) is trefoil.DataError and "call 1: record 18, number 3: found nan" in str(ends[2]), ends
    log = (tmp_path / "out-2" / "party.log").read_text()
    assert "an error of data (exit code 4), which standard error alone tells" in log
    assert "record 18" not in log and "nan" not in log


def test_a_party_that_ends_alone_ends_its_peers_in_time(party_files, tmp_path):
    def act(party, session):
        session.noisy_sum(vectors_of(party))
        if party != 1:
            session.noisy_sum(vectors_of(party))
            session.sample()

    started = time.monotonic()
    ends = at_three(party_files, sum_job(), tmp_path, act)
    assert time.monotonic() - started < 40
    for party in range(3):
        assert type(ends[party]) in (trefoil.NetworkError, trefoil.ProtocolError), ends[party]
        assert party == 1 or "party 1" in str(ends[party])
        assert (tmp_path / f"out-{party}" / "record.json").exists()  # all calls are charged


def test_goes_on_behind_the_calls_that_were_begun(party_files, tmp_path):
    class Left(trefoil.Error):
        pass

    job = sum_job()
    made = []

    def leaves(party, session):
        session.noisy_sum(vectors_of(party))
        if party == 1:
            raise Left
        session.noisy_sum(vectors_of(party))
        session.sample()

    def goes_on(party, session):
        made.append((session.calls_made, session.calls_shared))
        while session.calls_made < session.calls:
            session.noisy_sum(vectors_of(party))

    with pytest.raises(trefoil.ConfigError, match="out: missing, expected with resume"):
        trefoil.Session(party_files[0], job, resume=True)
    assert type(at_three(party_files, job, tmp_path, leaves)[1]) is Left
    results = at_three(party_files, job, tmp_path, goes_on, resume=True)
    assert made in ([(1, 0)] * 3, [(2, 0)] * 3)  # whether the others began the second before they knew is chance
    for result in results:
        assert isinstance(result, trefoil.Result), result
        assert result.epsilon_insider == job.plan().epsilon_insider
    ended = at_three(party_files, job, tmp_path, goes_on, resume=True)
    assert [type(end) for end in ended] == [trefoil.BudgetError] * 3, ended


def test_names_a_party_file_that_is_none(tmp_path):
    with pytest.raises(trefoil.ConfigError, match="absent.toml: found no party.id"):
        trefoil.Session(tmp_path / "absent.toml", sum_job())
