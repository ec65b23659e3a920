"""Cleaning: which pairs are dropped and why, which are held out, and what is reported."""

from collections.abc import Sequence

import numpy as np
import pytest

from regard.base.faults import Fault
from regard.data.corpora import cleaning
from regard.data.corpora.cleaning import (
    Drop,
    Fate,
    Report,
    add_drops,
    judge,
    judge_lengths,
)
from regard.data.corpora.hashes import HashedPairs, fold, hash_pairs, hash_sentences
from regard.data.corpora.options import Cleaning

KEPT, SAMPLED, HELD_OUT, EMPTY, DUPLICATE, LEAKED = Fate
NOTHING = hash_sentences([])


def judged(
    pairs: list[tuple[str, str]], elsewhere: Sequence[tuple[str, str]] = (), hold_out: int = 0, **options: bool
) -> list[Fate]:
    fates = judge(HashedPairs([hash_pairs(pairs)]), hash_sentences(elsewhere), Cleaning(**options), hold_out)
    return [Fate(fate) for fate in fates.tolist()]


def test_empty_pairs_go() -> None:
    assert judged([("a", "b"), ("", "b"), ("a", " \u00a0"), ("", "")]) == [SAMPLED, EMPTY, EMPTY, EMPTY]


def test_the_first_of_equal_pairs_stays() -> None:
    pairs = [("a", "b"), ("a", "c"), ("a", "b"), ("A", "b"), ("a", "b")]
    assert judged(pairs) == [SAMPLED, SAMPLED, DUPLICATE, SAMPLED, DUPLICATE]
    assert judged(pairs, duplicates=False) == [SAMPLED] * 5
    assert judged([("a b", "c"), ("a", "b c")]) == [SAMPLED, SAMPLED]


def test_a_sentence_of_either_side_found_in_the_test_data_goes_whatever_its_case() -> None:
    pairs = [("Straße", "road"), ("street", "Rua"), ("road", "estrada"), ("new", "novo"), ("ÓTIMO ", "great")]
    test = [("STRASSE", "rua"), ("ótimo", "super")]
    assert judged(pairs, test) == [LEAKED, LEAKED, SAMPLED, SAMPLED, LEAKED]
    assert judged(pairs, test, leakage=False) == [SAMPLED] * 5


def test_folding_keeps_nfc() -> None:
    assert fold(" ÀÇÃO ") == "àção"
    assert fold("ΰ") == fold("ΰ".upper())


def test_lengths() -> None:
    options = Cleaning(longest=50, ratio=2.0)
    assert judge_lengths(50, 50, options) is None
    assert judge_lengths(51, 50, options) == "too long"
    assert judge_lengths(10, 25, options) is None
    assert judge_lengths(10, 26, options) == judge_lengths(26, 10, options) == "too uneven in length"


def numbered(count: int) -> list[tuple[str, str]]:
    return [(f"source {number}", f"target {number}") for number in range(count)]


@pytest.mark.parametrize(("count", "wanted", "held_out"), [(1000, 20, 20), (1000, 1000, 50), (10, 1000, 1), (2, 1, 1)])
def test_as_many_are_held_out_as_wanted_but_at_most_a_twentieth(count: int, wanted: int, held_out: int) -> None:
    assert judged(numbered(count), hold_out=wanted).count(HELD_OUT) == held_out


def test_equal_sources_are_held_out_together_or_not_at_all() -> None:
    pairs = [
        (source if twin else source.upper(), f"{target} {twin}") for source, target in numbered(500) for twin in (0, 1)
    ]
    fates = judged(pairs, hold_out=31)
    assert fates.count(HELD_OUT) == 30
    assert fates[::2] == fates[1::2]
    common = [("the same", target) for _, target in numbered(500)] + numbered(500)
    fates = judged(common, hold_out=50)
    assert fates.count(HELD_OUT) == 50
    assert HELD_OUT not in fates[:500]


def test_what_is_held_out_does_not_depend_on_the_order() -> None:
    pairs = numbered(300)
    backwards = judged(pairs[::-1], hold_out=15)
    assert judged(pairs, hold_out=15) == backwards[::-1]


def test_no_training_pair_shares_a_sentence_with_those_held_out() -> None:
    sources = [source for source, _ in numbered(400)]
    pairs = [(source, f"target {number % 50}") for number, source in enumerate(sources)]
    fates = judged(pairs, hold_out=10)
    held_out = {target for (_, target), fate in zip(pairs, fates, strict=True) if fate == HELD_OUT}
    trained_on = {target for (_, target), fate in zip(pairs, fates, strict=True) if fate == SAMPLED}
    assert held_out
    assert not held_out & trained_on
    assert LEAKED not in judged(pairs, hold_out=10, leakage=False)


def test_pairs_whose_translation_is_common_are_not_held_out_if_others_will_do() -> None:
    pairs = [(source, "sim" if number % 2 else target) for number, (source, target) in enumerate(numbered(1000))]
    fates = judged(pairs, hold_out=50)
    assert fates.count(HELD_OUT) == 50
    assert LEAKED not in fates


def test_too_little_to_hold_out() -> None:
    with pytest.raises(
        Fault, match=r"too few training pairs \(1 after cleaning\).*give a validation set \(--valid-source and"
    ):
        judged([("a", "b"), ("a", "b")], hold_out=10)


def test_one_source_is_too_little_to_hold_out() -> None:
    with pytest.raises(Fault, match="All 300 training pairs share their source sentence, so there are too few to hold"):
        judged([("a", target) for _, target in numbered(300)], hold_out=10)


def test_the_tokeniser_learns_from_a_sample_of_what_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cleaning, "_SAMPLE", 40)
    fates = judged([*numbered(100), ("", "")])
    assert fates.count(SAMPLED) == 40
    assert fates.count(KEPT) == 60


def test_hashes_of_no_pairs() -> None:
    assert len(judge(HashedPairs([hash_pairs([])]), NOTHING, Cleaning(), 0)) == 0
    assert len(judge(HashedPairs([]), NOTHING, Cleaning(), 0)) == 0
    assert np.array_equal(NOTHING, [])


def test_the_report_says_what_was_dropped_and_shows_the_first() -> None:
    drops: dict[str, Drop] = {}
    add_drops(drops, {"empty": Drop.first("a.en, line 7", ("word " * 40, ""))})
    add_drops(
        drops, {"empty": Drop.first("a.en, line 9", ("later", "")), "duplicate": Drop.first("a.en, line 8", ("a", "b"))}
    )
    report = Report(read=29000, kept=27997, held_out=1000, dropped=drops)
    assert report.lines() == [
        "read 29,000 pairs, kept 27,997 (held out 1,000 for validation; dropped 2 empty, 1 duplicate)",
        "empty, for example a.en, line 7: " + ("word " * 12)[:59] + "…",
        "duplicate, for example a.en, line 8: a | b",
    ]
    assert Report.model_validate_json(report.model_dump_json()) == report
    assert Report(read=2, kept=2, held_out=0, dropped={}).lines() == ["read 2 pairs, kept 2"]
