"""Watching: record what each attention looked at, and from where.

Watching is a context, not an argument: outside it only the fused kernels run; inside it every attention also records
its weights. The context belongs to one thread, so two users watching one model see only their own gazes.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from typing import Protocol, runtime_checkable

import torch
from torch import Tensor, nn

from regard.base.faults import Fault
from regard.base.notebook import Pictured

LIMIT = 2 * 2**30  # bytes of weights that one block of watching may keep
PORTION = 2**24  # weights computed at once next to a fused kernel
# Names for the attentions of a translator, by the side that looks and the side that is looked at.
SIDES = {
    "pooling": ("answer", "source"),
    "cross": ("target", "source"),
    "encoder": ("source", "source"),
    "decoder": ("target", "target"),
    "copying": ("target", "origins"),
}

PARTS = ("scores", "mask", "queries", "keys", "values", "outputs")  # of a look, besides its weights
_AS_LARGE_AS_WEIGHTS = ("scores", "mask")

Places = Sequence[int] | slice
Names = Sequence[Sequence[str]]  # names of the places along a side, row by row
# Functions that compute the parts of a look by name, for some rows and queries.
PartMakers = Callable[[list[int], list[int]], Mapping[str, Callable[[], Tensor]]]


@dataclass(frozen=True)
class Gaze:
    """One look of one attention module; `weights` (batch, head, query, key) sum to one over the keys.

    They sum to less where a window scales them down, and to zero where a query may look nowhere. A look along the edges
    of a graph has weights (batch, head, edge), and `edges` (2, edge) holds the query and the key of each.

    `queries` and `keys` hold the names of the places on both sides, row by row, such as the tokens of each text. A row
    shorter than the others has fewer names than places; unnamed sides have none.

    `parts` holds what `watching` was asked for besides the weights, by name (`PARTS`). It is empty where an attention
    compares no queries with keys.
    """

    where: str  # path of the module in its model, such as "decoder.0.cross"
    looks_from: str  # name of the query side, such as "target"
    looks_at: str  # name of the key side, such as "source"
    weights: Tensor
    edges: Tensor | None = None
    queries: Names = ()
    keys: Names = ()
    parts: Mapping[str, Tensor] = field(default_factory=dict)

    def __repr__(self) -> str:
        sizes = " × ".join(map(str, self.weights.shape))
        places = "batch, head, edge" if self.edges is not None else "batch, head, query, key"
        return f"Gaze('{self.where}', {self.looks_from} to {self.looks_at}, weights {sizes} ({places}))"

    def _repr_html_(self) -> str:
        return Gazes([self])._repr_html_()


@dataclass(frozen=True)
class Windows:
    """Squares through which a module looked at a picture, one glimpse after another, each at several scales.

    `centre` (batch, query, 2) is across and down in pixels from the picture's upper left corner; `extent` (batch,
    query, scale) holds the sides of the squares in pixels.
    """

    where: str  # path of the module in its model
    looks_from: str  # name of the side that looks, such as "glimpses"
    looks_at: str  # name of the picture's side
    centre: Tensor
    extent: Tensor


class Gazes(list[Gaze], Pictured):
    """The gazes of one block of watching, in order, and the windows of models that look through windows."""

    def __init__(self, gazes: Iterable[Gaze] = (), windows: Iterable[Windows] = ()) -> None:
        super().__init__(gazes)
        self.windows = list(windows)


@runtime_checkable
class HasModules(Protocol):
    """An object that can list its named modules: a torch module or a loaded model."""

    def named_modules(self) -> Iterable[tuple[str, nn.Module]]: ...


@runtime_checkable
class Looks(Protocol):
    """A module that looks from one side at another."""

    looks_from: str
    looks_at: str


def name_look(looks_from: str, looks_at: str) -> str:
    """Name the attention between two sides: "cross", or "nodes to nodes"."""
    names = {sides: name for name, sides in SIDES.items()}
    return names.get((looks_from, looks_at), f"{looks_from} to {looks_at}")


def numbered_blocks(model: HasModules) -> dict[str, tuple[str, int]]:
    """Map the path of each attention to its side and the number of its block there, counted from 1."""
    blocks: dict[str, tuple[str, int]] = {}
    for where, part in model.named_modules():
        if hasattr(part, "looks_from") and hasattr(part, "looks_at"):  # isinstance with Looks takes many times as long
            side = name_look(str(part.looks_from), str(part.looks_at))
            blocks[where] = side, 1 + sum(side == other for other, _ in blocks.values())
    return blocks


class _Notebook:
    """Record of one block of watching: what to keep, and what was seen so far."""

    def __init__(
        self,
        names: dict[int, str],
        rows: Places | None,
        queries: Places | None,
        limit: int,
        parts: frozenset[str] = frozenset(),
    ) -> None:
        self.names, self.rows, self.queries, self.limit, self.parts = names, rows, queries, limit, parts
        self.gazes = Gazes()
        self.places: list[tuple[list[int], list[int]]] = []  # the rows and queries kept of each gaze

    def choose(self, part: nn.Module, shape: Sequence[int], size: int) -> tuple[list[int], list[int]]:
        """Return the rows and queries to keep of weights of this shape, `size` bytes each; refuse too many."""
        rows, queries = _choose(self.rows, shape[0]), _choose(self.queries, shape[2])
        self.refuse_excess(
            part, {"rows": len(rows), "heads": shape[1], "queries": len(queries), "keys": shape[3]}, size
        )
        return rows, queries

    def refuse_excess(self, part: nn.Module, sizes: dict[str, int], size: int) -> None:
        """Refuse weights that would exceed the limit: the product of `sizes`, of `size` bytes each."""
        new = math.prod(sizes.values()) * size * (1 + len(self.parts.intersection(_AS_LARGE_AS_WEIGHTS)))
        old = sum(kept.nbytes for gaze in self.gazes for kept in (gaze.weights, *gaze.parts.values()))
        if new + old > self.limit:
            name = self.names[id(part)] or type(part).__name__
            counts = ", ".join(f"{count} {what}" for what, count in sizes.items())
            kept, less = ("weights and parts", ", parts=") if self.parts else ("weights", "")
            raise Fault(
                f"Watching '{name}' would keep {_bytes(new)} of {kept} ({counts}) on top of {_bytes(old)}, but the"
                f" limit is {_bytes(self.limit)}. Ask for less with where={less}, rows= or queries=, or raise limit=."
            )

    def make_parts(self, makers: PartMakers | None, places: tuple[list[int], list[int]]) -> dict[str, Tensor]:
        """Compute the parts that were asked for, at these rows and queries."""
        if makers is None or not self.parts:
            return {}
        by_name = makers(*places)
        return {name: by_name[name]().detach() for name in PARTS if name in self.parts and name in by_name}

    def write(
        self,
        part: nn.Module,
        looks_from: str,
        looks_at: str,
        weights: Tensor,
        places: tuple[list[int], list[int]],
        edges: Tensor | None = None,
        makers: PartMakers | None = None,
    ) -> None:
        if weights.shape[0] and weights.shape[2]:
            parts = self.make_parts(makers, places)
            name = self.names[id(part)]
            self.gazes.append(Gaze(name, looks_from, looks_at, weights.detach(), edges, parts=parts))
            self.places.append(places)


_open: ContextVar[_Notebook | None] = ContextVar("notebook", default=None)


def is_watched(part: nn.Module | None = None) -> bool:
    """Return True if this context watches any weights, or those of `part`."""
    notebook = _open.get()
    return notebook is not None and (part is None or id(part) in notebook.names)


def wants_parts(part: nn.Module) -> bool:
    """Return True if this context watches `part` and asks for more than its weights."""
    notebook = _open.get()
    return notebook is not None and bool(notebook.parts) and id(part) in notebook.names


def afford(part: nn.Module, shape: Sequence[int], size: int) -> None:
    """Refuse a look whose weights, of this shape and `size` bytes each, exceed the watcher's limit."""
    notebook = _open.get()
    if notebook is not None and id(part) in notebook.names:
        notebook.choose(part, shape, size)


