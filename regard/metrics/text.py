"""Scores of written text by name, each with a signature that says how it was computed."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

from regard.base.faults import Fault
from regard.base.places import find_place
from regard.base.plugins import Table
from regard.base.scores import Score
from regard.data.vectors.word_vectors import WordVectors
from regard.metrics.bleu import (
    CHOOSABLE,
    UNCUT,
    USUAL_SMOOTHING,
    Smoothing,
    bleu,
    check_smoothing,
    check_tokeniser,
    tokeniser_remark,
)
from regard.metrics.brackets import brackets, well_formed
from regard.metrics.cider import cider
from regard.metrics.enhanced_bleu import ebleu, ebleu_2013
from regard.metrics.errors import (
    References,
    by_sentence,
    character_error_rate,
    exact_matches,
    position_independent_error_rate,
    word_error_rate,
)
from regard.metrics.hppr import hppr
from regard.metrics.lepor import lepor, lepor_part
from regard.metrics.meteor import STEMMERS, meteor, plain
from regard.metrics.nist import nist
from regard.metrics.ribes import ribes
from regard.metrics.rouge import rouge
from regard.metrics.sentence_counts import sentence_statistics

Metric = Callable[[Sequence[str], References], tuple[float, str]]  # returns the value and the
Direction = Literal["lower", "higher"]


@dataclass(frozen=True)
class TextMetric:
    """A row of the table of metrics: the measuring function, itself or as module:name, and the better direction."""

    measure: Metric | str
    better: Direction = "higher"

    def load(self) -> Metric:
        """Return the measuring function; a plugin's is imported here."""
        measure: Metric = find_place(self.measure) if isinstance(self.measure, str) else self.measure
        return measure

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
    """Return a metric of sacreBLEU; a sentence with fewer references than others is scored on those it has."""

    def measure(hypotheses: Sequence[str], references: References) -> tuple[float, str]:
        metric = make()
        total = sentence_statistics(metric, hypotheses, references).cumsum(axis=0)[-1]  # in order, as sacreBLEU does
        return float(metric._compute_score_from_stats(total.tolist()).score), str(metric.get_signature())

    return measure


SACREBLEU: dict[str, Callable[[], Any]] = {
    "bleu": bleu,
    "bleu1": partial(bleu, orders=1),  # single words only, then up to pairs and triples, as captions are scored
    "bleu2": partial(bleu, orders=2),
    "bleu3": partial(bleu, orders=3),
    "bleu-tokenised": partial(bleu, UNCUT),  # for text that is already tokenised, as many papers report it
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
    "meteor-f1": meteor("en", plain("en")),
    "meteor-f1-pt": meteor("pt", plain("pt")),
    "meteor-f1-ru": meteor("ru", plain("ru")),
    "nist": nist(),
    "ribes": ribes(),
    "lepor": lepor(),
    "lepor-length": lepor_part("length"),
    "lepor-places": lepor_part("places"),
    "lepor-harmonic": lepor_part("harmonic"),
    "ebleu-2013": ebleu_2013(),
    "cider": cider(),
    "wer": word_error_rate,
    "cer": character_error_rate,
    "per": position_independent_error_rate,
    "exact": exact_matches,
    "brackets": brackets(),
    "well-formed": well_formed(),
    "hppr": hppr(),
}
BY_VECTORS: dict[str, Callable[[WordVectors], Metric]] = {"ebleu": ebleu}  # metrics that need word vectors
OF_TREES = ("brackets", "well-formed", "hppr")  # only for lines that hold a tree
ERRORS = ("ter", "wer", "cer", "per", "perplexity", "aer")
_OF_MODELS = ("perplexity", "aer")  # computed by a model, not from its outputs
METRICS: Table[str, TextMetric] = Table(
    "metrics",
    "metric",
    TextMetric,
    {name: TextMetric(measure, "lower" if name in ERRORS else "higher") for name, measure in _METRICS.items()},
)


class _Directions(Mapping[str, Direction]):
    """The better direction of each metric, including those that text alone does not have: perplexity, aer."""

    def __getitem__(self, metric: str) -> Direction:
        return "lower" if metric in ERRORS else METRICS[metric].better

    def __iter__(self) -> Iterator[str]:
        yield from (*METRICS, *_OF_MODELS)

    def __len__(self) -> int:
        return len(METRICS) + len(_OF_MODELS)


