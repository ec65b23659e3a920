"""The pass of one sentence from tokens to logits, as a tree of layers made from the calls of modules."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from regard.attention.core import Attention
from regard.attention.heads import MultiHead
from regard.attention.watch import PARTS, Gaze, watching
from regard.base.faults import Fault
from regard.data.tokenisers.wordpiece import MASK
from regard.loading import Loaded
from regard.models.bert.network import Bert
from regard.models.gpt.network import GPT
from regard.models.gpt.options import GPTOptions
from regard.models.parts import FeedForward
from regard.seeing.calls import Call, recorded_calls
from regard.seeing.lessons.passes import Embedded, Pass, pass_sentence, placed_embedding
from regard.seeing.sentences import Translator
from regard.viewing.forward import ForwardPass, Guess, Layer

# The example: what follows "love" depends on the word before it, so the model has to look back.
VOCABULARY = ["</s>", "I", "we", "love", "books", "cats"]
SENTENCES = [["I", "love", "books"], ["we", "love", "cats"]]
_STEPS, _RATE, _SEED = 150, 0.05, 1
_TOP = 5  # tokens shown at a place

# Kinds of modules by the last part of their path.
_KINDS = {
    "to_query": "to_query",
    "to_key_value": "to_key_value",
    "out": "out",
    "inner": "inner",
    "outer": "outer",
    "transform": "transform",
    "around_self": "around_self",
    "around_look": "around_self",
    "around_cross": "around_cross",
    "around_feed_forward": "around_feed_forward",
    "cross": "cross",
    "feed_forward": "feed_forward",
}


def forward_pass(
    model: Loaded | Translator, text: str, target: str | Sequence[int] | None = None, query: int | None = None
) -> ForwardPass:
    """Follow a sentence through a Transformer translator, a GPT or a BERT."""
    return _forward(pass_sentence(model, text, target), query)


def example_pass(query: int | None = None) -> ForwardPass:
    """Follow "I love" through a GPT of width 4 that learnt two sentences just now; all in float64."""
    network = _example_network()
    tokens = _numbers(SENTENCES[0][:2])
    with torch.no_grad(), watching(network, parts=PARTS) as gazes, recorded_calls(network) as calls:
        states = network.read(tokens, network.begin(1)).states
    with torch.no_grad():
        logits = network.logits(states)[0]
    names = [VOCABULARY[token] for token in tokens[0].tolist()]
    embedded = {"text": placed_embedding(calls, "places")}
    text = " ".join(SENTENCES[0][:2])
    sentence = Pass(
        text, "", network, {"text": names}, embedded, calls, gazes, logits, names,
        lambda chosen: [VOCABULARY[token] for token in chosen],
    )  # fmt: skip
    return _forward(sentence, query)


def _example_network() -> GPT:
    """Train the example's GPT on its two sentences; its weights depend on nothing but the seed."""
    sizes: dict[str, Any] = {"layers": 1, "width": 4, "heads": 1, "context": 4, "feed_forward": 4}
    options = GPTOptions.model_validate(sizes | {"dropout": 0.0, "attention_dropout": 0.0, "activation": "relu"})
    with torch.random.fork_rng(devices=[]), torch.inference_mode(False), torch.enable_grad():
        torch.manual_seed(_SEED)
        network = GPT(options, len(VOCABULARY)).double()
        optimizer = torch.optim.Adam(network.parameters(), lr=_RATE)
        read = torch.cat([_numbers(sentence) for sentence in SENTENCES])
        wanted = torch.cat([read[:, 1:], torch.zeros_like(read[:, :1])], dim=1)
        for _ in range(_STEPS):
            optimizer.zero_grad()
            states = network.read(read, network.begin(len(read))).states
            F.cross_entropy(network.logits(states).mT, wanted).backward()
            optimizer.step()
    return network.eval()


def _numbers(words: Sequence[str]) -> Tensor:
    """Return the tokens of a sentence after the end token, as one row."""
    return torch.tensor([[0, *map(VOCABULARY.index, words)]])


def _forward(sentence: Pass, query: int | None) -> ForwardPass:
    if query is not None and query > len(sentence.places):
        raise Fault(f"There are {len(sentence.places)} tokens; there is no token {query}.")
    layers = list(_layers(sentence, sentence.calls, None))
    logits = _array(sentence.logits)
    layers.append(Layer("", "logits", 0, sentence.places, (), logits))
    place = None if query is None else query - 1
    if place is None and MASK in sentence.places:  # what fills it is what one wants to see
        place = sentence.places.index(MASK)
    return ForwardPass(sentence.text, sentence.output, layers, _guesses(sentence), place)


def _guesses(sentence: Pass) -> list[Guess]:
    """Return the most probable tokens at every place."""
    chances = sentence.logits.double().softmax(dim=-1)
    best = chances.topk(min(_TOP, chances.shape[-1]), dim=-1)
    guesses = []
    for row, (place, tokens, shares) in enumerate(
        zip(sentence.places, best.indices.tolist(), best.values.tolist(), strict=True)
    ):
        logits = sentence.logits[row, tokens].tolist()
        guesses.append(Guess(place, list(zip(sentence.vocabulary(tokens), logits, shares, strict=True))))
    return guesses


