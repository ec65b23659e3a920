"""Colours that mean something, in high contrast and in print, and headings beside the buttons for saving."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from chromium import Browser
from desk import Opened, settle
from scenes import scene

from regard.viewing.page import scene_page

pytestmark = pytest.mark.browser

COLOUR = "return getComputedStyle(document.querySelector(arguments[0]))[arguments[1]]"

# The contrast of the text of an element with the page behind it, whose colour is solid.
CONTRAST = """
const shade = (colour) => {
  const [red, green, blue] = colour.match(/[\\d.]+/g).map((part) => {
    return part <= 10 ? part / 255 / 12.92 : ((part / 255 + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
};
const mixed = (front, back, share) => {
  const [one, other] = [front, back].map((colour) => colour.match(/[\\d.]+/g).map(Number));
  return one.slice(0, 3).map((part, place) => part * share + other[place] * (1 - share)).join(" ");
};
const style = getComputedStyle(document.querySelector(arguments[0]));
const back = getComputedStyle(document.body).backgroundColor;
const both = [shade(mixed(style.color, back, Number(style.opacity))), shade(back)].sort((one, other) => other - one);
return (both[0] + 0.05) / (both[1] + 0.05);
"""


@pytest.fixture
def high_contrast(browser: Browser) -> Iterator[Browser]:
    features = [{"name": "forced-colors", "value": "active"}, {"name": "prefers-color-scheme", "value": "dark"}]
    browser.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
    yield browser
    browser.appear()


def test_a_choice_is_seen_in_high_contrast(high_contrast: Browser, tmp_path: Path) -> None:
    scene_page(scene()).write(tmp_path / "page.html")
    high_contrast.open(tmp_path / "page.html")
    one, other = (high_contrast.run(COLOUR, f"#side input{name} + span", "backgroundColor")
                  for name in (":checked", ":not(:checked)"))  # fmt: skip
    assert one != other
    high_contrast.find(".thumb").click()
    chosen, plain = (high_contrast.run(COLOUR, f".thumb[aria-pressed={name}]", "outlineStyle")
                     for name in ("true", "false"))  # fmt: skip
    assert (chosen, plain) == ("solid", "none")


def test_the_open_tab_and_the_bars_are_seen_in_high_contrast(high_contrast: Browser, opened: Opened) -> None:
    page = opened(text="the cat", view="next")
    lines = [page.run(COLOUR, f"#{view}-tab", "borderBottomColor") for view in ("next", "beam")]
    assert lines[0] != lines[1] == page.run(COLOUR, "body", "backgroundColor")
    assert page.run(COLOUR, "#tokens .bar i", "backgroundColor") != page.run(COLOUR, "body", "backgroundColor")
    assert page.run(COLOUR, "#tokens .bar i", "forcedColorAdjust") == "none"


def test_bars_are_printed(opened: Opened) -> None:
    page = opened(text="the cat", view="next")
    assert page.run(COLOUR, "#tokens .bar i", "printColorAdjust") == "exact"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_special_tokens_are_legible(browser: Browser, opened: Opened, scheme: str) -> None:
    browser.appear(scheme=scheme)
    page = opened(text="the cat", view="next")
    settle(page)
    assert page.run(CONTRAST, "#before .symbol") >= 4.5


@pytest.mark.one_in(3)
@pytest.mark.parametrize("language", ["en", "pt", "ru"])
@pytest.mark.parametrize("width", [600, 700, 1280])
def test_headings_end_before_the_buttons_for_saving(
    browser: Browser, tmp_path: Path, language: str, width: int
) -> None:
    browser.appear(width)
    scene_page(scene()).write(tmp_path / "page.html")
    browser.open(tmp_path / "page.html")
    browser.find(f"select.language option[value={language}]").click()
    browser.wait("return document.documentElement.lang", wanted=language)
    browser.wait("return document.querySelectorAll('.saving').length > 2")
    ends = browser.run(
        "return [...document.querySelectorAll('section > h2')].flatMap((heading) => {"
        "  const text = document.createRange();"
        "  text.selectNodeContents(heading);"
        "  const saving = heading.parentElement.querySelector('.saving').getBoundingClientRect();"
        "  return [[Math.max(...[...text.getClientRects()].map(({ right }) => right)), saving.left]];"
        "})"
    )
    browser.run("localStorage.clear()")
    assert len(ends) == 3
    assert all(text <= saving for text, saving in ends)


def test_a_tinted_word_without_end_breaks_and_its_weight_is_legible(browser: Browser, opened: Opened) -> None:
    browser.appear(600)
    page = opened()
    page.run(
        "const table = document.createElement('table'), word = document.createElement('ruby');"
        "table.id = 'tinted';"
        "word.className = 'tinted';"
        "word.append('x'.repeat(1500), document.createElement('rt'));"
        "table.insertRow().insertCell().append(word);"
        "document.body.append(table);"
    )
    assert page.run("return document.documentElement.scrollWidth") <= 600
    assert page.run(COLOUR, ".tinted rt", "color") == page.run(COLOUR, ".tinted", "color")
    assert page.run(COLOUR, ".tinted rt", "whiteSpace") == "nowrap"
