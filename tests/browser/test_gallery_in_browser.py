"""A gallery of captions in a real browser: its cards, and a word that shows where it looked."""

from pathlib import Path

import numpy as np
import pytest
from chromium import Browser

from regard.viewing.gallery import ScoredCaption, gallery_of, gallery_page

pytestmark = pytest.mark.browser


def test_a_word_shows_where_it_looked_while_it_is_pointed_at(browser: Browser, tmp_path: Path) -> None:
    weights = np.array([[[0.0, 1.0]], [[1.0, 0.0]]])
    seen = ScoredCaption("seen.png", 1.25, ["a", "dot"], ["one dot"], np.ones((2, 4, 3)), weights)
    unseen = ScoredCaption("unseen.png", 0.5, ["nothing"], ["a line"])
    gallery_page(gallery_of("two", "CIDEr", [seen, unseen], 1)).write(tmp_path / "gallery.html")
    browser.open(tmp_path / "gallery.html")
    assert [element.text for element in browser.all(".said")] == ["a dot", "nothing"]
    assert [element.text for element in browser.all(".score")] == ["CIDEr 1.25 · seen.png", "CIDEr 0.50 · unseen.png"]
    browser.point(browser.find("[data-word='1']"))
    alphas = "return [...document.querySelector('.tint').getContext('2d').getImageData(0, 0, 2, 1).data]"
    assert [value > 0 for value in browser.run(alphas)[3::4]] == [True, False]
    browser.point(browser.find("h1"))
    assert browser.run("return document.querySelector('.tint').width") == 0
    assert browser.said() == []
