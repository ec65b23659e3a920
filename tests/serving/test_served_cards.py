"""Model cards on the server: the text of `regard card`, as a page and as a file, without any place of the machine."""

import shutil
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import httpx2 as httpx
import pytest
from loopback import on_loopback
from oracles import Oracle
from toy import make_recurrent

from regard.cli import main
from regard.serving import cards
from regard.serving.app import app_of, make_app
from regard.serving.options import ServingOptions

HOSTILE = "a|b <script>alert(1)</script> [y](javascript:z)"


class Tags(HTMLParser):
    """The names of a page's elements, and its text outside of scripts."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.names, self.text, self._open = list[str](), "", ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.names.append(tag)
        self._open = tag

    def handle_endtag(self, tag: str) -> None:
        self._open = ""

    def handle_data(self, data: str) -> None:
        self.text += "" if self._open == "script" else data


def written(folder: Path, capsys: pytest.CaptureFixture[str]) -> str:
    capsys.readouterr()
    assert main(["card", str(folder)]) == 0
    return capsys.readouterr().out


def test_the_file_is_what_the_command_writes(
    client: httpx.Client, forth: Path, back: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    described = client.get("/v1/models").json()["models"]
    assert [model["card"] for model in described] == ["card?model=forth", "card?model=back"]
    for folder in (forth, back):
        answer = client.get("/card.md", params={"model": folder.name})
        assert answer.headers["content-type"] == "text/markdown; charset=utf-8"
        assert answer.text == written(folder, capsys)
    assert client.get("/card.md").text == client.get("/card.md?model=forth").text


def test_a_loaded_model_is_not_loaded_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A recurrent translator cannot be described from its files alone."""
    folder = make_recurrent(tmp_path / "luong", "luong")
    expected = written(folder, capsys)
    with on_loopback(make_app([folder])) as address:
        monkeypatch.setattr("regard.verbs.opening.model_in", lambda folder: pytest.fail("it was loaded again"))
        assert httpx.get(f"{address}/card.md").text == expected


def test_the_page_shows_the_card_and_no_place_of_the_machine(client: httpx.Client, forth: Path) -> None:
    answer = client.get("/card", params={"model": "forth"})
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    page = Tags(answer.text)
    assert {"h1", "h2", "table", "pre", "code", "ul", "details"} <= {*page.names}
    assert page.names.count("script") == 2  # the page's own and its texts
    for words in ("What it is", "weights.safetensors", "library_name: ", "The folder states no licence"):
        assert words in page.text
    for place in (forth, forth.parent, Path.cwd(), Path.home()):
        assert str(place) not in answer.text
    again = client.get("/card", params={"model": "forth"}, headers={"If-None-Match": answer.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")


def test_the_name_of_a_stranger_stays_text(forth: Path, tmp_path: Path) -> None:
    folder = tmp_path / HOSTILE.replace("/", "∕")
    shutil.copytree(forth, folder)
    with on_loopback(make_app([folder])) as address:
        (model,) = httpx.get(f"{address}/v1/models").json()["models"]
        answer = httpx.get(f"{address}/{model['card']}")
    page = Tags(answer.text)
    assert page.names.count("script") == 2
    assert "a" not in page.names[page.names.index("main") :]
    assert folder.name in page.text


def test_a_card_is_made_once(forth: Path, back: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made, gather = list[str](), cards.gather
    monkeypatch.setattr(cards, "gather", lambda folder, *more: made.append(folder.name) or gather(folder, *more))
    with on_loopback(make_app([forth, back])) as address:
        for place in ("card", "card.md", "card?model=back", "card.md?model=back", "card"):
            assert httpx.get(f"{address}/{place}").status_code == 200
    assert made == ["forth", "back"]


def test_what_has_no_card_is_refused_in_words(client: httpx.Client) -> None:
    answer = client.get("/card?model=nobody")
    assert (answer.status_code, answer.json()["error"]) == (
        400,
        "There is no model 'nobody' here; there are forth, back.",
    )
    with on_loopback(app_of([Oracle("delphi")])) as address:
        answer = httpx.get(f"{address}/card")
        assert httpx.get(f"{address}/v1/models").json()["models"][0]["card"] is None
    assert (answer.status_code, answer.json()["error"]) == (
        404,
        "The model delphi has no card: it does not come from a folder.",
    )


def test_a_folder_that_has_changed_is_not_named(forth: Path, tmp_path: Path) -> None:
    folder = tmp_path / "secret" / "model"
    shutil.copytree(forth, folder)
    with on_loopback(make_app([folder])) as address:
        folder.rename(tmp_path / "elsewhere")
        answer = httpx.get(f"{address}/card")
        (tmp_path / "elsewhere").rename(folder)
        assert httpx.get(f"{address}/card").status_code == 200
    assert (answer.status_code, answer.json()["error"]) == (
        503,
        "The model model has no card now: its folder has changed since the server started.",
    )


def test_a_card_needs_no_key(forth: Path) -> None:
    options = ServingOptions.model_validate({"access": {"key": "a long secret"}})
    with on_loopback(make_app([forth], options)) as address:
        assert httpx.get(f"{address}/card").status_code == 200
        assert httpx.post(f"{address}/v1/forward", json={"text": "Ana"}).status_code == 400
