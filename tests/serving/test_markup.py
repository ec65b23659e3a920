"""HTML in translation: what is kept, what is translated, and where tags go."""

import html
import re
from collections import Counter
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from regard.serving.markup import Run, read_html, unchanged
from regard.serving.placing import put_back


def turned(page: str, order: Sequence[int] | None = None) -> str:
    """The page with its text in capitals, the words of each run in another order."""
    parts = []
    for part in read_html(page):
        if isinstance(part, str) or not part.parts[1]:
            parts.append(part if isinstance(part, str) else unchanged(part))
            continue
        words = part.parts[1].split(" ")
        places = list(order) if order and len(order) == len(words) else list(range(len(words)))
        alignment = [(source, target) for target, source in enumerate(places)]
        parts.append(put_back(part, " ".join(words[place].upper() for place in places), alignment))
    return "".join(parts)


@pytest.mark.parametrize(
    ("page", "order", "expected"),
    [
        ("I love books.", None, "I LOVE BOOKS."),
        ("<p>I love <b>books</b>.</p>", None, "<p>I LOVE <b>BOOKS</b>.</p>"),
        ("<b>red house</b> here", (2, 1, 0), "HERE <b>HOUSE RED</b>"),
        ("the <b>big <i>red</i></b> house", (0, 3, 1, 2), "THE HOUSE <b>BIG <i>RED</i></b>"),
        ("the <b>big <i>red</i></b> house", (0, 3, 2, 1), "THE HOUSE <b><i>RED</i> BIG</b>"),
        ("<a href='?a=1&amp;b=2'>one</a> two", (1, 0), "TWO <a href='?a=1&amp;b=2'>ONE</a>"),
        ("one<br>two", None, "ONE<br>TWO"),
        ("one <img src=x> two", None, "ONE <img src=x> TWO"),
        ("a &lt;b&gt; &amp; c", None, "A &lt;B&gt; &amp; C"),
        ("one<!-- note --> two", None, "ONE<!-- note --> TWO"),
        ("<code>x < y</code> is", None, "<code>x < y</code> IS"),
        ("<p translate=no>keep <b>it</b></p> this", None, "<p translate=no>keep <b>it</b></p> THIS"),
        ('<span class="a notranslate">keep</span> this', None, '<span class="a notranslate">keep</span> THIS'),
        ("<style>p { }</style><p>one</p>", None, "<style>p { }</style><p>ONE</p>"),
        ("<SCRIPT>if (a<b) '</b>'</Script >one", None, "<SCRIPT>if (a<b) '</b>'</Script >ONE"),
        ("<B>one</B > two", None, "<B>ONE</B > TWO"),
        ("1 < 2 <3", None, "1 &lt; 2 &lt;3"),
        ('<img alt="a > b"> one', None, '<img alt="a > b"> ONE'),
        ("<br/>one<hr />two", None, "<br/>ONE<hr />TWO"),
        ("<!DOCTYPE html><p>one", None, "<!DOCTYPE html><p>ONE"),
        ("  <p>\n one\n two </p>\n", None, "  <p>\n ONE TWO </p>\n"),
        ("<b>never closed", None, "<b>NEVER CLOSED"),
        ("closed</b> only", None, "CLOSED</b> ONLY"),
        ("<b>one <i>two</b> three</i>", None, "<b>ONE <i>TWO</b> THREE</i>"),
        ("<b></b>one", None, "<b></b>ONE"),
        ("", None, ""),
    ],
)
def test_tags_go_where_their_words_went(page: str, order: Sequence[int] | None, expected: str) -> None:
    assert turned(page, order) == expected


def test_an_element_comes_back_once_even_if_its_words_are_torn_apart() -> None:
    run = next(part for part in read_html("<b>one two</b> three") if isinstance(part, Run))
    assert put_back(run, "EINS DREI ZWEI", [(0, 0), (2, 1), (1, 2)]) == "<b>EINS</b> DREI ZWEI"


def test_an_element_whose_words_vanish_stands_empty_beside_its_neighbours() -> None:
    run = next(part for part in read_html("one <b>two</b> three") if isinstance(part, Run))
    assert put_back(run, "EINS DREI", [(0, 0), (2, 1)]) == "EINS<b></b> DREI"


def test_words_from_nowhere_inside_an_element_stay_inside() -> None:
    run = next(part for part in read_html("<b>one two</b> three") if isinstance(part, Run))
    assert put_back(run, "EINS UND ZWEI DREI", [(0, 0), (1, 2), (2, 3)]) == "<b>EINS UND ZWEI</b> DREI"


def test_what_is_written_is_never_markup() -> None:
    run = next(part for part in read_html("<i>one</i>") if isinstance(part, Run))
    assert put_back(run, "<script>", [(0, 0)]) == "<i>&lt;script&gt;</i>"


TAGS = re.compile(r"</?[a-z][^>\"]*>")
pieces = st.sampled_from(
    ["<b>", "</b>", "<i>", "</i>", "<p>", "</p>", "<br>", "one", "two", " ", "&amp;", "<a href=x>"]
)


@settings(max_examples=150, deadline=None)
@given(st.lists(pieces, max_size=12), st.randoms())
def test_every_tag_comes_back_whatever_the_page(parts: list[str], draw: object) -> None:
    page = "".join(parts)
    orders = [None, list(range(len(page.split())))[::-1]]
    for order in orders:
        assert Counter(TAGS.findall(turned(page, order))) == Counter(TAGS.findall(page))


@settings(max_examples=150, deadline=None)
@given(st.text(alphabet="<>/abp &;!?-=[]\"' \n", max_size=30))
def test_any_text_can_be_read_as_a_page(page: str) -> None:
    kept = "".join(part if isinstance(part, str) else unchanged(part) for part in read_html(page))
    again = "".join(part if isinstance(part, str) else unchanged(part) for part in read_html(kept))
    assert again == kept
    assert html.unescape(TAGS.sub("", turned(page))) is not None


@pytest.mark.parametrize(
    "page",
    [
        "<b>a</b> " * 2000,
        "<b>" * 2000 + "a" + "</b>" * 2000,
        "<i>" * 9000,
        "</i>" * 9000,
        "<!--" * 9000,
        "<![" * 9000,
        '<a x="' * 5000,
        "<" * 20_000,
        "<script>" * 5000,
    ],
    ids=lambda page: page[:6],
)
def test_pages_of_nothing_but_tags_are_read_and_written(page: str) -> None:
    assert Counter(TAGS.findall(turned(page))) == Counter(TAGS.findall(page))
