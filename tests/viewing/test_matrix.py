"""Matrices as pictures and as numbers."""

import json
import re
import struct
import sys
from pathlib import Path
from subprocess import run

import numpy as np
import pytest

from regard.base.faults import Fault
from regard.viewing.canvas import runs_leftwards, show_token, show_word
from regard.viewing.matrix import Matrix, draw_matrix, draw_sheet, missing_glyphs, to_json

ROWS = ["Eu", "vejo", "a", "casa", "vermelha", "."]
COLUMNS = ["I", "see", "the", "red", "house", "."]
CROSSING = [0, 1, 2, 4, 3, 5]


def crossing(title="crossing", strength=0.9):
    weights = np.full((6, 6), (1 - strength) / 5, dtype=np.float32)
    weights[range(6), CROSSING] = strength
    return Matrix(title, ROWS, COLUMNS, weights)


def square(size):
    return Matrix("square", [f"row{n}" for n in range(size)], [f"column{n}" for n in range(size)], np.eye(size))


def png_size(path: Path) -> tuple[int, int]:
    content = path.read_bytes()
    assert content[:8] == b"\x89PNG\r\n\x1a\n"
    return struct.unpack(">II", content[16:24])


def svg_texts(path: Path) -> list[str]:
    return re.findall(r"<text[^>]*>([^<]*)</text>", path.read_text(encoding="utf-8"))


def test_words_and_weights_must_fit_each_other():
    with pytest.raises(ValueError, match=r"weights of shape \(2, 3\) do not fit 2 rows and 2 columns"):
        Matrix("", ["a", "b"], ["c", "d"], np.zeros((2, 3)))
    with pytest.raises(ValueError, match="without rows or without columns"):
        Matrix("", [], ["c"], np.zeros((0, 1)))


def test_the_json_has_every_number_as_it_is():
    matrix = crossing()
    (read,) = json.loads(json.dumps(to_json([matrix])))["matrices"]
    assert (read["title"], read["rows"], read["columns"]) == ("crossing", ROWS, COLUMNS)
    assert np.array_equal(np.array(read["weights"], dtype=np.float32), matrix.weights)


def test_a_png_grows_with_its_words(tmp_path):
    draw_matrix(square(4), tmp_path / "small.png")
    draw_matrix(square(12), tmp_path / "large.PNG")
    small, large = png_size(tmp_path / "small.png"), png_size(tmp_path / "large.PNG")
    assert small[0] < large[0]
    assert small[1] < large[1]


def test_the_crossing_is_dark_where_it_should_be(tmp_path):
    """Read the picture back: the deep blue cells are where the words cross."""
    from matplotlib.image import imread

    draw_matrix(crossing(), tmp_path / "picture.png")
    picture = imread(tmp_path / "picture.png")
    picture = picture[:, : int(picture.shape[1] * 0.86)]  # without the scale at the right
    deep = (picture[:, :, 0] < 0.2) & (picture[:, :, 2] > 0.4)  # weight 0.9, but neither ink nor faint cells
    (top, left), (bottom, right) = np.argwhere(deep).min(axis=0), np.argwhere(deep).max(axis=0)
    cells = [
        np.array_split(line, 6, axis=1) for line in np.array_split(deep[top : bottom + 1, left : right + 1], 6, axis=0)
    ]
    assert [int(np.argmax([cell.mean() for cell in line])) for line in cells] == CROSSING


def test_an_svg_has_its_words_and_numbers_as_text(tmp_path):
    path = tmp_path / "picture.svg"
    assert draw_matrix(crossing("Слой 1"), path) == set()
    texts = svg_texts(path)
    for word in [*ROWS, *COLUMNS, "Слой 1"]:
        assert word in texts
    assert texts.count(".90") == 6
    assert ".02" not in texts  # too small to be worth a number


def test_large_matrices_have_no_numbers(tmp_path):
    draw_matrix(square(13), tmp_path / "picture.svg")
    assert not {"1.00", ".00"} & set(svg_texts(tmp_path / "picture.svg"))


def test_tokens_that_stand_for_no_letters_are_told_in_words() -> None:
    shown = {"</s>": "end of sentence", "<unk>": "unknown word", "▁": "space", "▁casa": "␣casa", "<0xC3>": "byte C3"}
    assert {token: show_token(token) for token in shown} == shown
    assert show_token("a<0xC3>") == "a<0xC3>"  # a word from user input


def test_dollars_are_money_and_angles_are_letters(tmp_path):
    matrix = Matrix("$5 & $6", ["$x$", "<b>"], ["\\frac", "a_b$"], np.eye(2))
    draw_matrix(matrix, tmp_path / "picture.svg")
    texts = svg_texts(tmp_path / "picture.svg")
    assert {"$5 &amp; $6", "$x$", "&lt;b&gt;", "\\frac", "a_b$"} <= set(texts)


