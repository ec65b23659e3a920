"""A lesson is recorded once, and becomes a notebook and a page in each language."""

import io
import json
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient
from PIL import Image
from small_lesson import material  # noqa: F401 (a fixture)

from regard.base.faults import Fault
from regard.course import check
from regard.course.notebook import notebook_of
from regard.course.pages import page_of, site_files
from regard.course.recording import read_recording, record, smaller, write_recording
from regard.course.sources import LANGUAGES, Language, Lesson, lesson_numbers, read_lesson


@pytest.fixture
def lesson(material: Path, tmp_path: Path) -> Lesson:  # noqa: F811
    """Return the small lesson with its outputs recorded."""
    lesson = read_lesson(1, material)
    write_recording(lesson, record(lesson, tmp_path / "work", lambda name, outputs: None))
    return lesson


def test_a_recording_is_read_as_it_was_made(lesson: Lesson) -> None:
    first, drawn = read_recording(lesson).steps.values()
    assert [(output.kind, output.text) for output in first] == [("text", "width 3 beam\n")]
    assert [output.kind for output in drawn] == ["picture", "text"]
    assert drawn[0].picture.startswith(b"\x89PNG")
    assert drawn[1].text == "6\n"


@pytest.mark.parametrize(
    ("size", "kept"),
    [((640, 400), (640, 400)), ((1600, 1000), (800, 500)), ((2400, 600), (1600, 400)), ((1200, 300), (1200, 300))],
)
def test_recorded_pictures_are_small_but_those_with_panels_side_by_side_stay_legible(
    size: tuple[int, int], kept: tuple[int, int]
) -> None:
    file = io.BytesIO()
    Image.new("RGB", size).save(file, "PNG")
    assert Image.open(io.BytesIO(smaller(file.getvalue()))).size == kept


def test_progress_is_not_recorded(material: Path, tmp_path: Path) -> None:  # noqa: F811
    lines = [
        "preparing the corpus 8,320 of 8,320",
        "read 8,320 pairs, kept 7,600",
        "step 13  387 steps left, about 4 minutes without validations",
        "step 16/400  loss 7.153  rate 6.0e-04  1,135 tokens/s  4.4 min left",
        "step 200  validation  loss 1.376",
    ]
    code = f"# %% first\nprint(*{lines!r}, sep='\\n')\n\n# %% drawn\nprint({lines[0]!r})\n"
    (material / "01_short" / "code.py").write_text(code)
    steps = record(read_lesson(1, material), tmp_path / "work", lambda name, outputs: None).steps
    assert [output.text for output in steps["first"]] == [f"{lines[1]}\n{lines[4]}\n"]
    assert steps["drawn"] == ()


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_notebook_has_texts_code_and_outputs(lesson: Lesson, language: Language) -> None:
    notebook = nbformat.reads(notebook_of(lesson, language).decode(), as_version=4)
    nbformat.validate(notebook)
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    label = {"en": "How wide", "pt": "Largura", "ru": "Ширина"}[language]
    assert code[0].source.startswith(f"# first\nwidth = 3  # {label}: 1 … 8\nway = 'beam'  # Way: beam, greedy\n")
    assert code[0].outputs[0].text == "width 3 beam\n"
    assert "image/png" in code[1].outputs[0].data
    prose = "\n".join(cell.source for cell in notebook.cells if cell.cell_type == "markdown")
    assert "](look.md" not in prose
    assert "`docs/look.md`" in prose
    assert f'check(1, "why", answer, "{language}")' in code[3].source


def test_a_notebook_runs_from_top_to_bottom_before_anything_is_answered(lesson: Lesson, tmp_path: Path) -> None:
    notebook = nbformat.reads(notebook_of(lesson, "pt").decode(), as_version=4)
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    for cell in code:
        cell.outputs = []
    NotebookClient(notebook, timeout=60, resources={"metadata": {"path": str(tmp_path)}}).execute()
    assert code[0].outputs[0].text == "width 3 beam\n"
    assert "image/png" in code[1].outputs[0].data


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_page_shows_code_outputs_and_questions_but_no_answers(lesson: Lesson, language: Language) -> None:
    page = page_of(lesson, language)
    assert "```python\nwidth = 3\n" in page
    assert "```text\nwidth 3 beam\n```" in page
    assert "(../pictures/01-drawn-1.png)" in page
    assert "(../../look.md#files)" in page
    assert "- **b**: else" in page
    assert "Yes, so." not in page


def test_the_site_has_pictures_once_and_pages_and_notebooks_in_each_language(lesson: Lesson) -> None:
    names = [str(path) for path, _ in site_files(lesson)]
    assert names == [
        "course/pictures/01-drawn-1.png",
        *(f"course/{language}/01-short.{kind}" for language in LANGUAGES for kind in ("md", "ipynb")),
    ]


@pytest.mark.parametrize("number", lesson_numbers())
@pytest.mark.parametrize("language", LANGUAGES)
def test_every_lesson_makes_a_valid_notebook(number: int, language: Language) -> None:
    notebook: Any = json.loads(notebook_of(read_lesson(number), language))
    nbformat.validate(notebook)


def test_check_waits_for_an_answer(capsys: pytest.CaptureFixture[str]) -> None:
    check(1, "sum", ..., "pt")
    assert capsys.readouterr().out == "Escreva sua resposta no lugar dos três pontos.\n"


def test_check_says_in_the_readers_language_what_is_no_answer(capsys: pytest.CaptureFixture[str]) -> None:
    check(5, "error_rate", "33,3 процента", "ru")
    check(3, "bias", "z", "pt")
    assert capsys.readouterr().out == "33,3 процента — это не число.\nNão há a alternativa z.\n"


def test_check_refuses_what_is_no_lesson() -> None:
    with pytest.raises(Fault, match="There is no lesson 99; `regard course` lists them all"):
        check(99, "sum", 1)
