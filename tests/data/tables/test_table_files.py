"""Tables of every kind as rows of chosen columns, and files that are not tables."""

from pathlib import Path

import pytest

from regard.base.faults import Fault
from regard.data.corpora.options import Corpus
from regard.data.corpora.text import read_chunks, read_pairs
from regard.data.tables.columns import parse_columns
from regard.data.tables.reading import Row, Table, open_table

CONLLU = """\
# sent_id = 1
# text = Vámonos al mar
1-2\tVámonos\t_\t_\t_\t_\t_\t_\t_\t_
1\tVamos\tir\tVERB\t_\t_\t0\troot\t_\t_
2\tnos\tnosotros\tPRON\t_\t_\t1\tobj\t_\t_
2.1\tgran\tgran\tADJ\t_\t_\t_\t_\t_\t_
3\t10 000\tmil\tNUM\t_\t_\t1\tobl\t_\t_

"""


def rows_of(text: str, columns: str, name: str = "f.tsv", **options: object) -> list[Row]:
    return list(
        opened(text, columns, name, **options).choose([column for part in parse_columns(columns) for column in part])
    )


def opened(text: str, columns: str, name: str = "f.tsv", **options: object) -> Table:
    by_name = any(column.name for part in parse_columns(columns) for column in part)
    return open_table(name, text.removesuffix("\n").split("\n") if text else [], by_name=by_name, **options)  # type: ignore[arg-type]


def test_a_table_between_tabs_is_read_by_number_and_by_name() -> None:
    text = "walk\tV;PST\twalked\n\ngo\tV;PST\twent\n"
    assert rows_of(text, "1+3:2") == [(1, ["walk", "walked", "V;PST"]), (3, ["go", "went", "V;PST"])]
    headed = f"lemma\tfeatures\tform\n{text}"
    assert rows_of(headed, "form:lemma") == [(2, ["walked", "walk"]), (4, ["went", "go"])]
    assert rows_of(headed, "3:1") == [(2, ["walked", "walk"]), (4, ["went", "go"])]
    assert rows_of(headed, "3:1", header=False)[0] == (1, ["form", "lemma"])


def test_cells_of_csv_may_hold_commas_quotes_and_lines() -> None:
    text = 'text,label\n"one, two\nthree",a\n"say ""hi""",b\n\n'
    assert rows_of(text, "text:label", "f.csv") == [(2, ["one, two\nthree", "a"]), (4, ['say "hi"', "b"])]
    assert rows_of("text;label\na, b;x\n", "1:2", "f.csv") == [(2, ["a, b", "x"])]
    assert rows_of("text\nalone\n", "text", "f.csv") == [(2, ["alone"])]
    assert rows_of("a" * 200_000 + ",x\n", "2", "f.csv") == [(1, ["x"])]


def test_json_lines_are_read_by_key() -> None:
    text = '{"id": 7, "t": {"en": "a\\tb", "de": null}, "words": ["x", "y"], "ok": true, "a.b": "dot"}\n'
    assert rows_of(text, "t.en+t.de+id+ok+words+a.b", "f.jsonl") == [
        (1, ["a\tb", "", "7", "true", ["x", "y"], "dot"]),
    ]
    assert rows_of(text, "1", "f.jsonl") == [(1, ["7"])]
    assert rows_of(text, "id", "f.txt") == [(1, ["7"])]  # seen from its first line


def test_words_of_conllu_are_read_and_the_rest_is_counted() -> None:
    table = opened(CONLLU * 2, "form:upos", "f.conllu")
    words = [["Vamos", "nos", "10 000"], ["VERB", "PRON", "NUM"]]
    chosen = [column for part in parse_columns("form:upos") for column in part]
    assert list(table.choose(chosen)) == [(4, words), (12, words)]
    assert table.sentences is not None
    assert table.sentences.passed == {"comments": 4, "multiword tokens": 2, "empty nodes": 2}
    assert rows_of(CONLLU, "2", "f.txt", usual="conll") == [(4, [words[0]])]
    plus = "# global.columns = FORM TAG\na\tX\nb\tY\n"
    assert rows_of(plus, "form:tag", "f.conllup") == [(2, [["a", "b"], ["X", "Y"]])]


def test_comments_in_files_of_words_are_no_words_but_a_sharp_is() -> None:
    text = "# id 17 domain=news\n# # B-X\n# id O\n5 CD I-X\n\n# newdoc\n# a remark of several words\nb NN O\n"
    assert rows_of(text, "1:3", "f.iob", usual="conll") == [
        (2, [["#", "#", "5"], ["B-X", "O", "I-X"]]),
        (8, [["b"], ["O"]]),
    ]


def test_a_header_of_words_gives_their_columns_names() -> None:
    text = "word pos tag\na N O\n\nb N O\n"
    assert rows_of(text, "word:tag", "f.conll") == [(2, [["a"], ["O"]]), (4, [["b"], ["O"]])]


