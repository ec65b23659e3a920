"""The weights of a BERT by our names and by Hugging Face's; ours keeps keys and values in one matrix."""

from collections.abc import Iterator
from typing import NamedTuple

READER, THEIRS = "model.reader", "bert"
TOKENS = f"{READER}.tokens"
BIAS, THEIR_BIAS = "model.bias", "cls.predictions.bias"
POOLER, THEIR_POOLER = f"{READER}.pooler", f"{THEIRS}.pooler.dense"
# The layers that fill masks, besides the token embeddings.
HEAD = {
    "model.transform": "cls.predictions.transform.dense",
    "model.norm": "cls.predictions.transform.LayerNorm",
}
# Stored but not used: the output layer repeats the token embeddings, and next-sentence prediction is not supported.
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
    """One of our tensors, and those of theirs that are stacked to make it."""

    ours: str
    theirs: tuple[str, ...]


def weight_parts(layers: int, pooler: bool) -> list[WeightPart]:
    """Return all tensors of a masked language model."""
    parts = [WeightPart(f"{READER}.{ours}", (f"{THEIRS}.{theirs}",)) for ours, theirs in _TABLES.items()]
    parts += _with_bias(f"{READER}.norm", f"{THEIRS}.embeddings.LayerNorm")
    for number in range(layers):
        for ours, theirs in _OF_BLOCK.items():
            names = (f"{THEIRS}.encoder.layer.{number}.{their_name}" for their_name in theirs)
            parts += _with_bias(f"{READER}.blocks.{number}.{ours}", *names)
    if pooler:
        parts += _with_bias(POOLER, THEIR_POOLER)
    for ours, theirs_too in HEAD.items():
        parts += _with_bias(ours, theirs_too)
    return [*parts, WeightPart(BIAS, (THEIR_BIAS,))]


def _with_bias(ours: str, *theirs: str) -> Iterator[WeightPart]:
    for kind in ("weight", "bias"):
        yield WeightPart(f"{ours}.{kind}", tuple(f"{name}.{kind}" for name in theirs))
