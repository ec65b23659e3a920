"""The sources of lessons: steps, exercises and texts, and what every lesson must keep to."""

import re
from pathlib import Path

import pytest

from regard.base.faults import Fault
from regard.course.recording import read_recording
from regard.course.sources import (
    LANGUAGES,
    MATERIAL,
    ExercisePart,
    Language,
    Lesson,
    LessonText,
    Prose,
    Step,
    StepPart,
    Value,
    lesson_numbers,
    read_lesson,
)

ROOT = Path(__file__).parents[2]
NUMBERS = lesson_numbers()
NAMES = [f"{number:02}" for number in NUMBERS]
LINK = re.compile(r"\]\(([\w./-]+\.md(?:#[\w-]+)?)\)")
each_lesson = pytest.mark.parametrize("number", NUMBERS, ids=NAMES)
each_language = pytest.mark.parametrize("language", LANGUAGES)

CODE = """# %% first
width = 3  # set: 1 to 8
way = "beam"  # set: beam, greedy
print(width, way)

# %% second [data mac-morpho]
run("regard show embedding -o e.png")
"""
TABLE = """
reads = ["look.md"]
[[exercises]]
name = "sum"
kind = "number"
answer = 3.0
[[exercises]]
name = "why"
kind = "choice"
answer = "a"
"""
TEXT = """# A title

Words.

```step first
width: How wide
way: How to choose
```

```step second
```

## Exercises

```exercise sum
One and two?

More.
right: Yes,
it is.
hint: No.
```

```exercise why
Why?
- a: so
- b: else, on
  two lines
right: Yes.
hint: No.
```
"""


@pytest.fixture
def material(tmp_path: Path) -> Path:
    folder = tmp_path / "01_short"
    folder.mkdir()
    (folder / "code.py").write_text(CODE, encoding="utf-8")
    (folder / "lesson.toml").write_text(TABLE, encoding="utf-8")
    for language in LANGUAGES:
        (folder / f"{language}.md").write_text(TEXT, encoding="utf-8")
    return tmp_path


def test_a_lesson_has_its_steps_values_and_exercises(material: Path) -> None:
    lesson = read_lesson(1, material)
    first, second = lesson.steps.values()
    assert first == Step(
        "first", first.code, (Value("width", 3, 1, 8), Value("way", "beam", choices=("beam", "greedy")))
    )
    assert (second.name, second.data, second.values) == ("second", "mac-morpho", ())
    assert second.is_command
    assert second.shown == "regard show embedding -o e.png"
    assert not first.is_command
    assert first.shown == 'width = 3\nway = "beam"\nprint(width, way)'
    assert [exercise.kind for exercise in lesson.exercises.values()] == ["number", "choice"]


def test_a_text_has_its_parts_in_order(material: Path) -> None:
    text = read_lesson(1, material).text("pt")
    assert text == LessonText(
        "A title",
        (
            Prose("Words."),
            StepPart("first", {"width": "How wide", "way": "How to choose"}),
            StepPart("second", {}),
            Prose("## Exercises"),
            ExercisePart("sum", "One and two?\n\nMore.", {}, "Yes, it is.", "No."),
            ExercisePart("why", "Why?", {"a": "so", "b": "else, on two lines"}, "Yes.", "No."),
        ),
    )


def test_values_of_a_reader_replace_those_of_the_code(material: Path) -> None:
    step = read_lesson(1, material).steps["first"]
    code = step.code_with({"way": "greedy", "width": 8})
    assert code.split("\n")[:2] == ["width = 8  # set: 1 to 8", "way = 'greedy'  # set: beam, greedy"]
    assert step.code_with({}) == step.code


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        ({"width": 9}, "width must be a number from 1 to 8."),
        ({"width": 2.5}, "width must be a whole number."),
        ({"width": True}, "width must be a number from 1 to 8."),
        ({"width": "3; print()"}, "width must be a number from 1 to 8."),
        ({"width": float("nan")}, "width must be a number from 1 to 8."),
        ({"way": "beam'; import os"}, "way must be one of beam, greedy."),
        ({"depth": 1}, "The step first has no value depth to set."),
    ],
)
def test_other_values_are_refused(material: Path, values: dict[str, object], sentence: str) -> None:
    with pytest.raises(Fault, match=re.escape(sentence)):
        read_lesson(1, material).steps["first"].code_with(values)


