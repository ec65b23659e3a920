"""Why a model decided so: on the page of a real server, for several kinds of models, and on pages of their own."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest
from chromium import Browser
from desk import settle

import regard
from regard.cli import main

sys.path.insert(0, str(Path(__file__).parents[1] / "serving"))
sys.path.insert(0, str(Path(__file__).parents[1] / "seeing" / "lessons"))
from loopback import on_loopback
from toy import make_model
from toys import open_trained_toy
from untrained import toy_folder, untrained_folder

from regard.serving.app import make_app
from regard.serving.options import ServingOptions

pytestmark = pytest.mark.browser

TEXT = "two dogs run and a man reads."
READ = [*TEXT.removesuffix(".").split(), ".", "end of sentence"]
MAPS = 8
WORDS = "return [...document.querySelectorAll(arguments[0])].map((each) => each.textContent)"


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    place = tmp_path_factory.mktemp("reasons")
    readers = {name: toy_folder(place / name).rename(place / f"{name}-run") for name in ("gpt", "bert")}
    (place / "tagger").mkdir()
    tagger = open_trained_toy("tagging rnn", place / "tagger").folder.folder.rename(place / "tagger-run")
    return {"toy": make_model(place / "toy", export=False), **readers, "tagger": tagger}


@pytest.fixture(scope="module")
def address(folders: dict[str, Path], model: Any) -> Iterator[str]:
    model.why(TEXT, "attention", trust=True)  # generates a corpus, which takes a few seconds, once
    with on_loopback(make_app(list(folders.values()), ServingOptions())) as address:
        yield address


@pytest.fixture(scope="module")
def model(folders: dict[str, Path]) -> Any:
    return regard.load(folders["toy"])


@pytest.fixture
def page(browser: Browser) -> Iterator[Browser]:
    yield browser
    browser.driver.get("about:blank")


def open_desk(page: Browser, address: str, **wish: str) -> Browser:
    page.open(f"{address}/", f"#{urlencode(wish)}")
    page.wait("return document.getElementById('motto').textContent.length > 0")
    settle(page)
    return page


def open_reasons(page: Browser, address: str, **more: str) -> Browser:
    open_desk(page, address, text=TEXT, view="reasons", **more)
    page.wait("return document.querySelectorAll('#reasons-rows .reason, #reasons-tables section').length > 0")
    return page


def choices(page: Browser, name: str = "reasons") -> list[tuple[str, bool]]:
    """Return what can be explained, and whether it is."""
    pairs = page.run(
        "return [...document.querySelectorAll(arguments[0])].map((each) => "
        "[each.textContent, each.getAttribute('aria-pressed') === 'true'])",
        f"#{name}-choices button",
    )
    return [(text, is_chosen) for text, is_chosen in pairs]


def wait_for_choice(page: Browser, place: int, name: str = "reasons") -> None:
    """Wait until the choice at a place is explained."""
    script = "return document.querySelectorAll(arguments[0])[arguments[1]].getAttribute('aria-pressed')"
    page.wait(script, f"#{name}-choices button", place, wanted="true")
    settle(page)


def tints(page: Browser, method: str, name: str = "reasons") -> list[float]:
    """Return the tint of each word, negative where it speaks against the output."""
    return page.run(
        "return [...document.querySelectorAll(arguments[0])].map((each) => "
        "Number(each.style.getPropertyValue('--share')) * (each.classList.contains('against') ? -1 : 1))",
        f"#{name}-rows [data-method='{method}'] .reasoned",
    )


def expected_tints(scores: list[float]) -> Any:
    return pytest.approx([score / max(map(abs, scores)) for score in scores], abs=2e-3)


def test_a_word_is_chosen_and_the_source_is_tinted_as_python_scores_it(page: Browser, address: str, model: Any) -> None:
    open_reasons(page, address)
    output = model.translate([TEXT])[0]
    assert [text for text, _ in choices(page)] == [*output.text.split(), "end of sentence"]
    assert [is_chosen for _, is_chosen in choices(page)] == [True] + [False] * len(output.text.split())
    page.all("#reasons-choices button")[1].click()
    wait_for_choice(page, 1)
    settle(page)
    expected = model.why(TEXT, place=1).numbers()["maps"][0]["scores"]
    assert tints(page, "integrated-gradients") == expected_tints(expected)
    assert page.run(WORDS, "#reasons-rows .reasoned") == READ
    assert page.run("return new URLSearchParams(location.hash.slice(1)).get('at')") == "1"
    assert page.text("#reasons-chosen").startswith("Why “")
    assert page.said() == []


def test_numbers_come_by_pointer_and_by_keys(page: Browser, address: str, model: Any) -> None:
    open_reasons(page, address)
    scores = model.why(TEXT, place=0).numbers()["maps"][0]["scores"]
    words = page.all("#reasons-rows .reasoned")
    page.point(words[3])
    share = scores[3] / sum(map(abs, scores))
    assert page.text("#reasons-readout").startswith("and: ")
    assert f"{abs(share):.0%}".removesuffix("%") in page.text("#reasons-readout").split(", ")[1]
    page.run("arguments[0].focus()", words[0])
    page.press("ARROW_RIGHT", "ARROW_RIGHT")
    assert page.focused()["text"] == "run"
    assert page.text("#reasons-readout").startswith("run: ")
    assert page.run("return document.querySelectorAll('#reasons-rows .reasoned[tabindex=\"0\"]').length") == 1


def test_trust_is_a_sentence_with_its_figures(page: Browser, address: str, model: Any) -> None:
    open_reasons(page, address)
    figures = model.why(TEXT, place=0, trust=True).numbers()["maps"][0]["trust"]["figures"]
    figure = figures["comprehensiveness"]
    said = page.text("#reasons-rows .trust p")
    assert f"falls by {figure['value']:.2f}; in random orders by {figure['random']:.2f}".replace("-", "−") in said
    page.find("#reasons-rows .trust summary").click()
    rows = page.run(WORDS, "#reasons-rows .trust tbody tr > th")
    assert rows == ["comprehensiveness", "sufficiency", "deletion", "insertion"]


@pytest.mark.long
def test_methods_side_by_side(page: Browser, address: str, model: Any) -> None:
    open_reasons(page, address)
    page.find("#word-method option[value=all]").click()
    page.wait("return document.querySelectorAll('#reasons-rows .reason').length", wanted=MAPS)
    settle(page)
    for found in model.why(TEXT, "all", place=0).numbers()["maps"]:
        assert tints(page, found["method"]) == expected_tints(found["scores"])
    assert len(page.all("#reasons-rows .trust")) == MAPS
    assert page.run("return location.hash.includes('word-method=all')")
    assert page.said() == []


@pytest.mark.long
def test_a_word_of_the_output_stays_in_the_open_view(page: Browser, address: str) -> None:
    open_reasons(page, address)
    page.all(".written")[2].click()
    wait_for_choice(page, 2)
    assert page.find("#reasons-panel").is_displayed()
    page.find("#attention-tab").click()
    settle(page)
    page.all(".written")[1].click()
    page.wait("return document.getElementById('next-panel').hidden", wanted=False)


@pytest.mark.long
def test_by_keys_another_word_is_explained_and_keeps_the_focus(page: Browser, address: str) -> None:
    open_reasons(page, address)
    page.run("document.querySelector('#reasons-choices [aria-pressed=true]').focus()")
    page.press("ARROW_RIGHT", "ENTER")
    wait_for_choice(page, 1)
    settle(page)
    assert page.focused()["text"] == choices(page)[1][0]


def test_what_happens_inside_is_a_table(page: Browser, address: str) -> None:
    open_reasons(page, address, **{"word-method": "lens"})
    assert page.run(WORDS, "#reasons-tables h2")[0] == "At this place"
    assert not page.find("#reasons-rows").is_displayed()
    page.find("#word-method option[value=patching]").click()
    page.wait("return document.getElementById('reasons-trouble').hidden", wanted=False)
    assert "Patching needs a second text." in page.text("#reasons-trouble")
    page.find("#word-from").send_keys("two dogs run and a man sees.")
    page.press("ENTER")
    page.run("document.getElementById('word-from').blur()")
    page.wait(WORDS, "#reasons-tables h2", wanted=["States from the other input"])
    assert page.said() == []


@pytest.mark.one_in(3)
@pytest.mark.parametrize(("width", "scheme"), [(1280, "dark"), (390, "light"), (320, "dark")])
def test_it_fits_the_window_and_a_finger_finds_the_numbers(
    page: Browser, address: str, width: int, scheme: str
) -> None:
    page.appear(width, 900, scheme)
    open_reasons(page, address, **{"word-method": "all"})
    assert page.run("return document.documentElement.scrollWidth <= innerWidth")
    tap(page, page.all("#reasons-rows .reasoned")[1])
    assert page.text("#reasons-readout").startswith("dogs: ")
    assert page.said() == []


def tap(page: Browser, thing: Any) -> None:
    page.run("arguments[0].scrollIntoView({ block: 'center' })", thing)
    x, y = page.run(
        "const box = arguments[0].getBoundingClientRect(); return [box.left + box.width / 2, box.top + box.height / 2]",
        thing,
    )
    point = {"x": x, "y": y}
    for kind, points in (("touchStart", [point]), ("touchEnd", [])):
        page.driver.execute_cdp_cmd("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})


# Other models


def test_words_of_a_prompt_are_explained_by_those_before(page: Browser, address: str, folders: dict[str, Path]) -> None:
    model = regard.load(folders["gpt"])
    open_desk(page, address, tab="generate", prompt="I see the")
    assert not page.find("#prompt-why-view").is_displayed()
    page.find("#prompt-why > summary").click()
    page.wait("return document.querySelectorAll('#prompt-reasons-rows .reasoned').length > 0")
    settle(page)
    assert choices(page, "prompt-reasons") == [("see", False), ("the", False), ("next token", True)]
    expected = model.why("I see the").numbers()["maps"][0]["scores"]
    assert tints(page, "integrated-gradients", "prompt-reasons") == expected_tints(expected)
    page.all("#prompt-reasons-choices button")[1].click()
    page.wait("return document.querySelectorAll('#prompt-reasons-rows .reasoned').length", wanted=3)
    settle(page)
    expected = model.why("I see", output="the", place=0).numbers()["maps"][0]["scores"]
    assert tints(page, "integrated-gradients", "prompt-reasons") == expected_tints(expected)
    assert page.said() == []


@pytest.mark.long
def test_masks_and_tags_are_chosen(page: Browser, address: str, folders: dict[str, Path]) -> None:
    open_desk(page, address, tab="answer", answerer="bert-run", input="o [MASK] . [MASK]", **{"input-why": "bert-run"})
    page.wait("return document.querySelectorAll('#input-reasons-choices button').length", wanted=2)
    settle(page)
    model = regard.load(folders["bert"])
    page.all("#input-reasons-choices button")[0].click()
    wait_for_choice(page, 0, "input-reasons")
    settle(page)
    expected = model.why("o [MASK] . [MASK]", place=0, tokens=True).numbers()["maps"][0]["scores"]
    assert tints(page, "integrated-gradients", "input-reasons") == expected_tints(expected)
    open_desk(page, address, tab="answer", answerer="tagger-run", input="the cat", **{"input-why": "tagger-run"})
    page.wait("return document.querySelectorAll('#input-reasons-choices button').length", wanted=2)
    assert [is_chosen for _, is_chosen in choices(page, "input-reasons")] == [False, True]
    assert page.said() == []


# Pages of their own


@pytest.fixture(scope="module")
def translator(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return untrained_folder(tmp_path_factory.mktemp("written"), "transformer", "unigram", encoder_layers=2)


def written(folder: Path, path: Path, *options: str) -> Path:
    asked = ["look", str(folder), "Ana reads a green book.", "-o", str(path), "--overwrite", *options]
    assert main(asked) == 0
    return path


@pytest.mark.one_in(2)
@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (390, "dark")])
def test_a_page_of_its_own_has_the_words_and_their_trust(
    browser: Browser, translator: Path, tmp_path: Path, width: int, scheme: str
) -> None:
    output = ("--output", "Ana lê um livro.", "--word", "livro")
    path = written(translator, tmp_path / "why.html", "--why", "all", "--trust", *output)
    browser.appear(width, 900, scheme)
    browser.open(path)
    assert browser.text("#subject") == "Ana reads a green book. → Ana lê um livro."
    assert len(browser.all("#reasons-rows .reason")) == MAPS
    words = browser.run(WORDS, "#reasons-rows .reason:first-child .reasoned")
    assert words == ["Ana", "reads", "a", "green", "book", ".", "end of sentence"]
    browser.find("#reasons-mode input[value=tokens]").click()
    assert len(browser.all("#reasons-rows .reason:first-child .reasoned")) > len(words)
    browser.point(browser.all("#reasons-rows .reasoned")[0])
    assert browser.text("#reasons-readout")
    assert len(browser.all("#reasons-rows .trust")) == MAPS
    assert browser.all("#reasons-choices button") == []
    assert browser.run("return document.documentElement.scrollWidth <= innerWidth")
    assert browser.said() == []


def test_a_page_without_trust_has_none(browser: Browser, translator: Path, tmp_path: Path) -> None:
    browser.open(written(translator, tmp_path / "why.html", "--why", "occlusion", "--output", "Ana lê um livro."))
    assert len(browser.all("#reasons-rows .reason")) == 1
    assert browser.all("#reasons-rows .trust") == []
    assert browser.said() == []


@pytest.mark.parametrize("method", ["lens", "heads", "units"])
def test_pages_of_what_happens_inside_are_tables(
    browser: Browser, translator: Path, tmp_path: Path, method: str
) -> None:
    browser.appear(390)
    browser.open(written(translator, tmp_path / "why.html", "--why", method, "--output", "Ana lê um livro."))
    assert len(browser.all("#views section table")) >= 1
    assert browser.run("return document.documentElement.scrollWidth <= innerWidth")
    assert browser.said() == []


def test_nearest_examples_are_a_page_of_tables(browser: Browser, folders: dict[str, Path], tmp_path: Path) -> None:
    path = tmp_path / "examples.html"
    asked = ["look", str(folders["toy"]), TEXT, "--examples", "3", "--from-lines", "20", "-o", str(path)]
    assert main(asked) == 0
    browser.appear(390)
    browser.open(path)
    assert len(browser.all("#views section table")) >= 2
    assert browser.run("return document.documentElement.scrollWidth <= innerWidth")
    assert browser.said() == []
