"""Sampling filters: pure functions from log-probabilities (row, token) to log-probabilities.

Each leaves out some tokens (-inf) or sharpens the distribution, and renormalises the rest. Among equal tokens the
smaller number goes first. All compute in float64.
"""

import torch
from torch import Tensor

from regard.decoding.options import SamplingOptions

NOTHING = float("-inf")
ROUNDING = 1e-12  # a sum of probabilities this close below a bound counts as reaching it


def distribution(log_probabilities: Tensor, options: SamplingOptions) -> Tensor:
    """Return the distribution to sample from: temperature, top-k, top-p, min-p and typical, applied in this order."""
    filtered = log_probabilities.double().log_softmax(dim=-1)
    if options.temperature != 1:
        filtered = temper(filtered, options.temperature)
    if options.top_k:
        filtered = top_k(filtered, options.top_k)
    if options.top_p < 1:
        filtered = top_p(filtered, options.top_p)
    if options.min_p > 0:
        filtered = min_p(filtered, options.min_p)
    if options.typical < 1:
        filtered = typical(filtered, options.typical)
    return filtered


def temper(log_probabilities: Tensor, temperature: float) -> Tensor:
    """p^(1/temperature), normalised; at 0 its limit, where the best token has all the probability."""
    if temperature == 0:
        return top_k(log_probabilities, 1)
    # Relative to the best, a small temperature sends the others to -inf, but never all of them.
    best = log_probabilities.amax(dim=-1, keepdim=True)
    return ((log_probabilities.double() - best) / temperature).log_softmax(dim=-1)


def top_k(log_probabilities: Tensor, count: int) -> Tensor:
    """Keep the `count` most probable tokens (Fan et al. 2018)."""
    order = log_probabilities.argsort(dim=-1, descending=True, stable=True)
    return _only(log_probabilities, order, torch.arange(order.shape[-1], device=order.device) < count)


def top_p(log_probabilities: Tensor, mass: float) -> Tensor:
    """Keep the fewest tokens that together reach `mass`: the nucleus (Holtzman et al. 2020, equations 2 and 3)."""
    return _fewest(log_probabilities, log_probabilities.argsort(dim=-1, descending=True, stable=True), mass)


def min_p(log_probabilities: Tensor, fraction: float) -> Tensor:
    """Keep the tokens at least `fraction` as probable as the most probable one (Nguyen et al. 2024)."""
    best = log_probabilities.amax(dim=-1, keepdim=True)
    relative = (log_probabilities.double() - best).exp()
    return log_probabilities.double().masked_fill(relative < fraction * (1 - ROUNDING), NOTHING).log_softmax(dim=-1)


def typical(log_probabilities: Tensor, mass: float) -> Tensor:
    """Keep the fewest tokens reaching `mass` whose surprise -log p is nearest the entropy (Meister et al. 2023)."""
    surprise = -log_probabilities.double()
    entropy = torch.where(surprise.isfinite(), surprise * (-surprise).exp(), 0).sum(dim=-1, keepdim=True)
    return _fewest(log_probabilities, (surprise - entropy).abs().argsort(dim=-1, stable=True), mass)


def _fewest(log_probabilities: Tensor, order: Tensor, mass: float) -> Tensor:
    """Keep, in this order, all tokens before which `mass` was not yet reached; always at least the first."""
    probabilities = log_probabilities.double().exp().gather(-1, order)
    before = probabilities.cumsum(dim=-1) - probabilities
    first = torch.arange(order.shape[-1], device=order.device) == 0
    return _only(log_probabilities, order, first | (before < mass - ROUNDING))


def _only(log_probabilities: Tensor, order: Tensor, is_kept: Tensor) -> Tensor:
    """Give all the probability to the tokens whose places in the order are kept."""
    mask = torch.zeros_like(order, dtype=torch.bool).scatter(-1, order, is_kept.expand_as(order))
    return log_probabilities.double().masked_fill(~mask, NOTHING).log_softmax(dim=-1)
