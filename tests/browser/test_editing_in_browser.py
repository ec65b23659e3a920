"""Editing attention on the page of a real server: heads off, links dragged, undone, saved and opened again."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest
from chromium import Browser
from desk import settle
from editing_desk import drag, middle, saved, sentences, shown, words

import regard

sys.path.insert(0, str(Path(__file__).parents[1] / "serving"))
from loopback import on_loopback
from toy import make_model

from regard.serving.app import make_app
from regard.serving.options import ServingOptions

pytestmark = pytest.mark.browser

TEXT = "Ana sees the red house."
HEAD = {"at": "cross.1.1", "part": "head", "do": "zero"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_model(tmp_path_factory.mktemp("edited") / "toy", export=False)


@pytest.fixture(scope="module")
def address(folder: Path) -> Iterator[str]:
    with on_loopback(make_app([folder], ServingOptions())) as address:
        yield address


@pytest.fixture(scope="module")
def model(folder: Path) -> Any:
    return regard.load(folder)


@pytest.fixture
def page(browser: Browser, address: str) -> Iterator[Browser]:
    """Show the attention of head 1 of the first block, ready to be edited."""
    open_page(browser, address)
    yield browser
    browser.driver.get("about:blank")


def open_page(browser: Browser, address: str, **more: str) -> None:
    wish = {"text": TEXT, "view": "attention", "side": "cross", "layer": "1", "head": "1", **more}
    browser.open(f"{address}/", f"#{urlencode(wish)}")
    browser.wait("return document.getElementById('why').hidden", wanted=False)
    settle(browser)
    browser.find("#editing summary").click()
    browser.wait("return document.querySelectorAll('.grip').length > 0")


def written(model: Any, edits: list[dict[str, Any]]) -> str:
    """Return what the model writes under edits in Python."""
    with regard.editing(model, [regard.Edit(**edit) for edit in edits]):
        return str(model.translate([TEXT])[0].text)


def test_a_head_is_switched_off_and_on(page: Browser, model: Any) -> None:
    heads = page.all(".head-switch")
    assert [head.text for head in heads] == ["head 1", "head 2"]
    heads[1].click()
    edits = [HEAD | {"at": "cross.1.2"}]
    assert shown(page) == {"unedited": model.translate([TEXT])[0].text, "edited": written(model, edits)}
    assert sentences(page) == ["cross, block 1, head 2: switched off."]
    assert [head.get_attribute("aria-pressed") for head in page.all(".head-switch")] == ["false", "true"]
    assert page.focused()["text"] == "head 2"
    assert len(page.all(".thumb.off")) == 1
    page.press("ENTER")
    assert sentences(page) == []
    assert not page.find("#edited-outputs").is_displayed()
    assert page.said() == []


@pytest.mark.long
def test_words_that_changed_are_marked(page: Browser, model: Any) -> None:
    for block in "12":
        page.find(f"input[name=layer][value='{block}']").click()
        for head in (0, 1):
            page.all(".head-switch")[head].click()
            settle(page)
    texts = shown(page)
    assert texts["edited"] != texts["unedited"]
    marked = page.run("return [...document.querySelectorAll('#edited mark')].map((each) => each.textContent)")
    assert set(marked) == set(texts["edited"].split()) - set(texts["unedited"].split())
    for _ in range(4):
        page.find("#edits-undo").click()
        settle(page)
    assert sentences(page) == []
    assert not page.find("#edits-undo").is_enabled()


def test_a_link_is_dragged_to_another_word(page: Browser, model: Any) -> None:
    page.run("document.getElementById('lines').scrollIntoView({ block: 'center' })")
    row, column = map(int, page.run(
        "const grip = [...document.querySelectorAll('.grip')].at(-1);"
        "const at = grip.getPointAtLength(grip.getTotalLength() / 2);"
        "const box = grip.ownerSVGElement.getBoundingClientRect();"
        "window.grip = [at.x + box.left, at.y + box.top];"
        "const over = document.elementFromPoint(...window.grip);"  # links cross, so another may lie on top
        "return [over.dataset.row, over.dataset.column]"
    ))  # fmt: skip
    sources, targets = words(page, "columns"), words(page, "rows")
    to = 1 if column != 1 else 2
    drag(page, tuple(page.run("return window.grip")), middle(page, "#columns .word", to))
    edits = [{"at": "cross.1.1", "do": "move", "queries": [row], "keys": [column], "to": to}]
    assert shown(page)["edited"] == written(model, edits)
    expected = f"cross, block 1, head 1: {targets[row]} looks at {sources[to]} instead of {sources[column]}."
    assert sentences(page) == [expected]
    assert saved(page)["edits"] == edits
    assert page.run("return document.querySelectorAll('.strand.edited').length") == 1
    assert page.said() == []


@pytest.mark.long
def test_a_word_is_dragged_onto_the_one_it_looks_at(page: Browser, model: Any) -> None:
    page.run("document.getElementById('lines').scrollIntoView({ block: 'center' })")
    sources, targets = words(page, "columns"), words(page, "rows")
    drag(page, middle(page, "#rows .word", 0), middle(page, "#columns .word", 3))
    assert sentences(page) == [f"cross, block 1, head 1: {targets[0]} looks only at {sources[3]}."]
    edits = [{"at": "cross.1.1", "do": "force", "queries": [0], "keys": [3]}]
    assert shown(page)["edited"] == written(model, edits)
    page.find("#numbers summary").click()
    page.wait(
        "return [...document.querySelectorAll('#table tr:nth-child(2) td')].map((each) => each.textContent)",
        wanted=["1.0000" if column == 3 else "0.0000" for column in range(len(sources))],
    )
    page.find("#edit-list .remove").click()
    assert sentences(page) == []
    page.find("#edits-undo").click()  # what was removed comes back
    assert len(sentences(page)) == 1


def test_a_finger_drags_on_a_narrow_screen(browser: Browser, address: str) -> None:
    browser.appear(390)
    open_page(browser, address)
    browser.run("document.getElementById('lines').scrollIntoView({ block: 'center' })")
    sources, targets = words(browser, "columns"), words(browser, "rows")
    drag(browser, middle(browser, "#rows .word", 0), middle(browser, "#columns .word", 3), "touch")
    assert sentences(browser) == [f"cross, block 1, head 1: {targets[0]} looks only at {sources[3]}."]
    assert browser.run("return document.documentElement.scrollWidth <= innerWidth")
    browser.driver.get("about:blank")


def test_a_cell_is_moved_by_pointer_and_by_keys(page: Browser) -> None:
    page.run("document.getElementById('cells').scrollIntoView({ block: 'center' })")
    left, top, width, height = page.run(
        "const box = document.getElementById('cells').getBoundingClientRect();"
        "return [box.left, box.top, box.width, box.height]"
    )
    columns, rows = len(words(page, "columns")), len(words(page, "rows"))
    row = top + height / rows / 2
    drag(page, (left + width / columns / 2, row), (left + width / columns * 2.5, row))
    assert saved(page)["edits"] == [{"at": "cross.1.1", "do": "move", "queries": [0], "keys": [0], "to": 2}]
    settle(page)
    page.run("document.getElementById('cells').focus()")
    page.press("ARROW_DOWN", "ENTER", "ARROW_RIGHT", "ESCAPE", "ENTER", "ARROW_RIGHT", "ENTER")
    settle(page)
    second = saved(page)["edits"][1]
    assert (second["do"], second["queries"], second["to"] - second["keys"][0]) == ("move", [1], 1)


def test_a_record_is_saved_and_opened_as_the_command_line_reads_it(
    page: Browser, address: str, model: Any, folder: Path, tmp_path: Path
) -> None:
    page.all(".head-switch")[0].click()
    settle(page)
    edited, record = shown(page)["edited"], saved(page)
    assert record["model"] == model.fingerprint
    file = tmp_path / "edits.json"
    file.write_text(json.dumps(record))
    with regard.editing(model, regard.Edits.load(file)):
        assert model.translate([TEXT])[0].text == edited
    open_page(page, address)
    page.find("#edits-file").send_keys(str(file))
    page.wait("return document.querySelectorAll('#edit-list li').length", wanted=1)
    assert shown(page)["edited"] == edited


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    ("record", "sentence"),
    [
        ({"format": 1, "edits": [HEAD | {"at": "cross.9.1"}]}, "no attention 'cross.9.1'"),
        ({"format": 1, "model": "0" * 64, "edits": [HEAD]}, "another model"),
        ({"edits": 3}, "edits.json holds no record of edits."),
    ],
)  # fmt: skip
def test_a_record_that_does_not_fit_is_refused_and_changes_nothing(
    page: Browser, tmp_path: Path, record: dict[str, Any], sentence: str
) -> None:
    page.all(".head-switch")[1].click()
    before = sentences(page)
    file = tmp_path / "edits.json"
    file.write_text(json.dumps(record))
    page.find("#edits-file").send_keys(str(file))
    page.wait("return document.getElementById('editing-trouble').hidden", wanted=False)
    assert sentence in page.text("#editing-trouble")
    assert sentences(page) == before
    assert len(before) == 1


@pytest.mark.long
def test_a_head_stays_off_for_the_next_text_and_a_link_belongs_to_its_own(page: Browser) -> None:
    page.all(".head-switch")[0].click()
    settle(page)
    page.run("document.getElementById('lines').scrollIntoView({ block: 'center' })")
    drag(page, middle(page, "#rows .word", 0), middle(page, "#columns .word", 1))
    assert len(sentences(page)) == 2
    page.lead(f"#{urlencode({'text': 'two dogs run.', 'view': 'attention'})}")
    page.wait("return document.querySelectorAll('#edit-list li').length", wanted=1)
    assert "switched off" in sentences(page)[0]


def test_nothing_is_dragged_while_the_part_is_closed(page: Browser) -> None:
    page.find("#editing summary").click()
    page.wait("return document.querySelectorAll('.grip').length", wanted=0)
    page.run("document.getElementById('lines').scrollIntoView({ block: 'center' })")
    drag(page, middle(page, "#rows .word", 0), middle(page, "#columns .word", 1))
    assert sentences(page) == []
