"""Scoring a language model on a text file."""

from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from regard.base.faults import Fault
from regard.data.corpora.text import read_lines
from regard.metrics import Score
from regard.runs.validate import add_measures, scores_of
from regard.tasks.language.batches import sentences_of
from regard.verbs.generate.model import LanguageModel
from regard.verbs.generate.scoring import ScoredText

_LINES = 10_000  # that are scored at once


def evaluate_file(model: LanguageModel, path: Path) -> list[Score]:
    """The measures of a model on a text, every line of which is a sentence."""
    tokeniser = model.task.tokeniser
    found = add_measures(
        model.task.measure(sentences_of(tokeniser.encode_all(lines), tokeniser.begin, tokeniser.end))
        for lines in _blocks(model, path)
    )
    if not found:
        raise Fault(f"{path} holds no text; it has no line that is not blank.")
    return scores_of(found, None)


def score_file(model: LanguageModel, path: Path) -> Iterator[ScoredText]:
    """How probable each line of a text is."""
    for lines in _blocks(model, path):
        yield from model.score(lines)


def _blocks(model: LanguageModel, path: Path) -> Iterator[list[str]]:
    """The lines that are sentences to this model, some at a time."""
    lines = (line for line in read_lines(path) if line.strip() or model.recipe.data.blank_lines)
    while block := list(islice(lines, _LINES)):
        yield block
