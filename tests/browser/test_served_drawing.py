"""The drawing desk in a real browser: a user begins by pointer or keys, and a model continues."""

from typing import Any

import pytest
from chromium import Browser
from desk import settle, show_models
from pretend import Pretending

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("left_behind")]

SKETCHER = {"name": "sheep", "task": "strokes", "reads": "drawing", "family": "oracle", "can": ["draw"], "extent": 80}
PAINTER = {"name": "digits", "task": "drawing", "reads": "picture", "family": "oracle", "can": ["draw"]}
READER = {"name": "letters", "task": "recognition", "reads": "drawing", "family": "oracle"}
ASKED = {"name": "shapes", "task": "painting", "reads": "text", "family": "oracle", "can": ["draw"]}


def show(browser: Browser, server: Pretending, *models: dict[str, Any]) -> Browser:
    """Open the page of a server with these models and a paper to draw on."""
    page = show_models(browser, server, list(models))
    page.wait("return document.getElementById('paper') !== null")
    return page


def lines(page: Browser, kind: str) -> list[list[list[float]]]:
    """Return the strokes of a kind on the paper, which has 100 units a side."""
    strokes = page.run("return [...document.querySelectorAll(arguments[0])].map((l) => l.getAttribute('points'))", kind)
    return [[[round(float(n)) for n in point.split(",")] for point in line.split()] for line in strokes]


def drag(page: Browser, paper: Any, *downwards: int) -> None:
    """Draw a stroke downwards from the middle of the paper, in steps of this many pixels."""
    from selenium.webdriver import ActionChains

    chain = ActionChains(page.driver, duration=0).move_to_element(paper).click_and_hold()
    for step in downwards:
        chain.move_by_offset(0, step)
    chain.release().perform()


def test_one_draws_with_the_pointer_and_the_model_goes_on(browser: Browser, server: Pretending) -> None:
    page = show(browser, server, SKETCHER)
    assert page.text("#motto") == "Draw, and see why."
    paper = page.find("#paper")
    side = paper.rect["width"] / 100
    assert not page.find("#draw-on").is_enabled()
    drag(page, paper, round(10 * side), round(10 * side))
    (stroke,) = lines(page, ".own")
    assert (stroke[0], stroke[-1]) == ([50, 50], [50, 70])
    page.find("#draw-on").click()
    page.wait("return document.querySelectorAll('.added').length", wanted=1)
    settle(page)
    (question,) = server.questions("/v1/draw")
    assert [[round(n) for n in point] for point in question["complete"][0]] == [[50, 50], [50, 70]]  # the bend is none
    assert question["temperature"] == 0.7
    assert lines(page, ".added") == [[[50, 60], [70, 60]]]
    page.find("#draw-undo").click()
    assert lines(page, ".added") == []
    page.find("#draw-undo").click()
    assert lines(page, ".own") == []


def test_arrow_keys_and_the_space_bar_draw_too(browser: Browser, server: Pretending) -> None:
    page = show(browser, server, SKETCHER)
    page.run("document.getElementById('paper').focus()")
    page.press("SPACE", "ARROW_RIGHT", "ARROW_RIGHT", "ARROW_DOWN", "SPACE", "ARROW_LEFT")
    assert lines(page, ".own") == [[[50, 50], [52, 50], [55, 50], [55, 52]]]
    assert page.find("#draw-on").is_enabled()


def test_from_nothing_lies_in_the_middle_and_a_new_sheet_is_clean(browser: Browser, server: Pretending) -> None:
    page = show(browser, server, SKETCHER)
    page.find("#draw-nothing").click()
    page.wait("return document.querySelectorAll('.added').length", wanted=2)
    assert lines(page, ".added") == [[[40, 45], [60, 45]], [[40, 55], [60, 55]]]
    assert "complete" not in server.questions("/v1/draw")[0]
    page.find("#draw-clear").click()
    assert lines(page, ".added") == []


def test_a_refusal_is_told_and_a_model_of_pictures_has_no_paper(browser: Browser, server: Pretending) -> None:
    server.refusals, server.refused_path = [(400, "The drawing is too long.", {})], "/v1/draw"
    page = show(browser, server, SKETCHER, PAINTER)
    page.find("#draw-nothing").click()
    page.wait("return document.getElementById('draw-trouble').textContent", wanted="The drawing is too long.")
    page.run("const c = document.getElementById('drawer'); c.value = 'digits'; c.dispatchEvent(new Event('change'))")
    assert not page.find("#paper").is_displayed()
    assert not page.find("#draw-on").is_displayed()


def test_what_is_asked_for_in_words_is_drawn(browser: Browser, server: Pretending) -> None:
    page = show(browser, server, ASKED, SKETCHER)
    assert page.text("#draw-nothing") == "Draw it"
    page.find("#draw-prompt").send_keys("a red star")
    page.press("ENTER")
    page.wait("return document.getElementById('drawn-pictures').hidden", wanted=False)
    (question,) = server.questions("/v1/draw")
    assert question["prompt"] == "a red star"
    page.run("const c = document.getElementById('drawer'); c.value = 'sheep'; c.dispatchEvent(new Event('change'))")
    assert not page.find("#draw-prompt").is_displayed()


def test_what_is_drawn_is_named_as_soon_as_a_stroke_ends(browser: Browser, server: Pretending) -> None:
    page = show_models(browser, server, [READER | {"can": ["answer"], "extent": 80}])
    page.wait("return document.getElementById('sketch') !== null")
    drag(page, page.find("#sketch"), 10, 20)
    page.wait("return document.getElementById('answer').textContent.length > 0")
    settle(page)
    (question,) = server.questions("/v1/answer")
    (stroke,) = question["inputs"][0]["drawing"]
    assert [round(n) for n in stroke[0]] == [50, 50]
    page.find("#input button:last-of-type").click()
    assert lines(page, ".own") == []
    assert page.said() == []


@pytest.mark.parametrize(("width", "scheme"), [(360, "dark"), (1280, "light")])
def test_the_desk_stays_within_the_window_and_all_of_it_has_names(
    browser: Browser, server: Pretending, width: int, scheme: str
) -> None:
    browser.appear(width, scheme=scheme)
    page = show(browser, server, SKETCHER)
    assert page.run("return document.documentElement.scrollWidth - document.documentElement.clientWidth") <= 0
    assert all(page.names("button", more_than=3))
    assert page.said() == []


def test_several_pictures_come_to_be_side_by_side(browser: Browser, server: Pretending) -> None:
    page = show(browser, server, PAINTER)
    page.run("document.getElementById('draw-count').value = 3")
    page.find("#draw-nothing").click()
    page.wait("return document.querySelectorAll('#drawn-pictures img').length", wanted=3)
    (question,) = server.questions("/v1/draw")
    assert (question["count"], question["model"]) == (3, "digits")
    alt = page.run("return document.querySelector('#drawn-pictures img').alt")
    assert alt == "How the drawing comes to be"