@pytest.mark.parametrize(
    ("file", "old", "new", "sentence"),
    [
        ("code.py", "# %% first", "print()\n# %% first", "does not begin with a step"),
        ("en.md", "# A title", "A title", "does not begin with a title"),
        ("en.md", "hint: No.\n```\n\n```exercise", "```\n\n```exercise", "lacks `right:` or `hint:`"),
        ("en.md", "hint: No.\n```\n", "hint: No.\n", "a block that does not end"),
        ("lesson.toml", "answer = 3.0", 'answer = "three"', "does not fit its kind, number"),
        ("lesson.toml", "kind = ", "kin = ", "kin"),
    ],
)
def test_faulty_sources_are_refused(material: Path, file: str, old: str, new: str, sentence: str) -> None:
    path = material / "01_short" / file
    text = path.read_text(encoding="utf-8")
    before, _, after = (
        text.rpartition(old) if file == "en.md" and old.startswith("hint: No.\n```\n") else text.partition(old)
    )
    path.write_text(before + new + after, encoding="utf-8")
    with pytest.raises(Fault, match=re.escape(sentence)):
        read_lesson(1, material).text("en")


def test_a_number_without_lesson_is_refused(material: Path) -> None:
    with pytest.raises(Fault, match="There is no lesson 2"):
        read_lesson(2, material)


def names_in(text: LessonText, kind: type[StepPart] | type[ExercisePart]) -> list[str]:
    return [part.name for part in text.parts if isinstance(part, kind)]


def links_in(lesson: Lesson, language: Language) -> set[str]:
    return set(LINK.findall((lesson.folder / f"{language}.md").read_text(encoding="utf-8")))


def anchors(page: str) -> set[str]:
    """Return the anchors of a page: its headings in lower case, words joined by hyphens."""
    headings = re.findall(r"^#+ (.+)$", (ROOT / "docs" / page).read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


@each_lesson
@each_language
def test_a_text_has_every_step_and_exercise_once_and_in_order(number: int, language: Language) -> None:
    lesson = read_lesson(number)
    text = lesson.text(language)
    assert names_in(text, StepPart) == list(lesson.steps)
    assert names_in(text, ExercisePart) == list(lesson.exercises)
    for part in text.parts:
        if isinstance(part, StepPart):
            assert list(part.labels) == [value.name for value in lesson.steps[part.name].values]
            assert all(part.labels.values())
        elif isinstance(part, ExercisePart):
            exercise = lesson.exercises[part.name]
            assert bool(part.choices) == (exercise.kind in ("choice", "choices"))
            answers = exercise.answer if isinstance(exercise.answer, list) else [exercise.answer]
            assert not part.choices or set(map(str, answers)) <= set(part.choices)


@each_lesson
def test_choices_and_links_are_the_same_in_all_languages(number: int) -> None:
    lesson = read_lesson(number)
    choices = [
        [list(part.choices) for part in lesson.text(language).parts if isinstance(part, ExercisePart)]
        for language in LANGUAGES
    ]
    assert choices[0] == choices[1] == choices[2]
    assert links_in(lesson, "en") == links_in(lesson, "pt") == links_in(lesson, "ru")


@each_lesson
def test_links_lead_to_pages_and_their_sections(number: int) -> None:
    lesson = read_lesson(number)
    rests = {f"claims.md#{name}" for name in lesson.claims} | {f"ledger.md#{name}" for name in lesson.ledger}
    for link in links_in(lesson, "en") | rests | set(lesson.reads):
        page, _, anchor = link.partition("#")
        assert (ROOT / "docs" / page).is_file(), link
        assert not anchor or anchor in anchors(page), link
    assert rests <= links_in(lesson, "en")


@each_lesson
def test_a_lesson_takes_ten_minutes_to_read_in_each_language(number: int) -> None:
    lengths = {}
    for language in LANGUAGES:
        prose = [part.markdown for part in read_lesson(number).text(language).parts if isinstance(part, Prose)]
        lengths[language] = len(" ".join(prose).split())
    assert all(700 <= length <= 2200 for length in lengths.values()), lengths


@each_lesson
def test_the_outputs_are_those_of_this_code(number: int) -> None:
    lesson = read_lesson(number)
    from regard.base.files import checksum

    recording = read_recording(lesson)
    assert recording.code == checksum(lesson.code.encode()), f"run `regard course {number} --record`"
    assert list(recording.steps) == list(lesson.steps)
    machine = re.compile(r"/(?:home|root|tmp|work|usr|Users|private|opt)/| at 0x[0-9a-f]{6,}|Traceback|Warning")
    texts = [output.text for outputs in recording.steps.values() for output in outputs]
    assert [text for text in texts if machine.search(text)] == []
    pictures = [output.picture for outputs in recording.steps.values() for output in outputs if output.picture]
    assert pictures
    assert sum(map(len, pictures)) < 400_000


def test_folders_are_numbered_without_a_gap() -> None:
    assert lesson_numbers(MATERIAL) == list(range(1, len(NUMBERS) + 1))