def note(part: nn.Module, looks_from: str, looks_at: str, weights: Tensor, makers: PartMakers | None = None) -> None:
    """Record one look (batch, head, query, key), if the model that `part` belongs to is being watched.

    `makers` computes its parts, for watchers that ask for them.
    """
    notebook = _open.get()
    if notebook is None or id(part) not in notebook.names:
        return
    rows, queries = notebook.choose(part, weights.shape, weights.element_size())
    if rows != list(range(weights.shape[0])) or queries != list(range(weights.shape[2])):
        weights = weights.detach()[rows][:, :, queries]
    notebook.write(part, looks_from, looks_at, weights, (rows, queries), makers=makers)


def note_edges(part: nn.Module, looks_from: str, looks_at: str, weights: Tensor, edges: Tensor, queries: int) -> None:
    """Record attention along edges: weights (batch, head, edge), edges (2, edge) from query to key."""
    notebook = _open.get()
    if notebook is None or id(part) not in notebook.names:
        return
    rows = _choose(notebook.rows, weights.shape[0])
    is_chosen = torch.zeros(queries, dtype=torch.bool, device=edges.device)
    is_chosen[_choose(notebook.queries, queries)] = True
    chosen = is_chosen[edges[0]].nonzero().squeeze(1)
    sizes = {"rows": len(rows), "heads": weights.shape[1], "edges": len(chosen)}
    notebook.refuse_excess(part, sizes, weights.element_size())
    all_queries = list(range(queries))  # edges hold query numbers among all queries
    notebook.write(
        part, looks_from, looks_at, weights.detach()[rows][:, :, chosen], (rows, all_queries), edges[:, chosen]
    )


