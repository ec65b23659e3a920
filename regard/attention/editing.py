"""Editing: change weights, heads and outputs inside a model while it runs, by place.

Editing is a context, the twin of `watching`: it belongs to one thread, and outside it nothing is looked up, kept or
slower. Paths that do not run a model's modules one by one ask `is_observed` and leave the work to the plain path.
Attention calls `edited_weights` and `edited_units` itself; the output of any other module is edited by a hook that is
there until the block ends and acts only inside it.
"""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from typing import Any, Protocol, runtime_checkable

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import PackedSequence, pad_packed_sequence

from regard.attention.active_edits import ActiveEdit, Spot
from regard.attention.positions import First
from regard.attention.watch import HasModules, is_watched, numbered_blocks
from regard.base.edits import Edit, Edits, Part, as_edits
from regard.base.faults import Fault

__all__ = ["Edit", "Edits", "editing", "is_edited", "is_observed", "standing"]


@dataclass(frozen=True)
class _Plan:
    """Edits of one block of editing, and where the places of the pass under way begin."""

    edits: tuple[ActiveEdit, ...]
    first: int | None = None  # place of the first token of a step; None: a module reads from place 0
    sentences: int | None = None  # inputs in the batch, of which each may have several rows in a beam
    places: Tensor | None = None  # of all tokens, where they do not follow the first one by one

    def of(self, part: nn.Module, kind: Part) -> Iterator[ActiveEdit]:
        return (edit for edit in self.edits if edit.module is part and edit.edit.part == kind)


_open: ContextVar[_Plan | None] = ContextVar("edits", default=None)


@runtime_checkable
class Fingerprinted(Protocol):
    """A loaded model, which knows the checksum of its weights."""

    @property
    def fingerprint(self) -> str | None: ...


def is_edited(part: nn.Module | None = None, kind: Part | None = None) -> bool:
    """Return True if this context edits anything, anything of `part`, or that `kind` of part of it."""
    plan = _open.get()
    if plan is None or part is None:
        return plan is not None
    return any(edit.module is part and kind in (None, edit.edit.part) for edit in plan.edits)


def is_observed() -> bool:
    """Return True if this context watches or edits anything, so that every module has to run by itself."""
    return is_watched() or _open.get() is not None


@contextmanager
def editing(model: HasModules, edits: Edit | Sequence[Edit] | Edits) -> Iterator[None]:
    """Run `model` with these edits inside this block; without any edit, it runs as always.

    A block inside another one adds its edits after those of the outer block. An edit of something that does not exist
    is refused, at the latest when the block ends: it names a place that no input had.
    """
    record = as_edits(edits)
    _refuse_other_model(model, record)
    if not record.edits:
        yield
        return
    modules = _modules_of(model)
    new = tuple(_activate(modules, edit) for edit in record.edits)
    outer = _open.get()
    with ExitStack() as hooks:
        for edit in new:
            if edit.edit.part == "output":
                handle = edit.module.register_forward_hook(_hook_of(edit))
                hooks.callback(handle.remove)
        with _opened(_Plan((*(outer.edits if outer else ()), *new))):
            yield
    for edit in new:
        edit.refuse_unapplied()


@contextmanager
def without_editing() -> Iterator[None]:
    """Edit nothing inside this block."""
    with _opened(None):
        yield


@contextmanager
def standing(first: First, sentences: int | None = None) -> Iterator[None]:
    """Say where the outputs of modules inside this block stand: `first` is the place of the first one, or of all.

    A decoder that writes step by step calls it in each step. `sentences` counts the inputs of the batch; each of them
    has as many rows as the others.
    """
    plan = _open.get()
    if plan is None:
        yield
        return
    place, places = (first, None) if isinstance(first, int) else (int(first.flatten()[0]), first)
    with _opened(replace(plan, first=place, sentences=sentences, places=places)):
        yield


def side_by_side(first: First, time: int, copies: int, device: torch.device) -> First:
    """Return the places of queries when `copies` rows of a sentence become its queries, each with `time` places."""
    if _open.get() is None or copies == 1 or not isinstance(first, int):
        return first
    return torch.arange(first, first + time, device=device).repeat(copies)


def refuse_places(reason: str) -> None:
    """Refuse edits that name places or rows, where a model cannot tell them; `reason` is a clause that says why."""
    plan = _open.get()
    for edit in plan.edits if plan else ():
        if any(places is not None for places in (edit.edit.queries, edit.edit.keys, edit.edit.rows)):
            raise Fault(f"{edit.name} names places, but {reason}.")


