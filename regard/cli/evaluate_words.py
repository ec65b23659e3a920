"""`regard evaluate` of word vectors, in a model folder or a file: analogies and judged likeness, as one table."""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from regard.base.faults import Fault
from regard.cli.console import console_progress, print_json, remark, say_table

if TYPE_CHECKING:
    from regard.metrics import Score
    from regard.model import Model
    from regard.verbs.requests.words import VectorSide
    from regard.verbs.words.evaluation import Manner, WordScore

_EXAMPLE = "--analogies word-vectors-eval:questions-words.txt.gz"


@dataclass(frozen=True)
class WordQuestions:
    """What the command line says of scoring word vectors."""

    analogies: tuple[str, ...]
    similarities: tuple[str, ...]
    side: "VectorSide | None"
    vocabulary: int | None
    own_case: bool

    @property
    def given(self) -> bool:
        """Whether it says anything."""
        return any(vars(self).values())

    def manner(self, side: "VectorSide | None" = None) -> "Manner":
        """How words are looked for, and of a model on which side."""
        from regard.verbs.words.evaluation import Manner

        usual = Manner()
        return Manner(self.vocabulary or usual.vocabulary, usual.any_case and not self.own_case, side)


def evaluate_vectors(place: Path, asked: WordQuestions, as_json: bool) -> None:
    """Score the vectors of a file on files of questions."""
    from regard.verbs.words.evaluation import evaluate_words, read_questions
    from regard.verbs.words.opening import open_lexicon

    if not asked.analogies and not asked.similarities:
        raise Fault(f"Say what the vectors of {place} are scored on: --analogies or --similarities, as {_EXAMPLE}.")
    questions = read_questions(asked.analogies, asked.similarities)
    with console_progress() as progress:
        lexicon = open_lexicon(place, asked.side, None, progress, remark)
        found = evaluate_words(lexicon, questions, asked.manner(), progress)
    say_word_scores(found, as_json)


def evaluate_words_model(
    loaded: "Model", folder: Path, split: str, metrics: Sequence[str], asked: WordQuestions, as_json: bool
) -> None:
    """Score the vectors of a model on files of questions: those that are named, or those of its recipe.

    The recipe's are for final scores: they belong to the split test, and beside them stands the loss on its text.
    """
    from regard.runs.evaluate import evaluate_split
    from regard.runs.scores import keep_scores
    from regard.verbs.words.evaluation import MEASURES, evaluate_words, read_questions

    if unknown := [name for name in metrics if name not in MEASURES]:
        raise Fault(f"Word vectors are measured by {', '.join(MEASURES)}, and not by '{unknown[0]}'.")
    data, is_test = loaded.recipe.data, split == "test"
    own = not asked.analogies and not asked.similarities
    names = (data.analogies, data.similarities) if own and is_test else (asked.analogies, asked.similarities)
    questions = read_questions(*names)
    side: VectorSide = asked.side or "centres"
    losses: Sequence[Score] = []
    with console_progress() as progress:
        lexicon = loaded.lexicon(side)
        found = evaluate_words(lexicon, questions, asked.manner(side), progress, split if own else None)
        if own and split in data.parts:
            losses = evaluate_split(loaded, folder, split, [], progress, remark)
    kept = [each for each in found if not metrics or each.score.metric in metrics]
    losses = [each for each in losses if not metrics or each.metric in metrics]
    if not kept and not losses:
        raise Fault(f"There is nothing to score {folder} on; name --analogies or --similarities, as {_EXAMPLE}.")
    say_word_scores(kept, as_json, losses)
    whole = [each.score for each in kept if each.is_whole and not math.isnan(each.score.value)]
    if own and not keep_scores(folder, [*losses, *whole]):
        remark(f"{folder} cannot be written to, so the scores are not kept there.")


def say_word_scores(found: "Sequence[WordScore]", as_json: bool, losses: "Sequence[Score]" = ()) -> None:
    """Print losses on text, and scores on questions about words with how many of them could be asked."""
    if as_json:
        print_json({"scores": [*(each.as_dict() for each in losses), *(each.as_dict() for each in found)]})
        return
    rows = [["own text", each.split or "", each.metric, each.shown, f"{each.n:,}", ""] for each in losses]
    rows += [
        [
            re.split("[:/]", each.file)[-1],
            each.section,
            each.score.metric,
            "-" if math.isnan(each.score.value) else each.score.shown,
            f"{each.score.n:,} of {each.asked:,}",
            f"{each.coverage:.1%}",
        ]
        for each in found
    ]
    say_table(["file", "section", "metric", "value", "asked", "coverage"], rows)
