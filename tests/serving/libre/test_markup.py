"""HTML in translation: what is kept, what is translated, and where tags go."""

import html
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import count, cycle
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from regard.data.corpora.sentences import Sentence, rejoin, split_sentences
from regard.engines.translated import Alignment, Translated, link_sentences
from regard.serving.libre import placing
from regard.serving.libre.markup import TextRun, read_html, write_unchanged


def as_translated(text: str, alignment: Alignment) -> Translated:
    return Translated(text, 0.0, [], [], [(text, 0.0)], lambda: alignment)


def put_together(run: TextRun, sentences: list[Sentence], parts: list[Translated]) -> str:
    """Return a run with its sentences translated."""
    return placing.put_back(run, rejoin(sentences, [part.text for part in parts]), link_sentences(sentences, parts))


def put_back(run: TextRun, translated: str, alignment: Alignment) -> str:
    """Return a run of one sentence, translated."""
    return put_together(run, [Sentence("", run.parts[1], "")], [as_translated(translated, alignment)])


def translated(page: str, translation: str, alignment: Alignment) -> str:
    """Return a page of one run, translated by hand."""
    (run,) = (part for part in read_html(page) if isinstance(part, TextRun))
    return put_back(run, translation, alignment)


def turned(page: str, order: Sequence[int] | None = None) -> str:
    """Return the page with its text in capitals and the words of each run reordered."""
    parts = []
    for part in read_html(page):
        if isinstance(part, str) or not part.parts[1]:
            parts.append(part if isinstance(part, str) else write_unchanged(part))
            continue
        words = part.parts[1].split()
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
        ("<b>one <i>x</i><br>two</b> four <i>five</i>", (1, 0), "<b><i>X</i> ONE<br>TWO</b> <i>FIVE</i> FOUR"),
        ("<b>one<br>two three</b>", (1, 0), "<b>ONE<br>THREE TWO</b>"),
        ("one <b>two<p>three</p></b>", (1, 0), "<b>TWO ONE<p>THREE</p></b>"),
        ("", None, ""),
    ],
)
def test_tags_go_where_their_words_went(page: str, order: Sequence[int] | None, expected: str) -> None:
    assert turned(page, order) == expected


