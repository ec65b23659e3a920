"""The forward pass on the served page: live while its view is open, and not requested while it is closed."""

import threading
from typing import Any

import pytest
from chromium import Browser
from desk import Opened, settle, show_models, type_text, wished
from pretend import MODELS, Pretending

pytestmark = pytest.mark.browser

PATH = "/v1/forward"
COMMON = {"task": "language", "reads": "prompt", "can": ["generate", "forward"]}
WRITERS: list[dict[str, Any]] = [
    {"name": "count", "family": "gpt", **COMMON},
    {"name": "double", "family": "gpt", **COMMON},
    {"name": "silent", "family": "rnnlm", **COMMON, "can": ["generate"]},
]
FILLER = {"name": "filler", "task": "masked", "reads": "text", "family": "bert", "can": ["answer", "forward"]}
TITLES = "return [...document.querySelectorAll(arguments[0])].map((each) => each.querySelector('b').textContent)"
CELLS = "return [...document.querySelectorAll(arguments[0])].map((each) => each.textContent)"


def layers(page: Browser, name: str = "forward") -> list[str]:
    """Return the titles of the layers that can be seen."""
    return page.run(TITLES, f"#{name}-layers > details, #{name}-layers details[open] > details")


def opened_places(page: Browser, name: str = "forward") -> list[str]:
    script = "return [...document.querySelectorAll(arguments[0])].map((each) => each.dataset.place)"
    return page.run(script, f"#{name}-layers details[open]")


def first_column(page: Browser, place: str, name: str = "forward") -> list[str]:
    """Return the first numbers of an open layer."""
    return page.run(CELLS, f"#{name}-layers [data-place='{place}'] > .numbers tr td:nth-child(2)")


def wait_for_column(page: Browser, place: str, column: list[str], name: str = "forward") -> None:
    page.wait(CELLS, f"#{name}-layers [data-place='{place}'] > .numbers tr td:nth-child(2)", wanted=column)


def summary(page: Browser, place: str, name: str = "forward") -> Any:
    return page.find(f"#{name}-layers [data-place='{place}'] > summary")


def width_beyond(page: Browser) -> int:
    return page.run("return document.documentElement.scrollWidth - document.documentElement.clientWidth")


# Translators


@pytest.mark.long
def test_layers_open_and_stay_open_as_one_types(opened: Opened, server: Pretending) -> None:
    page = opened(text="the cat", view="attention")
    assert server.questions(PATH) == []
    page.find("#forward-tab").click()
    page.wait("return document.querySelectorAll('#forward-layers > details').length", wanted=3)
    settle(page)
    assert layers(page) == [
        "Embeddings of the text", "Block 1", "Logits, a score for each token of the vocabulary"
    ]  # fmt: skip
    assert page.text("#forward-layers .facts") == "2 × 2 · norm 3.08"
    first = {"model": "plain", "text": "the cat", "tokens": ["▁a", "▁gata"], "opened": []}
    assert server.questions(PATH) == [first]
    summary(page, "1").click()
    wait_for_column(page, "1", ["6", "6"])
    assert layers(page)[1:4] == ["Block 1", "Layer norm", "Weights, softmax(scores + mask)"]
    summary(page, "1.1").click()
    wait_for_column(page, "1.1", ["1", "0"])
    settle(page)
    assert [question["opened"] for question in server.questions(PATH)] == [[], ["1"], ["1", "1.1"]]
    type_text(page, " sleeps")
    wait_for_column(page, "1", ["6", "6", "12"])
    assert opened_places(page) == ["1", "1.1"]
    assert len(server.questions(PATH)) == 4
    summary(page, "1").click()
    page.wait("return document.querySelectorAll('#forward-layers > details[open]').length", wanted=0)
    assert page.run("return new URLSearchParams(location.hash.slice(1)).getAll('layers')") == ["1.1"]
    assert len(server.questions(PATH)) == 4  # nothing is needed to close a layer
    assert page.said() == []


