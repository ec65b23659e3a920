"""The recurrent translators: equations, options, and what they learn in seconds."""

from typing import Any

import pytest
import torch
from torch import Tensor

from regard.base.faults import Fault
from regard.base.recipe import check
from regard.data.tokenisers.bytewise import ByteTokeniser
from regard.models.recurrent.seq2seq import Seq2Seq
from regard.models.recurrent.seq2seq_options import Seq2SeqOptions
from regard.tasks.translation.exploring import Exploring
from regard.tasks.translation.objectives import objective_for
from regard.tasks.translation.task import Translation

SIZES = {"embedding": 12, "width": 16, "dropout": 0.0}


def build(**table: Any) -> Seq2Seq:
    torch.manual_seed(1)
    return Seq2Seq(check(Seq2SeqOptions, SIZES | table), 30, 25, False, 0).double().eval()


def batch() -> tuple[Tensor, Tensor, Tensor]:
    generator = torch.Generator().manual_seed(2)
    source = torch.randint(4, 25, (3, 7), generator=generator)
    target = torch.randint(4, 25, (3, 6), generator=generator)
    return source, torch.tensor([7, 5, 2]), target


def states(model: Seq2Seq, own: float = 0.0) -> Tensor:
    source, lengths, target = batch()
    memory = model.read(source, lengths)
    return model.write(target, memory, model.begin(memory), own)[0]


def test_luongs_first_step_on_paper() -> None:
    """h′ = LSTM([y, 0], s₀); α = softmax(h′ᵀ W h); h = tanh(W_c [c, h′])."""
    model = build(decoder="luong", score="bilinear")
    source, lengths, target = batch()
    memory = model.read(source[:1], lengths[:1])
    began = model.begin(memory)
    cell = model.decoder.stack.layers[0]
    embedded = torch.cat([model.target_embedding(target[:1, :1])[:, 0], torch.zeros(1, 16, dtype=torch.float64)], -1)
    _, (hidden, _) = cell(embedded[:, None], tuple(part[None] for part in began.hidden[0]))
    alpha = (model.decoder.look.score.weight(hidden[0]) @ memory.states[0].T).softmax(-1)
    expected = model.decoder.combine(torch.cat([alpha @ memory.states[0], hidden[0]], -1)).tanh()
    torch.testing.assert_close(model.write(target[:1, :1], memory, began)[0][0], expected)


def test_bahdanaus_first_step_on_paper() -> None:
    """α comes from s₀, s₁ = GRU([y, c], s₀), then the larger of each pair of W [s₁, y, c]."""
    model = build(decoder="bahdanau", cell="gru", score="additive")
    source, lengths, target = batch()
    memory = model.read(source[:1], lengths[:1])
    before, look = model.begin(memory).hidden[0][0], model.decoder.look.score
    energies = look.energy((look.of_query(before) + look.of_key(memory.states[0])).tanh())[:, 0]
    context = energies.softmax(0) @ memory.states[0]
    embedded = model.target_embedding(target[:1, :1])[0, 0]
    _, after = model.decoder.stack.layers[0](torch.cat([embedded, context])[None, None], before[None])
    pairs = model.decoder.deep(torch.cat([after[0, 0], embedded, context])).view(16, 2)
    expected = torch.maximum(pairs[:, 0], pairs[:, 1])
    torch.testing.assert_close(model.write(target[:1, :1], memory, model.begin(memory))[0][0, 0], expected)


def test_a_bottleneck_sees_only_where_the_encoder_ended() -> None:
    model = build(decoder="bottleneck")
    source, lengths, target = batch()
    memory = model.read(source, lengths)
    blinded = memory._replace(values=torch.zeros_like(memory.values))
    torch.testing.assert_close(
        model.write(target, blinded, model.begin(memory))[0], model.write(target, memory, model.begin(memory))[0]
    )


OPTIONS = [
    {"cell": "gru"}, {"cell": "vanilla"}, {"decoder": "bahdanau"}, {"decoder": "bottleneck"}, {"score": "dot"},
    {"score": "bilinear"}, {"score": "location"}, {"score": "mixed"}, {"normaliser": "plain"},
    {"normaliser": "sparsemax"}, {"normaliser": "entmax"}, {"window": "monotonic", "reach": 1},
    {"window": "predictive"}, {"hard": "reinforce"}, {"input_feeding": False}, {"bidirectional": False},
    {"encoder_layers": 2}, {"decoder_layers": 2}, {"tied": True, "embedding": 16},
]  # fmt: skip


@pytest.mark.parametrize("change", OPTIONS, ids=lambda change: "-".join(map(str, change.values())))
def test_changing_an_option_changes_the_output(change: dict[str, Any]) -> None:
    assert not torch.allclose(states(build(**change)), states(build()))


def test_residual_and_reach_and_dropout_change_the_output() -> None:
    deep = {"encoder_layers": 2, "decoder_layers": 2}
    assert not torch.allclose(states(build(**deep, residual=True)), states(build(**deep)))
    local = {"window": "monotonic"}
    assert not torch.allclose(states(build(**local, reach=1)), states(build(**local, reach=3)))
    assert not torch.allclose(states(build(dropout=0.5).train()), states(build()))


