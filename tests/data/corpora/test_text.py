"""Reading text: line boundaries, refusals and their messages."""

import gzip
import lzma
import unicodedata
from codecs import BOM_UTF8
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from regard.base.faults import Fault
from regard.data import lines
from regard.data.corpora.options import Corpus
from regard.data.corpora.text import file_of, read_chunks, read_pairs
from regard.data.lines import read_lines, read_stream


def written(path: Path, contents: bytes) -> Path:
    path.write_bytes(contents)
    return path


def lines_of(tmp_path: Path, contents: bytes) -> list[str]:
    return list(read_lines(written(tmp_path / "text", contents)))


@pytest.mark.parametrize(
    ("contents", "lines"),
    [
        (b"", []),
        (b"\n", [""]),
        (b"one\ntwo", ["one", "two"]),
        (b"one\ntwo\n", ["one", "two"]),
        (b"one\r\ntwo\r\r\n", ["one", "two\r"]),
        (b"\xef\xbb\xbfone\n\xef\xbb\xbftwo\n", ["one", "\ufefftwo"]),
        ("a\u2028b\u0085c\x0bd\x0ce\rf\n".encode(), ["a\u2028b\u0085c\x0bd\x0ce\rf"]),
        ("na\u0303o\n\u0301\n".encode(), ["não", "\u0301"]),
    ],
)
def test_lines_end_at_line_feeds_alone(tmp_path: Path, contents: bytes, lines: list[str]) -> None:
    assert lines_of(tmp_path, contents) == lines


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\n\r\ufeff"))))
def test_lines_come_back_as_they_were_written_but_in_nfc(
    tmp_path_factory: pytest.TempPathFactory, lines: list[str]
) -> None:
    path = tmp_path_factory.mktemp("lines") / "text"
    path.write_bytes("".join(f"{line}\n" for line in lines).encode())
    assert list(read_lines(path)) == [unicodedata.normalize("NFC", line) for line in lines]


def test_a_byte_order_mark_is_told_of_once_for_each_file(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    marked, plain = written(tmp_path / "marked", BOM_UTF8 + b"one\ntwo\n"), written(tmp_path / "plain", b"um\ndois\n")
    assert list(read_pairs(Corpus(source=str(marked), target=str(plain)))) == [("one", "um"), ("two", "dois")]
    assert list(read_stream([BOM_UTF8 + b"one\n", b"two\n"], "standard input")) == ["one", "two"]
    assert list(read_lines(marked)) == ["one", "two"]
    names = [message.partition(" begins with a byte order mark")[0] for message in caplog.messages]
    assert names == [str(marked), "standard input", str(marked)]


def test_compressed_files_read_like_plain_ones(tmp_path: Path) -> None:
    contents = "Olá\nПривет\n".encode()
    assert list(read_lines(written(tmp_path / "text.gz", gzip.compress(contents)))) == ["Olá", "Привет"]
    assert list(read_lines(written(tmp_path / "text.xz", lzma.compress(contents)))) == ["Olá", "Привет"]


def test_invalid_utf8_is_refused_with_its_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lines, "_TAKEN", 2)
    with pytest.raises(Fault, match=r"text, line 4: not valid UTF-8 \(byte 0xe9\)"):
        lines_of(tmp_path, b"one\ntwo\nthree\nOl\xe9\nfive\n")
    with pytest.raises(Fault, match="line 1: not valid UTF-8"):
        lines_of(tmp_path, "Olá\n".encode("utf-16"))
    with pytest.raises(Fault, match="line 2: not valid UTF-8"):
        lines_of(tmp_path, b"one\n\xc3")


def test_files_that_cannot_be_read_are_refused(tmp_path: Path) -> None:
    with pytest.raises(Fault, match=r"There is no file .*nowhere\.en"):
        list(read_lines(tmp_path / "nowhere.en"))
    with pytest.raises(Fault, match="is a folder"):
        list(read_lines(tmp_path))
    whole = gzip.compress(b"one\n" * 10_000)
    for damaged in (whole[:-20], b"plain text"):
        with pytest.raises(Fault, match=r"text\.gz is damaged or incomplete"):
            list(read_lines(written(tmp_path / "text.gz", damaged)))
    with pytest.raises(Fault, match=r"text\.xz is damaged or incomplete"):
        list(read_lines(written(tmp_path / "text.xz", lzma.compress(b"one\n" * 100)[:-20])))


def test_pairs_of_two_files(tmp_path: Path) -> None:
    source = written(tmp_path / "a.en", b"one\ttab\n\ntwo\n")
    target = written(tmp_path / "a.pt.gz", gzip.compress(b"um\n\ndois"))
    corpus = Corpus(source=str(source), target=str(target))
    assert list(read_pairs(corpus)) == [("one\ttab", "um"), ("", ""), ("two", "dois")]


