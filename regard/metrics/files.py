"""Score files: outputs against references, with confidence bounds, and against another system."""

import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any
from unicodedata import is_normalized

from regard.base.faults import Fault
from regard.base.figures import quantity
from regard.base.progress import Progress, silent
from regard.data.lines import STANDARD_INPUT_NAME, read_lines, read_stream
from regard.metrics import Score
from regard.metrics.explain import Explanation, Match, explain_corpus, explain_sentence, matches
from regard.metrics.hppr import check_trees
from regard.metrics.significance import Difference, Sums, difference, interval, summing
from regard.metrics.text import NOTHING_CHOSEN, Choices, language_remarks
from regard.metrics.tokenised import tokenised_remark

STANDARD_INPUT = Path("-")


@dataclass(frozen=True)
class Texts:
    """The lines of a file of outputs, and of one or more files that are each a whole reference."""

    name: str
    hypotheses: list[str]
    references: dict[str, list[str]]
    origin: str = ""  # what a signature says about the references of a named test set

    @property
    def lists(self) -> list[list[str]]:
        return list(self.references.values())

    def sign(self, signature: str) -> str:
        return f"{signature}|{self.origin}" if self.origin else signature


@dataclass(frozen=True)
class Versus:
    """The score of another system's outputs, and how far the first is above it."""

    score: Score
    difference: Difference


@dataclass(frozen=True)
class Scored:
    """A score, its likely bounds (NaN for a single sentence), and what these were computed from."""

    score: Score
    low: float
    high: float
    by: str
    versus: Versus | None = None

    def as_dict(self) -> dict[str, Any]:
        """Return the entry that `--json` prints: that of scores.json, and more."""
        entry = {**self.score.as_dict(), "low": self.low, "high": self.high, "by": self.by}
        if self.versus:
            about = asdict(self.versus.difference)
            entry["against"] = {"value": self.versus.score.value, "difference": about.pop("value"), **about}
        return entry


def read_texts(hypothesis: Path, references: Sequence[Path], origin: str = "") -> Texts:
    """Read the files, with `-` for standard input; refuse empty files and different numbers of lines."""
    for path in references:
        if list(references).count(path) > 1:
            raise Fault(f"{_name(path)} is given twice; each --reference must be another whole reference.")
    texts = Texts(_name(hypothesis), _lines(hypothesis), {_name(path): _lines(path) for path in references}, origin)
    return _check(texts)


def read_others(texts: Texts, path: Path) -> Texts:
    """Read the outputs of another system, for the same references."""
    return _check(replace(texts, name=_name(path), hypotheses=_lines(path)))


def _name(path: Path) -> str:
    """Return the name that remarks and faults use."""
    return STANDARD_INPUT_NAME if path == STANDARD_INPUT else str(path)


def _check(texts: Texts) -> Texts:
    for name, lines in texts.references.items():
        if len(lines) != len(texts.hypotheses):
            raise Fault(
                f"{texts.name} has {quantity(len(texts.hypotheses), 'line')} but {name} has "
                f"{quantity(len(lines), 'line')}; each line is scored against the same line of the other file."
            )
    return texts


def _lines(path: Path) -> list[str]:
    """Return the lines unchanged: sacreBLEU scores them so, and other metrics normalise to NFC."""
    if path != STANDARD_INPUT:
        lines = list(read_lines(path, normal=False))
    elif sys.stdin is None:
        raise Fault("There is no standard input; name a file to score.")
    else:
        lines = list(read_stream(sys.stdin.buffer, STANDARD_INPUT_NAME, normal=False))
    if not lines:
        raise Fault(f"{_name(path)} is empty, so there is nothing to score.")
    return lines


def check_sentences(texts: Texts, metrics: Sequence[str], outputs: Path | None, sources: Path | None) -> None:
    """Refuse trees that do not belong to their sentences, if files of these are given."""
    if (outputs or sources) and metrics != ["hppr"]:
        raise Fault("--hypothesis-sentences and --reference-sentences are for trees; give them with --metric hppr.")
    for name, trees, path in [
        (texts.name, texts.hypotheses, outputs),
        *((name, trees, sources) for name, trees in texts.references.items()),
    ]:
        if path is not None:
            check_trees(name, trees, _name(path), _lines(path))


