"""Scores of written text, thin over sacreBLEU, each with the signature that says how it was made."""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from regard.faults import Fault


@dataclass(frozen=True)
class Score:
    """A score, and all one needs to know to compare it with another."""

    metric: str
    value: float
    signature: str
    n: int
    split: str | None = None

    def as_dict(self) -> dict[str, Any]:
        """As it stands in scores.json; the split of a score of files is null."""
        return asdict(self)


def _bleu() -> Any:
    from sacrebleu.metrics.bleu import BLEU

    return BLEU()


def _chrf(word_order: int) -> Callable[[], Any]:
    def make() -> Any:
        from sacrebleu.metrics.chrf import CHRF

        return CHRF(word_order=word_order)

    return make


def _ter() -> Any:
    from sacrebleu.metrics.ter import TER

    return TER()


METRICS: dict[str, Callable[[], Any]] = {"bleu": _bleu, "chrf": _chrf(0), "chrf++": _chrf(2), "ter": _ter}


def score(
    hypotheses: Sequence[str], references: Sequence[str] | Sequence[Sequence[str]], metric: str = "bleu"
) -> Score:
    """Score outputs against references: a list of sentences, or several such lists, each a whole reference."""
    if metric not in METRICS:
        raise Fault(f"There is no metric '{metric}'; there are {', '.join(METRICS)}.")
    lists = [list(references)] if not references or isinstance(references[0], str) else [list(r) for r in references]
    for reference in lists:
        if len(reference) != len(hypotheses):
            raise Fault(f"There are {len(hypotheses)} hypotheses but {len(reference)} references.")
    if not hypotheses:
        raise Fault("There is nothing to score: no hypotheses were given.")
    scorer = METRICS[metric]()
    value = float(scorer.corpus_score(list(hypotheses), lists).score)
    return Score(metric, value, str(scorer.get_signature()), len(hypotheses))
