"""Word maps: names that cover nothing, pictures, page data, and the choice of words."""

import json
from pathlib import Path

import numpy as np
import pytest
from word_maps import compass

from regard.base.faults import Fault
from regard.base.progress import ignore_remark, silent
from regard.cli import main
from regard.data.vectors.word_vectors import WordVectors
from regard.verbs.words.lexicon import Lexicon
from regard.verbs.words.maps import map_words
from regard.verbs.words.request import MapRequest
from regard.viewing.word_map import draw_map, map_data, map_page, place_labels, to_json

BOUNDS = (0.0, 0.0, 10.0, 10.0)


def test_a_name_stands_to_the_right_of_its_point_or_where_there_is_room():
    points, sizes = np.array([[5.0, 5.0], [9.0, 5.0]]), np.array([[2.0, 1.0], [2.0, 1.0]])
    assert place_labels(points, sizes, 0.5, BOUNDS) == [(5.5, 4.5), (8.0, 5.5)]  # left would overlap the first name
    assert place_labels(points[1:], sizes[1:], 0.5, BOUNDS) == [(6.5, 4.5)]


def test_names_cover_neither_each_other_nor_points_and_what_has_no_room_is_left_out():
    random = np.random.default_rng(4)
    points, sizes = random.random((60, 2)) * 10, np.tile([1.5, 0.4], (60, 1))
    corners = place_labels(points, sizes, 0.1, BOUNDS)
    placed = [(number, np.array(corner)) for number, corner in enumerate(corners) if corner is not None]
    assert 10 < len(placed) < 60
    for number, corner in placed:
        end = corner + sizes[number]
        assert (corner >= 0).all()
        assert (end <= 10).all()
        assert not ((points > corner) & (points < end)).all(axis=1).any()
        for other, start in placed:
            meets = (corner < start + sizes[other]).all() and (start < end).all()
            assert meets == (other == number)


def test_places_are_fitted_into_a_square():
    fitted = compass().fitted()
    np.testing.assert_allclose(fitted[:3], [[0, 0], [0, 1], [1, 0]])
    np.testing.assert_allclose(fitted[5], [2.5 / 3, 2.5 / 3])


def test_the_page_takes_numbers_and_json_takes_words():
    data, numbers = map_data(compass()), to_json(compass())
    assert data["words"][0] == {"word": "centro", "place": [0, 0], "group": 0, "near": [[1, 0.9], [2, -0.25]]}
    expected = {"word": "leste", "place": [3, 0], "group": "leste", "neighbours": [["centro", 0.5]]}
    assert numbers["words"][2] == expected
    assert numbers["words"][5]["group"] is None


def test_pictures_and_pages_are_written(tmp_path: Path):
    assert draw_map(compass(), tmp_path / "map.svg") == set()
    text = (tmp_path / "map.svg").read_text(encoding="utf-8")
    for word in ("centro", "norte", "Çédille", "6 words of a compass", compass().method):
        assert f">{word}</text>" in text
    draw_map(compass(), tmp_path / "again.svg")
    assert (tmp_path / "again.svg").read_text(encoding="utf-8") == text
    map_page(compass()).write(tmp_path / "map.html")
    assert "6 words of a compass" in (tmp_path / "map.html").read_text(encoding="utf-8")


def lexicon() -> Lexicon:
    random = np.random.default_rng(1)
    directions = np.repeat(np.eye(3, 8), 5, axis=0) + 0.1 * random.standard_normal((15, 8))
    words = [f"{animal}{number}" for animal in ("gato", "rei", "cor") for number in range(5)]
    return Lexicon("small.vec", WordVectors(words, directions.astype(np.float32)))


def test_words_are_mapped_with_their_neighbours():
    record = map_words(lexicon(), MapRequest(words=["rei0", "cor0"], around=3), silent, ignore_remark)
    assert record.title == "8 words of small.vec"
    assert list(record.words[:2]) == list(record.centres) == ["rei0", "cor0"]
    assert {word[:3] for word, group in zip(record.words, record.groups, strict=True) if group == 0} == {"rei"}
    assert [record.words[number][:3] for number, _ in record.near[0][:3]] == ["rei"] * 3
    assert "principal components, which keep" in record.method
    alone = map_words(lexicon(), MapRequest(words=["rei0", "cor0"], around=0), silent, ignore_remark)
    assert list(alone.words) == ["rei0", "cor0"]


def test_without_words_the_most_frequent_are_mapped():
    record = map_words(lexicon(), MapRequest(count=6, method="t-sne"), silent, ignore_remark)
    assert list(record.words) == ["gato0", "gato1", "gato2", "gato3", "gato4", "rei0"]
    assert set(record.groups) == {-1}
    assert record.method.startswith("t-SNE")
    with pytest.raises(Fault, match=r"'reis0' is not among the 15 of small\.vec; did you mean 'rei0'"):
        map_words(lexicon(), MapRequest(words=["reis0"]), silent, ignore_remark)


def test_the_command_writes_what_the_suffix_asks_for(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    vectors, out = tmp_path / "small.vec", tmp_path / "map.json"
    vectors.write_text("4 2\na 1 0\nb 0 1\nc 1 1\nd 0 -1\n")
    assert main(["map", str(vectors), "-o", str(out)]) == 0
    assert [row["word"] for row in json.loads(out.read_text())["words"]] == ["a", "b", "c", "d"]
    assert main(["map", str(vectors), "a", "--around", "1", "-o", str(tmp_path / "map.html")]) == 0
    assert (tmp_path / "map.html").exists()
    capsys.readouterr()
    for arguments, sentence in (
        (["-o", str(out)], "exists already; give --overwrite"),
        (["-o", "map.pdf"], "map.pdf does not end in .png, .svg, .html or .json"),
        (["a", "--count", "3", "-o", "map.png"], "with your own words, give --around"),
        (["--around", "3", "-o", "map.png"], "name the words"),
    ):
        assert main(["map", str(vectors), *arguments]) == 2
        assert sentence in capsys.readouterr().err
