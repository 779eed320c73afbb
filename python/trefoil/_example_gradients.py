"""Gradients of each example by itself, on the processor: by torch.func, or by hooks on layers that are known.

Imports nothing of the package.
"""

from __future__ import annotations

import copy
from contextlib import contextmanager
from typing import Any, Callable, Iterator

import torch
from torch import nn

try:
    from torch.func import functional_call, grad, vmap
except ImportError:
    functional_call = grad = vmap = None

Loss = Callable[[Any, Any], Any]

# What takes each example by itself, whatever it is told. A forward() of the model's own might do anything with a batch.
_BY_ITSELF = {
    *(nn.Sequential, nn.Identity, nn.AvgPool2d, nn.MaxPool2d, nn.AdaptiveAvgPool2d),
    *(nn.CELU, nn.ELU, nn.GELU, nn.Hardsigmoid, nn.Hardswish, nn.Hardtanh, nn.LeakyReLU, nn.LogSigmoid, nn.Mish),
    *(nn.ReLU, nn.ReLU6, nn.SELU, nn.Sigmoid, nn.SiLU, nn.Softplus, nn.Softsign, nn.Tanh, nn.Tanhshrink),
}
_LEAST_DIMENSIONS = {nn.Linear: 2, nn.Conv2d: 4}  # of a batch; with fewer, a layer takes the batch for one example


class Unfit(Exception):
    """Hooks cannot do it. The text is what they do not take."""


def trainable(model: Any) -> dict[str, Any]:
    """The parameters that a gradient is about, by name, in the gradient's order."""
    return {name: parameter for name, parameter in model.named_parameters() if parameter.requires_grad}


def example_gradients(model: Any, loss: Loss, x: Any, y: Any) -> Any:
    """A row for each of n examples (x[k], y[k]): the gradient of loss(model(x[k : k + 1]), y[k : k + 1]), the trainable
    parameters' one after the other.

    By torch.func, which takes each example by itself whatever the layers are. By hooks where this PyTorch has none, for
    a model that they take (`by_hooks`): they are not faster. For 128 images, on one core with PyTorch 2.15, the network
    of examples/notebooks/cnn_on_mnist.ipynb took 59 ms by hooks and 61 ms by torch.func, one of colour images 599 and
    525 ms, one with groups 290 and 120 ms (the median time of the processor).

    Both give the same up to roundings. A row is a function of its own example, but for its last digits: how a
    processor adds up products may depend on n. A row of that network alone differed by 1.2e-7 of its norm from the same
    row among 128, by either way.

    Gradients, modes and hooks of the model stay as they are. What a forward() or a loss keeps is the caller's to throw
    away: give copies.

    Raises RuntimeError where neither way does it; of one line, where it is for want of torch.func.
    """
    if vmap is not None:
        return by_func(model, loss, x, y)
    try:
        return by_hooks(model, loss, x, y)
    except Unfit as error:
        raise RuntimeError(f"hooks take no {error}, and PyTorch {torch.__version__} has no torch.func") from None


def by_func(model: Any, loss: Loss, x: Any, y: Any) -> Any:
    """As example_gradients, by torch.func, which has to be there."""
    weights = {name: parameter.detach() for name, parameter in trainable(model).items()}

    def of_one(weights: dict[str, Any], x: Any, y: Any) -> Any:
        return loss(functional_call(model, weights, (x[None],)), y[None])

    parts = vmap(grad(of_one), in_dims=(None, 0, 0), randomness="error")(weights, x, y)
    return torch.cat([parts[name].reshape(len(x), -1) for name in weights], dim=1)


def by_hooks(model: Any, loss: Loss, x: Any, y: Any) -> Any:
    """As example_gradients, by one forward pass of all examples and one backward pass of the sum of their losses.

    Each layer's input is recorded on the way there, its output's gradient on the way back. An example's gradient is
    the product of the two, summed over the places of a Conv2d's output, or a Linear's middle dimensions.

    Raises Unfit, after the forward pass at the latest. It takes Sequential of Linear, Conv2d (padding with zeros),
    Flatten behind the batch, dropout that is off, pooling, and functions of single numbers. Nothing else, no
    subclasses, no hooks of the model's own, no layer or parameter used twice: one pass must not mix examples.
    """
    layers = _layers(model)
    with torch.enable_grad(), _recorded(layers) as (inputs, outputs):
        # A copy for each, since what a loss keeps would tell the next one about other examples.
        given = model(x)
        losses = torch.stack([copy.deepcopy(loss)(given[k : k + 1], y[k : k + 1]) for k in range(len(x))])
        if losses.dim() != 1 or not losses.requires_grad:
            raise Unfit("loss but of one number an example, with a gradient")
        used = [layer for layer in layers if outputs[layer].requires_grad]
        errors = dict(zip(used, torch.autograd.grad(losses.sum(), [outputs[layer] for layer in used])))
    parts = []
    for name in trainable(model):
        path, _, kind = name.rpartition(".")
        layer = model.get_submodule(path)
        parts.append(_part(layer, kind, inputs[layer].detach(), errors[layer].detach()).reshape(len(x), -1))
    return torch.cat(parts, dim=1)


