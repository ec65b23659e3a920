"""Tag spans: counted as conlleval does, odd sequences included, in every scheme and back."""

import random
from typing import get_args

import pytest

from regard.data.tagging.spans import Scheme, Span, find_spans, foreign_tags, misplaced_tags, split_tag, write_spans

SCHEMES = get_args(Scheme)


@pytest.mark.parametrize(
    ("tags", "spans"),
    [
        ("B-NP I-NP O B-NP", [("NP", 0, 2), ("NP", 3, 4)]),
        ("B-NP B-NP", [("NP", 0, 1), ("NP", 1, 2)]),
        ("I-NP I-NP", [("NP", 0, 2)]),  # no B marks it, but it is a span
        ("O I-NP I-VP", [("NP", 1, 2), ("VP", 2, 3)]),  # another type begins another span
        ("B-NP I-VP I-NP", [("NP", 0, 1), ("VP", 1, 2), ("NP", 2, 3)]),
        ("I-NP E-NP E-NP O", [("NP", 0, 2), ("NP", 2, 3)]),
        ("E-NP I-NP", [("NP", 0, 1), ("NP", 1, 2)]),
        ("B-NP E-NP", [("NP", 0, 2)]),
        ("B-NP E-NP B-NP E-NP", [("NP", 0, 2), ("NP", 2, 4)]),
        ("S-NP S-NP I-NP", [("NP", 0, 1), ("NP", 1, 2), ("NP", 2, 3)]),
        ("B-A-B I-A-B", [("A-B", 0, 2)]),  # a type may have hyphens
        ("B I O", [("", 0, 2)]),  # and may be missing
        ("O O", []),
        ("", []),
    ],
)
def test_spans_on_paper(tags: str, spans: list[tuple[str, int, int]]) -> None:
    assert find_spans(tags.split()) == [Span(*span) for span in spans]


def count_as_conlleval(pairs: list[tuple[str, str]]) -> tuple[int, int, int]:
    """Count true, predicted and right spans with conlleval's own automaton: word by word, with two flags."""

    def ends(before: tuple[str, str], now: tuple[str, str]) -> bool:
        listed = before[0] + now[0] in ("BB", "BO", "IB", "IO", "EE", "EI", "EO")
        return listed or (before[0] != "O" and before[1] != now[1])

    def starts(before: tuple[str, str], now: tuple[str, str]) -> bool:
        listed = before[0] + now[0] in ("BB", "IB", "OB", "OI", "EE", "EI", "OE")
        return listed or (now[0] != "O" and before[1] != now[1])

    true = predicted = right = 0
    both, last = False, (("O", ""), ("O", ""))
    for one, other in [*pairs, ("O", "O")]:
        now = split_tag(one), split_tag(other)
        ended = [ends(before, after) for before, after in zip(last, now, strict=True)]
        started = [starts(before, after) for before, after in zip(last, now, strict=True)]
        if both and all(ended) and last[0][1] == last[1][1]:
            right, both = right + 1, False
        elif both and (ended[0] != ended[1] or now[0][1] != now[1][1]):
            both = False
        both = both or (all(started) and now[0][1] == now[1][1])
        true, predicted, last = true + started[0], predicted + started[1], now
    return true, predicted, right


@pytest.mark.parametrize("marks", ["BIO", "IEO"])
def test_spans_are_counted_as_by_conlleval(marks: str) -> None:
    """Random tags, mostly in orders that no scheme would produce."""
    draw = random.Random(7)

    def tag() -> str:
        mark = draw.choice(marks)
        return mark if mark == "O" else f"{mark}-{draw.choice('XY')}"

    for _ in range(300):
        tags = [tag() for _ in range(draw.randint(1, 8))]
        answers = [one if draw.random() < 0.6 else tag() for one in tags]
        true, predicted = find_spans(tags), find_spans(answers)
        expected = count_as_conlleval(list(zip(tags, answers, strict=True)))
        assert (len(true), len(predicted), len({*true} & {*predicted})) == expected


@pytest.mark.parametrize(
    ("scheme", "tags"),
    [
        ("iob1", "I-A I-A B-A I-B O I-A"),
        ("iob2", "B-A I-A B-A B-B O B-A"),
        ("ioe1", "I-A E-A I-A I-B O I-A"),
        ("ioe2", "I-A E-A E-A E-B O E-A"),
        ("iobes", "B-A E-A S-A S-B O S-A"),
    ],
)
def test_one_sentence_in_every_scheme(scheme: Scheme, tags: str) -> None:
    spans = [Span("A", 0, 2), Span("A", 2, 3), Span("B", 3, 4), Span("A", 5, 6)]
    assert write_spans(spans, 6, scheme) == tags.split()
    assert find_spans(tags.split()) == spans
    assert not misplaced_tags(tags.split(), scheme)
    assert not list(foreign_tags(tags.split(), scheme))


def test_what_does_not_belong_is_told() -> None:
    assert misplaced_tags(["O", "I-NP", "I-NP", "B-VP"], "iob2") == [1]
    assert misplaced_tags(["B-NP", "I-NP"], "iobes") == [1]
    assert list(foreign_tags(["B-NP", "E-NP", "NP", "O", "B-"], "iob2")) == [(1, "E-NP"), (2, "NP"), (4, "B-")]
