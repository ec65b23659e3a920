"""Pages of graphs and pictures in a real browser: what they show, by pointer, by keyboard and by their address."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from chromium import Browser

from regard.viewing.graph import GraphDrawing
from regard.viewing.overlay import OverlayDrawing
from regard.viewing.slots import SlotsDrawing
from regard.viewing.strip import StripDrawing
from regard.viewing.strokes import StrokesDrawing
from regard.viewing.windows import WindowsDrawing

sys.path.insert(0, str(Path(__file__).parents[1] / "viewing"))
from drawn import glimpses, neighbourhood, overlay, star, stepping, strip, stroke_looks

pytestmark = pytest.mark.browser

PAGES: dict[str, Callable[[Path], None]] = {
    "graph": lambda path: GraphDrawing(neighbourhood()).page().write(path),
    "two rings": lambda path: GraphDrawing(neighbourhood(rings=2)).page().write(path),
    "star": lambda path: GraphDrawing(star(60)).page().write(path),
    "long names": lambda path: GraphDrawing(star(8, name="Probabilistic methods ")).page().write(path),
    "alone": lambda path: GraphDrawing(star(0, heads=4)).page().write(path),
    "windows": lambda path: WindowsDrawing(glimpses()).page().write(path),
    "overlay": lambda path: OverlayDrawing(overlay()).page().write(path),
    "slots": lambda path: SlotsDrawing(stepping()).page().write(path),
    "strip": lambda path: StripDrawing(strip()).page().write(path),
    "strokes": lambda path: StrokesDrawing(stroke_looks()).page().write(path),
}

Opened = Callable[..., Browser]


@pytest.fixture
def opened(browser: Browser, tmp_path: Path) -> Opened:
    """Open a page by its name."""

    def show(name: str, fragment: str = "") -> Browser:
        path = tmp_path / f"{name}.html"
        PAGES[name](path)
        browser.open(path, fragment)
        return browser

    return show


def fragment(page: Browser) -> str:
    return page.run("return location.hash")


def names(page: Browser, selector: str) -> list[str]:
    return page.run("return [...document.querySelectorAll(arguments[0])].map((each) => each.textContent)", selector)


def pixel(page: Browser, selector: str, x: int, y: int) -> list[int]:
    """Return red, green, blue and opacity of one pixel of a canvas."""
    script = (
        "return [...document.querySelector(arguments[0]).getContext('2d').getImageData(...arguments[1], 1, 1).data]"
    )
    return page.run(script, selector, [x, y])


@pytest.mark.one_in(4)
@pytest.mark.parametrize("name", PAGES)
@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (360, "dark")])
def test_every_page_opens_alone_stays_within_the_window_and_names_every_button_and_choice(
    browser: Browser, opened: Opened, name: str, width: int, scheme: str
) -> None:
    browser.appear(width, scheme=scheme)
    page = opened(name)
    assert page.said() == []
    assert [address for address in page.requests() if not address.startswith(("file:", "data:"))] == []
    assert page.run("return document.documentElement.scrollWidth - document.documentElement.clientWidth") <= 0
    assert all(page.names("button", "radio", more_than=3))


@pytest.mark.one_in(3)
@pytest.mark.parametrize(("name", "part"), [("graph", "graph"), ("windows", "windows"), ("overlay", "overlay")])
def test_what_is_shown_can_be_kept(opened: Opened, name: str, part: str) -> None:
    page = opened(name)
    page.run(
        "window.kept = []; HTMLAnchorElement.prototype.click = function () { kept.push(this.download) };"
        "URL.createObjectURL = () => 'blob:none'"
    )
    for button in page.all(f"#{part}-part .save")[1:]:  # the first copies a link
        button.click()
    page.wait("return kept.map((name) => name.split('.')[1]).sort()", wanted=["json", "png", "svg"])
    assert page.said() == []


def test_a_drawing_is_kept_as_large_and_as_strong_as_it_is_seen(opened: Opened) -> None:
    page = opened("strokes", "#point=3&head=1")
    page.run(
        "HTMLAnchorElement.prototype.click = () => {};"
        "URL.createObjectURL = (blob) => { blob.text().then((text) => (window.kept = text)); return 'blob:none' }"
    )
    page.all("#strokes-part .save")[2].click()
    page.wait("return typeof window.kept", wanted="string")
    drawing = page.run("return kept")
    box = page.run("return document.getElementById('strokes').getAttribute('viewBox')")
    assert f'viewBox="{box}"' in drawing
    assert drawing.count("<line") == 3
    assert 'stroke-width="6.5px"' in drawing
    assert drawing.count("<circle") == len(page.all("#strokes circle"))


@pytest.mark.one_in(3)
@pytest.mark.parametrize("name", ["overlay", "strip", "strokes"])
def test_a_head_that_there_is_not_gives_way_to_the_mean(opened: Opened, name: str) -> None:
    for wish in ("1.5", "3", "constructor"):
        page = opened(name, f"#head={wish}&layer={wish}")
        assert page.run("return document.querySelector('fieldset[id$=-head] input:checked').value") == "mean"
        assert page.said() == []


# A graph


def looks(page: Browser, selector: str = ".look") -> list[tuple[int, int]]:
    edges = page.run(
        "return [...document.querySelectorAll(arguments[0])].map((each) => ({ ...each.dataset }))", selector
    )
    return [(int(edge["from"]), int(edge["to"])) for edge in edges]


def test_a_graph_has_a_line_for_every_head_and_every_look(opened: Opened) -> None:
    page = opened("graph")
    assert page.text("#subject") == "Node a: class X"
    assert looks(page) == [(0, 0)] * 2 + [(0, 1)] * 2 + [(0, 3)] * 2 + [(0, 2)] * 2
    assert names(page, "#graph-key li") == ["head 1", "head 2", "class X", "class Y"]
    page.find("#graph-head input[value='2']").click()
    assert len(looks(page)) == 4
    assert "head=2" in fragment(page)
    page.find("#graph-layer input[value='2']").click()
    assert page.text("#graph-caption").endswith("Shown: layers.1.")


def test_long_names_leave_room_for_the_graph(opened: Opened) -> None:
    opened("long names").appear(320)
    page = opened("long names")
    part, middle = page.find("#graph-part").rect, page.find("#graph-nodes .middle").rect["x"]
    names = [element.rect for element in page.all("#graph-nodes .node-name:not(.middle)")]
    assert all(part["x"] <= name["x"] and name["x"] + name["width"] <= part["x"] + part["width"] for name in names)
    assert max(abs(name["x"] - middle) for name in names) > 80  # and not all on one spot


def test_pointing_at_a_neighbour_tells_its_weights(opened: Opened) -> None:
    page = opened("graph")
    page.point(page.all("#graph-nodes .node-name")[1])
    assert page.text("#graph-readout") == "Node b: class Yis looked at by a with 1: 60\u202f%2: 10\u202f%"
    assert set(looks(page, ".look.on")) == {(0, 1)}
    page.point(page.find("h1"))
    assert "Point at a node" in page.text("#graph-readout")


def test_a_mistaken_node_is_told_as_one(opened: Opened) -> None:
    page = opened("graph", "#node=3")
    assert page.text("#graph-readout").startswith("Node c: class X, in truth Y")
    assert len(page.all(".mistaken")) == 1


def test_nodes_are_reached_by_keys_and_kept(opened: Opened) -> None:
    page = opened("graph")
    page.run("document.querySelector('#graph-nodes [tabindex=\"0\"]').focus()")
    page.press("ARROW_RIGHT", "ENTER")
    assert fragment(page) == "#node=1"
    page.point(page.all("#graph-nodes .node-name")[2])
    assert page.text("#graph-readout").startswith("Node b")  # what is kept stays
    page.press("ESCAPE")
    assert fragment(page) in ("", "#")


def test_the_numbers_of_a_graph_are_a_table(opened: Opened) -> None:
    page = opened("graph")
    page.run("document.getElementById('graph-numbers').open = true")
    page.settle()
    assert names(page, "#graph-table tr:nth-child(3) > *") == ["a", "b", "0.6000", "0.1000"]


def test_two_rings_show_looks_among_the_neighbours_by_one_line(opened: Opened) -> None:
    page = opened("two rings")
    assert sorted(looks(page, ".look.beside")) == [(1, 0), (2, 3), (3, 2)]
    assert looks(page).count((1, 4)) == 2


# Windows


def test_glimpses_are_stepped_through(opened: Opened) -> None:
    page = opened("windows")
    assert names(page, ".step-number") == ["1", "2", "3"]
    assert pixel(page, "#looked-at", 5, 0) == [255, 255, 255, 255]
    assert len(page.all(".window:not(.under)")) == 3  # the smallest squares alone
    page.find("#step input[value='3']").click()
    assert fragment(page) == "#step=3"
    assert page.text("#windows-readout") == (
        "glimpse 3: at 6 across and 3 down; sides of 2, 4 pixels. It reaches beyond the picture."
    )
    assert len(page.all(".window:not(.under):not(.faint)")) == 2
    assert names(page, ".glimpse[aria-pressed='true'] span") == ["glimpse 3"]


def test_pointing_at_what_was_seen_shows_where(opened: Opened) -> None:
    page = opened("windows")
    page.point(page.all(".glimpse")[1])
    assert page.text("#windows-readout").startswith("glimpse 2: at 1 across and 1 down")
    page.all(".glimpse")[1].click()
    assert fragment(page) == "#step=2"
    assert pixel(page, ".glimpse:nth-child(1) canvas", 0, 0) == [102, 102, 102, 255]


# Weights over a picture


def test_a_word_tints_what_it_looks_at(opened: Opened) -> None:
    page = opened("overlay")
    assert page.text("#overlay-title") == "a looks at"
    assert page.text("#overlay-readout") == "most at row 1, column 2: 100\u202f%"
    opacities = [pixel(page, "#overlay-tint", column, 0)[3] for column in range(3)]
    assert opacities[0] == opacities[2] == 0 < opacities[1]
    page.all(".word-thumb")[1].click()
    assert "word=2" in fragment(page)
    assert page.text("#overlay-readout") == "most at row 2, column 1: 50\u202f%"
    page.find("#overlay-head input[value='2']").click()
    assert page.text("#overlay-readout") == "most at row 2, column 3: 100\u202f%"


def test_frames_fade_that_a_word_does_not_look_at(opened: Opened) -> None:
    page = opened("strip", "#head=1")
    seen = "return [...document.querySelectorAll('#strip canvas')].map(({ style }) => Number(style.opacity))"
    assert page.text("#strip-title") == "jumps looks at"
    assert page.text("#strip-readout") == "most at frame 1: 100\u202f%"
    assert page.run(seen) == [1, 0.12, 0.12]
    assert pixel(page, "#strip canvas:nth-of-type(2)", 0, 0) == [128, 128, 128, 255]
    page.point(page.all(".strip-word")[1])
    assert page.run(seen) == [0.12, 1, 0.12]
    page.all(".strip-word")[1].click()
    assert "word=2" in fragment(page)
    page.point(page.all(".strip-cell")[5])
    assert page.text("#strip-readout") == "frame 3: 0\u202f%"
    page.find("#strip-head input[value='mean']").click()
    assert page.text("#strip-readout") == "most at frame 2: 50\u202f%"


def test_pointing_at_the_picture_tells_the_weight_of_a_cell(opened: Opened) -> None:
    page = opened("overlay", "#word=2&head=mean")
    field: Any = page.find("#overlay")
    size = field.size
    page.point(field, -size["width"] // 3, size["height"] // 4)
    assert page.text("#overlay-readout") == "row 2, column 1: 50\u202f%"


def test_a_memory_is_played_step_by_step(opened: Opened) -> None:
    page = opened("slots", "#step=2")
    assert page.text("#slots-readout") == "Step 2 of 3: 01 · read: slot 18, 100\u202f% · write: slot 19, 60\u202f%"
    assert names(page, ".strip > span") == ["given", "answered", "read", "write"]
    assert [pixel(page, ".strip:last-child canvas", step, step)[3] for step in range(3)] == [153] * 3
    # In one call, because a page continues to play meanwhile.
    press = "const play = document.querySelector('#slots-play'); const press = () => (play.click(), play.textContent)"
    assert page.run(f"{press}; return [press(), press()]") == ["Pause", "Play"]


def test_a_point_of_a_drawing_shows_what_it_looks_at(opened: Opened) -> None:
    page = opened("strokes", "#point=3&head=1")
    assert page.text("#strokes-readout") == "Point 3 looks for the next one, most at point 2: 100\u202f%"
    widths = (
        "return [...document.querySelectorAll('#strokes .piece')].map((each) => parseFloat(each.style.strokeWidth))"
    )
    assert page.run(widths) == [6.5, 1.5, 1.5]
    page.find("#strokes-point").send_keys("\ue012")  # the left arrow
    assert page.text("#strokes-readout") == "Point 2 looks for the next one, most at point 1: 100\u202f%"
    assert "point=2" in fragment(page)
    assert len(page.all("#strokes .unread")) == 2
    page.find("#strokes-point").send_keys("\ue010")  # to the last point that looks, before the one where it ends
    assert page.text("#strokes-readout").startswith("Point 4 looks for the next one")
    assert page.find("#strokes .next").get_attribute("cx") == "34"
