"""Connectionist temporal classification, read label by label: what may follow a prefix, and how probable that is.

CTC (Graves et al. 2006) gives each frame t a distribution y^t over the labels and a blank; a path has the product of
its frames, and a labelling l the sum over all paths that spell it. All labellings that begin with l have together the
probability p(l… | x), and so

    p(k | l, x) = p(l·k… | x) / p(l… | x)        p(end | l, x) = p(l | x) / p(l… | x)

sum to one: a CTC network is also a model that writes one label after another, and whatever searches, scores or combines
such models can have it (Watanabe et al. 2017, section 3.2, where these are the prefix scores of a joint search).

The blank is the last symbol of a frame, so that labels keep the numbers of their tokens.
"""

from typing import NamedTuple

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float, Int
from torch import Tensor

# Stands for a logarithm of zero where differences are taken; e to the power of it is zero in every precision.
NEVER = -1e4


class Prefixes(NamedTuple):
    """One prefix for each row: its paths up to each frame, at one time more than there are frames: before the first.

    `by_label` are log-probabilities of paths that spell the prefix and end in its last label, `by_blank` of those that
    end in a blank, and `whole` is log p(l… | x).
    """

    by_label: Float[Tensor, "row time"]
    by_blank: Float[Tensor, "row time"]
    whole: Float[Tensor, " row"]
    last: Int[Tensor, " row"]  # the last label, -1 of an empty prefix


def only_real_frames(
    frames: Float[Tensor, "row frame symbol"], real: Bool[Tensor, "row frame"]
) -> Float[Tensor, "row frame symbol"]:
    """Log-probabilities with nothing but blanks behind the real frames, which changes no labelling's probability."""
    nothing = frames.new_full((frames.shape[-1],), NEVER)
    nothing[-1] = 0.0
    return torch.where(real[..., None], frames, nothing)


def empty_prefixes(frames: Float[Tensor, "row frame symbol"]) -> Prefixes:
    """Of every row the prefix without labels, whose only paths are blanks."""
    by_blank = F.pad(frames[..., -1].double().cumsum(-1), (1, 0))
    rows = frames.shape[0]
    none = torch.full((rows,), -1, dtype=torch.long, device=frames.device)
    return Prefixes(torch.full_like(by_blank, NEVER), by_blank, by_blank.new_zeros(rows), none)


def next_labels(
    frames: Float[Tensor, "row frame symbol"], prefixes: Prefixes
) -> tuple[Float[Tensor, "row label"], Float[Tensor, " row"]]:
    """log p(k | l, x) of every label k, and log p(end | l, x)."""
    labels = torch.logsumexp(_first_said(frames, prefixes), dim=1)
    end = torch.logaddexp(prefixes.by_label[:, -1], prefixes.by_blank[:, -1])
    return labels - prefixes.whole[:, None], end - prefixes.whole


def next_starts(frames: Float[Tensor, "row frame symbol"], prefixes: Prefixes) -> Float[Tensor, "row frame"]:
    """The probability that a label follows and is first said at each frame; the rest, to one, is that of the end."""
    return (torch.logsumexp(_first_said(frames, prefixes), dim=2) - prefixes.whole[:, None]).exp()


def _first_said(frames: Float[Tensor, "row frame symbol"], prefixes: Prefixes) -> Float[Tensor, "row frame label"]:
    """log p(the prefix is spelled before t, and k is said for the first time at t), for every t and k."""
    labels, by_blank = frames[..., :-1].double(), prefixes.by_blank[:, :-1, None]
    either = torch.logaddexp(prefixes.by_label[:, :-1, None], by_blank)
    # A label that is said twice needs a blank between, so paths that end in it do not count.
    again = prefixes.last[:, None, None] == torch.arange(labels.shape[2], device=labels.device)
    return torch.where(again, by_blank, either) + labels


def extend(frames: Float[Tensor, "row frame symbol"], prefixes: Prefixes, symbols: Int[Tensor, " row"]) -> Prefixes:
    """The prefixes with one more label each; a blank adds none.

        by_label[t] = y^t_k · (by_label[t−1] + φ[t−1])      φ: what may stand before a new k
        by_blank[t] = y^t_blank · (by_blank[t−1] + by_label[t−1])

    Both run over all frames at once, as sums of what entered at each time and stayed since.
    """
    either = torch.logaddexp(prefixes.by_label, prefixes.by_blank)
    before = torch.where((symbols == prefixes.last)[:, None], prefixes.by_blank, either)
    own = frames.gather(2, symbols[:, None, None].expand(-1, frames.shape[1], 1)).squeeze(2).double()
    whole = torch.logsumexp(before[:, :-1] + own, dim=1)
    by_label = _enter_and_stay(before, own)
    longer = Prefixes(by_label, _enter_and_stay(by_label, frames[..., -1].double()), whole, symbols)
    labels = symbols < frames.shape[-1] - 1
    return Prefixes(*(_choose(labels, *pair) for pair in zip(longer, prefixes, strict=True)))


def _choose(where: Bool[Tensor, " row"], one: Tensor, other: Tensor) -> Tensor:
    return torch.where(where.view(-1, *[1] * (one.dim() - 1)), one, other)


def _enter_and_stay(
    entering: Float[Tensor, "row time"], symbol: Float[Tensor, "row frame"]
) -> Float[Tensor, "row time"]:
    """r[t] = symbol[t] · (r[t−1] + entering[t−1]), from r = 0, in logarithms.

    With S[t] = symbol[1] · … · symbol[t] it is r[t] = S[t] · Σ over s < t of entering[s] / S[s].
    """
    stayed = F.pad(symbol.cumsum(-1), (1, 0))
    entered = torch.logcumsumexp(entering - stayed, dim=-1)
    return F.pad(stayed[:, 1:] + entered[:, :-1], (1, 0), value=NEVER)
