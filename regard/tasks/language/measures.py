"""How language models are measured: by the perplexity of text, and by how much of it is unknown."""

import math

import numpy as np

from regard.protocols import Measure, Tally

PERPLEXITY, OF_KNOWN, UNKNOWN = "perplexity", "perplexity_of_known", "unknown"
MEASURES = (PERPLEXITY, OF_KNOWN, UNKNOWN)


def measure_scores(log_probabilities: np.ndarray, is_unknown: np.ndarray) -> dict[str, Measure]:
    """The measures of a text, from the natural logarithm of each token's probability and which of them are unknown.

    The perplexity of N tokens, the end of each sentence among them, is exp(−1/N Σ log p). Unknown words are counted
    with the probability of the unknown token; `perplexity_of_known` leaves them out, which makes texts with other
    unknown words look better than they are and says nothing without the share of them, in percent, beside it.
    """
    nats, known = -float(log_probabilities.sum()), -float(log_probabilities[~is_unknown].sum())
    tokens, unknown = float(len(log_probabilities)), float(np.count_nonzero(is_unknown))
    return {
        PERPLEXITY: Measure(
            Tally((nats, tokens), perplexity), "lower", "per token, </s> counted, unknown words as <unk>"
        ),
        OF_KNOWN: Measure(
            Tally((known, tokens - unknown), perplexity), "lower", "per token, </s> counted, unknown words left out"
        ),
        UNKNOWN: Measure(Tally((unknown, tokens), _percentage), "lower", "percent of all tokens, </s> counted"),
    }


def perplexity(nats: float, tokens: float) -> float:
    """exp of the mean; infinite where something impossible was written, and of nothing there is none."""
    if not tokens:
        return math.nan
    mean = nats / tokens
    return math.exp(mean) if mean < 700 else math.inf  # what a double can hold


def _percentage(part: float, whole: float) -> float:
    return 100 * part / whole if whole else math.nan
