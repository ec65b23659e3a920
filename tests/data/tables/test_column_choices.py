"""The grammar of columns: parts, joined columns, numbers and names, and refusals."""

import pytest

from regard.base.faults import Fault
from regard.data.tables.columns import Column, parse_columns, place_of
from regard.data.tables.headers import looks_like_header


def numbers(*values: int) -> tuple[Column, ...]:
    return tuple(Column(number=value) for value in values)


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("1+3:2", (numbers(1, 3), numbers(2))),
        ("text:label", ((Column("text"),), (Column("label"),))),
        (" review text : 12 ", ((Column("review text"),), numbers(12))),
        ("text", ((Column("text"),),)),
        ('"a:b"+"c+d":"2024"', ((Column("a:b"), Column("c+d")), (Column("2024"),))),
        ('"say ""hi""":1', ((Column('say "hi"'),), numbers(1))),
        ("e\u0301:1", ((Column("é"),), numbers(1))),
    ],
)
def test_a_choice_is_read(text: str, parts: tuple[tuple[Column, ...], ...]) -> None:
    assert parse_columns(text) == parts


@pytest.mark.parametrize("text", ["", ":", "1:", "+1", "1++2", "a::b", '"a', '"a"b', '""', "0:1", "1:99999999999"])
def test_what_is_no_choice_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"expected numbers or names|columns are counted from 1"):
        parse_columns(text)


@pytest.mark.parametrize(
    ("column", "names", "sentence"),
    [
        (Column(number=3), ["a", "b"], r"f has 2 columns \(a, b\); there is no column 3\."),
        (Column("c"), [], "f does not name its columns, so 'c' is unknown; choose them by number"),
        (Column("texd"), ["text", "b"], "f has no column 'texd'; it has text, b. Did you mean 'text'?"),
        (Column("a"), ["a", "a"], "f uses the name 'a' for the columns 1 and 2; choose one by its number"),
    ],
)
def test_a_column_that_is_not_there_is_refused(column: Column, names: list[str], sentence: str) -> None:
    with pytest.raises(Fault, match=sentence):
        place_of(column, names, 2, "f")


@pytest.mark.parametrize(
    "cells",
    [
        ["text", "label"],
        ["lemma", "features", "form"],
        ["Sentence", "POS"],
        ["source_text", "targetText"],
        ["English", "Portuguese"],
        ["en", "de"],
        ["sentence_en", "sentence_de"],
        ["текст", "метка"],
        ["texto", "rótulo"],
    ],
)
def test_names_of_columns_are_known_as_such(cells: list[str]) -> None:
    assert looks_like_header(cells)


@pytest.mark.parametrize(
    "cells",
    [["it", "es"], ["Go.", "Vai."], ["Hello", "Olá"], ["word", "words"], ["text", "text"], ["label", ""], ["1", "2"],
     ["the text of a review", "label"], ["x" * 41, "label"]],
)  # fmt: skip
def test_an_example_is_no_header(cells: list[str]) -> None:
    assert not looks_like_header(cells)


def test_what_recurs_below_is_no_header() -> None:
    rows = [[f"word {number}", f"palavra {number}"] for number in range(4)]
    assert looks_like_header(rows[0])
    assert not looks_like_header(rows[0], rows[1:])


def test_numbers_below_give_a_header_away() -> None:
    rows = [["good film", "4"], ["bad film", "1"], ["dull", "2.5"]]
    assert looks_like_header(["body", "mark"], rows)
    assert not looks_like_header(["body", "mark"], rows[:2])
    assert not looks_like_header(["body", "mark"], [*rows, ["odd", "one"]])
