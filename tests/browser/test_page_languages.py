"""Page languages in a real browser: the choice, its storage, and complete translation."""

import json
import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from urllib.parse import urlencode

import numpy as np
import pytest
from chromium import Browser
from desk import TEXT, Opened, settle, type_text
from pretend import MODELS, WORDS, Pretending
from scenes import scene

from regard.base.edits import Edit
from regard.serving.static import page_files
from regard.viewing.frames import FrameLooks, FramesDrawing
from regard.viewing.graph import GraphDrawing
from regard.viewing.page import scene_page
from regard.viewing.seen import Block
from regard.viewing.view import Edited, View
from regard.viewing.windows import WindowsDrawing

sys.path.insert(0, str(Path(__file__).parents[1] / "viewing"))
from drawn import glimpses, neighbourhood

pytestmark = pytest.mark.browser

# All visible text in order, then the text of screen readers and fields.
SEEN = """
const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT), found = [];
while (walker.nextNode()) {
  const { parentElement: holder, data } = walker.currentNode;
  if (!holder.closest("script, noscript, textarea, option")) found.push(data);
}
for (const name of ["aria-label", "title", "placeholder", "alt", "aria-roledescription", "data-empty"]) {
  document.querySelectorAll(`[${name}]`).forEach((each) => found.push(each.getAttribute(name)));
}
return found.join(" ");
"""


@pytest.fixture
def reads(browser: Browser) -> Iterator[Callable[[str], None]]:
    """Set the browser's preferred language; afterwards restore its own and clear its storage."""
    agent = browser.run("return navigator.userAgent")

    def prefer(languages: str) -> None:
        command = {"userAgent": agent, "acceptLanguage": languages}
        browser.driver.execute_cdp_cmd("Emulation.setUserAgentOverride", command)

    yield prefer
    browser.run("localStorage.clear()")
    prefer("en-US,en")


def test_the_page_speaks_the_language_of_the_browser(opened: Opened, reads: Callable[[str], None]) -> None:
    reads("fr,ru-RU")
    page = opened(text="the cat", view="attention")
    assert page.run("return document.documentElement.lang") == "ru"
    assert page.text("#why-title") == "Почему"
    assert page.text("#matrix-title") == "Матрица: перекрёстное, блок 1, среднее по 2 головам"
    assert page.text("#count") == "7 знаков"
    assert page.text("#source-title") == "английский"
    assert page.text(".facts").replace("\u202f", " ").startswith("42 мс · оценка −0,20")
    reads("fr")
    assert opened(text="the cat").run("return document.documentElement.lang") == "en"
    assert page.said() == []


def test_a_language_that_was_chosen_is_kept_with_all_that_is_shown(
    opened: Opened, reads: Callable[[str], None]
) -> None:
    page = opened(text="the cat", view="beam")
    page.find("#language option[value=pt]").click()
    page.wait("return document.documentElement.lang", wanted="pt")
    page.wait("return document.getElementById('tree-title').textContent", wanted="O feixe, passo a passo")
    assert page.find("#text").get_attribute("value") == "the cat"
    assert page.find("#language select").get_attribute("value") == "pt"
    reads("ru")
    assert opened().run("return document.documentElement.lang") == "pt"
    assert page.said() == []


def test_a_page_in_a_file_has_its_languages_too(browser: Browser, reads: Callable[[str], None], tmp_path: Path) -> None:
    scene_page(scene(["um", "dois"], ["one", "two"])).write(tmp_path / "page.html")
    reads("pt-BR")
    browser.open(tmp_path / "page.html")
    assert browser.text("h1") == "Para onde o modelo olha"
    assert browser.text("#links-title") == "Quem olha para quem: cruzada, bloco 1, média de 2 cabeças"
    browser.find("select.language option[value=ru]").click()
    browser.wait("return document.querySelector('h1').textContent", wanted="На что смотрит модель")
    assert browser.said() == []


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    ("language", "sentence", "shown"),
    [
        ("pt", "This took too long and was given up; ask for less at a time.", "Demorou demais e foi interrompido;"),
        ("ru", "Slowdown: 60 per 1 minute", "Слишком много запросов: предел — 60 в минуту."),
        ("ru", "Invalid request: request (50,001) exceeds text limit (50,000).", "— 50 001, предел — 50 000."),
        (
            "pt",
            "Text 1: 'the cat' has 30 tokens, but the model takes 20 at most; split it.",
            "Texto 1: 'the cat' tem 30",
        ),
        ("pt", "It has 30 tokens, but the limit is 20; split it.", "O texto tem 30 tokens, e o limite é 20; divida-o."),
        ("ru", "Nobody has translated this.", "Nobody has translated this."),
        ("en", "Slowdown: 60 per 1 minute", "Slowdown: 60 per 1 minute"),
    ],
)
def test_a_refusal_is_shown_in_the_language_of_the_page(
    opened: Opened, server: Pretending, reads: Callable[[str], None], language: str, sentence: str, shown: str
) -> None:
    reads(language)
    server.refusals = [(413, sentence, {})]
    page = opened()
    type_text(page, "the cat")
    page.wait("return document.querySelector('.translation .trouble').hidden", wanted=False)
    assert shown in page.text(".translation .trouble").replace("\u00a0", " ")


