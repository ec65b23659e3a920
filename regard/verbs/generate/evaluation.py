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

_LINES = 10_000  # that are scored at once


def evaluate_file(model: LanguageModel, path: Path, metrics: Sequence[str] = ()) -> list[Score]:
    """The measures of a model on a text, every line of which is a sentence: all of them, or those asked for."""
    return evaluate_lines(model, read_lines(path), path, metrics)


def evaluate_lines(model: LanguageModel, lines: Iterator[str], path: Path, metrics: Sequence[str]) -> list[Score]:
    """Return the measures of a model on the lines that were read from a file."""
    refuse_unmeasured(model.recipe, metrics)
    tokeniser, keeps_blank = model.task.tokeniser, model.recipe.data.blank_lines
    found: dict[str, Measure] = {}
    for block in _blocks(lines):
        rows = [row for row in tokeniser.encode_all(block) if row or keeps_blank]
        if rows:
            found = add_measures([found, model.task.measure(model.task.text_batch(rows))])
    if not found:
        raise Fault(f"{path} holds no text; it has no line that is not blank.")
    return scores_of({name: found[name] for name in metrics or found}, None)


def score_file(model: LanguageModel, path: Path) -> Iterator[ScoredText]:
    """Yield the probability of each line of a text."""
    first = 0
    for lines in _blocks(read_lines(path)):
        with faults_numbered(range(first, first + len(lines))):
            found = model.score(lines)
        # A blank line has no token but its end.
        yield from (each for each in found if len(each.tokens) > 1 or model.recipe.data.blank_lines)
        first += len(lines)


def _blocks(lines: Iterator[str]) -> Iterator[list[str]]:
    while block := list(islice(lines, _LINES)):
        yield block
