"""Recurrent decoders of a Transformer: their equations written out, their gradients, steps, edits and refusals."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from torch import Tensor

from regard.attention import Edit, editing, watching
from regard.base.faults import Fault
from regard.base.recipe import check
from regard.engines.ctranslate2.spec import check_expressible
from regard.engines.marian.export import export_marian
from regard.engines.onnx.export import export_onnx
from regard.models.freezing import freeze
from regard.models.recurrent import scanning
from regard.models.recurrent.cells import unroll
from regard.models.recurrent.scanning import linear_scan
from regard.models.transformer.decoder_cells import SSRU, CellPast, GRUCell
from regard.models.transformer.network import Memory, Transformer
from regard.models.transformer.options import TransformerOptions
from regard.models.transformer.packing import _fits
from regard.protocols import State

SIZES = {"encoder_layers": 1, "decoder_layers": 2, "width": 8, "feed_forward": 12, "heads": 2, "dropout": 0.0}
GENERATOR = torch.Generator().manual_seed(2)
SOURCE, LENGTHS = torch.randint(4, 25, (3, 7), generator=GENERATOR), torch.tensor([7, 5, 2])
TARGET = torch.randint(4, 25, (3, 6), generator=GENERATOR)
CELLS = ("ssru", "gru")


def build(cell: str, **table: Any) -> Transformer:
    torch.manual_seed(1)
    options = check(TransformerOptions, SIZES | {"decoder_cell": cell} | table)
    return Transformer(options, 25, 25, True, 0).double().eval()


def recurrence(time: int, dtype: torch.dtype = torch.double) -> tuple[Tensor, Tensor, Tensor]:
    draw = torch.Generator().manual_seed(time)
    factors = torch.rand(3, time, 4, dtype=dtype, generator=draw).requires_grad_()
    added = torch.randn(3, time, 4, dtype=dtype, generator=draw).requires_grad_()
    return factors, added, torch.randn(3, 4, dtype=dtype, generator=draw).requires_grad_()


def written_out(factors: Tensor, added: Tensor, state: Tensor) -> Tensor:
    states = []
    for time in range(factors.shape[1]):
        state = factors[:, time] * state + added[:, time]
        states.append(state)
    return torch.stack(states, dim=1)


@pytest.mark.parametrize("time", [1, 2, 3, 9, 17, 40])
@pytest.mark.parametrize("device", ["cpu", "another"])
def test_a_scan_is_its_loop_with_its_gradients(time: int, device: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if device == "another":  # where chunks are computed side by side
        size = scanning.chunk_size("cuda", time)
        assert size < time or time == 1
        monkeypatch.setattr(scanning, "chunk_size", lambda kind, time: size)
    inputs = recurrence(time)
    found, expected = linear_scan(*inputs), written_out(*inputs)
    torch.testing.assert_close(found, expected)
    upstream = torch.randn(found.shape, dtype=torch.double, generator=torch.Generator().manual_seed(1))
    for ours, theirs in zip(*(torch.autograd.grad(out, inputs, upstream) for out in (found, expected)), strict=True):
        torch.testing.assert_close(ours, theirs)


def test_a_long_scan_in_float32_stays_near_its_loop_in_float64() -> None:
    """Gates that close and gates that hardly close: nothing is divided, so nothing overflows."""
    for gate in (1e-30, 0.5, 1 - 1e-6):
        factors, added = torch.full((1, 1000, 2), gate), torch.ones(1, 1000, 2)
        exact = written_out(factors.double(), added.double(), torch.zeros(1, 2).double())
        for size in (1, 31, 1000):
            found = scanning._in_chunks(factors, added, torch.zeros(1, 2), size)
            torch.testing.assert_close(found.double(), exact, rtol=1e-4, atol=1e-5)


def test_an_ssru_is_its_equations() -> None:
    torch.manual_seed(3)
    cell, inputs = SSRU(4).double(), torch.randn(2, 5, 4, dtype=torch.double)
    torch.nn.init.normal_(cell.gate_bias)
    of_gate, of_input = cell.to_gate_and_input.weight.chunk(2)
    memory, expected = torch.zeros(2, 4, dtype=torch.double), []
    for x in inputs.unbind(1):
        gate = 1 / (1 + torch.exp(-(x @ of_gate.T + cell.gate_bias)))
        memory = gate * memory + (1 - gate) * (x @ of_input.T)
        expected.append(memory.clamp(min=0))
    outputs, last = cell(inputs, None, 0)
    torch.testing.assert_close(outputs, torch.stack(expected, dim=1))
    torch.testing.assert_close(last, memory)
    assert (outputs == 0).any()  # a negative memory is hidden, and yet remembered
    assert (last < 0).any()


def test_an_ssru_remembers_in_float32_when_products_are_in_bf16() -> None:
    cell = SSRU(8)
    with torch.autocast("cpu", torch.bfloat16):
        outputs, last = cell(torch.randn(2, 5, 8), None, 0)
    assert (outputs.dtype, last.dtype) == (torch.bfloat16, torch.float32)


def test_a_gru_is_its_equations() -> None:
    torch.manual_seed(3)
    cell, inputs = GRUCell(4).double(), torch.randn(2, 5, 4, dtype=torch.double)
    expected, _ = unroll(cell.stack.layers[0], inputs, torch.tensor([5, 5]))
    outputs, last = cell(inputs, None, 0)
    torch.testing.assert_close(outputs, expected.hidden)
    torch.testing.assert_close(last, outputs[:, -1])


def forced(model: Transformer, memory: Memory) -> Tensor:
    return model.write(TARGET, memory, model.begin(memory))[0]


def in_steps(model: Transformer, memory: Memory, copies: int = 3) -> Tensor:
    """Write the targets in steps, as a search with several rows per sentence does."""
    rows, outputs = TARGET.repeat_interleave(copies, dim=0), []
    past = State(memory, model.begin(memory)).spread(copies).row
    for place in range(TARGET.shape[1]):
        states, past = model.write(rows[:, place : place + 1], memory, past)
        outputs.append(states)
    return torch.cat(outputs, dim=1).unflatten(0, (-1, copies))


@pytest.mark.one_in(3)
@pytest.mark.parametrize("cell", CELLS)
@pytest.mark.parametrize("positions", ["sinusoidal", "learned", "rotary", "none"])
def test_steps_are_teacher_forcing_and_the_state_does_not_grow(cell: str, positions: str) -> None:
    model = build(cell, positions=positions)
    memory = model.read(SOURCE, LENGTHS)
    expected = forced(model, memory)
    stepped = in_steps(model, memory)
    for copy in range(3):
        torch.testing.assert_close(stepped[:, copy], expected)
    _, past = model.write(TARGET, memory, [])
    assert all(isinstance(part, CellPast) for part in past)
    assert [part.state.shape for part in past] == [(3, 8)] * 2
    assert sum(part.places.numel() for part in past) == 0
    assert [part.length for part in past] == [6, 6]


@pytest.mark.parametrize("cell", CELLS)
def test_gradients_are_those_of_finite_differences(cell: str) -> None:
    model = build(cell, width=4, heads=1, decoder_layers=1)
    names = [name for name, _ in model.named_parameters() if ".cell." in name]
    weights = [model.get_parameter(name).detach().requires_grad_() for name in names]
    memory = model.read(SOURCE, LENGTHS)

    def states(*weights: Tensor) -> Tensor:
        named = {name.removeprefix("decoder.0."): weight for name, weight in zip(names, weights, strict=True)}
        inputs = (model.target_embedding(TARGET), None, memory.blocks[0], None)
        result: Tensor = torch.func.functional_call(model.decoder[0], named, inputs)[0]
        return result

    assert weights
    assert torch.autograd.gradcheck(states, weights, fast_mode=True)


@pytest.mark.parametrize("cell", CELLS)
def test_only_the_encoder_and_the_look_at_the_source_are_watched(cell: str) -> None:
    model = build(cell)
    with watching(model) as gazes:
        forced(model, model.read(SOURCE, LENGTHS))
    assert [gaze.where for gaze in gazes] == [
        "encoder.0.self_look.look",
        "decoder.0.cross.look",
        "decoder.1.cross.look",
    ]
    assert model.cost(5)["weights"] == (1 + 2) * 2 * 25
    with (
        pytest.raises(Fault, match=r"no attention 'decoder\.1\.1'; it has encoder\.1, cross\.1 to cross\.2"),
        editing(model, Edit(at="decoder.1.1", part="head", do="zero")),
    ):
        pass


@pytest.mark.parametrize("at", ["decoder.0.cell", "decoder.0.cell.stack.layers.0"])
def test_an_edited_state_is_read_by_later_places_alone(at: str) -> None:
    model = build("gru" if "stack" in at else "ssru")
    memory = model.read(SOURCE, LENGTHS)
    plain, edit = forced(model, memory), Edit(at=at, part="state", do="scale", by=3.0, units=[1, 2], queries=[2])
    with editing(model, edit):
        edited = forced(model, memory)
    with editing(model, edit):
        stepped = in_steps(model, memory)
    torch.testing.assert_close(edited[:, :2], plain[:, :2])
    for place in (2, 3):
        assert not torch.allclose(edited[:, place], plain[:, place])
    torch.testing.assert_close(stepped[:, 1], edited)


def test_a_frozen_decoder_has_a_frozen_cell() -> None:
    model = build("ssru")
    freeze(model, ["decoder"])
    frozen = {name for name, weight in model.named_parameters() if not weight.requires_grad}
    assert "decoder.1.cell.gate_bias" in frozen
    assert "encoder.0.self_look.out.weight" not in frozen


def test_fast_paths_and_engines_decline(tmp_path: Path) -> None:
    model = build("gru", width=32)
    assert not model.has_caches
    assert not _fits(model.options)
    assert _fits(model.options.model_copy(update={"decoder_cell": "attention"}))
    loaded: Any = SimpleNamespace(task=SimpleNamespace(model=model), recipe=SimpleNamespace(family="transformer"))
    with pytest.raises(Fault, match=r"cannot compute model\.decoder_cell = 'gru'; it supports 'attention'"):
        check_expressible(model.options)
    with pytest.raises(Fault, match=r'cannot express model\.decoder_cell = "gru"; it is always "attention"'):
        export_marian(loaded, tmp_path / "marian")
    with pytest.raises(Fault, match=r"no graph of a GRU decoder; train with --set model\.decoder_cell=ssru"):
        export_onnx(loaded, tmp_path / "onnx")
