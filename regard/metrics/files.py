"""Scoring files: outputs against references, between what bounds, and against the outputs of another system."""

import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from regard.base.faults import Fault
from regard.base.figures import quantity
from regard.base.progress import Progress, silent
from regard.data.lines import read_lines, read_stream
from regard.metrics import Score
from regard.metrics.explain import Explanation, Match, explain_corpus, explain_sentence, matches
from regard.metrics.hppr import check_trees
from regard.metrics.significance import Difference, Sums, difference, interval, summing
from regard.metrics.text import NOTHING_CHOSEN, Choices, language_remarks
from regard.metrics.tokenised import tokenised_remark

STANDARD_INPUT = Path("-")


@dataclass(frozen=True)
class Texts:
    """The lines of a file of outputs and of one or more files, each a whole reference."""

    name: str
    hypotheses: list[str]
    references: dict[str, list[str]]
    origin: str = ""  # what a signature says of the references, if they are of a named test set

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
    """A score, the bounds it is likely to be between, and what these were found by."""

    score: Score
    low: float
    high: float
    by: str
    versus: Versus | None = None

    def as_dict(self) -> dict[str, Any]:
        """As `--json` prints it: what scores.json has, and more."""
        found = {**self.score.as_dict(), "low": self.low, "high": self.high, "by": self.by}
        if self.versus:
            about = asdict(self.versus.difference)
            found["against"] = {"value": self.versus.score.value, "difference": about.pop("value"), **about}
        return found


def read_texts(hypothesis: Path, references: Sequence[Path], origin: str = "") -> Texts:
    """Read the files, `-` being standard input, and refuse any that have no lines or other numbers of lines."""
    for path in references:
        if list(references).count(path) > 1:
            raise Fault(f"{path} is given twice; each --reference is another whole reference.")
    texts = Texts(str(hypothesis), _lines(hypothesis), {str(path): _lines(path) for path in references}, origin)
    return _check(texts)


def read_others(texts: Texts, path: Path) -> Texts:
    """The outputs of another system beside the same references."""
    return _check(replace(texts, name=str(path), hypotheses=_lines(path)))


def _check(texts: Texts) -> Texts:
    for name, lines in texts.references.items():
        if len(lines) != len(texts.hypotheses):
            raise Fault(
                f"{texts.name} has {quantity(len(texts.hypotheses), 'line')} but {name} has "
                f"{quantity(len(lines), 'line')}; each line of one is scored by the same line of the other."
            )
    return texts


def _lines(path: Path) -> list[str]:
    """The lines as they are: sacreBLEU scores text so, and other metrics bring it into NFC."""
    if path != STANDARD_INPUT:
        lines = list(read_lines(path, normal=False))
    elif sys.stdin is None:
        raise Fault("There is no standard input; name a file to score.")
    else:
        lines = list(read_stream(sys.stdin.buffer, "standard input", normal=False))
    if not lines:
        raise Fault(f"{path} is empty, so there is nothing to score.")
    return lines


def check_sentences(texts: Texts, metrics: Sequence[str], outputs: Path | None, sources: Path | None) -> None:
    """Refuse trees that are not those of their sentences, where files of these are given."""
    if (outputs or sources) and metrics != ["hppr"]:
        raise Fault("--hypothesis-sentences and --reference-sentences belong to trees; give them with --metric hppr.")
    for name, trees, path in [
        (texts.name, texts.hypotheses, outputs),
        *((name, trees, sources) for name, trees in texts.references.items()),
    ]:
        if path is not None:
            check_trees(name, trees, str(path), _lines(path))


def remarks(
    texts: Texts,
    metrics: Sequence[str],
    against: Texts | None = None,
    tokenise: str | None = None,
    language: str = "",
) -> list[str]:
    """Return remarks on files that look tokenised or hold the same lines, and on metrics not made for the language."""
    same = [name for name, lines in texts.references.items() if lines == texts.hypotheses]
    odd = [f"{texts.name} holds the same lines as its reference {name}; is it the right file?" for name in same]
    files = {texts.name: texts.hypotheses, **texts.references}
    if against is not None:
        files[against.name] = against.hypotheses
        if against.hypotheses == texts.hypotheses:
            odd.append(f"{against.name} holds the same lines as {texts.name}, so there is no difference to test.")
    found = (tokenised_remark(name, lines, metrics, tokenise) for name, lines in files.items())
    return [*odd, *filter(None, found), *language_remarks(language, metrics, tokenise)]


