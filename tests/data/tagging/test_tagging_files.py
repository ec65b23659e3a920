"""Files of tagged sentences: reading, splits, what a model keeps, and refusals."""

import gzip
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from regard.base.faults import Fault
from regard.base.progress import silent
from regard.base.recipe import check
from regard.data.tagging.files import ReadingReport, TaggedSentence, read_input, read_sentences
from regard.data.tagging.lexicon import LONGEST_WORD, SHAPES, Lexicon, make_lexicon, open_lexicon, shape_of
from regard.data.tagging.options import TaggingData
from regard.data.tagging.prepare import PreparedTags, line_number_in_unit, prepare_tags

COLUMNS = "He PRP B-NP\nreads VBZ B-VP\n\nNo DT B-NP\nbooks NNS I-NP\n. . O\n"
CHUNKS: dict[str, Any] = {"columns": ["word", "pos", "tag"], "scheme": "iob2"}
JOINED: dict[str, Any] = {"layout": "joined"}


def write(folder: Path, text: str, name: str = "train.txt") -> str:
    path = folder / name
    path.write_bytes(gzip.compress(text.encode()) if name.endswith(".gz") else text.encode())
    return str(path)


def read(folder: Path, text: str, name: str = "train.txt", **options: Any) -> tuple[list[TaggedSentence], list[str]]:
    data, report = check(TaggingData, {"train": write(folder, text, name), **options}, "data"), ReadingReport()
    return list(read_sentences(data.train, data, report)), report.lines()


def prepared(folder: Path, text: str, given: Lexicon | None = None, **options: Any) -> PreparedTags:
    data = check(TaggingData, {"train": write(folder, text), **options}, "data")
    return prepare_tags(data, folder / "prepared", silent, given)


@pytest.mark.parametrize("name", ["train.txt", "train.txt.gz"])
def test_columns_have_a_blank_line_between_sentences(tmp_path: Path, name: str) -> None:
    (first, second), remarks = read(tmp_path, COLUMNS, name, **CHUNKS)
    assert (first.words, first.tags, first.columns) == (["He", "reads"], ["B-NP", "B-VP"], [["PRP", "VBZ"]])
    assert (second.words, second.text) == (["No", "books", "."], "No DT B-NP\nbooks NNS I-NP\n. . O")
    assert remarks == []


def test_a_column_may_be_passed_over(tmp_path: Path) -> None:
    sentences, _ = read(tmp_path, COLUMNS, columns=["word", "-", "tag"])
    assert sentences[0].columns == []


def test_lines_of_joined_words_are_cut_at_the_last_joint(tmp_path: Path) -> None:
    (sentence,), remarks = read(tmp_path, "O_ART a_b_N _NPROP ._.\n\n", **JOINED)
    assert (sentence.words, sentence.tags) == (["O", "a_b", "."], ["ART", "N", "."])
    assert remarks == ["skipped: 1 tags without a word"]


def test_an_inside_without_a_begin_is_read_and_told(tmp_path: Path) -> None:
    _, remarks = read(tmp_path, "a X I-NP\nb X O\n", **CHUNKS)
    assert remarks[0].startswith(f"1 tags do not fit those around them, first in {tmp_path}/train.txt, line 1;")


@pytest.mark.parametrize(
    ("text", "options", "sentence"),
    [
        (
            "a X O\n\nb O\n",
            CHUNKS,
            "train.txt, line 3: 'b O' has 2 columns, separated by spaces, expected 3 columns (word, pos, tag).",
        ),
        (
            "a X O\nb X O O\n",
            CHUNKS,
            "train.txt, line 2: 'b X O O' has 4 columns, separated by spaces, expected 3 columns (word, pos, tag).",
        ),
        (
            "a_N b\n",
            JOINED,
            "train.txt, line 1: 'b' has 1 column, expected 2 columns (word, tag), with '_' between them.",
        ),
        ("a_N b_\n", JOINED, "train.txt, line 1: 'b_' has no tag."),
        ("a X E-NP\n", CHUNKS, "train.txt, line 1: 'a' has the tag 'E-NP', which is not in data.scheme 'iob2'."),
        ("a_N b_N c_N\n", JOINED | {"longest": 2}, "line 1: a sentence has 3 words, more than data.longest (2);"),
    ],
)
def test_what_cannot_be_read_is_refused_with_its_line(tmp_path: Path, text: str, options: Any, sentence: str) -> None:
    with pytest.raises(Fault) as fault:
        read(tmp_path, text, **options)
    assert sentence in str(fault.value)


