"""The page of the server in a real browser where models have word vectors: neighbours, and analogies."""

from collections.abc import Iterator

import pytest
from chromium import Browser
from pretend import Pretending

pytestmark = pytest.mark.browser
WORDS = {"name": "palavras", "task": "words", "reads": "words", "family": "word2vec", "can": ["neighbours", "analogy"]}


@pytest.fixture
def page(browser: Browser, server: Pretending) -> Iterator[Browser]:
    """The page, which is left afterwards, for it has other models than those of other tests."""
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
    assert [each["words"] for each in server.questions("/v1/neighbours")] == [["Gato"], ["gatoa"]]
    assert page.said() == []


def test_three_words_are_an_analogy_and_two_are_none(page: Browser, server: Pretending) -> None:
    page.lead("#word=mulher&like=homem&as=rei")
    wanted = "homem is to rei as mulher is to rainha"
    page.wait("return document.getElementById('words-title-line').textContent", wanted=wanted)
    (question,) = server.questions("/v1/analogy")
    assert (question["a"], question["b"], question["c"]) == ("homem", "rei", "mulher")
    page.find("#as").clear()
    page.find("#word").send_keys("\n")
    page.wait("return document.getElementById('words-trouble').hidden", wanted=False)
    assert page.text("#words-trouble") == "An analogy has three words; fill both fields, or none."
