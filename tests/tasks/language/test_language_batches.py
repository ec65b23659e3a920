"""Text in batches: whole sentences, the same from any start, and halves that make the whole."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from regard.tasks.language.batches import cut_sentences, sentences_of
from regard.tasks.language.measures import measure_scores

BEGIN, END = 2, 3
ROWS = st.lists(st.lists(st.integers(4, 9), max_size=7), min_size=1, max_size=12)


def test_sentences_begin_and_end() -> None:
    tokens = np.array([5, 6, END, END, 7, END], np.uint16)
    (batch,) = cut_sentences(tokens, BEGIN, END, size=100)
    assert batch.tokens.tolist() == [BEGIN, 5, 6, END, BEGIN, END, BEGIN, 7, END]
    assert batch.starts.tolist() == (batch.tokens == BEGIN).tolist()
    assert batch.rows == 3


@given(ROWS, st.integers(1, 4))
def test_sentences_are_told_apart_where_begin_and_end_are_one_token(rows: list[list[int]], parts: int) -> None:
    whole = sentences_of(rows, END, END)
    stored = np.array([token for row in rows for token in (*row, END)], np.uint16)
    (cut,) = cut_sentences(stored, END, END, size=1000)
    for batch in (whole, cut):
        sentences = np.split(batch.tokens, np.flatnonzero(batch.starts)[1:])
        assert [sentence.tolist() for sentence in sentences] == [[END, *row, END] for row in rows]
        assert batch.rows == len(rows) == sum(part.rows for part in batch.split(parts))


@given(ROWS, st.integers(1, 20))
def test_batches_are_whole_sentences_in_order_from_any_start(rows: list[list[int]], size: int) -> None:
    whole = sentences_of(rows, BEGIN, END)
    tokens = whole.tokens[whole.tokens != BEGIN].astype(np.uint16)
    batches = [batch.tokens.tolist() for batch in cut_sentences(tokens, BEGIN, END, size)]
    assert [token for batch in batches for token in batch] == whole.tokens.tolist()
    assert all(batch[0] == BEGIN and batch[-1] == END for batch in batches)
    for start in range(len(batches) + 1):
        assert [batch.tokens.tolist() for batch in cut_sentences(tokens, BEGIN, END, size, start)] == batches[start:]


@given(ROWS, st.integers(1, 4))
def test_parts_of_a_batch_are_the_batch(rows: list[list[int]], parts: int) -> None:
    whole = sentences_of(rows, BEGIN, END)
    split = whole.split(parts)
    assert np.concatenate([part.tokens for part in split]).tolist() == whole.tokens.tolist()
    assert len(split) == min(parts, len(rows))
    assert sum(part.rows for part in split) == len(rows)


def test_perplexity_by_hand() -> None:
    """Three tokens of probability 1/2, 1/8 and 1/4 in two texts, the second unknown: six times ln 2 in all."""
    logarithms = np.log([1 / 2, 1 / 8, 1 / 4])
    measures = measure_scores(logarithms, np.array([False, True, False]), 2, "read aloud")
    assert measures["perplexity"].value == pytest.approx(4)
    assert measures["perplexity_of_known"].value == pytest.approx(math.sqrt(8))
    assert measures["unknown"].value == pytest.approx(100 / 3)
    assert measures["loss"].value == pytest.approx(2 * math.log(2))
    assert measures["loss_per_text"].value == pytest.approx(3 * math.log(2))
    assert measures["loss_per_text"].items == 2
    assert {measure.better for measure in measures.values()} == {"lower"}
    assert measures["perplexity"].signature == "per token, </s> counted, unknown words as <unk>; read aloud"


def test_the_impossible_has_an_infinite_perplexity_and_nothing_has_none() -> None:
    assert measure_scores(np.array([-math.inf]), np.array([False]), 1, "")["perplexity"].value == math.inf
    nothing = measure_scores(np.array([-1.0]), np.array([True]), 1, "")
    assert math.isnan(nothing["perplexity_of_known"].value)
