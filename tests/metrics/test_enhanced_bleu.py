"""Both metrics called eBLEU: by word vectors (orthogonal ones give BLEU), and by precision and recall."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from regard.base.faults import Fault
from regard.data.vectors.word_vectors import WordVectors
from regard.metrics import score
from regard.metrics.bleu import Smoothing
from regard.metrics.enhanced_bleu import ebleu, ebleu_2013

LETTERS = ["a", "b", "c", "d"]
APART = WordVectors(LETTERS, np.eye(4, dtype=np.float32))
sentences = st.lists(st.sampled_from([*LETTERS, "x"]), max_size=8).map(" ".join)


def vectors(**rows: list[float]) -> WordVectors:
    return WordVectors(list(rows), np.array(list(rows.values()), dtype=np.float32))


@given(pairs=st.lists(st.tuples(sentences, sentences), min_size=1, max_size=4))
@settings(deadline=None)
def test_words_at_right_angles_give_bleu_without_smoothing(pairs: list[tuple[str, str]]) -> None:
    written, references = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
    written, references = (
        [*written, "a b c d"],
        [*references, "a b c d"],
    )  # so that each word has a vector and all orders match
    expected = score(written, references, "bleu", smoothing=Smoothing("none")).value
    assert score(written, references, "ebleu", vectors=APART).value == pytest.approx(expected)


def test_a_word_of_like_meaning_counts_by_its_cosine() -> None:
    """cat and kitten have cosine 0.6, which weights the four words, three pairs, two triples and the whole."""
    near = vectors(cat=[1, 0], kitten=[0.6, 0.8])
    value = score(["the cat is here"], ["the kitten is here"], "ebleu", vectors=near).value
    orders = [(3 + 0.6) / 4, (0.6 + 0.6 + 1) / 3, (0.6 + 0.6) / 2, 0.6]
    assert value == pytest.approx(100 * math.prod(orders) ** 0.25)


def test_opposite_words_count_nothing_and_case_only_where_the_vector_has_it() -> None:
    turned = vectors(cat=[1, 0], dog=[-1, 0])
    assert score(["cat"], ["dog"], "ebleu", vectors=turned).value == 0
    alike = ebleu(vectors(cat=[1, 0]))
    assert alike.rows(["Cat"], [["cat"]])[0][0] == pytest.approx(1)


def test_a_partner_is_taken_once_and_the_most_alike_first() -> None:
    """kitten pairs with kitten, so cat must take dog."""
    some = vectors(cat=[1, 0], kitten=[0.6, 0.8], dog=[0.8, 0.6])
    assert ebleu(some).rows(["cat kitten"], [["kitten dog"]])[0][0] == pytest.approx(1 + 0.8)


def test_short_outputs_pay_and_the_best_reference_counts() -> None:
    result = score(["a b c d"], [["a b c d x"], ["a x x x"]], "ebleu", vectors=APART)
    assert result.value == pytest.approx(100 * math.exp(1 - 5 / 4))
    assert result.signature == "nrefs:2|case:mixed|norm:NFC|tok:13a|ref:best|smooth:none|vectors:4x4"


def test_missing_vectors_are_refused() -> None:
    with pytest.raises(Fault, match="ebleu needs word vectors; give a file of them or a word-vector model"):
        score(["a"], ["a"], "ebleu")
    with pytest.raises(Fault, match="None of the scored words has a word vector"):
        score(["x"], ["y"], "ebleu", vectors=APART)
    with pytest.raises(Fault, match="Word vectors are only for ebleu, not for bleu"):
        score(["a"], ["a"], "bleu", vectors=APART)


def test_enhanced_bleu_as_on_paper() -> None:
    """Two of three output words match two of four reference words: LP = e^(1 − 4/3), 10 / (9 / ⅔ + 1 / ½)."""
    value = score(["a b x"], ["a b c d"], "ebleu-2013").value
    assert value == pytest.approx(math.exp(1 - 4 / 3) * 10 / (9 / (2 / 3) + 1 / (1 / 2)))
    assert ebleu_2013(1, 1)(["a b x"], [["a b c d"]])[0] == pytest.approx(math.exp(1 - 4 / 3) * 4 / 7)
    assert score(["x"], ["a"], "ebleu-2013").value == 0
    assert score(["", "a"], ["a", "a"], "ebleu-2013").value == pytest.approx(1 / 2)
