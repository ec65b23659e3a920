"""`regard evaluate` of word vectors, in a model folder or a file: analogies and judged likeness, as one table."""

import math
import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from regard.base.faults import Fault
from regard.console import console_progress, print_json, remark, say_table

if TYPE_CHECKING:
    from regard.metrics import Score
    from regard.runs.word_scores import WordQuestions
    from regard.verbs.words.evaluation import WordScore


def evaluate_vectors(place: Path, asked: "WordQuestions", as_json: bool) -> None:
    """Score the vectors of a file on files of questions."""
    from regard.runs.word_scores import EXAMPLE
    from regard.verbs.words.evaluation import evaluate_words, read_questions
    from regard.verbs.words.opening import open_lexicon

    if not asked.analogies and not asked.similarities:
        raise Fault(f"Say what the vectors of {place} are scored on: --analogies or --similarities, as {EXAMPLE}.")
    questions = read_questions(asked.analogies, asked.similarities)
    with console_progress() as progress:
        lexicon = open_lexicon(place, asked.side, None, progress, remark)
        found = evaluate_words(lexicon, questions, asked.manner(), progress)
    say_word_scores(found, as_json)


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