@pytest.mark.parametrize(
    ("page", "translation", "alignment", "expected"),
    [
        # Elements without text stay before the punctuation that closed the preceding text.
        ("I love <code>x</code>.", "Eu amo.", [(0, 0), (1, 1)], "Eu amo <code>x</code>."),
        ("I love <code>x</code>.", "Eu amo.", [(0, 0), (2, 1)], "Eu amo <code>x</code>."),
        ("I love <code>x</code>.", "Eu amo .", [(0, 0), (1, 1), (2, 2)], "Eu amo <code>x</code> ."),
        ("I love <code>x</code>.", "Eu amo", [(0, 0), (1, 1)], "Eu amo <code>x</code>"),
        ("I love <code>x</code>.", "Eu amo.", [], "Eu amo <code>x</code>."),
        ("I love <code>x</code> !", "Eu amo!", [(0, 0), (1, 1)], "Eu amo <code>x</code>!"),
        ("I love <img src=x>.", "Eu amo.", [(0, 0), (1, 1)], "Eu amo <img src=x>."),
        ("I love <b></b>.", "Eu amo.", [(0, 0), (1, 1)], "Eu amo <b></b>."),
        ("I love <span translate=no>a.</span>?", "Eu amo?", [(0, 0), (1, 1)], "Eu amo <span translate=no>a.</span>?"),
        ("I love books<sup translate=no>1</sup>.", "Eu amo livros.", [(0, 0), (1, 1), (2, 2)],
         "Eu amo livros<sup translate=no>1</sup>."),
        ("<b>I love <code>x</code>.</b>", "Eu amo.", [(0, 0), (1, 1)], "<b>Eu amo <code>x</code>.</b>"),
        ("<b>I love <code>x</code></b>.", "Eu amo.", [(0, 0), (1, 1)], "<b>Eu amo <code>x</code></b>."),
        ("<b>I love</b> <code>x</code>.", "Eu amo.", [(0, 0), (1, 1)], "<b>Eu amo</b> <code>x</code>."),
        # At the beginning, at the end, in brackets.
        ("<code>x</code> is good.", "É bom.", [(0, 0), (1, 1)], "<code>x</code> É bom."),
        ("I love <code>x</code>", "Eu amo", [(0, 0), (1, 1)], "Eu amo <code>x</code>"),
        ("See (<code>x</code>) now", "Veja () agora", [(0, 0), (1, 1), (2, 2)], "Veja (<code>x</code>) agora"),
        # Several side by side keep their order, and the white space between them.
        ("Use <code>a</code> <code>b</code>.", "Use.", [(0, 0)], "Use <code>a</code> <code>b</code>."),
        ("Use <code>a</code><code>b</code>.", "Use.", [(0, 0)], "Use <code>a</code><code>b</code>."),
        ("Use <code>a</code><!-- and --><b><code>b</code></b> now", "Use agora", [(0, 0), (1, 1)],
         "Use <code>a</code><!-- and --><b><code>b</code></b> agora"),
        ("Use <code>a</code>, <code>b</code> and run", "Use, e corra", [(0, 0), (2, 1), (3, 2)],
         "Use <code>a</code>, <code>b</code> e corra"),
        # Scripts without spaces get none; right-to-left text is in reading order.
        ("I love <code>x</code>.", "愛する。", [(1, 0)], "愛する<code>x</code>。"),
        ("I love <code>x</code>!", "أنا أحب!", [(0, 0), (1, 1)], "أنا أحب <code>x</code>!"),
        ("Is it <code>x</code>?", "هل هذا؟", [(0, 0), (1, 1)], "هل هذا <code>x</code>؟"),
    ],
)  # fmt: skip
def test_what_holds_no_text_stays_beside_its_neighbours(
    page: str, translation: str, alignment: Alignment, expected: str
) -> None:
    assert translated(page, translation, alignment) == expected


def test_lines_of_preformatted_text_are_kept() -> None:
    page = "<p>one\n two</p><pre>\n one\n   two  \n\n<b>three\n four</b></pre><p>five\nsix</p>"
    expected = "<p>ONE TWO</p><pre>\n ONE\n   TWO  \n\n<b>THREE\n FOUR</b></pre><p>FIVE SIX</p>"
    output = []
    for part in read_html(page):
        if isinstance(part, str):
            output.append(part)
            continue
        sentences = split_sentences(part.parts[1], "en")
        places = [range(len(sentence.text.split())) for sentence in sentences]
        parts = [
            as_translated(sentence.text.upper(), list(zip(place, place, strict=True)))
            for sentence, place in zip(sentences, places, strict=True)
        ]
        output.append(put_together(part, sentences, parts))
    assert "".join(output) == expected


def test_tags_of_sentences_that_are_joined_without_a_space_stay_apart() -> None:
    (run,) = (part for part in read_html("<b>I read.</b> <i>I sleep.</i> I <u>eat</u>.") if isinstance(part, TextRun))
    sentences = [Sentence("", "I read.", " "), Sentence("", "I sleep.", " "), Sentence("", "I eat.", "")]
    parts = [as_translated(text, [(1, 0)]) for text in ("読む。", "寝る。", "食べる。")]
    assert put_together(run, sentences, parts) == "<b>読む。</b><i>寝る。</i><u>食べる</u>。"


def test_an_element_comes_back_once_even_if_its_words_are_torn_apart() -> None:
    run = next(part for part in read_html("<b>one two</b> three") if isinstance(part, TextRun))
    assert put_back(run, "EINS DREI ZWEI", [(0, 0), (2, 1), (1, 2)]) == "<b>EINS</b> DREI ZWEI"


def test_an_element_whose_words_vanish_stands_empty_beside_its_neighbours() -> None:
    run = next(part for part in read_html("one <b>two</b> three") if isinstance(part, TextRun))
    assert put_back(run, "EINS DREI", [(0, 0), (2, 1)]) == "EINS<b></b> DREI"


