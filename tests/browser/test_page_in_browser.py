"""The page in a real browser: it opens alone, shows what it is asked, by pointer and by keyboard, in any script."""

import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from chromium import Browser
from scenes import ARABIC, CROSSING, HEBREW, HOSTILE, LONG, SOURCE, TARGET, recurrent, scene

from regard.base.edits import Edit
from regard.viewing.page import PageScene, scene_page

sys.path.insert(0, str(Path(__file__).parents[1] / "viewing"))
from next_tokens import choices
from trees import small_tree

pytestmark = pytest.mark.browser

Opened = Callable[..., Browser]


@pytest.fixture
def opened(browser: Browser, tmp_path: Path) -> Opened:
    """Open the page of a scene."""

    def show(shown: PageScene | None = None, fragment: str = "") -> Browser:
        path = tmp_path / "página.html"
        scene_page(shown or scene()).write(path)
        browser.open(path, fragment)
        return browser

    return show


def strands(page: Browser, role: str) -> set[tuple[int, int]]:
    """Return the links in this role, as (row, column)."""
    links = page.run(f"return [...document.querySelectorAll('.strand.{role}')].map((each) => ({{ ...each.dataset }}))")
    return {(int(link["row"]), int(link["column"])) for link in links}


def choose(page: Browser, name: str, value: str) -> None:
    page.find(f"input[name={name}][value='{value}']").click()


def numbers(page: Browser) -> np.ndarray:
    """Return the displayed matrix, read from its table."""
    page.run("document.getElementById('numbers').open = true")
    page.settle()
    return np.array(
        page.run(
            "return [...document.querySelectorAll('#table tr')].slice(1)"
            ".map((line) => [...line.querySelectorAll('td')].map((cell) => Number(cell.textContent)))"
        )
    )


def fragment(page: Browser) -> str:
    return page.run("return location.hash")


def overflow(page: Browser) -> int:
    return page.run("return document.documentElement.scrollWidth - document.documentElement.clientWidth")


# Alone


def test_it_opens_without_a_word_to_the_console_or_a_request(opened: Opened) -> None:
    page = opened()
    assert page.said() == []
    assert [address for address in page.requests() if not address.startswith(("file:", "data:"))] == []
    assert page.text("#source") == " ".join(SOURCE)
    assert page.driver.title == "I see the red house . → Eu vejo a casa vermelha ."
    assert len(page.all("#columns .word")) == len(SOURCE)


def test_it_names_the_edits_of_the_model_and_the_output_without_them(browser: Browser, tmp_path: Path) -> None:
    plain = scene_page(scene())
    edits = [Edit(at="cross.1.1", part="head", do="zero"), Edit(at="decoder.1.2", part="output", do="zero")]
    edited = {"edits": [edit.model_dump(exclude_none=True) for edit in edits], "unedited": "Eu"}
    replace(plain, data={**plain.data, "edits_made": edited}).write(tmp_path / "edited.html")
    browser.open(tmp_path / "edited.html")
    assert browser.text("#edits-made") == f"edits{''.join(edit.describe() for edit in edits)}without editsEu"
    assert browser.said() == []


def test_links_end_at_their_words_beside_a_scrollbar(browser: Browser, opened: Opened) -> None:
    browser.appear(1200, 700)
    browser.driver.execute_cdp_cmd("Emulation.setScrollbarsHidden", {"hidden": False})
    try:
        page = opened()
        page.settle()
        assert page.run("return document.documentElement.clientWidth < innerWidth")
        ends, centres = page.run(
            "const left = document.getElementById('lines').getBoundingClientRect().left;"
            "const ends = [...document.querySelectorAll('.strand')].map((strand) =>"
            " [Number(strand.dataset.column), strand.getPointAtLength(strand.getTotalLength()).x]);"
            "const centre = ({ left: start, right }) => (start + right) / 2 - left;"
            "const words = [...document.querySelectorAll('#columns .word')];"
            "return [ends, words.map((each) => centre(each.getBoundingClientRect()))];"
        )
        assert len(ends) >= len(SOURCE)
        assert max(abs(along - centres[column]) for column, along in ends) < 1
        assert page.said() == []
    finally:
        browser.driver.execute_cdp_cmd("Emulation.setScrollbarsHidden", {"hidden": True})