def test_the_address_leads_to_the_same_layers(opened: Opened, server: Pretending) -> None:
    page = opened(text="the cat", view="forward", layers=["1", "1.0"])
    assert opened_places(page) == ["1", "1.0"]
    assert first_column(page, "1.0") == ["3", "3"]
    assert len(server.questions(PATH)) == 1
    guesses = page.run(CELLS, "#forward-best > table > tr:last-child > *")
    assert guesses == ["␣cat", "␣cat 75\u202f%", "end of sentence 25\u202f%"]


def test_a_level_at_a_time_and_all_closed(opened: Opened, server: Pretending) -> None:
    page = opened(text="the cat", view="forward")
    more, close = page.all("#forward-part .tree-controls button")
    more.click()
    page.wait("return document.querySelectorAll('#forward-layers .numbers').length", wanted=3)
    assert opened_places(page) == ["0", "1", "2"]
    assert page.text("[data-place='2'] .rest") == "The first 8 of 20 columns."
    more.click()
    page.wait("return document.querySelectorAll('#forward-layers .numbers').length", wanted=5)
    more.click()  # all are open
    settle(page)
    assert len(server.questions(PATH)) == 3
    close.click()
    assert opened_places(page) == []
    assert "layers" not in wished(page)


def test_by_keyboard_the_focus_stays_where_it_is(opened: Opened) -> None:
    page = opened(text="the cat", view="forward")
    page.run("arguments[0].focus()", summary(page, "1"))
    page.press("ENTER")
    wait_for_column(page, "1", ["6", "6"])
    assert page.focused()["text"].startswith("Block 1")
    page.press("TAB", "ENTER")
    wait_for_column(page, "1.0", ["3", "3"])
    assert page.focused()["text"].startswith("Layer norm")


def test_a_model_that_cannot_does_not_offer_it(opened: Opened, server: Pretending) -> None:
    page = opened(models="loud", text="the cat", view="forward")
    assert not page.find("#forward-tab").is_displayed()
    assert page.find("#attention-panel").is_displayed()
    page.run("document.getElementById('beam-tab').focus()")
    page.press("ARROW_RIGHT")
    assert page.focused()["id"] == "beam-tab"
    assert server.questions(PATH) == []
    assert page.said() == []


def test_a_refusal_is_told_in_the_place_of_the_layers(opened: Opened, server: Pretending) -> None:
    server.refused_path = PATH
    server.refusals = [(413, "These are 9 numbers, but the limit is 8; close some layers or shorten the text.", {})]
    page = opened(text="the cat", view="forward")
    assert "These are 9 numbers" in page.text("#forward-trouble")
    assert not page.find("#forward-view").is_displayed()
    page.find("#forward-trouble button").click()
    page.wait("return document.querySelectorAll('#forward-layers > details').length", wanted=3)
    assert not page.find("#forward-trouble").is_displayed()


# Other models


@pytest.fixture
def writing(browser: Browser, server: Pretending, left_behind: None) -> Browser:
    return show_models(browser, server, WRITERS, "#prompt=one+two")


@pytest.mark.long
def test_a_closed_panel_asks_for_nothing(writing: Browser, server: Pretending) -> None:
    settle(writing)
    writing.find("#prompt").send_keys(" three")
    writing.wait("return document.querySelectorAll('.prompted').length", wanted=9)
    settle(writing)
    assert server.questions(PATH) == []
    writing.find("#prompt-pass > summary").click()
    writing.wait("return document.querySelectorAll('#prompt-forward-layers > details').length", wanted=3)
    assert server.questions(PATH) == [{"model": "count", "text": "one two three", "opened": []}]
    assert wished(writing)["prompt-pass"] == "count"
    writing.find("#prompt-pass > summary").click()
    writing.wait("return location.hash.includes('prompt-pass')", wanted=False)
    writing.find("#prompt").send_keys(" four")
    writing.wait("return document.querySelectorAll('.prompted').length", wanted=12)
    settle(writing)
    assert len(server.questions(PATH)) == 1
    assert writing.said() == []


