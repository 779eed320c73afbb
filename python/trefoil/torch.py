"""Training of any PyTorch model by noisy sums of its records' gradients (DP-SGD), among three owners.

Needs PyTorch 2, and computes on the processor. Without its torch.func only models of few kinds of layers are taken.
"""

from __future__ import annotations

import copy
import warnings
from typing import Any, Callable, Iterator, Sequence

import numpy as np

from trefoil.errors import ConfigError, DataError
from trefoil.progress import counted
from trefoil.session import Numbers, Rows, Session, SimulatedSession

try:
    import torch

    from trefoil._example_gradients import example_gradients
    from trefoil._example_gradients import trainable as _trainable
except ImportError as error:
    raise ImportError(f"trefoil.torch: found no PyTorch 2 ({error}): pip install torch") from None


def dimension(model: Any) -> int:
    """How many numbers a gradient of the model has: a job's sum.dimension."""
    return sum(parameter.numel() for parameter in _trainable(model).values())


class PrivateTrainer:
    """Trains a PyTorch model among three owners: each computes its own records' gradients, and sees sums with noise.

        with trefoil.Session(party, job) as session:
            PrivateTrainer(model, torch.optim.SGD(model.parameters(), 0.5), session, (X, y)).run()

    `model`: the same at all three parties before the first step (torch.manual_seed), on the processor. A record's
    gradient is computed from that record alone, on a copy of the model that is thrown away. So layers that mix records
    (batch normalisation, unless in eval mode) are refused, and coins (dropout in training mode), since all three can
    know their seed. A gradient's last digits, in the model's precision, may depend on how many records a block has.
    `optimizer`: any; it gets the noisy sum over the public expected batch as the parameters' gradients, and what it
    makes of it (momentum, Adam) costs nothing more.
    `data`: this party's records, as a tuple (X, y) of arrays or tensors, whose numbers get the model's precision, or
    what has len() and data[k] = (x, y), or a loader of such a data set; with a SimulatedSession three of them. The
    session draws the rows: of a loader its data set alone counts, since its batches would not be the coins that epsilon
    counts on. data[k] has to be a function of record k alone.
    `loss(outputs, targets)`: of a batch of one record; default cross-entropy. A mean over one record takes weights of
    classes out again: with such, reduction="sum". `block`: records whose gradients are in memory at once.

    A gradient that is not finite counts as zeros, with a warning here and nowhere else: to end the session would tell
    the peers of one record.

    Differs from a job of type "dpsgd", where the model stays in shares: all three owners see the model after each step,
    which the epsilons cover, and each clips its own records' gradients by its own program.

    Raises ConfigError where job and model do not fit, DataError where the data and the session's records do not.
    """

    def __init__(
        self,
        model: Any,
        optimizer: Any,
        session: Session | SimulatedSession,
        data: Any,
        *,
        loss: Callable[[Any, Any], Any] = torch.nn.functional.cross_entropy,
        block: int = 64,
    ) -> None:
        self.model, self.optimizer, self.session, self.loss, self.block = model, optimizer, session, loss, block
        self._lost = 0
        self._check_model()
        if session._owner_sums:
            raise ConfigError('sum.summed: found "owner", expected "program", which clips each record\'s gradient')
        if session.job.release_to != [0, 1, 2]:
            raise ConfigError("release.to: found fewer parties, expected all three: each goes on from the sum")
        given = data if isinstance(session, SimulatedSession) else [data]
        self._data: Sequence[Any] = [_data_set_of(own) for own in given]
        if len(self._data) != len(session.records):
            raise DataError(f"data: found that of {len(self._data)} parties, expected {len(session.records)}")
        for own, records in zip(self._data, session.records):
            if (found := _length(own)) != records:
                raise DataError(f"data: found {found} records, expected the session's {records}")
            if records:
                self._of_block(own, np.zeros(1, dtype=np.int64))  # what cannot be trained is refused now

    def _check_model(self) -> None:
        for name, module in self.model.named_modules():
            if objection := _objection(module):
                raise ConfigError(f"model: found {type(module).__name__} at {name or 'its top'}, which {objection}")
        if any(tensor.device.type != "cpu" for tensor in self.model.state_dict().values()):
            raise ConfigError("model: found tensors elsewhere, expected all on the processor")
        if (found := dimension(self.model)) != self.session.dimension:
            raise ConfigError(f"sum.dimension: found {self.session.dimension}, expected {found}, as the model has")

    def run(
        self, steps: int | None = None, on_step: Callable[[int], Any] | None = None, progress: bool = False
    ) -> None:
        """Makes so many steps, or all that the session has left. `on_step` is told how many calls have been made;
        `progress` shows a bar of tqdm."""
        left = self.session.calls - self.session.calls_made
        for _ in counted(range(left if steps is None else steps), progress):
            self.step()
            if on_step is not None:
                on_step(self.session.calls_made)

    def step(self) -> None:
        """One call of the session, and one step of the optimizer."""
        rows = self.session._ask()
        self._lost = 0
        sums = self.session._answer([self._gradients(own, of) for own, of in zip(self._data, rows, strict=True)])
        assert sums[0] is not None  # release.to names all three
        self._apply(sums[0])
        if self._lost:
            warnings.warn(
                f"call {self.session.calls_made}: gradients of {self._lost} records were not finite, and counted as "
                "zeros (this is about this party's own records: the others do not learn it)",
                RuntimeWarning,
                stacklevel=2,
            )

    def _apply(self, noisy: Numbers) -> None:
        flat = torch.from_numpy(noisy) / self.session.expected_batch
        parameters = list(_trainable(self.model).values())
        for parameter, part in zip(parameters, flat.split([one.numel() for one in parameters]), strict=True):
            parameter.grad = part.view_as(parameter).to(parameter.dtype)
        self.optimizer.step()
        self.optimizer.zero_grad()

    def _gradients(self, own: Any, rows: Rows) -> Iterator[Numbers]:
        """A row for each record, some records after the other."""
        for first in range(0, len(rows), self.block):
            gradients = self._of_block(own, rows[first : first + self.block])
            if not torch.isfinite(gradients.sum()):  # a sum is a fraction of the work of a look at each number
                finite = torch.isfinite(gradients).all(dim=1)
                self._lost += int((~finite).sum())
                gradients = torch.where(finite[:, None], gradients, 0.0)
            yield gradients.numpy()

    def _of_block(self, own: Any, rows: Rows) -> Any:
        """A row for each record, whose gradient nothing but that record, the weights and what is fixed goes into."""
        # Copies, since what a forward pass leaves behind would tell the next one about other records.
        model, loss = copy.deepcopy((self.model, self.loss))
        # One record more would move the coins of all after it, and so the sum by more than one vector; and the seed may
        # well be the one that made the same model at all three.
        coins = torch.get_rng_state()
        x, y = _records(own, rows, next(iter(_trainable(model).values())).dtype)
        try:
            gradients = example_gradients(model, loss, x, y)
        except RuntimeError as error:
            why = (str(error).splitlines() or [""])[0].split(". ")[0]
            raise ConfigError(f"model: found no gradient of a record by itself and without coins: {why}") from error
        if not torch.equal(coins, torch.get_rng_state()):
            raise ConfigError("data: found records made with coins of PyTorch's generator, expected none")
        return gradients.double()


