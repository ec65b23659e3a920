"""Turn logits into losses and, in place, into the logits' gradients: one kernel, and no other table of their size."""

import torch
import triton
import triton.language as tl
from torch import Tensor

BLOCK = 4096  # tokens of the vocabulary processed at once


@triton.jit
def _loss_kernel(logits, wanted, losses, tokens, stride, smoothing, block: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    own = logits + row * stride
    # Read before the sums over all threads, after which each thread writes gradients where others may still read.
    right = tl.load(wanted + row)
    of_right = tl.load(own + right, right >= 0, 0.0).to(tl.float32)
    highest, total, sum_of_logits = float("-inf"), 0.0, 0.0
    for first in range(0, tokens, block):
        column = first + tl.arange(0, block)
        inside = column < tokens
        part = tl.load(own + column, inside, float("-inf")).to(tl.float32)
        higher = tl.maximum(highest, tl.max(part))
        total = total * tl.exp(highest - higher) + tl.sum(tl.exp(part - higher))
        sum_of_logits += tl.sum(tl.where(inside, part, 0.0))
        highest = higher
    logarithm = highest + tl.log(total)
    real = tl.where(right >= 0, 1.0, 0.0)
    tl.store(losses + row, real * (logarithm - (1 - smoothing) * of_right - smoothing / tokens * sum_of_logits))
    for first in range(0, tokens, block):
        column = first + tl.arange(0, block)
        inside = column < tokens
        chance = tl.exp(tl.load(own + column, inside, 0.0).to(tl.float32) - logarithm)
        gradient = chance - smoothing / tokens - tl.where(column == right, 1 - smoothing, 0.0)
        tl.store(own + column, real * gradient, inside)


@triton.jit
def _agreeing_loss_kernel(logits, wanted, losses, rows, tokens, smoothing, consistency, block: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    one, other = logits + row * tokens, logits + (rows + row) * tokens
    right = tl.load(wanted + row)  # before the sums, as above
    of_right = tl.load(one + right, right >= 0, 0.0).to(tl.float32)
    of_right += tl.load(other + right, right >= 0, 0.0).to(tl.float32)
    highest_p, total_p, highest_q, total_q, sum_of_logits = float("-inf"), 0.0, float("-inf"), 0.0, 0.0
    for first in range(0, tokens, block):
        column = first + tl.arange(0, block)
        inside = column < tokens
        p = tl.load(one + column, inside, float("-inf")).to(tl.float32)
        q = tl.load(other + column, inside, float("-inf")).to(tl.float32)
        higher_p, higher_q = tl.maximum(highest_p, tl.max(p)), tl.maximum(highest_q, tl.max(q))
        total_p = total_p * tl.exp(highest_p - higher_p) + tl.sum(tl.exp(p - higher_p))
        total_q = total_q * tl.exp(highest_q - higher_q) + tl.sum(tl.exp(q - higher_q))
        sum_of_logits += tl.sum(tl.where(inside, p + q, 0.0))
        highest_p, highest_q = higher_p, higher_q
    logarithm_p, logarithm_q = highest_p + tl.log(total_p), highest_q + tl.log(total_q)
    of_p, of_q = 0.0, 0.0  # KL(p‖q), KL(q‖p)
    for first in range(0, tokens, block):
        column = first + tl.arange(0, block)
        inside = column < tokens
        p = tl.load(one + column, inside, 0.0).to(tl.float32) - logarithm_p
        q = tl.load(other + column, inside, 0.0).to(tl.float32) - logarithm_q
        of_p += tl.sum(tl.where(inside, tl.exp(p) * (p - q), 0.0))
        of_q += tl.sum(tl.where(inside, tl.exp(q) * (q - p), 0.0))
    real = tl.where(right >= 0, 1.0, 0.0)
    plain = logarithm_p + logarithm_q - (1 - smoothing) * of_right - smoothing / tokens * sum_of_logits
    tl.store(losses + row, real * (0.5 * plain + 0.25 * consistency * (of_p + of_q)))
    for first in range(0, tokens, block):
        column = first + tl.arange(0, block)
        inside = column < tokens
        p = tl.load(one + column, inside, 0.0).to(tl.float32) - logarithm_p
        q = tl.load(other + column, inside, 0.0).to(tl.float32) - logarithm_q
        share = smoothing / tokens + tl.where(column == right, 1 - smoothing, 0.0)
        chance_p, chance_q = tl.exp(p), tl.exp(q)
        apart = chance_p - chance_q
        gradient_p = 0.5 * (chance_p - share) + 0.25 * consistency * (chance_p * (p - q - of_p) + apart)
        gradient_q = 0.5 * (chance_q - share) + 0.25 * consistency * (chance_q * (q - p - of_q) - apart)
        tl.store(one + column, real * gradient_p, inside)
        tl.store(other + column, real * gradient_q, inside)


def losses_and_gradients(logits: Tensor, wanted: Tensor, smoothing: float, tokens: int | None = None) -> Tensor:
    """Return the smoothed cross-entropy of each row of `logits` (row, token), and replace the row by its gradient.

    Rows whose wanted token is negative are padding: they cost nothing and have no gradient. If there are fewer `tokens`
    than columns, the columns behind them stay unchanged.
    """
    rows, stride = logits.shape
    tokens = tokens or stride
    losses = torch.empty(rows, dtype=torch.float32, device=logits.device)
    with torch.cuda.device_of(logits):  # Triton launches on the current device
        _loss_kernel[(rows,)](logits, wanted, losses, tokens, stride, smoothing, **_block(tokens))
    return losses


def agreeing_losses_and_gradients(logits: Tensor, wanted: Tensor, smoothing: float, consistency: float) -> Tensor:
    """Return losses and gradients of two passes (2, row, token), with their disagreement added as in R-Drop."""
    _, rows, tokens = logits.shape
    losses = torch.empty(rows, dtype=torch.float32, device=logits.device)
    with torch.cuda.device_of(logits):
        _agreeing_loss_kernel[(rows,)](
            logits, wanted, losses, rows, tokens, smoothing, float(consistency), **_block(tokens)
        )
    return losses


def _block(tokens: int) -> dict[str, int]:
    block = min(BLOCK, triton.next_power_of_2(tokens))
    return {"block": block, "num_warps": max(1, min(8, block // 512))}
