"""One sentence passes through a Transformer translator, a GPT or a BERT, and everything inside is recorded."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from regard.attention.watch import PARTS, Gazes, watching
from regard.base.faults import Fault, TextFault
from regard.loading import Loaded
from regard.models.bert.network import MaskedBert
from regard.models.gpt.network import GPT
from regard.models.transformer.network import Transformer
from regard.seeing.calls import Call, recorded_calls
from regard.seeing.sentences import Translator
from regard.tasks.translation.forcing import force_batch
from regard.tasks.translation.lengths import check_length
from regard.viewing.sides import Side, Words

MOST_TOKENS = 64  # of a side; more could not be read


@dataclass(frozen=True)
class Embedded:
    """The sum that enters the first block of a side: token embeddings, positions and, in BERT, the segment."""

    tokens: Tensor
    places: Tensor
    segments: Tensor | None = None


@dataclass(frozen=True)
class Pass:
    """A sentence on its way through a network, with batch size 1."""

    text: str
    output: str
    network: nn.Module
    sides: dict[str, list[str]]  # the tokens of each side, as the network reads them
    embedded: dict[str, Embedded]
    calls: list[Call]
    gazes: Gazes
    logits: Tensor  # (place, token)
    places: list[str]  # the tokens at the places of the logits
    vocabulary: Callable[[Sequence[int]], Sequence[str]]  # names of tokens

    def call(self, name: str) -> Call:
        """Return the first call of the module with this name."""
        return next(call for outermost in self.calls for call in outermost if call.name == name)


@torch.no_grad()
def pass_sentence(model: Loaded | Translator, text: str, target: str | Sequence[int] | None = None) -> Pass:
    """Let a model read `text`, and a translator also write `target`, a text or tokens, or its best output.

    Other models are refused.
    """
    if not text.strip():
        raise Fault("There is no text to read; give a sentence with --text.")
    task: Any = model.task
    task.eval()
    network = getattr(task, "model", None)
    if isinstance(network, Transformer):
        return _pass_translator(model, network, text, target)
    if target is not None:
        raise Fault("--target is for translators; this model only reads.")
    if type(network) is GPT:
        return _pass_gpt(task, network, text)
    if isinstance(network, MaskedBert):
        return _pass_bert(task, network, text)
    raise Fault(
        f"This lesson follows Transformer translators, GPTs and BERTs that fill masks; this model is a"
        f" {model.recipe.family}."
    )


def _pass_translator(model: Any, network: Transformer, text: str, target: str | Sequence[int] | None) -> Pass:
    task = model.task
    _check_count(check_length(task, text, 0))  # before a search that nobody would see
    tokeniser = task.target_for(text)
    if target is None:
        written = model.search_tokens(text)
    else:
        written = tokeniser.encode(target) if isinstance(target, str) else list(target)
    if len(written) + 1 > network.options.longest:
        longest = network.options.longest
        raise Fault(f"The target has {len(written) + 1} tokens, but the model takes at most {longest}; shorten it.")
    batch = force_batch(task, [text], [written])
    sides = _tokens(task.sides(task.read([text]), [written], text))
    with watching(network, parts=PARTS) as gazes, recorded_calls(network) as calls:
        memory = network.read(batch.source, batch.source_lengths)
        states, _ = network.write(batch.inputs, memory, network.begin(memory))
    logits = network.logits(states)[0]
    embedded = {side: placed_embedding(calls, f"{side}_places") for side in ("source", "target")}
    output = tokeniser.decode(written)
    return Pass(text, output, network, sides, embedded, calls, gazes, logits, sides["target"], tokeniser.pieces)


def _pass_gpt(task: Any, network: GPT, text: str) -> Pass:
    batch = task.read([text])
    sides = _tokens(task.sides(batch, []))
    tokens = torch.tensor([[task.end, *batch.tokens[0]]], device=task.device)
    if tokens.shape[1] > network.context:
        raise Fault(
            f"The text has {tokens.shape[1]} tokens, but the model reads {network.context} at once; shorten it."
        )
    with watching(network, parts=PARTS) as gazes, recorded_calls(network) as calls:
        states = network.read(tokens, network.begin(1)).states
    logits = network.logits(states)[0]
    embedded = {"text": placed_embedding(calls, "places")}
    return Pass(text, "", network, sides, embedded, calls, gazes, logits, sides["text"], task.tokeniser.pieces)


def _pass_bert(task: Any, network: MaskedBert, text: str) -> Pass:
    try:
        batch = task.read([text])
    except TextFault as fault:
        raise fault.without_number() from None
    reader, tokens = network.reader, batch.tensors.tokens
    sides = _tokens(task.sides(batch, []))
    with watching(network, parts=PARTS) as gazes, recorded_calls(network) as calls:
        logits = network.logits(reader.read(tokens)[-1])[0]
    vectors, places = F.embedding(tokens, reader.tokens), reader.places[None, : tokens.shape[1]]
    segments = reader.segments[0].expand_as(vectors)
    embedded = {"source": Embedded(vectors[0], places[0], segments[0])}
    return Pass(text, "", network, sides, embedded, calls, gazes, logits, sides["source"], task.tokeniser.pieces)


def placed_embedding(calls: Sequence[Call], name: str) -> Embedded:
    """Return what enters the first block after the positions are added by the module with this name."""
    call = next(call for outermost in calls for call in outermost if call.name == name)
    assert call.inputs is not None
    assert call.output is not None
    return Embedded(call.inputs[0], (call.output - call.inputs)[0])


def _tokens(sides: dict[str, Side]) -> dict[str, list[str]]:
    """Return the tokens read on each side of words; refuse a text too long to be shown."""
    tokens = {name: list((side.as_read or side).tokens) for name, side in sides.items() if isinstance(side, Words)}
    _check_count(max(map(len, tokens.values())))
    return tokens


def _check_count(count: int) -> None:
    if count > MOST_TOKENS:
        raise Fault(f"The text has {count} tokens, but at most {MOST_TOKENS} can be shown; shorten it.")
