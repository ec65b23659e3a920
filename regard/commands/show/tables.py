"""Lessons with curves or tables as views: printed lines, and a page with the picture above the tables."""

import textwrap
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from regard.commands.show.view import View
from regard.console import say_table, terminal_width

if TYPE_CHECKING:
    from regard.viewing.lesson_page import LessonTable
    from regard.viewing.lessons import Lesson, LessonPanel

_TOLD = (0, 1, 2, 5, 10, 20, 50, 100, 200)  # steps of a line that are printed in the terminal, besides the last


def lesson_view(lesson: "Lesson") -> View:
    """Return the view of a lesson with curves; the named lines of each panel become columns."""
    from regard.viewing.lessons import draw_lesson, lesson_to_json

    return tables_view(
        lesson.title,
        lambda: lesson_to_json(lesson),
        lambda out: draw_lesson(lesson, out),
        [panel_table(panel) for panel in lesson.panels],
    )


def tables_view(
    title: str,
    numbers: Callable[[], dict[str, Any]],
    draw: Callable[[Path], set[str]],
    tables: "Sequence[LessonTable]",
) -> View:
    """Return a view whose printed lines and page show these tables."""
    from regard.viewing.lesson_page import lesson_page

    return View(numbers, draw, lambda: _say(tables), lambda: lesson_page(title, draw, tables))


def _say(tables: "Sequence[LessonTable]") -> None:
    """Print each table under its title, and then its caption."""
    for table in tables:
        print(table.title)
        say_table(table.columns, table.rows)
        print(textwrap.fill(table.caption, terminal_width()), end="\n\n")


def panel_table(panel: "LessonPanel") -> "LessonTable":
    """Return the named lines of a panel as columns, at some of their steps."""
    from regard.seeing.lessons.gradients import in_tens
    from regard.viewing.lesson_page import LessonTable

    named = [line for line in panel.lines if line.name]
    values = [dict(line.points) for line in named]
    lasts = {max(points) for points in values}
    steps = [step for step in sorted(set().union(*values)) if step in (*_TOLD, *lasts)]
    rows = [[f"{step:g}", *(in_tens(points[step]) if step in points else "" for points in values)] for step in steps]
    return LessonTable(panel.title, [panel.along, *(line.name for line in named)], rows, panel.caption)
