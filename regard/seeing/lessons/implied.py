"""From gates to attention: the state of a GRU is a weighted sum of its candidates, with weights from its gates."""

from dataclasses import replace

import numpy as np
import torch
from torch import nn

from regard.attention.watch import Gaze, Gazes
from regard.base.faults import Fault
from regard.models.recurrent.cells import unroll
from regard.models.recurrent.implied import mean_weights
from regard.seeing.lessons.reading import read
from regard.seeing.sentences import Translator, see
from regard.viewing.matrix import Matrix

NEEDED = "`regard show implied` needs a seq2seq of cell gru"
START = "start"
CAPTION = (
    "In “implied”, a row is a state of the encoder and a column is a candidate that the GRU made from a word; the "
    "darker a cell, the more of the candidate is in the state: w = (1 − z) of its own step times the z of all later "
    "steps, averaged over units. With these weights the candidates add up to the state exactly. Gates can only let "
    "the past fade; a learnt attention, if there is one, goes straight to the word it needs."
)


@torch.no_grad()
def implied_matrices(
    model: Translator, text: str, target: str | None = None, layer: int | None = None, by_word: bool = True
) -> list[Matrix]:
    """Return the attention that a GRU encoder implies, in each direction, and the one its decoder learnt, if any.

    A state has weights for each of its units; the matrix is their mean over the units, which still sums to one.
    """
    reading = read(model, text, NEEDED)
    layer_reading = reading.layer(layer, backward=False)
    module = layer_reading.module
    if not isinstance(module, nn.GRU):
        raise Fault(f"The cells of this model are {model.recipe.model.cell}; {NEEDED}.")
    sight = see(model, text, target)
    matrices = []
    for backward in (False, True)[: 1 + module.bidirectional]:
        _, gates = unroll(module, layer_reading.inputs, backward=backward)
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
    """Return the matrix with a column for the start, whose weight is what the words leave to one."""
    rest = np.clip(1 - matrix.weights.sum(axis=1, keepdims=True), 0, 1)
    if backward:
        return replace(matrix, columns=[*matrix.columns, START], weights=np.hstack([matrix.weights, rest]))
    return replace(matrix, columns=[START, *matrix.columns], weights=np.hstack([rest, matrix.weights]))
