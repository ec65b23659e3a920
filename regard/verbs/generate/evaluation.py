"""Scoring a language model on a text file."""

from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path

from regard.base.faults import Fault, faults_numbered
from regard.data.lines import read_lines
from regard.measuring import add_measures, refuse_unmeasured, scores_of
from regard.metrics import Score
from regard.protocols import Measure
from regard.verbs.generate.model import LanguageModel
from regard.verbs.generate.scoring import ScoredText

_LINES = 10_000  # scored at once


def evaluate_file(model: LanguageModel, path: Path, metrics: Sequence[str] = ()) -> list[Score]:
    """Return the measures of a model on a text file with a sentence per line: all, or those named."""
    return evaluate_lines(model, read_lines(path), path, metrics)


def evaluate_lines(model: LanguageModel, lines: Iterator[str], path: Path, metrics: Sequence[str]) -> list[Score]:
    """Return the measures of a model on lines read from a file."""
    refuse_unmeasured(model.recipe, metrics)
    tokeniser, keeps_blank = model.task.tokeniser, model.recipe.data.blank_lines
    measures: dict[str, Measure] = {}
    for block in _blocks(lines):
        rows = [row for row in tokeniser.encode_all(block) if row or keeps_blank]
        if rows:
            measures = add_measures([measures, model.task.measure(model.task.text_batch(rows))])
    if not measures:
        raise Fault(f"{path} holds no text; all its lines are blank.")
    return scores_of({name: measures[name] for name in metrics or measures}, None)


def score_file(model: LanguageModel, path: Path) -> Iterator[ScoredText]:
    """Yield the probability of each line of a text."""
    first = 0
    for lines in _blocks(read_lines(path)):
        with faults_numbered(range(first, first + len(lines))):
            scored = model.score(lines)
        # A blank line has only an end token.
        yield from (text for text in scored if len(text.tokens) > 1 or model.recipe.data.blank_lines)
        first += len(lines)


def _blocks(lines: Iterator[str]) -> Iterator[list[str]]:
    while block := list(islice(lines, _LINES)):
        yield block
