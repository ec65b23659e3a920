"""Laws of edits by hand: slots of a memory, edges of a graph, facts of a story, glimpses and windows of a picture."""

from typing import Any

import pytest
import torch
from torch import Tensor, nn

from regard.attention.edges import Edges
from regard.attention.editing import Edit, editing, standing
from regard.attention.watch import watching
from regard.base.faults import Fault
from regard.models.draw.network import Draw, DrawOptions
from regard.models.gat import GraphAttention
from regard.models.machines.dnc import DNC, DNCOptions
from regard.models.machines.ntm import NTM, NTMOptions
from regard.models.machines.sam import SAM, SAMOptions
from regard.models.ram import RAM, RAMOptions
from regard.models.stories.dynamic import DynamicMemory, DynamicMemoryOptions
from regard.models.stories.end_to_end import MemoryNetwork, MemoryOptions
from regard.models.stories.rows import StoryRows, StoryWords

SIZES: dict[str, Any] = {"slots": 7, "depth": 3, "width": 5}
MACHINES: dict[str, Any] = {
    "ntm": lambda: NTM(NTMOptions(**SIZES, read_heads=2, write_heads=2), 4, 3, (1, 2)),
    "dnc": lambda: DNC(DNCOptions(**SIZES, read_heads=2), 4, 3, (1, 2)),
    "sam": lambda: SAM(SAMOptions(**SIZES, read_heads=2, nearest=3), 4, 3, (1, 2)),
}


def drawn(*shape: int, seed: int = 1) -> Tensor:
    return torch.randn(*shape, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))


@pytest.fixture(params=MACHINES)
def machine(request: pytest.FixtureRequest) -> Any:
    return MACHINES[request.param]().double().eval()


def looked_at(machine: Any, *edits: Edit) -> tuple[Tensor, Tensor]:
    """Return the outputs and the gaze of two members over three rows of five steps."""
    inputs = drawn(1, 3, 5, 4).expand(2, -1, -1, -1)
    with torch.no_grad(), watching(machine) as gazes, editing(machine, list(edits)):
        outputs = machine(inputs)
    return outputs, gazes[0].weights


def memory_of(state: Any) -> Tensor:
    memory: Tensor = state.memory if isinstance(state.memory, Tensor) else state.memory.values
    return memory


@torch.no_grad()
def test_a_head_with_all_weight_on_a_slot_reads_that_slot(machine: Any) -> None:
    state = machine.start(6, SIZES["slots"], drawn(1))
    for step in range(3):
        parameters, before = drawn(6, machine.heads.weight.shape[2], seed=step), state
        with editing(machine, Edit(at="heads.2", do="force", keys=[4], queries=[step])), standing(step):
            reads, state = machine.access(parameters, state)
        memory = memory_of(before if isinstance(machine, NTM) else state)  # an NTM reads before it writes
        torch.testing.assert_close(reads[:, 1], memory[:, 4])


def test_a_head_is_edited_at_its_step_in_its_row(machine: Any) -> None:
    outputs, expected = looked_at(machine)
    edited, weights = looked_at(machine, Edit(at="heads.1", do="force", keys=[3], queries=[2], rows=[1]))
    assert weights[1, 0, 2].tolist() == [0, 0, 0, 1, 0, 0, 0]
    assert torch.equal(weights[:, :, :2], expected[:, :, :2])
    assert torch.equal(edited[:, [0, 2]], outputs[:, [0, 2]])
    assert torch.equal(edited[:, 1, :2], outputs[:, 1, :2])
    assert not torch.equal(edited[0, 1, 2], outputs[0, 1, 2])
    assert not torch.equal(edited[1, 1, 2], outputs[1, 1, 2])  # all members are edited


def test_a_write_head_is_counted_after_the_read_heads(machine: Any) -> None:
    _, weights = looked_at(machine, Edit(at="heads.3", do="force", keys=[6], queries=[1]))
    assert weights[:, 2, 1].tolist() == [[0, 0, 0, 0, 0, 0, 1]] * 3
    last = weights.shape[1]
    with pytest.raises(Fault, match=f"no head {last + 1} among {last}"):
        looked_at(machine, Edit(at=f"heads.{last + 1}", do="force", keys=[6]))


