"""Cross-entropy of an output layer, computed together with its gradient a few rows at a time.

With a large vocabulary the logits of a batch are by far the largest tensor, and torch keeps several of that size
between forward and backward. Here each portion of rows is projected, scored and turned into gradients at once, so that
only one portion's logits exist at a time.
"""

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any, NamedTuple

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor

from regard.kernels import available

PORTION = {"cpu": 2**24, "cuda": 2**29}  # logits that exist at once
TAUGHT_PORTION = {"cpu": 2**23, "cuda": 2**26}  # the same with a teacher, whose logits exist beside the model's
UNALIGNED, ALIGNED = 8, 64  # products are slow unless rows divide by the first, and fast if they divide by the second
LEAST_BIAS = -100.0  # tokens with a lower bias are never written, so they learn nothing


def projected_cross_entropy(
    states: Float[Tensor, "place width"],
    weight: Float[Tensor, "token width"],
    wanted: Int[Tensor, " place"],
    label_smoothing: float,
    bias: Float[Tensor, " token"] | None = None,
) -> Float[Tensor, ""]:
    """Σ over places of −(1−ε) log p(wanted) − ε/V Σ log p, with p = softmax(states · weightᵀ + bias), ε the smoothing.

    Places whose wanted token is negative are padding and do not count.
    """
    states, weight, bias = _with_column(states, weight, bias)
    states, wanted = _without_padding(states, wanted)
    rows = max(1, PORTION.get(states.device.type, PORTION["cpu"]) // weight.shape[0])
    return _Projected.apply(states, weight, wanted, bias, label_smoothing, rows)


def consistent_cross_entropy(
    states: Float[Tensor, "2 place width"],
    weight: Float[Tensor, "token width"],
    wanted: Int[Tensor, " place"],
    label_smoothing: float,
    consistency: float,
    bias: Float[Tensor, " token"] | None = None,
) -> Float[Tensor, ""]:
    """Half of −log p − log q + α/2 · (KL(p‖q) + KL(q‖p)), where p and q come from two passes with different dropout.

    R-Drop (Liang et al. 2021, equation 4), halved to be comparable with the plain cross-entropy; α is `consistency`.
    """
    states, weight, bias = _with_column(states, weight, bias)
    states, wanted = _without_padding(states, wanted)
    rows = max(1, PORTION.get(states.device.type, PORTION["cpu"]) // (2 * weight.shape[0]))
    score_both = _score_both_fused if _can_fuse(states) else _score_both

    def score(logits: Tensor, places: slice) -> tuple[Tensor, Tensor]:
        return score_both(logits, wanted[places], label_smoothing, consistency, _exact(states))

    return _Scored.apply(states, weight, bias, score, rows)


class TeacherOutput(NamedTuple):
    """A teacher's states at the same places, and its output layer."""

    states: Float[Tensor, "place teacher_width"]
    weight: Float[Tensor, "token teacher_width"]
    bias: Float[Tensor, " token"] | None = None


def taught_cross_entropy(
    states: Float[Tensor, "place width"],
    weight: Float[Tensor, "token width"],
    wanted: Int[Tensor, " place"],
    label_smoothing: float,
    teachers: Sequence[TeacherOutput],
    share: float,
    temperature: float,
    bias: Float[Tensor, " token"] | None = None,
) -> Float[Tensor, ""]:
    """Σ over places of (1 − w) · cross-entropy + w · τ² · KL(q‖p), w the share and τ the temperature.

    q is the mean of the teachers' softmax(logits / τ), and p the model's. The factor τ² keeps the size of the gradient
    when the temperature changes (Hinton et al. 2015, section 2). Places whose wanted token is negative do not count.
    """
    states, weight, bias = _with_column(states, weight, bias)
    rows = max(1, TAUGHT_PORTION.get(states.device.type, TAUGHT_PORTION["cpu"]) // weight.shape[0])
    layers = [_multiply(*teacher) for teacher in teachers]

    def score(logits: Tensor, places: slice) -> tuple[Tensor, Tensor]:
        dtype = _exact(states)
        soft = [(layer(inputs[places]).to(dtype) / temperature).softmax(-1) for inputs, layer in layers]
        targets = soft[0] if len(soft) == 1 else torch.stack(soft).mean(0)
        return _score_taught(logits, wanted[places], label_smoothing, targets, share, temperature, dtype)

    return _Scored.apply(states, weight, bias, score, rows)


def _with_column(states: Tensor, weight: Tensor, bias: Tensor | None) -> tuple[Tensor, Tensor, Tensor | None]:
    """Turn a learning bias into a column of the matrix, read by a one appended to every state; keep other biases.

    Zeros behind it keep the number of columns fast for products.
    """
    if bias is None or not bias.requires_grad:
        return states, weight, bias
    zeros = (0, UNALIGNED - 1)
    return (
        F.pad(F.pad(states, (0, 1), value=1.0), zeros),
        F.pad(torch.cat([weight, bias[:, None]], dim=1), zeros),
        None,
    )


def _without_padding(states: Tensor, wanted: Tensor) -> tuple[Tensor, Tensor]:
    """Drop padding, unless the fused kernel runs: it skips padding itself, and so never waits for a count."""
    if _can_fuse(states) or (wanted >= 0).all():
        return states, wanted
    real = (wanted >= 0).nonzero().squeeze(1)
    return states.index_select(-2, real), wanted[real]


class _Projected(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any, states: Tensor, weight: Tensor, wanted: Tensor, bias: Tensor | None, smoothing: float, rows: int
    ) -> Tensor:
        learn, (inputs, layer) = _learn, _multiply(states, weight, bias)
        if _can_fuse(states):
            learn, layer = partial(_learn_fused, tokens=len(weight)), layer.aligned()
        sums = _Sums(weight.dtype)
        for first in range(0, max(1, len(states)), rows):
            portion = slice(first, first + rows)
            sums.add(*learn(inputs[portion], layer, wanted[portion], smoothing, _exact(states)))
        ctx.save_for_backward(*sums.gradients(states, weight, bias))
        return sums.loss

    @staticmethod
    def backward(ctx: Any, *upstream: Tensor) -> tuple[Tensor | None, ...]:
        return *_scale(ctx.saved_tensors, upstream[0]), None, None, None, None


class _Scored(torch.autograd.Function):
    """Loss of logits that `score` turns into a summed loss and a gradient, given the slice of their places."""

    @staticmethod
    def forward(
        ctx: Any,
        states: Tensor,
        weight: Tensor,
        bias: Tensor | None,
        score: Callable[[Tensor, slice], tuple[Tensor, Tensor]],
        rows: int,
    ) -> Tensor:
        inputs, layer = _multiply(states, weight, bias)
        sums = _Sums(weight.dtype)
        for first in range(0, max(1, states.shape[-2]), rows):
            places = slice(first, first + rows)
            portion = inputs[..., places, :]
            loss, gradient = score(layer(portion), places)
            sums.add(loss, gradient @ layer.matrix, gradient.flatten(0, -2).T, portion.flatten(0, -2))
        ctx.save_for_backward(*sums.gradients(states, weight, bias))
        return sums.loss

    @staticmethod
    def backward(ctx: Any, *upstream: Tensor) -> tuple[Tensor | None, ...]:
        return *_scale(ctx.saved_tensors, upstream[0]), None, None, None


def _scale(gradients: Sequence[Tensor], factor: Tensor) -> Iterable[Tensor]:
    """Multiply the gradients by the factor; in training it is one, which is cheap to check on the CPU."""
    if factor.device.type == "cpu" and factor == 1:
        return gradients
    return (gradient * factor for gradient in gradients)


class _Layer(NamedTuple):
    """The output layer: a matrix, and a bias if the model has one."""

    matrix: Tensor
    bias: Tensor | None

    def __call__(self, states: Tensor) -> Tensor:
        return F.linear(states, self.matrix, self.bias)

    def aligned(self) -> "_Layer":
        """Return the layer padded with tokens whose logits are zero, if their number slows products down."""
        missing = -len(self.matrix) % (ALIGNED if len(self.matrix) % UNALIGNED else 1)
        if not missing:
            return self
        bias = None if self.bias is None else F.pad(self.bias, (0, missing))
        return _Layer(F.pad(self.matrix, (0, 0, 0, missing)), bias)


def _multiply(states: Tensor, weight: Tensor, bias: Tensor | None) -> tuple[Tensor, _Layer]:
    """Convert everything to the product's precision: autocast would convert the matrix again for every portion."""
    kind = states.device.type
    dtype = torch.get_autocast_dtype(kind) if torch.is_autocast_enabled(kind) else states.dtype
    # Lower biases would make the mean over all tokens, part of label smoothing, a huge number.
    lowered = None if bias is None else bias.clamp(min=LEAST_BIAS).to(dtype)
    return states.to(dtype), _Layer(weight.to(dtype), lowered)


def _exact(states: Tensor) -> torch.dtype:
    """Return the dtype that losses are computed in."""
    return torch.promote_types(states.dtype, torch.float32)


class _Sums:
    """Sums of the losses and gradients of all portions; a single portion is neither copied nor added."""

    loss: Tensor

    def __init__(self, dtype: torch.dtype) -> None:
        self._dtype = dtype
        self._of_states: list[Tensor] = []
        self._of_weight: Tensor | None = None

    def add(self, loss: Tensor, of_states: Tensor, left: Tensor, right: Tensor) -> None:
        """Add a portion; the gradient of the weight is left · right."""
        self.loss = self.loss + loss if self._of_states else loss
        self._of_states.append(of_states)
        if self._of_weight is None:
            self._of_weight = (left @ right).to(self._dtype)
        elif self._of_weight.dtype == left.dtype:
            self._of_weight.addmm_(left, right)
        else:
            self._of_weight += left @ right

    def gradients(self, states: Tensor, weight: Tensor, bias: Tensor | None) -> tuple[Tensor, Tensor]:
        assert self._of_weight is not None
        of_weight = self._of_weight[: len(weight)]  # an aligned layer has more rows
        if bias is not None:
            of_weight.masked_fill_((bias < LEAST_BIAS)[:, None], 0.0)
        whole = self._of_states[0] if len(self._of_states) == 1 else torch.cat(self._of_states, dim=-2)
        return whole.to(states.dtype), of_weight


def _can_fuse(states: Tensor) -> bool:
    return states.is_cuda and states.dtype != torch.float64 and available()


Learnt = tuple[Tensor, Tensor, Tensor, Tensor]  # the arguments of `_Sums.add`


def _learn(portion: Tensor, layer: _Layer, wanted: Tensor, smoothing: float, dtype: torch.dtype) -> Learnt:
    """Return the summed loss, the gradient of the states, and the two factors of the weight's gradient.

    The gradient of the logits is p − (1−ε)·[wanted] − ε/V. The last term is the same everywhere and needs no pass over
    all logits: there is one extra row, the sum of all others, whose logits are the sums of theirs. A gradient of − ε/V
    there acts on every row.
    """
    matrix, bias = layer
    extended = torch.cat([portion, portion.sum(0, keepdim=True)])
    logits = layer(extended)
    if bias is not None:
        logits[-1] += (len(portion) - 1) * bias
    p, right, share = logits.softmax(-1, dtype=dtype), wanted[:, None], smoothing / len(matrix)
    # log Σ exp(logit), from the likeliest token: its probability never vanishes, but that of the wanted token can
    normaliser = logits[:-1].amax(-1).to(dtype) - p[:-1].amax(-1).log()
    of_right = logits[:-1].gather(1, right).to(dtype)
    loss = normaliser.sum() - (1 - smoothing) * of_right.sum() - share * logits[-1].sum(dtype=dtype)
    p[:-1].scatter_add_(1, right, torch.full_like(of_right, smoothing - 1))
    p[-1] = -share
    gradient = p.to(logits.dtype)
    of_extended = gradient @ matrix
    return loss, of_extended[:-1] + of_extended[-1], gradient.T, extended


def _learn_fused(
    portion: Tensor, layer: _Layer, wanted: Tensor, smoothing: float, dtype: torch.dtype, tokens: int
) -> Learnt:
    from regard.kernels.cross_entropy import losses_and_gradients  # needs Triton

    logits = layer(portion)
    losses = losses_and_gradients(logits, wanted, smoothing, tokens)
    return losses.sum(), logits @ layer.matrix, logits.T, portion


def _score_both(
    logits: Tensor, wanted: Tensor, smoothing: float, consistency: float, dtype: torch.dtype
) -> tuple[Tensor, Tensor]:
    """Return the loss of two passes, and the gradient of both passes' logits."""
    log_p, share = logits.log_softmax(-1, dtype=dtype), smoothing / logits.shape[-1]
    right = wanted[:, None].expand(2, -1, 1)
    p, difference = log_p.exp(), log_p - log_p.flip(0)
    divergence = (p * difference).sum(-1, keepdim=True)  # KL(p‖q), KL(q‖p)
    of_right = log_p.gather(-1, right)
    loss = 0.25 * consistency * divergence.sum() - 0.5 * (1 - smoothing) * of_right.sum() - 0.5 * share * log_p.sum()
    # gradient of the halved cross-entropy: (p − (1−ε)·[wanted] − ε/V) / 2
    gradient = (p - share).scatter_add_(-1, right, torch.full_like(of_right, smoothing - 1)).mul_(0.5)
    # gradient of KL(p‖q) + KL(q‖p) by the logits of p: p · (log p − log q − KL(p‖q)) + p − q
    gradient += 0.25 * consistency * (p * (difference - divergence) + p - p.flip(0))
    return loss, gradient.to(logits.dtype)


def _score_taught(
    logits: Tensor,
    wanted: Tensor,
    smoothing: float,
    soft: Tensor,
    share: float,
    temperature: float,
    dtype: torch.dtype,
) -> tuple[Tensor, Tensor]:
    """Return the summed loss with soft targets, and the gradient of the logits; padding counts nothing.

    No value is read here, so that a GPU never waits.
    """
    exact, even = logits.to(dtype), smoothing / logits.shape[-1]
    real, right = (wanted >= 0)[:, None], wanted.clamp(min=0)[:, None]
    log_p, log_soft = exact.log_softmax(-1), (exact / temperature).log_softmax(-1)
    of_right = log_p.gather(-1, right)
    entropy = -(1 - smoothing) * of_right - even * log_p.sum(-1, keepdim=True)
    divergence = (torch.xlogy(soft, soft) - soft * log_soft).sum(-1, keepdim=True)
    loss = ((1 - share) * entropy + share * temperature**2 * divergence).masked_fill(~real, 0.0).sum()
    gradient = (log_p.exp() - even).scatter_add_(-1, right, torch.full_like(of_right, smoothing - 1))
    gradient = (1 - share) * gradient + share * temperature * (log_soft.exp() - soft)
    return loss, gradient.masked_fill_(~real, 0.0).to(logits.dtype)


def _score_both_fused(
    logits: Tensor, wanted: Tensor, smoothing: float, consistency: float, dtype: torch.dtype
) -> tuple[Tensor, Tensor]:
    from regard.kernels.cross_entropy import agreeing_losses_and_gradients  # needs Triton

    return agreeing_losses_and_gradients(logits, wanted, smoothing, consistency).sum(), logits
