"""The page for a newcomer: what its models know, what to try, when to doubt them."""

import math
from typing import Any

import pytest
from chromium import Browser
from desk import Opened, settle, type_text, wait_for_outputs, wished
from pretend import MODELS, Pretending

pytestmark = pytest.mark.browser

KNOWN: dict[str, Any] = {
    "description": "Cats and houses.",
    "data": ["demo:train"],
    "amount": {"count": 30_000, "unit": "pairs"},
    "parameters": 981_632,
    "examples": ["the cat sleeps.", "I see the cat."],
    "scores": [
        {"metric": "loss", "value": 0.5, "split": "valid"},
        {"metric": "bleu", "value": 96.71, "split": "test"},
    ],
}


def test_the_page_says_what_a_model_knows_and_offers_texts_to_try(opened: Opened, server: Pretending) -> None:
    server.models = [MODELS[0] | KNOWN, *MODELS[1:]]
    page = opened()
    text = page.text("#knowing p")
    assert text.startswith("plain knows: Cats and houses. It knows little about anything else.")
    assert "Learnt from 30,000 pairs of demo:train. 981,632 parameters. BLEU 96.7 on its test." in text
    assert [element.text for element in page.all(".example")] == KNOWN["examples"]
    page.all(".example")[0].click()
    wait_for_outputs(page, "a gata dorme.")
    assert page.said() == []


def test_a_score_beyond_reading_is_told_by_its_power_of_ten(opened: Opened, server: Pretending) -> None:
    server.models = [MODELS[0] | {"scores": [{"metric": "perplexity", "value": math.exp(100), "split": "test"}]}]
    assert "Perplexity 2.7E43 on its test." in opened().text("#knowing p")


def test_the_measure_that_chose_the_weights_is_told(opened: Opened, server: Pretending) -> None:
    """A tagger that has found no span may still be right about most words."""
    scores = [
        {"metric": "f1", "value": 0.0, "split": "valid"},
        {"metric": "accuracy", "value": 0.88, "split": "valid"},
    ]
    server.models = [MODELS[0] | {"scores": scores, "best_by": "f1"}]
    text = opened().text("#knowing p")
    assert "F1 0.00 on its validation data." in text
    assert "ccuracy" not in text
    server.models = [MODELS[0] | {"scores": scores, "best_by": "loss"}]
    assert "Accuracy 0.88 on its validation data." in opened().text("#knowing p")


def test_a_model_that_has_hardly_been_trained_is_warned_of(opened: Opened, server: Pretending) -> None:
    course = {"step": 22, "steps": 3000, "validated": True}
    server.models = [MODELS[0] | {"hardly_trained": course}]
    sentence = "This model has hardly been trained (step 22 of 3,000), so expect little of it."
    assert sentence in opened().text("#knowing p")
    server.models = [MODELS[0] | {"hardly_trained": course | {"validated": False}}]
    assert "(step 22 of 3,000, never validated)" in opened().text("#knowing p")


def test_of_a_model_that_says_nothing_only_its_name_is_told(opened: Opened) -> None:
    page = opened()
    assert [element.text for element in page.all("#knowing p")] == ["plain", "No examples are kept with this model."]


def test_what_a_model_is_unsure_of_is_marked_and_said(opened: Opened, server: Pretending) -> None:
    """The fake model is unsure about texts with unknown words."""
    certainty = {"measure": "mean token log-probability", "threshold": -0.5, "percentile": 5, "outputs": 500}
    server.models = [MODELS[0] | {"certainty": certainty}]
    page = opened(text="the cat sleeps. Hello, how are you.")
    assert [element.text for element in page.all(".sentence.unsure")] == ["Hello, how are you."]
    assert page.text(".doubt") == "The model is unsure of 1 sentence, which is underlined: it may well be wrong."
    assert "below -0.500. 95% of 500 translations" in page.find(".doubt").get_attribute("title")
    assert page.text(".doubt") in page.text(".translation .unseen")
    page = opened(anew=False, text="the cat sleeps.")
    assert not page.find(".doubt").is_displayed()


# Why


