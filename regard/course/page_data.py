"""Lessons as the page receives them: nothing in them tells the answer of an exercise before it was given."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from regard.base.faults import Fault
from regard.base.files import checksum
from regard.course.listing import listing
from regard.course.markup import Node, render, render_line
from regard.course.progress import LessonProgress, Progress
from regard.course.recording import Recording, read_recording
from regard.course.sources import (
    ExercisePart,
    Language,
    Lesson,
    Prose,
    Step,
    StepPart,
    Value,
    lesson_numbers,
    read_lesson,
    title_of,
)
from regard.course.workbench import Values, picture_at
from regard.data.catalogue.entries import find, presence


def lesson_page(lesson: Lesson, language: Language, progress: LessonProgress) -> dict[str, Any]:
    """Return a lesson in a language, with the reader's progress."""
    text, recording = lesson.text(language), fitting_recording(lesson)
    parts: list[dict[str, Any]] = []
    for part in text.parts:
        if isinstance(part, Prose):
            parts.append({"kind": "prose", "nodes": render(part.markdown)})
        elif isinstance(part, StepPart):
            parts.append(_step(lesson, part, recording, progress))
        else:
            parts.append(_exercise(lesson, part, progress))
    return {"number": lesson.number, "title": text.title, "parts": parts}


def contents(material: Path, language: Language, progress: Progress) -> list[dict[str, Any]]:
    """Return the list of all lessons, with how much of each is done."""
    rows = []
    for number in lesson_numbers(material):
        lesson, done = read_lesson(number, material), progress.lesson(number)
        rows.append(
            {
                "number": number,
                "title": title_of(number, language, material),
                "steps": len(lesson.steps),
                "ran": len(lesson.steps.keys() & done.steps.keys()),
                "skipped": len(lesson.steps.keys() & set(done.skipped)),
                "exercises": len(lesson.exercises),
                "solved": len(lesson.exercises.keys() & done.solved.keys()),
            }
        )
    return rows


def fitting_recording(lesson: Lesson) -> Recording:
    """Return the outputs of our run, or none if they belong to other code."""
    recording = read_recording(lesson)
    return recording if recording.code == checksum(lesson.code.encode()) else Recording("", {})


def comment_on(lesson: Lesson, name: str, language: Language, is_right: bool) -> list[Node]:
    """Return what is said after a right or a wrong answer to an exercise."""
    part = lesson.text(language).exercise(name)
    return render(part.right if is_right else part.hint)


def read_values(step: Step, given: Mapping[str, object]) -> Values:
    """Return all values of a step, as given or by default; refuse those that it does not take."""
    step.code_with(given)
    return {value.name: value.read(given.get(value.name, value.default)) for value in step.values}


def kept_values(step: Step, kept: Mapping[str, object]) -> Values:
    """Return the values of an earlier run, or the defaults if the step no longer takes them."""
    try:
        return read_values(step, kept)
    except Fault:
        return read_values(step, {})


def _step(lesson: Lesson, part: StepPart, recording: Recording, progress: LessonProgress) -> dict[str, Any]:
    step = lesson.steps[part.name]
    values = kept_values(step, progress.steps.get(step.name, {}))
    return {
        "kind": "step",
        "name": step.name,
        "code": listing(step),
        "values": [_value(value, part.labels.get(value.name, value.name), values[value.name]) for value in step.values],
        "missing": step.data if step.data is not None and presence(find(step.data)) != "here" else None,
        "ran": step.name in progress.steps,
        "skipped": step.name in progress.skipped,
        "recorded": [
            picture_at(f"recorded/{lesson.number}/{step.name}/{place}", output.picture)
            if output.picture
            else {"text": output.text}
            for place, output in enumerate(recording.steps.get(step.name, ()))
        ],
    }


def _value(value: Value, label: str, current: float | str) -> dict[str, Any]:
    row = {"name": value.name, "label": label, "default": value.default, "value": current}
    if value.choices:
        return {**row, "choices": list(value.choices)}
    return {**row, "least": value.least, "most": value.most, "whole": isinstance(value.default, int)}


def _exercise(lesson: Lesson, part: ExercisePart, progress: LessonProgress) -> dict[str, Any]:
    given = progress.solved.get(part.name)
    return {
        "kind": "exercise",
        "name": part.name,
        "answers": lesson.exercises[part.name].kind,
        "question": render(part.question),
        "choices": [{"letter": letter, "nodes": render_line(text)} for letter, text in part.choices.items()],
        "given": given,
        "right": None if given is None else render(part.right),
    }
