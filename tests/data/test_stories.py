"""Stories: bAbI files in folders and archives, typed stories, and refusals of both."""

import tarfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from regard.base.faults import Fault
from regard.base.progress import silent
from regard.data.stories.options import StoryData
from regard.data.stories.prepare import UNKNOWN, prepare_stories
from regard.data.stories.reading import read_story_files, words_in
from regard.data.stories.telling import read_told, stories_in

TWO = """1 Ana took the milk.
2 Ana went to the garden.
3 Where is the milk? \tgarden\t1 2
4 Rui took the apple.
5 What has Ana?\tmilk,apple
1 Rui is here.
2 Is Rui here?\tyes\t1
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for number in (1, 2, 10):
        (tmp_path / f"qa{number}_small_train.txt").write_text(TWO, encoding="utf-8")
    return tmp_path


def test_a_file_is_questions_with_the_facts_told_before_them(folder: Path) -> None:
    (file,) = read_story_files(str(folder / "qa1_*"))
    assert file.name == "qa1_small"
    first, second, third = file.questions
    assert (first.facts, first.question) == (("Ana took the milk.", "Ana went to the garden."), "Where is the milk?")
    assert (first.answer, first.support) == ("garden", (0, 1))
    assert (second.answer, second.support, second.story) == ("milk,apple", (), 1)
    assert len(second.facts) == 3  # a question is not a fact
    assert (third.facts, third.story) == (("Rui is here.",), 2)


def test_files_come_by_the_numbers_in_their_names(folder: Path) -> None:
    assert [file.name for file in read_story_files(str(folder / "qa*"))] == ["qa1_small", "qa2_small", "qa10_small"]


def test_an_archive_of_the_catalogue_reads_as_its_folder(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REGARD_DATA", str(folder / "data"))
    archive = folder / "data" / "babi" / "tasks_1-20_v1-2.tar.xz"
    archive.parent.mkdir(parents=True)
    with tarfile.open(archive, "w:xz") as file:
        for path in folder.glob("qa*"):
            file.add(path, f"tasks_1-20_v1-2/en/{path.name}")
    stories = read_story_files("babi:tasks_1-20_v1-2/en/qa*_train.txt")
    assert stories == read_story_files(str(folder / "qa*_train.txt"))
    with pytest.raises(Fault, match=r"There is no file babi:tasks_1-20_v1-2/en/qa3_\*\."):
        read_story_files("babi:tasks_1-20_v1-2/en/qa3_*")


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "is empty: it has no story"),
        ("Ana is here.\n", "line 1: 'Ana is here.' does not begin with its number in the story"),
        ("1 Ana is here.\n2 Where?\t\t1\n", "line 2: the question has no answer after its tab"),
        ("1 Ana is here.\n2 Where?\there\t2\n", "line 2: no earlier fact has the number '2'"),
        ("1 …\n", "line 1: there is no word in it"),
        ("1 Ana is here.\n", "has no questions: a question is a line with a tab and its answer"),
    ],
)
def test_a_damaged_file_is_refused_by_its_line(tmp_path: Path, text: str, sentence: str) -> None:
    (tmp_path / "bad.txt").write_text(text, encoding="utf-8")
    with pytest.raises(Fault, match=sentence):
        read_story_files(str(tmp_path / "bad.txt"))


def test_words_are_in_lower_case_and_without_punctuation() -> None:
    assert words_in("Where's Ana’s well-known cat?") == ["where's", "ana’s", "well-known", "cat"]


@pytest.fixture
def prepare(folder: Path) -> Callable[..., object]:
    def made(**options: object) -> object:
        data = StoryData(train=[str(folder / "qa1_*")], valid=[str(folder / "qa2_*")], **options)
        return prepare_stories(data, folder / "ready", silent, None)

    return made


def test_of_a_long_story_the_last_facts_are_remembered_and_support_moves_with_them(prepare: Callable) -> None:
    ready = prepare(facts=1)
    stories = ready.splits["train"]
    assert stories.counts.tolist() == [1, 1, 1]
    assert stories.forgotten.tolist() == [1, 2, 0]
    assert stories.support[0].tolist() == [UNKNOWN, 0]  # the second supporting fact stays the second: hops learn by it
    names = np.array(["", *ready.vocabulary.names])
    assert " ".join(names[stories.facts[0, 0]]).strip() == "ana went to the garden"
    assert "2 have more than 1 facts, of which only the last are remembered" in ready.report[0]


def test_a_list_with_commas_is_one_answer_and_answers_are_numbered_first(prepare: Callable) -> None:
    vocabulary = prepare().vocabulary
    assert vocabulary.classes == ["garden", "milk,apple", "yes"]
    assert vocabulary.names[:3] == vocabulary.classes
    assert vocabulary.numbers()["garden"] == 1
    assert sorted(vocabulary.names) == sorted({*vocabulary.words, *vocabulary.classes})


def test_no_story_is_both_learnt_from_and_held_out(tmp_path: Path) -> None:
    lines = [f"1 Ana is at {place}.\n2 Where is Ana?\t{place}\t1\n3 Is it {place}?\tyes\t1\n" for place in "abcdefghij"]
    (tmp_path / "one.txt").write_text("".join(lines), encoding="utf-8")
    data = StoryData(train=[str(tmp_path / "one.txt")], hold_out=0.3)
    splits = prepare_stories(data, tmp_path / "ready", silent, None).splits
    assert {name: len(split) for name, split in splits.items()} == {"train": 14, "valid": 6}
    assert splits["valid"].labels.tolist().count(UNKNOWN) == 3  # for a model that never learnt that place


def test_to_validate_by_answers_that_nobody_learnt_is_refused(tmp_path: Path) -> None:
    for name, places in (("train", "ab"), ("valid", "c")):
        lines = [f"1 Ana is at {place}.\n2 Where is Ana?\t{place}\t1\n" for place in places]
        (tmp_path / f"{name}.txt").write_text("".join(lines), encoding="utf-8")
    data = StoryData(train=[str(tmp_path / "train.txt")], valid=[str(tmp_path / "valid.txt")])
    with pytest.raises(Fault, match="No validation question has an answer that occurs in the training questions"):
        prepare_stories(data, tmp_path / "ready", silent, None)


def test_people_tell_a_story_line_by_line_and_may_ask_more_than_once() -> None:
    typed = ["1 Ana is here.", "Where is Ana?\there\t1", "Ana left.", "Where is Ana?", "", "Rui came.", "Who came?"]
    assert list(stories_in(typed, "it")) == [
        ("Ana is here.\nWhere is Ana?", "it, line 2"),
        ("Ana is here.\nAna left.\nWhere is Ana?", "it, line 4"),
        ("Rui came.\nWho came?", "it, line 7"),
    ]
    assert read_told("Ana is here.\n\nWhere is Ana?").facts == ["Ana is here."]


def test_numbers_that_begin_anew_begin_a_story_and_those_of_a_fact_stay() -> None:
    numbered = ["1 Ana is here.", "2 Where is Ana?\there\t1", "1 Rui left.", "2 10 men left.", "3 Who left?\trui\t1"]
    assert [story.text for story in stories_in(numbered, "it")] == [
        "Ana is here.\nWhere is Ana?",
        "Rui left.\n10 men left.\nWho left?",
    ]
    plain = ["3 men came.", "1 of them left.", "Who left?"]
    assert [story.text for story in stories_in(plain, "it")] == ["\n".join(plain)]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "it is empty: tell a story"),
        ("Where is Ana?", "it has no facts: tell something before you ask 'Where is Ana\\?'"),
        ("Ana is here.\nWhere is Ana", "its last line, 'Where is Ana', is not a question"),
        ("Ana is here.\nWho?\nWhere?", "'Who\\?' is a question before the last line; ask one at a time"),
        ("…\nWhere is Ana?", "there is no word in its line '…'"),
    ],
)
def test_what_is_no_story_with_a_question_is_refused(text: str, sentence: str) -> None:
    with pytest.raises(Fault, match=sentence):
        read_told(text)


@pytest.mark.parametrize(
    ("lines", "sentence"),
    [
        ([], "story.txt is empty: tell a story"),
        (
            ["Ana is here."],
            "story.txt has no question: its last line, 'Ana is here.', does not end with a question mark",
        ),
    ],
)
def test_a_file_without_a_question_is_refused(lines: list[str], sentence: str) -> None:
    with pytest.raises(Fault, match=sentence):
        list(stories_in(lines, "story.txt"))
