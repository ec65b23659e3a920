"""Look over a model's shoulder: what each attention looked at, and from where.

Watching is a context, not an argument: outside it the fused kernels run, inside it every attention also notes its
weights. The context belongs to one thread, so two people watching one model see only their own gazes.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from typing import Protocol, runtime_checkable

import torch
from torch import Tensor, nn

from regard.base.faults import Fault
from regard.base.notebook import Pictured

LIMIT = 2 * 2**30  # bytes of weights that one block of watching may keep
PORTION = 2**24  # weights that are worked out at once beside a fused kernel
# What people call the attentions of a translator, by the side that looks and the side that is looked at.
SIDES = {
    "pooling": ("answer", "source"),
    "cross": ("target", "source"),
    "encoder": ("source", "source"),
    "decoder": ("target", "target"),
    "copying": ("target", "origins"),
}

Places = Sequence[int] | slice
Names = Sequence[Sequence[str]]  # of the places along a side, row by row


@dataclass(frozen=True)
class Gaze:
    """One look of one attention module; `weights` (batch, head, query, key) sum to one over the keys.

    They sum to less where a window weighs them down, and to zero where a query may look nowhere. A look along the edges
    of a graph has weights (batch, head, edge), and `edges` (2, edge) names the query and the key of each.

    `queries` and `keys` have the names of the places on both sides, row by row, such as the tokens of each text: fewer
    than places where a row is shorter than others, and none where nobody has named them.
    """

    where: str  # path of the module in its model, such as "decoder.0.cross"
    looks_from: str  # name of the query side, such as "target"
    looks_at: str  # name of the key side, such as "source"
    weights: Tensor
    edges: Tensor | None = None
    queries: Names = ()
    keys: Names = ()

    def __repr__(self) -> str:
        sizes = " × ".join(map(str, self.weights.shape))
        places = "batch, head, edge" if self.edges is not None else "batch, head, query, key"
        return f"Gaze('{self.where}', {self.looks_from} to {self.looks_at}, weights {sizes} ({places}))"

    def _repr_html_(self) -> str:
        return Gazes([self])._repr_html_()


@dataclass(frozen=True)
class Windows:
    """Squares through which a module looked at a picture, one glimpse after another and each at several scales.

    `centre` (batch, query, 2) is across and down in pixels from the upper left corner of the picture, and `extent`
    (batch, query, scale) the sides of the squares in pixels.
    """

    where: str  # path of the module in its model
    looks_from: str  # name of the side that looks, such as "glimpses"
    looks_at: str  # name of the picture's side
    centre: Tensor
    extent: Tensor


class Gazes(list[Gaze], Pictured):
    """The gazes of one block of watching in order, and the windows of models that look through windows instead."""

    def __init__(self, gazes: Iterable[Gaze] = (), windows: Iterable[Windows] = ()) -> None:
        super().__init__(gazes)
        self.windows = list(windows)


@runtime_checkable
class HasModules(Protocol):
    """Anything that can name its parts: a torch module, or a loaded model."""

    def named_modules(self) -> Iterable[tuple[str, nn.Module]]: ...


@runtime_checkable
class Looks(Protocol):
    """A part that looks from one side at another."""

    looks_from: str
    looks_at: str


def name_look(looks_from: str, looks_at: str) -> str:
    """Name the attention between two sides: "cross", or "nodes to nodes"."""
    names = {sides: name for name, sides in SIDES.items()}
    return names.get((looks_from, looks_at), f"{looks_from} to {looks_at}")


def numbered_blocks(model: HasModules) -> dict[str, tuple[str, int]]:
    """Map the path of each attention to its side and the number of its block there, counted from 1."""
    found: dict[str, tuple[str, int]] = {}
    for where, part in model.named_modules():
        if isinstance(part, Looks):
            side = name_look(part.looks_from, part.looks_at)
            found[where] = side, 1 + sum(side == other for other, _ in found.values())
    return found


class _Notebook:
    """Record of one block of watching: what it wants to see, and what it has seen so far."""

    def __init__(self, names: dict[int, str], rows: Places | None, queries: Places | None, limit: int) -> None:
        self.names, self.rows, self.queries, self.limit = names, rows, queries, limit
        self.gazes = Gazes()
        self.places: list[tuple[list[int], list[int]]] = []  # of each gaze, which rows and queries were kept

    def choose(self, part: nn.Module, shape: Sequence[int], size: int) -> tuple[list[int], list[int]]:
        """Which rows and queries to keep of weights of this shape, `size` bytes each; too many are refused."""
        rows, queries = _choose(self.rows, shape[0]), _choose(self.queries, shape[2])
        self.refuse_excess(
            part, {"rows": len(rows), "heads": shape[1], "queries": len(queries), "keys": shape[3]}, size
        )
        return rows, queries

    def refuse_excess(self, part: nn.Module, sizes: dict[str, int], size: int) -> None:
        """Refuse weights that are too many to keep: the product of `sizes`, of `size` bytes each."""
        asked = math.prod(sizes.values()) * size
        kept = sum(gaze.weights.numel() * gaze.weights.element_size() for gaze in self.gazes)
        if asked + kept > self.limit:
            name = self.names[id(part)] or type(part).__name__
            counts = ", ".join(f"{count} {what}" for what, count in sizes.items())
            raise Fault(
                f"Watching '{name}' would keep {_bytes(asked)} of weights ({counts}) beside the {_bytes(kept)} kept"
                f" before, but the limit is {_bytes(self.limit)}: ask for less with where=, rows= or queries=, or raise"
                " limit=."
            )

    def write(
        self,
        part: nn.Module,
        looks_from: str,
        looks_at: str,
        weights: Tensor,
        places: tuple[list[int], list[int]],
        edges: Tensor | None = None,
    ) -> None:
        if weights.shape[0] and weights.shape[2]:
            self.gazes.append(Gaze(self.names[id(part)], looks_from, looks_at, weights.detach(), edges))
            self.places.append(places)


_open: ContextVar[_Notebook | None] = ContextVar("notebook", default=None)


def is_watched(part: nn.Module | None = None) -> bool:
    """Return True if someone in this context watches any weights, or those of `part`."""
    notebook = _open.get()
    return notebook is not None and (part is None or id(part) in notebook.names)


def afford(part: nn.Module, shape: Sequence[int], size: int) -> None:
    """Refuse a look whose weights, of this shape and `size` bytes each, are more than a watcher may keep."""
    notebook = _open.get()
    if notebook is not None and id(part) in notebook.names:
        notebook.choose(part, shape, size)


def note(part: nn.Module, looks_from: str, looks_at: str, weights: Tensor) -> None:
    """Write down one look (batch, head, query, key), if anyone is watching the model that `part` belongs to."""
    notebook = _open.get()
    if notebook is None or id(part) not in notebook.names:
        return
    rows, queries = notebook.choose(part, weights.shape, weights.element_size())
    if rows != list(range(weights.shape[0])) or queries != list(range(weights.shape[2])):
        weights = weights.detach()[rows][:, :, queries]
    notebook.write(part, looks_from, looks_at, weights, (rows, queries))


def note_edges(part: nn.Module, looks_from: str, looks_at: str, weights: Tensor, edges: Tensor, queries: int) -> None:
    """Record attention along edges: weights (batch, head, edge), edges (2, edge) from query to key."""
    notebook = _open.get()
    if notebook is None or id(part) not in notebook.names:
        return
    rows = _choose(notebook.rows, weights.shape[0])
    wanted = torch.zeros(queries, dtype=torch.bool, device=edges.device)
    wanted[_choose(notebook.queries, queries)] = True
    kept = wanted[edges[0]].nonzero().squeeze(1)
    sizes = {"rows": len(rows), "heads": weights.shape[1], "edges": len(kept)}
    notebook.refuse_excess(part, sizes, weights.element_size())
    every = list(range(queries))  # edges name their queries among all of them
    notebook.write(part, looks_from, looks_at, weights.detach()[rows][:, :, kept], (rows, every), edges[:, kept])


def note_window(part: nn.Module, looks_from: str, looks_at: str, centre: Tensor, extent: Tensor) -> None:
    """Write down where `part` looked through windows, if anyone is watching; they are few numbers, without a limit."""
    notebook = _open.get()
    if notebook is None or id(part) not in notebook.names:
        return
    rows, queries = _choose(notebook.rows, centre.shape[0]), _choose(notebook.queries, centre.shape[1])
    if rows and queries:
        centre, extent = (tensor.detach()[rows][:, queries] for tensor in (centre, extent))
        notebook.gazes.windows.append(Windows(notebook.names[id(part)], looks_from, looks_at, centre, extent))


def note_beside(
    part: nn.Module,
    looks_from: str,
    looks_at: str,
    shape: Sequence[int],
    size: int,
    weigh: Callable[[list[int], list[int]], Tensor],
) -> None:
    """Write down a look that a fused kernel made, of which nobody has the weights yet.

    `shape` is theirs, `size` the bytes of one, and `weigh` works them out for some rows and queries. It is asked for
    what is wanted only, a portion at a time and within the limit: a long document can be watched in part.
    """
    notebook = _open.get()
    if notebook is None or id(part) not in notebook.names:
        return
    rows, queries = notebook.choose(part, shape, size)
    if not rows or not queries:
        return
    at_once = max(1, PORTION // max(1, len(rows) * shape[1] * shape[3]))
    with torch.no_grad():
        portions = [weigh(rows, queries[first : first + at_once]) for first in range(0, len(queries), at_once)]
        notebook.write(part, looks_from, looks_at, torch.cat(portions, dim=2), (rows, queries))


def count_gazes() -> int:
    """Number of gazes recorded so far in this block of watching."""
    notebook = _open.get()
    return len(notebook.gazes) if notebook else 0


def name_places(since: int, names: Callable[[str, str], Names]) -> None:
    """Give the gazes that were noted after the first `since` the names of the places on both sides.

    `names` gives them row by row for a side, and the side opposite to it: within one side a place may be named by what
    is read there, and otherwise by what is written. A single row holds for all.
    """
    notebook = _open.get()
    if notebook is None:
        return
    for place in range(since, len(notebook.gazes)):
        gaze, (rows, queries) = notebook.gazes[place], notebook.places[place]
        looking = _of_rows(names(gaze.looks_from, gaze.looks_at), rows)
        looked_at = _of_rows(names(gaze.looks_at, gaze.looks_from), rows)
        kept = [[row[query] for query in queries if query < len(row)] for row in looking]
        notebook.gazes[place] = replace(gaze, queries=kept, keys=looked_at)


def _of_rows(names: Names, rows: Sequence[int]) -> Names:
    return [names[0]] * len(rows) if len(names) == 1 else [names[row] for row in rows] if names else ()


@contextmanager
def watching(
    model: HasModules,
    where: str | Sequence[str] | None = None,
    rows: Places | None = None,
    queries: Places | None = None,
    limit: int = LIMIT,
) -> Iterator[Gazes]:
    """Collect the gazes of `model` inside this block, and its windows: all of them, or those that are asked for.

    - `where`: names of parts, or patterns such as "decoder.*.cross"; what lies inside a part belongs to it.
    - `rows`, `queries`: which rows of a batch and which places that look, as numbers or a slice; negative ones count
      from the end, and those that a look does not have are left out of it.
    - `limit`: the most bytes of weights that are kept; one look more is a fault that says how to ask for less.
    """
    with _notebook(_Notebook(_find_parts(model, where), rows, queries, limit)) as notebook:
        assert notebook is not None
        yield notebook.gazes


@contextmanager
def without_watching() -> Iterator[None]:
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


def _find_parts(model: HasModules, where: str | Sequence[str] | None) -> dict[int, str]:
    """The parts that are watched, by identity; a pattern that fits none is refused."""
    parts = list(model.named_modules())
    if where is None:
        return {id(part): name for name, part in parts}
    named: dict[int, str] = {}
    for pattern in [where] if isinstance(where, str) else where:
        fits = {id(part): name for name, part in parts if _fits(name, pattern)}
        if not fits:
            looking = ", ".join(f"'{name}'" for name, part in parts if isinstance(part, Looks))
            raise Fault(f"No part of the model is called '{pattern}'; those that look are {looking or 'none'}.")
        named |= fits
    return named


def _fits(name: str, pattern: str) -> bool:
    return fnmatchcase(name, pattern) or fnmatchcase(name, f"{pattern}.*")


def _choose(places: Places | None, count: int) -> list[int]:
    """Those of `count` places that are asked for."""
    if places is None:
        return list(range(count))
    if isinstance(places, slice):
        return list(range(count))[places]
    return [place % count for place in places if -count <= place < count]


def _bytes(count: int) -> str:
    for power, unit in ((3, "GiB"), (2, "MiB"), (1, "KiB")):
        if count >= 1024**power:
            return f"{count / 1024**power:,.1f} {unit}"
    return f"{count} bytes"
