"""The page as somebody finds it who does not know its models: what they know, what to try, when to doubt them."""

from typing import Any

import pytest
from desk import Opened, wait_for_outputs
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
    said = page.text("#knowing p")
    assert said.startswith("plain knows: Cats and houses. What is unlike that it may get wrong without a sign.")
    assert "Learnt from 30,000 pairs of demo:train. 981,632 parameters. bleu 96.7 on its test." in said
    assert [each.text for each in page.all(".example")] == KNOWN["examples"]
    page.all(".example")[0].click()
    wait_for_outputs(page, "a gata dorme.")
    assert page.said() == []


def test_of_a_model_that_says_nothing_only_its_name_is_told(opened: Opened) -> None:
    page = opened()
    assert [each.text for each in page.all("#knowing p")] == ["plain", "No examples are kept with this model."]


def test_what_a_model_is_unsure_of_is_marked_and_said(opened: Opened, server: Pretending) -> None:
    """The pretended model is unsure of whatever it does not know a word of."""
    certainty = {"measure": "mean token log-probability", "threshold": -0.5, "percentile": 5, "outputs": 500}
    server.models = [MODELS[0] | {"certainty": certainty}]
    page = opened(text="the cat sleeps. Hello, how are you.")
    assert [each.text for each in page.all(".sentence.unsure")] == ["Hello, how are you."]
    assert page.text(".doubt") == "The model is unsure of 1 sentence, which is underlined: it may well be wrong."
    assert "below -0.500. 95% of 500 translations" in page.find(".doubt").get_attribute("title")
    assert page.text(".doubt") in page.text(".translation .unseen")
    page = opened(anew=False, text="the cat sleeps.")
    assert not page.find(".doubt").is_displayed()
