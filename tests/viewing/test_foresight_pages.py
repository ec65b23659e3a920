"""Pages of the beam and the next token: their contents, their isolation, and refusals."""

import base64
import hashlib
import json
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from regard.base.faults import Fault
from regard.viewing import tree as tree_pages
from regard.viewing.choices import ChoicesStart, choices_page
from regard.viewing.tree import tree_page

sys.path.insert(0, str(Path(__file__).parent))
from next_tokens import choices
from pages import HOSTILE, Reader
from trees import small_tree


def tree_with(text: str, path: Path) -> None:
    tree_page(small_tree([text, "b", "c", "d", "e", "f"], source=text)).write(path)


def choices_with(text: str, path: Path) -> None:
    choices_page(choices(tokens=[text, "b", "c"], before=[text])).write(path)


PAGES: dict[str, Callable[[str, Path], None]] = {"tree": tree_with, "next": choices_with}


@pytest.fixture(params=PAGES)
def page(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[str], str]:
    """Return a page that shows a text in all its places."""

    def write(text: str) -> str:
        PAGES[request.param](text, tmp_path / "page.html")
        return (tmp_path / "page.html").read_text(encoding="utf-8")

    return write


def data_of(text: str) -> dict[str, Any]:
    (data,) = re.findall(r'<script type="application/json" id="data">(.*?)</script>', text)
    return json.loads(data)


def test_no_text_can_become_markup(page: Callable[[str], str]) -> None:
    plain, text = Reader(page("a")), page(HOSTILE)
    reader = Reader(text)
    assert [tag for tag, _ in reader.tags] == [tag for tag, _ in plain.tags]
    assert reader.parts("style") == plain.parts("style")
    for data in [part for part in reader.parts("script") if part.startswith("{")]:
        assert not set("<>&\u2028\u2029") & set(data)
        assert data.isascii()
    assert "</script><script>alert(1)" in json.dumps(data_of(text))


@pytest.mark.parametrize("text", ["não", "вижу", "البيت", "房子", "👩‍🚀", "e\u0301", "\udcff", "\x00", " "])
def test_any_text_comes_through(text: str, page: Callable[[str], str]) -> None:
    from regard.viewing.written import visible

    assert visible(text) in json.dumps(data_of(page(text)), ensure_ascii=False).replace("\\\\", "\\")


def test_the_policy_allows_the_pages_own_parts_and_nothing_else(page: Callable[[str], str]) -> None:
    reader = Reader(page("a"))
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


def test_the_page_refers_to_nothing_outside_itself(page: Callable[[str], str]) -> None:
    text = page("a")
    tags = Reader(text).tags
    addresses = {value for _, attributes in tags for name, value in attributes.items() if name in ("src", "href")}
    assert addresses == {"data:,"}
    assert set(re.findall(r"https?://[^\"'\s]+", text)) <= {"http://www.w3.org/2000/svg"}  # a name, not an address
    assert not re.search(r"url\(|@import|innerHTML|insertAdjacentHTML|document\.write|eval\(", text)


def test_the_same_is_the_same_page(page: Callable[[str], str]) -> None:
    assert page("a") == page("a")


# The tree


def test_the_page_has_the_whole_tree(tmp_path: Path) -> None:
    tree_page(small_tree(), ("en", "pt")).write(tmp_path / "tree.html")
    data = data_of((tmp_path / "tree.html").read_text(encoding="utf-8"))
    assert (data["source"], data["target"]) == (
        {"text": "x y", "language": "en"},
        {"text": "ad", "language": "pt"},
    )
    assert (data["width"], data["outputs"], data["leftwards"]) == (3, [6, 7], False)
    assert data["lanes"] == {
        "all": [0, 3, 1, 0, 2, 3, 0, 2, 3, 1],
        "outputs": [0, None, None, 0, 1, None, 0, 1, None, None],
    }
    assert data["nodes"][6] == {
        "token": "</s>",
        "parent": 3,
        "step": 3,
        "log_probability": -0.15,
        "total": -0.5,
        "score": -0.5,
        "rank": 1,
        "fate": "won",
        "text": "ad",
    }


def test_a_tree_from_the_right_says_so_and_unnamed_languages_are_not_claimed(tmp_path: Path) -> None:
    tree_page(small_tree("אבגדהו"), ("src", "tgt")).write(tmp_path / "tree.html")
    data = data_of((tmp_path / "tree.html").read_text(encoding="utf-8"))
    assert data["leftwards"] is True
    assert (data["source"]["language"], data["target"]["language"]) == ("", "")


def test_too_large_a_tree_is_refused_with_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tree_pages, "MOST_NODES", 9)
    with pytest.raises(Fault, match=r"would hold 10 hypotheses, but the limit is 9; .* or write a \.json"):
        tree_page(small_tree()).write(tmp_path / "tree.html")
    assert list(tmp_path.iterdir()) == []


# The next token


def test_the_page_has_the_whole_distribution_and_where_it_starts(tmp_path: Path) -> None:
    start = ChoicesStart({"top_k": 3}, [{"top_p": 0.9}], shown=2)
    choices_page(choices(), ("en", "pt"), start).write(tmp_path / "next.html")
    data = data_of((tmp_path / "next.html").read_text(encoding="utf-8"))
    assert np.exp(data["log_probabilities"]) == pytest.approx([0.4, 0.3, 0.2, 0.06, 0.04], rel=1e-5)
    assert (data["before"], data["tokens"], data["taken"]) == (["▁Eu", "▁vejo"], ["▁a", "▁o", "▁um"], 1)
    assert (data["start"], data["examples"], data["shown"]) == ({"top_k": 3}, [{"top_p": 0.9}], 2)


def test_what_the_model_never_writes_is_left_out(tmp_path: Path) -> None:
    from dataclasses import replace

    from regard.viewing.choices import Panel

    sure = replace(choices(), panels=[Panel("", "", {}, np.array([0.7, 0.3, 0.0]))], origins=[0])
    choices_page(sure).write(tmp_path / "next.html")
    data = data_of((tmp_path / "next.html").read_text(encoding="utf-8"))
    assert (len(data["log_probabilities"]), data["tokens"], data["shown"]) == (2, ["▁a", "▁o"], 2)


@pytest.mark.parametrize("write", PAGES.values(), ids=PAGES)
def test_a_page_is_html(write: Callable[[str, Path], None], tmp_path: Path) -> None:
    with pytest.raises(Fault, match=r"page.txt does not end in \.html"):
        write("a", tmp_path / "page.txt")
