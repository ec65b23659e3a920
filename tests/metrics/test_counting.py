"""Batch counting of sentences: sacreBLEU's own statistics for any text, and its scores to the last digit."""

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sacrebleu.metrics.bleu import BLEU
from sacrebleu.metrics.chrf import CHRF

from regard.data.demo.corpus import pairs
from regard.metrics import References, score, sentence_counts
from regard.metrics.sentence_counts import sentence_statistics
from regard.metrics.text import SACREBLEU

MAKE: dict[str, Callable[[], Any]] = {
    "bleu": lambda: BLEU(force=True),
    "bleu of two orders": lambda: BLEU(max_ngram_order=2, force=True),
    "bleu of tokens": lambda: BLEU(tokenize="none", force=True),
    "bleu of characters": lambda: BLEU(tokenize="char", force=True),
    "bleu of lower case": lambda: BLEU(lowercase=True, force=True),
    "chrf": CHRF,
    "chrf++": lambda: CHRF(word_order=2),
    "chrf of three orders": lambda: CHRF(char_order=3, word_order=1),
    "chrf with spaces": lambda: CHRF(whitespace=True),
    "chrf of lower case": lambda: CHRF(lowercase=True),
}
# Everything that the tokeniser 13a treats specially, many kinds of white space, and letters in two code points.
BITS = ["a", "b.", "1,2", "3-4", "x.,y", ".", ",", "...", "-", "-\n", "\n", "<skipped>", "&quot;", "&amp;quot;", "&",
        " ", " ", " ", "\t", "\u00a0", "\u2028", "\x1c", "(é)", "а\u0301", "Σ", "漢字", "😀", "'", '"']  # fmt: skip
TEXT = st.lists(st.sampled_from(BITS), max_size=12).map("".join) | st.text(max_size=12)
CORPUS = st.lists(st.tuples(TEXT, TEXT, TEXT | st.none()), min_size=1, max_size=4)


def same(make: Callable[[], Any], hypotheses: list[str], references: References) -> None:
    ours, theirs = make(), make()
    expected = theirs._extract_corpus_statistics(hypotheses, references)
    assert sentence_statistics(ours, hypotheses, references).tolist() == expected
    assert str(ours.get_signature()) == str(theirs.get_signature())


@pytest.mark.parametrize("name", MAKE)
@settings(max_examples=20, deadline=None)
@given(CORPUS)
def test_the_statistics_are_those_of_sacrebleu(name: str, corpus: list[tuple[str, str, str | None]]) -> None:
    hypotheses, first = [row[0] for row in corpus], [row[1] for row in corpus]
    same(MAKE[name], hypotheses, [first])
    same(MAKE[name], hypotheses, [first, [row[2] for row in corpus]])


def test_clipped_matches_on_paper() -> None:
    """The paper's example: the references hold `the` twice and once, so seven of it count as two."""
    [row] = sentence_statistics(
        BLEU(force=True), ["the the the the the the the"], [["the cat is on the mat"], ["there is a cat on the mat"]]
    ).tolist()
    assert row == [7, 7, 2, 0, 0, 0, 7, 6, 5, 4]


def test_equally_close_references_give_the_shorter_length() -> None:
    rows = sentence_statistics(BLEU(force=True), ["a b c", "a"], [["a b c d", "a b c"], ["a b", None]])
    assert rows[:, 1].tolist() == [2, 3]


@pytest.mark.parametrize("name", ["bleu", "chrf++"])
def test_portions_change_nothing(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    written = [target for _, target in pairs("valid", count=50)]
    whole = sentence_statistics(MAKE[name](), written, [written[::-1], written[1:] + written[:1]])
    monkeypatch.setattr(sentence_counts, "_PORTION", 7)
    again = sentence_statistics(MAKE[name](), written, [written[::-1], written[1:] + written[:1]])
    assert (whole == again).all()


@pytest.mark.parametrize("metric", SACREBLEU)
@pytest.mark.parametrize("references", [1, 3])
def test_scores_are_those_of_sacrebleu_to_the_last_digit(metric: str, references: int) -> None:
    texts = [target for _, target in pairs("valid", count=90)]
    written = [text.replace("a", "o", 1) for text in texts]
    lists = [texts[place:] + texts[:place] for place in range(references)]
    theirs = SACREBLEU[metric]()
    assert score(written, lists, metric).value == theirs.corpus_score(written, lists).score
    assert score(written, lists, metric).signature == str(theirs.get_signature())


def test_sacrebleu_says_nothing_of_its_own(caplog: pytest.LogCaptureFixture) -> None:
    score(["This is so ."] * 100, ["This is so ."] * 100)
    assert caplog.records == []
