"""Recurrent decoders as printed in lectures, each compared in float64 with its equations written out here."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor

from regard.base.faults import Fault
from regard.base.recipe import check
from regard.models.recurrent.cells import HiddenState, gru_step, weights_of
from regard.models.recurrent.seq2seq import Seq2Seq
from regard.models.recurrent.seq2seq_options import Seq2SeqOptions
from regard.tasks.translation.objectives import CrossEntropy, Forced

SIZES = {"embedding": 6, "width": 8, "dropout": 0.0}
GENERATOR = torch.Generator().manual_seed(2)
SOURCE = torch.randint(4, 25, (3, 7), generator=GENERATOR)
TARGET = torch.randint(4, 25, (3, 5), generator=GENERATOR)
LENGTHS = torch.tensor([7, 5, 2])


def build(**table: Any) -> Seq2Seq:
    torch.manual_seed(1)
    return Seq2Seq(check(Seq2SeqOptions, SIZES | table), 30, 25, False, 0).double().eval()


def states(model: Seq2Seq) -> Tensor:
    memory = model.read(SOURCE, LENGTHS)
    return model.write(TARGET, memory, model.begin(memory))[0]


def encoded(model: Seq2Seq, row: int) -> tuple[Tensor, Tensor]:
    """Return the encoder's states of one sentence and the decoder's initial state."""
    length = int(LENGTHS[row])
    states, last = model.encoder(model.source_embedding(SOURCE[row : row + 1, :length]), LENGTHS[row : row + 1])
    return states[0], model.bridge(last)[0].tanh()


def by_hand(model: Seq2Seq, step: Callable[[Tensor, Tensor, Tensor], tuple[Tensor, Tensor]]) -> Tensor:
    """Return the states of all rows by a step over a token's vector, the previous state and the encoder's states."""
    rows = []
    for row, tokens in enumerate(TARGET):
        read, state = encoded(model, row)
        outputs = []
        for vector in model.target_embedding(tokens[None])[0]:
            output, state = step(vector, state, read)
            outputs.append(output)
        rows.append(torch.stack(outputs))
    return torch.stack(rows)


def test_two_tanh_layers_with_a_look_between() -> None:
    """h′ = tanh(W_h [y, h] + b_h); c = Σ α h_i; h = tanh(W_c [c, h′] + b_c); o = W_o h + b_o."""
    model = build(decoder="tanh", score="dot")
    for layer in (model.decoder.enter, model.decoder.combine, model.out):
        torch.nn.init.normal_(layer.bias)
    (w_h, b_h), (w_c, b_c) = ((layer.weight, layer.bias) for layer in (model.decoder.enter, model.decoder.combine))

    def step(vector: Tensor, state: Tensor, read: Tensor) -> tuple[Tensor, Tensor]:
        entered = torch.tanh(w_h @ torch.cat([vector, state]) + b_h)
        context = torch.softmax(read @ entered, 0) @ read
        state = torch.tanh(w_c @ torch.cat([context, entered]) + b_c)
        return state, state

    expected = by_hand(model, step)
    torch.testing.assert_close(states(model), expected)
    torch.testing.assert_close(model.logits(states(model)), expected @ model.out.weight.T + model.out.bias)


def test_the_output_bias_behind_two_tanh_layers_learns() -> None:
    """As autograd derives it from the logits, with smoothing and without padding."""
    model = build(decoder="tanh", score="dot")
    inputs = states(model).flatten(0, 1).detach()
    targets = TARGET.flatten()
    CrossEntropy(0.1).of(model, Forced(inputs, targets)).backward()
    gradient, model.out.bias.grad = model.out.bias.grad, None
    loss = torch.nn.functional.cross_entropy(model.logits(inputs), targets, reduction="sum", label_smoothing=0.1)
    torch.testing.assert_close(gradient, torch.autograd.grad(loss, model.out.bias)[0])


def test_a_bottleneck_that_reads_its_context_at_each_step() -> None:
    """h′_t = f(h′_{t−1}, [y, c]), where c is the encoder's last state."""
    model = build(decoder="bottleneck", cell="gru", context_at_each_step=True)
    weights = weights_of(model.decoder.stack.layers[0])
    last = model.encoder.whole(model.source_embedding(SOURCE), LENGTHS)
    rows = []
    for tokens, context in zip(TARGET, last, strict=True):
        state, outputs = HiddenState(model.bridge(context).tanh()), []
        for vector in model.target_embedding(tokens[None])[0]:
            state, _ = gru_step(torch.cat([vector, context]), state, weights)
            outputs.append(state.hidden)
        rows.append(torch.stack(outputs))
    torch.testing.assert_close(states(model), torch.stack(rows))


