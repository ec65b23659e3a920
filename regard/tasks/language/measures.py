"""Metrics of language models: perplexity, loss, and the share of unknown tokens."""

import math

import numpy as np

from regard.protocols import Measure, Tally, mean

PERPLEXITY, OF_KNOWN, UNKNOWN = "perplexity", "perplexity_of_known", "unknown"
LOSS, OF_TEXTS = "loss", "loss_per_text"
MEASURES = (PERPLEXITY, OF_KNOWN, UNKNOWN, LOSS, OF_TEXTS)


def measure_scores(log_probabilities: np.ndarray, is_unknown: np.ndarray, texts: int, how: str) -> dict[str, Measure]:
    """Return the measures of some texts, from each token's natural log-probability and which tokens are unknown.

    The perplexity of N tokens, including the end of each sentence, is exp(−1/N Σ log p). Unknown words count with the
    probability of the unknown token. `perplexity_of_known` leaves them out, which flatters texts with many unknown
    words; it means nothing without their share, in percent. The loss is the logarithm of the perplexity; per text it is
    −1/|X| Σ log p(x) over the |X| texts, as in lectures, and grows with their length. `how` says in the signatures how
    the text was read.
    """
    nats, known_nats = -float(log_probabilities.sum()), -float(log_probabilities[~is_unknown].sum())
    tokens, unknown = float(len(log_probabilities)), float(np.count_nonzero(is_unknown))
    return {
        PERPLEXITY: Measure(
            Tally((nats, tokens), perplexity), "lower", f"per token, </s> counted, unknown words as <unk>; {how}"
        ),
        OF_KNOWN: Measure(
            Tally((known_nats, tokens - unknown), perplexity),
            "lower",
            f"per token, </s> counted, unknown words left out; {how}",
        ),
        UNKNOWN: Measure(Tally((unknown, tokens), _percentage), "lower", "percent of all tokens, </s> counted"),
        LOSS: Measure(Tally((nats, tokens), mean), "lower", f"nats per token, </s> counted; {how}"),
        OF_TEXTS: Measure(Tally((nats, float(texts)), mean), "lower", f"nats per text; {how}"),
    }


def perplexity(nats: float, tokens: float) -> float:
    """Return exp of the mean; infinite if something impossible was written, NaN for no tokens."""
    if not tokens:
        return math.nan
    mean = nats / tokens
    return math.exp(mean) if mean < 700 else math.inf  # the range of a double


def _percentage(part: float, whole: float) -> float:
    return 100 * part / whole if whole else math.nan
