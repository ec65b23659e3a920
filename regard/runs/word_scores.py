"""Score a model's word vectors on files of questions, and by the loss on its text."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from regard.base.faults import Fault
from regard.base.progress import Progress, Remark
from regard.base.recipe import Recipe
from regard.families.abilities import needs_words
from regard.loading import Loaded
from regard.metrics import Score
from regard.runs.evaluate import evaluate_split
from regard.runs.kept_scores import keep_scores
from regard.verbs.words.evaluation import MEASURES, Manner, WordScore, evaluate_words, read_questions
from regard.verbs.words.opening import lexicon_of
from regard.verbs.words.request import VectorSide

EXAMPLE = "--analogies word-vectors-eval:questions-words.txt.gz"


@dataclass(frozen=True)
class WordQuestions:
    """Files of questions, and how to look up words; without files, those of the model's recipe are used."""

    analogies: tuple[str, ...] = ()
    similarities: tuple[str, ...] = ()
    side: VectorSide | None = None
    vocabulary: int | None = None
    own_case: bool = False

    def check(self, recipe: Recipe) -> None:
        """Refuse questions about words if the model has no word vectors."""
        if any(vars(self).values()):
            needs_words(recipe, "Questions about words")

    def manner(self, side: VectorSide | None = None) -> Manner:
        """Return how to look up words, and on which side of the model."""
        usual = Manner()
        return Manner(self.vocabulary or usual.vocabulary, usual.any_case and not self.own_case, side)


@dataclass(frozen=True)
class ScoredWords:
    """Scores on questions about words, and losses on text."""

    found: Sequence[WordScore]
    losses: Sequence[Score]


def score_words(
    model: Loaded,
    folder: Path,
    split: str,
    metrics: Sequence[str],
    request: WordQuestions,
    progress: Progress,
    remark: Remark,
) -> ScoredWords:
    """Score a model's vectors on files of questions: the named ones, or those of its recipe.

    The recipe's questions belong to the split test and are scored together with the loss on its text. Their scores are
    stored in the folder.
    """
    if unknown := [name for name in metrics if name not in MEASURES]:
        raise Fault(f"Word vectors are measured by {', '.join(MEASURES)}, not by '{unknown[0]}'.")
    data, is_test = model.recipe.data, split == "test"
    uses_recipe = not request.analogies and not request.similarities
    names = (
        (data.analogies, data.similarities) if uses_recipe and is_test else (request.analogies, request.similarities)
    )
    questions = read_questions(*names)
    side: VectorSide = request.side or "centres"
    losses: Sequence[Score] = []
    all_scores = evaluate_words(
        lexicon_of(model.task, side), questions, request.manner(side), progress, split if uses_recipe else None
    )
    if uses_recipe and split in data.parts:
        losses = evaluate_split(model, folder, split, [], progress, remark)
    word_scores = [item for item in all_scores if not metrics or item.score.metric in metrics]
    losses = [item for item in losses if not metrics or item.metric in metrics]
    if not word_scores and not losses:
        raise Fault(f"There is nothing to score {folder} on; give --analogies or --similarities, as in {EXAMPLE}.")
    whole = [item.score for item in word_scores if item.is_whole and not math.isnan(item.score.value)]
    if uses_recipe:
        keep_scores(folder, [*losses, *whole], remark)
    return ScoredWords(word_scores, losses)
