"""Tables of positions compared with the formulas."""

import math
from pathlib import Path

import numpy as np
import pytest
from untrained import untrained

from regard.base.faults import Fault
from regard.seeing.lessons.positions import encodings, learnt_lesson, learnt_positions
from regard.viewing.tables import NumberTable


def test_sinusoids_and_how_alike_they_are() -> None:
    tables = encodings("sinusoidal", 5, 4, heads=1)
    assert list(tables) == ["sinusoidal", "dot product of sinusoids"]
    assert tables["sinusoidal"][3].tolist() == pytest.approx([math.sin(3), math.cos(3), math.sin(0.03), math.cos(0.03)])
    alike = tables["dot product of sinusoids"]
    assert alike[1, 4] == pytest.approx(math.cos(3) + math.cos(0.03), abs=1e-6)
    np.testing.assert_allclose(np.diag(alike), 2, rtol=1e-6)


def test_rotary_angles_are_the_place_times_the_frequency_less_full_turns() -> None:
    angles = encodings("rotary", 8, 4, heads=1)["rotary"]
    places = np.arange(8)
    np.testing.assert_allclose(angles[:, 0], places % (2 * math.pi), atol=1e-5)
    np.testing.assert_allclose(angles[:, 1], places * 0.01, atol=1e-5)


def test_alibi_takes_off_a_slope_for_every_step_between() -> None:
    bias = encodings("alibi", 4, 2, heads=2)["ALiBi"]
    assert bias.shape == (2, 4, 4)
    assert bias[:, 0, 3].tolist() == pytest.approx([-3 / 16, -3 / 256])


def test_all_of_them_at_any_size() -> None:
    tables = encodings(None, 6, 10, heads=3)
    shapes = {name: table.shape for name, table in tables.items()}
    assert shapes == {
        "sinusoidal": (6, 10), "dot product of sinusoids": (6, 6), "rotary": (6, 5), "ALiBi": (3, 6, 6),
    }  # fmt: skip


def test_learnt_positions_are_compared_with_sinusoids(tmp_path: Path) -> None:
    model = untrained(tmp_path / "m", "transformer", positions="learned")
    table = model.task.model.source_places.places.weight.detach().double().numpy()
    learnt, products, by_distance, *_ = learnt_lesson(model, 6).tables
    assert isinstance(learnt, NumberTable)
    lengths = np.linalg.norm(table[:6], axis=1)
    np.testing.assert_allclose(learnt.values, table[:6] @ table[:6].T / np.outer(lengths, lengths), rtol=1e-9)
    assert isinstance(products, NumberTable)
    # A pair of coordinates is a point on a circle: the cosine of places is the mean of cos(distance · frequency).
    angles = np.array([10_000 ** (-pair / 8) for pair in range(0, 8, 2)])
    expected = [[np.cos((row - column) * angles).mean() for column in range(6)] for row in range(6)]
    np.testing.assert_allclose(products.values, expected, atol=1e-6)
    assert isinstance(by_distance, NumberTable)
    assert list(by_distance.columns) == ["at 1", "at 2", "at 3", "at 4"]
    np.testing.assert_allclose(by_distance.values[0, 0], np.mean([learnt.values[n, n + 1] for n in range(5)]))


def test_a_model_without_learnt_positions_is_refused(tmp_path: Path) -> None:
    with pytest.raises(Fault, match="has learnt no positions"):
        learnt_positions(untrained(tmp_path / "m", "transformer"))
