"""One attention head step by step, on three words with round numbers or inside a trained model."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from regard.attention.heads import MultiHead
from regard.attention.masks import Causal
from regard.attention.scores import product_scale
from regard.attention.watch import PARTS, Gaze, name_look, watching
from regard.base.faults import Fault
from regard.loading import Loaded
from regard.models.parts import Residual
from regard.models.transformer.network import Transformer
from regard.seeing.lessons.passes import Embedded, Pass, pass_sentence
from regard.seeing.sentences import Translator
from regard.viewing.head_steps import HeadSteps, Stage

WORDS = ["I", "love", "books"]
# Round numbers, so that every step can be checked by hand; √depth is 2.
EMBEDDINGS = [[1.0, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0]]
POSITIONS = [[0.0, 0, 0, 0], [0, 0, 0, 1], [0, 0, 0, 2]]
TO_QUERY = [[2.0, 0, 0, 0], [2, 2, 0, 0], [0, 4, 2, 0], [0, 0, 0, 0]]
TO_KEY = [[1.0, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]]
TO_VALUE = [[2.0, 0, 0, 0], [0, 4, 0, 0], [0, 0, 6, 0], [0, 0, 0, 0]]
OUT = [[0.0, 0.5, 0, 0], [0.5, 0, 0, 0], [0, 0, 0, 0.5], [0, 0, 0.5, 0]]


@dataclass(frozen=True)
class _Head:
    """One head as it was recorded: the states around it, and the parts of its look."""

    heads: MultiHead
    number: int  # of the head, from 0
    gaze: Gaze
    embedded: Embedded | None  # if its block is the first of its side
    states: Tensor  # (query, width) that enter the sublayer
    norm: nn.Module | None  # before the sublayer
    memory: Tensor | None  # (key, width), if it is not the states themselves
    joined: Tensor  # (query, width), the sublayer's output
    after: Tensor  # (query, width), after residual and norm
    rows: list[str]
    columns: list[str]
    query: int
    shows_matrices: bool = False


def example_steps(query: int | None = None) -> HeadSteps:
    """Return the steps of a causal head of width 4 on three words, by the same attention as in trained models."""
    heads = MultiHead(4, 1, looks_from="text", looks_at="text").double()
    embeddings, positions = torch.tensor(EMBEDDINGS).double(), torch.tensor(POSITIONS).double()
    with torch.no_grad():
        heads.to_query.weight.copy_(torch.tensor(TO_QUERY).T)
        heads.to_key_value.weight.copy_(torch.cat([torch.tensor(TO_KEY).T, torch.tensor(TO_VALUE).T]))
        assert isinstance(heads.out, nn.Linear)
        heads.out.weight.copy_(torch.tensor(OUT).T)
        states = embeddings + positions
        with watching(heads, parts=PARTS) as gazes:
            joined = heads(states[None], heads.remember(states[None]), Causal())[0]
    place = _place(query, WORDS)
    head = _Head(
        heads, 0, gazes[0], Embedded(embeddings, positions), states, None, None, joined, states + joined, WORDS, WORDS,
        place, shows_matrices=True,
    )  # fmt: skip
    return HeadSteps(" ".join(WORDS), "", 0, 1, WORDS[place], _stages(head))


def trained_steps(
    model: Loaded | Translator,
    text: str,
    target: str | None = None,
    *,
    side: str | None = None,
    layer: int = 1,
    head: int = 1,
    query: int | None = None,
) -> HeadSteps:
    """Return the steps of one head of a trained model: side, block and head are those of `regard look`."""
    sentence = pass_sentence(model, text, target)
    name, gaze = _gaze(sentence, side, layer)
    heads = sentence.call(gaze.where.removesuffix(".look")).module
    assert isinstance(heads, MultiHead)
    if head > heads.heads:
        raise Fault(f"This attention has {heads.heads} heads; there is no head {head}.")
    recorded = _recorded(sentence, gaze, heads, head - 1, query, is_first=layer == 1)
    named = name if isinstance(sentence.network, Transformer) else ""
    shown = f"{text} → {sentence.output}" if sentence.output else text
    return HeadSteps(shown, named, layer, head, recorded.rows[recorded.query], _stages(recorded))


def _gaze(sentence: Pass, side: str | None, layer: int) -> tuple[str, Gaze]:
    """Return the name of a side, by default the encoder's or the only one, and the look of its block."""
    looks: dict[str, list[Gaze]] = {}
    for gaze in sentence.gazes:
        if gaze.where.endswith(".look") and isinstance(
            sentence.network.get_submodule(gaze.where.removesuffix(".look")), MultiHead
        ):
            looks.setdefault(name_look(gaze.looks_from, gaze.looks_at), []).append(gaze)
    name = side or ("encoder" if "encoder" in looks else next(iter(looks)))
    if name not in looks:
        remedy = f"it can show --side {' or --side '.join(looks)}" if len(looks) > 1 else "omit --side"
        raise Fault(f"This model has no {name} attention; {remedy}.")
    if layer > len(looks[name]):
        count = "1 block" if len(looks[name]) == 1 else f"{len(looks[name])} blocks"
        raise Fault(f"This model has {count} there; there is no block {layer}.")
    return name, looks[name][layer - 1]


