"""Shards: rows come out as they went in."""

import os
import resource
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from regard.base.faults import Fault
from regard.data.corpora import shards
from regard.data.corpora.shards import Pairs, Shard, ShardBuilder, Side, write_lengths

ROWS = [
    (([5, 6, 7], [8]), ("Olá, mundo", "hi")),
    (([], [65535, 0]), ("", "Привет 𝄞")),
    (([1], [2, 3, 4, 5]), ("a\u2028b", "c")),
]
SIDES: list[Side] = ["source", "target"]


def build(
    folder: Path, name: str, rows: list, corpus: int = 0, vocabulary: int = 65536, keep_text: bool = True
) -> Shard:
    builder = ShardBuilder(vocabulary, keep_text)
    for tokens, texts in rows:
        builder.add(tokens, texts)
    return builder.write(folder / name, corpus)


def opened(folder: Path, *records: Shard, weights: Sequence[float | None] = (1.0,)) -> Pairs:
    write_lengths(folder, records)
    return Pairs(folder, records, weights)


def test_rows_come_back(tmp_path: Path) -> None:
    pairs = opened(tmp_path, build(tmp_path, "0", ROWS[:2]), build(tmp_path, "1", []), build(tmp_path, "2", ROWS[2:]))
    assert len(pairs) == 3
    for row, (tokens, texts) in enumerate(ROWS):
        for side, side_tokens, text in zip(SIDES, tokens, texts, strict=True):
            assert pairs.tokens(side, row).tolist() == side_tokens
            assert pairs.text(side, row) == text
    assert pairs.source_lengths.tolist() == [3, 0, 1]
    assert pairs.target_lengths.tolist() == [1, 2, 4]
    assert pairs.source_lengths.dtype == np.int32
    assert pairs.corpora == [(0, 3, 1.0)]
    for row in (-1, 3):
        with pytest.raises(IndexError, match=f"no row {row} among 3"):
            pairs.tokens("source", row)


@pytest.mark.parametrize(("vocabulary", "width"), [(260, 2), (65536, 2), (65537, 4)])
def test_tokens_take_two_bytes_where_two_are_enough(tmp_path: Path, vocabulary: int, width: int) -> None:
    rows = [(([vocabulary - 1], [0]), ("a", "b"))]
    pairs = opened(tmp_path, build(tmp_path, "0", rows, vocabulary=vocabulary))
    assert pairs.tokens("source", 0).dtype.itemsize == width
    assert pairs.tokens("source", 0).tolist() == [vocabulary - 1]


def test_text_is_kept_only_when_asked(tmp_path: Path) -> None:
    with_text, without = build(tmp_path, "0", ROWS), build(tmp_path, "1", ROWS, keep_text=False)
    assert without.size < with_text.size
    with pytest.raises(ValueError, match="prepared without its text"):
        opened(tmp_path, without).text("source", 0)


def test_corpora_know_their_rows_and_weights(tmp_path: Path) -> None:
    records = [build(tmp_path, "0", ROWS, 0), build(tmp_path, "1", ROWS[:1], 2), build(tmp_path, "2", ROWS[:1], 2)]
    assert opened(tmp_path, *records, weights=[1.0, 5.0, 0.5]).corpora == [(0, 3, 1.0), (3, 0, 5.0), (3, 2, 0.5)]
    assert opened(tmp_path, *records, weights=[None] * 3).corpora == [(0, 3, 3), (3, 0, 0), (3, 2, 2)]


def test_nothing_is_mapped_before_it_is_needed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    records = [build(tmp_path, str(number), ROWS) for number in range(3)]
    write_lengths(tmp_path, records)
    mapped: list[str] = []
    memmap = np.memmap
    monkeypatch.setattr(shards.np, "memmap", lambda path, *rest: mapped.append(path.name) or memmap(path, *rest))
    pairs = Pairs(tmp_path, records, [1.0])
    assert pairs.source_lengths.sum() == 12
    assert mapped == ["source.lengths"]
    pairs.tokens("source", 4)
    pairs.tokens("target", 5)
    assert mapped == ["source.lengths", "1"]


def test_a_corpus_of_many_shards_may_have_that_many_files_open(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    limits = [(100, 5000)]
    monkeypatch.setattr(resource, "getrlimit", lambda kind: limits[-1])
    monkeypatch.setattr(resource, "setrlimit", lambda kind, both: limits.append(both))
    record = build(tmp_path, "0", ROWS)
    opened(tmp_path, *[record] * 1000)
    assert limits == [(100, 5000), (1256, 5000)]
    opened(tmp_path, *[record] * 500)
    assert len(limits) == 2
    limits[-1] = (100, 200)
    with pytest.raises(Fault, match="needs 1,256 open files, but this system allows 200"):
        opened(tmp_path, *[record] * 1000)


def test_a_shard_that_is_cut_short_while_it_is_in_use_is_refused(tmp_path: Path) -> None:
    record = build(tmp_path, "0.bin", ROWS)
    pairs = opened(tmp_path, record)
    pairs.tokens("source", 0)
    pairs.check_lengths()
    os.truncate(tmp_path / "0.bin", record.size - 1)
    with pytest.raises(Fault, match=r"0\.bin was truncated or removed while in use"):
        pairs.check_lengths()
    (tmp_path / "0.bin").unlink()
    with pytest.raises(Fault, match=r"0\.bin was truncated or removed while in use"):
        pairs.check_lengths()


def test_a_shard_that_is_not_whole_is_refused(tmp_path: Path) -> None:
    record = build(tmp_path, "0.bin", ROWS)
    with pytest.raises(Fault, match=r"source\.lengths is missing or incomplete"):
        Pairs(tmp_path, [record], [1.0])
    write_lengths(tmp_path, [record])
    (tmp_path / "0.bin").write_bytes((tmp_path / "0.bin").read_bytes()[:-1])
    with pytest.raises(Fault, match=r"0\.bin is missing or incomplete; delete .* and prepare the corpus again"):
        Pairs(tmp_path, [record], [1.0])
