"""Progress of a job with steps."""

from __future__ import annotations

from typing import Any, Callable, Iterable

from trefoil import _core
from trefoil.result import Step

Progress = bool | Callable[[Step], Any]
"""True: a bar of tqdm; False: nothing; else called after each step."""


class Bar:
    """A bar of tqdm, of the terminal or the notebook."""

    def __init__(self) -> None:
        self._bar: Any = None

    def __call__(self, step: Step) -> None:
        if self._bar is None:
            from tqdm.auto import tqdm

            self._bar = tqdm(total=step.steps, unit="step")
        self._bar.update(step.step - self._bar.n)
        outsider, insider = map(_core.epsilon_text, (step.epsilon_outsider, step.epsilon_insider))
        self._bar.set_postfix_str(f"epsilon {outsider} / {insider}")
        if step.step == step.steps:
            self._bar.close()


def counted(steps: range, progress: bool) -> Iterable[int]:
    """The same, with a bar of tqdm if wanted."""
    if not progress:
        return steps
    from tqdm.auto import tqdm

    bar: Iterable[int] = tqdm(steps, unit="step")
    return bar


def teller(progress: Progress) -> Callable[[Step], Any]:
    if callable(progress):
        return progress
    if progress:
        return Bar()
    return lambda step: None
