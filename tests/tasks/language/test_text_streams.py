"""Text as a stream: parallel parts, consecutive spans, and every token a target once."""

import numpy as np
import pytest
import torch

from regard.tasks.language.streams import (
    NOTHING,
    StreamBatch,
    padded_rows,
    spans_of,
    training_batches,
    whole_stream,
)

END = 3
TOKENS = np.arange(10, 24, dtype=np.uint16)


def test_parts_stand_side_by_side_and_each_token_follows_the_one_before() -> None:
    """Fourteen tokens in three parts of four; the last two fill no part."""
    first, second = training_batches(TOKENS, END, 3, [3, 1], 0)
    assert first.wanted.tolist() == [[10, 11, 12], [14, 15, 16], [18, 19, 20]]
    assert first.tokens.tolist() == [[END, 10, 11], [13, 14, 15], [17, 18, 19]]
    assert second.wanted.tolist() == [[13], [17], [21]]
    assert second.tokens.tolist() == [[12], [16], [20]]
    (again,) = training_batches(TOKENS, END, 3, [3, 1], 1)
    assert again.tokens.equal(second.tokens)
    assert again.wanted.equal(second.wanted)


def test_spans_are_of_one_length_but_for_the_last() -> None:
    assert spans_of(100, 35, False, seed=1, epoch=0) == [35, 35, 30]
    assert spans_of(70, 35, False, seed=1, epoch=0) == [35, 35]


def test_spans_vary_by_seed_and_epoch_and_fill_the_time() -> None:
    one, same, other, later = (
        spans_of(20_000, 70, True, seed, epoch) for seed, epoch in ((1, 0), (1, 0), (2, 0), (1, 1))
    )
    assert one == same
    assert one != other
    assert one != later
    assert {sum(spans) for spans in (one, other, later)} == {20_000}
    assert all(span % 5 == 0 for span in one[:-1])
    long = [span for span in one[:-1] if span > 52]
    assert 68 < np.mean(long) < 72
    assert 0.9 < len(long) / len(one) < 0.99  # one in twenty is about half as long
    assert min(spans_of(500, 5, True, 1, 0)[:-1]) == 5


@pytest.mark.parametrize(("rows", "shape"), [(1, (1, 14)), (4, (4, 4)), (100, (14, 1))])
def test_all_tokens_of_a_text_are_wanted_once(rows: int, shape: tuple[int, int]) -> None:
    batch = whole_stream(TOKENS, END, rows)
    assert batch.tokens.shape == shape
    real = batch.wanted != NOTHING
    assert batch.wanted[real].tolist() == TOKENS.tolist()
    assert batch.tokens[real].tolist() == [END, *TOKENS[:-1].tolist()]


def test_texts_by_themselves_each_begin_behind_an_end() -> None:
    batch = padded_rows([np.array([7, 8, END]), np.array([END])], END)
    assert batch.wanted.tolist() == [[7, 8, END], [END, NOTHING, NOTHING]]
    assert batch.tokens[:, 0].tolist() == [END, END]
    assert batch.tokens[0].tolist() == [END, 7, 8]


def test_pieces_of_a_batch_are_its_rows() -> None:
    batch = whole_stream(TOKENS, END, 5)
    pieces = batch.split(2)
    assert [piece.rows for piece in pieces] == [3, 2]
    assert torch.cat([piece.wanted for piece in pieces]).equal(batch.wanted)
    assert batch.holding(batch.tensors) == StreamBatch(batch.tokens, batch.wanted)
    assert batch.count == 15
