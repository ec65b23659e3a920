"""Metrics of language models: perplexity, loss, and the share of unknown tokens."""

import math

import numpy as np

from regard.protocols import Measure, Tally, mean

PERPLEXITY, OF_KNOWN, UNKNOWN = "perplexity", "perplexity_of_known", "unknown"
LOSS, OF_TEXTS = "loss", "loss_per_text"
MEASURES = (PERPLEXITY, OF_KNOWN, UNKNOWN, LOSS, OF_TEXTS)


def measure_scores(log_probabilities: np.ndarray, is_unknown: np.ndarray, texts: int, how: str) -> dict[str, Measure]:
    """The measures of some texts, from the natural logarithm of each token's probability and which are unknown.

    The perplexity of N tokens, the end of each sentence among them, is exp(−1/N Σ log p). Unknown words are counted
    with the probability of the unknown token; `perplexity_of_known` leaves them out, which makes texts with other
    unknown words look better than they are and says nothing without the share of them, in percent, beside it. The loss
    is the logarithm of the perplexity; per text it is −1/|X| Σ log p(x) over the |X| texts, as lectures write it, and
    grows with their length. `how` the text was read is said in the signatures.
    """
    nats, known = -float(log_probabilities.sum()), -float(log_probabilities[~is_unknown].sum())
    tokens, unknown = float(len(log_probabilities)), float(np.count_nonzero(is_unknown))
    return {
        PERPLEXITY: Measure(
            Tally((nats, tokens), perplexity), "lower", f"per token, </s> counted, unknown words as <unk>; {how}"
        ),
        OF_KNOWN: Measure(
            Tally((known, tokens - unknown), perplexity),
            "lower",
            f"per token, </s> counted, unknown words left out; {how}",
        ),
        UNKNOWN: Measure(Tally((unknown, tokens), _percentage), "lower", "percent of all tokens, </s> counted"),
        LOSS: Measure(Tally((nats, tokens), mean), "lower", f"nats per token, </s> counted; {how}"),
        OF_TEXTS: Measure(Tally((nats, float(texts)), mean), "lower", f"nats per text; {how}"),
    }


def perplexity(nats: float, tokens: float) -> float:
    """exp of the mean; infinite where something impossible was written, and of nothing there is none."""
    if not tokens:
        return math.nan
    mean = nats / tokens
    return math.exp(mean) if mean < 700 else math.inf  # what a double can hold


def _percentage(part: float, whole: float) -> float:
    return 100 * part / whole if whole else math.nan
