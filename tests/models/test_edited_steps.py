"""Laws of edits in models that go step by step: captions, speech, gates, copied words and recurrent states."""

from typing import Any

import pytest
import torch
from torch import Tensor, nn

from regard.attention.editing import Edit, editing
from regard.attention.watch import watching
from regard.base.faults import Fault
from regard.base.recipe import check
from regard.models.captions.captioner import Captioner, CaptionerOptions
from regard.models.captions.transformer import CaptionTransformer, CaptionTransformerOptions
from regard.models.copying import Copying
from regard.models.from_gates import FromGates, FromGatesOptions
from regard.models.recurrent.layers import CELLS, Stack
from regard.models.recurrent.older_states import Clockwork, Delays
from regard.models.tacotron import Tacotron, TacotronOptions
from regard.protocols import map_tree

WIDTH, TIME = 4, 5


def drawn(*shape: int, seed: int = 1) -> Tensor:
    return torch.randn(*shape, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))


ANNOTATIONS, WORDS = drawn(2, 6, 7), torch.tensor([[2, 5, 4, 1], [2, 6, 5, 3]])
SIZES: dict[str, Any] = {"embedding": 3, "width": 4, "compared": 5, "dropout": 0.0}
BLOCKS: dict[str, Any] = {"encoder_layers": 1, "decoder_layers": 1, "width": 8, "heads": 2, "feed_forward": 8}
EDITS_OF_CAPTIONS = {
    "soft": [
        Edit(at="look", do="force", keys=[3], queries=[2], rows=[1]),
        Edit(at="lstm", part="state", do="zero", units=[0, 5], queries=[1]),
        Edit(at="of_state", part="output", do="scale", by=3.0, queries=[3]),
    ],
    "hard": [Edit(at="look", do="force", keys=[0, 1], queries=[2], rows=[1])],
    "blocks": [
        Edit(at="cross.1.2", do="force", keys=[3], queries=[2], rows=[1]),
        Edit(at="decoder.1", do="zero", keys=[0], queries=[2, 3]),
        Edit(at="decoder.0.feed_forward", part="output", do="zero", queries=[1]),
    ],
}


def captioner(kind: str) -> Any:
    torch.manual_seed(2)
    if kind == "blocks":
        return CaptionTransformer(CaptionTransformerOptions(**BLOCKS), 7, 6, 8, 0).double().eval()
    return Captioner(CaptionerOptions(**SIZES, attention=kind), 7, 6, 8, 0).double().eval()  # type: ignore[arg-type]


@pytest.mark.parametrize("kind", EDITS_OF_CAPTIONS)
@torch.no_grad()
def test_a_caption_is_edited_alike_word_by_word_and_at_once(kind: str) -> None:
    network = captioner(kind)
    memory = network.read(ANNOTATIONS)
    plain = network.write(WORDS, memory, network.begin(memory)).states
    for edit in EDITS_OF_CAPTIONS[kind]:
        with editing(network, edit):
            whole = network.write(WORDS, memory, network.begin(memory)).states
        past, steps = network.begin(memory), []
        with editing(network, edit):
            for place in range(4):
                written = network.write(WORDS[:, place : place + 1], memory, past)
                past = written[1]
                steps.append(written.states)
        torch.testing.assert_close(torch.cat(steps, dim=1), whole)
        first = min(edit.queries or ())
        torch.testing.assert_close(whole[:, :first], plain[:, :first])
        assert not torch.allclose(whole[1, first], plain[1, first]), edit.describe()
        if edit.rows is not None:
            torch.testing.assert_close(whole[0], plain[0])


@torch.no_grad()
def test_the_rows_of_a_picture_in_a_beam_are_edited_alike() -> None:
    network, edit = captioner("soft"), Edit(at="look", do="force", keys=[3], queries=[1], rows=[1])
    memory = network.read(ANNOTATIONS)
    once, twice = network.begin(memory), network.begin(memory)
    twice = map_tree(lambda leaf: leaf.repeat_interleave(2, dim=0), twice)
    with editing(network, edit):
        for place in range(3):
            words = WORDS[:, place : place + 1]
            alone, together = (
                network.write(tokens, memory, past)
                for tokens, past in ((words, once), (words.repeat_interleave(2, dim=0), twice))
            )
            once, twice = alone[1], together[1]
            torch.testing.assert_close(together.states, alone.states.repeat_interleave(2, dim=0))
            torch.testing.assert_close(together.weights, alone.weights.repeat_interleave(2, dim=0))
            if place == 1:
                assert alone.weights[1, 0].tolist() == [0, 0, 0, 1, 0, 0]


