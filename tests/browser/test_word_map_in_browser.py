"""The page of a word map in a real browser: by pointer, keyboard, search and address."""

import sys
from pathlib import Path
from typing import Any

import pytest
from chromium import Browser

from regard.viewing.word_map import map_page

sys.path.insert(0, str(Path(__file__).parents[1] / "viewing"))
from word_maps import compass

pytestmark = pytest.mark.browser


@pytest.fixture
def page(browser: Browser, tmp_path: Path) -> Browser:
    map_page(compass()).write(tmp_path / "map.html")
    browser.open(tmp_path / "map.html")
    return browser


def spot(page: Browser, number: int) -> dict[str, Any]:
    """Return the place of a word's name."""
    script = "const { left, top } = document.querySelectorAll('.map-word')[arguments[0]].getBoundingClientRect();"
    return page.run(script + "return { left, top }", number)


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (360, "dark")])
def test_it_opens_alone_and_stays_within_the_window(page: Browser, tmp_path: Path, width: int, scheme: str) -> None:
    page.appear(width, scheme=scheme)
    page.open(tmp_path / "map.html")
    assert page.said() == []
    assert [address for address in page.requests() if not address.startswith(("file:", "data:"))] == []
    assert page.run("return document.documentElement.scrollWidth - document.documentElement.clientWidth") <= 0
    assert len(page.all(".map-point")) == 6
    assert [name.text for name in page.all(".map-word")] == list(compass().words)


def test_a_click_chooses_a_word_and_shows_its_neighbours(page: Browser) -> None:
    page.all(".map-word")[0].click()
    assert [element.text for element in page.all(".map-neighbour")] == ["norte 0.90", "leste −0.25"]
    assert len(page.all(".map-line")) == 2
    assert [element.text for element in page.all(".map-word.near")] == ["centro", "norte", "leste"]
    assert page.run("return location.hash") == "#word=centro"
    page.all(".map-neighbour")[0].click()
    assert page.run("return decodeURIComponent(location.hash)") == "#word=norte"


def test_the_search_knows_words_without_case_and_accents(page: Browser) -> None:
    field = page.find("#map-search")
    field.send_keys("cedi\n")
    assert page.text("#map-readout b") == "Çédille"
    field.clear()
    field.send_keys("nada\n")
    assert page.text("#map-unknown") == "“nada” is not on this map."


def test_keys_move_and_zoom_the_map(page: Browser) -> None:
    page.run("document.getElementById('map').focus()")
    before, apart = spot(page, 0), spot(page, 2)["left"] - spot(page, 0)["left"]
    page.press("ARROW_LEFT", "ARROW_DOWN")
    after = spot(page, 0)
    assert (after["left"] - before["left"], after["top"] - before["top"]) == (pytest.approx(60), pytest.approx(-60))
    page.press("ADD")
    assert spot(page, 2)["left"] - spot(page, 0)["left"] == pytest.approx(1.4 * apart, rel=0.05)
    page.find(".map-key[aria-label='show all']").click()
    assert spot(page, 0) == pytest.approx(before)


def test_a_drag_moves_the_map_and_chooses_nothing(page: Browser) -> None:
    from selenium.webdriver import ActionChains

    name, before = page.all(".map-word")[0], spot(page, 0)
    ActionChains(page.driver, duration=0).click_and_hold(name).move_by_offset(30, 20).release().perform()
    after = spot(page, 0)
    assert (after["left"] - before["left"], after["top"] - before["top"]) == (pytest.approx(30), pytest.approx(20))
    assert page.all(".map-line") == []


def test_the_address_leads_to_a_word_which_escape_forgets(page: Browser) -> None:
    page.lead("#word=sul")
    page.wait("return document.querySelector('#map-readout b').textContent", wanted="sul")
    page.run("document.getElementById('map').focus()")
    page.press("ESCAPE")
    assert page.run("return location.hash") == ""
    assert page.all(".map-line") == []
