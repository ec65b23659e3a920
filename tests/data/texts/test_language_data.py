"""Tokenised text: by hand, after a kill, and refusals."""

import lzma
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from regard.base.faults import Fault
from regard.base.recipe import check
from regard.data.texts import prepare
from regard.data.texts.options import LanguageData
from regard.data.texts.prepare import PreparedText, prepare_text
from regard.data.tokenisers.symbols import END, UNKNOWN

TEXT = "a b a\n\nb  a <unk>\n"


def write(folder: Path, text: str, name: str = "train.txt") -> str:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return str(path)


def prepared(folder: Path, text: str = TEXT, **more: Any) -> PreparedText:
    data = check(LanguageData, {"train": write(folder, text), **more}, "data")
    return prepare_text(data, folder / "prepared")


def test_lines_become_tokens_with_an_end_each(tmp_path: Path) -> None:
    text = prepared(tmp_path)
    a, b, unk = (text.tokeniser.encode(word)[0] for word in ("a", "b", "<unk>"))
    assert text.splits["train"].tolist() == [a, b, a, END, b, a, unk, END]
    assert text.report == ["train: 2 lines, 6 tokens; blank and skipped: 1 line"]


def test_a_word_that_is_spelled_like_a_special_token_is_none(tmp_path: Path) -> None:
    text = prepared(tmp_path, "a <unk> </s>\n<s> a\n")
    assert UNKNOWN not in text.splits["train"]
    assert (text.splits["train"] == END).sum() == 2
    assert text.tokeniser.decode(text.splits["train"][:4].tolist()) == "a <unk> </s>"


def test_blank_lines_may_be_sentences(tmp_path: Path) -> None:
    assert (prepared(tmp_path, blank_lines=True).splits["train"] == END).sum() == 3


def test_the_last_lines_may_be_held_out(tmp_path: Path) -> None:
    """The last two of ten lines are for validation and the two before them for testing; their words are unknown."""
    text = prepared(tmp_path, "".join(f"a {letter}\n" for letter in "bcdefghijk"), hold_out=0.2)
    lines = {name: text.tokeniser.decode(tokens.tolist()) for name, tokens in text.splits.items()}
    assert lines == {"train": "a b a c a d a e a f a g", "test": "a ⁇ a ⁇", "valid": "a ⁇ a ⁇"}
    assert [line.partition(":")[0] for line in text.report] == ["train", "valid", "test"]


def test_a_split_that_has_a_file_is_not_held_out(tmp_path: Path) -> None:
    valid = write(tmp_path, "c\n", "valid.txt")
    text = prepared(tmp_path, "a b\na c\na d\na e\n", hold_out=0.25, valid=valid)
    lines = {name: text.tokeniser.decode(tokens.tolist()) for name, tokens in text.splits.items()}
    assert lines == {"train": "a b a c a d", "valid": "c", "test": "a ⁇"}


def test_a_text_with_nothing_left_to_learn_from_is_refused(tmp_path: Path) -> None:
    with pytest.raises(Fault, match="There is no text to train the tokeniser on"):
        prepared(tmp_path, "a b\na b\n", hold_out=0.25)
    with pytest.raises(Fault, match=r"data\.train holds no text: .* has no line left for it"):
        prepared(tmp_path, "a b\n", hold_out=0.25, tokeniser={"kind": "bytes"})


def test_rare_words_are_unknown_and_counted(tmp_path: Path) -> None:
    text = prepared(tmp_path, tokeniser={"at_least": 2}, valid=write(tmp_path, "a c d\n", "valid.txt"))
    assert text.splits["valid"].tolist() == [*text.tokeniser.encode("a"), UNKNOWN, UNKNOWN, END]
    assert text.report[1] == "valid: 1 line, 3 tokens, 2 of them unknown (66.67%)"


def test_a_vocabulary_may_be_limited_to_the_most_frequent(tmp_path: Path) -> None:
    words = [f"w{number}" for number in range(40) for _ in range(40 - number)]
    text = prepared(tmp_path, " ".join(words) + "\n", tokeniser={"vocabulary": 16})
    assert text.tokeniser.size == 16
    assert set(text.tokeniser.encode("w0 w11")) != {UNKNOWN}
    assert text.tokeniser.encode("w12") == [UNKNOWN]


@pytest.mark.parametrize("kind", ["words", "characters", "bytes"])
def test_text_may_be_cut_in_other_ways_too(tmp_path: Path, kind: str) -> None:
    text = prepared(tmp_path, "Olá, mundo!\nOlá, você!\n", tokeniser={"kind": kind})
    first = text.splits["train"].tolist()[: text.splits["train"].tolist().index(END)]
    assert text.tokeniser.decode(first) == "Olá, mundo!"


def test_text_is_brought_to_nfc_and_only_spaces_part_words(tmp_path: Path) -> None:
    text = prepared(tmp_path, "cafe\u0301 caf\u00e9 a\u00a0b\tc\n")
    tokens = text.splits["train"].tolist()
    assert tokens[0] == tokens[1]
    assert text.tokeniser.pieces(tokens[2:4]) == ["a\u00a0b", "c"]


