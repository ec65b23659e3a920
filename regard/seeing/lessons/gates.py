"""The gates of a trained model's recurrent layers, word by word."""

import numpy as np
import torch
from torch import Tensor, nn

from regard.base.faults import Fault
from regard.loading import Loaded
from regard.models.recurrent.cells import unroll
from regard.models.recurrent.logistic import Logistic
from regard.seeing.lessons.reading import Reading, read
from regard.viewing.gates import Gates

NEEDED = "`regard show gates` needs recurrent layers of cell lstm or gru"


def gates_of(model: Loaded, text: str, layer: int | None = None, backward: bool = False, by_word: bool = True) -> Gates:
    """Return the gates of one layer and direction at each word; a word of several tokens has their mean.

    Units are ordered by how much they keep (the mean of the forget or update gate), most first.
    """
    reading = read(model, text, NEEDED)
    layer_reading = reading.layer(layer, backward)
    traces = {
        name: _group(trace, reading, by_word)
        for name, trace in _traces(layer_reading.module, layer_reading.inputs, backward)
    }
    keeping = next(iter(traces.values()))
    order = np.argsort(-keeping.mean(axis=0), kind="stable")
    words = reading.words if by_word else reading.tokens
    which = f"layer {layer or 1}, {'backward' if backward else 'forward'}"
    title = f"The gates of {'an LSTM' if isinstance(layer_reading.module, nn.LSTM) else 'a GRU'} ({which})"
    ordered = {name: trace[:, order] for name, trace in traces.items()}
    return Gates(title, words, ordered, order, _answers(reading, by_word))


def _answers(reading: Reading, by_word: bool) -> dict[str, np.ndarray]:
    """Return the probability of each answer after each word's last token."""
    if not reading.answers:
        return {}
    last = {word: token for token, word in enumerate(reading.of_token)}
    after = list(last.values()) if by_word else list(range(len(reading.answers)))
    return {
        name: np.array([reading.answers[token].probabilities[name] for token in after])
        for name in reading.answers[0].probabilities
    }


@torch.no_grad()
def _traces(module: nn.RNNBase, inputs: Tensor, backward: bool) -> list[tuple[str, Tensor]]:
    """Return each gate and the memory (time, width) by name, the keeping gate first."""
    if isinstance(module, nn.LSTM):
        states, gates = unroll(module, inputs, backward=backward)
        traces = {"forget": gates.forget, "input": gates.input, "output": gates.output, "cell": states.cell}
    elif isinstance(module, nn.GRU):
        memory, gates_ = unroll(module, inputs, backward=backward)
        traces = {"update": gates_.update, "reset": gates_.reset, "state": memory.hidden}
    else:
        cell = "logistic" if isinstance(module, Logistic) else "vanilla"
        raise Fault(f"The cells of this model are {cell} and have no gates; {NEEDED}.")
    return [(name, trace[0]) for name, trace in traces.items()]


def _group(trace: Tensor, reading: Reading, by_word: bool) -> np.ndarray:
    """Turn (token, unit) into (word, unit) by the mean over the tokens of a word."""
    values = trace.numpy()
    if not by_word:
        return values
    sums = np.zeros((len(reading.words), values.shape[1]))
    np.add.at(sums, reading.of_token, values)
    return sums / np.bincount(reading.of_token)[:, None]