@torch.no_grad()
def test_speech_looks_where_it_is_told_in_free_and_forced_steps() -> None:
    torch.manual_seed(2)
    sizes = {"embedding": 6, "speaker": 3, "width": 8, "prenet": 5, "hidden": 7, "filters": 2, "reach": 1, "frames": 2}
    network = Tacotron(TacotronOptions(**sizes), 9, speakers=2, bands=4, pad=0).double().eval()
    nn.init.constant_(network.stop.bias, -50.0)  # it never stops by itself
    symbols, lengths = torch.tensor([[3, 5, 4, 1]]), torch.tensor([4])
    for edit in (
        Edit(at="look", do="force", keys=[2], queries=[1]),
        Edit(at="speaking", part="state", do="scale", by=-1.0, queries=[1]),
        Edit(at="looking", part="state", do="replace", values=[0.5], units=[3]),
    ):
        memory = network.read(symbols, lengths, torch.tensor([1]))
        plain, _ = network.speak(memory, torch.tensor([3]))
        with watching(network) as gazes, editing(network, edit):
            spoken, counts = network.speak(memory, torch.tensor([3]))
            forced = network(memory, spoken.before, counts)
        for one, other in zip(spoken, forced, strict=True):
            torch.testing.assert_close(one, other)
        assert not torch.allclose(spoken.after[:, 2:], plain.after[:, 2:])
        torch.testing.assert_close(gazes[0].weights, gazes[1].weights)
        if edit.part == "weights":
            assert gazes[0].weights[0, 0, 1].tolist() == [0, 0, 1, 0]


@pytest.mark.parametrize("step", range(5))
@torch.no_grad()
def test_from_gates_to_attention_a_text_is_edited_alike_token_by_token(step: int) -> None:
    torch.manual_seed(step + 1)
    sizes = {"layers": 2, "width": 8, "heads": 2, "context": 12, "step": step, "dropout": 0.0}
    model = FromGates(check(FromGatesOptions, sizes), 11).double().eval()
    for parameter in model.parameters():
        nn.init.normal_(parameter, std=0.5)
    tokens = torch.randint(11, (2, 6), generator=torch.Generator().manual_seed(5))
    if step:
        edit = Edit(at="2", do="force", keys=[1], queries=[3])
    else:
        edit = Edit(at="blocks.1.look_back", part="state", do="scale", by=-1.0, queries=[3])
    plain = model.read(tokens, model.begin(2)).states
    with watching(model) as gazes, editing(model, edit):
        whole = model.read(tokens, model.begin(2)).states
    memory, steps = model.begin(2), []
    with editing(model, edit):
        for place in range(6):
            reading = model.read(tokens[:, place : place + 1], memory)
            memory = reading.memory
            steps.append(reading.states)
    torch.testing.assert_close(torch.cat(steps, dim=1), whole)
    torch.testing.assert_close(whole[:, :3], plain[:, :3])
    assert not torch.allclose(whole[:, 3], plain[:, 3])
    if step:
        assert gazes[-1].weights[0, 0, 3].tolist() == [0, 1, 0, 0, 0, 0]