def _recorded(sentence: Pass, gaze: Gaze, heads: MultiHead, number: int, query: int | None, is_first: bool) -> _Head:
    """Collect what was recorded around one head."""
    path = gaze.where.removesuffix(".look")
    around = next(
        call
        for outermost in sentence.calls
        for call in outermost
        if isinstance(call.module, Residual) and any(inner.name == path for inner in call.inside)
    )
    joined = next(call for call in around.inside if call.name == path).output
    assert around.inputs is not None
    assert around.output is not None
    assert joined is not None
    assert isinstance(around.module, Residual)
    within = gaze.looks_from == gaze.looks_at
    memory = None if within else sentence.call(f"{path}.to_key_value").inputs
    rows = sentence.sides[gaze.looks_from]
    return _Head(
        heads, number, gaze, sentence.embedded[gaze.looks_from] if within and is_first else None, around.inputs[0],
        around.module.norm if around.module.before else None, None if memory is None else memory[0],
        joined[0], around.output[0], rows, sentence.sides[gaze.looks_at], _place(query, rows),
    )  # fmt: skip


def _place(query: int | None, rows: list[str]) -> int:
    if query is not None and query > len(rows):
        raise Fault(f"There are {len(rows)} queries; there is no query {query}.")
    return len(rows) - 1 if query is None else query - 1


def _stages(head: _Head) -> list[Stage]:
    return [*_entering(head), *_projected(head), *_compared(head), *_mixed(head), *_leaving(head)]


def _entering(head: _Head) -> list[Stage]:
    """Embeddings and positions, or the states of the block below, and the norm before the sublayer."""
    stages, embedded = [], head.embedded
    if embedded is None:
        stages.append(_by_row(head, "states", "x", head.states))
    else:
        stages.append(_by_row(head, "embeddings", "E", embedded.tokens))
        stages.append(_by_row(head, "positions", "P", embedded.places))
        total = embedded.tokens + embedded.places
        if embedded.segments is not None:
            stages.append(_by_row(head, "segments", "S", embedded.segments))
            total = total + embedded.segments
        is_sum = torch.allclose(total, head.states, atol=1e-5)
        stages.append(_by_row(head, "sum" if is_sum else "normalised_sum", _sum_formula(embedded, is_sum), head.states))
    if head.norm is not None:
        stages.append(_by_row(head, "norm", "LayerNorm(x)", head.norm(head.states)))
    if head.memory is not None:
        stages.append(Stage("memory", "m", head.columns, (), _array(head.memory)))
    return stages


def _sum_formula(embedded: Embedded, is_sum: bool) -> str:
    total = "E + P" if embedded.segments is None else "E + P + S"
    return f"x = {total}" if is_sum else f"x = LayerNorm({total})"


