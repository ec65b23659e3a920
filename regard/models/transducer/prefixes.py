"""A transducer, label by label: what may follow a prefix and with what probability, summed over all alignments.

α(t, u) of `lattice.py` for one prefix l of u labels, at all frames t at once, covers everything its alignments can have
reached. The next label k may be written at any frame, and these cases are mutually exclusive:

    p(l·k… | x) = Σ_t α(t, u) · y(k | t, u)        p(l | x) = α(T−1, u) · φ(T−1, u)

    p(k | l, x) = p(l·k… | x) / p(l… | x)          p(end | l, x) = p(l | x) / p(l… | x)

They sum to one, so a transducer is also a model that writes one label after another, and works with every search for
such models: each hypothesis covers all its alignments exactly, however narrow the beam. (The searches of Graves 2012 go
frame by frame, and cover only the alignments that their beam kept.) All sums are of logarithms in float64.
"""

from typing import NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor

from regard.attention.masks import real_places
from regard.models.ctc.paths import log_sum
from regard.models.transducer.lattice import NEVER
from regard.models.transducer.network import HeardFrames, TransducerNetwork, Written


class TransducerPrefixes(NamedTuple):
    """One prefix per row: the state after its labels, log α(t, u) at each frame, and log p(l… | x)."""

    written: Written
    reached: Float[Tensor, "row frame"]
    whole: Float[Tensor, " row"]


class Following(NamedTuple):
    """Continuations of a prefix: log p(k | l, x) of each label, log p(end | l, x), and p of a label at each t."""

    labels: Float[Tensor, "row label"]
    end: Float[Tensor, " row"]
    starts: Float[Tensor, "row frame"]

    @property
    def distribution(self) -> Float[Tensor, "row token"]:
        """The log-probabilities of all labels and, last, of the end."""
        return torch.cat([self.labels, self.end[:, None]], dim=1)


def empty_prefixes(network: TransducerNetwork, heard: HeardFrames) -> TransducerPrefixes:
    """Return an empty prefix for every row."""
    written = network.nothing_written(heard)
    entering = torch.full_like(heard.frames[..., 0], NEVER, dtype=torch.float64)
    entering[:, 0] = 0.0
    blanks = _scores(network, heard, written)[..., -1]
    return TransducerPrefixes(written, _go_on(entering, blanks, heard), entering.new_zeros(len(entering)))


def extend(
    network: TransducerNetwork, heard: HeardFrames, prefixes: TransducerPrefixes, symbols: Int[Tensor, " row"]
) -> tuple[TransducerPrefixes, Float[Tensor, "row frame symbol"]]:
    """Append one label to each prefix, and also return the scores after it; a blank appends none."""
    is_label = symbols != network.blank
    before = _scores(network, heard, prefixes.written)
    chosen = before.gather(2, symbols[:, None, None].expand(-1, before.shape[1], 1)).squeeze(2)
    entering = prefixes.reached + chosen
    written = network.read_label(symbols, prefixes.written, is_label)
    scores = _scores(network, heard, written)
    reached = _go_on(entering, scores[..., -1], heard)
    longer = (reached, log_sum(entering))
    updated = [
        torch.where(is_label.view(-1, *[1] * (one.dim() - 1)), one, other)
        for one, other in zip(longer, prefixes[1:], strict=True)
    ]
    return TransducerPrefixes(written, *updated), scores


def write_labels(
    network: TransducerNetwork, heard: HeardFrames, prefixes: TransducerPrefixes, symbols: Int[Tensor, " row"]
) -> tuple[Following, TransducerPrefixes]:
    """Append one label to each prefix, and return what follows; the rows of a beam share the encoded frames."""
    copies = len(symbols) // len(heard.counts)
    shared = HeardFrames(*(tensor.repeat_interleave(copies, 0) for tensor in heard))
    prefixes, scores = extend(network, shared, prefixes, symbols)
    return following(shared, prefixes, scores), prefixes


def following(heard: HeardFrames, prefixes: TransducerPrefixes, scores: Float[Tensor, "row frame symbol"]) -> Following:
    """Return the continuations of prefixes, given the scores after them."""
    whole, reached = prefixes.whole, prefixes.reached
    labels = reached[..., None] + scores[..., :-1]
    last = (heard.counts - 1)[:, None]
    end = (reached + scores[..., -1]).gather(1, last).squeeze(1)
    starts = (log_sum(labels) - whole[:, None]).exp()
    return Following(log_sum(labels.transpose(1, 2)) - whole[:, None], end - whole, starts)


def _scores(network: TransducerNetwork, heard: HeardFrames, written: Written) -> Float[Tensor, "row frame symbol"]:
    return network.joint(heard.frames, written.state[:, None]).double()


def _go_on(
    entering: Float[Tensor, "row frame"], blanks: Float[Tensor, "row frame"], heard: HeardFrames
) -> Float[Tensor, "row frame"]:
    """Return log α: α(t) = entering(t) + α(t−1) · φ(t−1), the sum of what entered at each frame and waited since."""
    waited = blanks.cumsum(1) - blanks  # all blanks before t
    reached = waited + (entering - waited).logcumsumexp(1)
    return reached.masked_fill(~real_places(heard.counts, reached.shape[1]), NEVER)