def test_bahdanaus_score_sees_the_last_token() -> None:
    """e_i = wᵀ tanh(U [s_{t−1}, y_{t−1}] + V h_i), with an encoder of another width."""
    model = build(decoder="bahdanau", cell="gru", token_in_score=True, encoder_width=10)
    score, weights = model.decoder.look.score, weights_of(model.decoder.stack.layers[0])

    def step(vector: Tensor, state: Tensor, read: Tensor) -> tuple[Tensor, Tensor]:
        energies = score.energy((score.of_query(torch.cat([state, vector])) + score.of_key(read)).tanh())[:, 0]
        context = energies.softmax(0) @ read
        after, _ = gru_step(torch.cat([vector, context]), HiddenState(state), weights)
        pairs = model.decoder.deep(torch.cat([after.hidden, vector, context])).view(8, 2)
        return torch.maximum(pairs[:, 0], pairs[:, 1]), after.hidden

    torch.testing.assert_close(states(model), by_hand(model, step))


@pytest.mark.parametrize("shared", [False, True], ids=["K and V", "K = V"])
@pytest.mark.parametrize("join", ["concatenated", "averaged"])
def test_queries_keys_and_values_in_heads(shared: bool, join: str) -> None:
    """a_i = (K h_i)ᵀ(Q h′), c = Σ α V h_i in each of two heads, whose contexts are concatenated."""
    heads = {"projected": True, "heads": 2, "join": join, "shared_key_value": shared}
    model = build(decoder="tanh", score="dot", encoder_width=10, **heads)
    projections = model.decoder.projections
    values = projections.to_key if projections.to_value is None else projections.to_value
    matrices = zip(
        *(matrix.weight.chunk(2) for matrix in (projections.to_query, projections.to_key, values)), strict=True
    )
    per_head = [*matrices]

    def step(vector: Tensor, state: Tensor, read: Tensor) -> tuple[Tensor, Tensor]:
        entered = model.decoder.enter(torch.cat([vector, state])).tanh()
        contexts = []
        for q, k, v in per_head:
            scores = torch.stack([(k @ vector) @ (q @ entered) for vector in read])
            contexts.append(sum(weight * (v @ vector) for weight, vector in zip(scores.softmax(0), read, strict=True)))
        context = torch.cat(contexts) if join == "concatenated" else (contexts[0] + contexts[1]) / 2
        state = model.decoder.combine(torch.cat([context, entered])).tanh()
        return state, state

    torch.testing.assert_close(states(model), by_hand(model, step))


def test_one_head_of_identities_is_no_projection() -> None:
    plain, projected = build(score="dot"), build(score="dot", projected=True)
    weights = plain.state_dict()
    for name in ("to_query", "to_key", "to_value"):
        weights[f"decoder.projections.{name}.weight"] = torch.eye(8, dtype=torch.float64)
    projected.load_state_dict(weights)
    torch.testing.assert_close(states(projected), states(plain))


def test_shares_of_exp_are_a_softmax() -> None:
    for decoder in ("luong", "bahdanau", "tanh"):
        shares = build(decoder=decoder, normaliser="plain", positive="exp")
        torch.testing.assert_close(states(shares), states(build(decoder=decoder)))


def test_positive_products_are_shared_out_and_others_refused() -> None:
    """α = a / Σ a with a = hᵀh′, which logistic states make positive and others do not."""
    model = build(cell="logistic", score="dot", normaliser="plain", positive="none", input_feeding=False)
    read, state = encoded(model, 0)
    vector = model.target_embedding(TARGET[:1, :1])[0, 0]
    hidden = model.decoder.stack.layers[0].step(vector[None], state[None])[0]
    products = read @ hidden
    context = products / products.sum() @ read
    expected = model.decoder.combine(torch.cat([context, hidden])).tanh()
    torch.testing.assert_close(states(model)[0, 0], expected)
    with pytest.raises(Fault, match=r"positive = 'none'.*but one is -[0-9.]+. Choose another score, or set"):
        states(build(cell="vanilla", score="dot", normaliser="plain", positive="none"))


OPTIONS: list[dict[str, Any]] = [
    {"decoder": "tanh", "score": "dot"},
    {"decoder": "tanh", "encoder_width": 6, "projected": True, "heads": 2, "join": "averaged"},
    {"decoder": "bahdanau", "token_in_score": True, "cell": "logistic"},
    {"decoder": "bahdanau", "cell": "gru-reset-first", "projected": True, "heads": 2, "shared_key_value": True},
    {"decoder": "bottleneck", "context_at_each_step": True},
    {"score": "dot", "normaliser": "plain", "positive": "exp"},
    {"score": "dot", "normaliser": "plain", "positive": "none", "cell": "logistic"},
    {"encoder": "transformer", "encoder_heads": 2, "feed_forward": 5, "projected": True, "heads": 2},
]


@pytest.mark.one_in(4)
@pytest.mark.parametrize("table", OPTIONS, ids=lambda table: "-".join(map(str, table.values())))
def test_gradients_are_those_of_finite_differences(table: dict[str, Any]) -> None:
    model = build(**{"embedding": 3, "width": 4, **table})
    names = [name for name, _ in model.named_parameters() if "embedding" not in name]
    weights = [model.get_parameter(name).detach().requires_grad_() for name in names]

    def logits(*weights: Tensor) -> Tensor:
        return torch.func.functional_call(
            _Logits(model), dict(zip([f"model.{n}" for n in names], weights, strict=True))
        )

    assert torch.autograd.gradcheck(logits, weights, fast_mode=True)


