"""Gradients of each example by itself: hooks against torch.func and PyTorch's own backward pass of one example."""

import importlib.util
import pathlib

import pytest

torch = pytest.importorskip("torch", minversion="2.0", reason="PyTorch 2 is not installed")

from torch import nn  # noqa: E402


def load():
    """From its file, since it needs nothing of the package and so no library."""
    folder = importlib.util.find_spec("trefoil").submodule_search_locations[0]
    spec = importlib.util.spec_from_file_location("example_gradients", pathlib.Path(folder) / "_example_gradients.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


gradients = load()
cross_entropy = nn.functional.cross_entropy
EXAMPLES = 7


def cnn():
    """Of examples/notebooks/cnn_on_mnist.ipynb."""
    return nn.Sequential(
        *(nn.Conv2d(1, 16, 8, stride=2, padding=3), nn.Tanh(), nn.MaxPool2d(2, stride=1)),
        *(nn.Conv2d(16, 32, 4, stride=2), nn.Tanh(), nn.MaxPool2d(2, stride=1)),
        *(nn.Flatten(), nn.Linear(512, 32), nn.Tanh(), nn.Linear(32, 10)),
    )


def frozen(model, *names):
    for name in names:
        model.get_parameter(name).requires_grad_(False)
    return model


def convolved(*places, **keys):
    """Of 4 x 9 x 8 numbers, and behind it a loss of all that it gives."""
    return nn.Sequential(nn.Conv2d(4, 6, *places, **keys), nn.Flatten(), nn.Tanh())


def over_writing():
    return nn.Sequential(nn.Linear(5, 4), nn.ReLU(inplace=True), nn.Sequential(nn.Linear(4, 3), nn.ELU(inplace=True)))


def quiet():
    return nn.Sequential(nn.Linear(5, 4), nn.Dropout(), nn.Linear(4, 3)).eval()


# What makes a model, and the shape of an example.
TAKEN = {
    "cnn": (cnn, (1, 28, 28)),
    "linear": (lambda: nn.Linear(5, 3), (5,)),
    "a middle dimension": (lambda: nn.Sequential(nn.Linear(5, 4), nn.Tanh(), nn.Flatten()), (6, 5)),
    "two middle dimensions": (lambda: nn.Sequential(nn.Linear(5, 4), nn.Tanh(), nn.Flatten()), (2, 3, 5)),
    "no bias": (lambda: nn.Sequential(nn.Linear(5, 4, bias=False), nn.Sigmoid(), nn.Linear(4, 3)), (5,)),
    "bias alone": (lambda: frozen(quiet(), "0.weight", "2.weight"), (5,)),
    "frozen first layer": (lambda: frozen(quiet(), "0.weight", "0.bias"), (5,)),
    "dropout that is off": (quiet, (5,)),
    "writes over": (over_writing, (5,)),
    "convolution": (lambda: convolved(3), (4, 9, 8)),
    "oblong": (lambda: convolved((2, 3), stride=(2, 1), padding=(1, 2), dilation=(3, 2)), (4, 9, 8)),
    "groups": (lambda: convolved(3, stride=2, padding=1, groups=2), (4, 9, 8)),
    "stride that leaves a rest": (lambda: convolved(2, stride=3, bias=False), (4, 9, 8)),
    "padding same": (lambda: convolved((3, 5), padding="same", dilation=(2, 1)), (4, 9, 8)),
    "padding valid": (lambda: convolved(3, padding="valid"), (4, 9, 8)),
}


def example_of(make, shape, precision=torch.float64):
    torch.manual_seed(3)
    model = make().to(precision)
    x = torch.randn(EXAMPLES, *shape, dtype=precision)
    return model, x, torch.arange(EXAMPLES) % 3


@pytest.mark.parametrize("name", TAKEN)
def test_hooks_give_the_gradients_of_torch_func(name):
    for precision, digits in ((torch.float64, 1e-13), (torch.float32, 1e-5)):
        model, x, y = example_of(*TAKEN[name], precision)
        found = gradients.by_hooks(model, cross_entropy, x, y)
        wanted = gradients.by_func(model, cross_entropy, x, y)
        assert found.shape == (EXAMPLES, sum(one.numel() for one in gradients.trainable(model).values()))
        assert found.dtype == precision and wanted.abs().max() > 1e-3
        torch.testing.assert_close(found, wanted, rtol=digits, atol=digits)


@pytest.mark.parametrize("name", TAKEN)
def test_hooks_give_the_gradients_of_one_example_at_a_time(name):
    model, x, y = example_of(*TAKEN[name])
    rows = gradients.by_hooks(model, cross_entropy, x, y)
    for k in range(EXAMPLES):
        parameters = list(gradients.trainable(model).values())
        alone = torch.autograd.grad(cross_entropy(model(x[k : k + 1].clone()), y[k : k + 1]), parameters)
        torch.testing.assert_close(rows[k], torch.cat([one.flatten() for one in alone]), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("name", TAKEN)
@pytest.mark.parametrize("way", ["by_hooks", "by_func"])
def test_an_example_moves_its_own_gradient_alone(name, way):
    model, x, y = example_of(*TAKEN[name], torch.float32)
    before = getattr(gradients, way)(model, cross_entropy, x.clone(), y)
    for put in (2.0 * x[3] + 1.0, torch.full_like(x[3], torch.nan)):
        changed, labels = x.clone(), y.clone()
        changed[3], labels[3] = put, (y[3] + 1) % 3
        after = getattr(gradients, way)(model, cross_entropy, changed, labels)
        assert not torch.equal(after[3], before[3])
        others = torch.arange(EXAMPLES) != 3
        assert torch.equal(after[others], before[others])


def test_an_example_by_itself_has_the_same_gradient_but_for_roundings():
    model, x, y = example_of(cnn, (1, 28, 28), torch.float32)
    together = gradients.by_hooks(model, cross_entropy, x, y)
    alone = [gradients.by_hooks(model, cross_entropy, x[k : k + 1], y[k : k + 1]) for k in range(EXAMPLES)]
    torch.testing.assert_close(together, torch.cat(alone), rtol=1e-5, atol=1e-6)


class Mixing(nn.Sequential):
    """Of one example what it is, of several less their mean."""

    def forward(self, x):
        return super().forward(x if len(x) == 1 else x - x.mean(0))


class Twice(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(5, 5)

    def forward(self, x):
        return self.linear(self.linear(x))


def tied():
    model = nn.Sequential(nn.Linear(5, 5), nn.Linear(5, 5))
    model[1].weight = model[0].weight
    return model


def shared():
    linear = nn.Linear(5, 5)
    return nn.Sequential(linear, nn.Tanh(), linear)


def hooked():
    model = nn.Sequential(nn.Linear(5, 3))
    model[0].register_forward_hook(lambda module, given, output: output - output.mean(0))
    return model


def patched():
    model = nn.Sequential(nn.Linear(5, 3), nn.Tanh())
    model[1].forward = lambda x: x - x.mean(0)
    return model


def with_more():
    model = nn.Sequential(nn.Linear(5, 3))
    model[0].more = nn.Parameter(torch.ones(2))
    return model


def normed():
    return nn.Sequential(nn.Linear(5, 4), nn.GroupNorm(2, 4), nn.Linear(4, 3))


def frozen_batch_norm():
    return frozen(nn.Sequential(nn.Linear(5, 4), nn.BatchNorm1d(4)).eval(), "1.weight", "1.bias")


# What makes a model, an example's shape, and what hooks say that they do not take.
LEFT = {
    "another trainable layer": (normed, (5,), "GroupNorm at 1"),
    "fixed means": (frozen_batch_norm, (5,), "BatchNorm1d at 1"),
    "forward of its own": (lambda: Mixing(nn.Linear(5, 3)), (5,), "Mixing at its top"),
    "forward put in its place": (patched, (5,), "Tanh at 1"),
    "other hooks": (hooked, (5,), "Linear at 0 with hooks of its own"),
    "module twice by forward": (Twice, (5,), "Twice at its top"),
    "module twice in a row": (shared, (5,), "Linear at 0 twice in a forward pass"),
    "parameter twice": (tied, (5,), "Linear at 1 with another layer's parameter"),
    "parameter more": (with_more, (5,), "Linear at 0 with parameters of its own"),
    "flattens the batch": (lambda: nn.Sequential(nn.Linear(5, 3), nn.Flatten(0)), (5,), "Flatten at 1"),
    "padding of another kind": (
        lambda: convolved(3, padding=1, padding_mode="reflect"),
        (4, 9, 8),
        "Conv2d at 0 with padding that is not zeros, as many on each side",
    ),
    "one zero more on a side": (lambda: convolved(2, padding="same"), (4, 9, 8), "Conv2d at 0 with padding that is"),
    # Such examples could be taken for channels of one image, and for the numbers of one vector.
    "images without channels": (
        lambda: nn.Sequential(frozen(nn.Conv2d(EXAMPLES, EXAMPLES, 1), "weight", "bias"), nn.Linear(8, 3)),
        (9, 8),
        "Conv2d at 0 of an example without a batch",
    ),
    "numbers": (lambda: nn.Linear(EXAMPLES, 3), (), "Linear at its top of an example without a batch"),
}


@pytest.mark.parametrize("name", LEFT)
def test_hooks_leave_what_one_pass_might_mix(name, monkeypatch):
    make, shape, text = LEFT[name]
    model, x, y = example_of(make, shape)
    with pytest.raises(gradients.Unfit) as error:
        gradients.by_hooks(model, cross_entropy, x, y)
    assert str(error.value).startswith(text)
    monkeypatch.setattr(gradients, "vmap", None)
    with pytest.raises(RuntimeError) as refused:
        gradients.example_gradients(model, cross_entropy, x, y)
    assert str(refused.value) == f"hooks take no {error.value}, and PyTorch {torch.__version__} has no torch.func"


def test_torch_func_takes_each_example_by_itself_whatever_forward_does():
    model, x, y = example_of(lambda: Mixing(nn.Linear(5, 3)), (5,))
    found = gradients.example_gradients(model, cross_entropy, x, y)
    wanted = gradients.by_func(nn.Sequential(*model), cross_entropy, x, y)
    torch.testing.assert_close(found, wanted, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("func", [True, False])
def test_hooks_are_for_where_torch_func_is_not(func, monkeypatch):
    model, x, y = example_of(cnn, (1, 28, 28))
    wanted = (gradients.by_func if func else gradients.by_hooks)(model, cross_entropy, x, y)
    monkeypatch.setattr(gradients, "by_hooks" if func else "by_func", None)
    if not func:
        monkeypatch.setattr(gradients, "vmap", None)
    assert torch.equal(gradients.example_gradients(model, cross_entropy, x, y), wanted)


def hooks_of(model):
    kinds = ("_forward_hooks", "_forward_pre_hooks", "_backward_hooks", "_backward_pre_hooks")
    return [hook for module in model.modules() for kind in kinds for hook in getattr(module, kind)]


def fails(outputs, targets):
    raise KeyError("a loss's own")


@pytest.mark.parametrize("fault", ["none", "loss", "forward", "backward", "twice"])
def test_leaves_the_model_as_it_was(fault, monkeypatch):
    model, x, y = example_of(shared if fault == "twice" else quiet, (5,))
    model[0].train()
    for parameter in model.parameters():
        parameter.grad = torch.full_like(parameter, 7.0)
    before = [parameter.detach().clone() for parameter in model.parameters()]
    coins = torch.get_rng_state()
    loss, error = cross_entropy, None
    if fault == "loss":
        loss, error = fails, KeyError
    if fault == "forward":
        x, error = x[:, :4], RuntimeError
    if fault == "backward":
        monkeypatch.setattr(torch.autograd, "grad", lambda *given: fails(*given))
        error = KeyError
    if fault == "twice":
        error = gradients.Unfit
    if error is None:
        gradients.by_hooks(model, loss, x, y)
    else:
        with pytest.raises(error):
            gradients.by_hooks(model, loss, x, y)
    assert hooks_of(model) == []
    assert [module.training for module in model.modules()][:2] == [fault == "twice", True]
    for parameter, weights in zip(model.parameters(), before, strict=True):
        assert torch.equal(parameter, weights) and parameter.requires_grad
        assert torch.equal(parameter.grad, torch.full_like(weights, 7.0))
    assert torch.equal(coins, torch.get_rng_state())


class Counting(nn.Module):
    """Takes each example for more than the one before, where it is called for them one after the other."""

    def __init__(self):
        super().__init__()
        self.calls = 0

    def forward(self, outputs, targets):
        self.calls += 1
        return self.calls * cross_entropy(outputs, targets)


@pytest.mark.parametrize("way", ["by_hooks", "by_func"])
def test_a_loss_does_not_tell_examples_of_each_other(way):
    model, x, y = example_of(quiet, (5,))
    wanted = gradients.by_func(model, cross_entropy, x, y)
    found = getattr(gradients, way)(model, Counting(), x, y)
    torch.testing.assert_close(found, wanted, rtol=1e-12, atol=1e-12)


def test_a_loss_that_is_not_one_number_is_refused():
    model, x, y = example_of(quiet, (5,))
    for loss in (lambda outputs, targets: outputs.sum(1), lambda outputs, targets: outputs.detach().sum()):
        with pytest.raises(gradients.Unfit, match="loss but of one number an example"):
            gradients.by_hooks(model, loss, x, y)