def _data_set_of(own: Any) -> Any:
    """A loader's data set, if that gives its records as the loader does; else the records themselves."""
    kinds = torch.utils.data
    if not isinstance(own, kinds.DataLoader):
        return own
    if isinstance(own.dataset, kinds.IterableDataset):
        raise DataError("data: found a loader of a stream, expected records by number: the session draws the rows")
    if own.collate_fn not in (kinds.default_collate, kinds.default_convert):
        raise DataError("data: found a loader with a collate_fn of its own, expected its data set to give records")
    if type(own.sampler) not in (kinds.SequentialSampler, kinds.RandomSampler):
        raise DataError(
            f"data: found a loader that takes rows by {type(own.sampler).__name__}, expected all: give the subset itself"
        )
    return own.dataset


def _objection(module: Any) -> str:
    """Why a gradient of a record alone cannot be had of this layer, if so."""
    if isinstance(module, torch.nn.modules.batchnorm._BatchNorm) and (module.training or module.running_mean is None):
        return "mixes records, expected layers that take each by itself, such as GroupNorm, or means that eval() fixes"
    if isinstance(module, torch.nn.modules.dropout._DropoutNd) and module.training and module.p > 0:
        return "draws coins, expected none: eval(), or p = 0"
    return ""


def _is_pair(own: Any) -> bool:
    return isinstance(own, tuple) and len(own) == 2


def _length(own: Any) -> int:
    if not hasattr(own, "__getitem__"):
        raise DataError(f"data: found {type(own).__name__}, expected records by number: the session draws the rows")
    if not _is_pair(own):
        return len(own)
    if len(own[0]) != len(own[1]):
        raise DataError(f"data: found {len(own[1])} targets, expected {len(own[0])}, one a record")
    return len(own[0])


def _records(own: Any, rows: Rows, precision: Any) -> list[Any]:
    """Tensors of these records: x and y."""
    if _is_pair(own):
        columns = [_tensor(one)[rows] for one in own]
    else:
        columns = [torch.stack(list(map(_tensor, one))) for one in zip(*(own[int(row)] for row in rows), strict=True)]
    return [column.to(precision) if column.is_floating_point() else column for column in columns]


def _tensor(values: Any) -> Any:
    return values if isinstance(values, torch.Tensor) else torch.as_tensor(np.asarray(values))
