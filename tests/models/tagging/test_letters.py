"""Word vectors from letters: the largest output of a filter, whatever the neighbouring words."""

from typing import Any

import pytest
import torch
from torch import nn

from regard.base.faults import Fault
from regard.base.recipe import check
from regard.models.tagging.letters import LetterOptions, LetterReader
from regard.models.tagging.options import TaggerOptions
from regard.models.tagging.tagger import Sizes, TokenFeatures, TokenInputs

SHORT, LONG = [2, 5, 3], [2, 6, 7, 5, 4, 3]


def reader(kind: Any) -> LetterReader:
    torch.manual_seed(1)
    return LetterReader(LetterOptions(reader=kind, embedding=3, width=4), letters=8, pad=0).double().eval()


@pytest.mark.parametrize("kind", ["convolution", "lstm"])
def test_padding_and_other_words_change_nothing(kind: str) -> None:
    letters = reader(kind)
    alone = letters(torch.tensor([SHORT]))
    together = letters(torch.tensor([SHORT + [0] * 5, LONG + [0] * 2]))
    torch.testing.assert_close(together[:1], alone)
    torch.testing.assert_close(together[1:], letters(torch.tensor([LONG])))
    assert not torch.allclose(together[0], together[1])


def test_a_filter_gives_the_largest_of_what_it_finds() -> None:
    """Vectors of one number, 1 for the letter 5 and 0 for others, and a filter (1, 10, 100) of three letters."""
    letters = LetterReader(LetterOptions(embedding=1, width=2), letters=8, pad=0)
    assert letters.filters is not None
    with torch.no_grad():
        letters.embedding.zero_()
        letters.embedding[5] = 1.0
        letters.filters.weight.copy_(torch.tensor([[[1.0, 10.0, 100.0]], [[-1.0, -1.0, -1.0]]]))
        nn.init.zeros_(letters.filters.bias)
        assert letters(torch.tensor([[2, 5, 3], [5, 5, 3], [2, 3, 0]])).tolist() == [[100, -1], [110, -1], [0, 0]]


def test_what_is_not_read_has_no_place() -> None:
    sizes = Sizes(words=5, letters=8, shapes=4, columns=(), tags=2, pad=0, unknown=1)
    options = TaggerOptions(letters=LetterOptions(reader="none"), shape_width=0)
    assert TokenFeatures(options, sizes).width == 0
    every = TokenFeatures(TaggerOptions(letters=LetterOptions(width=6)), sizes._replace(columns=(5, 7)))
    places = torch.zeros(1, 2, dtype=torch.long)
    columns, none = torch.zeros(1, 2, 2).long(), places[:, :0]
    inputs = TokenInputs(
        places, places, columns, places, torch.tensor([SHORT]), torch.tensor([2]), none, torch.tensor([0]), none
    )
    assert every(inputs).shape == (1, 2, every.width) == (1, 2, 6 + 8 + 2 * 32)


def test_two_directions_share_an_even_width() -> None:
    with pytest.raises(Fault, match="width 5 is odd, but two directions share it evenly"):
        check(LetterOptions, {"reader": "lstm", "width": 5}, "letters")
