"""Two language models over the same words: each half equals the other on reversed text."""

import pytest
import torch
from torch import Tensor

from regard.base.faults import Fault
from regard.base.recipe import check
from regard.models.recurrent.bilm import Bilm, BilmOptions, turn_round

PAD, BEGIN, END = 0, 2, 3
ROWS = torch.tensor([[4, 5, 6, 7], [8, 4, PAD, PAD], [PAD, PAD, PAD, PAD]])
LENGTHS = torch.tensor([4, 2, 0])


def build(**options: object) -> Bilm:
    torch.manual_seed(2)
    return Bilm(check(BilmOptions, {"embedding": 5, "width": 6} | options), 10, PAD, BEGIN, END).double().eval()


@pytest.fixture(params=["lstm", "gru", "vanilla"])
def bilm(request: pytest.FixtureRequest) -> Bilm:
    return build(cell=request.param)


def test_rows_are_turned_round_within_their_lengths() -> None:
    assert turn_round(ROWS, LENGTHS).tolist() == [[7, 6, 5, 4], [4, 8, 0, 0], [0, 0, 0, 0]]
    assert torch.equal(turn_round(turn_round(ROWS, LENGTHS), LENGTHS), ROWS)


def test_each_place_wants_the_token_that_follows_it_either_way(bilm: Bilm) -> None:
    forward, backward = bilm.read(ROWS, LENGTHS).wanted.tolist()
    assert forward == [[4, 5, 6, 7, END], [8, 4, END, 0, 0], [END, 0, 0, 0, 0]]
    assert backward == [[7, 6, 5, 4, END], [4, 8, END, 0, 0], [END, 0, 0, 0, 0]]


def test_the_backward_half_is_the_forward_half_on_text_turned_round(bilm: Bilm) -> None:
    bilm.backwards.load_state_dict(bilm.forwards.state_dict())
    turned = turn_round(ROWS, LENGTHS)
    straight, round_about = bilm.read(ROWS, LENGTHS), bilm.read(turned, LENGTHS)
    torch.testing.assert_close(straight.states[1], round_about.states[0])
    assert torch.equal(straight.wanted[1], round_about.wanted[0])
    for one, other in zip(bilm.layers(ROWS, LENGTHS)[1:], bilm.layers(turned, LENGTHS)[1:], strict=True):
        forward, backward = turn_round(one, LENGTHS).chunk(2, dim=-1)
        expected = torch.cat([backward, forward], dim=-1)
        for row, length in enumerate(LENGTHS.tolist()):
            torch.testing.assert_close(other[row, :length], expected[row, :length])


def changed(bilm: Bilm, place: int) -> list[Tensor]:
    """Return the places of the last layer that change in its forward and backward halves when one word does."""
    other = ROWS[:1].clone()
    other[0, place] = 9
    before, after = (bilm.layers(rows, LENGTHS[:1])[-1][0].chunk(2, dim=-1) for rows in (ROWS[:1], other))
    return [(one != two).any(dim=-1) for one, two in zip(before, after, strict=True)]


def test_the_forward_half_knows_what_came_and_the_backward_half_what_comes(bilm: Bilm) -> None:
    forward, backward = changed(bilm, 2)
    assert forward.tolist() == [False, False, True, True]
    assert backward.tolist() == [True, True, True, False]


def test_layer_0_is_the_word_vector_wherever_it_stands(bilm: Bilm) -> None:
    layers = bilm.layers(ROWS, LENGTHS)
    assert [layer.shape[-1] for layer in layers] == [5, 12, 12]
    torch.testing.assert_close(layers[0][0, 0], bilm.embedding.weight[4] * 5**0.5)
    assert torch.equal(layers[0][0, 0], layers[0][1, 1])  # the same word, 4


def test_the_last_layer_is_what_predictions_are_made_from(bilm: Bilm) -> None:
    read, last = bilm.read(ROWS, LENGTHS), bilm.layers(ROWS, LENGTHS)[-1]
    torch.testing.assert_close(last[0, :, :6], read.states[0, 0, 1:])
    torch.testing.assert_close(last[0, :, 6:], read.states[1, 0, 1:].flip(0))


def test_tied_means_one_matrix_and_equal_widths() -> None:
    tied = build(width=5, tied=True)
    assert tied.output.weight is tied.embedding.weight
    with pytest.raises(Fault, match="tied needs embedding and width to be equal, not 5 and 6"):
        build(tied=True)