def place_of_step(part: nn.Module, kind: Part) -> int:
    """Return the place of the step under way, as `standing` says it; without it, refuse edits that name places."""
    plan = _open.get()
    if plan is None or plan.first is not None:
        return 0 if plan is None or plan.first is None else plan.first
    for edit in plan.of(part, kind):
        if edit.edit.queries is not None:
            raise Fault(
                f"{edit.name} names places, but '{edit.edit.at}' continues from a state here, and nothing says how many"
                " steps were before; edit all places."
            )
    return 0


def named_queries(part: nn.Module) -> set[int] | None:
    """Return the queries that edits of the weights of `part` name, or None if one of them holds for all queries."""
    plan = _open.get()
    named = [edit.edit.queries for edit in plan.of(part, "weights")] if plan else []
    return None if None in named else {query for queries in named for query in queries or ()}


def edited_weights(part: nn.Module, weights: Tensor, allowed: Tensor | None = None, first: First = 0) -> Tensor:
    """Return attention weights (batch, head, query, key) as edited.

    `allowed` is True where a query may look, and broadcasts to the weights; `first` is the place of the first query, or
    the places of all of them.
    """
    plan = _open.get()
    if plan is not None:
        spot = Spot(first, plan.sentences)
        for edit in plan.of(part, "weights"):
            weights = edit.weigh(weights, allowed, spot)
    return weights


def edited_units(part: nn.Module, kind: Part, values: Tensor, first: First = 0) -> Tensor:
    """Return vectors (batch, place, unit) or, of heads, (batch, head, place, unit) as edited."""
    plan = _open.get()
    if plan is not None:
        spot = Spot(first, plan.sentences)
        for edit in plan.of(part, kind):
            values = edit.change(values, spot)
    return values


@contextmanager
def _opened(plan: _Plan | None) -> Iterator[None]:
    token = _open.set(plan)
    try:
        yield
    finally:
        _open.reset(token)


def _hook_of(edit: ActiveEdit) -> Any:
    """Return a hook that edits the output of a module in contexts that have this edit."""

    def hook(module: nn.Module, inputs: Any, output: Any) -> Any:
        plan = _open.get()
        if plan is None or edit not in plan.edits:
            return None
        if isinstance(output, Tensor):
            return _edit_output(edit, output, plan)
        if isinstance(output, tuple) and output and isinstance(output[0], PackedSequence):
            return _edit_packed(edit, output[0], plan), *output[1:]
        if isinstance(output, tuple) and output and isinstance(output[0], Tensor):
            new = _edit_output(edit, output[0], plan), *output[1:]
            return type(output)._make(new) if hasattr(output, "_make") else new
        raise Fault(f"{edit.name} cannot apply: the module's output is not a tensor.")

    return hook


def _edit_packed(edit: ActiveEdit, output: PackedSequence, plan: _Plan) -> PackedSequence:
    """Return the outputs of a recurrent layer for rows of different lengths as edited."""
    padded, _ = pad_packed_sequence(output, batch_first=True)
    edited = _edit_output(edit, padded, plan)
    ordered = edited if output.sorted_indices is None else edited[output.sorted_indices]
    places = [ordered[:rows, place] for place, rows in enumerate(output.batch_sizes.tolist())]
    return output._replace(data=torch.cat(places))


def _edit_output(edit: ActiveEdit, output: Tensor, plan: _Plan) -> Tensor:
    if output.dim() == 3:
        first: First = plan.first or 0
        if plan.places is not None and len(plan.places) == output.shape[1]:
            first = plan.places
        return edit.change(output, Spot(first, plan.sentences))
    if output.dim() != 2:
        raise Fault(
            f"{edit.name} cannot apply: the module's output has {output.dim()} axes instead of row, place and unit."
        )
    if plan.first is None and edit.edit.queries is not None:
        raise Fault(f"{edit.name} names places, but the module gives one vector a row, without a place.")
    return edit.change(output[:, None], Spot(plan.first or 0, plan.sentences))[:, 0]


def _refuse_other_model(model: HasModules, edits: Edits) -> None:
    if edits.model is None:
        return
    if not isinstance(model, Fingerprinted):
        raise Fault("The record of edits belongs to a model by its checksum; give editing the model that load returns.")
    if model.fingerprint != edits.model:
        raise Fault("The record of edits belongs to another model: the checksum of its weights is different.")


class _Modules(dict[str, nn.Module]):
    """Every module of a model under each of its paths: one walk through the model serves all edits."""

    def named_modules(self) -> Iterator[tuple[str, nn.Module]]:
        """Yield each module once, under its first path."""
        seen: set[int] = set()
        for path, module in self.items():
            if id(module) not in seen:
                seen.add(id(module))
                yield path, module