class Copier(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.copying = Copying(WIDTH)


@torch.no_grad()
def test_a_word_is_copied_from_where_it_is_told_or_written() -> None:
    torch.manual_seed(4)
    model, states, lengths = Copier().double(), drawn(2, 3, WIDTH), torch.tensor([4, 3])
    weights = drawn(2, 3, 4).softmax(-1) * (torch.arange(4) < lengths[:, None])[:, None]
    plain = model.copying(states, weights, lengths)
    with watching(model) as gazes, editing(model, Edit(at="copying", do="force", keys=[2], queries=None)):
        pointed = model.copying(states, weights, lengths)
    torch.testing.assert_close(pointed.weights, torch.eye(4, dtype=torch.float64)[1].expand(2, 3, 4))
    assert (pointed.switch.sigmoid() < 1e-12).all()  # nearly nothing is written
    torch.testing.assert_close(gazes[0].weights[..., 2], torch.ones(2, 1, 3, dtype=torch.float64))
    with editing(model, Edit(at="copying", do="force", keys=[0], rows=[1])):
        pointed = model.copying(states, weights, lengths)
    assert (pointed.switch[1].sigmoid() > 1 - 1e-12).all()
    assert torch.equal(pointed.switch[0], plain.switch[0])
    assert torch.equal(pointed.weights[0], plain.weights[0])
    with pytest.raises(Fault, match="may not look at key 3"), editing(model, Edit(at="copying", do="force", keys=[3])):
        model.copying(states, weights, lengths)  # the end of the second source is never copied


def stack(cell: str, **more: Any) -> Stack:
    torch.manual_seed(6)
    return Stack(cell, 3, WIDTH, 2, **more).double().eval()


@pytest.mark.parametrize("cell", CELLS)
@torch.no_grad()
def test_a_state_of_zeros_forgets_all_that_was_read(cell: str) -> None:
    layers, inputs = stack(cell), drawn(2, TIME, 3)
    plain, _ = layers(inputs)
    edits = [Edit(at=f"layers.{number}", part="state", do="zero", queries=[2]) for number in (0, 1)]
    with editing(layers, edits):
        outputs, finals = layers(inputs)
    assert torch.equal(outputs[:, 2], torch.zeros(2, WIDTH, dtype=torch.float64))
    torch.testing.assert_close(outputs[:, :2], plain[:, :2])
    torch.testing.assert_close(outputs[:, 3:], layers(inputs[:, 3:])[0])
    torch.testing.assert_close(finals, layers(inputs[:, 3:])[1])


@torch.no_grad()
def test_the_units_of_a_state_are_those_of_both_directions_and_then_of_the_memory_cell() -> None:
    layers, inputs, half = stack("lstm", bidirectional=True), drawn(2, TIME, 3), WIDTH // 2
    lengths = torch.tensor([TIME, 3])
    plain = layers.read_layers(inputs, lengths)[0]
    for units, changed, same in (
        ([0, 1], slice(0, half), slice(half, None)),
        ([2, 3], slice(half, None), slice(0, half)),
        ([4], slice(0, half), slice(half, None)),
        ([7], slice(half, None), slice(0, half)),
    ):
        edit = Edit(at="layers.0", part="state", do="replace", values=[2.0], units=units, queries=[1])
        with editing(layers, edit):
            outputs = layers.read_layers(inputs, lengths)[0]
        torch.testing.assert_close(outputs[..., same], plain[..., same])
        assert not torch.allclose(outputs[..., changed], plain[..., changed])
        if max(units) < WIDTH:
            assert outputs[:, 1, units].eq(2).all()
        else:  # h was computed from c before it was edited
            torch.testing.assert_close(outputs[:, 1], plain[:, 1])
    with pytest.raises(Fault, match="there are 8 units"):
        with_units(layers, inputs, [8])


def with_units(layers: Stack, inputs: Tensor, units: list[int]) -> Tensor:
    with editing(layers, Edit(at="layers.0", part="state", do="zero", units=units)):
        return layers(inputs)[0]


@torch.no_grad()
def test_a_layer_that_continues_from_a_state_refuses_places_but_not_all_of_them() -> None:
    layers, inputs = stack("gru"), drawn(2, TIME, 3)
    _, states = layers(inputs)
    edit = Edit(at="layers.1", part="state", do="zero", queries=[1])
    for run in (lambda: layers(inputs, states), lambda: layers.step(inputs[:, 0], states)):
        with pytest.raises(Fault, match="nothing says how many steps were before"), editing(layers, edit):
            run()
        with editing(layers, Edit(at="layers.1", part="state", do="zero")):
            assert run()[0].eq(0).all()


@torch.no_grad()
def test_packed_outputs_of_a_layer_are_edited_by_row_and_place() -> None:
    layers, inputs, lengths = stack("gru"), drawn(3, TIME, 3), torch.tensor([2, TIME, 3])
    plain = layers.read(inputs, lengths)[0]
    with editing(layers, Edit(at="layers.1", part="output", do="zero", queries=[2], rows=[1], units=[0])):
        outputs = layers.read(inputs, lengths)[0]
    changed = torch.zeros_like(plain, dtype=torch.bool)
    changed[1, 2, 0] = True
    assert torch.equal(outputs, plain.masked_fill(changed, 0))


@pytest.mark.parametrize("layer", [Clockwork(3, 4, [1, 2]), Delays(3, 4, [1, 3])], ids=["clockwork", "delays"])
@torch.no_grad()
def test_older_states_are_edited_before_later_steps_read_them(layer: Any) -> None:
    layer, inputs = layer.double(), drawn(2, TIME, 3)
    model, plain = nn.Sequential(layer), layer(inputs)
    with editing(model, Edit(at="0", part="state", do="scale", by=1.0)):
        torch.testing.assert_close(layer(inputs), plain)
    with editing(model, Edit(at="0", part="state", do="replace", values=[0.5], units=[1], queries=[2])):
        outputs = layer(inputs)
    assert outputs[:, 2, 1].eq(0.5).all()
    torch.testing.assert_close(outputs[:, :2], plain[:, :2])
    assert not torch.allclose(outputs[:, 3:], plain[:, 3:])
