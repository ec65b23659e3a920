"""Counts in temporary files: the same model bit for bit, nothing left behind, and a message for a full disk."""

import errno
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from counted import BEGIN, possible

from regard.base.faults import Fault
from regard.models.ngram import NgramOptions
from regard.models.ngram import scratch as scratch_module
from regard.models.ngram.counting import add, count
from regard.models.ngram.scratch import IN_MEMORY, Scratch
from regard.models.ngram.smoothing import estimate
from regard.models.ngram.stored import model_as_arrays

SIZE = 40


def model_arrays(scratch: Scratch, prune: list[int]) -> dict[str, np.ndarray]:
    draw = np.random.default_rng(5)
    pieces = []
    for _ in range(3):
        tokens = np.minimum(draw.zipf(1.3, 400) + 3, SIZE - 1)
        tokens[::7] = BEGIN
        pieces.append(count(tokens.astype(np.int64), tokens == BEGIN, 4, SIZE))
    total = add(add(pieces[0], pieces[1], scratch), pieces[2], scratch)
    options = NgramOptions(order=4, discount_fallback=True, prune=prune)
    return model_as_arrays(estimate(options, total, BEGIN, possible(SIZE), scratch))


@pytest.mark.parametrize("prune", [[], [0, 0, 1]])
@pytest.mark.parametrize("span", [7, 64, 1 << 20])
def test_counts_in_files_give_the_same_model(
    prune: list[int], span: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    in_memory = model_arrays(IN_MEMORY, prune)
    monkeypatch.setattr(scratch_module, "_SPAN", span)
    mapped = list[int]()
    memmap = np.memmap

    def counting_memmap(*arguments: Any, **named: Any) -> np.ndarray:
        mapped.append(1)
        return memmap(*arguments, **named)

    monkeypatch.setattr(np, "memmap", counting_memmap)
    on_disk = model_arrays(Scratch(0, tmp_path), prune)
    assert mapped
    assert on_disk.keys() == in_memory.keys()
    for name, array in in_memory.items():
        np.testing.assert_array_equal(array, on_disk[name], err_msg=name)
    assert list(tmp_path.iterdir()) == []


def test_small_arrays_stay_in_memory(tmp_path: Path) -> None:
    scratch = Scratch(32 * 800, tmp_path)
    assert not isinstance(scratch.empty(100, np.int64), np.memmap)
    assert isinstance(scratch.empty(101, np.int64), np.memmap)


@pytest.mark.parametrize(
    ("number", "sentence"),
    [
        (errno.ENOSPC, "has no room for 0 MB of counts. Set training.scratch to another folder"),
        (errno.EIO, "Counts cannot be stored in"),
    ],
)
def test_a_disk_that_is_full_is_told_in_a_sentence(
    number: int, sentence: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*arguments: Any) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(os, "posix_fallocate", refuse)
    with pytest.raises(Fault, match=sentence):
        Scratch(0, tmp_path).empty(10, np.int64)
