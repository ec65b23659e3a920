"""The pages of the beam and of the next token in a real browser: alone, by pointer and by keyboard, in any script."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from chromium import Browser
from scenes import HOSTILE

from regard.decoding.filters import distribution
from regard.decoding.options import SamplingOptions
from regard.viewing.choices import Choices, ChoicesStart, Panel, choices_page
from regard.viewing.hypotheses import Tree
from regard.viewing.tree import tree_page

sys.path.insert(0, str(Path(__file__).parents[1] / "viewing"))
from next_tokens import choices
from trees import small_tree

pytestmark = pytest.mark.browser

Opened = Callable[..., Browser]
EXAMPLES = ({"temperature": 0.5}, {"top_k": 2})


@pytest.fixture
def tree(browser: Browser, tmp_path: Path) -> Opened:
    """Open the page of a tree."""

    def show(shown: Tree | None = None, fragment: str = "") -> Browser:
        tree_page(shown or small_tree(), ("en", "pt")).write(tmp_path / "árvore.html")
        browser.open(tmp_path / "árvore.html", fragment)
        return browser

    return show


@pytest.fixture
def following(browser: Browser, tmp_path: Path) -> Opened:
    """Open the page of a next token."""

    def show(shown: Choices | None = None, fragment: str = "", start: ChoicesStart | None = None) -> Browser:
        path = tmp_path / "próximo.html"
        choices_page(shown or choices(), ("en", "pt"), start or ChoicesStart({}, EXAMPLES)).write(path)
        browser.open(path, fragment)
        return browser

    return show


def node(page: Browser, place: int) -> Any:
    return page.find(f".node[data-place='{place}']")


def places(page: Browser, selector: str) -> list[int]:
    """Return the matching hypotheses that are visible."""
    script = "return [...document.querySelectorAll(arguments[0])].filter((each) => !each.hidden)"
    return page.run(f"{script}.map((each) => Number(each.dataset.place))", selector)


def fragment(page: Browser) -> str:
    return page.run("return location.hash")


def overflow(page: Browser) -> int:
    return page.run("return document.documentElement.scrollWidth - document.documentElement.clientWidth")


def shares(page: Browser) -> list[float]:
    """Return the sampling distribution token by token, with all others last."""
    rows = page.run(
        "return [...document.querySelectorAll('#tokens .drawn .bar')]"
        ".map((bar) => bar.style.getPropertyValue('--share'))"
    )
    return [float(share) for share in rows]


def move(page: Browser, slider: str, value: float) -> None:
    page.run(
        "const slider = document.getElementById(arguments[0]);"
        "slider.value = arguments[1]; slider.dispatchEvent(new Event('input', { bubbles: true }))",
        slider,
        value,
    )


# Both


@pytest.mark.parametrize("name", ["tree", "following"])
def test_it_opens_without_a_word_to_the_console_or_a_request(name: str, request: pytest.FixtureRequest) -> None:
    page = request.getfixturevalue(name)()
    assert page.said() == []
    assert [address for address in page.requests() if not address.startswith(("file:", "data:"))] == []
    written = "try { document.body.innerHTML = '<b>x</b>' } catch (error) { return error.name }"
    assert page.run(written) == "TypeError"


@pytest.mark.parametrize("name", ["tree", "following"])
def test_what_was_typed_stays_text(name: str, request: pytest.FixtureRequest) -> None:
    hostile = [*HOSTILE, "f"]
    shown = small_tree(hostile, HOSTILE[0]) if name == "tree" else choices(tokens=hostile[:3], before=hostile)
    page = request.getfixturevalue(name)(shown)
    seen = page.text("main")
    assert all(text in seen for text in HOSTILE[:3])
    if name == "tree":
        page.point(node(page, 9))
        assert HOSTILE[0] in page.text("#tree-readout")
    assert page.run("return window.hacked ?? null") is None
    assert page.run("return [document.scripts.length, document.images.length]") == [3, 0]
    assert page.said() == []


@pytest.mark.parametrize("name", ["tree", "following"])
@pytest.mark.parametrize("width", [320, 360, 1280])
def test_nothing_sticks_out_and_dark_is_dark(name: str, width: int, request: pytest.FixtureRequest) -> None:
    browser = request.getfixturevalue("browser")
    browser.appear(width=width, height=740, scheme="dark")
    long = ["Rindfleischetikettierungsüberwachungsaufgabenübertragungsgesetz", "ב", *"cdef"]
    shown = small_tree(long) if name == "tree" else choices(tokens=long[:3], before=long * 5)
    page = request.getfixturevalue(name)(shown)
    assert overflow(page) == 0
    assert max(page.run("return getComputedStyle(document.body).backgroundColor.match(/\\d+/g).map(Number)")) < 60
    assert page.said() == []


@pytest.mark.parametrize("name", ["tree", "following"])
def test_everything_that_can_be_used_has_a_name(name: str, request: pytest.FixtureRequest) -> None:
    page = request.getfixturevalue(name)()
    names = page.names("button", "radio", "slider", "toolbar", "table", more_than=8)
    assert all(names)


# The tree


def test_pointing_at_a_token_shows_all_that_was_written_up_to_it(tree: Opened) -> None:
    page = tree()
    assert page.driver.title == "x y → ad"
    assert page.text("#tree-caption").startswith("A beam of 3, 3 steps.")
    assert places(page, ".node") == list(range(10))
    page.point(node(page, 4))
    assert page.text("#tree-readout .whole") == "ae"
    facts = page.text("#tree-readout .facts").replace("\u202f", " ")
    assert facts == "Step 2: e 37 % (log-probability −1.00), sum −1.10. Went on."
    assert places(page, ".node.on") == [0, 4]
    page.point(node(page, 7))
    assert "score −0.70. Finished, one of the best. Output 2 of 2." in page.text("#tree-readout .facts")
    page.point(node(page, 2))
    assert "Dropped, as others were more probable." in page.text("#tree-readout .facts")
    page.point(page.find("h1"))
    assert places(page, ".node.on") == []
    assert "Point at a token" in page.text("#tree-readout")


def test_columns_are_steps_and_lanes_are_branches(tree: Opened) -> None:
    page = tree()
    boxes = [node(page, place).rect for place in range(10)]
    assert boxes[0]["x"] == boxes[1]["x"] < boxes[3]["x"] == boxes[5]["x"] < boxes[6]["x"]
    assert boxes[0]["y"] == boxes[3]["y"] == boxes[6]["y"] < boxes[2]["y"] < boxes[4]["y"] < boxes[1]["y"]
    for one in range(10):
        for other in range(one):
            a, b = boxes[one], boxes[other]
            apart = a["x"] >= b["x"] + b["width"] or b["x"] >= a["x"] + a["width"]
            assert apart or a["y"] >= b["y"] + b["height"] or b["y"] >= a["y"] + a["height"]
    widths = page.run("return [...document.querySelectorAll('.link')].map((each) => each.getAttribute('stroke-width'))")
    assert len(widths) == 10


def test_arrow_keys_walk_the_tree(tree: Opened) -> None:
    page = tree()
    page.run("document.querySelector('.node').focus()")
    page.press("ARROW_RIGHT")
    assert page.text("#tree-readout .whole") == "ad"
    page.press("ARROW_DOWN")
    assert page.text("#tree-readout .whole") == "ae"
    page.press("ARROW_DOWN", "ARROW_LEFT")
    assert page.text("#tree-readout .whole") == "b"
    page.press("ARROW_UP", "ARROW_UP", "END")
    assert "The best output. Output 1 of 2." in page.text("#tree-readout .facts")
    page.press("ENTER")
    assert page.find("[aria-pressed=true]").get_attribute("data-place") == "6"
    assert fragment(page) == "#node=6"
    page.press("ESCAPE", "HOME")
    assert page.run("return document.querySelector('[aria-pressed=true]')") is None
    assert page.text("#tree-readout .whole") == "a"
    assert page.run("return document.querySelectorAll('.node[tabindex=\"0\"]').length") == 1


def test_a_click_keeps_a_hypothesis_and_the_address_leads_back_to_it(tree: Opened) -> None:
    page = tree()
    node(page, 5).click()
    page.point(node(page, 0))
    assert page.text("#tree-readout .whole") == "bd"
    assert fragment(page) == "#node=5"
    page.driver.refresh()
    assert page.text("#tree-readout .whole") == "bd"
    assert places(page, ".node.on") == [1, 5]
    node(page, 5).click()
    assert fragment(page) in ("", "#")


def test_what_led_to_outputs_can_be_shown_alone(tree: Opened) -> None:
    page = tree()
    before = page.find("#tree").rect["height"]
    page.find("input[value=outputs]").click()
    assert places(page, ".node") == [0, 3, 4, 6, 7]
    assert page.find("#tree").rect["height"] < before
    assert fragment(page) == "#show=outputs"
    page = tree(fragment="#show=outputs&node=7")
    assert places(page, ".node.on") == [0, 4, 7]
    page = tree(fragment="#show=outputs&node=2")  # which is not shown
    assert places(page, ".node.on") == []


def test_outputs_are_listed_and_light_up_their_way(tree: Opened) -> None:
    page = tree()
    lines = [line.text.split() for line in page.all(".output")]
    assert lines == [["1", "−0.50", "ad"], ["2", "−0.70", "ae"]]
    page.point(page.all(".output")[1])
    assert places(page, ".node.on") == [0, 4, 7]


@pytest.mark.parametrize("nonsense", ["#node=99&show=x", "#node=__proto__", "#node=-1", "#%00&&=="])
def test_a_fragment_of_nonsense_shows_everything(tree: Opened, nonsense: str) -> None:
    page = tree(fragment=nonsense)
    assert places(page, ".node") == list(range(10))
    assert places(page, ".node.on") == []
    assert page.said() == []


def test_what_is_read_from_the_right_grows_from_the_right(tree: Opened) -> None:
    page = tree(small_tree("אבגדהו"))
    assert node(page, 0).rect["x"] > node(page, 3).rect["x"] > node(page, 6).rect["x"]
    page.run("document.querySelector('.node').focus()")
    page.press("ARROW_LEFT")
    assert page.text("#tree-readout .whole") == "אד"


# The next token


def test_at_first_it_is_the_models_own(following: Opened) -> None:
    page = following()
    assert page.driver.title == "I see → Eu vejo …"
    assert [piece.text for piece in page.all("#before .piece")] == ["␣Eu", "␣vejo"]
    assert shares(page) == pytest.approx([0.4, 0.3, 0.2, 0.1], abs=1e-5)
    text = page.text("#summary")
    assert text.startswith("5 of 5 tokens may be drawn. Entropy 1.35 nats; the model's own is 1.35 nats.")
    assert text.endswith("What the model's best output has here is ␣o.")
    assert page.find("tr.taken th").text == "␣o"
    assert page.find("#examples [aria-pressed=true]").text == "as it is"


def test_sliders_redraw_at_once(following: Opened) -> None:
    page = following()
    move(page, "top_k", 2)
    assert shares(page) == pytest.approx([4 / 7, 3 / 7, 0, 0], abs=1e-5)
    cells = [cell.text.replace("\u202f", " ") for cell in page.all("#tokens tbody td")]
    assert cells == ["40 %", "57 %", "30 %", "43 %", "20 %", "cut", "10 %", "cut"]
    assert page.text("#summary").startswith("2 of 5 tokens")
    assert page.find(".slider.set output").text == "2"
    assert page.find("#examples [aria-pressed=true]").text == "top-k 2"
    move(page, "temperature", 0)
    assert shares(page) == [1, 0, 0, 0]
    page.find("#examples button").click()
    assert shares(page) == pytest.approx([0.4, 0.3, 0.2, 0.1], abs=1e-5)
    assert fragment(page) in ("", "#")


def test_arrow_keys_move_a_slider(following: Opened) -> None:
    page = following()
    page.run("document.getElementById('temperature').focus()")
    page.press("ARROW_LEFT", "ARROW_LEFT")
    page.wait("return document.querySelector('.slider.set output').value", wanted="0.9")
    assert fragment(page) == "#temperature=0.9"
    page.run("document.getElementById('top_k').focus()")
    page.press("ARROW_LEFT")
    page.wait("return document.getElementById('top_k').getAttribute('aria-valuetext')", wanted="5")


@pytest.mark.parametrize(
    "options",
    [
        {"temperature": 0.3},
        {"temperature": 1.75},
        {"temperature": 0.0},
        {"top_k": 7},
        {"top_p": 0.55},
        {"min_p": 0.21},
        {"typical": 0.35},
        {"temperature": 1.4, "top_k": 30, "top_p": 0.9, "min_p": 0.02, "typical": 0.7},
    ],
    ids=str,
)
def test_the_page_draws_from_what_sampling_draws_from(following: Opened, options: dict[str, float]) -> None:
    """The script's own filters match those of the searches."""
    values = (2 * torch.randn(1, 40, generator=torch.Generator().manual_seed(5), dtype=torch.float64)).log_softmax(-1)
    log_probabilities = values.sort(descending=True).values
    names = [f"t{place}" for place in range(40)]
    every = Choices("x", [], "", names, range(40), [Panel("", "", {}, log_probabilities[0].exp().numpy())], [0])
    page = following(every, start=ChoicesStart(options, shown=40))
    expected = distribution(log_probabilities, SamplingOptions(**options))[0].exp().numpy()
    assert np.array(shares(page))[:-1] == pytest.approx(expected, abs=2e-5)
    assert page.text("#summary").startswith(f"{(expected > 0).sum()} of 40 tokens")


def test_the_fragment_says_what_is_shown(following: Opened) -> None:
    page = following(fragment="#top_p=0.65&shown=2")
    assert shares(page) == pytest.approx([4 / 7, 3 / 7, 0], abs=1e-5)
    move(page, "shown", 3)
    assert fragment(page) == "#top_p=0.65"  # three is where it starts
    page.run("location.hash = '#temperature=0'")
    page.wait("return document.getElementById('temperature').value", wanted="0")  # the event is later than the change
    assert shares(page)[0] == 1


@pytest.mark.parametrize("nonsense", ["#temperature=x&top_k=-1&top_p=7", "#shown=99&min_p=", "#toString=1&%00"])
def test_nonsense_changes_nothing(following: Opened, nonsense: str) -> None:
    page = following(fragment=nonsense)
    assert shares(page) == pytest.approx([0.4, 0.3, 0.2, 0.1], abs=1e-5)
    assert page.said() == []
