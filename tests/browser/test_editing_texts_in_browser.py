"""Editing the attention of served models that write, fill in, classify and tag; the view moves from desk to desk."""

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
from toys import open_trained_toy

import regard

sys.path.insert(0, str(Path(__file__).parents[1] / "serving"))
from loopback import on_loopback
from toy import make_model

from regard.serving.app import make_app

pytestmark = pytest.mark.browser

# Each toy, the name of its field in the address, and the text that is typed.
DESKS = {
    "gpt": ("prompt", "lessons read"),
    "bert": ("input", "two [MASK] run"),
    "encoder": ("input", "good film bad"),
    "tagging-bert": ("input", "good film bad"),
}


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    place = tmp_path_factory.mktemp("edited")
    made = {}
    for name in DESKS:
        data = place / f"data-{name}"
        data.mkdir()
        open_trained_toy(name.replace("-", " "), data)
        made[name] = (data / "run").rename(place / name)
    return made | {"toy": make_model(place / "toy", export=False)}


@pytest.fixture(scope="module")
def address(folders: dict[str, Path]) -> Iterator[str]:
    with on_loopback(make_app(list(folders.values()))) as address:
        yield address


@pytest.fixture(autouse=True)
def blank(browser: Browser) -> Iterator[None]:
    yield
    browser.driver.get("about:blank")


def open_desk(page: Browser, address: str, name: str, **more: str) -> None:
    """Open the attention of a model to its text, ready to be edited."""
    field, text = DESKS[name]
    tab = {"prompt": "generate", "input": "answer"}[field]
    wish = {"tab": tab, field: text, "answerer": name, f"{field}-attention": name, "layer": "1", "head": "1", **more}
    page.open(f"{address}/", f"#{urlencode(wish)}")
    page.wait("return document.querySelectorAll('#lines .word').length > 0")
    settle(page)
    page.find("#editing summary").click()
    page.wait("return document.querySelectorAll('.grip').length > 0")


def answered(folder: Path, text: str, edits: list[dict[str, Any]]) -> dict[str, str]:
    """Return what a model gives in Python without and with edits."""
    model = regard.load(folder)
    made = [regard.Edit(**edit) for edit in edits]
    if "generate" in model.verbs:

        def write() -> str:
            return str(model.generate([text], 40, beam=1)[0][0].text).removeprefix(text).strip()

        plain = write()
        with regard.editing(model, made):
            return {"unedited": plain, "edited": write()}
    about = model.look(text, edits=made).about
    return {"unedited": str(about["unedited"]), "edited": str(about["output"])}


@pytest.mark.one_in(4)
@pytest.mark.parametrize("name", DESKS)
def test_a_head_is_switched_off_and_a_link_dragged(
    browser: Browser, address: str, folders: dict[str, Path], name: str
) -> None:
    side = {"gpt": "text to text", "encoder": "pooling"}.get(name, "encoder")
    shown_side = {"gpt": "self-attention"}.get(name, side)
    open_desk(browser, address, name)
    if browser.all(".head-switch"):
        browser.all(".head-switch")[0].click()
    edits = [{"at": f"{side}.1.1", "part": "head", "do": "zero"}]
    assert shown(browser) == answered(folders[name], DESKS[name][1], edits)
    browser.run("document.getElementById('lines').scrollIntoView({ block: 'center' })")
    keys, queries = words(browser, "columns"), words(browser, "rows")
    row = len(queries) - 1
    drag(browser, middle(browser, "#rows .word", row), middle(browser, "#columns .word", 1))
    expected = f"{shown_side}, block 1, head 1: {queries[row]} looks only at {keys[1]}."
    assert sentences(browser) == [f"{shown_side}, block 1, head 1: switched off.", expected]
    record = saved(browser)
    assert record["model"] == regard.load(folders[name]).fingerprint
    assert record["edits"][0] == edits[0]
    assert shown(browser) == answered(folders[name], DESKS[name][1], record["edits"])
    browser.find("#edits-undo").click()
    assert len(sentences(browser)) == 1
    browser.find("#edits-undo").click()
    assert sentences(browser) == []
    assert not browser.find("#edited-outputs").is_displayed()
    assert browser.said() == []


