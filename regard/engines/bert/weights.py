"""The weights of a BERT by our names and by Hugging Face's; ours keeps keys and values in one matrix."""

from collections.abc import Iterator
from typing import NamedTuple

READER, THEIRS = "model.reader", "bert"
TOKENS = f"{READER}.tokens"
BIAS, THEIR_BIAS = "model.bias", "cls.predictions.bias"
POOLER, THEIR_POOLER = f"{READER}.pooler", f"{THEIRS}.pooler.dense"
# What fills masks, beside the vectors of tokens.
HEAD = {
    "model.transform": "cls.predictions.transform.dense",
    "model.norm": "cls.predictions.transform.LayerNorm",
}
# Stored beside the weights that are used: the output layer is the vectors of tokens again, and whether a text follows
# another is not asked.
UNUSED = (
    "bert.embeddings.position_ids",
    "cls.predictions.decoder.weight",
    "cls.predictions.decoder.bias",
    "cls.seq_relationship.weight",
    "cls.seq_relationship.bias",
)
_TABLES = {
    "tokens": "embeddings.word_embeddings.weight",
    "places": "embeddings.position_embeddings.weight",
    "segments": "embeddings.token_type_embeddings.weight",
}
_OF_BLOCK = {
    "self_look.to_query": ("attention.self.query",),
    "self_look.to_key_value": ("attention.self.key", "attention.self.value"),
    "self_look.out": ("attention.output.dense",),
    "around_self.norm": ("attention.output.LayerNorm",),
    "feed_forward.inner": ("intermediate.dense",),
    "feed_forward.outer": ("output.dense",),
    "around_feed_forward.norm": ("output.LayerNorm",),
}


class WeightPart(NamedTuple):
    """A tensor of ours, and those of theirs that it is made of, one under another."""

    ours: str
    theirs: tuple[str, ...]


def weight_parts(layers: int, pooler: bool) -> list[WeightPart]:
    """All tensors of a model of masked tokens."""
    parts = [WeightPart(f"{READER}.{ours}", (f"{THEIRS}.{theirs}",)) for ours, theirs in _TABLES.items()]
    parts += _with_bias(f"{READER}.norm", f"{THEIRS}.embeddings.LayerNorm")
    for number in range(layers):
        for ours, theirs in _OF_BLOCK.items():
            names = (f"{THEIRS}.encoder.layer.{number}.{each}" for each in theirs)
            parts += _with_bias(f"{READER}.blocks.{number}.{ours}", *names)
    if pooler:
        parts += _with_bias(POOLER, THEIR_POOLER)
    for ours, theirs_too in HEAD.items():
        parts += _with_bias(ours, theirs_too)
    return [*parts, WeightPart(BIAS, (THEIR_BIAS,))]


def _with_bias(ours: str, *theirs: str) -> Iterator[WeightPart]:
    for kind in ("weight", "bias"):
        yield WeightPart(f"{ours}.{kind}", tuple(f"{name}.{kind}" for name in theirs))
