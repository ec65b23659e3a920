"""A lesson of tables in a real browser: its numbers, its colours and its words, light and dark, wide and narrow."""

from pathlib import Path

import numpy as np
import pytest
from chromium import Browser

from regard.viewing.tables import NumberTable, TableLesson, WordTable, tables_page

pytestmark = pytest.mark.browser
PIXELS = "return [...document.querySelector('canvas').getContext('2d').getImageData(0, 0, 2, 1).data]"


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (390, "dark")])
def test_numbers_have_colours_and_nothing_is_wider_than_the_page(
    browser: Browser, tmp_path: Path, width: int, scheme: str
) -> None:
    small = NumberTable("small", ["a"], ["x", "y", "z"], np.array([[2.0, -1.0, 0.0]]), "a caption")
    large = NumberTable("large", [str(n) for n in range(50)], [str(n) for n in range(20)], np.ones((50, 20)))
    large.values[0, 0] = -1
    words = WordTable("words", ["unit", "promotes"], [["1", ", ".join(["<i>word</i>"] * 40)]])
    tables_page(TableLesson("All", [small, large, words])).write(tmp_path / "tables.html")
    browser.appear(width, 900, scheme)
    browser.open(tmp_path / "tables.html")
    assert browser.text("#subject") == "All"
    assert [cell.text for cell in browser.all(".numbers td")] == ["2.00", "-1.00", "0.00"]
    assert [cell.get_attribute("class") for cell in browser.all(".numbers td")] == ["plus", "minus", "plus"]
    colours = [cell.value_of_css_property("background-color") for cell in browser.all(".numbers td")]
    assert len(set(colours)) == 3
    red_below, _, blue_below, _, red_above, _, blue_above, _ = browser.run(PIXELS)
    assert blue_below > red_below
    assert red_above > blue_above
    assert "<i>word</i>, <i>word</i>" in browser.text(".words tbody")
    assert browser.run("return document.documentElement.scrollWidth <= innerWidth")
    assert browser.said() == []
