"""One word in several texts: the vectors that a model has for it there, layer by layer."""

from collections.abc import Sequence

import numpy as np
import torch

from regard.base.faults import Fault
from regard.protocols import TextVectors
from regard.viewing.contexts import ContextLayer, Occurrence, WordContexts

FEWEST = 3  # occurrences that make a plane
MOST = 200


def word_contexts(word: str, texts: Sequence[TextVectors]) -> WordContexts:
    """Every place where one of the texts has the word, in upper case or lower."""
    found: list[Occurrence] = []
    vectors: list[dict[int, torch.Tensor]] = []
    for number, embedded in enumerate(texts):
        words, by_word = list(embedded.text.words), embedded.words
        for place in (place for place, each in enumerate(words) if each.casefold() == word.casefold()):
            found.append(Occurrence(words, place, number))
            vectors.append({layer: states[place].float() for layer, states in by_word.items()})
    _check_number(word, found, len(texts))
    layers = [ContextLayer.of(layer, np.stack([each[layer].numpy() for each in vectors])) for layer in vectors[0]]
    return WordContexts(word, found, layers)


def _check_number(word: str, found: Sequence[Occurrence], texts: int) -> None:
    if len(found) > MOST:
        raise Fault(f"'{word}' stands at {len(found):,} places of the texts; give at most {MOST}.")
    if len(found) < FEWEST:
        there = {0: "at no place", 1: "at one place"}.get(len(found), f"at {len(found)} places")
        raise Fault(
            f"'{word}' stands {there} of the {texts} text{'' if texts == 1 else 's'} as a word by itself; "
            f"give texts that have it {FEWEST} times at least."
        )
