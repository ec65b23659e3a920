"""The writing desk with real models: it shows what each of them gives."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from chromium import Browser
from desk import settle

sys.path.insert(0, str(Path(__file__).parents[1] / "serving"))
from loopback import on_loopback
from small import undrawn
from toys import open_toy

import regard
from regard.runs.train import train
from regard.serving.app import make_app
from regard.verbs.generate.model import LanguageModel
from regard.verbs.generate.request import GenerateRequest, PromptRequest

pytestmark = pytest.mark.browser

FAMILIES = ("ngram", "rnnlm")
PROMPT = "Ana"


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> dict[str, LanguageModel]:
    """Return a toy of each family by name, with its folder."""
    toys = {}
    for name in FAMILIES:
        place = tmp_path_factory.mktemp(name)
        with undrawn():
            train(open_toy(name, place), [])
        (place / "run").rename(place / name)
        model = regard.load(place / name)
        assert isinstance(model, LanguageModel)
        toys[str(place / name)] = model
    return toys


@pytest.fixture
def page(browser: Browser, models: dict[str, LanguageModel]) -> Iterator[Browser]:
    with on_loopback(make_app([Path(folder) for folder in models])) as address:
        browser.open(f"{address}/", f"#prompt={PROMPT}&tokens=8&search=greedy")
        browser.wait("return document.querySelectorAll('.writer .choices').length", wanted=len(FAMILIES))
        settle(browser)
        yield browser
        browser.driver.get("about:blank")


def test_each_model_shows_what_it_finds_likely_and_goes_on(page: Browser, models: dict[str, LanguageModel]) -> None:
    texts = "return [...document.querySelectorAll(arguments[0])].map((each) => each.textContent)"
    for place, model in enumerate(models.values(), start=1):
        read = model.read_prompt(PromptRequest(prompt=PROMPT, shown=12))
        names = ["end of line" if choice.end else choice.token for choice in read.next]
        assert page.run(texts, f".writer:nth-child({place}) .pick") == names
        assert "".join(page.run(texts, f".writer:nth-child({place}) .prompted")) == PROMPT
    page.find("#go-on").click()
    page.wait("return document.querySelectorAll('.continued').length", wanted=8 * len(FAMILIES))
    settle(page)
    request = GenerateRequest.read({"prompt": PROMPT, "tokens": 8, "beam": 1, "past_end": True})
    for place, model in enumerate(models.values(), start=1):
        ((expected,),) = model.generate_by(request)
        assert "".join(page.run(texts, f".writer:nth-child({place}) .tinted-token")) == expected.text
    assert page.said() == []