@pytest.mark.parametrize("size", [1, 2, 100])
def test_differing_counts_are_refused_with_both(tmp_path: Path, size: int) -> None:
    source, target = written(tmp_path / "a.en", b"a\n" * 7), written(tmp_path / "a.pt", b"a\n" * 4)
    with pytest.raises(Fault, match=r"a\.en has 7 lines and .*a\.pt has 4;"):
        list(read_chunks(Corpus(source=str(source), target=str(target)), size))
    with pytest.raises(Fault, match=r"a\.pt has 4 lines and .*a\.en has 7;"):
        list(read_chunks(Corpus(source=str(target), target=str(source)), size))


def test_pairs_of_one_file(tmp_path: Path) -> None:
    corpus = Corpus(pairs=str(written(tmp_path / "a.tsv", b"one\tum\tnote\tnote\r\ntwo\tdois\r\n\t\n")))
    assert list(read_pairs(corpus)) == [("one", "um"), ("two", "dois"), ("", "")]
    written(tmp_path / "a.tsv", b"one\tum\ntwo dois\n")
    with pytest.raises(Fault, match=r"a\.tsv, line 2: there is no tab; each line must hold"):
        list(read_pairs(corpus))
    written(tmp_path / "a.tsv", b"one\tum\ntwo dois\nthree\ttr\xeas\n\nfour\n")
    with pytest.raises(Fault, match=r"a\.tsv, line 2: there is no tab \(nor in 2 more\); each line must hold"):
        next(read_chunks(corpus, 2)).pairs()


def test_lines_with_further_columns_are_counted(tmp_path: Path) -> None:
    pairs = Corpus(pairs=str(written(tmp_path / "a.tsv", b"one\tum\tCC-BY\r\ntwo\tdois\nthree\ttr\t\n")))
    assert [chunk.further_columns() for chunk in read_chunks(pairs, 2)] == [1, 1]
    side = str(tmp_path / "a.tsv")
    assert next(read_chunks(Corpus(source=side, target=side), 3)).further_columns() == 0


@pytest.mark.parametrize(
    ("separator", "contents", "pairs"),
    [
        ("  ", "'CAUSE  K AH Z\nA B  AH\tB\n", [("'CAUSE", "K AH Z"), ("A B", "AH\tB")]),
        (" ||| ", "um | dois ||| one | two ||| note\n", [("um | dois", "one | two")]),
        (" e\u0301 ", "isto \u00e9 this\nisto e\u0301 this\n", [("isto", "this")] * 2),
    ],
)
def test_other_separators_than_tabs(
    tmp_path: Path, separator: str, contents: str, pairs: list[tuple[str, str]]
) -> None:
    corpus = Corpus(pairs=str(written(tmp_path / "a.txt", contents.encode())), separator=separator)
    assert list(read_pairs(corpus)) == pairs


def test_a_line_without_its_separator_is_refused(tmp_path: Path) -> None:
    corpus = Corpus(pairs=str(written(tmp_path / "a.txt", b"A  AH\nB\tB IY\n")), separator="  ")
    sentence = (
        r"a\.txt, line 2: there is no separator '  '; each line must hold a sentence, the separator and its translation"
    )
    with pytest.raises(Fault, match=sentence):
        list(read_pairs(corpus))


def test_chunks_keep_their_line_numbers(tmp_path: Path) -> None:
    corpus = Corpus(pairs=str(written(tmp_path / "a.tsv", b"a\tb\n" * 5 + b"c\n")))
    chunks = list(read_chunks(corpus, 4))
    assert [(chunk.first, chunk.lines) for chunk in chunks] == [(1, 4), (5, 2)]
    assert chunks[1].place(1).endswith("a.tsv, line 6")
    with pytest.raises(Fault, match="line 6: there is no tab"):
        chunks[1].pairs()


def test_the_generated_corpus_is_read_like_any_other() -> None:
    pairs = list(read_pairs(Corpus(pairs="demo:valid")))
    assert len(pairs) > 10
    assert all(english and portuguese for english, portuguese in pairs)


def test_names_are_paths_or_files_of_the_catalogue(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REGARD_DATA", str(tmp_path))
    here = written(tmp_path / "train.en", b"one\n")
    assert file_of(str(here)) == here
    (tmp_path / "multi30k" / "raw").mkdir(parents=True)
    there = written(tmp_path / "multi30k" / "raw" / "train.en.gz", gzip.compress(b"one\n"))
    assert file_of("multi30k:raw/train.en.gz") == there
    with pytest.raises(Fault, match="no data set 'multi3k'"):
        file_of("multi3k:raw/train.en.gz")
