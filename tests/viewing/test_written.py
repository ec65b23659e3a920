"""Tokens and numbers as displayed."""

import pytest

from regard.viewing.written import holds_numbers, percent, signed_number, table_lines, visible


@pytest.mark.parametrize(
    ("piece", "seen"),
    [
        ("▁casa", "▁casa"),
        ("▁", "▁"),
        ("não", "não"),
        ("книга", "книга"),
        ("<0xC3>", "<0xC3>"),
        (" ", "␣"),
        ("", "␣"),
        ("\n", "\\n"),
        ("\x00a", "\\x00a"),
        ("\u3000", "\\u3000"),
        ("▁\u00a0", "▁\\xa0"),
        ("\u200b", "\\u200b"),
        ("\u202e", "\\u202e"),
        ("\u200d", "\\u200d"),  # joins nothing here
        ("👩\u200d🚀", "👩\u200d🚀"),  # and here it does
        ("\u0301", "◌\u0301"),
        ("e\u0301", "e\u0301"),
        ("\udcff", "\\udcff"),
    ],
)
def test_every_token_can_be_seen(piece: str, seen: str) -> None:
    assert visible(piece) == seen


@pytest.mark.parametrize(
    ("value", "text"), [(-1.234, "−1.23"), (0.0, "0.00"), (-0.001, "0.00"), (-0.0, "0.00"), (2.5, "2.50")]
)
def test_numbers_have_a_true_minus_and_zero_has_none(value: float, text: str) -> None:
    assert signed_number(value) == text


@pytest.mark.parametrize(
    ("probability", "text"),
    [(1.0, "100 %"), (0.625, "62 %"), (0.1, "10 %"), (0.0444, "4.4 %"), (0.001, "0.1 %"), (1e-9, "<0.1 %"), (0, "0 %")],
)
def test_probabilities_are_told_as_exactly_as_one_reads(probability: float, text: str) -> None:
    assert percent(probability).replace("\u202f", " ") == text


def test_headings_stand_above_numbers_of_any_sign() -> None:
    rows = [["› I", "−0.25", " 1.5", "+0.10"], ["  see", "0.75", "−∞", "–"]]
    assert table_lines(["", "a", "b", "c"], rows) == [
        "           a     b      c",
        "› I    −0.25   1.5  +0.10",
        "  see   0.75    −∞      –",
    ]


@pytest.mark.parametrize("cell", ["7", "−7", "-7", "+7", " 7", "› 7", "∞", "−∞", "<0.1 %", "–", "-", ""])
def test_a_cell_that_is_a_number_is_aligned_as_one(cell: str) -> None:
    assert holds_numbers([["1"], [cell]], 0)


@pytest.mark.parametrize("cell", ["a", "› a", "-a", "<s>", "−", "+", " −1.03   −0.36"])
def test_a_cell_that_is_no_number_is_not(cell: str) -> None:
    assert not holds_numbers([["1"], [cell]], 0)
