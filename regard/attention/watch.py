"""Look over a model's shoulder: what each attention looked at, and from where.

Watching is a context, not an argument: outside it the fused kernels run, inside it every attention also notes its
weights. The context belongs to one thread, so two people watching one model see only their own gazes.
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from torch import Tensor, nn


@dataclass(frozen=True)
class Gaze:
    """One look of one attention module; `weights` (batch, head, query, key) sum to one over the keys."""

    where: str  # path of the module in its model, such as "decoder.0.cross"
    looks_from: str  # name of the query side, such as "target"
    looks_at: str  # name of the key side, such as "source"
    weights: Tensor


@runtime_checkable
class HasModules(Protocol):
    """Anything that can name its parts: a torch module, or a loaded model."""

    def named_modules(self) -> Iterable[tuple[str, nn.Module]]: ...


class _Notebook:
    def __init__(self, model: HasModules) -> None:
        self.names = {id(part): name for name, part in model.named_modules()}
        self.gazes: list[Gaze] = []


_open: ContextVar[_Notebook | None] = ContextVar("notebook", default=None)


def watched() -> bool:
    """Whether someone in this context wants to see the weights."""
    return _open.get() is not None


def note(part: nn.Module, looks_from: str, looks_at: str, weights: Tensor) -> None:
    """Write down one look, if anyone is watching the model that `part` belongs to."""
    notebook = _open.get()
    if notebook is not None and id(part) in notebook.names:
        notebook.gazes.append(Gaze(notebook.names[id(part)], looks_from, looks_at, weights.detach()))


@contextmanager
def watching(model: HasModules) -> Iterator[list[Gaze]]:
    """Collect every gaze of `model` inside this block."""
    with _notebook(_Notebook(model)) as notebook:
        assert notebook is not None
        yield notebook.gazes


@contextmanager
def unwatched() -> Iterator[None]:
    """Work inside this block is nobody's business: a search runs so, before its best outputs are looked at."""
    with _notebook(None):
        yield


@contextmanager
def _notebook(notebook: _Notebook | None) -> Iterator[_Notebook | None]:
    token = _open.set(notebook)
    try:
        yield notebook
    finally:
        _open.reset(token)