@pytest.mark.parametrize(
    ("language", "where", "shown"),
    [
        ("en", "occupancy", "Shown: occupancy of the frames."),
        ("pt", "occupancy", "Mostrado: ocupação dos quadros."),
        ("ru", "occupancy", "Показано: занятость кадров."),
        ("ru", "look", "Показано: внимание."),
        ("ru", "decoder.0.look", "Показано: decoder.0.look."),
        ("en", "", ""),  # a part without a name
    ],
)
def test_a_part_of_a_model_is_called_by_its_name_in_the_language(
    browser: Browser, reads: Callable[[str], None], tmp_path: Path, language: str, where: str, shown: str
) -> None:
    looks = FrameLooks("hello", np.zeros(800, np.float32), 8000, 0.02, ["a", "b"], [Block(where, np.eye(5, 2)[None])])
    FramesDrawing(looks).page().write(tmp_path / "page.html")
    reads(language)
    browser.open(tmp_path / "page.html")
    assert browser.text("#frames-caption") == shown


def test_metrics_and_the_description_of_a_model_are_in_the_language(
    opened: Opened, server: Pretending, reads: Callable[[str], None]
) -> None:
    knows = "Says English digits in the voices of six people."
    score = {"metric": "accuracy", "value": 0.875, "split": "test", "signature": "", "n": 8}
    server.models = [{**MODELS[0], "description": knows, "scores": [score]}]
    reads("pt")
    shown = opened().text("#knowing p")
    assert "conhece: Diz dígitos em inglês com as vozes de seis pessoas. Fora disso, sabe pouco." in shown
    assert "Acurácia 0,88 no teste." in shown
    server.models = [{**MODELS[0], "description": "Cats and houses.", "scores": []}]
    assert "conhece: Cats and houses." in opened().text("#knowing p")


def test_all_that_is_said_comes_from_the_texts(browser: Browser, server: Pretending) -> None:
    """In a language whose texts are all in brackets, only data is outside them."""
    content = page_files()["index.html"].content.decode()
    (block,) = re.findall(r'id="page-texts">(.*?)</script>', content)
    marked = {code: {name: _marked(text) for name, text in table.items()} for code, table in json.loads(block).items()}
    server.other_page = content.replace(block, json.dumps(marked)).encode()
    data = {*WORDS, *WORDS.values(), "talvez", "tal", "torch", "regard", "English", "Portuguese"}
    browser.open(f"{server.address}other", f"#{urlencode({'text': TEXT, 'models': 'plain'})}")
    browser.wait("return document.getElementById('why').hidden", wanted=False)
    for view in ("attention", "next", "others", "beam", "forward"):
        browser.run("document.getElementById(arguments[0]).click()", f"{view}-tab")
        settle(browser)
    seen, shorter = "", browser.run(SEEN)
    while seen != shorter:
        seen, shorter = shorter, re.sub(r"\[[^][]*\]", " ", shorter)
    assert "[" not in seen
    seen = re.sub(r"\w+(\.\w+)+", " ", seen)  # where in the model something lies
    assert set(re.findall(r"[^\W\d_]{2,}", seen)) <= data | {model["name"] for model in MODELS}


def _marked(text: str | dict[str, str]) -> str | dict[str, str]:
    return f"[{text}]" if isinstance(text, str) else {name: f"[{form}]" for name, form in text.items()}


EDITS = [
    Edit(at="cross.1.1", part="head", do="zero"),
    Edit(at="cross.2", do="zero", queries=[1, 2], keys=[3], rows=[0]),
    Edit(at="cross.2", do="scale", by=0.5, keys=list(range(10))),
    Edit(at="cross.2", do="force", keys=[1]),
    Edit(at="cross.2", do="move", keys=[1], to=4),
    Edit(at="cross.2", do="replace", values=[0.5, 0.5]),
    Edit(at="decoder.1", part="output", do="scale", by=2, units=[1, 2], queries=[3], rows=[0]),
    Edit(at="decoder.1", part="state", do="replace", values=[1.0], units=[0]),
]


@pytest.mark.parametrize("language", ["en", "pt", "ru"])
def test_edits_are_described_in_the_language(
    browser: Browser, reads: Callable[[str], None], tmp_path: Path, language: str
) -> None:
    looks = FrameLooks("hello", np.zeros(800, np.float32), 8000, 0.02, ["a"], [Block("look", np.ones((1, 5, 1)))])
    view = View("", FramesDrawing(looks), edited=Edited(EDITS, "hi"))
    view.write(tmp_path / "page.html")
    reads(language)
    browser.open(tmp_path / "page.html")
    shown = [element.text for element in browser.all("#edits-made dd div")]
    if language == "en":
        assert shown == [edit.describe() for edit in EDITS]
    assert len(shown) == len(EDITS)
    first = {"pt": "cross.1.1: o resultado da cabeça passa a zero.", "ru": "cross.1.1: выход головы обнуляется."}
    assert shown[0] == first.get(language, shown[0])
    words = {word for edit in EDITS for word in re.findall(r"[a-z]{3,}", edit.describe().partition(": ")[2])}
    if language == "ru":
        assert not any(word in sentence.partition(": ")[2] for sentence in shown for word in words)


def test_glimpses_are_named_in_the_language(browser: Browser, reads: Callable[[str], None], tmp_path: Path) -> None:
    reads("ru")
    WindowsDrawing(glimpses()).page().write(tmp_path / "page.html")
    browser.open(tmp_path / "page.html")
    assert browser.text("#patches .glimpse span") == "взгляд 1"


def test_a_graph_without_a_name_of_its_attention_says_nothing_of_it(browser: Browser, tmp_path: Path) -> None:
    near = neighbourhood()
    unnamed = replace(near, blocks=[Block("", block.weights) for block in near.blocks])
    GraphDrawing(unnamed).page().write(tmp_path / "page.html")
    browser.open(tmp_path / "page.html")
    assert "the largest here is" in browser.text("#graph-caption")
    assert "Shown" not in browser.text("#graph-caption")
