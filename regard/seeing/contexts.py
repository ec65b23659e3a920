"""One word in several texts: its vectors in a model, layer by layer."""

from collections.abc import Sequence

import numpy as np
import torch

from regard.base.faults import Fault
from regard.protocols import TextVectors
from regard.viewing.contexts import ContextLayer, Occurrence, WordContexts

FEWEST = 3  # occurrences needed for a plane
MOST = 200


def word_contexts(word: str, texts: Sequence[TextVectors]) -> WordContexts:
    """Return every occurrence of the word in the texts, ignoring case, with its vectors."""
    occurrences: list[Occurrence] = []
    vectors: list[dict[int, torch.Tensor]] = []
    for number, embedded in enumerate(texts):
        words, by_word = list(embedded.text.words), embedded.words
        for place in (place for place, other in enumerate(words) if other.casefold() == word.casefold()):
            occurrences.append(Occurrence(words, place, number))
            vectors.append({layer: states[place].float() for layer, states in by_word.items()})
    _check_number(word, occurrences, len(texts))
    layers = [
        ContextLayer.of(layer, np.stack([by_layer[layer].numpy() for by_layer in vectors])) for layer in vectors[0]
    ]
    return WordContexts(word, occurrences, layers)


def _check_number(word: str, occurrences: Sequence[Occurrence], texts: int) -> None:
    if len(occurrences) > MOST:
        raise Fault(f"'{word}' occurs at {len(occurrences):,} places of the texts; give at most {MOST}.")
    if len(occurrences) < FEWEST:
        count = {0: "at no place", 1: "at one place"}.get(len(occurrences), f"at {len(occurrences)} places")
        raise Fault(
            f"'{word}' occurs {count} of the {'text' if texts == 1 else f'{texts:,} texts'} as a whole word; "
            f"give texts that have it at least {FEWEST} times."
        )
