"""Labelled texts: three file formats, splits, and refusals with their messages."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from regard.base.faults import Fault
from regard.base.progress import silent
from regard.base.recipe import check, parse, write
from regard.data.labelled.options import LabelledData
from regard.data.labelled.prepare import PreparedExamples, check_texts_there, prepare_labelled
from regard.data.labelled.reading import read_examples

LINES = "1 a good film\n0 a bad film\n\n1 good\n0 bad\n"


def data_of(folder: Path, text: str | bytes = LINES, **options: Any) -> LabelledData:
    """Return options that name a file with this text."""
    file = folder / "texts.txt"
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    return check(LabelledData, {"train": str(file), **options})


def prepare(options: LabelledData, folder: Path, start: dict[str, bytes] | None = None) -> PreparedExamples:
    return prepare_labelled(options, folder / "prepared", silent, start)


def texts_of(prepared: PreparedExamples, split: str) -> list[str]:
    examples = prepared.splits[split]
    return [prepared.tokeniser.decode(examples.text(row)) for row in range(len(examples))]


def test_lines_are_a_label_and_a_text_and_the_last_are_set_aside(tmp_path: Path) -> None:
    options = data_of(tmp_path, hold_out=0.25, names={"0": "negative", "1": "positive"})
    prepared = prepare(options, tmp_path)
    assert prepared.labels.classes == ["negative", "positive"]
    assert texts_of(prepared, "train") == ["a good film", "a bad film", "good"]
    assert texts_of(prepared, "valid") == ["bad"]
    assert prepared.splits["train"].labels.tolist() == [1, 0, 1]
    assert options.parts == ("train", "valid")
    assert prepared.report[0] == "train: 3 texts, 7 tokens, 0.0% of them unknown"


def test_a_file_that_is_sorted_by_class_sets_aside_some_of_each(tmp_path: Path) -> None:
    lines = "".join(f"{label} text {number}\n" for label in ("bad", "good", "odd") for number in range(20))
    prepared = prepare(data_of(tmp_path, lines, hold_out_by="class"), tmp_path)
    assert np.bincount(prepared.splits["valid"].labels).tolist() == [2, 2, 2]
    assert np.bincount(prepared.splits["train"].labels).tolist() == [18, 18, 18]
    assert prepared.report[-1] == "valid is held out of data.train: 10.0% of each class (data.hold_out)"


def test_the_last_texts_of_a_sorted_file_are_said_to_lack_classes(tmp_path: Path) -> None:
    lines = "".join(f"{label} text {number}\n" for label in ("bad", "good", "odd") for number in range(20))
    assert prepare(data_of(tmp_path, lines, hold_out_by="place"), tmp_path).report[-2:] == [
        "valid is held out of data.train: the last 10.0% (data.hold_out)",
        "valid has texts of only 1 of the 3 classes: odd",
    ]


def test_a_text_that_occurs_twice_is_never_on_both_sides(tmp_path: Path) -> None:
    lines = "".join(f"{number % 2} Text {number}.\n{number % 2} text {number}\n" for number in range(20))
    prepared = prepare(data_of(tmp_path, lines, hold_out_by="class", lower_case=True), tmp_path)
    texts = {split: {text.rstrip(" .") for text in texts_of(prepared, split)} for split in ("train", "valid")}
    assert len(prepared.splits["valid"]) == 4
    assert not texts["train"] & texts["valid"]


def test_texts_that_are_repeated_throughout_can_still_be_set_aside(tmp_path: Path) -> None:
    prepared = prepare(data_of(tmp_path, "1 good\n0 bad\n" * 10, hold_out_by="class"), tmp_path)
    assert sorted(texts_of(prepared, "valid")) == ["bad", "good"]


def test_what_was_prepared_is_opened_and_needs_its_files_no_more(tmp_path: Path) -> None:
    options = data_of(tmp_path, hold_out=0.25)
    first = prepare(options, tmp_path)
    (tmp_path / "texts.txt").unlink()
    again = prepare(options, tmp_path)
    assert texts_of(again, "train") == texts_of(first, "train")
    assert again.files() == first.files()
    check_texts_there(options, tmp_path / "prepared")
    with pytest.raises(Fault, match=r"There is no file .*texts\.txt\."):
        check_texts_there(options, None)


def test_a_table_has_named_columns_and_folds_by_the_first_digit(tmp_path: Path) -> None:
    rows = "".join(f"{'pos' if n % 2 else 'neg'}\tcv{n}{m}\ttext {n} {m}\n" for n in range(10) for m in range(2))
    options = data_of(tmp_path, rows, format="table", columns=["label", "number", "text"], fold=9)
    prepared = prepare(options, tmp_path)
    assert texts_of(prepared, "train")[:2] == ["text 1 0", "text 1 1"]
    assert [len(prepared.splits[split]) for split in options.parts] == [16, 2, 2]
    assert prepared.splits["valid"].labels.tolist() == [0, 0]  # those of digit 0, the next


def test_three_lines_are_a_text_an_aspect_and_a_label(tmp_path: Path) -> None:
    options = data_of(tmp_path, "the $T$ was cold\nfried fish\n-1\nnice $T$\nroom\n1\n", format="aspects", hold_out=0.5)
    examples = list(read_examples(options, options.train[0]))
    assert [(example.text, example.aspect, example.label) for example in examples] == [
        ("the fried fish was cold", "fried fish", "-1"),
        ("nice room", "room", "1"),
    ]


def test_what_is_asked_of_one_text_is_never_on_both_sides_of_the_cut(tmp_path: Path) -> None:
    """The last quarter is one question; another is about the same text except for a quotation mark."""
    lines = "a $T$ ' and view\nroom\n-1\nfine $T$\nfish\n1\na bad $T$\nroof\n-1\nA room ` and $T$\nview\n1\n"
    result = prepare(data_of(tmp_path, lines, format="aspects", hold_out=0.25), tmp_path)
    assert texts_of(result, "train") == ["fine fish", "a bad roof"]
    assert result.splits["train"].aspect_places.tolist() == [1, 2]
    assert result.splits["valid"].aspect_places.tolist() == [1, 4]


def test_texts_may_be_in_latin_1_and_read_in_lower_case(tmp_path: Path) -> None:
    text = "a Café\nb THE\na x\n".encode("latin-1")
    options = data_of(tmp_path, text, encoding="latin-1", lower_case=True, hold_out=0.4)
    assert texts_of(prepare(options, tmp_path), "train") == ["café", "the"]


def test_words_of_ready_vectors_are_known_and_the_others_have_none(tmp_path: Path) -> None:
    vectors = tmp_path / "vectors.txt"
    vectors.write_text("3 2\ngood 1 2\nunseen 3 4\nBad 5 6\n", encoding="utf-8")
    options = data_of(tmp_path, vectors=str(vectors), lower_case=True, hold_out=0.25)
    prepared = prepare(options, tmp_path)
    assert prepared.labels.vector_width == 2
    # One of a, good, bad and film has a vector; it is at 2 of 7 places.
    assert (
        prepared.report[0]
        == "pretrained vectors: 2 words, 25.0% of the training words have one, at 28.6% of the places"
    )
    assert prepared.vectors is not None
    good, unseen, bad, never = (prepared.tokeniser.encode(word)[0] for word in ("good", "UNSEEN", "bad", "never"))
    np.testing.assert_array_equal(prepared.vectors.table[[good, unseen, bad]], [[1, 2], [3, 4], [0, 0]])
    assert prepared.vectors.is_known[[good, unseen, bad]].tolist() == [True, True, False]
    assert never == prepared.tokeniser.unknown
    # A model that continues another brings its words and classes.
    again = prepare_labelled(options, tmp_path / "again", silent, prepared.files())
    assert again.files() == prepared.files()


@pytest.mark.parametrize(
    ("text", "options", "sentence"),
    [
        ("1 good\n0 bad\nalone\n", {}, "line 3: there is a label, 'alone', but no text."),
        ("1 good\n good\n", {}, "line 2 begins with a space; it must be a label, a space and a text."),
        ("1 good\n1 fine\n1 nice\n", {"hold_out": 0.4}, "has one class, '1'; a classifier needs 2 to 10,000."),
        ("1 good\n0 bad\n2 odd\n", {"hold_out": 0.4}, "line 3 has the label '2', which no training text has."),
        (
            "1 good\n0 bad\n0 " + "word " * 11,
            {"longest": 10, "hold_out": 0.4},
            "the text has 11 tokens, more than data.longest",
        ),
        ("\n\n", {}, r"data\.train holds no text: .* has nothing but blank lines\."),
        ("1 good\n0 bad\n", {}, "data.train has 2 texts, too few to hold some out; name data.valid."),
        (
            "1\tgood\n0\n",
            {"format": "table"},
            "line 2 has 1 column, expected 2 columns .label, text., separated by tabs",
        ),
        ("\tgood\n", {"format": "table"}, "line 1 has no label."),
        (
            "a $T$\nroom\n",
            {"format": "aspects"},
            "ends with line 2; each example needs three lines: a text, its aspect and a label.",
        ),
        ("a room\nroom\n1\n", {"format": "aspects"}, r"line 1 has no \$T\$, which stands for the aspect"),
        (b"1 caf\xe9\n", {}, "line 1: not valid UTF-8"),
        (
            "1\tx\tgood\n",
            {"format": "table", "columns": ["label", "number", "text"], "fold": 1},
            "its number, 'x', has no digit to choose a fold by.",
        ),
    ],
)
def test_texts_that_cannot_be_learnt_from_are_refused(
    text: str | bytes, options: dict[str, Any], sentence: str, tmp_path: Path
) -> None:
    with pytest.raises(Fault, match=sentence):
        prepare(data_of(tmp_path, text, **options), tmp_path)


def test_vectors_that_are_cut_in_the_middle_are_refused(tmp_path: Path) -> None:
    vectors = tmp_path / "vectors.txt"
    vectors.write_text("3 2\ngood 1 2\nbad 3", encoding="utf-8")
    with pytest.raises(Fault, match=r"vectors\.txt"):
        prepare(data_of(tmp_path, vectors=str(vectors), hold_out=0.25), tmp_path)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"columns": ["label", "number", "text"]}, "columns are for tables, but format is 'lines'"),
        ({"format": "table", "columns": ["text"]}, "expected 'label' and 'text' exactly once each"),
        ({"fold": 1}, "fold needs a table with the column 'number'"),
        ({"tokeniser": {"kind": "bytes"}, "vectors": "v.txt"}, "vectors are for words, but the tokens are bytes"),
    ],
)
def test_options_that_contradict_each_other_are_refused(options: dict[str, Any], sentence: str) -> None:
    with pytest.raises(Fault, match=sentence):
        check(LabelledData, {"train": "a", **options})


def test_names_of_labels_are_written_as_toml_reads_them(tmp_path: Path) -> None:
    options = data_of(tmp_path, names={"-1": "negative", "very good": "positive", 'a "b"': "other"})
    assert parse(write(options, "A recipe."), "it")["names"] == options.names
