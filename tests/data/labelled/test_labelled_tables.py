"""Labelled texts from tables: chosen columns, headers that are not examples, and faulty JSON lines."""

from pathlib import Path
from typing import Any

import pytest

from regard.base.faults import Fault
from regard.base.progress import silent
from regard.base.recipe import check
from regard.data.labelled.options import LabelledData
from regard.data.labelled.prepare import prepare_labelled
from regard.data.labelled.reading import read_examples

ROWS = [("good film", "yes"), ("bad film", "no"), ("fine, really", "yes"), ("dull", "no")] * 3


def options_of(path: Path, text: str, **options: Any) -> LabelledData:
    path.write_text(text, encoding="utf-8")
    return check(LabelledData, {"train": str(path), "format": "table", **options})


def examples_of(path: Path, text: str, **options: Any) -> list[tuple[str, str]]:
    data = options_of(path, text, **options)
    return [(example.text, example.label) for example in read_examples(data, data.train[0])]


def prepared_classes(path: Path, text: str, **options: Any) -> list[str]:
    data = options_of(path, text, **options)
    return prepare_labelled(data, path.parent / "prepared", silent, None).labels.classes


def test_text_and_label_are_chosen_from_any_table(tmp_path: Path) -> None:
    as_csv = "id,review,stars\n" + "".join(f'{n},"{text}",{label}\n' for n, (text, label) in enumerate(ROWS))
    as_json = "".join(f'{{"review": "{text}", "stars": "{label}"}}\n' for text, label in ROWS)
    as_tsv = "".join(f"{label}\tx\t{text}\n" for text, label in ROWS)
    assert examples_of(tmp_path / "a.csv", as_csv, columns="review:stars") == ROWS
    assert examples_of(tmp_path / "b.csv", as_csv, columns="2:3") == ROWS
    assert examples_of(tmp_path / "a.jsonl", as_json, columns="review:stars") == ROWS
    assert examples_of(tmp_path / "a.tsv", as_tsv, columns="3:1") == ROWS
    assert examples_of(tmp_path / "b.tsv", as_tsv, columns="2+3:1")[0] == ("x good film", "yes")


def test_a_file_that_names_text_and_label_needs_no_choice(tmp_path: Path) -> None:
    rows = "".join(f"{text}\t{label}\n" for text, label in ROWS)
    assert examples_of(tmp_path / "a.tsv", f"text\tlabel\n{rows}") == ROWS
    with pytest.raises(Fault, match=r"has 2 columns \(review, stars\), but none named 'label'; choose text and label"):
        examples_of(tmp_path / "b.tsv", f"review\tstars\n{rows}")


def test_pairs_of_texts_have_three_parts(tmp_path: Path) -> None:
    data = options_of(tmp_path / "a.csv", "premise,hypothesis,label\na,b,x\n", columns="premise:hypothesis:label")
    assert data.has_pairs
    (example,) = read_examples(data, data.train[0])
    assert (example.text, example.aspect, example.label) == ("a", "b", "x")


def test_a_header_is_never_a_class(tmp_path: Path) -> None:
    rows = "".join(f'"{text}",{label}\n' for text, label in ROWS)
    assert prepared_classes(tmp_path / "a.csv", f"content,label\n{rows}", columns="1:2") == ["no", "yes"]
    for first in ("odd one,label", "odd one,opinion"):
        with pytest.raises(Fault, match=r"line 1 may be a header, since no other line has the label .* --no-header"):
            prepared_classes(tmp_path / "b.csv", f"{first}\n{rows}", columns="1:2")
    text = f"odd one,opinion\n{rows}"
    assert prepared_classes(tmp_path / "c.csv", text, columns="1:2", header=True) == ["no", "yes"]
    (tmp_path / "other").mkdir()
    assert prepared_classes(tmp_path / "other" / "d.csv", text, columns="1:2", header=False) == ["no", "opinion", "yes"]


@pytest.mark.parametrize(
    ("name", "text", "sentence"),
    [
        ("a.jsonl", '{"text": "a", "label": "x"}\n', r"a.jsonl is JSON lines, but data.format is 'lines'; set"),
        ("a.csv", "text,label\n", r"a.csv is a CSV file, but data.format is 'lines'"),
        ("a.txt", '{"text": "a", "label": "x"}\n', r"a.txt, line 1 is a JSON object, not a label, a space and a text"),
        ("a.txt", "label text\nx good\n", r"a.txt, line 1 is a line that names columns"),
    ],
)
def test_tables_are_not_lines_of_labels(tmp_path: Path, name: str, text: str, sentence: str) -> None:
    with pytest.raises(Fault, match=sentence):
        examples_of(tmp_path / name, text, format="lines")


@pytest.mark.parametrize(
    ("columns", "sentence"),
    [
        ("text", "expected a text and a label, as in text:label"),
        ("a:b:c:d", "expected a text and a label"),
        ("a:b+c", "expected a text and a label"),
        ("a:", "expected numbers or names"),
    ],
)
def test_other_choices_are_refused(tmp_path: Path, columns: str, sentence: str) -> None:
    with pytest.raises(Fault, match=sentence):
        options_of(tmp_path / "a.csv", "", columns=columns)
    with pytest.raises(Fault, match="header is for tables, but format is 'lines'"):
        options_of(tmp_path / "a.csv", "", format="lines", header=True)


def test_an_empty_table_is_told(tmp_path: Path) -> None:
    for text in ("", "text,label\n"):
        with pytest.raises(Fault, match=r"data.train holds no text: .*a.csv has no row with a text"):
            prepared_classes(tmp_path / "a.csv", text, columns="text:label")
