"""Pairs stored as trees and as conversations."""

from pathlib import Path

import pytest

from regard.base.faults import Fault
from regard.base.recipe import check
from regard.data.corpora.forms import Form
from regard.data.corpora.options import Corpus, PairData
from regard.data.corpora.prepare import prepare
from regard.data.corpora.text import read_chunks, read_pairs
from regard.data.corpora.turns import clean_speech

TREES = "( (S (NP-SBJ (DT The) (NN cat) ) (VP (VBZ sleeps) ) (. .) ))\n( (NP (NNP Rome) ))\n"
TALK = """
A.1: Hi, <laughter> how are you?
B.2: Good.
B.3: And, uh, and you?
A.4: <Throat_clearing>.
A.5: We went, - we wen-, we go
to Rome.

B.1: Hello.
A.2: Hello.
"""


def pairs_of(folder: Path, text: str, form: object) -> list[tuple[str, str]]:
    path = folder / "file"
    path.write_text(text, encoding="utf-8")
    return list(read_pairs(check(Corpus, {"pairs": str(path), "form": form})))


def test_trees_give_sentences_and_lines(tmp_path: Path) -> None:
    assert pairs_of(tmp_path, TREES, "trees") == [
        ("The cat sleeps .", "(S (NP DT NN )NP (VP VBZ )VP . )S"),
        ("Rome", "(NP NNP )NP"),
    ]
    assert pairs_of(tmp_path, TREES, {"kind": "trees", "leaves": "marks"})[1] == ("Rome", "(NP XX )NP")


def test_turns_give_what_was_said_and_the_reply(tmp_path: Path) -> None:
    assert pairs_of(tmp_path, TALK, "turns") == [
        ("— Hi, how are you?", "Good. And, uh, and you?"),
        ("— Hi, how are you? — Good. And, uh, and you?", "We went, we we go to Rome."),
        ("— Hello.", "Hello."),
    ]
    short = pairs_of(tmp_path, TALK, {"kind": "turns", "context": 1})
    assert short[1] == ("— Good. And, uh, and you?", "We went, we we go to Rome.")


def test_what_is_dropped_is_named_by_its_pair(tmp_path: Path) -> None:
    path = tmp_path / "talk"
    path.write_text(TALK, encoding="utf-8")
    (chunk,) = read_chunks(check(Corpus, {"pairs": str(path), "form": "turns"}), 10)
    assert chunk.place(2) == f"{path}, pair 3"


def test_conversations_are_split_by_their_numbers(tmp_path: Path) -> None:
    first = pairs_of(tmp_path, TALK, {"kind": "turns", "last": 1})
    others = pairs_of(tmp_path, TALK, {"kind": "turns", "first": 2})
    assert (len(first), others) == (2, [("— Hello.", "Hello.")])


@pytest.mark.parametrize(
    ("said", "cleaned"),
    [
        ("Yeah, <laughter> yeah that's, uh, definite.", "Yeah, yeah that's, uh, definite."),
        ("the job benefits <<someone in background>> --", "the job benefits"),
        ("I got a jury summons, ]", "I got a jury summons,"),
        ("of the sta-, of what is now the state", "of the of what is now the state"),
        ("well-known, full-time T I -er [+ really ]", "well-known, full-time T I er really"),
        ("It's, +", "It's,"),
        ("<Throat_clearing>.", ""),
        (". -", ""),
    ],
)
def test_notes_of_transcribers_are_no_speech(said: str, cleaned: str) -> None:
    assert clean_speech(said) == cleaned


@pytest.mark.parametrize(
    ("text", "form", "words"),
    [
        (TREES + "( (S \n", "trees", "file, line 3: not a tree, because 2 of its brackets are not closed"),
        ("Hello.\n", "turns", "file, line 1: a conversation must begin with a turn such as 'A.1: Hello.'"),
    ],
)
def test_a_file_of_another_form_is_refused_with_the_line(tmp_path: Path, text: str, form: str, words: str) -> None:
    with pytest.raises(Fault, match=words):
        pairs_of(tmp_path, text, form)


@pytest.mark.parametrize(
    ("corpus", "words"),
    [
        ({"pairs": "a", "form": "treees"}, "data.train.0..form.kind is 'treees', expected|form.kind is 'treees'"),
        ({"source": "a", "target": "b", "form": "trees"}, "'form' is only for files of pairs"),
        ({"pairs": "demo:train", "form": "trees"}, "'form' is only for files of pairs"),
        ({"pairs": "a", "form": "trees", "separator": "|"}, "'separator' is for columns, which trees do not have"),
        (
            {"pairs": "a", "form": {"kind": "trees", "context": 3}},
            "'context' does not apply to trees, which take leaves",
        ),
        (
            {"pairs": "a", "form": {"kind": "turns", "leaves": "marks"}},
            "'leaves' does not apply to turns, which take context",
        ),
        (
            {"pairs": "a", "form": {"kind": "turns", "first": 5, "last": 4}},
            "the last conversation, 4, comes before the first, 5",
        ),
    ],
)
def test_a_form_that_does_not_fit_is_refused(corpus: dict[str, object], words: str) -> None:
    with pytest.raises(Fault, match=words):
        check(PairData, {"train": [corpus]})


def test_a_corpus_of_trees_is_prepared_like_any_other(tmp_path: Path) -> None:
    for split, lines in {"train": TREES, "valid": TREES.splitlines()[1] + "\n"}.items():
        (tmp_path / split).write_text(lines, encoding="utf-8")
    options = {split: {"pairs": str(tmp_path / split), "form": "trees"} for split in ("train", "valid")}
    table = options | {"tokeniser": {"kind": "spaces"}, "cleaning": {"leakage": False}}
    prepared = prepare(check(PairData, table), tmp_path / "corpus")
    assert (len(prepared.train), prepared.valid) == (2, [("Rome", "(NP NNP )NP")])
    (tmp_path / "train").unlink()
    assert len(prepare(check(PairData, table), tmp_path / "corpus").train) == 2


def test_the_name_of_a_form_is_enough() -> None:
    assert check(Corpus, {"pairs": "a", "form": "turns"}).form == Form(kind="turns")


def test_a_form_is_written_with_its_own_options() -> None:
    assert Form(kind="trees").model_dump() == {"kind": "trees", "leaves": "tags"}
    assert Form(kind="turns", last=3).model_dump() == {"kind": "turns", "context": 2, "first": 1, "last": 3}
