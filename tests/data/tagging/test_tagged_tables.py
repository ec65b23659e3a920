"""Tagged sentences from CoNLL-U, IOB files with comments, and tables whose rows are sentences."""

from pathlib import Path
from typing import Any

import pytest

from regard.base.faults import Fault
from regard.base.recipe import check
from regard.data.tagging.files import ReadingReport, fitting_scheme, read_sentences
from regard.data.tagging.options import TaggingData

CONLLU = """\
# text = dámelo ya
1-3\tdámelo\t_\t_\t_\t_\t_\t_\t_\t_
1\tda\tdar\tVERB\tV\t_\t0\troot\t_\t_
2\tme\tyo\tPRON\tP\t_\t1\tobj\t_\t_
3\tlo\tél\tPRON\tP\t_\t1\tobj\t_\t_
3.1\tahora\t_\tADV\t_\t_\t_\t_\t_\t_
4\tya\tya\tADV\tR\t_\t1\tadvmod\t_\t_
"""
IOB = "# id 1 domain=news\nAda NNP B-PER\nwrites VBZ O\n\n"


def options_of(path: Path, text: str, **options: Any) -> TaggingData:
    path.write_text(text, encoding="utf-8")
    return check(TaggingData, {"train": str(path), **options})


def sentences_of(path: Path, text: str, **options: Any) -> list[tuple[list[str], list[str], list[list[str]]]]:
    data = options_of(path, text, **options)
    sentences = read_sentences(data.train, data, ReadingReport())
    return [(sentence.words, sentence.tags, sentence.columns) for sentence in sentences]


def test_conllu_gives_words_and_parts_of_speech(tmp_path: Path) -> None:
    words, tags = ["da", "me", "lo", "ya"], ["VERB", "PRON", "PRON", "ADV"]
    assert sentences_of(tmp_path / "a.conllu", CONLLU) == [(words, tags, [])]
    assert sentences_of(tmp_path / "b.conllu", CONLLU, columns="form+lemma:upos") == [
        (words, tags, [["dar", "yo", "él", "ya"]])
    ]
    assert sentences_of(tmp_path / "c.conllu", CONLLU, columns="2:5")[0][1] == ["V", "P", "P", "R"]


def test_what_is_passed_over_is_reported(tmp_path: Path) -> None:
    data, report = options_of(tmp_path / "a.conllu", CONLLU), ReadingReport()
    assert len(list(read_sentences(data.train, data, report))) == 1
    assert report.lines() == ["skipped: 1 comment, 1 multiword token, 1 empty node"]


def test_conllu_without_tags_is_refused(tmp_path: Path) -> None:
    untagged = "".join(f"{n}\tw\t_\t_\t_\t_\t_\t_\t_\t_\n" for n in (1, 2))
    with pytest.raises(Fault, match=r"a.conllu has no tags: upos is '_' for every word; choose another column"):
        sentences_of(tmp_path / "a.conllu", untagged)
    with pytest.raises(Fault, match=r"a.conllu is a CoNLL-U file; choose its columns, as in --columns form:upos"):
        sentences_of(tmp_path / "a.conllu", CONLLU, columns=["word", "pos", "tag"])


def test_comments_of_iob_files_are_passed_over(tmp_path: Path) -> None:
    expected = (["Ada", "writes"], ["B-PER", "O"], [["NNP", "VBZ"]])
    for columns in (["word", "pos", "tag"], "1+2:3"):
        assert sentences_of(tmp_path / "a.txt", IOB * 2, columns=columns) == [expected] * 2


def test_a_line_without_any_column_is_refused(tmp_path: Path) -> None:
    with pytest.raises(Fault, match=r"line 2: '.*' has 0 columns, separated by spaces, expected 2 columns"):
        sentences_of(tmp_path / "a.txt", "Ada B-PER\n\0\n")


def test_rows_of_tables_are_sentences(tmp_path: Path) -> None:
    expected = [(["Ada", "writes"], ["B-PER", "O"], [])]
    as_json = '{"tokens": ["Ada", "writes"], "tags": ["B-PER", "O"]}\n'
    assert sentences_of(tmp_path / "a.jsonl", as_json, columns="tokens:tags") == expected
    as_csv = "text,tags\nAda writes,B-PER O\n"
    assert sentences_of(tmp_path / "a.csv", as_csv, columns="text:tags") == expected
    with pytest.raises(Fault, match="line 2: there are 2 words, but 1 values of 'tag'; each word needs one"):
        sentences_of(tmp_path / "b.csv", "text,tags\nAda writes,O\n", columns="text:tags")


@pytest.mark.parametrize(
    ("tags", "given", "fitting"),
    [
        ("B-A I-A O", "iob2", "iob2"),
        ("I-A I-A O", "iob2", "iob1"),
        ("S-A O B-A E-A", "iob2", "iobes"),
        ("NOUN VERB", "iob2", "tags"),
        ("O O", "iob2", "tags"),
        ("B-A I-A O", "tags", "iob2"),
    ],
)
def test_the_scheme_that_fits(tmp_path: Path, tags: str, given: str, fitting: str) -> None:
    text = "".join(f"w {tag}\n" for tag in tags.split())
    assert fitting_scheme(options_of(tmp_path / "a.txt", text, scheme=given)) == fitting


def test_columns_that_cannot_be_of_a_tagger(tmp_path: Path) -> None:
    for columns in ("1", "1:2:3", "1:2+3"):
        with pytest.raises(Fault, match="expected a word and a tag, as in form:upos"):
            options_of(tmp_path / "a.txt", "", columns=columns)
    with pytest.raises(Fault, match="needs layout = 'columns'"):
        options_of(tmp_path / "a.txt", "", columns="1:2", layout="joined")
    assert options_of(tmp_path / "a.txt", "", columns="1+form:2").input_columns == ["word", "form"]
    assert options_of(tmp_path / "a.txt", "", columns="1+3:2").input_columns == ["word", "column3"]
