"""Ways to build the heads of a Transformer: each option matters, impossible ones are refused, all have a cost.

The laws that every build obeys are in tests/test_laws.py.
"""

from typing import Any

import pytest
import torch
from torch import Tensor

from regard.base.faults import Fault
from regard.base.recipe import check
from regard.models.transformer.network import Transformer
from regard.models.transformer.options import TransformerOptions

SIZES = {"encoder_layers": 2, "decoder_layers": 2, "width": 16, "feed_forward": 24, "heads": 4, "longest": 20}
BUILDS: list[dict[str, Any]] = [
    {"positions": "alibi"},
    {"positions": "alibi", "key_value_heads": 1, "score": "additive"},
    {"key_value_heads": 2},
    {"shared_key_value": True, "positions": "rotary"},
    {"join": "averaged", "norm": "before"},
    {"score": "dot"},
    {"score": "bilinear", "positions": "rotary"},
    {"score": "additive"},
]


def build(**more: Any) -> Transformer:
    torch.manual_seed(1)
    return Transformer(check(TransformerOptions, SIZES | more), 30, 30, True, pad=0).double().eval()


def batch() -> tuple[Tensor, Tensor, Tensor]:
    generator = torch.Generator().manual_seed(2)
    source = torch.randint(4, 25, (3, 7), generator=generator)
    return source, torch.tensor([7, 5, 2]), torch.randint(4, 25, (3, 6), generator=generator)


def states(model: Transformer, source: Tensor, lengths: Tensor, target: Tensor) -> Tensor:
    memory = model.read(source, lengths)
    return model.write(target, memory, model.begin(memory))[0]


def test_every_option_changes_something() -> None:
    arguments = batch()
    outputs = [states(build(**more), *arguments) for more in [{}, *BUILDS]]
    for number, one in enumerate(outputs):
        assert not any(torch.allclose(one, other) for other in outputs[number + 1 :])


@pytest.mark.parametrize("more", [{}, {"score": "additive"}, {"key_value_heads": 1}, {"join": "averaged"}])
def test_without_positions_a_sentence_is_a_bag(more: dict[str, Any]) -> None:
    source, order = batch()[0][:1], torch.tensor([3, 0, 6, 1, 5, 2, 4])
    lengths, blind, placed = torch.tensor([7]), build(positions="none", **more), build(positions="alibi", **more)
    torch.testing.assert_close(blind.encode(source[:, order], lengths), blind.encode(source, lengths)[:, order])
    assert not torch.allclose(placed.encode(source[:, order], lengths), placed.encode(source, lengths)[:, order])


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"key_value_heads": 3}, "4 heads cannot share 3 heads of keys and values evenly"),
        ({"key_value_heads": 0}, "key_value_heads is 0, expected 1 or more"),
        ({"score": "location"}, "score is 'location', expected one of 'scaled-dot', 'dot', 'bilinear', 'additive'"),
        ({"join": "summed"}, "join is 'summed', expected one of 'concatenated', 'averaged'"),
        ({"positions": "relative"}, "positions is 'relative', expected one of .*'alibi'"),
        ({"width": 12, "positions": "rotary"}, "a head has 3 coordinates"),
    ],
)
def test_impossible_builds_are_refused(more: dict[str, Any], words: str) -> None:
    with pytest.raises(Fault, match=words):
        build(**more)
    build(width=12, positions="rotary", join="averaged", shared_key_value=True)  # here a head has 12


@pytest.mark.parametrize("more", BUILDS, ids=lambda build: "-".join(map(str, build.values())))
def test_cost_is_every_matrix_once_a_token_and_every_look(more: dict[str, Any]) -> None:
    model = build(**more)
    matrices = sum(p.numel() for name, p in model.named_parameters() if p.dim() == 2 and ".score." not in name)
    looking = 6 * model.encoder[0].self_look.multiplications(5)
    assert model.cost(5)["multiplications"] == 5 * matrices + looking
    assert model.cost(5)["weights"] == 6 * 4 * 25
