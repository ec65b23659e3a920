"""The recurrent language model compared with plain torch, its kinds of dropout, and continued reading."""

import math
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from regard.base.faults import Fault
from regard.base.recipe import check
from regard.models.recurrent.dropout import LockedDropout, drop_words
from regard.models.recurrent.language import RecurrentLanguage, RecurrentLanguageOptions
from regard.models.recurrent.layers import CELLS, Stack

TOKENS = 7


def build(**options: Any) -> RecurrentLanguage:
    torch.manual_seed(0)
    table = {"embedding": 4, "width": 6, **options}
    return RecurrentLanguage(check(RecurrentLanguageOptions, table), TOKENS).double()


def tokens(rows: int = 2, time: int = 8) -> Tensor:
    return torch.randint(TOKENS, (rows, time), generator=torch.Generator().manual_seed(1))


@pytest.fixture(params=CELLS)
def cell(request: pytest.FixtureRequest) -> str:
    return str(request.param)


class Plain(nn.Module):
    """The same model from torch's own modules, assembled as in a tutorial."""

    def __init__(self, cell: str, tied: bool) -> None:
        super().__init__()
        self.embed = nn.Embedding(TOKENS, 4)
        self.lower = CELLS[cell](4, 6, batch_first=True)
        self.upper = CELLS[cell](6, 4 if tied else 6, batch_first=True)
        self.out = nn.Linear(4 if tied else 6, TOKENS)
        if tied:
            self.out.weight = self.embed.weight

    def forward(self, read: Tensor) -> Tensor:
        return self.out(self.upper(self.lower(self.embed(read))[0])[0])


@pytest.mark.parametrize("tied", [False, True])
def test_logits_and_gradients_are_those_of_plain_torch(cell: str, tied: bool) -> None:
    ours, theirs = build(cell=cell, tied=tied), Plain(cell, tied).double()
    named = dict(ours.named_parameters())
    pairs = {"embed.weight": "embeddings", "out.weight": "output", "out.bias": "bias"}
    for name, weight in theirs.named_parameters():
        counterpart = pairs.get(name) or name.replace("lower", "stack.layers.0").replace("upper", "stack.layers.1")
        weight.data.copy_(named[counterpart])
    logits = ours.logits(ours.read(tokens(), ours.begin(2)).states)
    expected = theirs(tokens())
    torch.testing.assert_close(logits, expected)
    for outputs in (logits, expected):
        F.cross_entropy(outputs.flatten(0, 1), tokens().roll(-1, 1).flatten()).backward()
    torch.testing.assert_close(ours.embeddings.grad, theirs.embed.weight.grad)
    assert len(named) == len(list(theirs.parameters()))


def test_reading_on_from_what_is_remembered_is_reading_the_whole(cell: str) -> None:
    model = build(cell=cell)
    whole = model.read(tokens(), model.begin(2))
    memory, states = model.begin(2), []
    for part in tokens().split([3, 1, 4], dim=1):
        reading = model.read(part, memory)
        states.append(reading.states)
        memory = reading.memory
    torch.testing.assert_close(torch.cat(states, dim=1), whole.states)
    torch.testing.assert_close(memory, whole.memory)


def test_what_is_never_written_has_no_probability() -> None:
    model = RecurrentLanguage(RecurrentLanguageOptions(embedding=4, width=6), TOKENS, never=(0, 2))
    probabilities = model.logits(model.read(tokens(), model.begin(2)).states).softmax(-1)
    assert probabilities[..., [0, 2]].count_nonzero() == 0
    torch.testing.assert_close(probabilities.sum(-1), torch.ones(2, 8))


def test_locked_dropout_has_one_mask_for_all_time_steps() -> None:
    torch.manual_seed(0)
    dropped = LockedDropout(0.5)(torch.ones(3, 50, 40))
    assert {*dropped.unique().tolist()} == {0.0, 2.0}
    assert dropped.equal(dropped[:, :1].expand(3, 50, 40))
    assert not dropped[0].equal(dropped[1])
    assert LockedDropout(0.5).eval()(torch.ones(1, 2, 3)).equal(torch.ones(1, 2, 3))