def test_why_follows_the_sentence_that_is_typed(opened: Opened) -> None:
    page, subject = opened(), "return document.getElementById('subject').textContent"
    type_text(page, "the cat sleeps.")
    page.wait(subject, wanted="the cat sleeps. → a gata dorme.")
    type_text(page, " I see")
    page.wait(subject, wanted="I see → Eu vejo")
    type_text(page, " the house.")
    page.wait(subject, wanted="I see the house. → Eu vejo a casa.")
    settle(page)
    assert wished(page)["sentence"] == "2"
    assert [element.text for element in page.all("#rows .word")] == ["Eu", "vejo", "a", "casa."]
    page.find("#text").send_keys("")
    page.press("HOME")
    type_text(page, "see ")
    page.wait(
        "return document.getElementById('subject').textContent", wanted="see the cat sleeps. → vejo a gata dorme."
    )
    assert page.said() == []


def test_tokens_are_told_in_words(opened: Opened) -> None:
    page = opened(text="the cat sleeps.", view="next", at=3)
    names = page.names("button", more_than=5)
    assert {"Go on with talvez", "end of sentence", "gata"} <= set(names)
    assert not [name for name in names if "▁" in name or "</s>" in name]


def test_files_and_pictures_name_their_block_and_head(opened: Opened) -> None:
    page = opened(text="the cat sleeps.", head=2, layer=1)
    page.run(
        "window.kept = []; HTMLAnchorElement.prototype.click = function () { window.kept.push(this.download); };"
        "document.querySelectorAll('#attention-view .save:nth-child(4)').forEach((each) => each.click());"
    )
    assert page.run("return window.kept") == [
        "regard-attention-lines-cross-block-1-head-2.json",
        "regard-attention-matrix-cross-block-1-head-2.json",
        "regard-attention-heads-cross.json",
    ]
    assert page.text("#links-title") == "Who looks at whom: cross, block 1, head 2"
    assert [page.text(f"#{axis}-axis") for axis in ("row", "column")] == ["written ↓", "read →"]
    inside = (
        "const box = (id) => document.getElementById(id).getBoundingClientRect(), cells = box('cells');"
        "return [box('row-axis').right <= cells.left, box('column-axis').bottom <= cells.top];"
    )
    assert page.run(inside) == [True, True]


# For programs


def test_the_description_of_the_interface_is_a_page(browser: Browser, server: Pretending) -> None:
    browser.open(f"{server.address}docs")
    browser.wait("return document.querySelectorAll('#post-v1-translate tbody, #post-v1-translate table').length > 0")
    assert browser.text("#post-v1-translate-title") == "POST /v1/translate"
    fields = {element.text.split()[0] for element in browser.all("#post-v1-translate th[scope=row]")}
    assert {"text", "beam", "n_best", "model"} <= fields
    assert "curl -s http://127.0.0.1" in browser.text("#post-v1-translate pre")
    _try_translating(browser, server)
    links = browser.run("return [...document.querySelectorAll('a[href^=\"#\"]')].map((each) => each.hash.slice(1))")
    assert browser.run("return arguments[0].filter((id) => !document.getElementById(id))", links) == []
    assert browser.said() == []
    outside = [address for address in browser.requests() if not address.startswith(server.address)]
    assert outside == []


def _try_translating(browser: Browser, server: Pretending) -> None:
    """Submit an address's form: only the fields are sent, and the answer is shown."""
    filled = (
        "const form = document.querySelector('#post-v1-translate form');"
        "const fill = (name, value) => { form.querySelector(`#try-post-v1-translate-${name}`).value = value; };"
        "fill('text', 'I love books.'); fill('beam', 3); fill('explain', 'false'); fill('search', arguments[0]);"
        "form.requestSubmit();"
    )
    browser.run(filled, "{nested")
    browser.wait(
        "return document.querySelector('#post-v1-translate output').textContent.includes('search is not JSON')"
    )
    browser.run(filled, '{"nested": true}')
    browser.wait("return document.querySelector('#post-v1-translate output pre')?.textContent.includes('translations')")
    assert browser.text("#post-v1-translate output").startswith("Status 200 after ")
    question = {"text": "I love books.", "beam": 3, "explain": False, "search": {"nested": True}}
    assert server.questions("/v1/translate")[-1] == question
