"""Word vector files made by hand, byte by byte: what is read, what is skipped and reported, what is refused."""

import gzip
import lzma
import struct
from pathlib import Path

import numpy as np
import pytest

from regard.base.faults import Fault
from regard.data.vectors.files import Format, read_vectors, write_vectors
from regard.data.vectors.word_vectors import WordVectors

FORMATS: tuple[Format, ...] = ("word2vec", "word2vec-binary", "glove", "fasttext")
ROWS = [[0.5, -1.25, 3.0], [0.1, 1e-7, -2.5e10]]


def packed(*numbers: float) -> bytes:
    return struct.pack(f"<{len(numbers)}f", *numbers)


def read(tmp_path: Path, content: bytes | str, name: str = "vectors.txt", most: int | None = None):
    """Return the vectors of a file with this content, and the remarks."""
    path, remarks = tmp_path / name, list[str]()
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return read_vectors(path, most, remark=remarks.append), [remark.removeprefix(f"{path}: ") for remark in remarks]


@pytest.fixture
def small() -> WordVectors:
    return WordVectors(["menino", "coração"], np.array(ROWS, dtype=np.float32))


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("word2vec", "2 3\nmenino 0.5 -1.25 3\ncoração 0.1 1e-7 -2.5e10\n"),
        ("word2vec.c", "2 3\nmenino 0.500000 -1.250000 3.000000 \ncoração 0.1 0.0000001 -25000000000 \n"),
        ("glove", "menino 0.5 -1.25 3\ncoração 0.1 1e-7 -2.5e10\n"),
        ("tabs and carriage returns", "2\t3\r\nmenino\t0.5\t-1.25\t3\r\ncoração\t0.1\t1e-7\t-2.5e10\r\n\r\n"),
        ("a byte order mark", "\ufeff2 3\nmenino 0.5 -1.25 3\ncoração 0.1 1e-7 -2.5e10\n"),
        ("gensim's binary", b"2 3\nmenino " + packed(*ROWS[0]) + "coração ".encode() + packed(*ROWS[1])),
        ("word2vec.c's", b"2 3\nmenino " + packed(*ROWS[0]) + "\ncoração ".encode() + packed(*ROWS[1]) + b"\n"),
    ],
    ids=lambda value: value if isinstance(value, str) and "\n" not in value else "",
)
def test_every_layout_is_recognised_and_read(tmp_path, small, name, content):
    vectors, remarks = read(tmp_path, content)
    assert vectors.words == small.words
    np.testing.assert_array_equal(vectors.matrix, small.matrix)
    assert not remarks


def test_what_is_written_is_this(tmp_path, small):
    contents = {}
    for format in FORMATS:
        write_vectors(tmp_path / format, small, format)
        contents[format] = (tmp_path / format).read_bytes()
    lines = "menino 0.5 -1.25 3", "coração 0.100000001 1.00000001e-07 -2.49999995e+10"
    assert contents["glove"].decode() == f"{lines[0]}\n{lines[1]}\n"
    assert contents["word2vec"].decode() == f"2 3\n{lines[0]}\n{lines[1]}\n"
    assert contents["fasttext"].decode() == f"2 3\n{lines[0]} \n{lines[1]} \n"
    binary = b"2 3\nmenino " + packed(*ROWS[0]) + "coração ".encode() + packed(*ROWS[1])
    assert contents["word2vec-binary"] == binary


@pytest.mark.parametrize(
    ("format", "packing"), [*((format, "") for format in FORMATS), ("word2vec-binary", ".gz"), ("glove", ".xz")]
)
def test_what_is_written_is_read_to_the_last_bit(tmp_path, format, packing):
    random = np.random.default_rng(7)
    matrix = (random.standard_normal((1100, 4)) * 10.0 ** random.integers(-30, 30, (1100, 1))).astype(np.float32)
    vectors = WordVectors([f"palavra{number}" for number in range(1100)], matrix)
    path = tmp_path / f"vectors{packing}"
    write_vectors(path, vectors, format)
    heard: list[tuple[int, int | None]] = []
    again = read_vectors(path, progress=lambda what, done, total: heard.append((done, total)))
    assert again.words == vectors.words
    np.testing.assert_array_equal(again.matrix, matrix)
    assert heard[-1] == (1100, None if format == "glove" else 1100)
    first = read_vectors(path, most=3)
    assert first.words == vectors.words[:3]
    np.testing.assert_array_equal(first.matrix, matrix[:3])
    content = path.read_bytes()
    write_vectors(path, vectors, format)
    assert path.read_bytes() == content


