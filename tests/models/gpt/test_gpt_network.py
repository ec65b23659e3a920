"""The decoder-only Transformer: laws of every build, the end of its context, and its refusals."""

import math
from typing import Any

import pytest
import torch
from torch import Tensor

from regard.base.faults import Fault
from regard.base.recipe import check
from regard.models.gpt import memory as remembered
from regard.models.gpt.network import GPT
from regard.models.gpt.options import GPTOptions
from regard.models.language import LanguageNetwork

SIZES = {"layers": 2, "width": 8, "heads": 2, "context": 6}
BUILDS: list[dict[str, Any]] = [
    {},
    {"positions": "rotary", "key_value_heads": 1},
    {"positions": "alibi", "norm": "after"},
    {"positions": "sinusoidal", "activation": "swish", "tied": False},
]


def network(**chosen: Any) -> GPT:
    torch.manual_seed(1)
    model = GPT(check(GPTOptions, SIZES | chosen), 11, (0, 2)).double().eval()
    for parameter in model.parameters():
        torch.nn.init.normal_(parameter, std=0.5)
    return model


@pytest.fixture(params=BUILDS, ids=str)
def build(request: pytest.FixtureRequest) -> GPT:
    return network(**request.param)


def drawn(rows: int, time: int) -> Tensor:
    return torch.randint(1, 11, (rows, time), generator=torch.Generator().manual_seed(2))


def states_of(build: GPT, tokens: Tensor) -> Tensor:
    return build.read(tokens, build.begin(len(tokens))).states


def test_it_is_what_a_language_model_asks_for(build: GPT) -> None:
    assert isinstance(build, LanguageNetwork)
    assert build.layers(torch.tensor([[1, 2]]))


def test_a_later_token_never_changes_an_earlier_state(build: GPT) -> None:
    tokens = drawn(2, 6)
    changed = tokens.clone()
    changed[:, 4] = 11 - changed[:, 4]
    torch.testing.assert_close(states_of(build, changed)[:, :4], states_of(build, tokens)[:, :4])
    assert not torch.allclose(states_of(build, changed)[:, 4:], states_of(build, tokens)[:, 4:])


def test_read_token_by_token_it_knows_what_it_knows_at_once(build: GPT) -> None:
    tokens, memory, outputs = drawn(2, 6), build.begin(2), []
    for time in range(6):
        reading = build.read(tokens[:, time : time + 1], memory)
        memory = reading.memory
        outputs.append(reading.states)
    torch.testing.assert_close(torch.cat(outputs, dim=1), states_of(build, tokens))
    torch.testing.assert_close(build.layers(tokens)[-1], states_of(build, tokens))
    assert len(build.layers(tokens)) == 3


def test_rows_of_different_lengths_change_nothing_for_one_another(build: GPT) -> None:
    """This holds even if one row forgets: one reads 5 tokens and 3 more, the other 2 and 3 more."""
    long, short, more = drawn(1, 5), drawn(2, 2), drawn(3, 3)
    alone = [build.read(rows, build.begin(len(rows))).memory for rows in (long, short)]
    joined = build.join(alone)
    together = []
    for time in range(3):
        reading = build.read(more[:, time : time + 1], joined)
        joined = reading.memory
        together.append(reading.states)
    expected = [build.read(more[:1], alone[0]).states, build.read(more[1:], alone[1]).states]
    torch.testing.assert_close(torch.cat(together, dim=1), torch.cat(expected))


def test_the_older_half_of_a_full_context_is_forgotten(build: GPT) -> None:
    """With 6 places the 7th token is read after the 4th to 6th, the 10th after the 7th to 9th."""
    tokens = drawn(2, 11)
    states = states_of(build, tokens)
    torch.testing.assert_close(states[:, :6], states_of(build, tokens[:, :6]))
    torch.testing.assert_close(states[:, 6:9], states_of(build, tokens[:, 3:9])[:, 3:])
    torch.testing.assert_close(states[:, 9:], states_of(build, tokens[:, 6:11])[:, 3:])
    assert [build.forgotten(read) for read in (0, 6, 7, 9, 10, 12, 13)] == [0, 0, 3, 3, 6, 6, 9]
    memory = build.read(tokens, build.begin(2)).memory
    assert remembered.columns(memory) == 11 - build.forgotten(11)


def test_what_is_never_written_has_no_probability_and_no_share_in_the_loss(build: GPT) -> None:
    tokens, targets = drawn(2, 5), drawn(2, 5)
    targets[0, 0], targets[targets == 2] = -1, 3
    states = states_of(build, tokens)
    logits = build.logits(states)
    assert (logits.softmax(-1)[..., [0, 2]] == 0).all()
    nats = torch.nn.functional.cross_entropy(logits.flatten(0, 1), targets.flatten(), ignore_index=-1, reduction="sum")
    torch.testing.assert_close(build.cross_entropy(states, targets), nats)


def test_weights_are_drawn_as_gpt_2_draws_them() -> None:
    torch.manual_seed(1)
    model = GPT(check(GPTOptions, {"layers": 8, "width": 64, "heads": 4, "context": 32}), 500)
    assert model.embedding.weight.std().item() == pytest.approx(0.02, rel=0.05)
    outs = [block.feed_forward.outer.weight.std().item() for block in model.blocks]
    assert outs == pytest.approx([0.02 / math.sqrt(16)] * 8, rel=0.05)


def test_a_preset_gives_what_is_not_given_and_the_small_one_has_124_million_parameters() -> None:
    from regard.models.shapes import ShapesOnly

    assert check(GPTOptions, {"preset": "shakespeare", "layers": 2}).model_dump()["width"] == 384
    with ShapesOnly():
        model = GPT(check(GPTOptions, {}), 50_257)
    assert sum(parameter.numel() for parameter in model.parameters()) == 124_439_808


@pytest.mark.parametrize(
    ("chosen", "sentence"),
    [
        ({"heads": 3}, "width 8 cannot be shared out among 3 heads"),
        ({"key_value_heads": 4}, "2 heads cannot share 4 heads of keys and values evenly"),
        ({"overlap": 6}, "overlap is 6, but must be less than the window, which is the context of 6"),
        ({"positions": "rotary", "width": 6}, "rotary positions use pairs of coordinates, but a head has 3"),
    ],
)
def test_sizes_that_do_not_go_together_are_refused(chosen: dict[str, Any], sentence: str) -> None:
    with pytest.raises(Fault, match=sentence):
        check(GPTOptions, SIZES | chosen)
