"""The page of the server in a real browser: typing, pointing, choosing, keeping, two tabs."""

import base64
import json
import threading

import pytest
from desk import TEXT, Opened, lit, outputs, settle, type_text, wait_for_outputs, wished, written
from pretend import INSTEAD, Pretending

pytestmark = pytest.mark.browser

SHOWN = "␣talvez"  # as displayed
OUTPUT = "Eu vejo a casa. a gata dorme."


# Translating


def test_translations_appear_as_one_types(opened: Opened, server: Pretending) -> None:
    page = opened()
    type_text(page, "I see")
    wait_for_outputs(page, "Eu vejo")
    type_text(page, " the house. the cat sleeps.")
    wait_for_outputs(page, OUTPUT)
    settle(page)
    assert page.text(".facts").startswith("42 ms · score −0.70 · torch")
    assert page.said() == []
    texts = [question["text"] for question in server.questions("/v1/translate")]
    assert len(texts) < len(TEXT)  # not for every key
    page.find("#clear").click()
    wait_for_outputs(page, "")
    assert not page.find("#why").is_displayed()


def test_an_answer_that_comes_late_is_dropped(opened: Opened, server: Pretending) -> None:
    server.held["the cat"] = threading.Event()
    page = opened()
    type_text(page, "the cat")
    page.wait("return document.querySelector('.translation').getAttribute('aria-busy')", wanted="true")
    type_text(page, " sleeps")
    wait_for_outputs(page, "a gata dorme")
    server.held["the cat"].set()
    page.settle()
    assert outputs(page) == ["a gata dorme"]
    assert page.said() == []


def test_models_stand_side_by_side_and_pairs_are_what_is_loaded(opened: Opened) -> None:
    page = opened(anew=False, text="the cat", models=["plain", "loud"])
    wait_for_outputs(page, "a gata", "A GATA")
    left, right = (panel.rect for panel in page.all(".translation"))
    assert left["y"] == right["y"]
    assert left["x"] + left["width"] < right["x"]
    page.find("#models input[value=plain]").click()
    wait_for_outputs(page, "A GATA")
    assert [option.text for option in page.all("#from option")] == ["English", "Portuguese"]
    assert [option.text for option in page.all("#to option")] == ["Portuguese"]
    page.find("#swap").click()
    assert [option.text for option in page.all("#to option")] == ["English"]
    assert page.text("#source-title") == "Portuguese"
    assert not page.find("#models").is_displayed()


# Words that belong together


def test_pointing_at_a_word_lights_up_its_links_on_both_sides(opened: Opened) -> None:
    page = opened(anew=False, text=TEXT)
    page.point(written(page, "gata"))
    assert lit(page) == {"source": ["cat"], "target": ["gata"]}
    assert page.text("#link-readout") == "gata comes from cat"
    box = page.run(
        'return document.querySelector(\'.mirrored[data-sentence="0"][data-word="1"]\').getBoundingClientRect()'
    )
    field = page.find("#text")
    middle = [field.rect["x"] + field.rect["width"] / 2, field.rect["y"] + field.rect["height"] / 2]
    page.point(field, int(box["x"] + 5 - middle[0]), int(box["y"] + 8 - middle[1]))
    assert lit(page) == {"source": ["see"], "target": ["vejo"]}
    assert page.text("#link-readout") == "see becomes vejo"


def test_the_caret_and_the_arrow_keys_light_up_links_too(opened: Opened) -> None:
    page = opened(anew=False, text=TEXT)
    page.find("#text").send_keys("")
    page.press("HOME", "ARROW_RIGHT", "ARROW_RIGHT", "ARROW_RIGHT")
    assert lit(page)["target"] == ["vejo"]
    page.run("document.querySelector('.written').focus()")
    page.press("ARROW_RIGHT", "ARROW_RIGHT")
    assert lit(page) == {"source": ["the"], "target": ["a"]}
    assert page.focused()["text"] == "a"
    assert page.run("return document.activeElement.getAttribute('aria-label')") == "a, from the"
    page.press("ARROW_RIGHT", "ENTER")
    page.wait("return document.activeElement.textContent", wanted="␣casa.")  # a key continues from there
    assert page.focused()["holder"] == "before"
    page.run("document.querySelector('.pick').focus()")
    page.press("ENTER")
    page.wait("return document.activeElement.textContent", wanted=SHOWN)


# Why