BETTER: Mapping[str, Direction] = _Directions()


def is_metric(name: str, measures: Sequence[str]) -> bool:
    """Return True if a name is a metric of text and not one of a task's own measures; plugins are asked last."""
    return name not in measures and name in METRICS


@dataclass(frozen=True)
class Choices:
    """Choices for metrics: BLEU's tokeniser and smoothing, and word vectors for those that need them."""

    tokenise: str | None = None
    smoothing: Smoothing = USUAL_SMOOTHING
    vectors: WordVectors | None = None

    def check(self, metrics: Sequence[str]) -> None:
        """Refuse unknown metrics, choices that apply to none of the metrics, and missing vectors."""
        for metric in metrics:
            if metric == "perplexity":
                raise Fault("Perplexity is computed by a model, not from its outputs; `regard evaluate` gives it.")
            if metric not in METRICS and metric not in BY_VECTORS:
                raise Fault(f"There is no metric '{metric}'; there are {', '.join([*METRICS, *BY_VECTORS])}.")
            if metric in BY_VECTORS and self.vectors is None:
                raise Fault(f"{metric} needs word vectors; give a file of them or a word-vector model as --vectors.")
        if self.vectors is not None and not set(metrics) & BY_VECTORS.keys():
            raise Fault(f"Word vectors are only for {', '.join(BY_VECTORS)}, not for {', '.join(metrics)}.")
        check_tokeniser(self.tokenise, metrics)
        check_smoothing(self.smoothing, metrics)

    def bleu(self, metric: str) -> Callable[[], Any] | None:
        """Return a function that makes the chosen BLEU, or None for other metrics or without a choice."""
        if metric != CHOOSABLE or (self.tokenise is None and self.smoothing == USUAL_SMOOTHING):
            return None
        return partial(bleu, self.tokenise, smoothing=self.smoothing)

    def make(self, metric: str) -> Metric:
        """Return a metric with these choices."""
        if self.vectors is not None and metric in BY_VECTORS:
            return BY_VECTORS[metric](self.vectors)
        chosen_bleu = self.bleu(metric)
        return METRICS[metric].load() if chosen_bleu is None else _by_sacrebleu(chosen_bleu)


NOTHING_CHOSEN = Choices()


def language_remarks(language: str, metrics: Sequence[str], tokenise: str | None) -> list[str]:
    """Return remarks on metrics that are not made for a language."""
    remark, code = tokeniser_remark(language, metrics, tokenise), re.split("[-_]", language.lower())[0]
    remarks = [] if remark is None else [remark]
    if "meteor" in metrics and code != "en" and code in STEMMERS:
        language_metric = f"meteor-{code}"
        advice = (
            f"give --metric {language_metric}"
            if language_metric in METRICS
            else f"use regard.metrics.meteor.meteor('{code}') in Python"
        )
        remarks.append(f"METEOR stems words as in English here; for {language} {advice}.")
    return remarks


def score(
    hypotheses: Sequence[str],
    references: Sequence[str] | References,
    metric: str = "bleu",
    tokenise: str | None = None,
    smoothing: Smoothing = USUAL_SMOOTHING,
    vectors: WordVectors | None = None,
) -> Score:
    """Score outputs against references: a list of sentences, or several such lists, each a whole reference.

    A sentence may have fewer references than others: use None in the lists that have none for it. BLEU may use another
    of sacreBLEU's tokenisers than 13a, and another smoothing; eBLEU needs word vectors.
    """
    choices = Choices(tokenise, smoothing, vectors)
    choices.check([metric])
    lists = _whole(references)
    for reference in lists:
        if len(reference) != len(hypotheses):
            raise Fault(f"There are {len(hypotheses)} hypotheses but {len(reference)} references.")
    if not hypotheses:
        raise Fault("There is nothing to score: no hypotheses were given.")
    by_sentence(lists)  # checks that each has at least one
    return Score(metric, *choices.make(metric)(hypotheses, lists), len(hypotheses))


def _whole(references: Sequence[str] | References) -> list[list[Any]]:
    """Return the references as lists, each a whole one."""
    is_one = not references or isinstance(references[0], str)
    return [list(references)] if is_one else [list(reference) for reference in references]
