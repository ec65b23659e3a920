"""A lesson as a Jupyter notebook, with the recorded outputs."""

import base64
import json
from collections.abc import Iterator, Sequence
from typing import Any

from regard.base.version import __version__
from regard.course.phrases import PHRASES
from regard.course.prose import without_links
from regard.course.recording import read_recording
from regard.course.running import Output
from regard.course.sources import ExercisePart, Language, Lesson, Prose, Step, StepPart


def notebook_of(lesson: Lesson, language: Language) -> bytes:
    """Return the lesson as the content of an .ipynb file."""
    cells = [cell | {"id": f"cell-{place}"} for place, cell in enumerate(_cells(lesson, language))]
    notebook = {
        "cells": cells,
        "metadata": {
            "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
            "language_info": {"name": "python"},
            "regard": {"lesson": lesson.number, "language": language, "version": __version__},
        },
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    return (json.dumps(notebook, ensure_ascii=False, indent=1) + "\n").encode()


def _cells(lesson: Lesson, language: Language) -> Iterator[dict[str, Any]]:
    text, recording, phrases = lesson.text(language), read_recording(lesson), PHRASES[language]
    yield _markdown(f"# {lesson.number}. {text.title}\n\n{phrases.notebook_begins}")
    for part in text.parts:
        if isinstance(part, Prose):
            yield _markdown(without_links(part.markdown))
        elif isinstance(part, StepPart):
            step = lesson.steps[part.name]
            yield _code(_labelled(step, part), recording.steps.get(part.name, ()))
        else:
            yield _markdown(_question(part))
            yield _code(_asking(lesson, part, language), ())


def _labelled(step: Step, part: StepPart) -> str:
    """Return the code of a step with its name, by which texts call it, and the labels of its values as comments."""
    lines = step.code.split("\n")
    for place, value in enumerate(step.values):
        bounds = ", ".join(value.choices) if value.choices else f"{value.least:g} … {value.most:g}"
        lines[place] = f"{value.name} = {value.default!r}  # {part.labels[value.name]}: {bounds}"
    return "\n".join([f"# {step.name}", *lines])


def _question(part: ExercisePart) -> str:
    choices = "".join(f"\n- **{letter}**: {choice}" for letter, choice in part.choices.items())
    return without_links(part.question) + ("\n" + choices if choices else "")


def _asking(lesson: Lesson, part: ExercisePart, language: Language) -> str:
    """Return the code that checks an answer, which readers write in place of the dots."""
    example = {"number": "0.5", "choice": '"a"', "choices": '["a", "b"]', "option": '"--beam 5"'}
    kind = lesson.exercises[part.name].kind
    return (
        "from regard.course import check\n\n"
        f"answer = ...  # {PHRASES[language].for_example} {example[kind]}\n"
        f'check({lesson.number}, "{part.name}", answer, "{language}")'
    )


def _markdown(text: str) -> dict[str, Any]:
    return {"cell_type": "markdown", "metadata": {}, "source": text}


def _code(source: str, outputs: Sequence[Output]) -> dict[str, Any]:
    return {
        "cell_type": "code",
        "execution_count": None,
        "metadata": {},
        "outputs": [_output(output) for output in outputs],
        "source": source,
    }


def _output(output: Output) -> dict[str, Any]:
    if output.kind == "picture":
        data = {"image/png": base64.b64encode(output.picture).decode(), "text/plain": "<picture>"}
        return {"output_type": "display_data", "data": data, "metadata": {}}
    return {"output_type": "stream", "name": "stdout", "text": output.text}
