"""Text in a table column, and tables that are refused as text."""

from pathlib import Path
from typing import Any

import pytest

from regard.base.faults import Fault
from regard.base.recipe import check
from regard.data.texts.options import LanguageModelData
from regard.data.texts.recipe_lines import lines_of_split


def lines_of(path: Path, text: str, **options: Any) -> list[str]:
    path.write_text(text, encoding="utf-8")
    data = check(LanguageModelData, {"train": {"file": str(path), **options}})
    return [line.text for line in lines_of_split(data, "train")]


def test_the_text_is_a_column(tmp_path: Path) -> None:
    as_csv = 'id,text\n1,"one, two\nthree"\n2,four\n'
    assert lines_of(tmp_path / "a.csv", as_csv, column="text") == ["one, two", "three", "four"]
    assert lines_of(tmp_path / "b.csv", as_csv, column=2) == ["one, two", "three", "four"]
    as_json = '{"title": "a", "body": "b\\nc"}\n'
    assert lines_of(tmp_path / "a.jsonl", as_json, column="title+body") == ["a b", "c"]
    assert lines_of(tmp_path / "a.tsv", "x\ty\n", column=2) == ["y"]
    words = "".join(f"{number}\t{word}\t_\tX\t_\t_\t_\t_\t_\t_\n" for number, word in ((1, "a"), (2, "b")))
    assert lines_of(tmp_path / "a.conllu", words, column="form") == ["a b"]


@pytest.mark.parametrize(
    ("name", "text", "kind"),
    [
        ("a.jsonl", '{"text": "a"}\n', "JSON lines"),
        ("a.txt", '{"text": "a"}\n{"text": "b"}\n', "JSON lines"),
        ("a.csv", "text\na\n", "a CSV file"),
        ("a.conllu", "1\ta\t_\tX\t_\t_\t_\t_\t_\t_\n", "a CoNLL-U file"),
    ],
)
def test_a_table_is_not_learnt_as_text(tmp_path: Path, name: str, text: str, kind: str) -> None:
    with pytest.raises(Fault, match=f"{name} is {kind}, which is not plain text; choose the column of the text"):
        lines_of(tmp_path / name, text)
    assert lines_of(tmp_path / name, text, as_lines=True) == text.splitlines()


def test_other_columns_are_refused(tmp_path: Path) -> None:
    with pytest.raises(Fault, match="there is no column 0; columns are counted from 1"):
        lines_of(tmp_path / "a.tsv", "a\n", column=0)
    with pytest.raises(Fault, match="names several texts"):
        lines_of(tmp_path / "a.tsv", "a\n", column="a:b")