def test_the_odd_lines_of_nilc_are_read(tmp_path):
    """Digits are zeros, words may contain spaces, a line may have no word, lines end in a space."""
    content = (
        "7 3\n"
        ", 0.1 0.2 0.3 \n"
        "r$ 0,00 0.4 0.5 0.6 \n"
        "0,0 km² 0.7 0.8 0.9 \n"
        "r$ 0 1.1 1.2 1.3 \n"
        "us$ 0.000 1.4 1.5 1.6 \n"
        " 9.1 9.2 9.3 \n"
        "coração 1.7 1.8 1.9 \n"
    )
    vectors, remarks = read(tmp_path, content)
    assert vectors.words == [",", "r$ 0,00", "0,0 km²", "r$ 0", "us$ 0.000", "coração"]
    np.testing.assert_allclose(vectors.matrix.ravel(), np.r_[0.1:0.95:0.1, 1.1:1.95:0.1], rtol=1e-6)
    assert remarks == ["left out 1 vector (without a word), the first in line 7"]
    glove, _ = read(tmp_path, ". . . 1 2\nat name@domain.com 3 4\n1990 5 6\nno\u00a0break 7 8\n")
    assert glove.words == [". . .", "at name@domain.com", "1990", "no\u00a0break"]


def test_of_a_word_that_comes_twice_the_first_counts_whatever_its_form_of_unicode(tmp_path):
    vectors, remarks = read(tmp_path, "4 1\ncafé 1\na 2\ncafe\u0301 3\na 4\n")
    assert vectors.words == ["café", "a"]
    assert vectors.matrix.tolist() == [[1], [2]]
    assert remarks == ["left out 2 repeated words (only the first vector of a word counts), the first in line 4"]


@pytest.mark.parametrize("kind", ["text", "binary"])
def test_a_few_words_that_are_no_utf8_are_left_out_and_many_refused(tmp_path, kind):
    def content(words: list[bytes]) -> bytes:
        rows = (word + b" " + packed(0.1) if kind == "binary" else word + b" 0.1\n" for word in words)
        return b"%d 1\n" % len(words) + b"".join(rows)

    words = [b"w%d" % number for number in range(200)]
    words[6] = "coração".encode()[:5]  # as word2vec cuts an overlong word
    vectors, remarks = read(tmp_path, content(words))
    assert len(vectors) == 199
    place = "word 7" if kind == "binary" else "line 8"
    assert remarks == [f"left out 1 word (not valid UTF-8), the first in {place}"]
    latin = ["coração".encode("latin-1") + b"%d" % number for number in range(200)]
    with pytest.raises(Fault, match=r"not valid UTF-8, like 200 of 200 words; is the file in another encoding\?"):
        read(tmp_path, content(latin))


