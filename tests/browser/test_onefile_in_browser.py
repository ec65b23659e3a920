"""A translator in one file, opened from disk in real browsers: it translates without server or network."""

import shutil
from pathlib import Path

import pytest
from chromium import Browser
from marionette import firefox_or_skip
from onefile_pages import write_onefile

from regard.engines.exported import origins
from regard.engines.onnx.engine import load_engine
from regard.engines.onnx.export import export_onnx
from regard.engines.shortlist import Shortlist, learnt_for
from regard.training.checkpoint import read_folder
from regard.verbs.translate.model import load_translation_model

pytestmark = pytest.mark.browser
LINES = ["I love books.", "Ana sees the red house.", "Ação 🙂 Привет", "x"]
_READY = "return !document.getElementById('desk').hidden && !document.getElementById('why').hidden"


@pytest.fixture(scope="module")
def outputs(trained: Path, tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Return the outputs of onnxruntime with int8 weights."""
    folder = tmp_path_factory.mktemp("rounded") / "run"
    shutil.copytree(trained, folder)
    export_onnx(load_translation_model(folder, device="cpu"), folder / "onnx", "int8", origins(read_folder(folder)))
    engine = load_engine(folder)
    return [output.text for output in engine.translations(LINES, engine.decoding)]


@pytest.fixture(scope="module")
def page(trained: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a page of the small translator."""
    return write_onefile(load_translation_model(trained, device="cpu"), trained, tmp_path_factory)


@pytest.fixture
def opened(browser: Browser, page: Path) -> Browser:
    browser.open(page, "#text=" + "%0A".join(line.replace(" ", "+") for line in LINES))
    browser.wait(_READY)
    return browser


def test_it_translates_line_by_line_as_onnxruntime_does(opened: Browser, outputs: list[str]) -> None:
    opened.wait("return document.getElementById('output').textContent.split('\\n')", wanted=outputs)
    assert opened.said() == []
    assert [address.partition("#")[0] for address in opened.requests()] == [opened.driver.current_url.partition("#")[0]]


def test_it_shows_the_attention_of_words_and_tokens(opened: Browser) -> None:
    opened.wait("return document.querySelectorAll('.thumb').length", wanted=4)  # two blocks of two heads
    assert opened.text("#subject").startswith("I love books. →")
    opened.run("document.querySelector('#mode input[value=tokens]').click()")
    opened.wait("return location.hash.includes('mode=tokens')")
    assert opened.said() == []


def test_it_shows_the_beam_and_the_line_that_is_chosen(opened: Browser, outputs: list[str]) -> None:
    opened.find("#beam-tab").click()
    opened.wait("return document.querySelectorAll('#outputs .output').length > 1")
    assert opened.run("return document.querySelector('#beam-view').hidden") is False
    opened.run("document.querySelectorAll('.sentence')[1].querySelector('.written').click()")
    opened.wait("return document.getElementById('subject').textContent", wanted=f"{LINES[1]} → {outputs[1]}")


def test_words_light_up_with_what_they_come_from(opened: Browser) -> None:
    opened.wait("return document.querySelectorAll('.written').length > 4")
    opened.point(opened.find(".written"))
    opened.wait("return document.querySelectorAll('#mirror .lit').length > 0")
    assert opened.text("#link-readout")


def test_typing_translates_and_too_long_a_line_is_said(opened: Browser) -> None:
    opened.run("const f = document.getElementById('text'); f.value = ''; f.dispatchEvent(new Event('input'))")
    opened.wait("return document.getElementById('output').textContent", wanted="")
    opened.wait("return document.getElementById('why').hidden")
    opened.run(
        "const f = document.getElementById('text'); f.value = 'x '.repeat(2000); f.dispatchEvent(new Event('input'))"
    )
    opened.wait("return document.getElementById('trouble').textContent.includes('1,024 at most')")


def test_with_a_shortlist_it_writes_what_onnxruntime_writes_with_it(
    browser: Browser, trained: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("listed") / "run"
    shutil.copytree(trained, folder)
    model = load_translation_model(folder, device="cpu")
    shortlist = learnt_for(folder, model.recipe.data.prepared, model.task.source, model.task.target)
    narrow = Shortlist(shortlist.common[::2], shortlist.translations)  # with so few words, outputs change
    export_onnx(model, folder / "onnx", "int8", origins(read_folder(folder)), narrow)
    engine = load_engine(folder)
    expected = [output.text for output in engine.translations(LINES, engine.decoding)]
    page = write_onefile(model, folder, tmp_path_factory, narrow)
    browser.open(page, "#text=" + "%0A".join(line.replace(" ", "+") for line in LINES))
    browser.wait(_READY)
    browser.wait("return document.getElementById('output').textContent.split('\\n')", wanted=expected)
    assert browser.said() == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_fits_a_phone_in_light_and_dark(opened: Browser, scheme: str) -> None:
    opened.appear(390, 844, scheme)
    opened.settle()
    assert opened.run("return document.documentElement.scrollWidth") <= 390
    opened.find("#beam-tab").click()
    opened.settle()
    assert opened.run("return document.documentElement.scrollWidth") <= 390


def test_it_speaks_the_language_that_is_chosen(opened: Browser) -> None:
    opened.run("localStorage.setItem('regard-language', 'ru'); location.reload()")
    opened.wait(_READY)
    assert "смотрите почему" in opened.text("#motto")
    opened.run("localStorage.removeItem('regard-language')")


def test_firefox_translates_from_disk_too(page: Path, outputs: list[str], tmp_path: Path) -> None:
    with firefox_or_skip(tmp_path / "profile") as firefox:
        firefox.open(page)
        firefox.wait(_READY)
        firefox.run(
            "const f = document.getElementById('text'); f.value = " + repr("\n".join(LINES)) + ";"
            "f.dispatchEvent(new Event('input'))"
        )
        firefox.wait("return document.querySelectorAll('.sentence').length === 4")
        assert firefox.run("return document.getElementById('output').textContent").split("\n") == outputs
        assert firefox.run("return document.querySelectorAll('.thumb').length") == 4
