"""The next token: the remaining distribution as data, in the terminal and as a picture."""

import math
import re
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from rich.cells import cell_len

from regard.base.faults import Fault
from regard.viewing.choices import Choices, Panel, choices_lines, choices_to_json, draw_choices

sys.path.insert(0, str(Path(__file__).parent))
from next_tokens import choices


def spaced(lines: list[str]) -> list[str]:
    """Return lines with plain spaces before the percent signs."""
    return [line.replace("\u202f", " ") for line in lines]


def bare(line: str) -> str:
    return re.sub(r"\x1b\[[\d;]*m", "", line)


def texts_of(path: Path) -> list[str]:
    texts = re.findall(r"<text[^>]*>([^<]*)</text>", path.read_text(encoding="utf-8"))
    return [text.replace("\u202f", " ") for text in texts]


def test_a_panel_counts_what_is_left() -> None:
    full, three, two = choices().panels
    assert (full.kept, three.kept, two.kept) == (5, 3, 2)
    assert full.others(3) == pytest.approx(0.1)
    assert three.others(3) == 0
    assert two.entropy == pytest.approx(-(4 / 7 * math.log(4 / 7) + 3 / 7 * math.log(3 / 7)))
    assert Panel("", "", {}, np.array([1.0, 0.0])).entropy == 0
    assert (two.title, full.title) == ("then top-p 0.7", "the model's own")


def test_what_was_cut_is_cut_once() -> None:
    report = choices(tokens=["a", "b", "c"])
    assert [report.was_cut(2, token) for token in range(5)] == [False, False, True, False, False]
    assert [report.was_cut(1, token) for token in range(5)] == [False, False, False, True, True]


def test_the_numbers_are_as_they_were() -> None:
    result = choices_to_json(choices())
    assert (result["text"], result["before"], result["written"]) == ("I see", ["▁Eu", "▁vejo"], "Eu vejo")
    assert result["vocabulary"] == 5
    assert result["tokens"][1] == {"token": "▁o", "number": 8, "probability": 0.3, "taken": True}
    panel = result["panels"][2]
    assert (panel["title"], panel["options"], panel["kept"]) == ("then top-p 0.7", {"top_k": 3, "top_p": 0.7}, 2)
    assert panel["probabilities"] == pytest.approx([4 / 7, 3 / 7, 0])
    assert panel["others"] == 0
    assert result["panels"][0]["others"] == pytest.approx(0.1)


def test_choices_that_fit_nothing_are_refused() -> None:
    with pytest.raises(ValueError, match="a token and a panel"):
        choices(tokens=[])
    with pytest.raises(ValueError, match="after its origin"):
        replace(choices(), origins=[0, 2, 1])


# In the terminal


def test_a_table_by_hand() -> None:
    assert spaced(choices_lines(choices(), 80, colour=False)) == [
        "After ▁Eu ▁vejo",
        "                                 the model's own  top-k  then top-p",
        "                                                      3         0.7",
        "▁a             ██████▍                      40 %   44 %        57 %",
        "▁o ◂           ████▊                        30 %   33 %        43 %",
        "▁um            ███▎                         20 %   22 %         cut",
        "2 others       █▋                           10 %    0 %         0 %",
        "tokens left                                    5      3           2",
        "entropy, nats                               1.35   1.06        0.68",
        "◂ token of the model's best output",
    ]


def test_panels_that_do_not_fit_follow_and_bars_go_first() -> None:
    lines = spaced(choices_lines(choices(taken=None, before=[]), 42, colour=False))
    assert lines[:4] == [
        "At the beginning",
        "               the model's own  top-k",
        "                                    3",
        "▁a                        40 %   44 %",
    ]
    assert lines[9:12] == ["               then top-p", "                      0.7", "▁a                   57 %"]


def test_a_token_cut_earlier_is_not_cut_again() -> None:
    lines = choices_lines(replace(choices(), tokens=["a", "b", "c", "d"], numbers=[1, 2, 3, 4]), 80, colour=False)
    assert lines[6].split()[-2:] == ["cut", "–"]


@pytest.mark.parametrize("width", [20, 40, 60])
def test_no_line_is_wider_than_the_terminal(width: int) -> None:
    wide = choices(tokens=["Rindfleischetikettierung", "本" * 30, "c"], before=["▁palavra"] * 40)
    lines = choices_lines(wide, width, colour=False)[:-1]
    assert max(map(cell_len, lines)) <= max(width, 32)  # a name and a panel at least
    assert lines[0].startswith("…")


def test_colour_changes_no_letter() -> None:
    plain, coloured = (choices_lines(choices(), 80, colour) for colour in (False, True))
    assert [bare(line) for line in coloured] == plain
    assert "\x1b[1;36m▁o ◂" in coloured[4]
    assert "\x1b[2m       cut\x1b[0m" in coloured[5]


# As a picture


def test_an_svg_has_tokens_and_shares_as_text(tmp_path: Path) -> None:
    path = tmp_path / "next.svg"
    missing = draw_choices(choices(tokens=["não", "$5$", "本"], before=["<b>"]), path)
    assert missing <= {"本"}
    texts = texts_of(path)
    assert {"não", "$5$", "本", "2 others", "I see", "written so far: &lt;b&gt;"} <= set(texts)
    assert {"the model's own", "top-k 3", "then top-p 0.7", "40 %", "57 %", "cut"} <= set(texts)
    assert texts.count("cut") == 1
    assert "entropy 0.68 nats" in texts
    assert any("The outline is the panel before." in text for text in texts)


def test_side_by_side_the_outline_is_the_models_own(tmp_path: Path) -> None:
    path = tmp_path / "next.svg"
    draw_choices(replace(choices(taken=None), origins=[0, 0, 0]), path)
    assert "The outline is the probability of the model itself." in texts_of(path)


@pytest.mark.parametrize("count", [1, 100])
def test_any_number_of_tokens_makes_a_picture(count: int, tmp_path: Path) -> None:
    shares = np.full(100, 0.01)
    many = Choices("x", [], "", ["\n"] * count, range(count), [Panel("the model's own", "", {}, shares)], [0])
    assert draw_choices(many, tmp_path / "next.png") == set()
    assert (tmp_path / "next.png").read_bytes().startswith(b"\x89PNG")


def test_the_same_choices_are_the_same_file_and_other_kinds_are_refused(tmp_path: Path) -> None:
    for name in ("one.svg", "two.svg"):
        draw_choices(choices(), tmp_path / name)
    assert (tmp_path / "one.svg").read_bytes() == (tmp_path / "two.svg").read_bytes()
    with pytest.raises(Fault, match=r"does not end in \.png or \.svg"):
        draw_choices(choices(), tmp_path / "next.gif")