def _modules_of(model: HasModules) -> _Modules:
    """Return the modules of a model; refuse one without any."""
    for name, whole in model.named_modules():
        if not name:
            return _Modules(whole.named_modules(remove_duplicate=False))
    raise Fault("This model has no modules, so nothing in it can be edited.")


def _activate(modules: _Modules, edit: Edit) -> ActiveEdit:
    """Find the module of an edit; refuse one that the model does not have."""
    by_path = edit.part == "output" or (edit.part in ("state", "window") and edit.at in modules)
    where, head = (edit.at, None) if by_path else _attention_at(modules, edit)
    if where not in modules:
        raise Fault(f"The model has no module '{edit.at}'; its parts are {_names(n for n in modules if '.' not in n)}.")
    module = modules[where]
    if edit.part == "output" and (edit.queries is not None or edit.rows is not None or len(edit.shape) > 1):
        for reason in _reasons_against_places(modules, where):
            raise Fault(f"The edit of '{edit.at}' names places or rows, but {reason}; name units alone.")
    _refuse_shared(modules, module)
    if edit.part == "output":
        _refuse_uncalled(modules, where)
    if edit.part != "output" and edit.part not in _parts_of(module):
        raise Fault(getattr(module, "not_edited", None) or f"The {edit.part} of '{edit.at}' cannot be edited.")
    return ActiveEdit(edit, module, head)


def _refuse_shared(modules: dict[str, nn.Module], module: nn.Module) -> None:
    """Refuse a module that the model uses under two names, since an edit would reach both."""
    names = [name for name, other in modules.items() if other is module]
    if len(names) > 1:
        raise Fault(f"{_names(names)} are one module, so an edit would reach all of them; edit what reads its output.")


def _reasons_against_places(modules: dict[str, nn.Module], where: str) -> Iterator[str]:
    """Yield why the outputs of a module have no axis of places, as far as modules around it say so."""
    for count in range(where.count(".") + 2):
        around = modules.get(".".join(where.split(".")[:count]))
        if isinstance(reason := getattr(around, "outputs_lack_places", None), str):
            yield reason


def _parts_of(module: nn.Module) -> tuple[Part, ...]:
    """Return the parts of a module that can be edited besides its output."""
    parts: tuple[Part, ...] = getattr(module, "edits", ())
    return (*parts, "state") if isinstance(module, nn.RNNBase | nn.RNNCellBase) else parts


def _refuse_uncalled(modules: dict[str, nn.Module], where: str) -> None:
    """Refuse modules that a decoder does not call in its steps, as its attribute `uncalled_in_steps` says."""
    parts = where.split(".")
    for count, part in enumerate(parts):
        if part in getattr(modules.get(".".join(parts[:count])), "uncalled_in_steps", ()):
            raise Fault(f"The output of '{where}' cannot be edited: the decoder computes it in steps; edit a state.")


def _attention_at(modules: _Modules, edit: Edit) -> tuple[str, int | None]:
    """Return the path of the attention that an edit names, and its head counted from 0, if it names one."""
    blocks = numbered_blocks(modules)
    if not blocks:
        raise Fault(f"This model has no attention, so there is nothing called '{edit.at}' to edit.")
    by_name = {path: path for path in blocks}
    by_name |= {f"{side}.{block}": path for path, (side, block) in blocks.items()}
    if len({side for side, _ in blocks.values()}) == 1:
        by_name |= {str(block): path for path, (_, block) in blocks.items()}
    at, _, last = edit.at.rpartition(".")
    if edit.at in by_name:
        return by_name[edit.at], None
    if at in by_name and last.isdecimal() and len(last) < 9:
        return by_name[at], _head(modules, by_name[at], int(last), edit)
    sides = {side: sum(side == other for other, _ in blocks.values()) for side, _ in blocks.values()}
    counts = ", ".join(f"{side}.1" + (f" to {side}.{count}" if count > 1 else "") for side, count in sides.items())
    example = f"{next(iter(sides))}.1.1"
    raise Fault(f"The model has no attention '{edit.at}'; it has {counts}, and head 1 of the first is '{example}'.")


def _head(modules: dict[str, nn.Module], path: str, number: int, edit: Edit) -> int:
    """Return a head counted from 0; refuse one that does not exist, as far as the module around knows."""
    count = getattr(modules.get(path.rpartition(".")[0]), "heads", None)
    if number < 1 or (isinstance(count, int) and number > count):
        has = f"; it has {count}" if isinstance(count, int) else ""
        raise Fault(f"There is no head {number} in '{edit.at.rpartition('.')[0]}'{has}, counted from 1.")
    return number - 1


def _names(names: Iterable[str]) -> str:
    return ", ".join(f"'{name}'" for name in names if name) or "none"