def test_its_policy_is_in_force(opened: Opened) -> None:
    page = opened()
    fetched = "fetch('https://localhost/x').then(() => arguments[0]('came'), (error) => arguments[0](error.name))"
    assert page.driver.execute_async_script(fetched) == "TypeError"
    written = "try { document.body.innerHTML = '<b>x</b>' } catch (error) { return error.name }"
    assert page.run(written) == "TypeError"
    assert any("Content Security Policy" in line for line in page.said())


# Who looks at whom


def test_pointing_at_a_word_lights_up_what_it_looks_at(opened: Opened) -> None:
    page = opened(fragment="#head=1&layer=1")
    everything = strands(page, "out")
    assert not strands(page, "faded")
    page.point(page.all("#rows .word")[3])
    assert strands(page, "out") == {(3, 4)}
    assert strands(page, "faded") == everything - {(3, 4)}
    assert (
        page.text("#readout")
        == "casa looks at house 90\u202f% I 2\u202f% see 2\u202f% the 2\u202f% red 2\u202f% . 2\u202f%"
    )
    lit = page.run("return [...document.querySelectorAll('.looked-at')].map((each) => each.textContent)")
    assert lit == ["house"]
    page.point(page.find("h1"))
    assert strands(page, "out") == everything


def test_pointing_at_a_source_word_shows_who_looks_at_it(opened: Opened) -> None:
    page = opened(fragment="#head=1&layer=1")
    page.point(page.all("#columns .word")[3])
    assert strands(page, "in") == {(4, 3)}
    assert not strands(page, "out")
    assert page.text("#readout").startswith("red is looked at by vermelha 90\u202f%")


def test_in_self_attention_a_word_is_both(opened: Opened) -> None:
    page = opened(fragment="#side=encoder&head=1&layer=1")
    page.point(page.all("#rows .word")[3])
    assert strands(page, "out") == {(3, 4)}
    assert strands(page, "in") == {(4, 3)}
    first, second = (element.text for element in page.all("#readout p"))
    assert first.startswith("red looks at house 90")
    assert second.startswith("red is looked at by house 90")


def test_the_opacity_of_a_link_is_its_weight(opened: Opened) -> None:
    page = opened(fragment="#head=2&layer=1")
    opacity = page.find(".strand[data-row='1'][data-column='1']").get_attribute("stroke-opacity")
    assert float(opacity) == pytest.approx(0.5)


def test_a_click_keeps_a_word_while_heads_change(opened: Opened) -> None:
    page = opened(fragment="#head=1&layer=1")
    word = page.all("#rows .word")[3]
    word.click()
    assert word.get_attribute("aria-pressed") == "true"
    page.point(page.all("#rows .word")[0])
    choose(page, "head", "2")
    assert page.text("#readout").startswith("casa looks at red 50\u202f%")
    word.click()
    assert word.get_attribute("aria-pressed") == "false"


def test_arrow_keys_go_from_word_to_word(opened: Opened) -> None:
    page = opened(fragment="#head=1&layer=1")
    page.run("document.querySelector('#columns .word').focus()")
    page.press("ARROW_RIGHT")
    assert page.text("#readout").startswith("see is looked at by vejo")
    page.press("ARROW_DOWN")
    assert page.focused()["holder"] == "rows"
    assert page.text("#readout").startswith("vejo looks at see")
    page.press("END", "ARROW_LEFT", "ENTER")
    assert page.find("[aria-pressed=true]").text == "vermelha"
    page.press("ESCAPE")
    assert page.run("return document.querySelector('.word[aria-pressed=true]')") is None
    assert page.text("#readout").startswith("vermelha looks at red")


def test_tab_reaches_every_part_once(opened: Opened) -> None:
    page = opened()
    places = []
    for _ in range(15):
        page.press("TAB")
        focused = page.focused()
        places.append(focused["id"] or focused["holder"] or focused["class"])
    assert places.pop(0) == "heading"  # the language
    groups = ["side", "layer", "head", "mode"]
    names = page.run("return [...document.querySelectorAll('fieldset')].map((each) => each.id)")
    assert names == groups
    assert places[4:6] == ["columns", "rows"]
    assert "cells" in places
    assert "thumb" in places


# The matrix


