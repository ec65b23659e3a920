"""The writing desk in a real browser: next tokens, choosing, continuing, stopping, undoing."""

import threading
from collections.abc import Iterator
from typing import Any

import pytest
from chromium import Browser
from desk import settle, wished
from pretend import Pretending

pytestmark = pytest.mark.browser

HALF = "50\u202f%"


@pytest.fixture
def server(server: Pretending) -> Pretending:
    common = {"task": "language", "reads": "prompt", "can": ["generate"]}
    count, double = {"name": "count", "family": "gpt", "context": 5}, {"name": "double", "family": "rnnlm"}
    server.models = [count | common, double | common]
    return server


@pytest.fixture(scope="module", autouse=True)
def _leave(chromium: Browser) -> Iterator[None]:
    """Leave the page at the end; its models differ from those of other tests."""
    yield
    chromium.driver.get("about:blank")


@pytest.fixture
def page(browser: Browser, server: Pretending) -> Browser:
    """Return the page with a prompt read; it is loaded once and reached from an empty prompt."""
    if not browser.all(".writer"):
        browser.open(server.address)
    browser.lead("#")
    browser.wait("return document.querySelector('.writer .pick').textContent", wanted="1")
    settle(browser)
    browser.lead("#prompt=one+two&tokens=3")
    browser.wait("return [...document.querySelectorAll('.prompted')].length", wanted=4)
    settle(browser)
    return browser


def column(page: Browser, selector: str) -> list[str]:
    """Return the texts of the matching elements."""
    return page.run("return [...document.querySelectorAll(arguments[0])].map((each) => each.textContent)", selector)


def prompt(page: Browser) -> str:
    return page.run("return document.getElementById('prompt').value")


def last_questions(server: Pretending, path: str, count: int = 2) -> list[dict[str, Any]]:
    """Return the last requests by model name."""
    return sorted(server.questions(path)[-count:], key=lambda question: question["model"])  # they come at once


def test_each_model_has_its_own_distribution_of_what_comes_next(page: Browser, server: Pretending) -> None:
    assert column(page, ".writer h2") == ["count gpt", "double rnnlm"]
    assert column(page, ".writer:nth-child(1) .pick") == ["3", "30", "end of line", "byte C3"]
    assert column(page, ".writer:nth-child(2) .pick")[:2] == ["6", "60"]
    assert column(page, ".writer:nth-child(1) .bar span") == [
        HALF,
        "25\u202f%",
        "13\u202f%",
        "6.3\u202f%",
        "6.3\u202f%",
    ]
    assert column(page, ".writer:nth-child(1) .others th") == ["2 others"]
    assert page.text(".writer:nth-child(1) .hint") == (
        "As hard to guess as among 4 equally likely tokens. The context has room for 3 more tokens."
    )
    assert not page.find(".writer:nth-child(1) tr:nth-child(4) .pick").is_enabled()
    tints = "return [...document.querySelectorAll('.writer:nth-child(1) .prompted')].map((each) => each.title)"
    assert page.run(tints) == [HALF, "33\u202f%"]
    questions = [{"model": name, "prompt": "one two", "shown": 12} for name in ("count", "double")]
    assert last_questions(server, "/v1/prompt") == questions
    assert page.said() == []


def test_a_token_is_chosen_by_click_or_key_and_undone(page: Browser, server: Pretending) -> None:
    page.all(".writer:nth-child(1) .pick")[1].click()
    assert prompt(page) == "one two 30"
    settle(page)
    assert column(page, ".writer:nth-child(2) .pick")[0] == "8"
    page.run("document.querySelector('.writer:nth-child(2) .pick').focus()")
    page.press("ARROW_DOWN", "ENTER")
    page.wait("return document.getElementById('prompt').value", wanted="one two 30 80")
    settle(page)
    assert page.focused()["text"] == "10"  # the likeliest of the same model, so that choosing can continue
    assert page.text(".writer:nth-child(2) > [role=status]") == (
        f"Likeliest now: 10 {HALF}, 100 25\u202f%, end of line 13\u202f%."
    )
    page.find("#undo").click()
    assert prompt(page) == "one two 30"
    page.find("#prompt").send_keys("!")
    page.find("#undo").click()
    assert prompt(page) == "one two 30"  # typing is a step too
    page.find("#undo").click()
    assert prompt(page) == "one two"
    assert not page.find("#undo").is_enabled()
    settle(page)
    assert wished(page)["prompt"] == "one two"