def test_moved_weight_arrives_and_a_slot_that_does_not_exist_is_refused(machine: Any) -> None:
    _, expected = looked_at(machine)
    near = int(expected[0, 0, 0].argmax())
    _, weights = looked_at(
        machine, Edit(at="heads.1", do="move", keys=[near], to=(near + 1) % 7, queries=[0], rows=[0])
    )
    torch.testing.assert_close(weights[0, 0, 0, near], torch.zeros((), dtype=torch.float64))
    moved = expected[0, 0, 0, near] + expected[0, 0, 0, (near + 1) % 7]
    torch.testing.assert_close(weights[0, 0, 0, (near + 1) % 7], moved)
    with pytest.raises(Fault, match="may not look at key 7"):
        looked_at(machine, Edit(at="heads", do="force", keys=[7]))
    with pytest.raises(Fault, match="never reached place 5"):
        looked_at(machine, Edit(at="heads", do="force", keys=[0], queries=[5]))


def test_a_sparse_memory_refuses_weight_on_more_slots_than_it_reads() -> None:
    machine = MACHINES["sam"]().double()
    with pytest.raises(Fault, match="at most 3 slots"):
        looked_at(machine, Edit(at="heads.1", do="force", keys=[0, 1, 2, 3]))
    looked_at(machine, Edit(at="heads.1", do="force", keys=[0, 1, 2]))


def test_outputs_inside_machines_have_no_places(machine: Any) -> None:
    with pytest.raises(Fault, match="the axes member, row and unit; name units alone"):
        looked_at(machine, Edit(at="output", part="output", do="zero", queries=[1]))
    outputs, _ = looked_at(machine, Edit(at="output", part="output", do="zero", units=[1]))
    assert outputs[..., 1].eq(0).all()
    assert outputs[..., 0].ne(0).all()


EDGES = Edges.among(4, torch.tensor([0, 0, 0, 1, 1, 2, 3]), torch.tensor([0, 1, 3, 1, 2, 2, 3]))


def graph_layer(members: int = 1) -> GraphAttention:
    torch.manual_seed(3)
    layer = GraphAttention(members, 5, heads=2, width=3).double().eval()
    for parameter in layer.parameters():
        nn.init.normal_(parameter)
    return layer


class Wrapped(nn.Module):
    def __init__(self, layer: nn.Module) -> None:
        super().__init__()
        self.layer = layer


@torch.no_grad()
def test_an_edge_with_all_weight_gives_that_neighbours_value() -> None:
    layer, inputs = graph_layer(), drawn(1, 4, 5)
    expected, values = layer(inputs, EDGES), inputs[0] @ layer.weight[0] + layer.bias[0]
    model = Wrapped(layer)
    with watching(model) as gazes, editing(model, Edit(at="layer", do="force", keys=[3], queries=[0])):
        outputs = layer(inputs, EDGES)
    torch.testing.assert_close(outputs[0, 0], values[3])
    assert torch.equal(outputs[0, 1:], expected[0, 1:])
    assert gazes[0].weights[0, :, :3].tolist() == [[0, 0, 1]] * 2


@torch.no_grad()
def test_one_head_loses_an_edge_and_its_others_share_the_weight() -> None:
    layer, inputs = graph_layer(2), drawn(1, 4, 5).expand(2, -1, -1)
    model, edges = Wrapped(layer), EDGES.repeat(2)
    with watching(model) as plain:
        layer(inputs, edges)
    with watching(model) as gazes, editing(model, Edit(at="layer.2", do="zero", keys=[1], queries=[0], rows=[1])):
        layer(inputs, edges)
    before, after = plain[0].weights, gazes[0].weights
    assert torch.equal(after[0], before[0])
    assert torch.equal(after[1, 0], before[1, 0])
    kept = before[1, 1, [0, 2]]
    torch.testing.assert_close(after[1, 1, [0, 2]], kept / kept.sum())
    assert torch.equal(after[1, 1, 3:], before[1, 1, 3:])


