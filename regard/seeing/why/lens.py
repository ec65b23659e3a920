"""The logit lens: what a model would write if it ended after this block (nostalgebraist 2020)."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from regard.base.faults import Fault
from regard.loading import Loaded
from regard.models.bert.network import MaskedBert
from regard.models.gpt.network import GPT
from regard.models.transformer.network import Transformer
from regard.seeing.lessons.passes import Pass, pass_sentence
from regard.seeing.why.decision import Question

SHOWN = 3  # most probable tokens of a block


@dataclass(frozen=True)
class LensRow:
    """Output if a model ended after one block: its most probable tokens, the chosen one's probability and rank."""

    layer: str
    tokens: Sequence[tuple[str, float]]
    probability: float
    rank: int  # 1 is the most probable
    along: Sequence[tuple[str, float]]  # the most probable token at every place, and its probability


@dataclass(frozen=True)
class Lens:
    """The logit lens at one place: a row for the vectors that enter the first block, then one for each block."""

    chosen: str
    places: Sequence[str]
    rows: Sequence[LensRow]


@torch.no_grad()
def logit_lens(model: Loaded, question: Question) -> Lens:
    """Return what a Transformer translator, GPT or BERT would write if it ended after each of its blocks."""
    network = getattr(model.task, "model", None)
    is_translator = isinstance(network, Transformer)
    if not (is_translator or type(network) is GPT or isinstance(network, MaskedBert)):
        raise Fault(
            "The logit lens reads the blocks of a Transformer that writes tokens: a translator, a GPT or a BERT that "
            f"fills masks; this model is a {model.recipe.family}."
        )
    if getattr(network, "copying", None) is not None:
        raise Fault("This translator copies words, so its output is not read from its last block alone.")
    assert question.queries is not None
    passed = pass_sentence(model, question.read, list(question.written) if is_translator else None)
    place = question.queries[0]
    tokens = [*question.written, model.task.end] if is_translator else [*question.written]
    token = tokens[place] if is_translator else tokens[0]
    blocks, head = _blocks_of(network)
    states = [("embedding", _tensor(passed.call(blocks[0]).inputs))]
    states += [(f"block {number}", _tensor(passed.call(name).output)) for number, name in enumerate(blocks, 1)]
    rows = [_row(name, head(layer)[0].double().softmax(-1), place, token, passed) for name, layer in states]
    return Lens(passed.vocabulary([token])[0], passed.places, rows)


def _blocks_of(network: Any) -> tuple[list[str], Callable[[Tensor], Tensor]]:
    """Return the names of the blocks, and the function from their states to logits."""
    if isinstance(network, Transformer):
        names = [f"decoder.{number}" for number in range(len(network.decoder))]
        return names, lambda states: network.logits(network.decoder_norm(states))
    if isinstance(network, MaskedBert):
        return [f"reader.blocks.{number}" for number in range(len(network.reader.blocks))], network.logits
    names = [f"blocks.{number}" for number in range(len(network.blocks))]
    return names, lambda states: network.logits(network.norm(states))


def _tensor(states: Tensor | None) -> Tensor:
    assert states is not None
    return states


def _row(name: str, probabilities: Tensor, place: int, token: int, passed: Pass) -> LensRow:
    here = probabilities[place]
    best = here.topk(min(SHOWN, len(here)))
    along = probabilities.max(-1)
    rank = 1 + int((here > here[token]).sum())
    return LensRow(
        name,
        list(zip(passed.vocabulary(best.indices.tolist()), best.values.tolist(), strict=True)),
        float(here[token]),
        rank,
        list(zip(passed.vocabulary(along.indices.tolist()), along.values.tolist(), strict=True)),
    )