def test_choosing_a_block_or_a_head_changes_the_matrix(opened: Opened) -> None:
    page = opened(fragment="#head=1&layer=1")
    expected = scene().words[0]
    assert np.allclose(numbers(page), expected.blocks[0].weights[0], atol=1e-4)
    choose(page, "layer", "2")
    assert np.allclose(numbers(page), expected.blocks[1].weights[0], atol=1e-4)
    choose(page, "head", "2")
    assert np.allclose(numbers(page), expected.blocks[1].weights[1], atol=1e-4)
    assert page.text("#matrix-title") == "Matrix: cross, block 2, head 2"
    assert "cross.1.look" in page.text("#caption")


def test_mean_and_maximum_are_those_of_the_heads(opened: Opened) -> None:
    page = opened(fragment="#layer=1")
    heads = scene().words[0].blocks[0].weights
    assert np.allclose(numbers(page), heads.mean(0), atol=1e-4)
    choose(page, "head", "max")
    assert np.allclose(numbers(page), heads.max(0), atol=1e-4)


def test_the_cells_are_as_dark_as_their_weights(opened: Opened) -> None:
    page = opened(fragment="#head=1&layer=1")
    shades = page.run(
        "const canvas = document.getElementById('cells'), pen = canvas.getContext('2d'), size = canvas.width / 6;"
        "const places = [0.1, 1.1, 2.1, 3.1, 4.1, 5.1].map((place) => place * size);"
        "return places.map((y) => places.map((x) => pen.getImageData(x, y, 1, 1).data[0]))"
    )
    assert np.argmin(shades, axis=1).tolist() == CROSSING


def test_a_cell_says_its_value_to_the_pointer_and_to_the_keys(opened: Opened) -> None:
    page = opened(fragment="#head=1&layer=1")
    page.point(page.find("#cells"), 5, 5)  # the middle is where four cells meet
    assert page.text("#value") == "casa → red 0.0200"
    page.run("document.getElementById('cells').focus()")
    page.press("ARROW_RIGHT")
    assert page.text("#value") == "casa → house 0.9000"
    assert [label.text for label in page.all(".label.pointed")] == ["casa", "house"]
    page.press("TAB")
    assert page.text("#value") == ""


# All blocks and heads


def test_a_small_matrix_is_shown_large_when_clicked(opened: Opened) -> None:
    page = opened()
    thumbs = page.all(".thumb")
    assert len(thumbs) == 4
    assert thumbs[3].get_attribute("aria-label") == "block 2, head 2, entropy 1.50 nats"
    thumbs[3].click()
    assert page.text("#matrix-title") == "Matrix: cross, block 2, head 2"
    assert [thumb.get_attribute("aria-pressed") for thumb in thumbs] == ["false", "false", "false", "true"]
    page.press("ARROW_UP", "ENTER")
    assert page.text("#matrix-title") == "Matrix: cross, block 1, head 2"
    assert "Entropy 1.50 nats" in page.text("#caption")


# The address


def test_the_fragment_says_what_is_shown(opened: Opened) -> None:
    page = opened(fragment="#side=decoder&layer=2&head=max")
    assert page.text("#matrix-title") == "Matrix: decoder, block 2, maximum of 2 heads"
    choose(page, "side", "cross")
    choose(page, "mode", "tokens")
    assert fragment(page) == "#side=cross&layer=2&head=max&mode=tokens"
    page.driver.refresh()
    assert page.find("#rows .word").text == "␣Eu"
    page.run("location.hash = '#side=encoder&mode=words&layer=1&head=1'")
    page.settle()
    assert page.text("#matrix-title") == "Matrix: encoder, block 1, head 1"


@pytest.mark.parametrize("nonsense", ["#side=toString&layer=-1&head=__proto__&mode=x", "#%00&&==", "#layer=99&head=99"])
def test_a_fragment_of_nonsense_shows_what_is_usual(opened: Opened, nonsense: str) -> None:
    page = opened(fragment=nonsense)
    assert page.text("#matrix-title") == "Matrix: cross, block 1, mean of 2 heads"
    assert page.said() == []


def test_a_single_attention_offers_no_choice(opened: Opened) -> None:
    page = opened(recurrent())
    assert [element.is_displayed() for element in page.all("fieldset")] == [False] * 4
    assert page.text("#matrix-title") == "Matrix: cross"
    assert page.said() == []


# All views in one file


