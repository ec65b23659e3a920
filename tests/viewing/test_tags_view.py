"""Words with their tags as displayed: brackets, colours, and a page."""

import json
import re
from pathlib import Path

import pytest

from regard.base.faults import Fault
from regard.viewing.tags import TaggedWords, bracketed, tags_page

SENTENCE = TaggedWords(
    ["Ana", "reads", "</script>", "\x1b[2J"],
    ["B-NP", "B-VP", "B-NP", "I-NP"],
    [0.9, 0.5, 1, 1],
    [("NP", 0, 1), ("NP", 2, 4)],
)


def test_spans_stand_in_brackets_and_in_the_colour_of_their_type() -> None:
    assert bracketed(SENTENCE, colour=False) == "[NP Ana] reads [NP </script> \\x1b[2J]"
    coloured = bracketed(SENTENCE, colour=True)
    assert len(set(re.findall(r"\x1b\[(3\d)m\[NP", coloured))) == 1
    assert coloured.endswith("]\x1b[0m")


def test_a_page_holds_words_as_text_alone(tmp_path: Path) -> None:
    tags_page("runs/chunks", [SENTENCE]).write(tmp_path / "tags.html")
    page = (tmp_path / "tags.html").read_text(encoding="utf-8")
    assert page.count("</script>") == 3  # those of the data, of the texts and of the script
    match = re.search(r'<script[^>]*id="data"[^>]*>(.*?)</script>', page, re.DOTALL)
    assert match is not None
    data = json.loads(match[1])
    assert data["sentences"][0]["words"][:3] == ["Ana", "reads", "</script>"]
    assert data["sentences"][0]["spans"] == [["NP", 0, 1], ["NP", 2, 4]]
    with pytest.raises(Fault, match=r"A page is an \.html file, and .* does not end in \.html"):
        tags_page("runs/chunks", [SENTENCE]).write(tmp_path / "tags.png")