class _Logits(torch.nn.Module):
    """Logits of two short pairs, as a callable module."""

    def __init__(self, model: Seq2Seq) -> None:
        super().__init__()
        self.model = model

    def forward(self) -> Tensor:
        memory = self.model.read(SOURCE[:2, :3], torch.tensor([3, 2]))
        return self.model.logits(self.model.write(TARGET[:2, :3], memory, self.model.begin(memory))[0])


CHANGES = [
    ({"decoder": "tanh"}, {}),
    ({"decoder": "bottleneck", "context_at_each_step": True}, {"decoder": "bottleneck"}),
    ({"decoder": "bahdanau", "token_in_score": True}, {"decoder": "bahdanau"}),
    ({"normaliser": "plain", "positive": "exp"}, {"normaliser": "plain"}),
    ({"projected": True}, {}),
    ({"projected": True, "heads": 2}, {"projected": True}),
    ({"projected": True, "shared_key_value": True}, {"projected": True}),
    ({"projected": True, "heads": 2, "join": "averaged"}, {"projected": True, "heads": 2}),
    ({"encoder_width": 12}, {}),
    ({"cell": "logistic"}, {"cell": "vanilla"}),
    ({"cell": "gru-reset-first"}, {"cell": "gru"}),
    ({"encoder": "transformer"}, {}),
    ({"encoder": "transformer", "encoder_heads": 2}, {"encoder": "transformer"}),
    ({"encoder": "transformer", "feed_forward": 8}, {"encoder": "transformer"}),
]


@pytest.mark.parametrize(("change", "base"), CHANGES, ids=lambda table: "-".join(map(str, table.values())) or "default")
def test_changing_an_option_changes_the_output(change: dict[str, Any], base: dict[str, Any]) -> None:
    assert not torch.allclose(states(build(**change)), states(build(**base)))


@pytest.mark.parametrize(
    ("table", "words"),
    [
        (
            {"context_at_each_step": True},
            "only a bottleneck never looks back, so context_at_each_step",
        ),
        ({"token_in_score": True}, "only Bahdanau's decoder looks before it reads, so token_in_score would do nothing"),
        ({"decoder": "tanh", "decoder_layers": 2}, "a tanh decoder has one layer, so decoder_layers would do nothing"),
        ({"positive": "exp"}, "only plain weights divide positive scores, so positive would do nothing"),
        ({"heads": 2}, "the attention is not projected, so heads would do nothing"),
        ({"projected": True, "join": "averaged"}, "there is one head, so join would do nothing"),
        ({"projected": True, "heads": 3}, "width 8 cannot be shared out among 3 heads"),
        ({"projected": True, "heads": 2, "copies": True}, "copies uses the weights of one head, but there are 2"),
        ({"projected": True, "heads": 2, "hard": "reinforce"}, "hard uses the weights of one head"),
        ({"projected": True, "heads": 2, "score": "mixed"}, "the score 'mixed' follows the look of one head"),
        ({"score": "dot", "encoder_width": 6}, "the score 'dot' multiplies queries of 8 and keys of 6 numbers"),
        ({"score": "dot", "decoder": "bahdanau", "token_in_score": True}, "queries of 14 and keys of 8 numbers"),
        ({"decoder": "bottleneck", "projected": True}, "a bottleneck has no attention, so projected would do nothing"),
        ({"encoder_width": 7}, "width 7 is odd, but two directions share it"),
        ({"encoder_heads": 2}, "the encoder has recurrent layers, so encoder_heads would do nothing"),
        ({"encoder": "transformer", "encoder_heads": 3}, "width 8 cannot be shared out among 3 heads"),
        ({"encoder": "transformer", "bidirectional": False}, "blocks see both sides of a place, so bidirectional"),
        ({"encoder": "transformer", "decoder": "tanh", "cell": "gru"}, "there are no recurrent layers, so cell would"),
        ({"cell": "gru-reset-last"}, "cell is 'gru-reset-last', expected one of 'vanilla', 'lstm', 'gru', 'logistic'"),
    ],
)
def test_impossible_builds_are_refused(table: dict[str, Any], words: str) -> None:
    with pytest.raises(Fault, match=words):
        check(Seq2SeqOptions, SIZES | table)


def test_cost_of_heads_and_blocks_on_paper() -> None:
    """Two averaged heads have keys of 4 and values of 8 numbers; a block's attention is twice as wide as its states."""
    model = build(projected=True, heads=2, join="averaged", encoder="transformer", encoder_layers=3)
    matrices = sum(p.numel() for n, p in model.named_parameters() if p.dim() == 2 and "embedding" not in n)
    looking = 25 * (2 * (4 + 8) + 3 * 2 * 8)
    assert model.cost(5) == {
        "multiplications": 5 * matrices + looking,
        "attention_share": looking / (5 * matrices + looking),
        "weights": 25 * (2 + 3 * 4),
    }
