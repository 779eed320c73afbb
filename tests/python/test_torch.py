"""Training of PyTorch models by noisy sums; skipped where there is no PyTorch 2."""

import importlib.util
import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import trefoil

torch = pytest.importorskip("torch", minversion="2.0", reason="PyTorch 2 is not installed")

from trefoil.torch import PrivateTrainer, dimension  # noqa: E402


class Net(torch.nn.Module):
    """Images of 8 x 8 numbers, in three classes."""

    def __init__(self):
        super().__init__()
        self.conv = torch.nn.Conv2d(1, 4, 3)
        self.norm = torch.nn.GroupNorm(2, 4)
        self.linear = torch.nn.Linear(4 * 9, 3)

    def forward(self, x):
        x = torch.nn.functional.avg_pool2d(torch.tanh(self.norm(self.conv(x))), 2)
        return self.linear(x.flatten(1))


def net():
    torch.manual_seed(5)
    return Net()


def images(seed, rows=120):
    """A bright bar, at a height that says the class."""
    generator = np.random.default_rng(seed)
    y = generator.integers(0, 3, rows)
    X = generator.normal(0, 0.3, (rows, 1, 8, 8))
    for row, label in enumerate(y):
        X[row, 0, 1 + 2 * label] += 1.0
    return X, y


def job_of(model, steps=40, sigma=0.5, rate=0.25, rows=120, **release):
    return trefoil.Job.from_dict(
        {
            "type": "sum",
            "name": "gradients",
            "data": {"name": "gradients", "rows": [rows] * 3},
            "sum": {"dimension": dimension(model), "norm_bound": 1.0, "calls": steps, "sampling_rate": rate},
            "privacy": {"sigma": sigma, "delta": 1e-5},
            **release,
        }
    )


def sgd(model, rate=2.0):
    return torch.optim.SGD(model.parameters(), rate)


def flat(parameters):
    return torch.cat([one.detach().flatten() for one in parameters]).double().numpy()


def gradient_of(model, x, y):
    """By PyTorch's own backward pass, of one record."""
    model.zero_grad()
    torch.nn.functional.cross_entropy(model(torch.as_tensor(x[None]).float()), torch.tensor([y])).backward()
    return flat([parameter.grad for parameter in model.parameters()])


def test_trains_a_small_cnn():
    model = net()
    with trefoil.SimulatedSession(job_of(model)) as session:
        seen = []
        PrivateTrainer(model, sgd(model), session, [images(k) for k in range(3)], block=16).run(on_step=seen.append)
    assert seen == list(range(1, 41))
    X, y = images(9, 300)
    with torch.no_grad():
        accuracy = (model(torch.from_numpy(X).float()).argmax(1).numpy() == y).mean()
    assert accuracy > 0.9
    assert session.result.epsilon_insider == session.job.plan().epsilon_insider


def test_a_step_is_the_sum_of_clipped_gradients_over_the_public_batch():
    model = net()
    data = [images(k, 10) for k in range(3)]
    clipped = [gradient_of(model, x, y) for own in data for x, y in zip(*own)]
    wanted = sum(one / max(1, np.linalg.norm(one)) for one in clipped) / 30
    assert max(map(np.linalg.norm, clipped)) > 1.5  # some are shortened
    assert np.abs(wanted).max() > 0.05
    before = flat(model.parameters())
    with trefoil.SimulatedSession(job_of(model, steps=1, sigma=0.02, rate=1.0, rows=10)) as session:
        PrivateTrainer(model, sgd(model, 1.0), session, data, block=4).run()
    # Noise of all three; seven deviations: a false alarm for one number in 390 billion, here of 159.
    noise = 7 * 0.02 * np.sqrt(1.5) / 30
    np.testing.assert_allclose(before - flat(model.parameters()), wanted, rtol=0, atol=noise + 1e-5)


class Remembers(torch.nn.Module):
    """Adds up what it has seen, in a buffer and beside it."""

    def __init__(self):
        super().__init__()
        self.linear = torch.nn.utils.spectral_norm(torch.nn.Linear(64, 3))  # an iteration further each time
        self.seen = 0

    def forward(self, x):
        self.seen += 1
        return self.linear(x.flatten(1)) * self.seen


@pytest.mark.parametrize("kind", [Net, Remembers])
def test_gradients_are_those_of_each_record_alone(kind):
    torch.manual_seed(5)
    model = kind()
    X, y = images(1)
    with trefoil.SimulatedSession(job_of(model, steps=1)) as session:
        trainer = PrivateTrainer(model, sgd(model), session, [images(k) for k in range(3)], block=3)
        found = np.concatenate(list(trainer._gradients((X, y), np.arange(7))))
        alone = [next(trainer._gradients((X, y), np.array([row]))) for row in range(7)]
    np.testing.assert_allclose(found, np.concatenate(alone), rtol=1e-4, atol=1e-6)
    if kind is Net:
        np.testing.assert_allclose(
            found, [gradient_of(model, X[row], y[row]) for row in range(7)], rtol=1e-4, atol=1e-6
        )