def test_compressed_files_follow_one_another(tmp_path: Path) -> None:
    packed = tmp_path / "more.txt.xz"
    packed.write_bytes(lzma.compress(b"b c\n"))
    data = LanguageData(train=[write(tmp_path, "a b\n"), str(packed)])
    tokens = prepare_text(data, tmp_path / "prepared").splits["train"]
    assert (tokens == END).sum() == 2


def test_it_opens_at_once_and_without_the_text(tmp_path: Path) -> None:
    first, remarks = prepared(tmp_path), list[str]()
    (tmp_path / "train.txt").unlink()
    data = LanguageData(train=[str(tmp_path / "train.txt")])
    again = prepare_text(data, tmp_path / "prepared", remark=remarks.append)
    np.testing.assert_array_equal(first.splits["train"], again.splits["train"])
    assert "no longer exists" in remarks[0]


def test_a_killed_preparation_goes_on_to_the_same_bytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names = {"train": write(tmp_path, TEXT), "valid": write(tmp_path, "a a\n", "valid.txt")}
    data = check(LanguageData, names, "data")
    whole = prepare_text(data, tmp_path / "whole")

    def killed(*_: Any) -> bytes:
        raise KeyboardInterrupt

    cut, tokens_of = tmp_path / "cut", prepare._tokens_of
    calls = iter([tokens_of, killed])
    monkeypatch.setattr(prepare, "_tokens_of", lambda *arguments: next(calls)(*arguments))
    with pytest.raises(KeyboardInterrupt):
        prepare_text(data, cut)
    assert not (cut / "valid.bin").exists()
    monkeypatch.setattr(prepare, "_tokens_of", tokens_of)
    assert prepare_text(data, cut).report == whole.report
    for name in ("train.bin", "valid.bin", "train.json", "valid.json", "tokeniser/tokeniser.json"):
        assert (cut / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()


@pytest.mark.parametrize(
    ("text", "more", "sentence"),
    [
        ("", {}, "There is no text to train the tokeniser on"),
        ("\n \n", {}, "There is no text to train the tokeniser on"),
        ("a a\na\n", {}, "The vocabulary has one word, 'a': the text of data.train has no other. A language model"),
        ("a b\n", {"tokeniser": {"at_least": 2}}, "The vocabulary has no word: .* that occurs often enough"),
        ("a b " * 50_001 + "\n", {}, r"train.txt, line 1 has 100,002 tokens, more than data.longest"),
        ("a b\na b c\n", {"longest": 2}, "train.txt, line 2 has 3 tokens, more than data.longest"),
        (
            "a b\n",
            {"tokeniser": {"kind": "bytes", "at_least": 2}},
            "at_least is for words",
        ),
        ("a b\n", {"tokeniser": {"kind": "bytes", "vocabulary": 99}}, "vocabulary does not apply to bytes"),
        ("a b\n", {"source": "x"}, "data has no 'source'"),
    ],
)
def test_what_cannot_be_learnt_from_is_refused(tmp_path: Path, text: str, more: dict[str, Any], sentence: str) -> None:
    with pytest.raises(Fault, match=sentence):
        prepared(tmp_path, text, **more)


def test_a_split_that_is_given_but_empty_is_refused(tmp_path: Path) -> None:
    with pytest.raises(Fault, match=r"data.test holds no text: .*test.txt has 1 line, all blank"):
        prepared(tmp_path, test=write(tmp_path, "\n", "test.txt"))


def test_another_text_is_not_prepared_into_the_same_folder(tmp_path: Path) -> None:
    prepared(tmp_path)
    with pytest.raises(Fault, match=r"The file .*train.txt has changed"):
        prepared(tmp_path, "a b c\n")
    with pytest.raises(Fault, match=r"prepared from something else: data.blank_lines was false and is now true"):
        prepared(tmp_path, blank_lines=True)


def test_what_was_begun_of_a_text_that_was_mended_since_does_not_stand_in_the_way(tmp_path: Path) -> None:
    with pytest.raises(Fault, match=r"more than data.longest"):
        prepared(tmp_path, "a b\na b c\n", longest=2)
    assert prepared(tmp_path, "a b\na c\n", longest=2).report == ["train: 2 lines, 4 tokens"]


def test_a_flipped_bit_is_noticed(tmp_path: Path) -> None:
    folder = prepared(tmp_path).folder
    tokens = bytearray((folder / "train.bin").read_bytes())
    tokens[0] ^= 1
    (folder / "train.bin").write_bytes(tokens)
    with pytest.raises(Fault, match=r"train.bin is missing, damaged or of another version"):
        prepared(tmp_path)


def test_a_given_tokeniser_cuts_the_text(tmp_path: Path) -> None:
    tokeniser = prepared(tmp_path).tokeniser
    data = LanguageData(train=[write(tmp_path, "a c\n", "other.txt")])
    text = prepare_text(data, tmp_path / "other", tokeniser=tokeniser)
    assert text.splits["train"].tolist() == [*tokeniser.encode("a"), UNKNOWN, END]
    with pytest.raises(Fault, match="it was made with another tokeniser"):
        prepare_text(data, tmp_path / "other")