def test_words_from_nowhere_inside_an_element_stay_inside() -> None:
    run = next(part for part in read_html("<b>one two</b> three") if isinstance(part, TextRun))
    assert put_back(run, "EINS UND ZWEI DREI", [(0, 0), (1, 2), (2, 3)]) == "<b>EINS UND ZWEI</b> DREI"


def test_what_is_written_is_never_markup() -> None:
    run = next(part for part in read_html("<i>one</i>") if isinstance(part, TextRun))
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


# Whole pages, every element with its own number; KEPT holds nothing that is translated.
KEPT = [
    "<code id={}>a < b &amp; <i>c</i></code>",
    "<img id={} alt='a > b'>",
    "<script id={}>if (a<b) '<b>'</script>",
    "<span id={} class=notranslate>I\n <b>love</b></span>",
    "<b id={}></b>",
    "<br id={}>",
]
text = st.lists(st.sampled_from(["I", "love", " ", "\n ", ". ", ".", ",", "&lt;", "&nbsp;", "(", "語"]), max_size=4)
inline = st.recursive(
    text.map("".join) | st.sampled_from(KEPT),
    lambda inner: st.tuples(st.sampled_from(["b", "i", "a", "ruby"]), st.lists(inner, max_size=4)),
    max_leaves=10,
)
pages = st.lists(st.tuples(st.sampled_from(["p", "pre", "li"]), st.lists(inline, max_size=5)), max_size=3)
word = st.sampled_from(["eins", "zwei.", "(drei)", "語。", "<script>", "&amp;", "«vier»", "؟"])
drafts = st.lists(st.lists(st.tuples(word, st.integers(0, 5)), max_size=5), min_size=1, max_size=9)


def as_html(tree: Any, numbers: Iterator[int]) -> str:
    if isinstance(tree, str):
        return tree.format(next(numbers)) if tree in KEPT else tree
    name, inner = tree
    return f"<{name} id={next(numbers)}>{''.join(as_html(child, numbers) for child in inner)}</{name}>"


def parents(page: str) -> dict[str, str]:
    """Return the number of each element and of its parent; all kept elements must be unchanged."""
    for snippet in KEPT:
        page = re.sub(re.escape(snippet).replace(re.escape("{}"), r"(\d+)"), r"<kept id=\1></kept>", page)
    parent_of, around = {}, [""]
    for number in re.findall(r"<\w+ id=(\d+)>|</\w+>", page):
        if number:
            parent_of[number] = around[-1]
            around.append(number)
        else:
            around.pop()
    assert around == [""]
    return parent_of


@settings(max_examples=200, deadline=None)
@given(tree=pages, drafts=drafts)
def test_each_element_comes_back_once_inside_the_same_one(tree: Any, drafts: list[list[tuple[str, int]]]) -> None:
    numbers, coming = count(), cycle(drafts)
    page = "".join(as_html(block, numbers) for block in tree)
    output = []
    for part in read_html(page):
        if isinstance(part, str) or not part.parts[1]:
            output.append(part if isinstance(part, str) else write_unchanged(part))
            continue
        sentences = split_sentences(part.parts[1], "en")
        parts = [
            as_translated(
                " ".join(word for word, _ in draft), [(read, written) for written, (_, read) in enumerate(draft)]
            )
            for draft, _ in zip(coming, sentences, strict=False)
        ]
        output.append(put_together(part, sentences, parts))
    assert parents("".join(output)) == parents(page)
    assert "".join(output).count("<script") == page.count("<script")


@settings(max_examples=150, deadline=None)
@given(st.text(alphabet="<>/abp &;!?-=[]\"' \n", max_size=30))
def test_any_text_can_be_read_as_a_page(page: str) -> None:
    unchanged = "".join(part if isinstance(part, str) else write_unchanged(part) for part in read_html(page))
    again = "".join(part if isinstance(part, str) else write_unchanged(part) for part in read_html(unchanged))
    assert again == unchanged
    assert html.unescape(TAGS.sub("", turned(page))) is not None


@pytest.mark.one_in(3)
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