def test_what_is_typed_is_not_lost_by_a_choice_that_came_too_early(page: Browser) -> None:
    page.run(
        "const field = document.getElementById('prompt'); field.value += ' three';"
        "field.dispatchEvent(new Event('input')); document.querySelector('.pick').click()"
    )
    assert prompt(page) == "one two three"
    page.wait("return document.querySelector('.pick').textContent", wanted="4")
    page.find(".pick").click()
    assert prompt(page) == "one two three 4"


def test_typing_is_read_after_a_pause_and_lines_end_by_choice(page: Browser, server: Pretending) -> None:
    page.find("#prompt").send_keys(" three")
    page.wait("return document.querySelector('.pick').textContent", wanted="4")
    assert [question["prompt"] for question in last_questions(server, "/v1/prompt")] == ["one two three"] * 2
    page.all(".writer:nth-child(1) .pick")[2].click()
    assert prompt(page) == "one two three\n"


def test_all_models_go_on_and_what_one_wrote_is_taken_up_to_a_token(page: Browser, server: Pretending) -> None:
    page.find("#prompt").send_keys("\n")
    page.wait("return document.querySelectorAll('.continued').length", wanted=6)
    settle(page)
    sample = {"temperature": 1, "top_k": 0, "top_p": 1, "seed": 1}
    expected = {"prompt": "one two", "tokens": 3, "past_end": True, "sample": sample, "stream": True}
    assert last_questions(server, "/v1/generate") == [expected | {"model": name} for name in ("count", "double")]
    assert column(page, ".writer:nth-child(1) .tinted-token") == ["one", " two", " 3", " 4", " 5"]
    titles = "return [...document.querySelectorAll('.writer:nth-child(1) .continued')].map((each) => each.title)"
    assert page.run(titles) == ["100\u202f%", HALF, "25\u202f%"]
    facts = page.text(".writer:nth-child(1) .facts")
    assert facts.startswith("3 tokens written")
    assert facts.endswith("the context is full, and the text ends here")
    page.run("document.querySelector('.writer:nth-child(2) .continued').focus()")
    page.press("ARROW_RIGHT", "ENTER")
    assert prompt(page) == "one two 6 7"
    page.wait("return document.querySelectorAll('.continued').length", wanted=0)


def test_writing_is_stopped_and_what_came_stays(page: Browser, server: Pretending) -> None:
    server.held["one two"] = threading.Event()
    page.find(".writer:nth-child(1) .doing button").click()
    page.wait("return document.querySelectorAll('.continued').length", wanted=1)
    assert page.find("#stop-writing").is_enabled()
    page.find("#stop-writing").click()
    assert page.text(".writer:nth-child(1) .facts") == "stopped after 1 token"
    assert not page.find("#stop-writing").is_enabled()
    server.held["one two"].set()
    page.all(".writer:nth-child(1) .doing button")[1].click()
    assert prompt(page) == "one two 3"


def test_selecting_what_was_written_takes_nothing(page: Browser) -> None:
    page.find(".writer:nth-child(1) .foot button").click()
    page.wait("return document.querySelectorAll('.continued').length", wanted=3)
    settle(page)
    page.run("const word = document.querySelector('.continued'); getSelection().selectAllChildren(word); word.click()")
    assert prompt(page) == "one two"
    page.run("getSelection().removeAllRanges(); document.querySelector('.continued').click()")
    assert prompt(page) == "one two 3"