def test_scheduled_sampling_feeds_own_tokens() -> None:
    for decoder in ("bottleneck", "bahdanau", "luong"):
        model = build(decoder=decoder)
        forced, mixed = states(model), states(model, own=1.0)
        torch.testing.assert_close(mixed[:, 0], forced[:, 0])  # nothing precedes the first
        assert not torch.allclose(mixed[:, 1:], forced[:, 1:])


def test_true_tokens_learn_as_ever_beside_own_ones() -> None:
    gradients = []
    for rate in (0.0, 1e-12):  # so rare that it never happens, but the sampling path is taken
        model = build(decoder="bahdanau")
        states(model, rate).sum().backward()
        gradients.append([parameter.grad for parameter in model.parameters() if parameter.grad is not None])
    torch.testing.assert_close(gradients[0], gradients[1])


def test_the_share_of_own_tokens_grows() -> None:
    objective = objective_for(check(Seq2SeqOptions, {"own_tokens": 0.5, "own_tokens_after": 10}), 0.0)
    assert isinstance(objective, Exploring)
    assert [objective._share(batches) for batches in (0, 5, 10, 99)] == [0.0, 0.25, 0.5, 0.5]
    at_once = objective_for(check(Seq2SeqOptions, {"own_tokens": 0.5}), 0.0)
    assert isinstance(at_once, Exploring)
    assert at_once._share(0) == 0.5


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ({"width": 15}, "width 15 is odd, but two directions share it"),
        ({"tied": True}, "tied needs embedding and width to be equal, not 12 and 16"),
        ({"decoder": "bottleneck", "score": "dot"}, "a bottleneck has no attention, so score would do nothing"),
        ({"decoder": "bahdanau", "input_feeding": False}, "only Luong's decoder is fed its states, so input_feeding"),
        ({"reach": 3}, "there is no window, so reach would do nothing"),
        ({"entropy": 0.5}, "no choice is learnt by reinforce, so entropy would do nothing"),
        ({"own_tokens_after": 9}, "own_tokens is 0, so own_tokens_after would do nothing"),
        ({"decoder": "bahdnau"}, "decoder is 'bahdnau', expected one of 'bottleneck', 'bahdanau', 'luong'"),
        ({"hard": "soft"}, "hard is 'soft', expected one of"),
    ],
)
def test_impossible_builds_are_refused(table: dict[str, Any], words: str) -> None:
    with pytest.raises(Fault, match=words):
        check(Seq2SeqOptions, SIZES | table)


def test_cost_on_paper() -> None:
    model = build(decoder="luong", score="dot")
    matrices = sum(p.numel() for n, p in model.named_parameters() if p.dim() == 2 and "embedding" not in n)
    assert model.cost(1) == {
        "multiplications": matrices + 2 * 16,
        "attention_share": 2 * 16 / (matrices + 2 * 16),
        "weights": 1,
    }
    assert build(decoder="bottleneck").cost(10)["weights"] == 0


def _learn(task: Translation, pairs: list[tuple[str, str]], steps: int) -> float:
    """Return the accuracy of the next letter after some steps."""
    task.train()
    optimizer = torch.optim.Adam(task.parameters(), lr=2e-2)
    batch, carry = task.pair_up(pairs), None
    for _ in range(steps):
        loss = task.loss(batch, carry)
        carry = loss.carry
        (loss.total / loss.count).backward()
        torch.nn.utils.clip_grad_norm_(task.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()
    task.eval()
    return task.measure(batch)["accuracy"].value


@pytest.mark.parametrize(
    "table",
    [
        {"decoder": "luong", "score": "bilinear"},
        pytest.param({"decoder": "bahdanau", "cell": "gru"}, marks=pytest.mark.long),
        pytest.param({"decoder": "bottleneck", "score": "additive"}, marks=pytest.mark.long),
        pytest.param({"hard": "reinforce", "score": "mixed"}, marks=pytest.mark.long),
        pytest.param({"hard": "straight-through", "decoder": "bahdanau"}, marks=pytest.mark.long),
        pytest.param({"own_tokens": 0.25}, marks=pytest.mark.long),
    ],
    ids=lambda table: "-".join(map(str, table.values())),
)
def test_a_toy_is_learnt_in_seconds(table: dict[str, Any]) -> None:
    """Words and their letters backwards."""
    torch.manual_seed(1)
    bytewise = ByteTokeniser()
    options = check(Seq2SeqOptions, {"embedding": 24, "width": 32, "dropout": 0.0} | table)
    task = Translation(Seq2Seq(options, 260, 260, False, 0), bytewise, bytewise, objective_for(options, 0.0))
    words = ["abc", "bca", "cab", "acb", "bac", "cba", "ab", "ba", "ca", "ac"]
    assert _learn(task, [(word, word[::-1]) for word in words], 60) > 0.95
