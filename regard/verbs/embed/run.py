"""Embed texts, a portion at a time."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any

from regard.base.faults import Fault, faults_numbered
from regard.loading import Loaded
from regard.protocols import TextVectors
from regard.verbs.embed.request import EmbedRequest

AT_ONCE = 256  # texts whose vectors are in memory at the same time
_CHARACTERS = 32_768  # in the padded texts of one batch, roughly


def run(model: Loaded, request: EmbedRequest) -> Iterator[TextVectors]:
    """Return the vectors for a request."""
    return embed_each(model.task, request.text, request.layer)


def embed_each(task: Any, texts: Iterable[str], layer: int | None = None) -> Iterator[TextVectors]:
    """Yield the vectors of texts in order, in all layers or one; an error names the text by its number."""
    waiting, first = iter(texts), 0
    while portion := list(islice(waiting, AT_ONCE)):
        vectors_by_number: dict[int, TextVectors] = {}
        for numbers in _batches(portion):
            for number, vectors in zip(numbers, _embed(task, portion, numbers, first), strict=True):
                vectors_by_number[number] = vectors if layer is None else _only(vectors, layer)
        yield from (vectors_by_number[number] for number in range(len(portion)))
        first += len(portion)


def _embed(task: Any, texts: Sequence[str], numbers: Sequence[int], first: int) -> list[TextVectors]:
    with faults_numbered([first + number for number in numbers]):
        vectors: list[TextVectors] = task.embed(task.read([texts[number] for number in numbers]))
    return vectors


def _batches(texts: Sequence[str]) -> Iterator[list[int]]:
    """Yield the numbers of the texts in batches of similar length, so that there is little padding."""
    batch: list[int] = []
    for number in sorted(range(len(texts)), key=lambda number: len(texts[number])):
        if batch and (len(batch) + 1) * len(texts[number]) > _CHARACTERS:
            yield batch
            batch = []
        batch.append(number)
    if batch:
        yield batch


def _only(vectors: TextVectors, layer: int) -> TextVectors:
    if layer not in vectors.layers:
        available = "layer 0 alone" if len(vectors.layers) == 1 else f"layers 0 to {max(vectors.layers)}"
        raise Fault(f"This model has {available}; there is no layer {layer}.")
    return replace(vectors, layers={layer: vectors.layers[layer]})