WHOLE = b"2 3\nmenino " + packed(*ROWS[0]) + b"piano " + packed(*ROWS[1])


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ("3 2\na 1 2\nb 3 4\n", "is incomplete: its first line announces 3 words, but it has 2."),
        ("3 2\na 1 2\nb 3 4\nc 5", ", line 4: 2 numbers must follow the word, but there are 1; is the file complete?"),
        ("a 1 2\nb 3 4\nc 5", ", line 3: 2 numbers must follow the word, but there are 1; is the file complete?"),
        ("a 1 2\n\nb 3 4\n", ", line 2: 2 numbers must follow the word, but there are 0; is the file complete?"),
        ("1 2\na 1 2\nb 3 4\n", "has more lines than the 1 words that its first line announces."),
        ("2 3\na 1 2\nb 3 4\n", ", line 2: 3 numbers must follow the word, but there are 2; is the file complete?"),
        ("2 2\na 1 2\nb 3.5 4 5\n", ", line 3: 2 numbers must follow the word, but there are more."),
        ("1 2\na  1\n", ", line 2: 2 numbers must follow the word, but there are 1; is the file complete?"),
        ("2 2\na 1 2\nb 3 x\n", ", line 3: 'x' is not a number."),
        ("2 2\na 1 2\nb 3 1_0\n", ", line 3: '1_0' is not a number."),
        ("2 2\na 1 2\nb 3 nan\n", ", line 3: a number is not finite, or too large for float32."),
        ("2 2\na 1 2\nb 3 1e39\n", ", line 3: a number is not finite, or too large for float32."),
        ("0 2\n", ", line 1: '0 2' cannot be the number of words and numbers per word"),
        ("5 99999\n", ", line 1: '5 99999' cannot be"),
        ("", "holds no word vectors: its first line is neither"),
        ("Era uma vez um menino.\n", "holds no word vectors: its first line is neither"),
        (WHOLE[:-1], "is incomplete: its first line announces 2 words, but it ends in word 2."),
        (WHOLE[:-13], "is incomplete: its first line announces 2 words, but it ends in word 2."),
        (WHOLE + b"more", "continues after the 2 words that its first line announces."),
        (WHOLE.replace(packed(-1.25), packed(float("nan"))), ", word 1: a number is not finite"),
        (b"2 3\n" + b"\1" * 70_000, ", word 1 is too long; the width in the first line may be wrong."),
        (b"\x80\x04\x95", "is a pickle, such as gensim's `save` writes; write it with `save_word2vec_format` instead."),
        (struct.pack("<ii", 793712314, 12), "is a fastText model; read its .vec file"),
        (gzip.compress(b"a 1 2\n", mtime=0), "is packed with gzip; its name should end in .gz."),
    ],
)
def test_what_is_wrong_with_a_file_is_said(tmp_path, content, sentence):
    with pytest.raises(Fault) as fault:
        read(tmp_path, content)
    assert sentence in str(fault.value)


def test_a_header_that_promises_too_much_takes_no_memory(tmp_path):
    with pytest.raises(Fault, match="is incomplete: its first line announces 999,999,999,999 words, but it has 1"):
        read(tmp_path, "999999999999 10000\n" + "a" + " 0.5" * 10_000 + "\n")


def test_a_packed_file_that_is_cut_is_refused(tmp_path):
    content = "".join(f"palavra{number} {number}.5\n" for number in range(500)).encode()
    for name, packed_content in (("v.gz", gzip.compress(content, mtime=0)), ("v.xz", lzma.compress(content))):
        with pytest.raises(Fault, match="is damaged or incomplete and cannot be decompressed"):
            read(tmp_path, packed_content[: len(packed_content) // 2], name)


def test_a_last_line_without_an_end_is_read_and_told(tmp_path):
    vectors, remarks = read(tmp_path, "a 1 2\nb 3 4")
    assert vectors.matrix.tolist() == [[1, 2], [3, 4]]
    assert remarks == ["the last line has no end, so its last number may be truncated"]


def test_places_that_are_no_files_are_refused(tmp_path, small):
    with pytest.raises(Fault, match="There is no file"):
        read_vectors(tmp_path / "nowhere.txt")
    with pytest.raises(Fault, match="is a folder; name a file of word vectors"):
        read_vectors(tmp_path)
    with pytest.raises(Fault, match=r"Word 1, 'New York', cannot be written: white space separates words"):
        write_vectors(tmp_path / "out.txt", WordVectors(["New York"], small.matrix[:1]), "glove")
    assert not (tmp_path / "out.txt").exists()


# gensim leaves its files for the collector to close, and Python warns about that.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning", "ignore::ResourceWarning")
@pytest.mark.parametrize("binary", [False, True])
def test_gensim_opens_what_we_write_and_we_what_it_writes(tmp_path, small, binary):
    from gensim.models import KeyedVectors

    ours, theirs = tmp_path / "ours", tmp_path / "theirs"
    write_vectors(ours, small, "word2vec-binary" if binary else "word2vec")
    keyed = KeyedVectors.load_word2vec_format(str(ours), binary=binary)
    assert keyed.index_to_key == small.words
    np.testing.assert_array_equal(keyed.vectors, small.matrix)
    keyed.save_word2vec_format(str(theirs), binary=binary)
    again = read_vectors(theirs)
    assert again.words == small.words
    np.testing.assert_array_equal(again.matrix, small.matrix)
    for format, header in (("glove", False), ("fasttext", True)):
        write_vectors(ours, small, format)
        keyed = KeyedVectors.load_word2vec_format(str(ours), no_header=not header)
        np.testing.assert_array_equal(keyed.vectors, small.matrix)
