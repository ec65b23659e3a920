"""The page: its contents, its safety for any input, and refusals."""

import base64
import hashlib
import json
import re
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from regard.base.faults import Fault
from regard.viewing import page
from regard.viewing.choices import place_data
from regard.viewing.matrix import entropy
from regard.viewing.page import SCRIPT, STYLES, PageScene, Start, fits, scene_data, scene_page
from regard.viewing.sealed import seal
from regard.viewing.seen import Block, Seen

sys.path.insert(0, str(Path(__file__).parent))
from next_tokens import choices
from pages import HOSTILE, Reader
from trees import small_tree


def one_side(words: list[str], weights: np.ndarray, side: str = "cross") -> Seen:
    return Seen(side, "", words, words, [Block("decoder.0.cross.look", weights)])


def scene(words: list[str] | None = None, **more: Any) -> PageScene:
    words = words or ["I", "see"]
    heads = np.stack([np.eye(len(words)), np.full((len(words), len(words)), 1 / len(words))])
    return PageScene("I see", "Eu vejo", [one_side(words, heads)], **more)


def page_of(show_word: PageScene) -> str:
    return seal(SCRIPT, STYLES, scene_data(show_word))


def data_of(text: str) -> dict[str, Any]:
    (data,) = re.findall(r'<script type="application/json" id="data">(.*?)</script>', text)
    return json.loads(data)


def test_the_page_holds_the_weights_to_four_digits() -> None:
    weights = np.array([[[1 / 3, 2 / 3], [0.99996, 0.00004]]])
    side = data_of(page_of(PageScene("a", "b", [one_side(["x", "y"], weights)])))["modes"]["words"]["cross"]
    assert side["blocks"][0]["heads"] == [[3333, 6667, 10000, 0]]
    assert (side["rows"], side["columns"], side["usual"]) == (["x", "y"], ["x", "y"], 1)
    assert side["blocks"][0]["where"] == "decoder.0.cross.look"


def test_the_page_has_every_side_and_what_to_show_first() -> None:
    words = [one_side(["a"], np.ones((3, 1, 1)), side) for side in ("cross", "encoder")]
    tokens = [one_side(["▁", "a"], np.ones((1, 2, 2)) / 2)]
    start = Start("encoder", 2, "max", "tokens")
    data = data_of(page_of(PageScene("a", "b", words, tokens, ("en", "pt"), start)))
    assert {mode: list(sides) for mode, sides in data["modes"].items()} == {
        "words": ["cross", "encoder"],
        "tokens": ["cross"],
    }
    assert data["start"] == {"side": "encoder", "layer": 2, "head": "max", "mode": "tokens"}
    assert (data["source"]["language"], data["target"]["language"]) == ("en", "pt")


def test_languages_that_nobody_named_are_not_claimed() -> None:
    data = data_of(page_of(scene(languages=("src", "tgt"))))
    assert (data["source"]["language"], data["target"]["language"]) == ("", "")


def test_the_entropy_of_each_head_goes_along() -> None:
    (block,) = data_of(page_of(scene()))["modes"]["words"]["cross"]["blocks"]
    assert block["entropy"] == [0.0, round(float(np.log(2)), 3)]


@pytest.mark.parametrize(
    ("weights", "nats"),
    [([[1.0, 0.0]], 0.0), ([[0.5, 0.5]], np.log(2)), ([[1.0, 0.0], [0.5, 0.5]], np.log(2) / 2), ([[0.0, 0.0]], 0.0)],
)
def test_entropy_by_hand(weights: list[list[float]], nats: float) -> None:
    assert entropy(np.array(weights)) == pytest.approx(nats)


