"""Shallow fusion: a language model takes part in each step of a translator's search (Gülçehre et al. 2015).

    score(y) = log p(y | x) + weight · log p_LM(y), token by token

Any family of language models will do, as long as it has the translator's target vocabulary.
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
        """A language model that writes token by token and scores texts."""


@dataclass(frozen=True)
class Fusion:
    """A language model over a translator's target tokens, its name, and its weight."""

    language_model: "LanguageWriter"
    called: str
    weight: float

    @property
    def signature(self) -> str:
        """Part of a score's signature."""
        return f"fuse:{Path(self.called).name}:{self.weight:g}"

    def writer(self, translator: Stepwise) -> Fused:
        """Return the translator fused with the language model, which starts from an empty text."""
        return Fused(translator, self.language_model, self.weight, lambda batch: _nothing_yet(batch.rows))

    def limits(self, limits: Tensor, options: DecodingOptions) -> Tensor:
        """Return the longest outputs that both models can write."""
        language_limits = self.language_model.limits(_nothing_yet(len(limits)), options)
        return torch.minimum(limits, language_limits.to(limits))

    def part(self, results: Sequence[Sequence[Hypothesis]]) -> list[list[Hypothesis]]:
        """Split the scores of outputs between the models; the search knows only their sum."""
        rows = [hypothesis.tokens for hypotheses in results for hypothesis in hypotheses]
        if not rows:
            return [list(hypotheses) for hypotheses in results]
        batch = sentences_of(rows, self.language_model.begin, self.language_model.end)
        ends = np.cumsum([len(row) + 1 for row in rows])[:-1]
        scores = iter(np.split(self.language_model.token_scores(batch), ends))
        return [[self._part_one(hypothesis, next(scores)) for hypothesis in hypotheses] for hypotheses in results]

    def _part_one(self, hypothesis: Hypothesis, language_scores: np.ndarray) -> Hypothesis:
        translator_scores = np.array(hypothesis.token_scores) - self.weight * language_scores
        return replace(hypothesis, token_scores=translator_scores.tolist(), language_scores=language_scores.tolist())


def _nothing_yet(rows: int) -> Prompts:
    return Prompts([[]] * rows)


def as_language_model(model: "Loaded", called: str) -> "LanguageModel":
    """Return the model if it is a language model, and refuse it otherwise; `called` is its name in messages."""
    from regard.verbs.generate.model import LanguageModel  # not needed for plain translation

    if isinstance(model, LanguageModel):
        return model
    families = ", ".join(name for name, family in FAMILIES.items() if "language" in family.tasks)
    family, gives = with_article(model.recipe.family), TASKS[model.recipe.task].gives
    raise Fault(f"A language model ({families}) is needed, but {called} is {family}, which gives {gives}.")


def fusion_of(
    translator: "Loaded",
    model: "Loaded",
    weight: float | None = None,
    called: str = "the model to fuse with",
    place: str = "the translator's folder",
) -> Fusion | None:
    """Return the fusion of a translator with a model; refuse other models and other vocabularies.

    A weight of 0 gives None: the translator writes alone. `called` is the model's name in messages, and `place` is the
    translator's folder.
    """
    weight = FUSE_WEIGHT if weight is None else weight
    if not (math.isfinite(weight) and weight >= 0):
        raise Fault(f"The weight of a fusion is {weight}; give a number of at least 0.")
    model = as_language_model(model, called)
    if translator.task.known is not None:
        raise Fault(
            "A translator that copies writes words for which no language model has a token; use another translator."
        )
    refuse_other_tokens(translator, model, called, place)
    return Fusion(model.task, called, weight) if weight else None


def refuse_other_tokens(
    translator: "Loaded", model: "Loaded", called: str, place: str = "the translator's folder"
) -> None:
    """Refuse a model that is no language model over the target tokens of a translator."""
    model = as_language_model(model, called)
    target, tokeniser = translator.task.target, model.task.tokeniser
    if target.files("tokeniser") != tokeniser.files("tokeniser"):
        kinds = translator.recipe.data.tokeniser.by_side()[-1].kind, model.recipe.data.tokeniser.kind
        same = ", though not the same ones" if (target.size, kinds[0]) == (tokeniser.size, kinds[1]) else ""
        raise Fault(
            f"The translator has {target.size:,} tokens of kind {kinds[0]}, but {called} has {tokeniser.size:,} of "
            f"kind {kinds[1]}{same}; train a language model with data.tokeniser.from = {place}."
        )