def test_choosing_heads_and_tokens(opened: Opened, server: Pretending) -> None:
    page = opened(text="the cat sleeps", layer=1)
    assert page.text("#matrix-title") == "Matrix: cross, block 1, mean of 2 heads"
    page.find("input[name=head][value='2']").click()
    assert page.text("#matrix-title") == "Matrix: cross, block 1, head 2"
    assert "Entropy 1.10 nats" in page.text("#caption")
    page.find("#matrix-part input[type=range], #sheet .thumb:first-child").click()
    assert page.text("#matrix-title") == "Matrix: cross, block 1, head 1"
    page.find("input[name=mode][value=tokens]").click()
    page.wait("return document.querySelector('#rows .word').textContent", wanted="␣a")
    assert [question["mode"] for question in server.questions("/v1/attention")] == ["words", "tokens"]
    assert wished(page)["mode"] == "tokens"


def test_the_sentence_that_is_explained_can_be_chosen(opened: Opened) -> None:
    page = opened(anew=False, text=TEXT)
    assert page.text("#subject") == "I see the house. → Eu vejo a casa."
    page.find("#sentence-after").click()
    page.wait("return document.querySelector('#rows .word').textContent", wanted="a")
    assert page.text("#subject") == "the cat sleeps. → a gata dorme."
    assert wished(page)["sentence"] == "2"


def test_picking_an_alternative_continues_from_there(opened: Opened, server: Pretending) -> None:
    page = opened(text=TEXT)
    written(page, "gata").click()
    page.wait("return document.querySelector('#before .place')?.textContent", wanted="␣gata")
    names = page.run("return [...document.querySelectorAll('#tokens tbody th')].map((each) => each.textContent)")
    assert names == ["␣gata", SHOWN, "end of sentence", "10 others"]
    assert server.questions("/v1/next")[-1]["before"] == ["▁a"]
    page.find(".pick").click()
    wait_for_outputs(page, "Eu vejo a casa. a talvez dorme.")
    assert server.questions("/v1/translate")[-1]["before"] == ["▁a", INSTEAD]
    settle(page)
    assert page.text("#before .place") == SHOWN
    page.driver.refresh()  # the choice is in the address
    wait_for_outputs(page, "Eu vejo a casa. a talvez dorme.")
    page.wait("return document.getElementById('picked').hidden", wanted=False)
    page.find("#picked button").click()
    wait_for_outputs(page, OUTPUT)
    assert "pick" not in wished(page)


def test_sliders_redraw_without_the_server(opened: Opened, server: Pretending) -> None:
    page = opened(anew=False, text="the cat", view="next")
    before = len(server.asked)
    page.run(
        "const slider = document.getElementById('top_k'); slider.value = 2;"
        "slider.dispatchEvent(new Event('input', { bubbles: true }))"
    )
    bars = page.run("return [...document.querySelectorAll('.drawn .bar')].map((each) => each.textContent)")
    assert [share.replace("\u202f", " ") for share in bars] == ["78 %", "22 %", "cut", "cut"]
    assert page.text("#summary").startswith("2 of 13 tokens may be drawn.")
    assert len(server.asked) == before
    assert wished(page)["top_k"] == "2"


def test_other_translations_and_the_beam(opened: Opened, server: Pretending) -> None:
    page = opened(anew=False, text="the cat", view="others", n=3)
    lines = page.run("return [...document.querySelectorAll('#n-best bdi')].map((each) => each.textContent)")
    assert lines == ["a gata", "a gata e tal", "a gata e e tal"]
    assert page.run("return [...document.querySelectorAll('#n-best mark')].map((each) => each.textContent)")[:2] == [
        "e",
        "tal",
    ]
    page.all("#n-best .output")[1].click()
    wait_for_outputs(page, "a gata e tal")
    page.find("#beam-tab").click()
    page.wait("return document.querySelectorAll('.node').length", wanted=4)
    assert page.text("#tree-caption").startswith("A beam of 2, 3 steps.")
    assert page.text("#key") == "best outputdropped"
    page.run(
        "const width = document.getElementById('beam-width'); width.value = 5; width.dispatchEvent(new Event('input'))"
    )
    page.wait("return document.querySelectorAll('.node').length", wanted=7)
    assert wished(page)["beam"] == "5"


def test_tabs_are_walked_by_arrow_keys(opened: Opened) -> None:
    page = opened(anew=False, text="the cat")
    page.run("document.getElementById('attention-tab').focus()")
    page.press("ARROW_RIGHT")
    assert page.find("#tabs [aria-selected=true]").text == "Next word"
    page.wait("return document.querySelector('#before .place')?.textContent", wanted="␣a")
    assert page.find("#next-panel").is_displayed()
    assert not page.find("#attention-panel").is_displayed()