def _layers(model: Any) -> dict[Any, str]:
    """The Linear and Conv2d modules, and their names. Raises Unfit if the model has more than by_hooks takes."""
    layers: dict[Any, str] = {}
    owned: set[int] = set()
    for name, module in model.named_modules():
        place = f"{type(module).__name__} at {name or 'its top'}"
        if (objection := _objection(module)) is not None:
            raise Unfit(place + objection)
        if type(module) in _LEAST_DIMENSIONS:
            layers[module] = place
        for parameter in module.parameters(recurse=False):
            if id(parameter) in owned:
                raise Unfit(f"{place} with another layer's parameter")
            owned.add(id(parameter))
    return layers


def _objection(module: Any) -> str | None:
    """What hooks do not take of this module, to be read behind its name; "" if nothing of it, None if they do."""
    kind = type(module)
    if kind is nn.Flatten:
        known = module.start_dim >= 1
    elif kind in (nn.Dropout, nn.Dropout2d):
        known = not module.training or module.p == 0
    else:
        known = kind in _BY_ITSELF or kind in _LEAST_DIMENSIONS
    if not known or "forward" in vars(module) or (module._modules and kind is not nn.Sequential):
        return ""
    if module._parameters.keys() - ({"weight", "bias"} if kind in _LEAST_DIMENSIONS else set()):
        return " with parameters of its own"
    if module._forward_hooks or module._forward_pre_hooks or module._backward_hooks or module._backward_pre_hooks:
        return " with hooks of its own"
    if kind is nn.Conv2d and _padding(module) is None:
        return " with padding that is not zeros, as many on each side"
    return None


def _padding(layer: Any) -> tuple[int, ...] | None:
    """Of a Conv2d, the zeros on each side, by dimension; None for another kind."""
    if layer.padding_mode != "zeros":
        return None
    if layer.padding == "valid":
        return (0, 0)
    if layer.padding == "same":
        both = [width * (size - 1) for width, size in zip(layer.dilation, layer.kernel_size)]
        return tuple(zeros // 2 for zeros in both) if all(zeros % 2 == 0 for zeros in both) else None
    return tuple(layer.padding)


@contextmanager
def _recorded(layers: dict[Any, str]) -> Iterator[tuple[dict[Any, Any], dict[Any, Any]]]:
    """Inputs and outputs of these layers, in what is computed meanwhile."""
    inputs: dict[Any, Any] = {}
    outputs: dict[Any, Any] = {}

    def before(layer: Any, given: tuple[Any, ...]) -> None:
        if layer in inputs:
            raise Unfit(f"{layers[layer]} twice in a forward pass")
        if given[0].dim() < _LEAST_DIMENSIONS[type(layer)]:
            raise Unfit(f"{layers[layer]} of an example without a batch")
        inputs[layer] = given[0]

    def after(layer: Any, given: tuple[Any, ...], output: Any) -> Any:
        outputs[layer] = output
        return output.clone()  # the next layer may write over what it gets

    handles: list[Any] = []
    try:
        for layer in layers:
            handles.append(layer.register_forward_pre_hook(before))
            handles.append(layer.register_forward_hook(after))
        yield inputs, outputs
    finally:
        for handle in handles:
            handle.remove()


def _part(layer: Any, kind: str, inputs: Any, errors: Any) -> Any:
    """The gradients of a layer's "weight" or "bias", from its inputs and the gradients of its outputs."""
    n = len(inputs)
    if type(layer) is nn.Linear:
        errors = errors.reshape(n, -1, layer.out_features)
        return errors.sum(1) if kind == "bias" else errors.transpose(1, 2) @ inputs.reshape(n, -1, layer.in_features)
    if kind == "bias":
        return errors.sum((2, 3))
    patches = nn.functional.unfold(inputs, layer.kernel_size, layer.dilation, _padding(layer), layer.stride)
    places = patches.shape[-1]
    errors = errors.reshape(n, layer.groups, -1, places)
    return errors @ patches.reshape(n, layer.groups, -1, places).transpose(2, 3)