@pytest.mark.parametrize(
    ("name", "text", "columns", "sentence"),
    [
        ("f.csv", 'text,label\n"a",x\nb,c,y\n', "text:label", r"line 3 has 3 columns, expected 2 columns \(text"),
        ("f.csv", 'text,label\n"a,x\nb,y\n', "1:2", "line 2 is not a row of a CSV file: a quoted cell that does not"),
        ("f.csv", 'text,label\n"a"b,x\n', "1:2", "line 2 is not a row of a CSV file"),
        ("f.tsv", "a\tb\nc\n", "1:2", "f.tsv, line 2 has 1 column, expected 2 columns, separated by tabs"),
        ("f.jsonl", '{"a": 1}\n{"a": \n', "a", "f.jsonl, line 2 is not a JSON object: "),
        ("f.jsonl", '{"a": 1}\n[1]\n', "a", "f.jsonl, line 2 is not a JSON object: '\\[1\\]'"),
        ("f.jsonl", '{"a": 1}\n{"b": 1}\n', "a", "f.jsonl, line 2 has no 'a'; it has b."),
        ("f.jsonl", '{"a": [{"b": 1}]}\n', "a", "f.jsonl, line 1: 'a' is a list, not a text"),
        ("f.jsonl", '{"a": "\\ud800"}\n', "a", "half of a surrogate pair"),
        ("f.json", '[\n{"a": 1}\n]\n', "a", "f.json is one JSON list; write an object on each line"),
        ("f.conllu", "1\tHola\thola\n", "form:upos", "line 1 has 3 columns, separated by tabs; a CoNLL-U file"),
        ("f.conllu", CONLLU.replace("3\t10", "x\t10"), "form:upos", "line 7: 'x' is not a word number"),
        ("f.iob", "a N O\nb N\n", "1:3", "f.iob, line 2: 'b N' has 2 columns, separated by spaces, expected 3 columns"),
        ("f.iob", "a N O\n", "word:tag", "f.iob does not name its columns"),
    ],
)  # fmt: skip
def test_what_is_no_such_table_is_refused(name: str, text: str, columns: str, sentence: str) -> None:
    with pytest.raises(Fault, match=sentence):
        rows_of(text, columns, name)


def test_a_header_is_for_tables_that_can_have_one() -> None:
    with pytest.raises(Fault, match=r"f.jsonl is JSON lines, which has no header"):
        rows_of('{"a": 1}\n', "a", "f.jsonl", header=True)
    with pytest.raises(Fault, match="is read without a header, so choose its columns by number"):
        rows_of("a\tb\n", "a:b", header=False)


def pairs_of(path: Path, content: str | bytes, **options: object) -> list[tuple[str, str]]:
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return list(read_pairs(Corpus(pairs=str(path), **options)))  # type: ignore[arg-type]


def test_pairs_are_read_from_chosen_columns(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    text = "walk\tV;PST\twalked\ngo\tV;PST\twent\n"
    expected = [("walk V;PST", "walked"), ("go V;PST", "went")]
    assert pairs_of(tmp_path / "a.tsv", text, columns="1+2:3") == expected
    assert not caplog.messages
    assert pairs_of(tmp_path / "b.tsv", text) == [("walk", "V;PST"), ("go", "V;PST")]
    assert caplog.messages[0].endswith(
        "b.tsv has 3 columns; the first two are used as source and target, as in 'walk' → 'V;PST'; choose others "
        "with --columns, as in --columns 1+3:2"
    )
    assert pairs_of(tmp_path / "c.tsv", f"lemma\tfeats\tform\n{text}", columns=["lemma", "form"]) == [
        ("walk", "walked"),
        ("go", "went"),
    ]
    assert caplog.messages[1].endswith("c.tsv: line 1 names the columns (lemma, feats, form) and is skipped")
    assert caplog.messages[2].endswith("c.tsv has 3 columns (lemma, feats, form); only these are read: lemma : form")


def test_a_header_is_never_a_pair(tmp_path: Path) -> None:
    assert pairs_of(tmp_path / "a.tsv", "source\ttarget\none\tum\n") == [("one", "um")]
    assert pairs_of(tmp_path / "b.tsv", "target\tsource\num\tone\n") == [("one", "um")]
    assert pairs_of(tmp_path / "c.csv", 'English,Portuguese\n"one, two",um\n') == [("one, two", "um")]
    assert pairs_of(tmp_path / "d.tsv", "source\ttarget\none\tum\n", header=False)[0] == ("source", "target")


def test_texts_of_cells_stay_on_their_lines(tmp_path: Path) -> None:
    text = '{"a": "one\\ntwo\\tthree", "b": ["x", "y"]}\n{"a": null, "b": "z"}\n'
    assert pairs_of(tmp_path / "a.jsonl", text, columns="a:b") == [("one two three", "x y"), ("", "z")]


def test_a_byte_order_mark_is_no_part_of_a_name(tmp_path: Path) -> None:
    assert pairs_of(tmp_path / "a.csv", b"\xef\xbb\xbfid,de\na,b\n", columns="id:de") == [("a", "b")]


def test_pairs_of_a_table_are_counted_as_pairs(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("a,b\nc,d\n")
    (chunk,) = read_chunks(Corpus(pairs=str(path)), 10)
    assert chunk.place(1) == f"{path}, pair 2"


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        ("a.csv", b"a,b,c\n", r"has 3 columns; choose source and target with --columns, as in --columns 1:2"),
        ("a.jsonl", b'{"x": 1, "y": 2, "z": 3}\n', r"\(x, y, z\); choose source .* as in --columns x:y"),
        ("a.tsv", "one\tum\n".encode("utf-16"), "not valid UTF-8 .* it begins as UTF-16, so convert it: iconv"),
        ("a.csv", b"caf\xe9,x\n", "line 1: not valid UTF-8"),
    ],
)
def test_pairs_that_cannot_be_read_are_refused(tmp_path: Path, name: str, content: bytes, sentence: str) -> None:
    with pytest.raises(Fault, match=sentence):
        pairs_of(tmp_path / name, content)


def test_tables_are_not_lines_of_text(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"a": 1}\n')
    (tmp_path / "b.txt").write_text("x\n")
    with pytest.raises(Fault, match=r"a.jsonl is JSON lines, not lines of text; give it as pairs"):
        list(read_pairs(Corpus(source=str(tmp_path / "a.jsonl"), target=str(tmp_path / "b.txt"))))
