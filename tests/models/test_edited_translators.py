"""Editing recurrent translators: the attention of every decoder, in teacher forcing and in the steps of a beam."""

from typing import Any

import pytest
import torch
from torch import Tensor

from regard.attention import Edit, editing, watching
from regard.base.faults import Fault
from regard.base.recipe import check
from regard.models.recurrent.decoders import RecurrentMemory
from regard.models.recurrent.seq2seq import Seq2Seq
from regard.models.recurrent.seq2seq_options import Seq2SeqOptions
from regard.protocols import State

SIZES = {"embedding": 12, "width": 16, "dropout": 0.0}
BUILDS: dict[str, dict[str, Any]] = {
    "Bahdanau": {"decoder": "bahdanau", "cell": "gru", "score": "additive"},
    "Bahdanau, two heads": {"decoder": "bahdanau", "projected": True, "heads": 2, "score": "scaled-dot"},
    "Luong": {"decoder": "luong", "score": "bilinear"},
    "Luong, all steps at once": {"decoder": "luong", "score": "dot", "input_feeding": False},
    "Luong, local": {"decoder": "luong", "score": "dot", "input_feeding": False, "window": "monotonic"},
    "tanh": {"decoder": "tanh", "score": "additive"},
    "coverage": {"decoder": "bahdanau", "score": "additive", "copies": True, "coverage": 1.0},
    "location": {"decoder": "luong", "score": "location"},
}
EDITS = {
    "weights": Edit(at="cross.1.1", do="zero", keys=[1], queries=[3]),
    "all weight": Edit(at="cross.1", do="force", keys=[0], queries=[2, 4], rows=[1]),
    "moved weight": Edit(at="decoder.look", do="move", keys=[0], to=1, by=0.5),
    "a head": Edit(at="cross.1.1", part="head", do="zero", queries=[3]),
    "embeddings": Edit(at="target_embedding", part="output", do="zero", queries=[2]),
}


def build(**table: Any) -> Seq2Seq:
    torch.manual_seed(1)
    return Seq2Seq(check(Seq2SeqOptions, SIZES | table), 30, 25, False, 0).double().eval()


def batch() -> tuple[Tensor, Tensor, Tensor]:
    generator = torch.Generator().manual_seed(2)
    source = torch.randint(4, 25, (3, 7), generator=generator)
    target = torch.randint(4, 25, (3, 6), generator=generator)
    return source, torch.tensor([7, 5, 2]), target


def forced(model: Seq2Seq, memory: RecurrentMemory, target: Tensor) -> Tensor:
    return model.write(target, memory, model.begin(memory))[0]


def in_steps(model: Seq2Seq, memory: RecurrentMemory, target: Tensor, copies: int = 3) -> Tensor:
    """Write a target in steps, as a search with several rows per sentence does."""
    rows, outputs = target.repeat_interleave(copies, dim=0), []
    past = State(memory, model.begin(memory)).spread(copies).row
    for place in range(target.shape[1]):
        states, past = model.write(rows[:, place : place + 1], memory, past)
        outputs.append(states)
    return torch.cat(outputs, dim=1).unflatten(0, (-1, copies))


@pytest.mark.one_in(4)
@pytest.mark.parametrize("edit", EDITS.values(), ids=EDITS)
@pytest.mark.parametrize("options", BUILDS.values(), ids=BUILDS)
def test_steps_in_a_beam_are_edited_where_teacher_forcing_is(options: dict[str, Any], edit: Edit) -> None:
    model, (source, lengths, target) = build(**options), batch()
    memory = model.read(source, lengths)
    plain = forced(model, memory, target)
    torch.testing.assert_close(in_steps(model, memory, target)[:, 1], plain)
    with editing(model, edit):
        edited = forced(model, memory, target)
    with editing(model, edit):
        stepped = in_steps(model, memory, target)
    assert not torch.allclose(edited, plain)
    for copy in range(3):
        torch.testing.assert_close(stepped[:, copy], edited)
    first = min(edit.queries or (0,))
    torch.testing.assert_close(edited[:, :first], plain[:, :first])


@pytest.mark.parametrize("options", BUILDS.values(), ids=BUILDS)
def test_watchers_see_the_edited_look_of_every_step(options: dict[str, Any]) -> None:
    model, (source, lengths, target) = build(**options), batch()
    memory = model.read(source, lengths)
    with editing(model, Edit(at="cross.1", do="force", keys=[1], queries=[4])), watching(model) as gazes:
        forced(model, memory, target)
    (gaze,) = [gaze for gaze in gazes if gaze.looks_at == "source"]
    assert (gaze.weights[:, :, 4, 1] == 1).all()
    assert not (gaze.weights[:, :, 3, 1] == 1).any()


@pytest.mark.parametrize("options", BUILDS.values(), ids=BUILDS)
def test_no_edit_is_the_plain_run(options: dict[str, Any]) -> None:
    model, (source, lengths, target) = build(**options), batch()
    plain = forced(model, model.read(source, lengths), target)
    with editing(model, []):
        assert torch.equal(forced(model, model.read(source, lengths), target), plain)


@pytest.mark.parametrize("decoder", ["bahdanau", "luong", "bottleneck"])
def test_layers_that_run_in_steps_refuse_edits_of_their_output(decoder: str) -> None:
    model = build(decoder=decoder)
    for at in ("decoder.stack", "decoder.stack.layers.0"):
        with pytest.raises(Fault, match="computes it in steps"), editing(model, Edit(at=at, part="output", do="zero")):
            pass


def test_the_readout_is_edited_by_place() -> None:
    model, (source, lengths, target) = build(decoder="bahdanau"), batch()
    edit = Edit(at="decoder.deep", part="output", do="zero", queries=[3])
    memory = model.read(source, lengths)
    with editing(model, edit):
        edited = forced(model, memory, target)
    with editing(model, edit):
        torch.testing.assert_close(in_steps(model, memory, target)[:, 0], edited)
    assert not edited[:, 3].any()
    torch.testing.assert_close(edited[:, 4:], forced(model, memory, target)[:, 4:])