def remarks(
    texts: Texts,
    metrics: Sequence[str],
    against: Texts | None = None,
    tokenise: str | None = None,
    language: str = "",
) -> list[str]:
    """Return remarks on files that look tokenised, are identical or are not in NFC, and on metrics not made for the
    language.
    """
    identical = [name for name, lines in texts.references.items() if lines == texts.hypotheses]
    notes = [f"{texts.name} holds the same lines as its reference {name}; is it the right file?" for name in identical]
    files = {texts.name: texts.hypotheses, **texts.references}
    if against is not None:
        files[against.name] = against.hypotheses
        if against.hypotheses == texts.hypotheses:
            notes.append(f"{against.name} holds the same lines as {texts.name}, so there is no difference to test.")
    tokenised = (tokenised_remark(name, lines, metrics, tokenise) for name, lines in files.items())
    composed = (_composed_remark(name, lines) for name, lines in files.items())
    return [*notes, *filter(None, composed), *filter(None, tokenised), *language_remarks(language, metrics, tokenise)]


def _composed_remark(name: str, lines: Sequence[str]) -> str | None:
    """Return a remark if some lines are not in NFC, in which `regard evaluate` reads them."""
    count = sum(not is_normalized("NFC", line) for line in lines)
    if not count:
        return None
    have = f"{quantity(count, 'line')} of {name} {'is' if count == 1 else 'are'} not in Unicode's composed form (NFC)"
    return f"{have}, so letters that look equal may not match; normalise the files."


def score_texts(
    texts: Texts,
    metrics: Sequence[str],
    against: Texts | None = None,
    progress: Progress = silent,
    choices: Choices = NOTHING_CHOSEN,
) -> list[Scored]:
    """Score the outputs by every metric and, if there are others, compare with those."""
    choices.check(metrics)
    scores = []
    for number, metric in enumerate(metrics):
        progress("scoring", number, len(metrics))
        scores.append(_score(texts, metric, against, choices))
    progress("scoring", len(metrics), len(metrics))
    return scores


def _score(texts: Texts, metric: str, against: Texts | None, choices: Choices) -> Scored:
    score, sums = _with_sums(texts, metric, choices)
    low, high = interval(sums)
    versus = None
    if against is not None:
        other, other_sums = _with_sums(against, metric, choices)
        versus = Versus(other, difference([other_sums], [sums]))
    return Scored(score, low, high, sums.by, versus)


def _with_sums(texts: Texts, metric: str, choices: Choices) -> tuple[Score, Sums]:
    """Return a score and the sums behind it; if the sums determine the score, nothing is counted twice."""
    sums = summing(metric, choices)(texts.hypotheses, texts.lists)
    if sums.signature:
        score = Score(metric, sums.value(), sums.signature, len(texts.hypotheses))
    else:
        score = Score(metric, *choices.make(metric)(texts.hypotheses, texts.lists), len(texts.hypotheses))
    return replace(score, signature=texts.sign(score.signature)), sums


@dataclass(frozen=True)
class Asked:
    """A request to explain: all or one line, the highest order, the weights, and choices for BLEU."""

    line: int | None
    orders: int
    weights: Sequence[float] | None
    choices: Choices = NOTHING_CHOSEN


def explain(texts: Texts, request: Asked) -> tuple[Explanation, list[list[Match]]]:
    """Explain BLEU; for one line also return its n-grams, a list for each order."""
    chosen = request.choices.tokenise, request.choices.smoothing
    if request.line is None:
        explained = explain_corpus(texts.hypotheses, texts.lists, request.orders, request.weights, *chosen)
        return _sign(texts, explained), []
    if not 1 <= request.line <= len(texts.hypotheses):
        raise Fault(
            f"There is no line {request.line} in {texts.name}, which has {quantity(len(texts.hypotheses), 'line')}."
        )
    written, references = texts.hypotheses[request.line - 1], [lines[request.line - 1] for lines in texts.lists]
    explained = explain_sentence(written, references, request.orders, request.weights, *chosen)
    ngrams = [matches(written, references, order.order, request.choices.tokenise) for order in explained.orders]
    return _sign(texts, explained), ngrams


def _sign(texts: Texts, explained: Explanation) -> Explanation:
    return replace(explained, signature=texts.sign(explained.signature))


def explanation_as_dict(explained: Explanation, ngrams: Sequence[Sequence[Match]], line: int | None) -> dict[str, Any]:
    """Return the object that `--json` prints: the score as usual, and its explanation."""
    ngrams_by_order = {
        order.order: _counts(order_ngrams) for order, order_ngrams in zip(explained.orders, ngrams, strict=False)
    }
    about = {
        **asdict(explained),
        "orders": [asdict(order) for order in explained.orders],
        "line": line,
        "ngrams": ngrams_by_order,
    }
    order_ngrams = Score("bleu", explained.value, explained.signature, explained.n)
    return {"scores": [order_ngrams.as_dict()], "explanation": about}


def _counts(ngrams: Sequence[Match]) -> list[dict[str, Any]]:
    return [
        {"ngram": " ".join(ngram.words), "count": ngram.count, "most": ngram.most, "clipped": ngram.clipped}
        for ngram in ngrams
    ]
