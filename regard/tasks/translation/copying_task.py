"""Translation by a network that copies unknown words of a source; searches need not know about it.

One tokeniser serves both sides. For each sentence it is extended by the unknown words of its source, which get numbers
beyond the vocabulary in everything that is read, predicted, searched and written.
"""

from collections.abc import Sequence

from jaxtyping import Int
from torch import Tensor

from regard.data.tokenisers.tokeniser import Tokeniser, open_to
from regard.protocols import State
from regard.tasks.translation.batches import KnownTokens, PairBatch
from regard.tasks.translation.copying import (
    CopyingCrossEntropy,
    PointingNetwork,
    forced_log_probabilities,
    start_copying,
    step_copying,
)
from regard.tasks.translation.objectives import Objective, objective_for
from regard.tasks.translation.options import TranslationRecipe
from regard.tasks.translation.task import Translation
from regard.viewing.sides import Side, Words

VOCABULARY = "(vocabulary)"  # origin of words that are not copied


class CopyingTranslation(Translation):
    """A translator that writes words of its vocabulary or copies words of the source."""

    model: PointingNetwork
    known: KnownTokens

    def __init__(self, model: PointingNetwork, tokeniser: Tokeniser, objective: Objective | None = None) -> None:
        super().__init__(model, tokeniser, tokeniser, objective or CopyingCrossEntropy())
        self.known = KnownTokens(tokeniser.size, tokeniser.unknown)

    @classmethod
    def of_recipe(cls, recipe: TranslationRecipe, source: Tokeniser, target: Tokeniser) -> "CopyingTranslation":
        network, training = cls.network_of(recipe, source, target), recipe.training
        return cls(network, target, objective_for(recipe.model, training.label_smoothing, training.consistency))

    def target_for(self, text: str) -> Tokeniser:
        return open_to(self.target, text.strip())

    def source_for(self, text: str) -> Tokeniser:
        return self.target_for(text)

    def encode_sources(self, texts: Sequence[str]) -> list[list[int]]:
        return [self.target_for(text).encode(text.strip()) for text in texts]

    def encode_targets(self, texts: Sequence[str], outputs: Sequence[str]) -> list[list[int]]:
        return [self.target_for(text).encode(output) for text, output in zip(texts, outputs, strict=True)]

    def forced_log_probabilities(self, batch: PairBatch) -> tuple[Tensor, Tensor]:
        return forced_log_probabilities(self.model, batch)

    def start(self, batch: PairBatch) -> State:
        return start_copying(self.model, batch)

    def step(self, tokens: Int[Tensor, " row"], state: State) -> tuple[Tensor, State]:
        return step_copying(self.model, tokens, state, self.known)

    def write(self, tokens: Sequence[int]) -> str:
        """Write tokens without their source: copied words are unknown."""
        return self.target.decode([token if token < self.known.size else self.known.unknown for token in tokens])

    def sides(self, batch: PairBatch, outputs: Sequence[Sequence[int]], text: str = "") -> dict[str, Side]:
        """Return the sides of every translator, and the origin of each word: the vocabulary, or a place of the
        source.
        """
        sides = super().sides(batch, outputs, text)
        source = sides["source"]
        assert isinstance(source, Words)
        places = [0, *(place + 1 for place in source.places)]
        return sides | {"origins": Words([VOCABULARY, *source.tokens], [VOCABULARY, *source.words], places)}

    def extents(self, batch: PairBatch) -> dict[str, Tensor]:
        return super().extents(batch) | {"origins": batch.source_lengths + 1}