# The address, and what can be kept


def test_the_address_leads_to_the_same_view_and_no_text_to_the_server_s_log(opened: Opened) -> None:
    page = opened(text=TEXT, view="next", sentence=2, at=1, temperature=0.5)
    assert page.text("#before .place") == "␣gata"
    assert page.find(".slider.set output").text == "0.5"
    assert all("cat" not in address for address in page.requests())
    page.run("location.hash = '#models=plain&text=the+house&view=attention'")
    wait_for_outputs(page, "a casa")
    assert page.find("#tabs [aria-selected=true]").text == "Attention"


def test_what_is_shown_can_be_saved(opened: Opened) -> None:
    page = opened(text="the cat")
    page.run(
        "window.kept = []; HTMLAnchorElement.prototype.click = function () { kept.at(-1).name = this.download };"
        "URL.createObjectURL = (blob) => { kept.push({ blob }); return 'blob:none' }"
    )
    read = (
        "const kept = window.kept.at(-1), reader = new FileReader();"
        "reader.onload = () => arguments[0]([kept.name, reader.result]); reader.readAsDataURL(kept.blob)"
    )

    def saved(part: str, kind: str) -> tuple[str, bytes]:
        count = page.run("return kept.length")
        page.run(
            "[...document.querySelectorAll(`${arguments[0]} .save`)].find((each) => each.textContent === arguments[1])"
            ".dispatchEvent(new MouseEvent('click', { bubbles: true }))",
            part,
            kind,
        )
        page.wait("return kept.length === arguments[0] + 1 && 'name' in kept.at(-1)", count)
        name, address = page.driver.execute_async_script(read)
        return name, base64.b64decode(address.split(",", 1)[1])

    name, content = saved("#matrix-part", "JSON")
    assert name == "regard-attention-matrix-cross-block-1-head-mean.json"
    assert json.loads(content)["columns"] == ["the", "cat"]
    name, content = saved("#links-part", "SVG")
    drawing = content.decode()
    assert name == "regard-attention-lines-cross-block-1-head-mean.svg"
    assert drawing.startswith("<svg")
    assert ">gata</text>" in drawing
    assert drawing.count("<path") == 4
    name, content = saved("#sheet-part", "PNG")
    assert name == "regard-attention-heads-cross.png"
    assert content.startswith(b"\x89PNG")
    assert json.loads(saved(".translation", "JSON")[1])["text"] == "a gata"
    assert page.said() == []


def test_the_styles_of_one_view_leave_others_alone(opened: Opened) -> None:
    page = opened(text="the cat", view="beam")
    page.wait("return document.querySelectorAll('.node .number').length > 0")
    assert page.run("return getComputedStyle(document.querySelector('.node .number')).display") == "block"
    assert page.run("return getComputedStyle(document.querySelector('#source-part .field')).outlineStyle") == "none"


# Several at once


def test_two_tabs_know_nothing_of_each_other(opened: Opened, server: Pretending) -> None:
    page = opened(text="the cat")
    first = page.driver.current_window_handle
    page.driver.switch_to.new_window("tab")
    try:
        page.driver.get(f"{server.address}#models=loud&text=the+house")
        wait_for_outputs(page, "A CASA")
        page.driver.switch_to.window(first)
        assert outputs(page) == ["a gata"]
        type_text(page, " sleeps")
        wait_for_outputs(page, "a gata dorme")
        page.driver.switch_to.window(page.driver.window_handles[-1])
        assert outputs(page) == ["A CASA"]
    finally:
        page.driver.switch_to.window(page.driver.window_handles[-1])
        page.driver.close()
        page.driver.switch_to.window(first)


def test_a_view_says_that_it_is_being_computed_until_it_shows_something(opened: Opened, server: Pretending) -> None:
    held = server.held["/v1/attention"] = threading.Event()
    page = opened()
    type_text(page, "the cat")
    page.wait(
        "return [...document.querySelectorAll('.computing')].map((each) => each.textContent)", wanted=["Computing…"]
    )
    page.wait("return getComputedStyle(document.querySelector('.computing')).opacity", wanted="1")
    held.set()
    settle(page)
    assert page.all(".computing") == []
    del server.held["/v1/attention"]
    held = server.held["/v1/attention"] = threading.Event()
    type_text(page, " sleeps")
    page.wait("return document.querySelectorAll('#attention-panel[aria-busy]').length", wanted=1)
    assert page.all(".computing") == []  # what was there stays until the new one comes
    held.set()
    settle(page)
    assert page.said() == []
