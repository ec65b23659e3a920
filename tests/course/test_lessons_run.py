"""The code of every lesson runs."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from regard.course.recording import read_recording, record
from regard.course.running import Output
from regard.course.sources import Lesson, lesson_numbers, read_lesson


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return one folder for all lessons, as a student has it."""
    return tmp_path_factory.mktemp("course")


def runs(lesson: Lesson, folder: Path) -> Mapping[str, tuple[Output, ...]]:
    """Run a lesson and compare what it shows with its recording: the same steps show the same kinds of outputs."""
    outputs = record(lesson, folder, lambda name, outputs: None).steps
    recorded = read_recording(lesson).steps
    kinds = {name: [output.kind for output in row] for name, row in outputs.items()}
    for name, step in lesson.steps.items():
        if step.data is None:
            assert kinds[name] == [output.kind for output in recorded[name]], name
    return outputs


@pytest.mark.long
@pytest.mark.parametrize("number", lesson_numbers())
def test_every_lesson_runs(number: int, folder: Path) -> None:
    outputs = runs(read_lesson(number), folder)
    if number == 12:
        straight, broken = outputs["resume"][0].text.splitlines()
        assert straight.split()[1] == broken.split()[1]
