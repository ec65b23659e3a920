"""Hidden tokens: laws that hold for every row, counted by hand and on many rows."""

import numpy as np
import pytest

from regard.base.faults import Fault
from regard.base.recipe import check
from regard.tasks.masked.masking import NOTHING, Masked, Vocabulary, mask_rows
from regard.tasks.masked.options import MaskingOptions

MARKS, MASK, TOKENS = 5, 4, 105
# Tokens 5 to 54 begin words, 55 to 104 continue them.
VOCABULARY = Vocabulary(np.arange(TOKENS) >= 55, np.arange(TOKENS) < MARKS, MASK)


def rows_of_text(rows: int, time: int) -> np.ndarray:
    tokens = np.random.default_rng(1).integers(MARKS, TOKENS, (rows, time))
    tokens[:, 0] = 2
    return tokens


def masked(tokens: np.ndarray, key: tuple[int, int] = (1, 0), first: int = 0, **options: float) -> Masked:
    numbers = np.arange(first, first + len(tokens))
    return mask_rows(tokens, numbers, key, VOCABULARY, MaskingOptions(**options))


def test_a_row_is_hidden_alike_wherever_it_stands_and_otherwise_in_another_epoch() -> None:
    tokens = rows_of_text(6, 40)
    whole, last = masked(tokens), masked(tokens[4:], first=4)
    for all_rows, some in zip(whole, last, strict=True):
        assert (all_rows[4:] == some).all()
    assert not (masked(tokens, (1, 1)).places == whole.places).all()
    assert not (masked(tokens, (2, 0)).places == whole.places).all()


def test_what_is_wanted_stood_there_and_nothing_else_changed() -> None:
    tokens = rows_of_text(50, 64)
    read, places, targets = masked(tokens)
    hidden = np.zeros(tokens.shape, bool)
    for row in range(len(tokens)):
        masked_places = places[row][targets[row] != NOTHING]
        assert len({*masked_places.tolist()}) == len(masked_places)
        assert (tokens[row, masked_places] == targets[row][targets[row] != NOTHING]).all()
        hidden[row, masked_places] = True
    assert (read[~hidden] == tokens[~hidden]).all()
    assert not hidden[:, 0].any()  # special tokens are never hidden


def test_words_are_hidden_whole_and_no_more_than_their_share() -> None:
    tokens = rows_of_text(80, 64)
    _, places, targets = masked(tokens)
    for row in range(len(tokens)):
        hidden = {*places[row][targets[row] != NOTHING].tolist()}
        assert 1 <= len(hidden) <= 9  # 15 % of 63, rounded
        for place in range(2, 64):
            if VOCABULARY.goes_on[tokens[row, place]]:
                assert (place in hidden) == (place - 1 in hidden)


def test_four_fifths_are_masks_a_tenth_is_any_token_and_a_tenth_stays() -> None:
    tokens = rows_of_text(400, 128)
    read, places, targets = masked(tokens, whole_words=False)
    assert (targets != NOTHING).sum() == 400 * 19  # 15 % of 127
    now = np.take_along_axis(read, places, axis=1)
    assert (now == MASK).mean() == pytest.approx(0.8, abs=0.02)
    assert (now == targets).mean() == pytest.approx(0.1 + 0.1 / 100, abs=0.02)
    assert now.min() >= MASK


def test_shares_can_be_others() -> None:
    read, places, targets = masked(rows_of_text(40, 100), share=0.4, masked=1.0, random=0.0, whole_words=False)
    assert (targets != NOTHING).sum() == 40 * 40
    assert (np.take_along_axis(read, places, axis=1) == MASK).all()
    read, places, targets = masked(rows_of_text(40, 100), masked=0.0, random=0.0)
    assert (read == rows_of_text(40, 100)).all()


def test_a_word_longer_than_the_share_is_hidden_in_part_and_padding_never() -> None:
    tokens = np.array([[2, 5, 60, 61, 62, 3, 0, 0]])
    _, places, targets = masked(tokens)
    assert places.tolist() == [[1]]
    assert targets.tolist() == [[5]]
    _, _, targets = masked(np.array([[2, 3, 0, 0]]))
    assert targets.tolist() == [[NOTHING]]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"share": 1.0}, "share is 1.0, expected less than 1"),
        ({"masked": 0.8, "random": 0.3}, "add up to more than 1"),
    ],
)
def test_masks_of_everything_are_refused(options: dict[str, float], words: str) -> None:
    with pytest.raises(Fault, match=words):
        check(MaskingOptions, options)