def _layers(sentence: Pass, calls: Iterable[Call], around: Call | None) -> Iterator[Layer]:
    """Yield a layer for every call that does something, with those inside it."""
    for call in calls:
        last = call.name.rpartition(".")[2]
        if last in ("source_places", "target_places", "places"):
            yield from _entering(sentence, "text" if last == "places" else last.removesuffix("_places"))
        elif (
            isinstance(around, Call) and isinstance(around.module, FeedForward) and isinstance(call.module, nn.Dropout)
        ):
            yield _layer(sentence, call, "activation")
        elif isinstance(call.module, Attention):
            yield from _heads(sentence, call)
        elif not _is_idle(call):
            if around is None and isinstance(_parent(sentence, call), Bert):
                yield from _entering(sentence, "source") if last == "norm" else ()
            yield _layer(sentence, call, _kind(call, around), _layers(sentence, call.inside, call))


def _is_idle(call: Call) -> bool:
    """Return True if a call changes nothing, or is an embedding, which comes with its positions."""
    return call.output is None or isinstance(call.module, nn.Dropout | nn.Identity) or "embedding" in call.name


def _parent(sentence: Pass, call: Call) -> nn.Module:
    return sentence.network.get_submodule(call.name.rpartition(".")[0])


def _kind(call: Call, around: Call | None) -> str:
    """Return the kind of a call, which names its text; an unknown one is called by its path."""
    before, _, last = call.name.rpartition(".")
    if last.isdigit():
        return {"encoder": "encoder_block", "decoder": "decoder_block"}.get(before, "block")
    if isinstance(call.module, nn.LayerNorm):
        return "norm"
    if isinstance(call.module, MultiHead):
        return "cross" if last == "cross" else "self_attention"
    if last == "to_key_value" and around is None:
        return "memory_keys"
    return _KINDS.get(last, "other")


def _number(call: Call) -> int:
    """Return the number of the block that a call belongs to, counted from 1; 0 outside of blocks."""
    return next((int(part) + 1 for part in call.name.split(".") if part.isdigit()), 0)


def _layer(sentence: Pass, call: Call, kind: str, inside: Iterable[Layer] = ()) -> Layer:
    assert call.output is not None
    values = _array(call.output[0]).reshape(-1, call.output.shape[-1])
    return Layer(call.name, kind, _number(call), _rows(sentence, call, len(values)), (), values, list(inside))


def _rows(sentence: Pass, call: Call, count: int) -> Sequence[str]:
    """Return the tokens of a call's rows: the source's in the encoder and in keys made from it, else the target's."""
    sides = sentence.sides
    is_source = call.name.startswith("encoder") or call.name.endswith("cross.to_key_value")
    side = "source" if "target" not in sides or is_source else "target"
    rows = sides.get(side, sides.get("text", []))
    return rows if len(rows) == count else [str(place + 1) for place in range(count)]


def _entering(sentence: Pass, side: str) -> Iterator[Layer]:
    """Yield the embeddings of a side, its positions, in BERT the segments, and their sum."""
    embedded: Embedded = sentence.embedded[side]
    rows, total = sentence.sides[side], embedded.tokens + embedded.places
    yield Layer("", f"{side}_embeddings", 0, rows, (), _array(embedded.tokens))
    yield Layer("", "positions", 0, rows, (), _array(embedded.places))
    if embedded.segments is not None:
        total = total + embedded.segments
        yield Layer("", "segments", 0, rows, (), _array(embedded.segments))
    yield Layer("", "sum", 0, rows, (), _array(total))


def _heads(sentence: Pass, call: Call) -> Iterator[Layer]:
    """Yield every head of an attention, with its queries, keys, values, scores, mask, weights and outputs."""
    gaze = next(gaze for gaze in sentence.gazes if gaze.where == call.name)
    for number in range(gaze.weights.shape[1]):
        outputs = _array(gaze.parts["outputs"][0, number])
        parts = [_part(sentence, gaze, name, number) for name in ("queries", "keys", "values", "scores", "mask")]
        weights = Layer(call.name, "weights", 0, *_both(sentence, gaze), _array(gaze.weights[0, number]))
        rows = _both(sentence, gaze)[0]
        yield Layer(call.name, "head", number + 1, rows, (), outputs, [*parts, weights])


def _part(sentence: Pass, gaze: Gaze, name: str, head: int) -> Layer:
    rows, columns = _both(sentence, gaze)
    values = _array(gaze.parts[name][0, head])
    if name in ("scores", "mask"):
        return Layer(gaze.where, name, 0, rows, columns, values)
    return Layer(gaze.where, name, 0, rows if name == "queries" else columns, (), values)


def _both(sentence: Pass, gaze: Gaze) -> tuple[Sequence[str], Sequence[str]]:
    return sentence.sides[gaze.looks_from], sentence.sides[gaze.looks_at]


def _array(values: Tensor) -> np.ndarray:
    return values.detach().double().cpu().numpy()