def test_takes_data_sets_of_pytorch():
    model = net()
    tensors = [torch.utils.data.TensorDataset(*map(torch.from_numpy, images(k))) for k in range(3)]
    tensors[1] = torch.utils.data.DataLoader(tensors[1], batch_size=7, shuffle=True)  # its data set alone counts
    with trefoil.SimulatedSession(job_of(model, steps=2)) as session:
        PrivateTrainer(model, torch.optim.Adam(model.parameters()), session, tensors).run(progress=bool(importlib.util.find_spec("tqdm")))
    assert session.calls_made == 2


def test_a_record_without_a_gradient_does_not_end_the_session():
    model = net()
    data = [images(k, 10) for k in range(3)]
    data[1][0][4] = np.nan
    with trefoil.SimulatedSession(job_of(model, steps=2, rate=1.0, rows=10)) as session:
        trainer = PrivateTrainer(model, sgd(model), session, data)
        with pytest.warns(RuntimeWarning, match="call 1: gradients of 1 records were not finite"):
            trainer.step()
        data[1][0][4] = 0.0
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            trainer.step()
    assert session.calls_made == 2 and np.isfinite(flat(model.parameters())).all()


def with_norm(layer):
    model = net()
    model.norm = layer
    return model


class Loose(Net):
    def forward(self, x):
        return torch.nn.functional.dropout(super().forward(x))


class Cropped(torch.utils.data.Dataset):
    def __len__(self):
        return 120

    def __getitem__(self, row):
        return torch.randn(1, 8, 8), 1


def test_refuses_what_would_break_the_promise():
    data = [images(k) for k in range(3)]

    def refused(text, model=None, job=None, own=data, error=trefoil.ConfigError):
        model = model or net()
        session = trefoil.SimulatedSession(job or job_of(model))
        with pytest.raises(error, match=text):
            PrivateTrainer(model, sgd(model), session, own)

    refused("found BatchNorm2d at norm, which mixes records", with_norm(torch.nn.BatchNorm2d(4)))
    unfixed = torch.nn.BatchNorm2d(4, track_running_stats=False).eval()
    refused("found BatchNorm2d at norm, which mixes records", with_norm(unfixed))
    refused("model: found no gradient of a record", with_norm(torch.nn.InstanceNorm2d(4, track_running_stats=True)))
    refused("found Dropout at norm, which draws coins", with_norm(torch.nn.Dropout()))
    refused("without coins: vmap: called random operation", Loose())
    refused("data: found records made with coins", own=[Cropped()] * 3)
    refused(r"sum.dimension: found 7, expected", job=job_of(torch.nn.Linear(6, 1)))
    refused("release.to: found fewer parties", job=job_of(net(), release={"to": [0]}))
    refused("found 119 records, expected the session's 120", own=[images(0, 119), *data[1:]], error=trefoil.DataError)
    refused("data: found that of 2 parties, expected 3", own=data[:2], error=trefoil.DataError)
    own_batches = torch.utils.data.DataLoader(list(zip(*data[0])), collate_fn=lambda records: records)
    refused("found a loader with a collate_fn of its own", own=[own_batches] * 3, error=trefoil.DataError)
    some = torch.utils.data.DataLoader(list(zip(*data[0])), sampler=torch.utils.data.SubsetRandomSampler([1, 2]))
    refused("that takes rows by SubsetRandomSampler, expected all", own=[some] * 3, error=trefoil.DataError)
    refused("found generator, expected records by number", own=[(pair for pair in data[0])] * 3, error=trefoil.DataError)
    fixed = with_norm(torch.nn.Sequential(torch.nn.BatchNorm2d(4), torch.nn.Dropout()).eval())
    PrivateTrainer(fixed, sgd(fixed), trefoil.SimulatedSession(job_of(fixed)), data)


def test_without_torch_func_takes_only_what_hooks_take(monkeypatch):
    data = [images(k) for k in range(3)]
    flat_model = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(64, 3))
    wanted = [gradient_of(flat_model, data[0][0][row], data[0][1][row]) for row in range(7)]
    monkeypatch.setattr("trefoil._example_gradients.vmap", None)
    trainer = PrivateTrainer(flat_model, sgd(flat_model), trefoil.SimulatedSession(job_of(flat_model)), data, block=3)
    found = np.concatenate(list(trainer._gradients(data[0], np.arange(7))))
    np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-6)
    model = net()
    with pytest.raises(trefoil.ConfigError) as error:
        PrivateTrainer(model, sgd(model), trefoil.SimulatedSession(job_of(model)), data)
    assert str(error.value) == (
        "model: found no gradient of a record by itself and without coins: hooks take no Net at its top, and PyTorch "
        f"{torch.__version__} has no torch.func"
    )


def test_three_parties_have_the_same_model_after_each_step(party_files, tmp_path):
    models = [net() for _ in range(3)]
    job = job_of(models[0], steps=3, rows=20)

    def run(party):
        model = models[party]
        with trefoil.Session(party_files[party], job, out=tmp_path / f"out-{party}", threads=1) as session:
            PrivateTrainer(model, sgd(model), session, images(party, 20)).run()
        return session.result.epsilon_outsider

    before = flat(models[0].parameters())
    with ThreadPoolExecutor(3) as pool:
        assert set(pool.map(run, range(3))) == {job.plan().epsilon_outsider}
    for model in models:
        np.testing.assert_allclose(flat(model.parameters()), flat(models[0].parameters()), rtol=1e-5, atol=1e-6)
    assert np.abs(flat(models[0].parameters()) - before).max() > 0
