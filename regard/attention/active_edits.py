"""The arithmetic of edits: what one does to weights or vectors, and whether it reached all places that it names."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import torch
from torch import Tensor, nn

from regard.attention.positions import First
from regard.base.edits import AXES, Edit
from regard.base.faults import Fault


class Spot(NamedTuple):
    """Where a tensor stands: the place of its first query or those of all, and the number of inputs in the batch."""

    first: First
    sentences: int | None

    def places(self, count: int) -> list[int]:
        """Return the places of `count` queries."""
        if isinstance(self.first, int):
            return list(range(self.first, self.first + count))
        if self.first.dim() > 1:  # rows differ: `refuse_places` has refused edits that name places
            return list(range(count))
        return [int(place) for place in self.first.tolist()]

    def sentence_of_rows(self, rows: int) -> list[int]:
        """Return the input that each of `rows` rows belongs to."""
        copies = rows // self.sentences if self.sentences and rows % self.sentences == 0 else 1
        return [row // copies for row in range(rows)]


class _Chosen(NamedTuple):
    """The reach of an edit in a tensor (row, head, query, …): indices, and the inputs and places these stand for."""

    rows: list[int]
    heads: list[int]
    queries: list[int]
    sentences: list[int]
    places: list[int]


class ActiveEdit:
    """An edit with the module it changes, and what it has reached so far in this block of editing."""

    def __init__(self, edit: Edit, module: nn.Module, head: int | None) -> None:
        self.edit, self.module, self.head = edit, module, head
        self.has_run = False
        self._longest = self._most_keys = self._sentences = 0
        self._queries, self._keys, self._rows = set[int](), set[int](), set[int]()
        self._numbers: dict[tuple[torch.dtype, torch.device], Tensor] = {}

    @property
    def name(self) -> str:
        return f"The edit '{self.edit.describe().removesuffix('.')}'"

    @property
    def _factor(self) -> float:
        """Factor of scale, or the share that move moves."""
        return 1.0 if self.edit.by is None else self.edit.by

    def weigh(self, weights: Tensor, allowed: Tensor | None, spot: Spot) -> Tensor:
        """Return weights (row, head, query, key) after this edit; `allowed` is True where a query may look."""
        chosen = self._choose(weights.shape, spot)
        self._most_keys = max(self._most_keys, weights.shape[3])
        if not chosen.rows or not chosen.queries:
            return weights
        index = _index(weights.device, chosen.rows, chosen.heads, chosen.queries)
        may = None if allowed is None else allowed.expand(weights.shape)[index]
        old = weights[index]
        self._note_keys(old.shape[-1], may)
        new = self._reweigh(old, may, chosen)
        if self.edit.do in ("zero", "scale", "replace"):
            new = self._renormalise(old, new, chosen)
        return weights.index_put(index, new)

    def change(self, values: Tensor, spot: Spot) -> Tensor:
        """Return vectors (row, place, unit), or of heads (row, head, place, unit), after this edit."""
        if values.dim() == 3:
            return self.change(values[:, None], spot)[:, 0]
        chosen, edit = self._choose(values.shape, spot), self.edit
        if edit.units is not None and max(edit.units) >= values.shape[3]:
            raise Fault(f"{self.name} is refused: there are {values.shape[3]} units, counted from 0.")
        if not chosen.rows or not chosen.queries:
            return values
        whole = len(chosen.rows) == values.shape[0] and len(chosen.queries) == values.shape[2] and edit.units is None
        if edit.do == "zero" and whole:  # the common case, a head switched off, costs one copy
            return values.index_fill(1, torch.tensor(chosen.heads, device=values.device), 0)
        units = list(range(values.shape[3])) if edit.units is None else list(edit.units)
        index = _index(values.device, chosen.rows, chosen.heads, chosen.queries, units)
        if edit.do == "zero":
            return values.index_put(index, values.new_zeros(()))
        if edit.do == "scale":
            return values.index_put(index, values[index] * self._factor)
        return values.index_put(index, self._values(values, chosen, units, edit.units))

    def refuse_unapplied(self) -> None:
        """Refuse an edit that has not reached something that it names."""
        edit = self.edit
        if not self.has_run:
            raise Fault(f"{self.name} never applied: '{edit.at}' did not run.")
        for what, named, reached, why in (
            ("row", edit.rows, self._rows, "no batch had it, counted from 0"),
            ("place", edit.queries, self._queries, f"the longest input had {self._longest} places, counted from 0"),
            ("key", edit.keys, self._keys, self._why_no_key()),
        ):
            for place in sorted({*(named or ())} - reached):
                raise Fault(f"{self.name} never reached {what} {place}: {why}.")

    def _why_no_key(self) -> str:
        return f"there were at most {self._most_keys} keys, counted from 0, and no edited query may look there"

    def _choose(self, shape: Sequence[int], spot: Spot) -> _Chosen:
        """Return what this edit reaches of a tensor of this shape, and remember that it was there."""
        edit, places, sentences = self.edit, spot.places(shape[2]), spot.sentence_of_rows(shape[0])
        self._refuse_shrunk(spot, places)
        if self.head is not None and self.head >= shape[1]:
            raise Fault(f"{self.name} is refused: there is no head {self.head + 1} among {shape[1]}.")
        self.has_run, self._longest = True, max([self._longest, *(place + 1 for place in places)])
        rows = _where(sentences, edit.rows)
        queries = _where(places, edit.queries)
        self._rows.update(sentences[row] for row in rows)
        self._queries.update(places[query] for query in queries)
        heads = list(range(shape[1])) if self.head is None else [self.head]
        return _Chosen(rows, heads, queries, [sentences[row] for row in rows], [places[query] for query in queries])

    def _refuse_shrunk(self, spot: Spot, places: Sequence[int]) -> None:
        """Refuse edits of single rows in a search that has dropped finished rows, and so counts the others anew."""
        if self.edit.rows is None or spot.sentences is None or not places:
            return
        if min(places) > 0 and spot.sentences != self._sentences:
            raise Fault(
                f"{self.name} names rows, but a search drops inputs that are done; give it one input at a time."
            )
        self._sentences = spot.sentences

    def _note_keys(self, keys: int, may: Tensor | None) -> None:
        """Remember which of the named keys an edited query can look at."""
        reachable = None if may is None else may.flatten(0, -2).any(dim=0).tolist()
        self._keys.update(key for key in self.edit.keys or () if key < keys and (reachable is None or reachable[key]))

    def _reweigh(self, old: Tensor, may: Tensor | None, chosen: _Chosen) -> Tensor:
        """Return the weights of the chosen queries after this edit, not yet renormalised."""
        edit, most = self.edit, old.shape[-1]
        keys = list(range(most)) if edit.keys is None else [key for key in edit.keys if key < most]
        here = torch.tensor(keys, dtype=torch.long, device=old.device)
        match edit.do:
            case "zero":
                return old.index_fill(3, here, 0)
            case "scale":
                return old.index_copy(3, here, old[..., here] * self._factor)
            case "force":
                self._refuse_barred(torch.ones_like(old, dtype=torch.bool), may, edit.keys or (), chosen)
                return old.new_zeros(old.shape).index_copy(3, here, self._shares(old).expand(*old.shape[:3], -1))
            case "move":
                assert edit.to is not None
                moved = old[..., here].sum(dim=-1, keepdim=True) * self._factor
                self._refuse_barred((moved > 0).expand_as(old), may, [edit.to], chosen)
                kept = old.index_copy(3, here, old[..., here] * (1 - self._factor))
                if edit.to >= most:  # nothing is moved there
                    return kept
                return kept.index_add(3, torch.tensor([edit.to], device=old.device), moved)
        values = self._values(old, chosen, keys, edit.keys).expand(*old.shape[:3], len(keys))
        wanted = old.new_zeros(old.shape).index_copy(3, here, values) > 0
        self._refuse_barred(wanted, may, keys, chosen)
        self._refuse_barred(torch.ones_like(wanted), may, self._weighted_beyond(most), chosen)
        return old.index_copy(3, here, values)

    def _weighted_beyond(self, most: int) -> list[int]:
        """Return the named keys that do not exist, but are to have some weight."""
        named, numbers = self.edit.keys or (), torch.tensor(self.edit.values, dtype=torch.float64)
        numbers = numbers.expand(*numbers.shape[:-1], len(named)) if numbers.shape[-1] == 1 else numbers
        return [key for place, key in enumerate(named) if key >= most and bool(numbers[..., place].any())]

    def _shares(self, old: Tensor) -> Tensor:
        """Return the weight of each key that gets all weight."""
        edit = self.edit
        keys = len(edit.keys or ())
        if edit.values is None:
            return old.new_full((keys,), 1 / keys)
        values = self._tensor(old).flatten()
        return values / values.sum() if edit.renormalise else values

    def _refuse_barred(self, wanted: Tensor, may: Tensor | None, keys: Iterable[int], chosen: _Chosen) -> None:
        """Refuse weight, where it is `wanted`, on keys that a query may not look at or that do not exist."""
        most = wanted.shape[-1]
        for key in keys:
            if key >= most:
                barred = wanted.any(dim=-1)
            elif may is None:
                continue
            else:
                barred = wanted[..., key] & ~may[..., key]
            if barred.any():
                place = chosen.places[int(barred.nonzero()[0, 2])]
                raise Fault(f"{self.name} is refused: query {place} may not look at key {key}.")

    def _renormalise(self, old: Tensor, new: Tensor, chosen: _Chosen) -> Tensor:
        """Return the new weights with the sums of the old ones; refuse a query that is left without any."""
        before, after = (weights.sum(dim=-1, keepdim=True) for weights in (old, new))
        empty = (before > 0) & (after <= 0)
        if empty.any():
            place = chosen.places[int(empty.nonzero()[0, 2])]
            raise Fault(f"{self.name} is refused: it leaves query {place} without any weight.")
        return new * torch.where(after > 0, before / after, 1.0) if self.edit.renormalise else new

    def _values(self, like: Tensor, chosen: _Chosen, last: Sequence[int], named: Sequence[int] | None) -> Tensor:
        """Return the given numbers for the chosen places, broadcastable to them: (row, head, query, key or unit)."""
        edit, numbers = self.edit, self._tensor(like)
        heads = list(range(len(chosen.heads)))
        axes = (
            ("row", chosen.sentences, edit.rows),
            ("head", heads, None),
            ("place", chosen.places, edit.queries),
            (AXES[edit.part][-1], last, named),
        )
        for axis, (what, places, listed) in enumerate(axes):
            size = numbers.shape[axis]
            if size == 1 and (what != "key" or listed is not None or len(last) == 1):
                continue  # the same for all
            if listed is not None and size != len(listed):
                raise Fault(f"{self.name} is refused: it has values for {size} along {what}, but names {len(listed)}.")
            where = list(places) if listed is None else [listed.index(place) for place in places]
            if listed is None:
                self._refuse_misfit(numbers, axis, what, max(where, default=-1) + 1)
            numbers = numbers.index_select(axis, torch.tensor(where, dtype=torch.long, device=like.device))
        return numbers

    def _refuse_misfit(self, numbers: Tensor, axis: int, what: str, needed: int) -> None:
        """Refuse values for too few places along an axis, or for more heads, keys or units than there are."""
        size = numbers.shape[axis]
        surplus = what not in ("row", "place") and size > needed
        if surplus and what == "key":  # a decoder's later keys do not exist yet, and weigh nothing
            surplus = bool(numbers.narrow(3, needed, size - needed).any())
        if needed > size or surplus:
            raise Fault(f"{self.name} is refused: it has values for {size} along {what}, but there are {needed}.")

    def _tensor(self, like: Tensor) -> Tensor:
        """Return the given numbers with the axes row, head, place and unit or key."""
        kind = like.dtype, like.device
        if kind not in self._numbers:
            numbers = torch.tensor(self.edit.values, dtype=torch.float64).to(like)
            numbers = numbers[(None,) * (len(AXES[self.edit.part]) - numbers.dim())]
            self._numbers[kind] = numbers if numbers.dim() == 4 else numbers[:, None]
        return self._numbers[kind]


def _where(places: Sequence[int], named: Sequence[int] | None) -> list[int]:
    """Return the indices of the places that are named."""
    wanted = None if named is None else set(named)
    return [index for index, place in enumerate(places) if wanted is None or place in wanted]


def _index(device: torch.device, *axes: list[int]) -> tuple[Tensor, ...]:
    """Return indices that select every combination of these along the first axes."""
    last = len(axes) - 1
    return tuple(
        torch.tensor(numbers, device=device)[(..., *(None,) * (last - axis))] for axis, numbers in enumerate(axes)
    )