def score_texts(
    texts: Texts,
    metrics: Sequence[str],
    against: Texts | None = None,
    progress: Progress = silent,
    choices: Choices = NOTHING_CHOSEN,
) -> list[Scored]:
    """Every metric of the outputs; and, where there are others to stand against, how they compare."""
    choices.check(metrics)
    found = []
    for number, metric in enumerate(metrics):
        progress("scoring", number, len(metrics))
        found.append(_score(texts, metric, against, choices))
    progress("scoring", len(metrics), len(metrics))
    return found


def _score(texts: Texts, metric: str, against: Texts | None, choices: Choices) -> Scored:
    own, sums = _with_sums(texts, metric, choices)
    low, high = interval(sums)
    versus = None
    if against is not None:
        other, other_sums = _with_sums(against, metric, choices)
        versus = Versus(other, difference([other_sums], [sums]))
    return Scored(own, low, high, sums.by, versus)


def _with_sums(texts: Texts, metric: str, choices: Choices) -> tuple[Score, Sums]:
    """A score, and the sums behind it; where the sums know all about the score, nothing is counted twice."""
    sums = summing(metric, choices)(texts.hypotheses, texts.lists)
    if sums.signature:
        found = Score(metric, sums.value(), sums.signature, len(texts.hypotheses))
    else:
        found = Score(metric, *choices.make(metric)(texts.hypotheses, texts.lists), len(texts.hypotheses))
    return replace(found, signature=texts.sign(found.signature)), sums


@dataclass(frozen=True)
class Asked:
    """A request to explain: all or one line, up to which order, with which weights, and BLEU as chosen."""

    line: int | None
    orders: int
    weights: Sequence[float] | None
    choices: Choices = NOTHING_CHOSEN


def explain(texts: Texts, asked: Asked) -> tuple[Explanation, list[list[Match]]]:
    """BLEU worked out; for one line also its n-grams, a list for each order."""
    chosen = asked.choices.tokenise, asked.choices.smoothing
    if asked.line is None:
        explained = explain_corpus(texts.hypotheses, texts.lists, asked.orders, asked.weights, *chosen)
        return _sign(texts, explained), []
    if not 1 <= asked.line <= len(texts.hypotheses):
        raise Fault(
            f"There is no line {asked.line} in {texts.name}, which has {quantity(len(texts.hypotheses), 'line')}."
        )
    written, own = texts.hypotheses[asked.line - 1], [lines[asked.line - 1] for lines in texts.lists]
    explained = explain_sentence(written, own, asked.orders, asked.weights, *chosen)
    ngrams = [matches(written, own, order.order, asked.choices.tokenise) for order in explained.orders]
    return _sign(texts, explained), ngrams


def _sign(texts: Texts, explained: Explanation) -> Explanation:
    return replace(explained, signature=texts.sign(explained.signature))


def explanation_as_dict(explained: Explanation, ngrams: Sequence[Sequence[Match]], line: int | None) -> dict[str, Any]:
    """As `--json` prints it: the score as always, and how it came about."""
    own = {order.order: _counts(found) for order, found in zip(explained.orders, ngrams, strict=False)}
    about = {**asdict(explained), "orders": [asdict(order) for order in explained.orders], "line": line, "ngrams": own}
    found = Score("bleu", explained.value, explained.signature, explained.n)
    return {"scores": [found.as_dict()], "explanation": about}


def _counts(ngrams: Sequence[Match]) -> list[dict[str, Any]]:
    return [
        {"ngram": " ".join(each.words), "count": each.count, "most": each.most, "clipped": each.clipped}
        for each in ngrams
    ]