@pytest.mark.parametrize(
    ("word", "seen"),
    [
        (" ", "␣"),
        ("", "␣"),
        ("a\nb", "a\\nb"),
        ("\x00", "\\x00"),
        ("\udcff", "\\udcff"),
        ("\u202eabc", "\\u202eabc"),  # would reverse the rest of a line
        ("👩\u200d🚀", "👩\u200d🚀"),
        ("não", "não"),
        ("本", "本"),
    ],
)
def test_what_cannot_be_seen_is_shown_as_a_sign(word, seen):
    assert show_word(word) == seen


def test_the_same_matrix_gives_the_same_file(tmp_path):
    for suffix in ("svg", "png"):
        draw_matrix(crossing(), tmp_path / f"one.{suffix}")
        draw_matrix(crossing(), tmp_path / f"two.{suffix}")
        assert (tmp_path / f"one.{suffix}").read_bytes() == (tmp_path / f"two.{suffix}").read_bytes()
    assert len(list(tmp_path.iterdir())) == 4  # and nothing else was left there


@pytest.mark.parametrize("draw", [draw_matrix, lambda matrix, path: draw_sheet([matrix], path)])
@pytest.mark.parametrize("name", ["picture.jpg", "picture"])
def test_other_kinds_of_pictures_are_refused(tmp_path, draw, name):
    with pytest.raises(Fault, match=rf"{name} does not end in \.png or \.svg"):
        draw(crossing(), tmp_path / name)
    assert list(tmp_path.iterdir()) == []


def test_a_glyph_no_font_has_is_named_and_no_warning(tmp_path):
    nowhere = "\U0001fbff\U00016f00"  # no font has the second
    assert missing_glyphs(["Eu não", "я вижу", "▁the"]) == set()
    matrix = Matrix(nowhere, ["a"], [nowhere], np.ones((1, 1)))
    assert "\U00016f00" in draw_matrix(matrix, tmp_path / "picture.png")


def test_what_only_joins_or_varies_others_is_no_missing_glyph():
    assert missing_glyphs(["❤\ufe0f", "a\u200db", "\u200fא"]) == set()


def test_a_very_long_word_is_written_smaller(tmp_path):
    long = "pneumonoultramicroscopicsilicovolcanoconiosis"
    draw_matrix(Matrix("", ["a", "b"], ["see", long], np.eye(2)), tmp_path / "picture.svg")
    labels = re.findall(r"font-size: ([\d.]+)px[^>]*>([^<]+)<", (tmp_path / "picture.svg").read_text())
    sizes = {word: float(size) for size, word in labels}
    assert sizes[long] == pytest.approx(0.65 * sizes["see"])


@pytest.mark.parametrize(
    ("words", "leftwards"),
    [(["I", "see"], False), (["أرى", "the"], True), (["<s>", "אני"], False), (["«", "1", "אני"], True), (["1"], False)],
)
def test_the_first_letter_says_which_way_a_sentence_runs(words, leftwards):
    assert runs_leftwards(words) is leftwards


def test_a_sheet_says_every_title_and_shared_words_once_a_line(tmp_path):
    matrices = [crossing(f"layer {layer}, head {head}") for layer in (1, 2) for head in (1, 2, 3)]
    draw_sheet(matrices, tmp_path / "sheet.svg", across=3)
    texts = svg_texts(tmp_path / "sheet.svg")
    assert all(matrix.title in texts for matrix in matrices)
    assert texts.count("vermelha") == 2  # left of each line
    assert texts.count("house") == 3  # under each column


def test_the_lines_of_a_sheet_may_differ_in_length(tmp_path):
    matrices = [crossing(title) for title in ("1.1", "2.1", "2.2", "2.3")]
    draw_sheet(matrices, tmp_path / "sheet.svg", across=[1, 3])
    texts = svg_texts(tmp_path / "sheet.svg")
    assert all(matrix.title in texts for matrix in matrices)
    assert texts.count("vermelha") == 2  # left of both lines
    assert texts.count("house") == 3  # under the second, which has every column


@pytest.mark.one_in(2)
@pytest.mark.parametrize(("size", "named"), [(96, True), (97, False)])
def test_a_sheet_of_whole_pages_has_no_words(tmp_path, size, named):
    draw_sheet([square(size)], tmp_path / "sheet.svg")
    assert ("row0" in svg_texts(tmp_path / "sheet.svg")) is named


def test_a_sheet_of_different_words_says_them_all(tmp_path):
    other = Matrix("other", ["Я"], ["I"], np.ones((1, 1)))
    draw_sheet([crossing(), other, crossing("last")], tmp_path / "sheet.svg", across=2)
    texts = svg_texts(tmp_path / "sheet.svg")
    assert texts.count("vermelha") == 2
    assert texts.count("Я") == 1
    with pytest.raises(ValueError, match="at least one"):
        draw_sheet([], tmp_path / "none.svg")


def test_matplotlib_waits_until_something_is_drawn():
    code = "import sys, regard.viewing.matrix, regard.viewing.curves; print('matplotlib' in sys.modules)"
    assert run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60).stdout == "False\n"
