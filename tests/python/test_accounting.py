"""Accountants, against closed forms and another library."""

import json
import math
from statistics import NormalDist

import numpy as np
import pytest

import trefoil
from trefoil import _program, accounting

needs_program = pytest.mark.skipif(not _program.PROGRAM.exists(), reason="the program is not built with the package")


def exact_delta(epsilon, sigma):
    """Of one Gaussian release. Source: Balle and Wang, "Improving the Gaussian Mechanism" (ICML 2018), Theorem 8."""
    below = lambda x: math.erfc(-x / math.sqrt(2)) / 2
    return below(0.5 / sigma - epsilon * sigma) - math.exp(epsilon) * below(-0.5 / sigma - epsilon * sigma)


def exact_epsilon(sigma, delta):
    low, high = 0.0, 100.0
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if exact_delta(middle, sigma) > delta else (low, middle)
    return high


@pytest.mark.parametrize("sigma, steps", [(0.8, 1), (1.0, 1), (5.0, 25), (30.0, 100)])
def test_bounds_unsampled_gaussians_closely(sigma, steps):
    exact = exact_epsilon(sigma / math.sqrt(steps), 1e-5)
    tight = accounting.epsilon(sigma, 1e-5, steps=steps)
    assert exact <= tight <= exact + 0.01
    assert tight <= accounting.epsilon(sigma, 1e-5, steps=steps, accountant="rdp") <= 1.2 * exact


def test_calibrates_to_the_target():
    sigma = accounting.sigma(2.0, 1e-5, steps=50, sampling_rate=0.1)
    assert accounting.epsilon(sigma, 1e-5, steps=50, sampling_rate=0.1) <= 2.0
    assert accounting.epsilon(sigma * 0.999, 1e-5, steps=50, sampling_rate=0.1) > 2.0


def test_composes_releases():
    assert accounting.Accountant().pure(0.5).pure(0.25, count=2).epsilon(1e-9) == pytest.approx(1.0, abs=1e-2)
    assert accounting.Accountant().laplace(2.0).epsilon(1e-12) == pytest.approx(0.5, abs=1e-3)
    both = accounting.Accountant("rdp").gaussian(2.0, steps=3).gaussian(2.0, steps=2).epsilon(1e-5)
    assert both == pytest.approx(accounting.epsilon(2.0, 1e-5, steps=5, accountant="rdp"))


def test_draws_a_curve():
    points = accounting.curve(1.1, 1e-5, steps=[10, 100, 1000], sampling_rate=0.01, accountant="rdp")
    assert [steps for steps, _ in points] == [10, 100, 1000]
    assert points[0][1] < points[1][1] < points[2][1]


def test_reads_records(result, tmp_path):
    file = tmp_path / "record.json"
    file.write_text(json.dumps(result.record))
    assert accounting.of_record(file, 1e-5, accountant="rdp") == pytest.approx(
        (result.epsilon_outsider, result.epsilon_insider)
    )
    with pytest.raises(trefoil.ConfigError, match='accountant: found "best", expected "rdp" or "pld"'):
        accounting.of_record(file, 1e-5, accountant="best")


def test_agrees_with_dp_accounting_and_exchanges_events_with_it():
    dp_accounting = pytest.importorskip("dp_accounting", reason="dp-accounting is not installed")
    ours = accounting.Accountant().gaussian(1.1, steps=500, sampling_rate=0.01).gaussian(9.0).laplace(20.0)
    theirs = dp_accounting.pld.PLDAccountant()
    theirs.compose(ours.to_event())
    assert ours.epsilon(1e-5) == pytest.approx(theirs.get_epsilon(1e-5), abs=0.01)
    assert accounting.Accountant().event(ours.to_event()).epsilon(1e-5) == pytest.approx(ours.epsilon(1e-5))
    assert accounting.Accountant().event(dp_accounting.NoOpDpEvent()).epsilon(1e-5) == 0
    with pytest.raises(trefoil.ConfigError, match="found pure releases, for which dp_accounting has no event"):
        ours.pure(0.1).to_event()


TRAININGS = [(0.7, 0.01, 300), (1.1, 0.004, 2000), (2.5, 0.2, 100), (4.0, 1.0, 20)]


