"""The served page after a change of request: nothing is left of, or applied to, the previous one."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event

import numpy as np
import pytest
from chromium import Browser
from desk import TEXT, Opened, outputs, settle, show_models, type_text, wait_for_outputs, wished
from pretend import MODELS, Pretending
from pretend_captions import DESCRIBER
from test_served_captions import CAPTION, DROP
from test_served_desks import answering
from test_served_drawing import READER, SKETCHER, drag, lines
from test_served_sounds import LISTENER, SPEAKER, names_of_rows
from test_served_words import WORDS

from regard.viewing.frames import FrameLooks, frames_data
from regard.viewing.overlay import overlay_data
from regard.viewing.seen import Block
from regard.viewing.strokes import stroke_data
from regard.viewing.windows import glimpse_data

sys.path.insert(0, str(Path(__file__).parents[1] / "viewing"))
from drawn import glimpses, overlay, stroke_looks

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("left_behind")]


@contextmanager
def held(server: Pretending, what: str) -> Iterator[None]:
    """Hold back the answers about a text, or of a path, in this block."""
    server.held[what] = Event()
    try:
        yield
    finally:
        server.held.pop(what).set()


def choose(page: Browser, choice: str, value: str) -> None:
    page.find(f"#{choice} option[value='{value}']").click()


# Translations and why


def test_a_token_is_picked_for_the_place_at_which_it_was_offered(opened: Opened, server: Pretending) -> None:
    page = opened(text="the cat sleeps", view="next", at=1)
    page.wait("return document.querySelectorAll('#tokens .pick').length", wanted=2)
    with held(server, "/v1/next"):
        page.all("#before button")[2].click()
        page.find("#tokens .pick").click()  # of the list for the second token, which is still there
        wait_for_outputs(page, "a talvez dorme")
    assert server.questions("/v1/translate")[-1]["before"] == ["▁a", "▁talvez"]


def test_an_output_is_chosen_for_the_sentence_that_it_is_of(opened: Opened, server: Pretending) -> None:
    page = opened(text=TEXT, view="others", n=2)
    page.wait("return document.querySelectorAll('#n-best .output').length", wanted=2)
    with held(server, "the cat sleeps."):
        page.find("#sentence-after").click()
        page.all("#n-best .output")[1].click()
        wait_for_outputs(page, "Eu vejo a casa. e tal a gata dorme.")
    assert '"I see the house."' in wished(page)["pick"]


def test_a_choice_holds_wherever_its_sentence_stands(opened: Opened) -> None:
    page = opened(text="the cat. the cat.", view="next")
    page.wait("return document.querySelectorAll('#tokens .pick').length", wanted=2)
    page.find("#tokens .pick").click()
    wait_for_outputs(page, "talvez gata. talvez gata.")


def test_a_refused_text_leaves_nothing_of_the_one_before(opened: Opened, server: Pretending) -> None:
    page = opened(text="the cat")
    server.refusals = [(413, "The text is too long.", {})]
    type_text(page, " sleeps")
    page.wait("return document.querySelector('.translation .trouble').hidden", wanted=False)
    assert outputs(page) == [""]
    assert not page.find("#why").is_displayed()
    page.find(".translation .trouble button").click()
    wait_for_outputs(page, "a gata dorme")


def test_a_stream_that_breaks_off_is_told(opened: Opened, server: Pretending) -> None:
    page = opened()
    server.breaks_off = True
    type_text(page, TEXT)
    page.wait("return document.querySelector('.translation .trouble').hidden", wanted=False)
    assert "The server does not answer." in page.text(".translation .trouble")


def test_a_pointer_that_rests_on_the_matrix_may_point_at_a_word_that_goes(opened: Opened) -> None:
    page = opened(text="I see the house", view="attention")
    cells = page.find("#cells")
    page.point(cells, cells.rect["width"] // 2 - 8, cells.rect["height"] // 2 - 8)
    assert page.text("#value").startswith("casa → house")
    page.lead("#models=plain&text=the+cat")
    page.wait("return document.querySelectorAll('#rows .word').length", wanted=2)
    settle(page)
    assert page.said() == []


def test_what_was_hidden_while_the_window_changed_is_laid_out_when_it_is_seen(
    browser: Browser, server: Pretending
) -> None:
    page = show_models(browser, server, [*MODELS, answering("nodes")], "#input=3&text=the+cat")
    page.wait("return document.querySelectorAll('#rows .word').length", wanted=2)
    page.find("#answer-verb").click()
    page.wait("return document.querySelectorAll('#graph-nodes .node-name').length", wanted=3)
    browser.appear(700)
    page.settle()
    page.find("#translate-verb").click()
    width = "return document.getElementById('frame').offsetWidth - document.getElementById('matrix').clientWidth <= 0"
    page.wait(width)
    browser.appear(500)
    page.settle()
    page.find("#answer-verb").click()
    page.wait("return document.getElementById('graph').offsetWidth > 300")
    assert page.said() == []


# Answers


def test_an_address_of_another_model_leaves_no_answer(browser: Browser, server: Pretending) -> None:
    models = [answering("nodes"), answering("nodes") | {"name": "other"}]
    page = show_models(browser, server, models, "#input=3")
    page.wait("return document.getElementById('answer').textContent", wanted="odd 90\u202f%")
    page.lead("#answerer=other")
    page.wait("return document.getElementById('answer-part').hidden")
    assert not page.find("#looking").is_displayed()


def test_no_answer_stands_over_what_another_looked_at(browser: Browser, server: Pretending) -> None:
    page = show_models(browser, server, [answering("nodes")], "#input=3")
    page.wait("return document.getElementById('looking').hidden", wanted=False)
    with held(server, "/v1/look"):
        page.find("#input").clear()
        page.find("#input").send_keys("12\n")
        page.wait("return document.getElementById('answer').textContent", wanted="even 90\u202f%")
        assert not page.find("#looking").is_displayed()
    page.wait("return document.querySelector('#graph-nodes .middle').ariaLabel", wanted="12")
    assert page.find("#looking").is_displayed()


def test_a_clean_sheet_has_no_answer(browser: Browser, server: Pretending) -> None:
    page = show_models(browser, server, [READER | {"can": ["answer"], "extent": 80}])
    page.wait("return document.getElementById('sketch') !== null")
    clear = page.find("#input button:last-of-type")
    with held(server, "/v1/answer"):
        drag(page, page.find("#sketch"), 10, 20)
        clear.click()
    settle(page)
    assert not page.find("#answer-part").is_displayed()
    drag(page, page.find("#sketch"), 10, 20)
    page.wait("return document.getElementById('answer-part').hidden", wanted=False)
    clear.click()
    page.wait("return document.getElementById('answer-part').hidden")


COMPOSING = """
const event = new KeyboardEvent("keydown", { key: "Enter", isComposing: true, bubbles: true, cancelable: true });
return arguments[0].dispatchEvent(event);
"""


def test_enter_that_ends_a_composed_letter_asks_nothing(browser: Browser, server: Pretending) -> None:
    painter = {"name": "shapes", "task": "painting", "reads": "text", "family": "oracle", "can": ["draw"]}
    page = show_models(browser, server, [answering("story"), painter])
    page.find("#input").send_keys("Where?")
    assert page.run(COMPOSING, page.find("#input"))  # it is left to the browser
    page.find("#draw-verb").click()
    page.run(COMPOSING, page.find("#draw-prompt"))
    assert server.asked == []


# Pictures and sounds


def test_what_a_model_looked_at_goes_with_its_caption(browser: Browser, server: Pretending) -> None:
    blind = DESCRIBER | {"name": "blind", "can": ["caption"]}
    page = show_models(browser, server, [DESCRIBER, blind])
    page.run(DROP, [49])
    page.wait(CAPTION, wanted="a red circle above")
    settle(page)
    assert page.find("#caption-looks").is_displayed()
    page.lead("#captioner=blind")
    page.wait("return document.getElementById('caption-facts').textContent.endsWith('blind')")
    settle(page)
    assert not page.find("#caption-looks").is_displayed()


def test_another_voice_speaks_and_another_ear_says_what_it_knows(
    browser: Browser, server: Pretending, tmp_path: Path
) -> None:
    other = SPEAKER | {"name": "other", "can": ["speak"], "speakers": ["cid"]}
    listeners = [LISTENER, LISTENER | {"name": "deaf", "can": ["transcribe"]}]
    page = show_models(browser, server, [SPEAKER, other, *listeners], "#tab=speak&spoken=abc")
    page.wait("return document.getElementById('speak-frames').hidden", wanted=False)
    choose(page, "voice", "other")
    page.wait("return document.getElementById('sound-said').textContent", wanted="abc, said by cid")
    settle(page)
    assert not page.find("#speak-frames").is_displayed()
    page.find("#transcribe-verb").click()
    (tmp_path / "said.wav").write_bytes(b"12")
    page.find("#sound-file").send_keys(str(tmp_path / "said.wav"))
    page.wait("return document.getElementById('transcribe-frames').hidden", wanted=False)
    assert names_of_rows(page, "transcribe-frames") == ["a", "a"]
    page.lead("#tab=transcribe&transcriber=deaf")
    page.wait("return document.getElementById('transcript-facts').textContent.endsWith('deaf')")
    settle(page)
    assert not page.find("#transcribe-frames").is_displayed()
    assert page.text("#transcribe-knowing b") == "deaf"
    assert page.run("return document.getElementById('sound-part').hidden")  # for the address says nothing of it


# Each view with its pointer target, its content, and its multiple or counted parts.
VIEWS = {
    "overlay": (".word-thumb:last-child", overlay_data(overlay()), "steps"),
    "windows": (".glimpse:last-child", glimpse_data(glimpses()), "steps"),
    "strokes": ("#strokes", stroke_data(stroke_looks()), "points", "looking"),
}
SHOW = """
const [name, looks, done] = arguments;
import(`./page/views/${name}.js`).then((view) => {
  const called = `${name[0].toUpperCase()}${name.slice(1)}`, holder = document.querySelector("main");
  if (!document.querySelector(".tried")) {
    holder.replaceChildren(Object.assign(document.createElement("div"), { className: "tried" }));
    view[`mount${called}`](holder.firstChild);
  }
  view[`show${called}`](looks, {});
  done("");
}).catch((error) => done(String(error)));
"""


@pytest.mark.one_in(3)
@pytest.mark.parametrize("view", VIEWS)
def test_what_is_pointed_at_may_be_no_more(browser: Browser, server: Pretending, view: str) -> None:
    pointed, looks, *several = VIEWS[view]
    fewer = {name: 1 if isinstance(looks[name], int) else looks[name][:1] for name in several}
    page = show_models(browser, server, MODELS)
    assert page.driver.execute_async_script(SHOW, view, looks) == ""
    thing = page.find(pointed)
    page.point(thing, *(thing.rect["width"] // 2 - 4, 0) if view == "strokes" else ())
    assert page.driver.execute_async_script(SHOW, view, looks | fewer) == ""


def test_a_long_sound_is_drawn(browser: Browser, server: Pretending) -> None:
    looks = FrameLooks("long", np.zeros(800, np.float32), 8000, 0.1, ["a"] * 400, [Block("look", np.eye(400)[None])])
    page = show_models(browser, server, MODELS)
    assert page.driver.execute_async_script(SHOW, "frames", frames_data(looks)) == ""


# Words


def test_neighbours_of_another_model_do_not_stay(browser: Browser, server: Pretending) -> None:
    page = show_models(browser, server, [WORDS, WORDS | {"name": "outras"}], "#word=gato&map=frequent")
    page.wait("return document.querySelectorAll('.map-word').length", wanted=3)
    page.wait("return document.getElementById('words-title-line').textContent", wanted="gato is nearest to")
    server.refused_path, server.refusals = "/v1/neighbours", [(400, "'gato' is not known.", {})]
    choose(page, "lexicon", "outras")
    page.wait("return document.getElementById('words-trouble').textContent", wanted="'gato' is not known.")
    assert not page.find("#words-part").is_displayed()
    server.refused_path, server.refusals = "/v1/map", [(400, "There is no map.", {})]
    choose(page, "lexicon", "palavras")
    page.wait("return document.getElementById('map-trouble').textContent", wanted="There is no map.")
    assert not page.find("#map-view").is_displayed()
    page.lead("#lexicon=palavras")
    page.wait("return document.getElementById('words-part').hidden")
    assert page.said() == []


def test_an_analogy_with_a_gap_forgets_what_was_asked_before(browser: Browser, server: Pretending) -> None:
    page = show_models(browser, server, [WORDS])
    with held(server, "/v1/neighbours"):
        page.find("#word").send_keys("gato\n")
        page.lead("#like=homem")
        page.wait("return document.getElementById('words-trouble').hidden", wanted=False)
    settle(page)
    assert not page.find("#words-part").is_displayed()
    assert page.find("#words-trouble").is_displayed()


def test_a_word_on_the_map_leads_on_and_one_that_is_out_of_sight_does_not(browser: Browser, server: Pretending) -> None:
    page = show_models(browser, server, [WORDS], "#word=gato&map=frequent")
    page.wait("return document.querySelector('#map-readout b').textContent", wanted="gato")
    page.run("document.getElementById('map').focus()")
    page.press(*["ARROW_LEFT"] * 20)  # gato is beyond the edge
    page.run("document.querySelector('.map-neighbour').click()")
    page.wait("return document.getElementById('words-title-line').textContent", wanted="gatoa is nearest to")
    assert page.run("return document.querySelectorAll('.map-word[aria-pressed=true]').length") == 1


# Drawings


def test_what_was_to_go_on_is_forgotten_when_its_beginning_changes(browser: Browser, server: Pretending) -> None:
    page = show_models(browser, server, [SKETCHER])
    page.wait("return document.getElementById('paper') !== null")
    drag(page, page.find("#paper"), 20, 20)
    with held(server, "/v1/draw"):
        page.find("#draw-on").click()
        page.find("#draw-undo").click()
        assert page.run("return document.getElementById('draw-part').hasAttribute('aria-busy')") is False
        page.find("#draw-nothing").click()
        drag(page, page.find("#paper"), 20, 20)
    settle(page)
    assert (len(lines(page, ".own")), lines(page, ".added")) == (1, [])
    assert page.said() == []


TOUCH = """
const paper = document.getElementById("paper"), { left, top } = paper.getBoundingClientRect();
paper.setPointerCapture = () => {};
paper.hasPointerCapture = () => true;
for (const [kind, pointerId, at] of arguments[0]) {
  const place = { clientX: left + at, clientY: top + at };
  paper.dispatchEvent(new PointerEvent(kind, { pointerId, isPrimary: pointerId === 1, bubbles: true, ...place }));
}
"""


def test_a_second_finger_takes_no_stroke_away(browser: Browser, server: Pretending) -> None:
    page = show_models(browser, server, [SKETCHER])
    page.wait("return document.getElementById('paper') !== null")
    first = [["pointerdown", 1, 20], ["pointermove", 1, 60]]
    page.run(TOUCH, [*first, ["pointerdown", 2, 100], ["pointerup", 2, 100], ["pointerup", 1, 60]])
    (stroke,) = lines(page, ".own")
    assert stroke[0] != stroke[-1]


# A key


def test_a_browser_that_keeps_nothing_asks_all_the_same(browser: Browser, server: Pretending) -> None:
    script = "Object.defineProperty(window, 'sessionStorage', { get() { throw new Error('not allowed') } })"
    command = "Page.addScriptToEvaluateOnNewDocument"
    script_id = browser.driver.execute_cdp_cmd(command, {"source": script})["identifier"]
    try:
        server.key = "open sesame"
        page = show_models(browser, server, MODELS, "#text=the+cat&models=plain")
        page.wait("return document.querySelector('.translation .trouble').hidden", wanted=False)
        page.find("#key-field").send_keys("open sesame")
        page.find("#key-form button").click()
        wait_for_outputs(page, "a gata")
    finally:
        browser.driver.execute_cdp_cmd("Page.removeScriptToEvaluateOnNewDocument", {"identifier": script_id})
