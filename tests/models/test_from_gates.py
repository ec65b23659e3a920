"""Five steps from gates to attention: each compared with its formula in float64, and its weights."""

import math
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from regard.attention import Causal, watching
from regard.base.faults import Fault
from regard.base.recipe import check
from regard.models.from_gates import FromGates, FromGatesOptions
from regard.models.recurrent.implied import implied_weights

STEPS = range(5)
TOKENS = 11


def build(step: int, **more: Any) -> FromGates:
    torch.manual_seed(step + 1)
    sizes = {"layers": 2, "width": 8, "heads": 2, "context": 12, "step": step, "dropout": 0.0, "attention_dropout": 0.0}
    model = FromGates(check(FromGatesOptions, sizes | more), TOKENS).double().eval()
    with torch.no_grad():
        for parameter in model.parameters():  # GPT's initial weights are so small that every gate is a half
            parameter.copy_(torch.randn_like(parameter) * (0.5 if parameter.dim() > 1 else 0.1))
    return model


def tokens(rows: int = 3, time: int = 7) -> Tensor:
    return torch.randint(TOKENS, (rows, time), generator=torch.Generator().manual_seed(5))


def affine(layer: nn.Linear, vector: Tensor) -> Tensor:
    return layer.weight @ vector + layer.bias


@torch.no_grad()
def written_out(part: Any, step: int, inputs: Tensor) -> Tensor:
    """Mix one row (time, width) number by number, following the formulas."""
    time, width = inputs.shape
    candidates: list[Tensor] = []
    gates: list[Tensor] = []
    states: list[Tensor] = []
    hidden = torch.zeros(width, dtype=torch.double)
    for t in range(time):
        x = inputs[t]
        if step < 2:
            read, back = affine(part.from_input, x), affine(part.from_state, hidden)
            if step == 0:
                z = (read[:width] + back[:width]).sigmoid() if t else torch.zeros(width, dtype=torch.double)
                gates.append(z)
                read, back = read[width:], back[width:]
            reset = (read[:width] + back[:width]).sigmoid()
            candidates.append((read[width:] + reset * back[width:]).tanh())
        else:
            candidates.append(affine(part.to_value, x).tanh())
        if step == 0:
            products = [
                (1 - gates[i]) * torch.stack([torch.ones(width), *gates[i + 1 :]]).prod(0) for i in range(t + 1)
            ]
            hidden = sum(weight * candidate for weight, candidate in zip(products, candidates, strict=True))
        else:
            heads, query = (2 if step == 4 else 1), affine(part.to_query, x)
            keys = [affine(part.to_key, inputs[i]) for i in range(t + 1)] if step > 2 else candidates
            depth = width // heads
            mixed = []
            for head in range(heads):
                columns = slice(head * depth, (head + 1) * depth)
                scores = [math.exp(float(query[columns] @ key[columns]) / math.sqrt(depth)) for key in keys]
                mixed.append(sum(s / sum(scores) * c[columns] for s, c in zip(scores, candidates, strict=True)))
            hidden = torch.cat(mixed)
        states.append(affine(part.out, hidden))
    return torch.stack(states)


@pytest.mark.parametrize("step", STEPS)
def test_each_step_is_its_formula(step: int) -> None:
    part = build(step).blocks[0].look_back
    inputs = torch.randn(2, 6, 8, dtype=torch.double)
    mixed, _ = part(inputs, None, Causal())
    torch.testing.assert_close(mixed, torch.stack([written_out(part, step, row) for row in inputs]))


def test_step_zero_is_torchs_gru_from_the_second_token_on() -> None:
    part = build(0).blocks[0].look_back
    gru = nn.GRU(8, 8, batch_first=True).double()
    with torch.no_grad():  # torch puts the reset gate first
        for ours, theirs in (("from_input", "ih"), ("from_state", "hh")):
            for kind in ("weight", "bias"):
                update, reset, candidate = getattr(getattr(part, ours), kind).chunk(3)
                getattr(gru, f"{kind}_{theirs}_l0").copy_(torch.cat([reset, update, candidate]))
    inputs = torch.randn(2, 6, 8, dtype=torch.double)
    _, cache = part(inputs, None, Causal())
    states = cache.values[:, 0]
    torch.testing.assert_close(gru(inputs[:, 1:], states[None, :, 0].contiguous())[0], states[:, 1:])


