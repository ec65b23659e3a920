"""Requests to word vectors: neighbours and analogies."""

from collections.abc import Sequence
from typing import Annotated, Literal

from pydantic import Field

from regard.base.faults import Fault
from regard.base.requests.fields import Phrase, Texts
from regard.base.requests.rules import VerbRequest

VectorSide = Literal["centres", "contexts", "mean"]
Neighbours = Annotated[int, Field(ge=1, le=1000)]


class LexiconRequest(VerbRequest):
    """Number of words wanted, and by which vectors."""

    count: Neighbours = Field(default=10, description="Words that are given, the nearest first.")
    side: VectorSide = Field(
        default="centres", description="Vectors of words as centres, as contexts of others, or the mean of both."
    )


class NeighboursRequest(LexiconRequest):
    """The words whose neighbours are wanted."""

    verb, items = "neighbours", "words"

    words: Texts = Field(min_length=1, description="One word, or several.")


class MapRequest(VerbRequest):
    """Which words are wanted on a map: the most frequent, or some with their neighbours around them."""

    verb = "map"

    words: Texts = Field(default=[], description="Words to draw; without any, the most frequent.")
    count: Annotated[int, Field(ge=2, le=5000)] = Field(
        default=300, description="Without words: so many of the most frequent."
    )
    around: Annotated[int, Field(ge=0, le=1000)] = Field(default=10, description="So many neighbours of each word.")
    method: Literal["pca", "t-sne"] = Field(
        default="pca", description="Principal components, or t-SNE, which keeps neighbours together."
    )
    side: VectorSide = Field(default="centres", description="Vectors of words as centres, as contexts, or the mean.")


def map_request(words: Sequence[str], count: int | None, around: int | None, method: str) -> MapRequest:
    """Return what Python and the command line ask of a map; what would do nothing is refused."""
    if words and count is not None:
        raise Fault("--count is for the most frequent words; with your own words, give --around.")
    if not words and around is not None:
        raise Fault("--around counts the neighbours of words; name the words.")
    given = {"words": list(words), "count": count, "around": around, "method": method}
    return MapRequest.read({name: value for name, value in given.items() if value is not None})


class AnalogyRequest(LexiconRequest):
    """Three words of an analogy, of which the fourth is wanted: a is to b as c is to …"""

    verb = "analogy"

    a: Phrase = Field(description="A word.")
    b: Phrase = Field(description="What stands to it in some way.")
    c: Phrase = Field(description="Another word, to which the answer stands in the same way.")

    @property
    def words(self) -> tuple[str, str, str]:
        return self.a, self.b, self.c
