"""From gates to attention: the state of a GRU is a weighted sum of its candidates, the weights made of its gates."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import torch
from torch import Tensor, nn

from regard.attention.watch import Gaze, Gazes
from regard.base.faults import Fault
from regard.models.recurrent.cells import unroll
from regard.seeing.lessons.reading import read
from regard.seeing.sentences import Translator, see
from regard.viewing.matrix import Matrix

NEEDED = "`regard show implied` needs a seq2seq of cell gru"
START = "start"
CAPTION = (
    "Under “implied”, a row is a state of the encoder, a column a candidate that the GRU made of a word; the darker "
    "a cell, the more of the candidate is in the state: w = (1 − z) of its own step times the z of all steps since, of "
    "all units the mean. With these weights the candidates add up to the state exactly. Gates can only let the past "
    "fade; a learnt attention, if there is one, goes straight to the word it wants."
)


def implied_weights(update: Tensor, backward: bool = False) -> Tensor:
    """Return the share of each candidate in each state, from the update gates z (batch, time, width).

    Written out, h_t = (1 − z_t) ⊙ n_t + z_t ⊙ h_{t−1} becomes

    h_t = w_t0 ⊙ h_0 + Σ_{k≤t} w_tk ⊙ n_k    w_tk = (1 − z_k) ⊙ Π_{j=k+1..t} z_j    w_t0 = Π_{j≤t} z_j

    The weights (batch, state, candidate, width) are positive and sum to one over the candidates, for every unit of its
    own: an attention with a head for each unit, except that the gates, and no score, decide where it looks. Candidate
    0 is the start h_0 and candidate k is n_k; with `backward`, where reading begins at the other end, the start is
    the last.
    """
    if backward:
        return implied_weights(update.flip(1)).flip(1, 2)
    return torch.stack(list(_rows(update)), dim=1)


def mean_weights(update: Tensor, backward: bool = False) -> Tensor:
    """The mean of the implied weights over the units (batch, state, candidate), never all of them in memory.

    Of a thousand tokens and a thousand units there are a thousand million weights.
    """
    if backward:
        return mean_weights(update.flip(1)).flip(1, 2)
    return torch.stack([row.mean(dim=-1) for row in _rows(update)], dim=1)


def _rows(update: Tensor) -> Iterator[Tensor]:
    """The weights of all candidates in one state after another (batch, candidate, width)."""
    batch, time, width = update.shape
    row = update.new_zeros(batch, time + 1, width)
    row[:, 0] = 1.0
    for place in range(time):
        gate = update[:, place]
        row = row * gate[:, None]
        row[:, place + 1] = 1 - gate
        yield row


def recombine(weights: Tensor, candidates: Tensor, start: Tensor, backward: bool = False) -> Tensor:
    """Σ_k w_tk ⊙ n_k with the start among them: the states (batch, time, width) that the GRU itself had."""
    mixed = [candidates, start[:, None]] if backward else [start[:, None], candidates]
    return torch.einsum("bskw,bkw->bsw", weights, torch.cat(mixed, dim=1))


@torch.no_grad()
def implied_matrices(
    model: Translator, text: str, target: str | None = None, layer: int | None = None, by_word: bool = True
) -> list[Matrix]:
    """The attention that a GRU encoder implies, in each direction it reads, and the one its decoder learnt, if any.

    A state has weights for each of its units; drawn is their mean over the units, which still sums to one.
    """
    reading = read(model, text, NEEDED)
    chosen = reading.layer(layer, backward=False)
    module = chosen.module
    if not isinstance(module, nn.GRU):
        raise Fault(f"The cells of this model are {model.recipe.model.cell}; {NEEDED}.")
    sight = see(model, text, target)
    matrices = []
    for backward in (False, True)[: 1 + module.bidirectional]:
        _, gates = unroll(module, chosen.inputs, backward=backward)
        weights = mean_weights(gates.update, backward)
        places = weights[:, :, :-1] if backward else weights[:, :, 1:]
        gaze = Gaze(f"encoder.{layer or 1}", "source", "source", places[:, None])
        seen = replace(sight, gazes=Gazes([gaze])).seen("encoder", by_word).one()
        direction = "backward" if backward else "forward"
        matrices.append(_with_start(replace(seen, title=f"implied by the GRU, {direction}"), backward))
    if "cross" in sight.looks:
        learnt = sight.seen("cross", by_word).one()
        matrices.append(replace(learnt, title="learnt by the decoder"))
    return matrices


def _with_start(matrix: Matrix, backward: bool) -> Matrix:
    """The matrix with a column for the start, which has what the words leave to one."""
    rest = np.clip(1 - matrix.weights.sum(axis=1, keepdims=True), 0, 1)
    if backward:
        return replace(matrix, columns=[*matrix.columns, START], weights=np.hstack([matrix.weights, rest]))
    return replace(matrix, columns=[START, *matrix.columns], weights=np.hstack([rest, matrix.weights]))
