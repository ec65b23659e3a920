"""Connectionist temporal classification, label by label: which labels may follow a prefix, with what probability.

CTC (Graves et al. 2006) gives each frame t a distribution y^t over the labels and a blank; the probability of a path is
the product over its frames, and that of a labelling l the sum over all paths that spell it. All labellings that begin
with l have the total probability p(l… | x), so

    p(k | l, x) = p(l·k… | x) / p(l… | x)        p(end | l, x) = p(l | x) / p(l… | x)

sum to one: a CTC network is also a model that writes one label after another, and can be used wherever such models are
searched, scored or combined (Watanabe et al. 2017, section 3.2, where these are the prefix scores of a joint search).

The blank is the last symbol of a frame, so that labels keep their token numbers. All sums are of logarithms in float64,
the logarithm of zero is −∞, and nothing is divided by a value that may be zero.
"""

from typing import NamedTuple

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float, Int
from torch import Tensor

from regard.models.ctc.paths import NEVER, log_sum


class Prefixes(NamedTuple):
    """One prefix per row, with its paths up to each frame; time 0 is before the first frame.

    `by_label` holds log-probabilities of paths that spell the prefix and end in its last label, `by_blank` those of
    paths that end in a blank, and `whole` is log p(l… | x).
    """

    by_label: Float[Tensor, "row time"]
    by_blank: Float[Tensor, "row time"]
    whole: Float[Tensor, " row"]
    last: Int[Tensor, " row"]  # the last label, or -1 for an empty prefix


def only_real_frames(
    frames: Float[Tensor, "row frame symbol"], real: Bool[Tensor, "row frame"]
) -> Float[Tensor, "row frame symbol"]:
    """Put only blanks behind the real frames, which changes no labelling's probability."""
    nothing = frames.new_full((frames.shape[-1],), NEVER)
    nothing[-1] = 0.0
    return torch.where(real[..., None], frames, nothing)


def empty_prefixes(frames: Float[Tensor, "row frame symbol"]) -> Prefixes:
    """Return an empty prefix for each row; its only paths are blanks."""
    by_blank = F.pad(frames[..., -1].double().cumsum(-1), (1, 0))
    rows = frames.shape[0]
    none = torch.full((rows,), -1, dtype=torch.long, device=frames.device)
    return Prefixes(torch.full_like(by_blank, NEVER), by_blank, by_blank.new_zeros(rows), none)


def next_labels(
    frames: Float[Tensor, "row frame symbol"], prefixes: Prefixes
) -> tuple[Float[Tensor, "row label"], Float[Tensor, " row"]]:
    """Return log p(k | l, x) of every label k, and log p(end | l, x); an impossible prefix has no continuation."""
    labels = log_sum(_first_said(frames, prefixes).transpose(1, 2))
    end = _either(prefixes.by_label[:, -1], prefixes.by_blank[:, -1])
    whole = _divisor(prefixes)
    return labels - whole[:, None], end - whole


def next_starts(frames: Float[Tensor, "row frame symbol"], prefixes: Prefixes) -> Float[Tensor, "row frame"]:
    """Return the probability that a label follows and begins at each frame; the remainder is that of the end."""
    return (log_sum(_first_said(frames, prefixes)) - _divisor(prefixes)[:, None]).exp()


def _divisor(prefixes: Prefixes) -> Float[Tensor, " row"]:
    """Return log p(l… | x), or 0 for an impossible prefix, where the numerator is zero already."""
    return prefixes.whole.masked_fill(prefixes.whole == NEVER, 0.0)


def _either(one: Float[Tensor, "*place"], other: Float[Tensor, "*place"]) -> Float[Tensor, "*place"]:
    """Return the logarithm of a sum of two probabilities; its gradient is zero where both are zero."""
    never = (one == NEVER) & (other == NEVER)
    return torch.logaddexp(one.masked_fill(never, 0.0), other.masked_fill(never, 0.0)).masked_fill(never, NEVER)


def _first_said(frames: Float[Tensor, "row frame symbol"], prefixes: Prefixes) -> Float[Tensor, "row frame label"]:
    """Return log p(the prefix is spelled before t, and k is first said at t), for every t and k."""
    labels, by_blank = frames[..., :-1].double(), prefixes.by_blank[:, :-1]
    either = _either(prefixes.by_label[:, :-1], by_blank)
    # A repeated label needs a blank in between, so paths that end in it do not count.
    again = prefixes.last[:, None, None] == torch.arange(labels.shape[2], device=labels.device)
    return torch.where(again, by_blank[..., None], either[..., None]) + labels


def extend(frames: Float[Tensor, "row frame symbol"], prefixes: Prefixes, symbols: Int[Tensor, " row"]) -> Prefixes:
    """Append one label to each prefix; a blank appends none.

        by_label[t] = y^t_k · (by_label[t−1] + φ[t−1])      φ: paths that a new k may follow
        by_blank[t] = y^t_blank · (by_blank[t−1] + by_label[t−1])

    Both are computed for all frames at once, as sums of what entered at each time and stayed.
    """
    either = _either(prefixes.by_label, prefixes.by_blank)
    before = torch.where((symbols == prefixes.last)[:, None], prefixes.by_blank, either)
    logs = frames.gather(2, symbols[:, None, None].expand(-1, frames.shape[1], 1)).squeeze(2).double()
    whole = log_sum(before[:, :-1] + logs)
    by_label = _enter_and_stay(before, logs)
    longer = Prefixes(by_label, _enter_and_stay(by_label, frames[..., -1].double()), whole, symbols)
    labels = symbols < frames.shape[-1] - 1
    return Prefixes(*(_choose(labels, *pair) for pair in zip(longer, prefixes, strict=True)))


def _choose(where: Bool[Tensor, " row"], one: Tensor, other: Tensor) -> Tensor:
    return torch.where(where.view(-1, *[1] * (one.dim() - 1)), one, other)


def _enter_and_stay(
    entering: Float[Tensor, "row time"], symbol: Float[Tensor, "row frame"]
) -> Float[Tensor, "row time"]:
    """Return r[t] = symbol[t] · (r[t−1] + entering[t−1]), from r[0] = 0, in logarithms.

    A span of frames multiplies its input by the product of its symbols and adds what enters within it. Two adjacent
    spans make one of twice the length, so a few rounds give all spans that begin with the first frame.
    """
    stayed, entered = symbol, entering[:, :-1] + symbol
    length = 1
    while length < symbol.shape[1]:
        both = _either(entered[:, length:], stayed[:, length:] + entered[:, :-length])
        entered = torch.cat([entered[:, :length], both], dim=1)
        stayed = torch.cat([stayed[:, :length], stayed[:, length:] + stayed[:, :-length]], dim=1)
        length *= 2
    return F.pad(entered, (1, 0), value=NEVER)


def with_end(
    labels: Float[Tensor, "*place token"], end: Float[Tensor, "*place"], token: int
) -> Float[Tensor, "*place token"]:
    """Return log-probabilities of all tokens, one of which stands for the end.

    No frame should emit that token. If one does, it ends the output just like the end of all frames, so all sum to one.
    """
    other = torch.arange(labels.shape[-1], device=labels.device) != token
    return torch.where(other, labels, log_sum(torch.stack([labels[..., token], end], dim=-1))[..., None])
