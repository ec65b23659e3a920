"""Helpers for tests of students: settings as options, the command `regard distil`, and what it printed."""

from collections.abc import Mapping

import pytest

from regard.cli import main


def set_options(settings: Mapping[str, object]) -> list[str]:
    """Return options that change a recipe."""
    return [word for name, value in settings.items() for word in ("--set", f"{name}={value}")]


FEW_STEPS = set_options({"training.steps": 4, "training.validate_every": 4, "training.save_every": 2})


def distil_teacher(*words: str) -> int:
    """Distil the folder `teacher` into `student`; return the exit status."""
    return main(["distil", "teacher", "-o", "student", *words])


def said(capsys: pytest.CaptureFixture[str]) -> str:
    """Return what was printed on standard error, with single spaces."""
    return " ".join(capsys.readouterr().err.split())
