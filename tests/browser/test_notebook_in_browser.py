"""Views in a notebook: several in one page, each in a frame isolated from its surroundings."""

from pathlib import Path

import pytest
from chromium import Browser
from scenes import HOSTILE, scene

from regard.base.notebook import frame
from regard.viewing.page import scene_page

pytestmark = pytest.mark.browser


@pytest.fixture
def notebook(browser: Browser, tmp_path: Path) -> Browser:
    """Return a page with two frames of the same ids, one of them with hostile words."""
    shown = [frame(scene_page(shown_scene).html, "a look") for shown_scene in (scene(), scene(HOSTILE, HOSTILE))]
    path = tmp_path / "notebook.html"
    path.write_text(f"<!doctype html><meta charset='utf-8'>{''.join(shown).replace('lazy', 'eager')}", encoding="utf-8")
    browser.open(path)
    return browser


def enter(page: Browser, number: int) -> None:
    page.driver.switch_to.default_content()
    page.driver.switch_to.frame(number)
    page.wait("return !document.getElementById('views').hidden")


def chosen(page: Browser, number: int) -> str:
    enter(page, number)
    return page.run("return document.querySelector('#head input:checked').value")


def test_each_frame_follows_its_own_controls_and_asks_for_nothing(notebook: Browser) -> None:
    enter(notebook, 0)
    notebook.find("#head input[value='2']").click()
    assert [chosen(notebook, number) for number in (0, 1)] == ["2", "mean"]
    assert notebook.run("return window.hacked ?? null") is None
    notebook.driver.switch_to.default_content()
    assert notebook.run("return window.hacked ?? null") is None
    assert notebook.run("return document.querySelectorAll('[id]').length") == 0
    assert [address for address in notebook.requests() if not address.startswith(("file:", "about:", "data:"))] == []
    assert not any("refused" in line.lower() for line in notebook.said())


def test_what_the_fragment_would_keep_is_kept_where_there_is_no_address(notebook: Browser) -> None:
    enter(notebook, 0)
    notebook.find("#side input[value='encoder']").click()
    notebook.find("#head input[value='1']").click()
    assert notebook.run("return document.querySelector('#side input:checked').value") == "encoder"
