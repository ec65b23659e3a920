"""Agreement between the ranks of one run, and opening the run together."""

import platform
from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any, TypeVar, cast

import numpy as np
import torch
from torch import Tensor

from regard.base.faults import Fault
from regard.base.recipe import Recipe
from regard.base.version import __version__
from regard.runs.open import Run
from regard.training.checkpoint import RunFolder
from regard.training.ranks import Ranks

Result = TypeVar("Result")


def check_same(ranks: Ranks, facts: dict[str, str]) -> None:
    """Refuse ranks that differ from the first in a fact; every rank gets the same message."""
    first, *others = ranks.gather(facts)
    for rank, rank_facts in enumerate(others, 1):
        for name in sorted(first.keys() | rank_facts.keys()):
            if (value := rank_facts.get(name, "not there")) != (expected := first.get(name, "not there")):
                raise Fault(
                    f"Rank {rank} of {ranks.size} differs from rank 0: {name} is {value}, on rank 0 {expected}."
                )


def facts_of(recipe: Recipe) -> dict[str, str]:
    """Return the facts that all ranks must share before a run is opened: recipe and software."""
    versions = {"regard": __version__, "torch": torch.__version__, "Python": platform.python_version()}
    return versions | dict(_values(recipe.model_dump(mode="json")))


def _values(table: dict[str, Any], prefix: str = "") -> Iterator[tuple[str, str]]:
    for name, value in table.items():
        if isinstance(value, dict):
            yield from _values(value, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", repr(value)


def open_together(ranks: Ranks, folder: Path, open_as: Callable[[bool], Run]) -> Run:
    """Open the run in `folder`, which the first rank makes and the others then open.

    `open_as` takes whether it may write.
    """
    if ranks.size == 1:
        return open_as(True)
    first_run = _try_together(ranks, lambda: open_as(True) if ranks.leads else None)
    run = _try_together(ranks, lambda: first_run or _open_made(ranks, folder, open_as))
    check_same(ranks, {"the digest of the data": data_digest(run)})
    return run


def _open_made(ranks: Ranks, folder: Path, open_as: Callable[[bool], Run]) -> Run:
    if not RunFolder(folder).exists():
        raise Fault(
            f"Rank {ranks.rank} of {ranks.size} cannot find {folder.resolve()}, which rank 0 has made; "
            "all ranks need the same files."
        )
    return open_as(False)


def _try_together(ranks: Ranks, work: Callable[[], Result]) -> Result:
    """Run `work` on this rank; if it fails on one rank, all raise the same fault."""
    result, sentences = None, list[str]()
    try:
        result = work()
    except Fault as fault:
        sentences = [*fault.sentences]
    for fault_sentences in ranks.gather(sentences):
        if fault_sentences:
            raise Fault(*fault_sentences)
    return cast(Result, result)


def data_digest(run: Run) -> str:
    """Return a digest of a run's prepared data: its files, its report and its first batch."""
    digest = blake2b(digest_size=8)
    first = next(iter(run.task.batches("train", run.recipe.seed, 0, 0)), None)
    for part in (run.prepared.files(), run.prepared.report, first):
        for content in _contents(part):
            digest.update(content)
    return digest.hexdigest()


def _contents(tree: Any) -> Iterator[bytes]:
    """Yield all contents of a batch as bytes."""
    match tree:
        case bytes():
            yield tree
        case Tensor():
            yield tree.detach().cpu().contiguous().numpy().tobytes()
        case np.ndarray():
            yield tree.tobytes()
        case dict():
            for name, value in tree.items():
                yield from _contents((name, value))
        case list() | tuple():
            for item in tree:
                yield from _contents(item)
        case _ if is_dataclass(tree):
            for field in fields(tree):
                yield from _contents(getattr(tree, field.name))
        case _:
            yield repr(tree).encode()
