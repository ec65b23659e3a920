"""Files with more than lines of text: columns, tags, raw next to tokenised text, and phrases."""

from pathlib import Path

import pytest

from regard.base.faults import Fault
from regard.base.recipe import check
from regard.data.texts.options import PhraseOptions, WordsData
from regard.data.texts.phrases import join_phrases, learn_phrases
from regard.data.texts.prepare import prepare_text
from regard.data.texts.recipe_lines import lines_of_split


def texts(data: WordsData) -> list[str]:
    return [line.text for line in lines_of_split(data, "train")]


def test_columns_tags_and_raw_text_become_lines_of_words(tmp_path: Path) -> None:
    pairs, tagged, plain = tmp_path / "pairs.tsv", tmp_path / "tagged.txt", tmp_path / "plain.txt"
    pairs.write_text("Hello, world!\tOlá, mundo!\n", encoding="utf-8")
    tagged.write_text("em_PREP|+ a_ART 1_000_NUM ._.\n", encoding="utf-8")
    plain.write_text("don't .\n", encoding="utf-8")
    files = [
        {"file": str(pairs), "column": 2, "split_words": True},
        {"file": str(tagged), "tag_mark": "_"},
        str(plain),
    ]
    assert texts(check(WordsData, {"train": files})) == ["Olá , mundo !", "em a 1_000 .", "don't ."]
    assert texts(check(WordsData, {"train": files, "lower_case": True}))[0] == "olá , mundo !"


def test_cut_text_is_joined_as_people_write_it(tmp_path: Path) -> None:
    path = tmp_path / "tagged.txt"
    line = 'Em_PREP|+ o_ART fim_N ,_, falou_V "_" de_PREP|+ aquilo_PRO "_" a_PREP|+ a_ART mãe_N (_( a_A )_) ._.'
    path.write_text(f"{line}\n", encoding="utf-8")
    file = {"file": str(path), "tag_mark": "_", "join_words": True, "contract": "pt"}
    assert texts(check(WordsData, {"train": file})) == ['No fim, falou "daquilo" à mãe (a).']
    with pytest.raises(Fault, match="join_words and split_words undo each other"):
        check(WordsData, {"train": file | {"split_words": True}})


def test_lines_labels_and_words_that_were_left_out(tmp_path: Path) -> None:
    path = tmp_path / "labelled.txt"
    path.write_bytes("0 one\n1 a <unk> café\n0 three\n1 four\n".encode("latin-1"))
    file = {"file": str(path), "label": True, "encoding": "latin-1", "unknown": "<unk>", "lines": [[2, 2], [4, 9]]}
    data = check(WordsData, {"train": file})
    assert [(line.number, line.text) for line in lines_of_split(data, "train")] == [(2, "a [UNK] café"), (4, "four")]
    held = check(WordsData, {"train": file | {"lines": [[2, 4]]}, "hold_out": 0.34})
    assert [line.number for split in ("train", "test", "valid") for line in lines_of_split(held, split)] == [2, 3, 4]
    for lines in ([[2]], [[0, 1]], [[3, 2]]):
        with pytest.raises(Fault, match="is not a pair of first and last line, counted from 1"):
            check(WordsData, {"train": file | {"lines": lines}})


def test_a_column_that_is_not_there_is_refused_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "pairs.tsv"
    path.write_text("one\tum\ntwo\n", encoding="utf-8")
    with pytest.raises(Fault, match=r"pairs.tsv, line 2 has 1 column, expected 2 columns, separated by tabs"):
        texts(check(WordsData, {"train": {"file": str(path), "column": 2}}))


def test_phrases_by_hand() -> None:
    """Of 18 words new occurs 4 times, york 5, of and the 3: new york scores (4 − 1) / (4 · 5) · 18 = 2.7."""
    lines = ["big new york big", "big new york", "the york of", "new york of the", "new york of the"]
    scores = {
        ("new", "york"): (4 - 1) / (4 * 5) * 18,
        ("york", "of"): (3 - 1) / (5 * 3) * 18,
        ("of", "the"): (2 - 1) / (3 * 3) * 18,
        ("big", "new"): (2 - 1) / (3 * 4) * 18,
    }
    for threshold in (1.4, 1.9, 2.3, 2.6, 2.8):
        (pairs,) = learn_phrases(lambda: lines, PhraseOptions(passes=1, discount=1, threshold=threshold))
        assert pairs == {pair for pair, score in scores.items() if score > threshold}
    joined = [*join_phrases(lines, [{("new", "york"), ("york", "of"), ("of", "the")}])]
    assert joined[3] == "new_york of_the", "a word that was joined begins no other pair"


def test_a_second_pass_joins_what_was_joined(tmp_path: Path) -> None:
    lines = ["new york city", "new york city", "new york city", "city of new york"]
    passes = learn_phrases(lambda: lines, PhraseOptions(passes=2, discount=1, threshold=1.1))
    assert passes == [{("new", "york"), ("york", "city")}, {("new_york", "city")}]
    assert [*join_phrases(lines, passes)] == ["new_york_city"] * 3 + ["city of new_york"]
    text = tmp_path / "text.txt"
    text.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    options = {"passes": 2, "discount": 1, "threshold": 1.1}
    data = check(WordsData, {"train": str(text), "phrases": options})
    for _ in range(2):  # made, and opened again
        prepared = prepare_text(data, tmp_path / "prepared")
        assert prepared.tokeniser.pieces(range(4, 8)) == ["new_york_city", "city", "new_york", "of"]
        assert prepared.splits["train"].tolist() == [4, 3, 4, 3, 4, 3, 5, 7, 6, 3]