def test_the_page_shows_what_else_could_be_written_and_the_beam(opened: Opened) -> None:
    places = [choices(), choices(tokens=["▁casa", "▁o", "▁um"], taken=0)]
    page = opened(replace(scene(), written=["▁o", "▁casa"], choices=places, tree=small_tree()), "#node=4&head=1")
    assert page.text("#before .place") == "␣o"
    page.all("#before button")[1].click()
    assert page.text("#before .place") == "␣casa"
    assert page.text("#summary").endswith("What the output has here is ␣casa.")
    assert page.text("#tree-readout .whole") == "ae"
    choose(page, "show", "outputs")
    choose(page, "head", "2")
    expected = "#node=4&head=2&at=1&show=outputs&side=cross&layer=1&mode=words"
    assert fragment(page) == expected
    page.driver.refresh()
    assert page.text("#before .place") == "␣casa"
    assert len(page.all(".node:not([hidden])")) == 5
    assert page.text("#matrix-title") == "Matrix: cross, block 1, head 2"
    assert page.said() == []


# Any text, any window


def test_what_was_typed_stays_text(opened: Opened) -> None:
    page = opened(scene(HOSTILE, HOSTILE))
    page.point(page.all("#rows .word")[1])
    shown = page.run("return [...document.querySelectorAll('#rows .word')].map((each) => each.textContent)")
    assert shown == [*HOSTILE[:-1], "a\\u2028b"]
    assert HOSTILE[1] in page.text("#readout")
    assert page.run("return window.hacked ?? null") is None
    assert page.run("return [document.scripts.length, document.images.length]") == [3, 0]
    assert page.said() == []


def test_dark_is_dark_and_can_change_while_it_is_open(opened: Opened) -> None:
    page = opened()
    shade = "return getComputedStyle(document.body).backgroundColor.match(/\\d+/g).map(Number)"
    cell = "return [...document.getElementById('cells').getContext('2d').getImageData(2, 40, 1, 1).data]"
    assert min(page.run(shade)) > 200
    light = page.run(cell)
    page.appear(scheme="dark")
    page.settle()
    assert max(page.run(shade)) < 60
    assert page.run(cell) != light


@pytest.mark.one_in(4)
@pytest.mark.parametrize(("source", "target"), [(SOURCE, TARGET), (LONG, LONG), (HOSTILE, ARABIC), (["Sim"], ["Yes"])])
def test_nothing_sticks_out_of_a_phone(opened: Opened, browser: Browser, source: list[str], target: list[str]) -> None:
    browser.appear(width=360, height=740)
    page = opened(scene(source, target))
    assert overflow(page) == 0
    choose(page, "side", "encoder")
    assert overflow(page) == 0
    assert page.said() == []


def test_long_lines_stand_beside_each_other(opened: Opened, browser: Browser) -> None:
    page = opened(scene(LONG, TARGET))
    left, right = (page.find(f"#{line} .word").rect for line in ("columns", "rows"))
    assert left["x"] + left["width"] < right["x"]
    page = opened()
    above, below = (page.find(f"#{line} .word").rect for line in ("columns", "rows"))
    assert above["y"] + above["height"] < below["y"]
    browser.appear(width=320)
    page.settle()
    assert "beside" in page.find("#lines").get_attribute("class")


def test_what_is_read_from_the_right_begins_at_the_right(opened: Opened) -> None:
    page = opened(scene(HEBREW, ARABIC, ("he", "ar")))
    for line in ("columns", "rows"):
        first, *_, last = page.all(f"#{line} .word")
        assert first.rect["x"] > last.rect["x"]
    page.run("document.querySelector('#rows .word').focus()")
    page.press("ARROW_LEFT")
    assert page.focused()["text"] == ARABIC[1]
    assert page.find("#rows .word").get_attribute("lang") == "ar"


def test_lines_read_in_opposite_directions_stand_beside_each_other(opened: Opened) -> None:
    page = opened(scene(SOURCE, ARABIC))
    assert "beside" in page.find("#lines").get_attribute("class")
    assert len({round(word.rect["x"]) for word in page.all("#rows .word")}) == 1  # all begin where their links end


def test_everything_that_can_be_used_has_a_name(opened: Opened) -> None:
    page = opened()
    names = page.names("button", "radio", "toolbar", "application", more_than=20)
    assert all(names)
    live = page.run("return [...document.querySelectorAll('[role=status], output')].map((each) => each.id)")
    assert live == ["caption", "readout", "value"]
