"""Normalisers: turn the scores of a query into its weights.

A mask is True where a query may look. Every normaliser gives zero elsewhere, and all zeros to a query that may look
nowhere: never NaN, in the weights or in their gradient.
"""

from collections.abc import Callable
from typing import Literal, get_args

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from regard.base.faults import Fault
from regard.base.places import find_place
from regard.base.rows import NORMALISERS

Normaliser = Callable[[Tensor, Tensor | None], Tensor]
NormaliserName = Literal["softmax", "plain", "sparsemax", "entmax"]
Positiveness = Literal["softplus", "exp", "none"]  # how scores are made positive for `plain`
Scores = Float[Tensor, "*place key"]
Allowed = Bool[Tensor, "*#place key"]


def softmax(scores: Scores, mask: Allowed | None) -> Scores:
    """exp(e_i) / Σ_j exp(e_j) over the keys a query may look at; all zero if there are none."""
    if mask is None:
        return scores.softmax(dim=-1)
    # A row of only -inf gives NaN, also in the gradient, so a lost row gets equal low scores and is zeroed afterwards.
    return torch.where(mask, scores, torch.finfo(scores.dtype).min).softmax(dim=-1) * mask


normalise = softmax


def plain(scores: Scores, mask: Allowed | None) -> Scores:
    """e_i / Σ_j e_j for positive scores (`Positive` makes them so); zeros where the sum is zero."""
    if mask is not None:
        scores = scores.masked_fill(~mask, 0.0)
    total = scores.sum(dim=-1, keepdim=True)
    return scores / total.masked_fill(total == 0, 1.0)


def plain_of_exp(scores: Scores, mask: Allowed | None) -> Scores:
    """a_i / Σ_j a_j with a = exp(e), which is the softmax; the largest exponent is subtracted, as it cancels out."""
    allowed = scores if mask is None else scores.masked_fill(~mask, float("-inf"))
    best = allowed.amax(dim=-1, keepdim=True).detach() if scores.shape[-1] else scores.new_zeros(())
    best = best.masked_fill(best.isinf(), 0.0)  # a query that may look nowhere has no best score
    if mask is not None:
        scores = torch.where(mask, scores, best)  # a barred score could overflow and make its gradient NaN
    return plain((scores - best).exp(), mask)


def plain_of_positive(scores: Scores, mask: Allowed | None) -> Scores:
    """e_i / Σ_j e_j for scores that are already positive; other scores are refused."""
    allowed = scores if mask is None else scores.masked_fill(~mask, 1.0)
    if not allowed.is_meta and not bool((allowed > 0).all()):
        least = float(allowed.detach().min())
        raise Fault(
            f"model.positive = 'none' needs positive attention scores, but one is {least:g}. "
            "Choose another score, or set model.positive to 'exp' or 'softplus'."
        )
    return plain(scores, mask)


def sparsemax(scores: Scores, mask: Allowed | None) -> Scores:
    """The point of the simplex nearest to the scores (Martins and Astudillo 2016, equation 2): many exact zeros."""
    import entmax

    return _sparse(entmax.sparsemax, scores, mask)


def entmax15(scores: Scores, mask: Allowed | None) -> Scores:
    """1.5-entmax, between softmax and sparsemax (Peters et al. 2019, equation 10 with α = 1.5)."""
    import entmax

    return _sparse(entmax.entmax15, scores, mask)


def _sparse(mapping: Callable[..., Tensor], scores: Tensor, mask: Tensor | None) -> Tensor:
    """Apply a mapping that depends on score differences only.

    Both mappings give nothing to a key two or more below the best, so masked keys are set 4 below it.
    """
    exact = scores.to(torch.promote_types(scores.dtype, torch.float32))
    if not scores.shape[-1]:
        return scores  # without keys there is no best score
    if mask is None:
        return mapping(exact, dim=-1).to(scores.dtype)
    best = exact.masked_fill(~mask, float("-inf")).amax(dim=-1, keepdim=True).detach()
    # The best score of a lost row is -inf, which must not enter the arithmetic; such a row ends up flat and is zeroed.
    lowered = (exact - best.masked_fill(best.isinf(), 0.0)).masked_fill(~mask, -4.0)
    return mapping(lowered, dim=-1).to(scores.dtype).masked_fill(~mask, 0.0)


_NAMED: dict[str, Normaliser] = {"softmax": softmax, "plain": plain, "sparsemax": sparsemax, "entmax": entmax15}


_PLAIN: dict[str, Normaliser] = {"softplus": plain, "exp": plain_of_exp, "none": plain_of_positive}


def named_normaliser(name: NormaliserName, positive: Positiveness = "softplus") -> Normaliser:
    """Return the normaliser that a recipe names; with softplus, `plain` expects scores made `Positive`."""
    if name not in _NAMED:
        if name in NORMALISERS and (place := NORMALISERS[name].normalise):
            normaliser: Normaliser = find_place(place)
            return normaliser
        raise ValueError(f"there is no normaliser '{name}', only {', '.join(get_args(NormaliserName))}")
    return _PLAIN[positive] if name == "plain" else _NAMED[name]
