"""One word in several contexts: its plane by hand, and the views."""

import json
from pathlib import Path

import numpy as np
import pytest
import torch

from regard.base.faults import Fault
from regard.cli import main
from regard.protocols import TextVectors
from regard.seeing.contexts import word_contexts
from regard.viewing.contexts import (
    ContextLayer,
    Occurrence,
    WordContexts,
    contexts_lines,
    contexts_page,
    contexts_to_json,
    draw_contexts,
)
from regard.viewing.planes import principal_plane
from regard.viewing.sides import Words

# Two pairs of points: far apart along (3, 4, 0), a little along (4, -3, 0).
VECTORS = np.array([[3, 4, 0], [3.8, 3.4, 0], [-3, -4, 0], [-3.8, -3.4, 0]])


def test_the_plane_has_the_directions_in_which_vectors_differ_most() -> None:
    plane = principal_plane(VECTORS + np.array([0, 0, 7]))
    expected = [[5, 0], [5.08, 0], [-5, 0], [-5.08, 0]]  # nearly: the axes turn a little towards the pairs' spread
    np.testing.assert_allclose(plane.points, expected, atol=0.6)
    np.testing.assert_allclose(np.linalg.norm(plane.points, axis=1), np.linalg.norm(VECTORS, axis=1))
    assert sum(plane.shares) == pytest.approx(1.0)
    assert plane.shares[0] > 0.98
    assert (plane.points.max(axis=0) >= -plane.points.min(axis=0)).all()


def test_vectors_on_a_line_have_no_second_axis_and_equal_ones_none() -> None:
    line = principal_plane(np.array([[1.0, 1], [2, 2], [3, 3]]))
    np.testing.assert_allclose(np.abs(line.points), [[2**0.5, 0], [0, 0], [2**0.5, 0]], atol=1e-12)
    assert line.shares == (pytest.approx(1.0), pytest.approx(0.0))
    same = np.tile(np.random.default_rng(0).normal(size=(1, 50)), (4, 1)).astype(np.float32)
    assert principal_plane(same).shares == (0.0, 0.0)
    assert principal_plane(np.ones((3, 1))).points.tolist() == [[0, 0]] * 3


def made() -> WordContexts:
    texts = ["the bank lends", "a bank lends money to all of the people here", "river bank", "the sandy bank ."]
    occurrences = [Occurrence(text.split(), text.split().index("bank"), number) for number, text in enumerate(texts)]
    return WordContexts("bank", occurrences, [ContextLayer.of(0, np.ones((4, 3))), ContextLayer.of(1, VECTORS)])


def test_who_is_most_alike_and_what_stands_around() -> None:
    contexts = made()
    assert contexts.layers[0].nearest is None
    assert contexts.layers[1].nearest == [1, 0, 3, 2]
    assert contexts.layers[1].cosines[0, 1] == pytest.approx((3 * 3.8 + 4 * 3.4) / (5 * np.hypot(3.8, 3.4)))
    assert contexts.line(1) == "a »bank« lends money to all of …"
    numbers = contexts_to_json(contexts)
    assert numbers["contexts"][2] == {"before": "river", "word": "bank", "after": "", "text": 2, "place": 1}
    assert numbers["layers"][1]["nearest"] == [1, 0, 3, 2]
    json.dumps(numbers, allow_nan=False)


def test_a_terminal_shows_the_contexts_the_plane_and_who_is_most_alike() -> None:
    lines = contexts_lines(made(), 70, colour=False)
    assert lines[:2] == ["'bank' in 4 contexts", "  1  the »bank« lends"]
    assert "layer 0: one vector for all" in lines
    assert "most similar by cosine: 1→2, 2→1, 3→4, 4→3" in lines
    plane = [line for line in lines if line.startswith("│")]
    assert all(any(str(number) in line for line in plane) for number in (1, 2, 3, 4))
    assert max(map(len, contexts_lines(made(), 30, colour=False))) <= 30


@pytest.mark.parametrize("suffix", [".png", ".svg"])
def test_a_picture_is_drawn(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"bank{suffix}"
    assert draw_contexts(made(), path) == set()
    assert path.stat().st_size > 1000
    if suffix == ".svg":
        assert "money to all of …" in path.read_text(encoding="utf-8")


def test_a_page_holds_all_that_it_needs(tmp_path: Path) -> None:
    contexts_page(made()).write(tmp_path / "bank.html")
    page = (tmp_path / "bank.html").read_text(encoding="utf-8")
    assert "layer 1 (100% of the variance)" in page
    assert "http" not in page.replace("http://www.w3.org/2000/svg", "").replace("http-equiv", "")


def embed(texts: list[str]) -> list[TextVectors]:
    """Give every word a vector of its place and the length of the text."""
    embeddings = []
    for words in map(str.split, texts):
        vectors = torch.tensor([[float(place), float(len(words)), 1.0] for place in range(len(words))])
        embeddings.append(
            TextVectors(Words(words, words, range(len(words))), {0: torch.ones_like(vectors), 1: vectors})
        )
    return embeddings


def test_every_place_of_a_word_is_found_in_either_case() -> None:
    contexts = word_contexts("bank", embed(["Bank on the bank", "no such word", "a BANK"]))
    assert [(occurrence.text, occurrence.place) for occurrence in contexts.occurrences] == [(0, 0), (0, 3), (2, 1)]
    assert [layer.is_one_point for layer in contexts.layers] == [True, False]


@pytest.mark.parametrize(
    ("texts", "sentence"),
    [
        (
            ["a dog"],
            "'bank' occurs at no place of the text as a whole word; give texts that have it at least 3 times",
        ),
        (["a bank", "banks"], "'bank' occurs at one place of the 2 texts"),
        (["bank " * 201], "'bank' occurs at 201 places of the texts; give at most 200"),
    ],
)
def test_too_few_places_or_too_many_are_refused(texts: list[str], sentence: str) -> None:
    with pytest.raises(Fault, match=sentence):
        word_contexts("bank", embed(texts))


def test_the_command_draws_a_word_of_a_translator(
    trained: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    texts = ["Ana reads the book.", "The boys see Ana.", "Ana sees Ana."]
    out = tmp_path / "ana.json"
    assert main(["look", str(trained), "--contexts", "ana", *texts, "-o", str(out)]) == 0
    report = json.loads(out.read_text(encoding="utf-8"))
    assert [context["text"] for context in report["contexts"]] == [0, 1, 2, 2]
    assert [layer["layer"] for layer in report["layers"]] == [0, 1]
    assert main(["look", str(trained), "--contexts", "Ana", "--beam", *texts]) == 2
    assert "--beam and --contexts are views of different things; give one of them." in capsys.readouterr().err
    assert main(["look", str(trained), "--contexts", "Ana", "--sheet", *texts]) == 2
    assert "--sheet chooses an attention; omit it with --contexts." in capsys.readouterr().err