@pytest.mark.parametrize("text", ["", "\n\n"])
def test_a_file_without_sentences_is_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(Fault, match=r"data.train holds no sentence: .*train.txt has none\."):
        prepared(tmp_path, text, **JOINED)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"columns": ["word"]}, "columns names 'tag' 0 times, expected once"),
        ({"columns": ["word", "pos", "pos", "tag"]}, "columns names 'pos' more than once"),
        ({"layout": "joined", "columns": ["tag", "word"]}, "joined columns must begin with 'word'"),
        ({"joint": " "}, "joint has a space"),
        ({"hold_out": {"valid": 0.6, "test": 0.4}}, "valid 0.6 and test 0.4 leave nothing for training"),
    ],
)
def test_options_that_contradict_each_other_are_refused(options: dict[str, Any], sentence: str) -> None:
    with pytest.raises(Fault, match=sentence):
        check(TaggingData, {"train": "a", **options}, "data")


LINES = "".join(f"w{number}_{'NV'[number % 2]}\n" for number in range(40))


def words_of(found: PreparedTags, split: str) -> list[str]:
    return [found.forms[form] for form in found.splits[split].forms]


def test_by_place_the_last_sentences_are_held_out(tmp_path: Path) -> None:
    result = prepared(tmp_path, LINES, **JOINED, hold_out={"valid": 0.1, "test": 0.2})
    assert words_of(result, "train") == [f"w{number}" for number in range(28)]
    assert words_of(result, "valid") == [f"w{number}" for number in range(28, 32)]
    assert words_of(result, "test") == [f"w{number}" for number in range(32, 40)]


def test_by_tags_each_tag_has_its_share_in_a_sorted_file(tmp_path: Path) -> None:
    """Only the last sentences have X, next to the common N; one of every ten of either kind is held out."""
    lines = "".join(f"w{number}_N\n" for number in range(40)) + "".join(f"v{n}_N u{n}_X\n" for n in range(10))
    result = prepared(tmp_path, lines, **JOINED, hold_out={"by": "tags", "valid": 0.1, "test": 0.2})
    counts = {split: Counter(word[0] for word in words_of(result, split)) for split in ("train", "valid", "test")}
    assert counts == {"train": Counter(w=28, v=7, u=7), "valid": Counter(w=4, v=1, u=1), "test": Counter(w=8, v=2, u=2)}
    assert result.report[3:] == [
        "valid is held out of data.train: 10.0%, of the sentences with each tag",
        "test is held out of data.train: 20.0%, of the sentences with each tag",
    ]


def test_by_hash_a_line_is_held_out_wherever_it_stands(tmp_path: Path) -> None:
    options = JOINED | {"hold_out": {"by": "hash", "valid": 0.3, "test": 0.2}}
    result = prepared(tmp_path, LINES, **options)
    (tmp_path / "turned").mkdir()
    turned = prepared(tmp_path / "turned", "".join(reversed(LINES.splitlines(keepends=True))), **options)
    for split in ("train", "valid", "test"):
        assert sorted(words_of(result, split)) == sorted(words_of(turned, split)) != []
    numbers = {line.partition("_")[0]: line_number_in_unit(line) for line in LINES.splitlines()}
    assert all(numbers[word] < 0.2 for word in words_of(result, "test"))
    assert all(0.2 <= numbers[word] < 0.5 for word in words_of(result, "valid"))


def test_too_few_sentences_cannot_be_parted(tmp_path: Path) -> None:
    with pytest.raises(Fault, match=r"has 2 sentences, too few for data.hold_out: none is left for valid"):
        prepared(tmp_path, "a_N\nb_N\n", **JOINED)


