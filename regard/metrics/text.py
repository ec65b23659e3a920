"""Scores of written text by name, each with the signature that says how it was made."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

from regard.base.faults import Fault
from regard.base.places import find_place
from regard.base.plugins import Table
from regard.base.scores import Score
from regard.metrics.bleu import UNCUT, bleu, check_tokeniser, tokeniser_remark
from regard.metrics.brackets import brackets, well_formed
from regard.metrics.cider import cider
from regard.metrics.errors import (
    References,
    by_sentence,
    character_error_rate,
    exact_matches,
    position_independent_error_rate,
    word_error_rate,
)
from regard.metrics.lepor import lepor
from regard.metrics.meteor import STEMMERS, meteor
from regard.metrics.nist import nist
from regard.metrics.ribes import ribes
from regard.metrics.rouge import rouge
from regard.metrics.sentence_counts import sentence_statistics

Metric = Callable[[Sequence[str], References], tuple[float, str]]  # gives the value and the signature
Direction = Literal["lower", "higher"]


@dataclass(frozen=True)
class TextMetric:
    """A row of the table of metrics: what measures, itself or as module:name, and which direction is better."""

    measure: Metric | str
    better: Direction = "higher"

    def load(self) -> Metric:
        """Return what measures; that of a plugin is imported here."""
        found: Metric = find_place(self.measure) if isinstance(self.measure, str) else self.measure
        return found

    def __call__(self, hypotheses: Sequence[str], references: References) -> tuple[float, str]:
        return self.load()(hypotheses, references)


def _chrf(word_order: int) -> Callable[[], Any]:
    def make() -> Any:
        from sacrebleu.metrics.chrf import CHRF

        return CHRF(word_order=word_order)

    return make


def _ter() -> Any:
    from sacrebleu.metrics.ter import TER

    return TER()


def _by_sacrebleu(make: Callable[[], Any]) -> Metric:
    """What sacreBLEU's metric gives; a sentence with fewer references than others is scored on those it has."""

    def measure(hypotheses: Sequence[str], references: References) -> tuple[float, str]:
        metric = make()
        total = sentence_statistics(metric, hypotheses, references).cumsum(axis=0)[-1]  # added up in order, as it does
        return float(metric._compute_score_from_stats(total.tolist()).score), str(metric.get_signature())

    return measure


SACREBLEU: dict[str, Callable[[], Any]] = {
    "bleu": bleu,
    "bleu1": partial(bleu, orders=1),  # single words alone, then up to pairs and to triples, as captions are scored
    "bleu2": partial(bleu, orders=2),
    "bleu3": partial(bleu, orders=3),
    "bleu-tokenised": partial(bleu, UNCUT),  # of text that is tokenised already, as many papers give it
    "chrf": _chrf(0),
    "chrf++": _chrf(2),
    "ter": _ter,
}
_METRICS: dict[str, Metric] = {name: _by_sacrebleu(make) for name, make in SACREBLEU.items()} | {
    "rouge1": rouge("rouge1"),
    "rouge2": rouge("rouge2"),
    "rougeL": rouge("rougeL"),
    "rougeLsum": rouge("rougeLsum"),
    "meteor": meteor("en"),
    "meteor-de": meteor("de"),
    "meteor-es": meteor("es"),
    "meteor-fr": meteor("fr"),
    "meteor-pt": meteor("pt"),
    "meteor-ru": meteor("ru"),
    "nist": nist(),
    "ribes": ribes(),
    "lepor": lepor(),
    "cider": cider(),
    "wer": word_error_rate,
    "cer": character_error_rate,
    "per": position_independent_error_rate,
    "exact": exact_matches,
    "brackets": brackets(),
    "well-formed": well_formed(),
}
OF_TREES = ("brackets", "well-formed")  # of lines that hold a tree, and of no other text
ERRORS = ("ter", "wer", "cer", "per", "perplexity", "aer")
_OF_MODELS = ("perplexity", "aer")  # found by a model, not from its outputs
METRICS: Table[str, TextMetric] = Table(
    "metrics",
    "metric",
    TextMetric,
    {name: TextMetric(measure, "lower" if name in ERRORS else "higher") for name, measure in _METRICS.items()},
)


class _Directions(Mapping[str, Direction]):
    """Which direction is better, by the names of metrics and for those that no text has alone: perplexity, aer."""

    def __getitem__(self, metric: str) -> Direction:
        return "lower" if metric in ERRORS else METRICS[metric].better

    def __iter__(self) -> Iterator[str]:
        yield from (*METRICS, *_OF_MODELS)

    def __len__(self) -> int:
        return len(METRICS) + len(_OF_MODELS)


BETTER: Mapping[str, Direction] = _Directions()


def is_metric(name: str, measures: Sequence[str]) -> bool:
    """Return True if a name is a metric of text and none of a task's own measures, which no plugin is asked for."""
    return name not in measures and name in METRICS


def language_remarks(language: str, metrics: Sequence[str], tokenise: str | None) -> list[str]:
    """What to tell people whose language is not the one that a metric is made for, where that is known."""
    found, code = tokeniser_remark(language, metrics, tokenise), re.split("[-_]", language.lower())[0]
    remarks = [] if found is None else [found]
    if "meteor" in metrics and code != "en" and code in STEMMERS:
        own = f"meteor-{code}"
        advice = f"give --metric {own}" if own in METRICS else f"in Python regard.metrics.meteor.meteor('{code}') is it"
        remarks.append(f"METEOR stems words as English ones here; for {language} {advice}.")
    return remarks


def score(
    hypotheses: Sequence[str],
    references: Sequence[str] | References,
    metric: str = "bleu",
    tokenise: str | None = None,
) -> Score:
    """Score outputs against references: a list of sentences, or several such lists, each a whole reference.

    A sentence may have fewer references than others: None stands in the lists that have none for it. BLEU may be cut by
    another of sacreBLEU's tokenisers than 13a.
    """
    if metric not in METRICS:
        raise Fault(f"There is no metric '{metric}'; there are {', '.join(METRICS)}.")
    check_tokeniser(tokenise, [metric])
    lists = _whole(references)
    for reference in lists:
        if len(reference) != len(hypotheses):
            raise Fault(f"There are {len(hypotheses)} hypotheses but {len(reference)} references.")
    if not hypotheses:
        raise Fault("There is nothing to score: no hypotheses were given.")
    by_sentence(lists)  # each has one at least
    measure = METRICS[metric].load() if tokenise is None else _by_sacrebleu(partial(bleu, tokenise))
    return Score(metric, *measure(hypotheses, lists), len(hypotheses))


def _whole(references: Sequence[str] | References) -> list[list[Any]]:
    """The references as lists, each a whole one."""
    is_one = not references or isinstance(references[0], str)
    return [list(references)] if is_one else [list(reference) for reference in references]
