"""Tables of positions compared with the formulas."""

import math

import numpy as np
import pytest

from regard.seeing.lessons.positions import encodings


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
