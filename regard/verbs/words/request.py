"""Requests for word vectors: neighbours, maps and analogies."""

from collections.abc import Sequence
from typing import Annotated, Literal

from pydantic import Field

from regard.base.faults import Fault
from regard.base.requests.fields import Phrase, Texts
from regard.base.requests.rules import VerbRequest

VectorSide = Literal["centres", "contexts", "mean"]
Neighbours = Annotated[int, Field(ge=1, le=1000)]


class LexiconRequest(VerbRequest):
    """Number of words to list, and the vectors to use."""

    count: Neighbours = Field(default=10, description="Number of words to list, nearest first.")
    side: VectorSide = Field(
        default="centres",
        description="Which vectors to use: of words as centres, as contexts of others, or the mean of both.",
    )


class NeighboursRequest(LexiconRequest):
    """The words whose neighbours are wanted."""

    verb, items = "neighbours", "words"

    words: Texts = Field(min_length=1, description="One word, or several.")


class MapRequest(VerbRequest):
    """The words to put on a map: the most frequent, or some with their neighbours."""

    verb = "map"

    words: Texts = Field(default=[], description="Words to draw; by default the most frequent.")
    count: Annotated[int, Field(ge=2, le=5000)] = Field(
        default=300, description="Without words: number of frequent words to draw."
    )
    around: Annotated[int, Field(ge=0, le=1000)] = Field(default=10, description="Number of neighbours of each word.")
    method: Literal["pca", "t-sne"] = Field(
        default="pca", description="Principal components, or t-SNE, which keeps neighbours together."
    )
    side: VectorSide = Field(
        default="centres", description="Which vectors to use: of words as centres, as contexts, or the mean."
    )


def map_request(words: Sequence[str], count: int | None, around: int | None, method: str) -> MapRequest:
    """Return the request for a map from Python or the command line; refuse options without effect."""
    if words and count is not None:
        raise Fault("--count is for the most frequent words; with your own words, give --around.")
    if not words and around is not None:
        raise Fault("--around counts the neighbours of words; name the words.")
    fields = {"words": list(words), "count": count, "around": around, "method": method}
    return MapRequest.read({name: value for name, value in fields.items() if value is not None})


class AnalogyRequest(LexiconRequest):
    """The first three words of an analogy: a is to b as c is to …"""

    verb = "analogy"

    a: Phrase = Field(description="A word.")
    b: Phrase = Field(description="A word related to a.")
    c: Phrase = Field(description="Another word; the answer is related to it in the same way.")

    @property
    def words(self) -> tuple[str, str, str]:
        return self.a, self.b, self.c
