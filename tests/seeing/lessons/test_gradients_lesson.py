"""The lesson on gradients: reproducible, every knob has an effect, and its claims are true."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from untrained import untrained

from regard.base.faults import Fault
from regard.models.recurrent.cells import unroll, weights_of
from regard.models.recurrent.older_states import Delays
from regard.seeing.lessons.gradients import (
    Experiment,
    build_cell,
    build_linked,
    by_cell,
    by_gain,
    by_length,
    draw_inputs,
    fading,
    fading_linked,
    gradients_lesson,
    in_tens,
    last_step_gradients,
    trained_lesson,
)
from regard.viewing.lessons import LessonPanel

SMALL = Experiment(length=8, width=5)
ALL = ["vanilla", "lstm", "gru"]


def values(panel: LessonPanel, name: str) -> list[float]:
    (line,) = [line for line in panel.lines if line.name == name]
    return [value for _, value in line.points]


def test_one_seed_is_one_lesson() -> None:
    assert gradients_lesson(ALL, [1.0, 2.0], 1.0, SMALL) == gradients_lesson(ALL, [1.0, 2.0], 1.0, SMALL)


def test_a_logistic_cell_has_a_quarter_of_the_bound() -> None:
    panel = by_cell(["logistic"], SMALL)
    assert [line.name for line in panel.lines] == ["logistic", "logistic, bound"]
    norm = torch.linalg.matrix_norm(weights_of(build_cell("logistic", SMALL)).of_state.detach(), ord=2)
    line, bound = panel.lines
    assert bound.points[2][1] == pytest.approx(float(norm / 4) ** 2)
    assert all(y <= top * (1 + 1e-9) for (_, y), (_, top) in zip(line.points, bound.points, strict=True))
    assert f"max σ′ = ¼ and ¼‖U‖ = {norm / 4:.2f}." in panel.caption
    assert "tanh" not in panel.caption


def test_the_gate_of_the_other_gru_keeps_as_told() -> None:
    experiment = replace(SMALL, keep=float(torch.log(torch.tensor(3.0))), input_scale=0.0)
    _, gates = unroll(build_cell("gru-reset-first", experiment), draw_inputs(experiment)[None])
    assert gates.update[0, 0].tolist() == pytest.approx([0.75] * 5)


@pytest.mark.parametrize(
    ("name", "value"),
    [("width", 6), ("seed", 2), ("gain", 0.7), ("orthogonal", True), ("keep", 3.0), ("input_scale", 0.1)],
)
def test_every_knob_changes_something(name: str, value: Any) -> None:
    changed = by_cell(ALL, replace(SMALL, **{name: value}))
    assert values(changed, "GRU") != values(by_cell(ALL, SMALL), "GRU")


def test_length_is_the_number_of_steps() -> None:
    assert len(values(by_cell(["gru"], SMALL), "GRU")) == 8 + 1
    assert len(values(by_cell(["gru"], replace(SMALL, length=12)), "GRU")) == 12 + 1


def test_cells_are_chosen_and_named() -> None:
    assert [line.name for line in by_cell(["lstm", "vanilla"], SMALL).lines] == [
        "LSTM, h and c",
        "LSTM, h alone",
        "vanilla",
        "vanilla, bound",
    ]


def test_orthogonal_u_times_a_gain_has_the_gain_for_its_norm() -> None:
    for kind in ALL:
        weights = weights_of(build_cell(kind, replace(SMALL, orthogonal=True, gain=1.7)))
        for block in weights.of_state.chunk(len(weights.of_state) // 5):
            torch.testing.assert_close(block.mT @ block, 1.7**2 * torch.eye(5, dtype=torch.float64))


def test_the_gates_that_keep_begin_as_told() -> None:
    """σ(log 3) = 3/4: a cell with zero inputs keeps 3/4 at the first step."""
    experiment = replace(SMALL, keep=float(torch.log(torch.tensor(3.0))), input_scale=0.0)
    inputs = draw_inputs(experiment)[None]
    _, lstm = unroll(build_cell("lstm", experiment), inputs)
    _, gru = unroll(build_cell("gru", experiment), inputs)
    assert lstm.forget[0, 0].tolist() == pytest.approx([0.75] * 5)
    assert gru.update[0, 0].tolist() == pytest.approx([0.75] * 5)
    assert lstm.input[0, 0].tolist() == pytest.approx([0.5] * 5)


def test_no_line_rises_above_its_bound_and_a_gain_under_one_vanishes() -> None:
    panel = by_gain([0.5, 2.0], replace(SMALL, length=30))
    for line, bound in zip(panel.lines[0::2], panel.lines[1::2], strict=True):
        assert bound.style == "dashed"
        assert all(y <= top * (1 + 1e-9) for (_, y), (_, top) in zip(line.points, bound.points, strict=True))
    assert panel.lines[0].points[-1][1] <= 0.5**30


def test_a_clipped_gradient_is_as_it_was_or_as_long_as_told() -> None:
    panel = by_length([0.5, 4.0], 0.7, replace(SMALL, length=20, input_scale=0.1))
    for whole, short in zip(panel.lines[0::2], panel.lines[1::2], strict=True):
        for (_, before), (_, after) in zip(whole.points, short.points, strict=True):
            assert after == pytest.approx(min(before, 0.7))
    assert max(value for _, value in panel.lines[2].points) > 0.7


def test_the_gradient_of_the_loss_is_autograds() -> None:
    cell, inputs = build_cell("vanilla", SMALL), draw_inputs(SMALL)[None]
    targets = torch.linspace(-1, 1, 5, dtype=torch.float64)
    hidden = cell(inputs)[0]
    loss = ((hidden[0, -1] - targets) ** 2).mean() / 2
    weights = weights_of(cell)
    expected = torch.autograd.grad(loss, [weights.of_input, weights.of_state, weights.input_bias])
    torch.testing.assert_close(last_step_gradients(inputs, hidden, targets, weights), list(expected))


def test_the_caption_tells_the_last_values_and_the_norm_of_u() -> None:
    panel = by_cell(ALL, SMALL)
    assert f"{in_tens(values(panel, 'GRU')[-1])} (GRU)" in panel.caption
    norm = torch.linalg.matrix_norm(weights_of(build_cell("vanilla", SMALL)).of_state, ord=2)
    assert f"‖U‖ = {norm:.2f}" in panel.caption
    assert "bound" not in by_cell(["gru"], SMALL).caption


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.0, "0"), (1.0, "1"), (0.254, "0.25"), (31.2, "31"), (3.6e-14, "4·10⁻¹⁴"), (123456.0, "1·10⁵")],
)
def test_numbers_as_people_write_them(value: float, text: str) -> None:
    assert in_tens(value) == text


@pytest.mark.parametrize(
    ("options", "names"),
    [
        ({"cell": "gru"}, ["forward", "backward"]),
        ({"cell": "vanilla", "bidirectional": False}, ["forward", "forward, bound"]),
        (
            {"cell": "lstm", "bidirectional": False, "encoder_layers": 2},
            [f"layer {n}, forward, {part}" for n in (1, 2) for part in ("h and c", "h alone")],
        ),
    ],
)
def test_a_trained_encoder_has_lines_for_its_layers_and_directions(
    tmp_path: Path, options: dict[str, Any], names: list[str]
) -> None:
    lesson = trained_lesson(untrained(tmp_path, **options), "Ana reads a book.")
    (panel,) = lesson.panels
    assert [line.name for line in panel.lines] == names
    assert {len(line.points) for line in panel.lines} == {len(["Ana", "reads", "a", "book", ".", "end"]) + 1}
    assert "Ana reads a book." in lesson.title


def test_a_transformer_has_nothing_to_go_back_through(tmp_path: Path) -> None:
    with pytest.raises(Fault, match="transformer has no recurrent layers; `regard show gradients --model` needs a"):
        trained_lesson(untrained(tmp_path, "transformer"), "Ana reads.")


def test_the_bound_of_every_layer_is_told(tmp_path: Path) -> None:
    """The weights start orthogonal, so the norm of every U is one."""
    (panel,) = trained_lesson(untrained(tmp_path, cell="vanilla"), "Ana reads.").panels
    assert "‖U‖ = 1.00 (forward), 1.00 (backward)" in panel.caption


def test_with_one_delay_the_norms_are_those_of_the_vanilla_cell() -> None:
    cell, layer = build_cell("vanilla", SMALL), Delays(5, 5, [1]).double()
    weights = weights_of(cell)
    with torch.no_grad():
        layer.of_input.copy_(weights.of_input)
        layer.of_states[0].copy_(weights.of_state)
    line, _ = fading(cell, draw_inputs(SMALL), "", 0)
    linked = fading_linked(layer, draw_inputs(SMALL), "", 0)
    assert linked.points == [(step, pytest.approx(value)) for step, value in line.points]


def test_slow_modules_and_delays_carry_a_gradient_further_than_a_vanilla_cell() -> None:
    panel = by_cell(["vanilla", "clockwork", "delays"], replace(SMALL, length=30, width=8))
    assert values(panel, "clockwork")[-1] >= 1  # the slowest module has not had its second turn
    assert values(panel, "delays")[-1] > 100 * values(panel, "vanilla")[-1]


@pytest.mark.parametrize("kind", ["clockwork", "delays"])
def test_knobs_of_cells_that_reach_further(kind: str) -> None:
    """Delays share the gain: a hundredth of it leaves a hundredth of the path over one step."""
    whole, small = (build_linked(kind, replace(SMALL, gain=gain)) for gain in (1.0, 0.01))
    torch.testing.assert_close(whole.of_states * 0.01, small.of_states)
    straight = build_linked(kind, replace(SMALL, orthogonal=True))
    assert not torch.equal(straight.of_states, whole.of_states)
