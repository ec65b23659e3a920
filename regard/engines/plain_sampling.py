"""Sampling of one text without torch, by the rules of `regard.decoding.sampling`, with the same random numbers."""

from collections.abc import Callable

import numpy as np

from regard.base.pauses import between_steps
from regard.decoding.options import DrawOptions, SamplingOptions
from regard.decoding.output import Hypothesis

_GOLDEN, _FIRST, _SECOND = 0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB  # as in `decoding.chance`
_BITS = 2**64 - 1
_ROUNDING = 1e-12  # as in `decoding.filters`
Heard = Callable[[int, float], None]  # receives each token and its log-probability once it is written
Next = Callable[[int], np.ndarray]  # from a token to the log-probabilities of the tokens that may follow it


def plain_sample(
    read: Next,
    first: int,
    limit: int,
    end: int,
    options: SamplingOptions,
    key: tuple[int, int],
    heard: Heard | None = None,
) -> Hypothesis:
    """Return the sample of this line and number, of at most `limit` tokens, its end included; it may be cut.

    `first` is the token that the first one follows.
    """
    tokens, scores, last = list[int](), list[float](), first
    while len(scores) < limit:
        between_steps()
        likely = read(last)
        last = _draw(distribution(likely, options), _uniform(options.seed, *key, len(tokens)))
        scores.append(float(likely[last]))
        if last == end:
            break
        tokens.append(last)
        if heard is not None:
            heard(last, scores[-1])
    return Hypothesis(tokens, scores, sum(scores))


def _uniform(seed: int, *keys: int) -> float:
    """Return a number in [0, 1) as `decoding.chance.uniform` does, by SplitMix64."""
    state = seed
    for key in keys:
        word = (state + (key + 1) * _GOLDEN) & _BITS
        word = (word ^ word >> 30) * _FIRST & _BITS
        word = (word ^ word >> 27) * _SECOND & _BITS
        state = word ^ word >> 31
    return (state >> 11) * 2.0**-53


def _draw(log_probabilities: np.ndarray, chance: float) -> int:
    """Return the first token at which the cumulative probabilities exceed a chance in [0, 1)."""
    cumulative = np.exp(log_probabilities).cumsum()
    token = int(np.searchsorted(cumulative, chance * cumulative[-1], side="right"))
    return min(token, int(np.searchsorted(cumulative, cumulative[-1])))


def distribution(log_probabilities: np.ndarray, options: DrawOptions) -> np.ndarray:
    """Return the distribution to sample from, filtered as by `decoding.filters`, in the same order."""
    likely = _normalised(log_probabilities.astype(np.float64))
    if options.temperature == 0:
        likely = _only(likely, np.argsort(-likely, kind="stable")[:1])
    elif options.temperature != 1:
        likely = _normalised((likely - likely.max()) / options.temperature)
    if options.top_k:
        likely = _only(likely, np.argsort(-likely, kind="stable")[: options.top_k])
    if options.top_p < 1:
        likely = _fewest(likely, np.argsort(-likely, kind="stable"), options.top_p)
    if options.min_p > 0:
        kept = np.exp(likely - likely.max()) >= options.min_p * (1 - _ROUNDING)
        likely = _only(likely, np.flatnonzero(kept))
    if options.typical < 1:
        shares = np.exp(likely)
        entropy = -(shares * np.where(shares > 0, likely, 0.0)).sum()
        likely = _fewest(likely, np.argsort(np.abs(-likely - entropy), kind="stable"), options.typical)
    return likely


def _fewest(likely: np.ndarray, order: np.ndarray, mass: float) -> np.ndarray:
    """Keep, in this order, all tokens before which `mass` was not yet reached; always at least the first."""
    shares = np.exp(likely[order])
    kept = shares.cumsum() - shares < mass - _ROUNDING
    kept[0] = True
    return _only(likely, order[kept])


def _only(likely: np.ndarray, kept: np.ndarray) -> np.ndarray:
    """Give all the probability to these tokens."""
    alone = np.full_like(likely, -np.inf)
    alone[kept] = likely[kept]
    return _normalised(alone)


def _normalised(likely: np.ndarray) -> np.ndarray:
    highest = likely.max()
    shares: np.ndarray = likely - (highest + np.log(np.exp(likely - highest).sum()))
    return shares