def test_the_pass_follows_the_prompt_and_the_last_request_wins(writing: Browser, server: Pretending) -> None:
    writing.find("#prompt-pass > summary").click()
    writing.wait("return document.querySelectorAll('#prompt-forward-layers > details').length", wanted=3)
    summary(writing, "0", "prompt-forward").click()
    wait_for_column(writing, "0", ["3", "3"], "prompt-forward")
    held = server.held[PATH] = threading.Event()
    writing.find("#prompt").send_keys(" four")
    writing.wait("return document.querySelectorAll('#prompt-pass-view[aria-busy]').length", wanted=1)
    del server.held[PATH]
    writing.find("#prompt").send_keys(" fives")
    wait_for_column(writing, "0", ["3", "3", "4", "5"], "prompt-forward")
    held.set()
    settle(writing)
    assert first_column(writing, "0", "prompt-forward") == ["3", "3", "4", "5"]
    writing.find("#prompt").clear()
    writing.find("#prompt").send_keys(" ")
    writing.wait("return document.getElementById('prompt-pass-view').hidden")
    assert writing.text("#prompt-pass > .hint") == "Type something, and its way through the model appears here."
    assert writing.find("#prompt-pass > .hint").is_displayed()
    assert writing.said() == []


def test_only_models_that_can_are_offered(writing: Browser, server: Pretending) -> None:
    writing.find("#prompt-pass > summary").click()
    names = writing.run(CELLS, "#prompt-pass > select option")
    assert names == ["count", "double"]
    writing.find("#prompt-pass > select option:last-child").click()
    writing.wait("return location.hash.includes('prompt-pass=double')")
    settle(writing)
    assert server.questions(PATH)[-1]["model"] == "double"
    for name in ("count", "double"):
        writing.run("document.querySelector(`#writers-choice input[value='${arguments[0]}']`).click()", name)
    assert not writing.find("#prompt-pass").is_displayed()
    assert writing.said() == []


def test_at_the_desk_of_answers_it_follows_what_is_typed(
    browser: Browser, server: Pretending, left_behind: None
) -> None:
    page = show_models(browser, server, [*MODELS, FILLER], "#tab=answer&input-pass=filler&input-layers=0")
    page.find("#input").send_keys("12345")
    wait_for_column(page, "0", ["5"], "input-forward")
    assert server.questions("/v1/answer") == []  # that waits for Enter
    assert server.questions(PATH)[-1] == {"model": "filler", "text": "12345", "opened": ["0"]}
    page.press("ENTER")
    page.wait("return document.getElementById('answer').textContent", wanted="odd 90\u202f%")
    settle(page)
    assert page.said() == []


def test_there_is_no_panel_where_no_model_can(browser: Browser, server: Pretending, left_behind: None) -> None:
    page = show_models(browser, server, [FILLER | {"can": ["answer"]}], "#input=1&input-pass=filler")
    settle(page)
    assert not page.find("#input-pass").is_displayed()
    assert server.questions(PATH) == []


@pytest.mark.one_in(3)
@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (390, "dark"), (320, "light")])
def test_it_fits_the_window(opened: Opened, width: int, scheme: str) -> None:
    page = opened(text="the cat sleeps " * 8, view="forward", layers=["0", "1", "1.0", "1.1"])
    page.appear(width, 900, scheme)
    page.settle()
    assert width_beyond(page) == 0
    shown = page.run(
        "const each = document.querySelector('[data-place=\"1.1\"] .numbers');"
        "return [each.scrollWidth > each.clientWidth, each.tabIndex]"
    )
    assert shown == [True, 0]  # the table scrolls, also by keyboard
    assert page.said() == []


# The card of a model


def test_what_is_known_of_a_model_leads_to_its_card(opened: Opened, server: Pretending) -> None:
    server.models = [{**MODELS[0], "card": "card?model=plain"}]
    page = opened()
    link = page.find("#knowing .card")
    assert (link.text, link.get_attribute("href")) == ("Model card", f"{server.address}card?model=plain")
    server.models = MODELS
    assert opened().all("#knowing .card") == []
