"""Pages of lessons in a real browser: the stages of a head, the forward pass, and the roles of heads."""

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from chromium import Browser
from desk import wished

from regard.cli import main
from regard.viewing.roles import roles_page

sys.path.insert(0, str(Path(__file__).parents[1] / "viewing"))
from test_roles_view import ROLES

pytestmark = pytest.mark.browser

WINDOWS = [(1280, "light"), (1280, "dark"), (390, "light"), (390, "dark")]
TEXTS = "return [...document.querySelectorAll(arguments[0])].map((each) => each.textContent)"


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The pages that commands write without a model, and one of roles."""
    folder = tmp_path_factory.mktemp("lessons")
    names = {name: folder / f"{name}.html" for name in ("attention", "forward", "roles")}
    for name in ("attention", "forward"):
        assert main(["show", name, "-o", str(names[name])]) == 0
    roles_page(ROLES, "demo").write(names["roles"])
    return names


@pytest.fixture
def reading_in(browser: Browser) -> Iterator[Callable[[str], None]]:
    """Choose the language of pages; afterwards the browser has its own again."""

    def choose(language: str) -> None:
        browser.run("localStorage.setItem('regard-language', arguments[0]); location.reload()", language)
        browser.wait("return document.documentElement.lang", wanted=language)

    yield choose
    browser.run("localStorage.clear()")


def texts(page: Browser, selector: str) -> list[str]:
    return page.run(TEXTS, selector)


@pytest.mark.one_in(4)
@pytest.mark.parametrize(("width", "scheme"), WINDOWS)
@pytest.mark.parametrize("name", ["attention", "forward", "roles"])
def test_a_lesson_fits_and_says_nothing_wrong(
    browser: Browser, pages: dict[str, Path], name: str, width: int, scheme: str
) -> None:
    browser.appear(width, 900, scheme)
    browser.open(pages[name], "#step=4&layers=3&layers=3.0&layers=3.0.2&layers=3.0.2.1&layers=3.0.2.1.5")
    browser.wait("return !document.getElementById('views').hidden")
    browser.settle()
    assert browser.run("return document.documentElement.scrollWidth - document.documentElement.clientWidth") == 0
    ground = browser.find("body").value_of_css_property("background-color")
    assert ground == {"light": "rgba(250, 250, 248, 1)", "dark": "rgba(18, 21, 25, 1)"}[scheme]
    requests = browser.requests()
    assert requests
    assert all(address.startswith(("file:", "data:")) for address in requests)
    assert browser.said() == []


def test_the_stages_of_a_head_are_turned_by_hand(browser: Browser, pages: dict[str, Path]) -> None:
    browser.open(pages["attention"])
    assert browser.text("#steps-title") == "Stage 1 of 18"
    assert not browser.find("#steps-back").is_enabled()
    browser.find("#steps-next").click()
    assert browser.text("#steps-title") == "Stage 2 of 18"
    browser.find("[data-stage='13']").click()
    assert browser.text(".stage-title") == "Weights"
    assert texts(browser, "#steps-stage .followed > *") == ["books", "0.09", "0.67", "0.24"]
    assert texts(browser, "[aria-current='step']") == ["Weights"]
    assert wished(browser)["step"] == "13"
    browser.find("[data-stage='18']").click()
    assert not browser.find("#steps-next").is_enabled()
    browser.lead("#step=12")
    browser.wait("return document.querySelector('.stage-title').textContent", wanted="Mask")
    assert texts(browser, "#steps-stage .barred") == ["−∞"] * 3
    assert browser.said() == []


def test_the_stages_play_to_the_last_and_can_be_halted(browser: Browser, pages: dict[str, Path]) -> None:
    browser.open(pages["attention"], "#step=16")
    # The clock of the page runs a hundred times as fast.
    browser.run("const timer = setInterval; window.setInterval = (work, pace) => timer(work, pace / 100)")
    browser.find("#steps-play").click()
    browser.wait("return document.getElementById('steps-title').textContent", wanted="Stage 18 of 18")
    browser.wait("return document.getElementById('steps-play').textContent", wanted="Play")
    browser.run("window.setInterval = () => 1")
    browser.find("#steps-play").click()
    assert browser.text("#steps-title") == "Stage 1 of 18"
    assert browser.text("#steps-play") == "Pause"
    browser.find("#steps-play").click()
    assert browser.text("#steps-play") == "Play"
    assert browser.said() == []


def test_layers_open_and_close(browser: Browser, pages: dict[str, Path]) -> None:
    browser.open(pages["forward"])
    assert browser.text("#subject") == "I love"
    assert len(browser.all("#forward-layers > details")) == 6
    assert browser.all("#forward-layers .numbers") == []
    block = browser.find("[data-place='3'] > summary")
    block.click()
    browser.wait("return document.querySelectorAll('#forward-layers .numbers').length", wanted=1)
    assert texts(browser, "[data-place='3'] > details > summary b") == [
        "Residual around self-attention", "Residual around the feed-forward net"
    ]  # fmt: skip
    assert texts(browser, "[data-place='3'] > .numbers .followed > *")[0] == "love"
    assert wished(browser)["layers"] == "3"
    block.click()
    browser.wait("return document.querySelectorAll('details[open]').length", wanted=0)
    browser.wait("return location.hash.includes('layers')", wanted=False)
    more, close = browser.all(".tree-controls button")
    more.click()
    assert len(browser.all("details[open]")) == 6
    more.click()
    assert len(browser.all("details[open]")) == 8
    close.click()
    assert browser.all("details[open]") == []
    assert browser.said() == []


def test_the_end_of_the_pass_has_the_most_probable_tokens(browser: Browser, pages: dict[str, Path]) -> None:
    browser.open(pages["forward"], "#layers=5")
    assert texts(browser, "#forward-best > table > tr > th") == ["end of sentence", "I", "love"]
    last = texts(browser, "#forward-best > table > tr:last-child > td")
    assert last[0] == "books 100\u202f%"
    assert all(cell.endswith("<0.1\u202f%") for cell in last[1:])
    assert browser.find("#forward-best td").get_attribute("title").startswith("we: logit ")


def test_special_tokens_are_named_in_the_language_of_the_page(
    browser: Browser, pages: dict[str, Path], reading_in: Callable[[str], None]
) -> None:
    browser.open(pages["forward"], "#layers=0")
    for language, end in (("pt", "fim da frase"), ("ru", "конец предложения")):
        reading_in(language)
        assert texts(browser, "[data-place='0'] .numbers tr > th:first-child")[0] == end
        assert texts(browser, "#forward-best th")[1] == end
    assert browser.said() == []


def test_roles_have_a_row_for_each_head_and_one_for_position(browser: Browser, pages: dict[str, Path]) -> None:
    browser.open(pages["roles"])
    assert texts(browser, "tbody tr th, tfoot th") == ["1.1", "1.2", "position alone"]
    assert texts(browser, "tbody tr:last-child td") == ["80", "80", "0.8"]
    assert texts(browser, "tfoot td") == ["–", "90", "2.5"]
    assert browser.run("return document.querySelector('.roles').tabIndex") == 0
    assert browser.said() == []


def test_roles_are_legible_in_russian(
    browser: Browser, pages: dict[str, Path], reading_in: Callable[[str], None]
) -> None:
    browser.open(pages["roles"])
    reading_in("ru")
    assert texts(browser, "section h2")[0] == "энкодер"
    title, width = "прилагательное к существительному", "arguments[0].scrollWidth - arguments[0].clientWidth"
    browser.run("document.querySelector('thead th:nth-child(2)').textContent = arguments[0]", title)
    assert browser.run(f"return {width}", browser.find("thead th:nth-child(2)")) <= 0
    colour = "getComputedStyle(each).color"
    cells = f"[...document.querySelectorAll('body, .roles td')].map((each) => {colour})"
    assert len(set(browser.run(f"return {cells}"))) == 1
    back = browser.run("return getComputedStyle(document.querySelector('tbody tr:last-child td')).backgroundColor")
    assert float(back.rstrip(")").split()[-1]) <= 0.5  # so faint that dark text on it is legible


def test_numbers_above_zero_are_orange_and_those_below_blue_as_in_tables(
    browser: Browser, pages: dict[str, Path]
) -> None:
    browser.open(pages["forward"])
    colours = browser.run(
        "const page = document.createElement('div'); page.className = 'numbers'; document.body.append(page);"
        "const colour = (name) => { const cell = document.createElement('td'); cell.className = name;"
        "cell.style.setProperty('--weight', 1); page.append(cell);"
        "const [red, , blue] = getComputedStyle(cell).backgroundColor.match(/[0-9.]+/g).map(Number);"
        "return red > blue ? 'orange' : 'blue'; };"
        "return [colour('above-zero'), colour('below-zero')]"
    )
    assert colours == ["orange", "blue"]
