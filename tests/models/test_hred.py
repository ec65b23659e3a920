"""The hierarchical dialogue encoder: how it separates turns, what each turn knows, and what attends to them."""

from typing import Any

import pytest
import torch
from torch import Tensor

from regard.attention import watching
from regard.base.faults import Fault
from regard.base.recipe import check
from regard.data.tokenisers.bytewise import ByteTokeniser
from regard.models.recurrent.hred import TURNS, Hred, HredOptions, split_turns
from regard.tasks.translation.forcing import forced_scores
from regard.tasks.translation.task import Translation, turn_marks

SMALL: dict[str, Any] = {"embedding": 6, "width": 8, "dropout": 0.0, "cell": "gru"}
BYTES = ByteTokeniser()


def translator(**changes: Any) -> Translation:
    torch.manual_seed(2)
    network = Hred(HredOptions(**SMALL | changes), BYTES.size, BYTES.size, True, BYTES.pad).double().eval()
    network.marks = turn_marks(BYTES)
    return Translation(network, BYTES, BYTES)


def test_turns_begin_with_their_marks_and_what_stands_before_the_first_is_a_turn_too() -> None:
    """7 marks a turn, and 0 is padding."""
    source = torch.tensor([[7, 1, 2, 7, 3, 9], [4, 7, 7, 9, 0, 0]])
    turns = split_turns(source, torch.tensor([6, 4]), [7])
    assert turns.counts.tolist() == [2, 3]
    assert turns.lengths.tolist() == [3, 3, 1, 1, 2]
    assert turns.words.tolist() == [[0, 1, 2], [3, 4, 5], [6, 0, 0], [7, 0, 0], [8, 9, 0]]
    assert turns.turns.tolist() == [[0, 1, 0], [2, 3, 4]]


def test_a_mark_may_be_several_tokens_and_none_makes_one_turn() -> None:
    source = torch.tensor([[5, 6, 1, 5, 1, 5, 6]])
    assert split_turns(source, torch.tensor([7]), [5, 6]).lengths.tolist() == [5, 2]
    assert split_turns(source, torch.tensor([7]), []).lengths.tolist() == [7]
    assert split_turns(source[:, :1], torch.tensor([1]), [5, 6]).lengths.tolist() == [1]


def values(task: Translation, text: str) -> Tensor:
    batch = task.read([text])
    return task.model.read(batch.source, batch.source_lengths).values[0, 0]


def test_a_turn_knows_those_before_it_and_not_those_behind() -> None:
    task = translator()
    one, other = values(task, "— ab — cd — ef"), values(task, "— ab — xx — ef")
    assert one.shape == (3, 8)
    torch.testing.assert_close(one[0], other[0])
    assert all(not torch.allclose(one[turn], other[turn]) for turn in (1, 2))


PAIRS = [("— one — two — three", "um"), ("— a", "dois"), ("no dash", "x"), ("— b — c", "")]


@pytest.mark.parametrize("decoder", ["bottleneck", "luong", "bahdanau"])
def test_batch_is_alone_and_padding_changes_nothing(decoder: str) -> None:
    task = translator(decoder=decoder)
    together = forced_scores(task, task.pair_up(PAIRS))
    for pair, scores in zip(PAIRS, together, strict=True):
        torch.testing.assert_close(forced_scores(task, task.pair_up([pair]))[0], scores)


def test_a_watched_decoder_looks_at_turns_which_are_named() -> None:
    task = translator()
    batch = task.pair_up(PAIRS[:1])
    with watching(task.model) as gazes:
        forced_scores(task, batch)
    (gaze,) = gazes
    assert (gaze.looks_from, gaze.looks_at) == ("target", TURNS)
    torch.testing.assert_close(gaze.weights[0, 0].sum(-1), torch.ones(3, dtype=torch.float64))  # two letters and an end
    side = task.sides(batch, [BYTES.encode("um")])[TURNS]
    assert side.words == ["— one ", "— two ", "— three"]
    assert task.extents(batch)[TURNS].tolist() == [3]


def test_vectors_of_words_stand_where_the_words_do() -> None:
    """Two dialogues have the same first turn, and its vectors are equal wherever the others end."""
    task = translator()
    batch = task.read(["— ab — cd", "— ab"])
    embedded, states = task.model.layers(batch.source, batch.source_lengths)
    assert states.shape == (*batch.source.shape, 8)
    torch.testing.assert_close(embedded[0, :6], embedded[1, :6])
    alone = task.model.layers(*(task.read(["— ab — cd"]).source, torch.tensor([int(batch.source_lengths[0])])))[1]
    torch.testing.assert_close(states[:1], alone)


@pytest.mark.parametrize("name", ["copies", "window"])
def test_what_goes_by_places_of_words_is_refused(name: str) -> None:
    with pytest.raises(Fault, match=f"{name} needs the places of words"):
        check(HredOptions, SMALL | {name: True if name == "copies" else "monotonic"}, "model")


def test_words_and_turns_are_read_by_recurrent_layers() -> None:
    with pytest.raises(Fault, match="recurrent layers read words and turns, so encoder cannot be 'transformer'"):
        check(HredOptions, SMALL | {"encoder": "transformer"}, "model")
