"""What is trained from two files and nothing else: sizes by the number of pairs, steps by how long they are."""

import os
from pathlib import Path
from typing import Any

import pytest

from regard.defaults import TextFiles, recipe_for
from regard.faults import Fault


def _made(folder: Path, pairs: int, source: str, target: str, gpu: bool = False) -> tuple[dict[str, Any], str]:
    paths = folder / "text.en", folder / "text.pt"
    for path, line in zip(paths, (source, target), strict=True):
        path.write_text(f"{line}\n" * pairs, encoding="utf-8")
    table, sentences = recipe_for(TextFiles(paths), gpu)
    return table, " ".join(sentences)


@pytest.mark.parametrize(
    ("gpu", "preset", "steps"),
    [
        (False, "tiny", 1200),  # 150 passes over 3,200 pairs of 45 / 4.5 + 1 tokens, 4,096 at once: 1,289
        (True, "small", 1200),  # 300 passes, 8,192 at once
    ],
)
def test_steps_follow_from_pairs_and_lengths(tmp_path: Path, gpu: bool, preset: str, steps: int) -> None:
    table, said = _made(tmp_path, 3200, "a" * 9, "a" * 45, gpu)
    assert (table["model"]["preset"], table["training"]["steps"]) == (preset, steps)
    assert "3,200 pairs of en and pt" in said
    assert f"preset {preset}" in said
    assert f"{steps:,} steps" in said


def test_longer_sentences_are_learnt_in_more_steps(tmp_path: Path) -> None:
    short, long = (_made(tmp_path, 3200, "a", "a" * length)[0]["training"]["steps"] for length in (36, 72))
    assert (short, long) == (1000, 1900)  # 9 and 17 tokens


def test_wide_characters_are_more_tokens(tmp_path: Path) -> None:
    assert _made(tmp_path, 3200, "a", "語" * 15)[0]["training"]["steps"] == 1200  # 15 / 1.5 + 1 tokens


def test_accented_and_cyrillic_letters_are_letters_like_others(tmp_path: Path) -> None:
    plain = _made(tmp_path, 3200, "a" * 45, "a")[0]["training"]
    assert _made(tmp_path, 3200, "ã" * 45, "ж" * 45)[0]["training"] == plain


def test_batches_of_a_larger_model_are_larger_and_fewer(tmp_path: Path) -> None:
    table, said = _made(tmp_path, 80_001, "a", "a" * 36, gpu=True)
    assert table["model"]["preset"] == "iwslt"
    assert table["training"]["steps"] == 1700  # 40 passes over 80,001 pairs of 9 tokens, 16,384 at once: 1,757
    assert "goes through twice" in said


def test_only_a_gpu_has_the_time_for_two_passes(tmp_path: Path) -> None:
    training = _made(tmp_path, 100, "a", "b")[0]["training"]
    assert "consistency" not in training
    assert training["patience"] == 8
    assert _made(tmp_path, 100, "a", "b", gpu=True)[0]["training"]["consistency"] == 5


def test_one_pair_is_one(tmp_path: Path) -> None:
    assert _made(tmp_path, 1, "a", "b")[1].startswith("1 pair of en and pt; training on the CPU.")


@pytest.mark.parametrize("place", range(4))
def test_a_pipe_is_refused_for_it_can_be_read_only_once(tmp_path: Path, place: int) -> None:
    paths = [tmp_path / name for name in ("a.en", "a.pt", "b.en", "b.pt")]
    for path in paths:
        path.write_text("a\n")
    paths[place].unlink()
    os.mkfifo(paths[place])
    with pytest.raises(Fault, match=f"{paths[place].name} is a pipe, and training reads its text more than once"):
        recipe_for(TextFiles(tuple(paths[:2]), tuple(paths[2:])), gpu=False)