@torch.no_grad()
def test_an_edge_that_does_not_exist_is_refused() -> None:
    layer, inputs = graph_layer(), drawn(1, 4, 5)
    model = Wrapped(layer)
    for edit, reason in (
        (Edit(at="layer", do="force", keys=[2], queries=[0]), "query 0 may not look at key 2"),
        (Edit(at="layer", do="zero", keys=[2], queries=[2]), "leaves query 2 without any weight"),
        (Edit(at="layer", do="force", keys=[0], queries=[4]), "no node 4 to edit; the graph has 4"),
    ):
        with pytest.raises(Fault, match=reason), editing(model, edit):
            layer(inputs, EDGES)
    twice = Edges.among(2, torch.tensor([0, 0]), torch.tensor([1, 1]))
    with pytest.raises(Fault, match="Two edges of this graph"), editing(model, Edit(at="layer", do="zero", keys=[1])):
        layer(drawn(1, 2, 5), twice)


WORDS = StoryWords(known=7, answers=3, slots=4)
FACTS = torch.tensor([[[1, 5, 6], [2, 4, 0], [7, 0, 0]], [[3, 3, 0], [0, 0, 0], [0, 0, 0]]])
ROWS = StoryRows(FACTS, torch.tensor([[2, 1, 0], [0, 0, 0]]), torch.tensor([3, 1]), torch.tensor([[4, 2], [6, 0]]))


@torch.no_grad()
def test_a_hop_with_all_weight_on_a_fact_adds_that_fact() -> None:
    network = MemoryNetwork(MemoryOptions(hops=1, width=4), WORDS, (1, 2)).double()
    memories, question = network._read(ROWS)
    with editing(network, Edit(at="watched", do="force", keys=[1], rows=[0])):
        reading = network(ROWS)
    output = network.tables[:, -1, : WORDS.answers]
    expected = ((question + memories[:, 1, :, 1])[:, 0, None] @ output.transpose(1, 2))[:, 0]
    torch.testing.assert_close(reading.logits[:, 0], expected)
    assert torch.equal(reading.logits[:, 1], network(ROWS).logits[:, 1])
    with pytest.raises(Fault, match="may not look at key 1"), editing(network, Edit(at="1", do="force", keys=[1])):
        network(ROWS)  # the second story has one fact


@torch.no_grad()
def test_an_episode_with_all_weight_on_a_fact_reads_nothing_else() -> None:
    network = DynamicMemory(DynamicMemoryOptions(episodes=2, width=4, dropout=0.0), WORDS, (1, 2)).double().eval()
    edits = [Edit(at="watched", do="force", keys=[2], queries=[0, 1], rows=[0])]
    with watching(network) as gazes, editing(network, edits):
        network(ROWS)
    assert gazes[0].weights[0, 0].tolist() == [[0, 0, 1], [0, 0, 1]]
    states = []
    network.episode.register_forward_hook(lambda module, inputs, output: states.append((inputs[1], output)))
    with editing(network, edits):
        network(ROWS)
    assert states[2][0][:, 0].eq(0).all()  # before the last fact nothing is remembered
    assert states[3][0][:, 0].eq(0).all()  # the second episode begins anew


def ram(**more: Any) -> RAM:
    torch.manual_seed(1)
    return RAM(RAMOptions(glimpses=3, patch=4, scales=2, glimpse_width=5, width=6, **more), 4, 10, 12).double().eval()


@torch.no_grad()
def test_a_forced_glimpse_sees_that_patch() -> None:
    model, pictures = ram(paths=3), drawn(2, 10, 12)
    seen: list[tuple[Tensor, Tensor]] = []
    model.glimpse.register_forward_hook(lambda module, inputs, output: seen.append((inputs[1], output)))
    edit = Edit(at="glimpses to picture.1", part="window", do="force", queries=[1], values=[3.0, 8.0], rows=[1])
    plain = model.answer(pictures)
    with watching(model) as gazes, editing(model, edit):
        answers = model.answer(pictures)
    windows = gazes.windows[0]
    assert windows.centre[1, 1].tolist() == [3, 8]
    place = torch.tensor([2 * 3 / 12 - 1, 2 * 8 / 10 - 1], dtype=torch.float64)
    assert torch.equal(seen[4][0][1], place.expand(3, -1))  # along all paths
    assert torch.equal(seen[4][0][0], seen[1][0][0])
    assert torch.equal(answers[0], plain[0])
    assert not torch.equal(answers[1], plain[1])


