"""The served page in a real browser with word vectors: neighbours, analogies and maps."""

from collections.abc import Iterator

import pytest
from chromium import Browser
from desk import settle, wished
from pretend import MODELS, Pretending

pytestmark = pytest.mark.browser
WORDS = {"name": "palavras", "task": "words", "reads": "words", "family": "word2vec", "can": ["neighbours", "analogy"]}


@pytest.fixture
def page(browser: Browser, server: Pretending) -> Iterator[Browser]:
    """Yield the page and leave it afterwards; its models differ from those of other tests."""
    server.models = [WORDS]
    browser.open(server.address)
    browser.wait("return document.getElementById('motto').textContent", wanted="Find words, and see why.")
    yield browser
    browser.driver.get("about:blank")


def shown(page: Browser) -> list[list[str]]:
    rows = "[...document.querySelectorAll('#words-near tr')]"
    return page.run(f"return {rows}.map((row) => [...row.children].map((cell) => cell.textContent))")


def test_a_word_has_neighbours_each_of_which_leads_on(page: Browser, server: Pretending) -> None:
    page.find("#word").send_keys("Gato\n")
    page.wait("return document.getElementById('words-title-line').textContent", wanted="gato is nearest to")
    assert shown(page) == [["gatoa", "0.90"], ["gatoaa", "−0.30"]]
    assert page.run("return location.hash") == "#word=Gato"
    page.all(".word-link")[0].click()
    page.wait("return document.getElementById('words-title-line').textContent", wanted="gatoa is nearest to")
    assert [question["words"] for question in server.questions("/v1/neighbours")] == [["Gato"], ["gatoa"]]
    assert page.said() == []


def test_three_words_are_an_analogy_and_two_are_none(page: Browser, server: Pretending) -> None:
    for field, word in (("like", "homem"), ("as", "rei"), ("third", "mulher\n")):
        page.find(f"#{field}").send_keys(word)
    expected = "homem is to rei as mulher is to rainha"
    page.wait("return document.getElementById('words-title-line').textContent", wanted=expected)
    (question,) = server.questions("/v1/analogy")
    assert (question["a"], question["b"], question["c"]) == ("homem", "rei", "mulher")
    assert wished(page) == {"like": "homem", "as": "rei", "third": "mulher"}
    page.lead("#like=homem&third=mulher")
    page.wait("return document.getElementById('words-trouble').hidden", wanted=False)
    assert page.text("#words-trouble") == "An analogy has three words; fill in all of them."
    page.find("#word").send_keys("rei\n")
    page.wait("return document.getElementById('words-title-line').textContent", wanted="rei is nearest to")
    assert wished(page) == {"word": "rei"}


def test_a_map_shows_frequent_words_and_leads_to_their_neighbours(page: Browser, server: Pretending) -> None:
    assert not page.find("#map-view").is_displayed()
    page.find("#map-scope input[value=frequent]").click()
    page.wait("return document.querySelectorAll('.map-word').length", wanted=3)
    assert server.questions("/v1/map") == [{"model": "palavras", "method": "pca", "count": 300}]
    page.all(".map-word")[1].click()
    page.wait("return document.getElementById('words-title-line').textContent", wanted="gatoa is nearest to")
    assert page.text("#map-readout b") == "gatoa"
    page.find("#word").clear()
    page.find("#word").send_keys("Gato\n")
    page.wait("return document.querySelector('#map-readout b').textContent", wanted="gato")
    page.find("#map-method input[value=t-sne]").click()
    settle(page)
    assert wished(page) == {"word": "Gato", "map": "frequent", "layout": "t-sne"}
    assert len(server.questions("/v1/map")) == 2
    assert page.said() == []


@pytest.mark.parametrize(("width", "scheme"), [(390, "dark"), (320, "light")])
def test_a_map_around_a_word_is_drawn_when_its_desk_is_seen(
    browser: Browser, server: Pretending, width: int, scheme: str
) -> None:
    server.models = [*MODELS, WORDS]
    browser.appear(width, scheme=scheme)
    browser.open(server.address, "#word=gato&map=around")
    browser.wait("return document.querySelectorAll('#verbs .tab').length", wanted=2)
    assert server.questions("/v1/map") == []
    browser.find("#neighbours-verb").click()
    browser.wait("return document.querySelectorAll('.map-word').length", wanted=3)
    settle(browser)
    assert server.questions("/v1/map") == [{"model": "palavras", "method": "pca", "words": ["gato"], "around": 40}]
    assert browser.run("return document.documentElement.scrollWidth - document.documentElement.clientWidth") <= 0
    browser.driver.get("about:blank")
