"""Scores of single sentences for choosing among outputs: the utilities of minimum Bayes risk."""

from collections.abc import Callable, Sequence

from regard.base.faults import Fault
from regard.metrics.sentence_counts import sentence_statistics
from regard.metrics.text import BETTER, METRICS, OF_TREES, SACREBLEU

ERRORS = frozenset({"ter", "wer", "cer", "per"})  # lower is better
_OF_TEXTS = frozenset({"cider"})  # these weight words by the other sentences
UTILITIES = tuple(name for name in METRICS.shipped if name not in _OF_TEXTS and name not in OF_TREES)


def utility(metric: str) -> Callable[[Sequence[str], Sequence[str]], list[float]]:
    """Return a function that scores hypotheses against their references, with error rates negated: more is better.

    Sentence BLEU uses only the orders that the sentence has n-grams of, as in sacreBLEU.
    """
    if metric in _OF_TEXTS:
        raise Fault(
            f"{metric} is a score of whole texts, not of single sentences; choose one of {', '.join(UTILITIES)}."
        )
    if metric in OF_TREES:  # an output that is not a tree could not be a reference
        raise Fault(f"{metric} is a score of trees, which outputs may not be; choose one of {', '.join(UTILITIES)}.")
    if metric not in METRICS:
        raise Fault(f"There is no metric '{metric}'; choose one of {', '.join(UTILITIES)}.")
    sign = -1.0 if BETTER[metric] == "lower" else 1.0

    def worth(hypotheses: Sequence[str], references: Sequence[str]) -> list[float]:
        if metric in SACREBLEU:
            values = _by_sacrebleu(metric, hypotheses, references)
        else:
            pairs = zip(hypotheses, references, strict=True)
            values = [_alone(metric, hypothesis, reference) for hypothesis, reference in pairs]
        return [sign * value for value in values]

    return worth


def _alone(metric: str, hypothesis: str, reference: str) -> float:
    if metric in ERRORS and not reference.strip():  # an empty reference: all wrong, or nothing to be wrong
        return 100.0 if hypothesis.strip() else 0.0
    return METRICS[metric]([hypothesis], [[reference]])[0]


def _by_sacrebleu(metric: str, hypotheses: Sequence[str], references: Sequence[str]) -> list[float]:
    counts = SACREBLEU[metric]()
    if metric.startswith("bleu"):
        counts.effective_order = True
    rows = sentence_statistics(counts, hypotheses, [list(references)])
    return [float(counts._compute_score_from_stats(row.tolist()).score) for row in rows]