def test_a_window_without_numbers_is_refused() -> None:
    with pytest.raises(Fault, match="do 'force' needs values"):
        Edit(at="1", part="window", do="force", queries=[1])


def test_a_glimpse_outside_the_picture_is_refused() -> None:
    model, pictures = ram(), drawn(2, 10, 12)
    edit = Edit(at="1", part="window", do="force", queries=[1], values=[3.0, 11.0])
    with (
        pytest.raises(Fault, match="Glimpse 1 is edited to a place outside its picture, 12 × 10"),
        editing(model, edit),
    ):
        model.answer(pictures)
    with pytest.raises(Fault, match="there are 2 units"), editing(model, edit.model_copy(update={"units": (2,)})):
        model.answer(pictures)


def draw(**more: Any) -> Draw:
    torch.manual_seed(5)
    return Draw(DrawOptions(steps=3, width=5, latent=2, read=2, write=3, **more), 6, 8).double().eval()


@torch.no_grad()
def test_a_reading_window_lies_where_it_is_put_and_keeps_its_other_numbers() -> None:
    model, pictures, noise = draw(), drawn(2, 6, 8).sigmoid(), drawn(2, 3, 2)
    with watching(model) as plain:
        expected = model(pictures, noise)
    edit = Edit(at="reading", part="window", do="force", queries=[1], units=[0, 2], values=[2.5, 4.0])
    with watching(model) as gazes, editing(model, edit):
        redrawn = model(pictures, noise)
    before, after = plain.windows[0], gazes.windows[0]
    torch.testing.assert_close(after.centre[:, 1, 0], torch.full((2,), 2.5, dtype=torch.float64))
    torch.testing.assert_close(after.extent[:, 1, 0], torch.full((2,), 4.0, dtype=torch.float64))
    assert torch.equal(after.centre[:, 1, 1], before.centre[:, 1, 1])
    assert torch.equal(after.centre[:, 0], before.centre[:, 0])
    assert torch.equal(redrawn.means[:, 0], expected.means[:, 0])
    assert not torch.equal(redrawn.means[:, 1], expected.means[:, 1])


@torch.no_grad()
def test_a_writing_window_lies_where_it_is_put_in_new_pictures() -> None:
    model, latents = draw(), drawn(2, 3, 2)
    expected = model.draw(latents)
    edit = Edit(at="writing", part="window", do="force", queries=[2], values=[3.0, 2.0, 5.0, 0.5, 2.0])
    with editing(model, edit):
        drawings = model.draw(latents)
    assert drawings.windows is not None
    torch.testing.assert_close(drawings.windows[:, 2], torch.tensor([[3.0, 2.0, 5.0, 0.5]] * 2, dtype=torch.float64))
    assert torch.equal(drawings.canvases[:, :2], expected.canvases[:, :2])
    assert not torch.equal(drawings.canvases[:, 2], expected.canvases[:, 2])
    for at, reason in (("reading", "'reading' did not run"), ("1", "one to write")):
        with pytest.raises(Fault, match=reason), editing(model, edit.model_copy(update={"at": at})):
            model.draw(latents)
    with pytest.raises(Fault, match="at most 1 pixel"), editing(model, Edit(at="writing", part="window", do="zero")):
        model.draw(latents)


@torch.no_grad()
def test_without_attention_there_is_no_window_to_edit() -> None:
    model = draw(attention=False)
    edit = Edit(at="writing", part="window", do="scale", by=2.0)
    with pytest.raises(Fault, match="'writing' did not run"), editing(model, edit):
        model.draw(drawn(2, 3, 2))