def _projected(head: _Head) -> list[Stage]:
    read, looked_at = ("x" if head.norm is None else "LayerNorm(x)"), "m"
    looked_at = read if head.memory is None else looked_at
    rotated = ", rotated" if head.heads.options.positions == "rotary" else ""
    keys_as_values = head.heads.options.shared_key_value
    stages = [
        _by_row(head, "queries", f"q = {read} W_Q{rotated}", _part(head, "queries")),
        Stage("keys", f"k = {looked_at} W_K{rotated}", head.columns, (), _array(_part(head, "keys"))),
        Stage(
            "values", "v = k" if keys_as_values else f"v = {looked_at} W_V", head.columns, (),
            _array(_part(head, "values")),
        ),
    ]  # fmt: skip
    if not head.shows_matrices:
        return stages
    to_key, to_value = head.heads.to_key_value.weight.split(head.heads.sizes)
    matrices = [
        _matrix("to_query", "W_Q", head.heads.to_query.weight),
        _matrix("to_key", "W_K", to_key),
        _matrix("to_value", "W_V", to_value),
    ]
    return [stage for pair in zip(matrices, stages, strict=True) for stage in pair]


def _compared(head: _Head) -> list[Stage]:
    """Raw scores, scaled scores, mask, and weights."""
    scores, mask = _part(head, "scores"), _part(head, "mask")
    depth = _part(head, "queries").shape[-1]
    scale = product_scale(head.heads.look.score, depth)
    stages = []
    if scale is None:
        stages.append(_by_key(head, "scores", f"score(q, k), {head.heads.options.score}", scores))
    else:
        stages.append(_by_key(head, "products", "q · k", scores / scale))
        if scale != 1:
            stages.append(_by_key(head, "scaled", f"q · k / √{depth}", scores))
    biased = head.heads.options.positions == "alibi"
    stages.append(_by_key(head, "bias" if biased else "mask", "0 or −∞" if not biased else "bias or −∞", mask))
    weights = head.gaze.weights[0, head.number]
    return [*stages, _by_key(head, "weights", "α = softmax(scores + mask)", weights)]


def _mixed(head: _Head) -> list[Stage]:
    """The values weighted by the query's weights, and their sum for every query."""
    weights = head.gaze.weights[0, head.number, head.query]
    weighted = weights[:, None] * _part(head, "values")
    return [
        Stage("weighted", "α v", head.columns, (), _array(weighted)),
        _by_row(head, "context", "c = Σ α v", _part(head, "outputs")),
    ]


def _leaving(head: _Head) -> list[Stage]:
    """W_O, for this head and for all heads together, then the residual and the norm behind it."""
    stages, context = [], _part(head, "outputs")
    if isinstance(head.heads.out, nn.Linear):
        depth = context.shape[-1]
        own = head.heads.out.weight[:, head.number * depth : (head.number + 1) * depth]
        if head.shows_matrices:
            stages.append(_matrix("to_output", "W_O", head.heads.out.weight))
        if head.heads.heads > 1:
            stages.append(_by_row(head, "own_output", "c W_O, this head's rows", context @ own.T))
            stages.append(_by_row(head, "output", "o = [c₁ … c_h] W_O + b", head.joined))
        else:
            stages.append(_by_row(head, "projected", "o = c W_O", head.joined))
    else:
        stages.append(_by_row(head, "averaged", "o = mean of c₁ … c_h", head.joined))
    total = head.states + head.joined
    stages.append(_by_row(head, "residual", "x + o", total))
    if not torch.allclose(total, head.after, atol=1e-5):
        stages.append(_by_row(head, "norm_after", "LayerNorm(x + o)", head.after))
    return stages


def _matrix(name: str, formula: str, weight: Tensor) -> Stage:
    """A matrix by which rows are multiplied from the left, (in, out), though layers store (out, in)."""
    return Stage(name, formula, [str(place + 1) for place in range(weight.shape[1])], (), _array(weight.T))


def _part(head: _Head, name: str) -> Tensor:
    return head.gaze.parts[name][0, head.number]


def _by_row(head: _Head, name: str, formula: str, values: Tensor) -> Stage:
    return Stage(name, formula, head.rows, (), _array(values), head.query)


def _by_key(head: _Head, name: str, formula: str, values: Tensor) -> Stage:
    return Stage(name, formula, head.rows, head.columns, _array(values), head.query)


def _array(values: Any) -> np.ndarray:
    return values.detach().double().cpu().numpy()
