"""The inputs of an encoder's layers reproduce the encoder's states, and words are split as in `look`."""

from pathlib import Path

import pytest
import torch
from untrained import untrained

from regard.base.faults import Fault
from regard.data.tokenisers.tokeniser import Kind
from regard.models.recurrent.cells import unroll
from regard.seeing.lessons.reading import read
from regard.seeing.sentences import see

TEXT = "Ana reads a green book."


@pytest.mark.parametrize("cell", ["vanilla", "lstm", "gru"])
def test_the_cells_written_out_give_the_encoders_own_states(tmp_path: Path, cell: str) -> None:
    model = untrained(tmp_path, cell=cell, encoder_layers=2)
    reading = read(model, TEXT, "needed")
    assert reading.tokens == ["Ana", "reads", "a", "green", "book", ".", "</s>"]
    assert reading.words == ["Ana", "reads", "a", "green", "book", ".", "</s>"]
    assert reading.of_token == [0, 1, 2, 3, 4, 5, 6]
    last = reading.layers[1]
    both = [unroll(last.module, last.inputs, backward=backward)[0].hidden for backward in (False, True)]
    network, batch = model.task.model.double(), model.task.read([TEXT])
    torch.testing.assert_close(torch.cat(both, dim=-1), network.read(batch.source, batch.source_lengths).states)


def test_nothing_stays_behind_in_the_model(tmp_path: Path) -> None:
    model = untrained(tmp_path)
    layers = model.task.model.encoder.layers
    read(model, TEXT, "needed")
    assert all(not layer._forward_pre_hooks for layer in layers)
    assert {weight.dtype for weight in layers.parameters()} == {torch.float32}


@pytest.mark.parametrize("kind", ["words", "bytes", "characters"])
@pytest.mark.parametrize("text", [TEXT, "Não (é)?!", "Я вижу iPhone，好。", "guarda-chuva", "a\tb"])
def test_words_are_those_of_look(tmp_path: Path, kind: Kind, text: str) -> None:
    model = untrained(tmp_path, kind=kind, longest=40)
    assert read(model, text, "needed").words == see(model, text, "Ana").seen().columns


def test_the_letters_of_a_single_word_are_shown_where_they_are_what_is_read(tmp_path: Path) -> None:
    model = untrained(tmp_path, kind="characters")
    assert read(model, "lê", "needed").words[-3:] == ["l", "ê", "</s>"]
    assert read(model, "lê um", "needed").words == ["lê", "um", "</s>"]


def test_refusals(tmp_path: Path) -> None:
    model = untrained(tmp_path, bidirectional=False)
    with pytest.raises(Fault, match="There is no text to read"):
        read(model, " ", "needed")
    with pytest.raises(Fault, match="has 31 tokens, but the model takes 20"):
        read(model, "Ana " * 30, "needed")
    reading = read(model, TEXT, "needed")
    with pytest.raises(Fault, match="has 1 recurrent layer; there is no layer 2"):
        reading.layer(2, backward=False)
    with pytest.raises(Fault, match="reads forward only; omit --direction backward"):
        reading.layer(None, backward=True)