def test_searches_have_their_own_numbers_and_drawing_shows_what_it_leaves(page: Browser, server: Pretending) -> None:
    page.find("#search input[value=beam]").click()
    assert [
        element.get_attribute("id") for element in page.all("#searching .setting input") if element.is_displayed()
    ] == [
        "generate-tokens",
        "generate-beam",
        "past-end",
        "forgets",
    ]
    page.find("#past-end").click()
    server.held["one two"] = threading.Event()
    page.find("#go-on").click()
    facts = "return document.querySelector('.writer .facts').textContent"
    page.wait(facts, wanted="searching with a beam of 4; the text comes at the end")
    server.held["one two"].set()
    page.wait(f"{facts}.includes('searching')", wanted=False)
    settle(page)
    (question,) = last_questions(server, "/v1/generate", 1)
    assert (question["beam"], question["past_end"], "sample" in question) == (4, False, False)
    assert wished(page) == {"prompt": "one two", "tokens": "3", "search": "beam", "lines": "one"}
    page.find("#search input[value=draw]").click()
    page.run(
        "arguments[0].value = 1; arguments[0].dispatchEvent(new Event('change', { bubbles: true }))",
        page.find("#generate-top_k"),
    )
    page.wait("return document.querySelectorAll('.writer:nth-child(1) .gone').length", wanted=4)
    question = {"model": "count", "prompt": "one two", "shown": 12}
    assert question | {"sample": {"temperature": 1, "top_k": 1, "top_p": 1}} in server.questions("/v1/prompt")
    assert column(page, ".writer:nth-child(1) .bar span") == ["100\u202f%", *["cut"] * 4]


def test_a_full_context_is_left_or_forgotten_as_one_likes(page: Browser, server: Pretending) -> None:
    page.find("#forgets").click()
    page.find("#prompt").send_keys(" three four")
    page.find("#go-on").click()
    page.wait("return document.querySelectorAll('.continued').length", wanted=6)
    settle(page)
    assert page.text(".writer:nth-child(1) .facts").endswith("the first 2 tokens were forgotten")
    forgetting = [question.get("when_full") for question in last_questions(server, "/v1/generate")]
    assert forgetting == ["forget", None]  # only one of the two has a context
    assert wished(page)["full"] == "forget"


def test_models_are_chosen_and_a_refusal_stands_where_it_belongs(page: Browser, server: Pretending) -> None:
    page.find("#writers-choice input[value=count]").click()
    assert column(page, ".writer h2") == ["double rnnlm"]
    page.find("#writers-choice input[value=double]").click()  # one at least stays
    assert column(page, ".writer h2") == ["double rnnlm"]
    assert wished(page)["writers"] == "double"
    server.refusals, server.refused_path = [(400, "The prompt is too long.", {})], "/v1/generate"
    page.find("#go-on").click()
    page.wait("return document.querySelector('.writer .trouble').textContent", wanted="The prompt is too long.")
    page.find("#go-on").click()
    page.wait("return document.querySelector('.writer .trouble').hidden")
    settle(page)
    server.refusals, server.refused_path = [(400, "The prompt is too long.", {})], "/v1/prompt"
    page.find("#prompt").send_keys(" three")
    page.wait("return document.querySelector('.writer .trouble').hidden", wanted=False)
    assert page.all(".writer .pick") == []  # nothing is left of the previous prompt


def test_a_screen_reader_has_a_name_for_every_control(page: Browser) -> None:
    names = page.names("textbox", "spinbutton", "checkbox", "radio", "button", more_than=20)
    assert all(names)
    assert f"Go on with 3, {HALF}" in names
    assert {"Prompt", "Tokens", "Temperature", "go on past the end of a line", "Undo"} <= set(names)


@pytest.mark.parametrize(("width", "scheme"), [(390, "dark"), (320, "light")])
def test_it_fits_a_phone(page: Browser, width: int, scheme: str) -> None:
    page.appear(width, scheme=scheme)
    page.find("#go-on").click()
    page.settle()
    settle(page)
    assert page.run("return document.documentElement.scrollWidth - document.documentElement.clientWidth") <= 0
