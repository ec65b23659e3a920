"""Comparing pairs by hashes gives the same in one array or many files, in one range or many."""

from pathlib import Path

import numpy as np
import pytest

from regard.data.corpora import cleaning, hashes
from regard.data.corpora.cleaning import Fate, judge
from regard.data.corpora.hashes import HashedPairs, are_among, hash_folded, hash_pairs, hash_ranges, hash_sentences
from regard.data.corpora.options import Cleaning


def drawn_pairs(count: int) -> list[tuple[str, str]]:
    """Return pairs of which many share a side, and some both."""
    draws = np.random.default_rng(1).integers(0, count, (count, 2))
    return [(f"source {source}", f"target {target}" if target % 9 else "") for source, target in draws.tolist()]


@pytest.mark.parametrize(("hold_out", "sample"), [(0, 10**6), (7, 10**6), (7, 100), (1000, 3)])
def test_in_many_files_and_ranges_pairs_have_the_same_fates(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, hold_out: int, sample: int
) -> None:
    pairs = [*drawn_pairs(300), *drawn_pairs(300)[:40]]
    monkeypatch.setattr(cleaning, "_SAMPLE", sample)
    elsewhere, may_validate = hash_sentences(pairs[:3]), np.arange(len(pairs)) % 4 > 0
    whole = judge(HashedPairs([hash_pairs(pairs)]), elsewhere, Cleaning(), hold_out, may_validate)
    files = [tmp_path / str(first) for first in range(0, len(pairs), 64)]
    for first, file in zip(range(0, len(pairs), 64), files, strict=True):
        file.write_bytes(hash_pairs(pairs[first : first + 64]).tobytes())
    monkeypatch.setattr(hashes, "_RANGE", 50)
    in_parts = judge(HashedPairs(files), elsewhere, Cleaning(), hold_out, may_validate)
    assert in_parts.tolist() == whole.tolist()
    assert np.count_nonzero(whole == Fate.DUPLICATE) >= 30
    assert np.any(whole == Fate.HELD_OUT) == bool(hold_out)
    assert not np.any(whole[::4] == Fate.HELD_OUT)


def test_ranges_cover_every_hash_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hashes, "_RANGE", 10)
    ranges = [(int(first), int(last)) for first, last in hash_ranges(25)]
    assert len(ranges) == 3
    assert (ranges[0][0], ranges[-1][1]) == (0, 2**64 - 1)
    assert [last + 1 for _, last in ranges[:-1]] == [first for first, _ in ranges[1:]]
    assert len(list(hash_ranges(0))) == 1


def test_what_is_among_known_hashes() -> None:
    hashed = np.sort(hash_folded(["a", "b", "c"]))
    assert are_among(hash_folded(["B", "x", "a "]), hashed).tolist() == [True, False, True]
    assert are_among(hash_folded(["a"]), hashed[:0]).tolist() == [False]
    assert are_among(np.array([2**64 - 1], hashes.HASH), hashed).tolist() == [False]
