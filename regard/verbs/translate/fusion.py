"""A language model that has its say at each step of a translator's search: shallow fusion (Gülçehre et al. 2015).

    score(y) = log p(y | x) + weight · log p_LM(y), token by token

Any family of language models will do, as long as its tokens are those that the translator writes.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import numpy as np
import torch
from torch import Tensor

from regard.base.faults import Fault
from regard.decoding.combined import Fused
from regard.decoding.options import DecodingOptions
from regard.decoding.output import Hypothesis
from regard.families import FAMILIES, with_article
from regard.protocols import Stepwise
from regard.tasks import TASKS
from regard.tasks.language.batches import Prompts, sentences_of
from regard.verbs.translate.request import FUSE_WEIGHT

if TYPE_CHECKING:
    from regard.loading import Loaded
    from regard.verbs.generate.continuing import Continues
    from regard.verbs.generate.model import LanguageModel
    from regard.verbs.generate.scoring import ScoresTokens

    class LanguageWriter(Continues, ScoresTokens, Protocol):
        """A language model that writes token after token, and knows how probable a text is."""


@dataclass(frozen=True)
class Fusion:
    """A language model over the tokens of a translator's outputs, what it is called, and how much it counts."""

    language_model: "LanguageWriter"
    called: str
    weight: float

    @property
    def signature(self) -> str:
        """Part of a score's signature."""
        return f"fuse:{Path(self.called).name}:{self.weight:g}"

    def writer(self, translator: Stepwise) -> Fused:
        """The translator with the language model beside it, which begins with nothing whatever is read."""
        return Fused(translator, self.language_model, self.weight, lambda batch: _nothing_yet(batch.rows))

    def limits(self, limits: Tensor, options: DecodingOptions) -> Tensor:
        """Return the longest outputs that both models can write."""
        own = self.language_model.limits(_nothing_yet(len(limits)), options)
        return torch.minimum(limits, own.to(limits))

    def part(self, found: Sequence[Sequence[Hypothesis]]) -> list[list[Hypothesis]]:
        """Split the scores of outputs between the models, where a search knows only their sum."""
        rows = [each.tokens for several in found for each in several]
        if not rows:
            return [list(several) for several in found]
        batch = sentences_of(rows, self.language_model.begin, self.language_model.end)
        ends = np.cumsum([len(row) + 1 for row in rows])[:-1]
        scores = iter(np.split(self.language_model.token_scores(batch), ends))
        return [[self._part_one(each, next(scores)) for each in several] for several in found]

    def _part_one(self, found: Hypothesis, language_scores: np.ndarray) -> Hypothesis:
        own = np.array(found.token_scores) - self.weight * language_scores
        return replace(found, token_scores=own.tolist(), language_scores=language_scores.tolist())


def _nothing_yet(rows: int) -> Prompts:
    return Prompts([[]] * rows)


def as_language_model(model: "Loaded", called: str) -> "LanguageModel":
    """The model, refused if it cannot say how a text goes on; `called` is what people call it."""
    from regard.verbs.generate.model import LanguageModel  # which a translator alone does without

    if isinstance(model, LanguageModel):
        return model
    wanted = ", ".join(name for name, family in FAMILIES.items() if "language" in family.tasks)
    family, gives = with_article(model.recipe.family), TASKS[model.recipe.task].gives
    raise Fault(f"A language model ({wanted}) is wanted, and {called} is {family}, which gives {gives}.")


def fusion_of(
    translator: "Loaded",
    model: "Loaded",
    weight: float | None = None,
    called: str = "the model to fuse with",
    place: str = "the translator's folder",
) -> Fusion | None:
    """The fusion of a translator with a model, refused if that is no language model or one of other tokens.

    With a weight of 0 there is none: the translator writes as if it were alone. `called` is what people call the
    model, and `place` where the translator lies.
    """
    weight = FUSE_WEIGHT if weight is None else weight
    if not (math.isfinite(weight) and weight >= 0):
        raise Fault(f"The weight of a fusion is {weight}; give a number that is not below 0.")
    model = as_language_model(model, called)
    if translator.task.known is not None:
        raise Fault("A translator that copies writes words for which no language model has a token; fuse another.")
    own, other = translator.task.target, model.task.tokeniser
    if own.files("tokeniser") != other.files("tokeniser"):
        kinds = translator.recipe.data.tokeniser.by_side()[-1].kind, model.recipe.data.tokeniser.kind
        same = ", though not the same ones" if (own.size, kinds[0]) == (other.size, kinds[1]) else ""
        raise Fault(
            f"The translator writes {own.size:,} tokens of kind {kinds[0]}, but {called} is over {other.size:,} of "
            f"kind {kinds[1]}{same}; train a language model with data.tokeniser.from = {place}."
        )
    return Fusion(model.task, called, weight) if weight else None