@pytest.mark.parametrize("step", STEPS)
def test_the_weights_of_every_step_sum_to_one_and_never_look_ahead(step: int) -> None:
    model = build(step)
    with watching(model) as gazes:
        model.read(tokens(), model.begin(3))
    assert len(gazes) == 2
    for gaze in gazes:
        weights = torch.as_tensor(gaze.weights)
        assert weights.shape == (3, 2 if step == 4 else 1, 7, 7)
        torch.testing.assert_close(weights.sum(-1), torch.ones_like(weights.sum(-1)), rtol=0, atol=1e-6)
        assert not weights.triu(1).any()


def test_the_printed_products_of_gates_do_not_sum_to_one_and_ours_do() -> None:
    """Π_{j>i} z_j alone is 1 for the last candidate, so any other makes the sum exceed one."""
    gates = torch.rand(1, 5, 3, dtype=torch.double, generator=torch.Generator().manual_seed(1))
    gates[:, 0] = 0  # nothing precedes the first
    ours = implied_weights(gates)[0, -1]
    printed = torch.stack([gates[0, i + 1 :].prod(0) for i in range(5)])
    torch.testing.assert_close(ours.sum(0), torch.ones(3, dtype=torch.double))
    torch.testing.assert_close(ours[1:], (1 - gates[0]) * printed)
    assert (printed.sum(0) > 1.1).all()


@pytest.mark.parametrize("step", STEPS)
def test_reading_on_is_reading_at_once_and_padding_changes_nothing(step: int) -> None:
    model = build(step)
    whole = model.read(tokens(), model.begin(3)).states
    memory, outputs = model.begin(3), []
    for place in range(7):
        reading = model.read(tokens()[:, place : place + 1], memory)
        memory = reading.memory
        outputs.append(reading.states)
    torch.testing.assert_close(torch.cat(outputs, dim=1), whole)
    parts = [model.read(tokens()[row : row + 1, :length], model.begin(1)).memory for row, length in enumerate((4, 2))]
    joined = model.join([*parts, model.begin(1)])  # one of them has read nothing
    after = model.read(tokens()[:, 4:], joined).states
    for row, length in enumerate((4, 2, 0)):
        text = torch.cat([tokens()[row, :length], tokens()[row, 4:]])[None]
        torch.testing.assert_close(after[row], model.read(text, model.begin(1)).states[0, length:])


@pytest.mark.one_in(3)
@pytest.mark.parametrize("step", STEPS)
def test_gradients_are_those_of_finite_differences(step: int) -> None:
    model = build(step, layers=1, width=4, feed_forward=4)
    for parameter in model.parameters():
        parameter.requires_grad_(False)
    names = [name for name, _ in model.blocks[0].look_back.named_parameters()]
    values = tuple(value.clone().requires_grad_() for _, value in model.blocks[0].look_back.named_parameters())

    def loss(*given: Tensor) -> Tensor:
        named = {f"blocks.0.look_back.{name}": value for name, value in zip(names, given, strict=True)}
        return torch.func.functional_call(model, named, (tokens(2, 5), model.begin(2)))

    model.forward = lambda text, memory: model.cross_entropy(model.read(text, memory).states, text)
    assert torch.autograd.gradcheck(loss, values, fast_mode=True)


@pytest.mark.parametrize("step", STEPS)
def test_every_weight_learns(step: int) -> None:
    model = build(step).train()
    model.cross_entropy(model.read(tokens(), model.begin(3)).states, tokens()).backward()
    still = {name for name, parameter in model.named_parameters() if parameter.grad is None or not parameter.grad.any()}
    assert still <= {"blocks.0.look_back.to_key.bias", "blocks.1.look_back.to_key.bias"}  # a softmax cannot see it


def test_the_steps_have_about_as_many_weights() -> None:
    sizes = [sum(parameter.numel() for parameter in build(step, width=32).parameters()) for step in STEPS]
    assert max(sizes) < 1.4 * min(sizes)
    assert sizes[3] == sizes[4]


@pytest.mark.parametrize(
    ("model", "words"),
    [
        ({"step": 5}, "step"),
        ({"positions": "rotary"}, "positions is 'rotary', which is for family gpt"),
        ({"key_value_heads": 1}, "key_value_heads is for family gpt"),
    ],
)
def test_what_cannot_be_built_is_refused(model: dict[str, Any], words: str) -> None:
    with pytest.raises(Fault, match=words):
        check(FromGatesOptions, model)