def test_whole_words_are_dropped_wherever_they_occur() -> None:
    torch.manual_seed(0)
    dropped = drop_words(torch.ones(1000, 5), 0.25)
    assert dropped.equal(dropped[:, :1].expand(1000, 5))
    assert dropped.unique().tolist() == [0, pytest.approx(4 / 3)]
    assert 0.2 < (dropped[:, 0] == 0).double().mean() < 0.3


def differences_in_time(model: RecurrentLanguage) -> Tensor:
    """Return how far states at later steps differ from the first, for one repeated token without memory."""
    for name, weight in model.stack.named_parameters():
        if "hh" in name:
            nn.init.zeros_(weight)
    states = model.read(torch.full((3, 20), 5), model.begin(3)).states
    return (states - states[:, :1]).abs()


@pytest.mark.parametrize("where", ["input_dropout", "layer_dropout", "output_dropout"])
def test_dropout_anywhere_is_locked_unless_it_is_not(where: str) -> None:
    """A vanilla cell without state-to-state weights gives the same at each step, except for the masks."""
    assert differences_in_time(build(cell="vanilla", **{where: 0.5})).max() < 1e-12
    assert differences_in_time(build(cell="vanilla", locked=False, **{where: 0.5})).max() > 1e-3


@pytest.mark.parametrize("bidirectional", [False, True])
def test_weight_drop_leaves_out_weights_from_state_to_state(cell: str, bidirectional: bool) -> None:
    """The output equals that of a layer with the mask applied to its matrix."""
    torch.manual_seed(0)
    stack = Stack(cell, 5, 6, 1, weight_drop=0.5, bidirectional=bidirectional).double()
    inputs = torch.randn(2, 4, 5, dtype=torch.float64)
    torch.manual_seed(1)
    outputs, final = stack(inputs)
    torch.manual_seed(1)
    layer = stack.layers[0]
    with torch.no_grad():
        weights = {name: weight.clone() for name, weight in layer.named_parameters()}
        for name, weight in layer.named_parameters():
            if name.startswith("weight_hh"):
                weight.copy_(F.dropout(weight, 0.5))
                assert 0 < (weight == 0).sum() < weight.numel()
    expected, last = stack.eval()(inputs)
    torch.testing.assert_close(outputs, expected)
    torch.testing.assert_close(final, last)
    with torch.no_grad():
        for name, weight in layer.named_parameters():
            weight.copy_(weights[name])
    plain = Stack(cell, 5, 6, 1, bidirectional=bidirectional).double()
    plain.load_state_dict(stack.state_dict())
    torch.testing.assert_close(stack(inputs)[0], plain(inputs)[0])  # outside training it is the whole matrix


def test_weights_are_drawn_as_published() -> None:
    zaremba = build(uniform=0.05)
    assert all(0.03 < weight.abs().max() <= 0.05 for weight in zaremba.parameters())
    merity = build()
    assert 0.05 < merity.embeddings.abs().max() <= 0.1
    assert 0.1 < merity.get_parameter("stack.layers.0.weight_hh_l0").abs().max() <= 1 / math.sqrt(6)
    assert not merity.bias.any()


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ({"bidirectional": True}, "a model that reads what follows a place cannot predict it"),
        ({"layers": 1, "layer_dropout": 0.2}, "layer_dropout applies between layers, but there is only one"),
        ({"cell": "lstn"}, "cell is 'lstn', expected one of 'vanilla', 'lstm', 'gru'"),
    ],
)
def test_what_cannot_be_built_is_refused(table: dict[str, Any], words: str) -> None:
    with pytest.raises(Fault, match=words):
        check(RecurrentLanguageOptions, table)


def test_multiplications_are_counted_matrix_by_matrix() -> None:
    assert build().multiplications(3) == 3 * (4 * 6 * (4 + 6) + 4 * 6 * (6 + 6) + TOKENS * 6)