def test_no_text_can_become_markup() -> None:
    typed = scene([HOSTILE, "b"])
    text = page_of(PageScene(HOSTILE, HOSTILE, typed.words))
    plain, reader = Reader(page_of(scene())), Reader(text)
    assert [tag for tag, _ in reader.tags] == [tag for tag, _ in plain.tags]
    assert reader.parts("style") == plain.parts("style")
    for data in [part for part in reader.parts("script") if part.startswith("{")]:
        assert not set("<>&\u2028\u2029") & set(data)
        assert data.isascii()
    assert data_of(text)["modes"]["words"]["cross"]["rows"][0] == HOSTILE.replace("\u2028", "\\u2028").replace(
        "\u2029", "\\u2029"
    )


@pytest.mark.parametrize("word", ["não", "вижу", "البيت", "房子", "👩‍🚀", "e\u0301", "\udcff", "\x00", ""])
def test_any_word_comes_through(word: str, tmp_path: Path) -> None:
    from regard.viewing.canvas import show_word

    scene_page(scene([word, "b"])).write(tmp_path / "page.html")
    text = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert data_of(text)["modes"]["words"]["cross"]["columns"][0] == show_word(word)


def test_the_policy_allows_the_pages_own_parts_and_nothing_else() -> None:
    reader = Reader(page_of(scene()))
    (policy,) = [attributes["content"] for tag, attributes in reader.tags if "http-equiv" in attributes]
    rules = dict(rule.split(" ", 1) for rule in policy.split("; "))
    (style,) = reader.parts("style")
    (script,) = [part for part in reader.parts("script") if not part.startswith("{")]

    def checksum(part: str) -> str:
        return f"'sha256-{base64.b64encode(hashlib.sha256(part.encode()).digest()).decode()}'"

    assert rules["default-src"] == "'none'"
    assert rules["style-src"] == checksum(style)
    assert rules["script-src"] == checksum(script)
    assert "unsafe" not in policy


def test_the_page_refers_to_nothing_outside_itself() -> None:
    text = page_of(scene())
    addresses = {
        value for _, attributes in Reader(text).tags for name, value in attributes.items() if name in ("src", "href")
    }
    assert addresses == {"data:,"}
    assert set(re.findall(r"https?://[^\"'\s]+", text)) == {"http://www.w3.org/2000/svg"}  # a name, not an address
    assert not re.search(r"url\(|@import|innerHTML|insertAdjacentHTML|document\.write|eval\(", text)


def test_the_same_scene_is_the_same_page() -> None:
    assert page_of(scene()) == page_of(scene())


def test_too_many_weights_are_refused_with_the_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page, "MOST_WEIGHTS", 7)
    assert not fits(scene().words)
    with pytest.raises(Fault, match=r"would hold 8 weights, but the limit is 7; give shorter sentences"):
        scene_page(scene()).write(tmp_path / "page.html")
    assert list(tmp_path.iterdir()) == []
    monkeypatch.setattr(page, "MOST_WEIGHTS", 8)
    assert fits(scene().words)


def test_a_page_is_html(tmp_path: Path) -> None:
    with pytest.raises(Fault, match=r"page.txt does not end in \.html"):
        scene_page(scene()).write(tmp_path / "page.txt")


def test_the_page_has_what_else_could_be_written_and_the_beam_if_they_are_given() -> None:
    show_word = scene(written=["▁Eu", "</s>"], choices=[choices(), choices(taken=None)], tree=small_tree())
    data = data_of(page_of(show_word))
    assert data["next"]["tokens"] == ["▁Eu", "</s>"]
    first, second = data["next"]["places"]
    assert (first["tokens"], first["taken"], second["taken"]) == (["▁a", "▁o", "▁um"], 1, None)
    assert np.exp(first["log_probabilities"]) == pytest.approx([0.4, 0.3, 0.2, 0.06, 0.04], rel=1e-5)
    assert first["rest"] == {"count": 0, "probability": 0.0}
    assert data["beam"]["outputs"] == [6, 7]
    assert not {"next", "beam"} & set(data_of(page_of(scene())))


def test_tokens_beyond_the_likeliest_go_along_together() -> None:
    place = place_data(choices(), kept=3)
    assert len(place["log_probabilities"]) == 3
    assert place["rest"] == {"count": 2, "probability": pytest.approx(0.1)}
