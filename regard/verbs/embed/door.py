"""The door for vectors."""

from typing import TYPE_CHECKING

from regard.base.doors import Bound, DoorAnswer, ModelBody, Price, VerbDoor, check_texts
from regard.verbs.embed.request import EmbedRequest

if TYPE_CHECKING:
    from regard.protocols import TextVectors


class EmbedBody(EmbedRequest, ModelBody):
    """The texts to embed, and the model."""


class EmbeddedLayer(DoorAnswer):
    """The vectors of one layer: of the whole text and of each token; layer 0 is the plain embedding."""

    layer: int
    sentence: list[float]
    tokens: list[list[float]]


class EmbeddedText(DoorAnswer):
    """A text as tokens and words, and its vectors in every requested layer."""

    tokens: list[str]
    words: list[str]
    word_of_token: list[int]
    layers: list[EmbeddedLayer]


class EmbedAnswer(DoorAnswer):
    model: str
    seconds: float
    texts: list[EmbeddedText]


def _size(vectors: "TextVectors") -> int:
    return sum(layer.numel() for layer in vectors.layers.values())


def _write(vectors: "TextVectors") -> EmbeddedText:
    text, means = vectors.text, vectors.sentence
    layers = [
        EmbeddedLayer(layer=number, sentence=means[number].tolist(), tokens=layer.tolist())
        for number, layer in vectors.layers.items()
    ]
    return EmbeddedText(
        tokens=list(text.tokens), words=list(text.words), word_of_token=list(text.places), layers=layers
    )


DOORS = (
    VerbDoor(
        path="/v1/embed",
        can="embed",
        summary="Embed texts and their tokens.",
        body=EmbedBody,
        answer=EmbedAnswer,
        texts="text",
        ready=check_texts,
        price=Price("letters", 2000, ordinary=250),
        costs=lambda question: [1.0 + len(text) for text in question.body.text],
        write=_write,
        listed="texts",
        bound=Bound(
            "vectors",
            _size,
            "The vectors{some} have {size:,} numbers, but the limit here is {limit:,}. Ask for one 'layer', or for "
            "fewer texts.",
        ),
    ),
)