def test_a_record_of_the_command_line_is_opened_and_shown(
    browser: Browser, address: str, folders: dict[str, Path], tmp_path: Path
) -> None:
    file = tmp_path / "edits.json"
    edit = regard.Edit(at="1.2", part="head", do="zero")
    regard.Edits(model=regard.load(folders["gpt"]).fingerprint, edits=(edit,)).save(file)
    open_desk(browser, address, "gpt")
    browser.find("#edits-file").send_keys(str(file))
    browser.wait("return document.querySelectorAll('#edit-list li').length", wanted=1)
    assert sentences(browser) == ["self-attention, block 1, head 2: switched off."]
    assert [head.get_attribute("aria-pressed") for head in browser.all(".head-switch")] == ["false", "true"]
    file.write_text(json.dumps({"format": 1, "model": "0" * 64, "edits": [{"at": "1", "part": "head", "do": "zero"}]}))
    browser.find("#edits-file").send_keys(str(file))
    browser.wait("return document.getElementById('editing-trouble').hidden", wanted=False)
    assert "another model" in browser.text("#editing-trouble")
    assert len(sentences(browser)) == 1


def test_a_word_cannot_look_at_a_later_one(browser: Browser, address: str) -> None:
    open_desk(browser, address, "gpt")
    browser.run("document.getElementById('lines').scrollIntoView({ block: 'center' })")
    drag(browser, middle(browser, "#rows .word", 0), middle(browser, "#columns .word", 2))
    browser.wait("return document.getElementById('editing-trouble').hidden", wanted=False)
    assert "may not look" in browser.text("#editing-trouble")
    assert sentences(browser) == []


@pytest.mark.long
def test_keys_move_a_link_and_switch_a_head(browser: Browser, address: str) -> None:
    open_desk(browser, address, "bert")
    browser.run("document.getElementById('cells').focus()")
    browser.press("ARROW_DOWN", "ENTER", "ARROW_RIGHT", "ENTER")
    settle(browser)
    (edit,) = saved(browser)["edits"]
    assert (edit["at"], edit["do"]) == ("encoder.1.1", "move")
    browser.run("document.querySelector('.head-switch').focus()")
    browser.press("ENTER")
    assert len(sentences(browser)) == 2
    assert browser.focused()["text"] == "head 1"


@pytest.mark.long
def test_a_head_stays_off_for_the_next_prompt_and_a_link_belongs_to_its_own(browser: Browser, address: str) -> None:
    open_desk(browser, address, "gpt")
    browser.all(".head-switch")[1].click()
    settle(browser)
    browser.run("document.getElementById('lines').scrollIntoView({ block: 'center' })")
    drag(browser, middle(browser, "#rows .word", 1), middle(browser, "#columns .word", 0))
    assert len(sentences(browser)) == 2
    browser.find("#prompt").send_keys(" read")
    browser.wait("return document.querySelectorAll('#edit-list li').length", wanted=1)
    assert "switched off" in sentences(browser)[0]


@pytest.mark.long
def test_the_view_moves_to_the_desk_that_is_visible(browser: Browser, address: str) -> None:
    fields = {"text": "Ana sees the red house.", "view": "attention", "prompt": "lessons read"}
    asked = {"input": "two [MASK] run", "answerer": "bert", "prompt-attention": "gpt", "input-attention": "bert"}
    browser.open(f"{address}/", f"#{urlencode(fields | asked)}")
    browser.wait("return document.querySelectorAll('#verbs .tab').length", wanted=3)
    first = {"translate": "attention-view", "generate": "prompt-attention-view", "answer": "input-attention-view"}
    for verb in ("generate", "answer", "translate", "answer", "generate"):
        browser.find(f"#{verb}-verb").click()
        browser.wait(
            "return document.getElementById('links-part').closest('.view, .folding > div').id", wanted=first[verb]
        )
        settle(browser)
        read = {"translate": "sees", "generate": "lessons", "answer": "[MASK]"}[verb]
        browser.wait("return document.getElementById('columns').textContent.includes(arguments[0])", read)
        assert browser.find("#lines").is_displayed()
        assert len(browser.all("#editing")) == 1
    assert browser.said() == []


def test_it_fits_a_narrow_screen_and_a_finger_drags(browser: Browser, address: str) -> None:
    browser.appear(390)
    open_desk(browser, address, "bert")
    browser.run("document.getElementById('lines').scrollIntoView({ block: 'center' })")
    drag(browser, middle(browser, "#rows .word", 2), middle(browser, "#columns .word", 1), "touch")
    assert sentences(browser) == ["encoder, block 1, head 1: [MASK] looks only at two."]
    assert browser.run("return document.documentElement.scrollWidth <= innerWidth")
    browser.appear()


@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    ("language", "title", "side"), [("pt", "Atenção", "autoatenção"), ("ru", "Внимание", "самовнимание")]
)
def test_it_speaks_other_languages(browser: Browser, address: str, language: str, title: str, side: str) -> None:
    open_desk(browser, address, "gpt")
    browser.find(f"#language option[value={language}]").click()
    browser.wait("return document.querySelector('#prompt-attention h2')?.textContent.trim()", wanted=title)
    browser.wait("return document.getElementById('links-title')?.textContent.includes(arguments[0])", side)
    browser.run("localStorage.clear()")
