"""The gates of an encoder, word by word."""

from pathlib import Path

import numpy as np
import pytest
from untrained import untrained

from regard.base.faults import Fault
from regard.models.recurrent.cells import unroll
from regard.seeing.lessons import reading
from regard.seeing.lessons.gates import gates_of

TEXT = "Ana reads a green book."


def test_the_gates_of_an_lstm_are_its_own(tmp_path: Path) -> None:
    model = untrained(tmp_path, cell="lstm")
    view = gates_of(model, TEXT, by_word=False)
    (layer,) = reading.read(model, TEXT, "").layers
    states, gates = unroll(layer.module, layer.inputs)
    assert list(view.traces) == ["forget", "input", "output", "cell"]
    for name, values in (*gates._asdict().items(), ("cell", states.cell)):
        if name in view.traces:
            np.testing.assert_allclose(view.traces[name], values[0].detach().numpy()[:, view.order])
    shares = view.traces["forget"].mean(axis=0)
    assert list(shares) == sorted(shares, reverse=True)


def test_the_gates_of_a_gru(tmp_path: Path) -> None:
    view = gates_of(untrained(tmp_path, cell="gru"), TEXT)
    assert list(view.traces) == ["update", "reset", "state"]
    assert {trace.shape for trace in view.traces.values()} == {(7, 4)}  # 7 words, half of width 8 for each direction


def test_both_grus_show_the_share_that_is_kept(tmp_path: Path) -> None:
    model = untrained(tmp_path, cell="gru-reset-first")
    view = gates_of(model, TEXT, by_word=False)
    (layer,) = reading.read(model, TEXT, "").layers
    states, gates = unroll(layer.module, layer.inputs)
    np.testing.assert_allclose(view.traces["update"], gates.update[0].detach().numpy()[:, view.order])
    mixture = gates.update[:, 1:] * states.hidden[:, :-1] + (1 - gates.update[:, 1:]) * gates.candidate[:, 1:]
    np.testing.assert_allclose(states.hidden[:, 1:].detach(), mixture.detach())


def test_means_are_over_units_and_of_a_memory_over_its_size(tmp_path: Path) -> None:
    view = gates_of(untrained(tmp_path, cell="lstm"), TEXT)
    np.testing.assert_allclose(view.means["input"], view.traces["input"].mean(axis=1))
    np.testing.assert_allclose(view.means["cell"], np.abs(view.traces["cell"]).mean(axis=1))


def test_directions_and_layers_differ(tmp_path: Path) -> None:
    model = untrained(tmp_path, cell="lstm", encoder_layers=2)
    seen = [gates_of(model, TEXT, layer, backward) for layer in (1, 2) for backward in (False, True)]
    assert len({float(view.traces["forget"].sum()) for view in seen}) == 4
    assert [view.title for view in seen][2] == "The gates of an LSTM (layer 2, forward)"


def test_a_word_of_several_tokens_has_their_mean(tmp_path: Path) -> None:
    model = untrained(tmp_path, kind="bytes", cell="gru")
    words, tokens = gates_of(model, "lê só."), gates_of(model, "lê só.", by_word=False)
    assert tokens.words == ["l", "<0xC3>", "<0xAA>", "▁", "s", "<0xC3>", "<0xB3>", ".", "</s>"]
    assert words.words == ["lê", "só", ".", "</s>"]  # the space belongs to the word after it
    by_unit = [view.traces["update"][:, np.argsort(view.order)] for view in (words, tokens)]
    for word, part in enumerate((slice(0, 3), slice(3, 7), slice(7, 8), slice(8, 9))):
        np.testing.assert_allclose(by_unit[0][word], by_unit[1][part].mean(axis=0))


def test_cells_and_families_without_gates_are_refused(tmp_path: Path) -> None:
    with pytest.raises(Fault, match="logistic and have no gates; `regard show gates` needs recurrent layers of cell"):
        gates_of(untrained(tmp_path / "logistic", cell="logistic"), TEXT)
    with pytest.raises(Fault, match="vanilla and have no gates; `regard show gates` needs recurrent layers of cell"):
        gates_of(untrained(tmp_path / "vanilla", cell="vanilla"), TEXT)
    with pytest.raises(Fault, match="transformer has no recurrent layers; `regard show gates` needs recurrent layers"):
        gates_of(untrained(tmp_path / "transformer", "transformer"), TEXT)