def test_it_is_made_again_only_where_something_changed(tmp_path: Path) -> None:
    first = prepared(tmp_path, LINES, **JOINED)
    stamp = (tmp_path / "prepared" / "train-forms.npy").stat().st_mtime_ns
    (tmp_path / "train.txt").unlink()
    data = check(TaggingData, {"train": str(tmp_path / "train.txt"), **JOINED}, "data")
    again = prepare_tags(data, tmp_path / "prepared", silent)
    assert (again.forms, again.report) == (first.forms, first.report)
    assert (tmp_path / "prepared" / "train-forms.npy").stat().st_mtime_ns == stamp
    assert prepared(tmp_path, LINES + "new_N\n", **JOINED).forms == [*first.forms, "new"]
    (tmp_path / "prepared" / "train-forms.npy").write_bytes(b"flipped")
    with pytest.raises(Fault, match=r"train-forms.npy is missing, damaged or of another version"):
        prepare_tags(data, tmp_path / "prepared", silent)


def test_tags_that_no_training_sentence_has_are_told(tmp_path: Path) -> None:
    test = write(tmp_path, "w1_N w1_X new_V\n", "test.txt")
    result = prepared(tmp_path, LINES, **JOINED, test=test)
    assert result.tags == ["N", "V", "X"]
    assert result.lexicon.tags == ["N", "V"]
    assert result.report[2] == (
        "test: 1 sentences, 3 words, 1 of them unknown (33.33%); "
        "1 have tags that no training sentence has (X) and count as wrong"
    )


def test_a_model_to_start_from_must_have_all_tags(tmp_path: Path) -> None:
    other = make_lexicon([TaggedSentence(["a"], ["N"], [])], TaggingData(train=["a"]))
    with pytest.raises(Fault, match="The model to start from has no tag 'V', which the training sentences have"):
        prepared(tmp_path, LINES, other, **JOINED)


def test_a_lexicon_folds_words_and_keeps_letters() -> None:
    sentences = [TaggedSentence(["Rio", "rio", "25", "seldom"], ["N"] * 4, [["p"] * 4])]
    data = check(TaggingData, {"train": "a", "columns": ["word", "pos", "tag"], "at_least": 1}, "data")
    lexicon = make_lexicon(sentences, data)
    assert lexicon.words == ["rio", "00", "seldom"]
    assert [lexicon.word_number(word) for word in ("RIO", "07", "nowhere")] == [2, 3, 1]
    assert lexicon.column_numbers(0, ["p", "q"]) == [2, 1]
    assert len(lexicon.spell("x" * 100)) == LONGEST_WORD + 2
    assert lexicon.spell("R") != lexicon.spell("r")
    assert open_lexicon(lexicon.files(), columns=1) == lexicon
    with pytest.raises(Fault, match=r"lexicon.json of the model folder has 1 column, but its recipe has 0\."):
        open_lexicon(lexicon.files(), columns=0)
    with pytest.raises(Fault, match=r"lexicon.json of the model folder is missing or damaged\."):
        open_lexicon({"lexicon.json": b'{"words": ["a", "a"]}'}, columns=0)
    rare = make_lexicon(sentences, data.model_copy(update={"at_least": 2}))
    assert rare.words == ["rio"]


@pytest.mark.parametrize(
    ("word", "shape"),
    [
        ("rio", "small"),
        ("Rio", "Capital"),
        ("I", "Capital"),
        ("RIO", "CAPITALS"),
        ("McRio", "mIxed"),
        ("São-Paulo", "mIxed"),
        ("本", "small"),
        ("25", "digits"),
        ("1,5", "digits"),
        ("2a", "digits and more"),
        ("...", "no letter"),
    ],
)
def test_shapes(word: str, shape: str) -> None:
    assert SHAPES[shape_of(word)] == shape


def test_inputs_are_words_between_spaces_raw_text_or_words_with_columns() -> None:
    plain, chunks = TaggingData(train=["a"]), check(TaggingData, {"train": "a", **CHUNKS}, "data")
    assert read_input("He won't .", plain, raw=False).words == ["He", "won't", "."]
    assert read_input("He won.", plain, raw=True).words == ["He", "won", "."]
    assert read_input(["New York", "."], plain, raw=False).words == ["New York", "."]
    assert read_input("", chunks, raw=False) == TaggedSentence([], [], [[]])
    assert read_input("a_b_DT c_NN", chunks, raw=False) == TaggedSentence(["a_b", "c"], [], [["DT", "NN"]])
    with pytest.raises(Fault, match=r"This model also reads the pos of each word; write 'c' in the form word_pos\."):
        read_input("a_DT c", chunks, raw=False)
    with pytest.raises(Fault, match=r"This model also reads the pos of each word, which raw text lacks; give a tagger"):
        read_input("a", chunks, raw=True)