@pytest.mark.parametrize("sigma, rate, steps", TRAININGS)
def test_agrees_with_dp_accounting_on_trainings(sigma, rate, steps):
    dp_accounting = pytest.importorskip("dp_accounting", reason="dp-accounting is not installed")
    event = dp_accounting.SelfComposedDpEvent(
        dp_accounting.PoissonSampledDpEvent(rate, dp_accounting.GaussianDpEvent(sigma)), steps
    )
    for delta in (1e-5, 1e-8):
        theirs = dp_accounting.pld.PLDAccountant().compose(event).get_epsilon(delta)
        ours = accounting.epsilon(sigma, delta, steps=steps, sampling_rate=rate)
        assert ours == pytest.approx(theirs, abs=0.01, rel=0.005)
        renyi = dp_accounting.rdp.RdpAccountant().compose(event).get_epsilon(delta)
        looser = accounting.epsilon(sigma, delta, steps=steps, sampling_rate=rate, accountant="rdp")
        assert ours - 1e-9 <= looser == pytest.approx(renyi, rel=0.02)
    found = accounting.sigma(theirs, 1e-8, steps=steps, sampling_rate=rate)
    assert found == pytest.approx(sigma, rel=0.005)


@pytest.mark.parametrize("sigma, rate, steps", TRAININGS)
def test_agrees_with_opacus(sigma, rate, steps):
    accountants = pytest.importorskip("opacus.accountants", reason="Opacus is not installed")
    for name, method, tolerance in (("prv", "pld", 0.005), ("rdp", "rdp", 0.03)):
        theirs = accountants.create_accountant(name)
        theirs.history = [(sigma, rate, steps)]
        ours = accounting.epsilon(sigma, 1e-5, steps=steps, sampling_rate=rate, accountant=method)
        assert ours == pytest.approx(theirs.get_epsilon(1e-5), abs=0.02, rel=tolerance)


def test_refuses_events_that_it_cannot_account():
    class TreeDpEvent:
        """By its name none of those that are known."""

    with pytest.raises(trefoil.ConfigError, match="^event: found .*TreeDpEvent.*, expected Gaussian"):
        accounting.Accountant().event(TreeDpEvent())


@needs_program
def test_gives_the_whole_promise_of_gaussians():
    whole = accounting.promise(2.0, steps=16)  # mu = 4 / 2
    assert whole.mu == pytest.approx(2.0)
    for epsilon, delta in whole.curve[1::20]:
        assert exact_delta(epsilon, 0.5) <= delta * (1 + 1e-9) and delta <= exact_delta(epsilon, 0.5) * 1.01 + 1e-12
    normal = NormalDist()
    # Source: Dong, Roth and Su, "Gaussian Differential Privacy" (JRSS B 2022), Equation 6.
    for alpha, beta in whole.trade_off[1:-1:10]:
        exact = normal.cdf(normal.inv_cdf(1 - alpha) - 2.0)
        assert beta <= exact + 1e-12 and exact - beta < 0.01
    sampled = accounting.promise(1.0, steps=50, sampling_rate=0.01)
    assert sampled.mu is None and sampled.trade_off[0][1] > 0.99
    with pytest.raises(trefoil.ConfigError, match="sampling rate: found 2, expected"):
        accounting.promise(1.0, sampling_rate=2.0)


@needs_program
def test_reads_the_promise_of_records(result, tmp_path):
    file = tmp_path / "record.json"
    file.write_text(json.dumps(result.record))
    outsider, insider = accounting.promises_of_record(file)
    for whole, epsilon in ((outsider, result.epsilon_outsider), (insider, result.epsilon_insider)):
        assert min(delta for at, delta in whole.curve if at <= epsilon * 1.05) <= 1.2e-5


@needs_program
def test_accounts_for_votes_that_stay_in_memory():
    votes = np.array([[90, 10], [55, 45]])
    costs = accounting.of_votes(votes, "gnmax", 1e-5, sigma=20.0)
    assert costs["queries"] == 2 and costs["teachers"] == 100
    free = costs["data_independent"]["improved"]["epsilon"]
    # One teacher's vote moves two counts by 1 each: sensitivity sqrt(2).
    assert free == pytest.approx(exact_epsilon(20 / math.sqrt(2 * 2), 1e-5), rel=1e-3)
    assert accounting.of_votes(votes, "confident-gnmax", 1e-5, sigma=20.0, threshold=60, threshold_sigma=30.0)
    with pytest.raises(trefoil.DataError, match="^votes: query 2, class 0: found"):
        accounting.of_votes([[90, 10], [-1, 101]], "gnmax", 1e-5, sigma=20.0)
