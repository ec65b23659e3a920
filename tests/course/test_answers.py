"""Checking answers: right ones in every way they may be written, wrong ones, and what is no answer."""

import pytest

from regard.course.answers import NotAnAnswer, check_answer
from regard.course.sources import LANGUAGES, Exercise, ExercisePart, Language, lesson_numbers, read_lesson

NUMBER = Exercise(name="weight", kind="number", answer=0.665, tolerance=0.006)
LARGE = Exercise(name="scores", kind="number", answer=4194304)
DIVISOR = Exercise(name="divisor", kind="number", answer=64)
CHOICE = Exercise(name="why", kind="choice", answer="c")
CHOICES = Exercise(name="which", kind="choices", answer=["a", "c"])
OPTION = Exercise(name="wider", kind="option", answer="--beam 5 --top-p 0.9", given="--out mine")
SHARE = Exercise(name="rate", kind="number", answer=33.3, tolerance=0.4, percent=True)
OFFERED = "abc"


@pytest.mark.parametrize(
    ("exercise", "answer"),
    [
        *(
            (NUMBER, answer)
            for answer in (0.665, "0.665", "0,665", " 0.67 ", ".66", "66.5%", "66,5 %", "2/3", "6.65e-1", "1,5/2,25")
        ),
        *(
            (LARGE, answer)
            for answer in (
                "4194304",
                "4,194,304",
                "4.194.304",
                "4 194 304",
                "4\N{NO-BREAK SPACE}194\N{NO-BREAK SPACE}304",
            )
        ),
        *((DIVISOR, answer) for answer in ("64", "64,000", "064")),
        *((SHARE, answer) for answer in ("33.3", "33,3 %", 33.3, "1/3", "0.333", 1 / 3)),
        *((CHOICE, answer) for answer in ("c", "C", " с ", ["c"], "c)", "(c)")),
        *((CHOICES, answer) for answer in (["a", "c"], ["c", "a", "a"], ("А", "С"), "a, c", "a; c.")),
        *(
            (OPTION, answer)
            for answer in (
                "--beam 5 --top-p 0.9",
                "--top-p=0.90 --beam=5",
                "regard generate MODEL --beam 5 --top-p .9",
                "regard generate --out mine --beam 5, --top-p 0.9",
            )
        ),
    ],
)
def test_right_answers_are_accepted(exercise: Exercise, answer: float | str) -> None:
    assert check_answer(exercise, OFFERED, answer)


@pytest.mark.parametrize(
    ("exercise", "answer"),
    [
        *(
            (NUMBER, answer)
            for answer in (0.65, "0.658", "665", "-0.665", "\N{MINUS SIGN}0,665", "0.665%", "3/2", "1e400")
        ),
        *((LARGE, answer) for answer in ("4194303", "4,194", "4.194")),
        *((DIVISOR, answer) for answer in ("0.064", "0,064", "00,064")),
        *((SHARE, answer) for answer in ("2/3", "0.333 %", "1/3%", "3.33")),
        *((CHOICE, answer) for answer in ("a", ["a", "c"])),
        *((CHOICES, answer) for answer in ("a", ["a"], ["a", "b", "c"])),
        *((OPTION, answer) for answer in ("--beam 5", "--beam 4 --top-p 0.9", "--beam 5 --top-p 0.9 --top-k 3")),
        (OPTION, "--out yours --beam 5 --top-p 0.9"),
    ],
)
def test_wrong_answers_are_refused(exercise: Exercise, answer: str) -> None:
    assert not check_answer(exercise, OFFERED, answer)


@pytest.mark.parametrize(
    ("exercise", "answer", "sentence"),
    [
        (NUMBER, "two thirds", "two thirds is not a number."),
        (NUMBER, "", "Write a number."),
        (NUMBER, "1/0", "1/0 is not a number."),
        (NUMBER, "nan", "nan is not a number."),
        (CHOICES, [], "Choose an answer first."),
        (CHOICE, "", "Choose an answer first."),
        (CHOICE, "z", "There is no choice z."),
        (CHOICE, 3, "There is no choice 3."),
        (CHOICES, "a, d", "There is no choice d."),
        (OPTION, "beam 5", "Answer with an option as you would type it, such as --beam 5."),
        (OPTION, "--beam '5", "The quotation marks of this answer do not match."),
    ],
)
def test_what_is_no_answer_is_said(exercise: Exercise, answer: float | str, sentence: str) -> None:
    with pytest.raises(NotAnAnswer) as fault:
        check_answer(exercise, OFFERED, answer)
    assert fault.value.sentences == (sentence,)


@pytest.mark.parametrize("number", lesson_numbers())
@pytest.mark.parametrize("language", LANGUAGES)
def test_every_exercise_accepts_its_answer_and_refuses_others(number: int, language: Language) -> None:
    lesson = read_lesson(number)
    parts = {part.name: part for part in lesson.text(language).parts if isinstance(part, ExercisePart)}
    for name, exercise in lesson.exercises.items():
        answer, choices = exercise.answer, parts[name].choices
        if exercise.kind == "number":
            value = float(str(answer))
            written = f"{value!r}" if language == "en" else f"{value!r}".replace(".", ",")
            assert check_answer(exercise, choices, written)
            assert not check_answer(exercise, choices, f"{value + 2 * exercise.tolerance + 0.001!r}")
        elif exercise.kind == "option":
            assert check_answer(exercise, choices, f"regard command {answer}")
            assert not check_answer(exercise, choices, "--another 1")
        else:
            right = {str(answer)} if exercise.kind == "choice" else set(map(str, answer))  # type: ignore[arg-type]
            assert check_answer(exercise, choices, sorted(right))
            assert choices.keys() - right
            for letter in choices.keys() - right:
                assert not check_answer(exercise, choices, [letter])
