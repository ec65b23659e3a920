"""Scoring the word vectors of a model: on files of questions, and by the loss on its text."""

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
    """Which files of questions are asked, and how words are looked for; without any, those of a model's recipe."""

    analogies: tuple[str, ...] = ()
    similarities: tuple[str, ...] = ()
    side: VectorSide | None = None
    vocabulary: int | None = None
    own_case: bool = False

    def check(self, recipe: Recipe) -> None:
        """Refuse questions, if there are any, to a model that has no word vectors."""
        if any(vars(self).values()):
            needs_words(recipe, "Questions about words")

    def manner(self, side: VectorSide | None = None) -> Manner:
        """Return how words are looked up, and on which side of a model."""
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
    asked: WordQuestions,
    progress: Progress,
    remark: Remark,
) -> ScoredWords:
    """Score the vectors of a model on files of questions: those that are named, or those of its recipe.

    The recipe's are for final scores: they belong to the split test, and beside them stands the loss on its text. They
    are kept in the folder.
    """
    if unknown := [name for name in metrics if name not in MEASURES]:
        raise Fault(f"Word vectors are measured by {', '.join(MEASURES)}, and not by '{unknown[0]}'.")
    data, is_test = model.recipe.data, split == "test"
    own = not asked.analogies and not asked.similarities
    names = (data.analogies, data.similarities) if own and is_test else (asked.analogies, asked.similarities)
    questions = read_questions(*names)
    side: VectorSide = asked.side or "centres"
    losses: Sequence[Score] = []
    found = evaluate_words(
        lexicon_of(model.task, side), questions, asked.manner(side), progress, split if own else None
    )
    if own and split in data.parts:
        losses = evaluate_split(model, folder, split, [], progress, remark)
    kept = [each for each in found if not metrics or each.score.metric in metrics]
    losses = [each for each in losses if not metrics or each.metric in metrics]
    if not kept and not losses:
        raise Fault(f"There is nothing to score {folder} on; name --analogies or --similarities, as {EXAMPLE}.")
    whole = [each.score for each in kept if each.is_whole and not math.isnan(each.score.value)]
    if own:
        keep_scores(folder, [*losses, *whole], remark)
    return ScoredWords(kept, losses)
