"""The page of `regard judge` in a real browser: voting by keys and buttons, going back, reloading, and all media."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from chromium import Browser
from sound_files import tone

from regard.data.sounds.files import sound_file
from regard.serving.judging.app import judging_app
from regard.serving.judging.comparison import Comparison, Item, Shown
from regard.serving.judging.votes import VotesFile, read_votes

sys.path.insert(0, str(Path(__file__).parents[1] / "serving"))
from loopback import on_loopback

pytestmark = pytest.mark.browser

SVG = b'<svg xmlns="http://www.w3.org/2000/svg" width="40" height="30"><rect width="40" height="30" fill="teal"/></svg>'
PICTURE = Shown(content=SVG, media="image/svg+xml")
SOUND = Shown(content=sound_file(tone(440, 0.2, 8000), 8000), media="audio/wav")
TEXTS = [Item(str(n), Shown(f"source {n}"), Shown(f"<b>left</b> {n}"), Shown(f"right {n}")) for n in range(3)]


@pytest.fixture
def page(browser: Browser, left_behind: None) -> Iterator[Browser]:
    yield browser
    browser.run("sessionStorage.clear()")


def enter(page: Browser, address: str, name: str) -> None:
    page.open(address)
    page.wait("return document.getElementById('entry').hidden", wanted=False)
    page.run(
        "const field = document.getElementById('judge'); field.value = arguments[0]; field.form.requestSubmit()", name
    )
    page.wait("return document.getElementById('judging').hidden", wanted=False)


def wait_for_count(page: Browser, count: str) -> None:
    page.wait("return document.getElementById('count').textContent", wanted=count)


def test_votes_by_key_and_button_and_back(page: Browser, tmp_path: Path) -> None:
    comparison = Comparison(TEXTS, "one", "two")
    file = VotesFile(tmp_path / "votes.jsonl", comparison)
    order = comparison.order_for("Ana")
    with on_loopback(judging_app(comparison, file, "token")) as address:
        enter(page, f"{address}/token/", "Ana")
        wait_for_count(page, "0 of 3")
        assert page.text("#output-1") == order[0].outputs[0].text  # markup is text
        assert page.text("#source") == f"source {order[0].item.name}"
        page.press("1")
        wait_for_count(page, "1 of 3")
        page.find("[data-choice='=']").click()
        wait_for_count(page, "2 of 3")
        page.find("#back").click()
        page.wait("return document.querySelector('[aria-pressed=true]').dataset.choice", wanted="=")
        page.press("2")
        page.wait("return document.getElementById('source').textContent", wanted=f"source {order[2].item.name}")
        page.driver.refresh()  # continues under the same name
        page.wait("return document.getElementById('judging').hidden", wanted=False)
        wait_for_count(page, "2 of 3")
        page.press("2")
        page.wait("return document.getElementById('finished').hidden", wanted=False)
        assert "Your votes are saved" in page.text("#finished")
    chosen = {seen.item.name: seen.sides[place] for seen, place in zip(order, (0, 1, 1), strict=True)}
    assert read_votes(tmp_path / "votes.jsonl").ballots == {"Ana": chosen}
    assert page.said() == []


@pytest.mark.one_in(2)
@pytest.mark.parametrize("width", [1280, 390])
def test_pictures_and_sounds_load_and_fit(page: Browser, tmp_path: Path, width: int) -> None:
    comparison = Comparison([Item("1", PICTURE, SOUND, SOUND), Item("2", PICTURE, PICTURE, PICTURE)], "one", "two")
    page.appear(width)
    with on_loopback(judging_app(comparison, VotesFile(tmp_path / "votes.jsonl", comparison), "token")) as address:
        enter(page, f"{address}/token/", "Rui")
        for count in (0, 1):
            wait_for_count(page, f"{count} of 2")
            kind = comparison.order_for("Rui")[count].outputs[0].kind
            if kind == "sound":
                ready = "return [...document.querySelectorAll('audio')].map((sound) => Math.round(sound.duration * 10))"
                page.wait(ready, wanted=[2, 2])
            else:
                ready = "return [...document.querySelectorAll('.outputs img')].map((picture) => picture.naturalWidth)"
                page.wait(ready, wanted=[40, 40])
            page.wait("return document.querySelector('#source img').naturalWidth", wanted=40)
            assert page.run("return document.documentElement.scrollWidth <= innerWidth")
            page.press("=")
        page.wait("return document.getElementById('finished').hidden", wanted=False)
    assert page.said() == []