def note_window(part: nn.Module, looks_from: str, looks_at: str, centre: Tensor, extent: Tensor) -> None:
    """Record where `part` looked through windows, if watched; windows are few numbers and have no limit."""
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
    makers: PartMakers | None = None,
) -> None:
    """Record a look made by a fused kernel, which does not return its weights.

    `shape` is the shape of the weights, `size` the bytes of one, and `weigh` computes them for some rows and queries.
    It is called only for the places to keep, a portion at a time and within the limit, so a long document can be
    watched in part.
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
        notebook.write(part, looks_from, looks_at, torch.cat(portions, dim=2), (rows, queries), makers=makers)


def count_gazes() -> int:
    """Number of gazes recorded so far in this block of watching."""
    notebook = _open.get()
    return len(notebook.gazes) if notebook else 0


def name_places(since: int, names: Callable[[str, str], Names]) -> None:
    """Name the places on both sides of the gazes recorded after the first `since`.

    `names(side, opposite)` returns the names of a side, row by row; a single row holds for all. The opposite side
    matters because a place within one side is named by what is read there, and otherwise by what is written there.
    """
    notebook = _open.get()
    if notebook is None:
        return
    for place in range(since, len(notebook.gazes)):
        gaze, (rows, queries) = notebook.gazes[place], notebook.places[place]
        query_names = _of_rows(names(gaze.looks_from, gaze.looks_at), rows)
        key_names = _of_rows(names(gaze.looks_at, gaze.looks_from), rows)
        chosen = [[row[query] for query in queries if query < len(row)] for row in query_names]
        notebook.gazes[place] = replace(gaze, queries=chosen, keys=key_names)


def _of_rows(names: Names, rows: Sequence[int]) -> Names:
    return [names[0]] * len(rows) if len(names) == 1 else [names[row] for row in rows] if names else ()


@contextmanager
def watching(
    model: HasModules,
    where: str | Sequence[str] | None = None,
    rows: Places | None = None,
    queries: Places | None = None,
    limit: int = LIMIT,
    parts: str | Sequence[str] = (),
) -> Iterator[Gazes]:
    """Collect the gazes of `model` inside this block, and its windows: all of them, or a selection.
    Of nested blocks only the innermost collects.

    - `where`: names of modules, or patterns such as "decoder.*.cross"; submodules are included.
    - `rows`, `queries`: the rows of a batch and the looking places to keep, as numbers or a slice; negative numbers
      count from the end, and numbers out of range are ignored.
    - `limit`: the most bytes of weights to keep; exceeding it is a fault that says how to ask for less.
    - `parts`: what to record besides the weights, in `gaze.parts` by name: "scores" (before the mask), "mask" (added to
      the scores: 0 where a query may look, -inf elsewhere, and any position bias), "queries", "keys" (as compared with
      queries), "values", "outputs" (the mixed values, before W_O). All are (batch, head, place, …).
    """
    with _notebook(_Notebook(_find_parts(model, where), rows, queries, limit, _named_parts(parts))) as notebook:
        assert notebook is not None
        yield notebook.gazes


@contextmanager
def without_watching() -> Iterator[None]:
    """Record nothing inside this block: a search uses it before its best outputs are looked at."""
    with _notebook(None):
        yield


@contextmanager
def watching_steps(look: nn.Module | None) -> Iterator[Gazes]:
    """Record no gazes inside this block, in which `look` looks step by step; one gaze is noted afterwards.

    The result collects the steps, but only if a watcher wants parts of `look`; `join_steps` joins them.
    """
    outer = _open.get()
    inner = None
    if look is not None and outer is not None and wants_parts(look):
        inner = _Notebook({id(look): outer.names[id(look)]}, None, None, outer.limit, outer.parts)
    with _notebook(inner):
        yield Gazes() if inner is None else inner.gazes


@contextmanager
def _notebook(notebook: _Notebook | None) -> Iterator[_Notebook | None]:
    token = _open.set(notebook)
    try:
        yield notebook
    finally:
        _open.reset(token)


def _named_parts(parts: str | Sequence[str]) -> frozenset[str]:
    """Return the names of parts; refuse a name that there is not."""
    names = frozenset([parts] if isinstance(parts, str) else parts)
    for name in sorted(names.difference(PARTS)):
        raise Fault(f"A look has no part '{name}'; parts= takes some of {', '.join(PARTS)}.")
    return names


def _find_parts(model: HasModules, where: str | Sequence[str] | None) -> dict[int, str]:
    """Return the watched modules by identity; refuse a pattern that matches none."""
    parts = list(model.named_modules())
    if where is None:
        return {id(part): name for name, part in parts}
    named: dict[int, str] = {}
    for pattern in [where] if isinstance(where, str) else where:
        matches = {id(part): name for name, part in parts if _matches(name, pattern)}
        if not matches:
            attentions = ", ".join(f"'{name}'" for name, part in parts if isinstance(part, Looks))
            raise Fault(f"No part of the model is called '{pattern}'. Its attentions are {attentions or 'none'}.")
        named |= matches
    return named


def _matches(name: str, pattern: str) -> bool:
    return fnmatchcase(name, pattern) or fnmatchcase(name, f"{pattern}.*")


def _choose(places: Places | None, count: int) -> list[int]:
    """Return the requested ones of `count` places."""
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
