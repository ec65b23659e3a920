"""One line of text followed through `regard translate`: it passes the files that the map names."""

import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import fields, is_dataclass
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import pytest
import torch
from pydantic import BaseModel
from torch import Tensor

import regard
from regard.cli import main
from regard.verbs.translate.model import TranslationModel
from regard.verbs.translate.plan import Piece

LINE = "I love books."
PACKAGE = Path(regard.__file__).parent
MAP = Path(__file__).parents[2] / "docs" / "map.md"
MOST_FILES = 12
# The searches and everything below them do not know about translation.
BELOW = {"answers", "attention", "base", "data", "decoding", "hardware", "kernels", "measures", "models", "protocols"}
BELOW |= {"states", "training"}


class Carried:
    """The line in all its forms: text, tokens, tokens of its translation, and the translation."""

    def __init__(self, texts: Sequence[str], rows: Sequence[Sequence[int]]) -> None:
        self.texts, self.rows = texts, [list(row) for row in rows]

    def is_in(self, value: Any, depth: int = 4) -> bool:
        """Return True if a value holds the line, even deep in containers, requests and records."""
        if isinstance(value, str):
            return any(text in value for text in self.texts)
        if isinstance(value, Tensor):
            return not value.is_floating_point() and self._is_among(value)
        if isinstance(value, list | tuple) and list(value) in self.rows:
            return True
        return depth > 0 and any(self.is_in(part, depth - 1) for part in _parts(value))

    def _is_among(self, tokens: Tensor) -> bool:
        if tokens.dim() == 0:
            return False
        rows = tokens.flatten(0, -2).tolist() if tokens.dim() > 1 else [tokens.tolist()]
        return any(row[: len(tokens)] == tokens for row in rows for tokens in self.rows)


def _parts(value: Any) -> list[Any]:
    if isinstance(value, list | tuple):
        return list(value)
    if isinstance(value, dict):
        return list(value.values())
    if isinstance(value, BaseModel):
        return list(vars(value).values())
    if is_dataclass(value) and not isinstance(value, type):
        return [getattr(value, field.name) for field in fields(value)]
    return []


@contextmanager
def followed(line: Carried) -> Iterator[list[str]]:
    """Record in order the files with a function that receives or returns the line."""
    passed: list[str] = []
    looking = False

    def look(frame: FrameType, event: str, returned: Any) -> None:
        nonlocal looking
        code = frame.f_code
        if looking or event not in ("call", "return") or not _is_ours(code):
            return
        looking = True  # calls made by this inspection are not inspected
        values = [returned] if event == "return" else [frame.f_locals.get(name) for name in _arguments(code)]
        if any(line.is_in(value) for value in values):
            passed.append(Path(code.co_filename).relative_to(PACKAGE).as_posix())
        looking = False

    sys.setprofile(look)
    try:
        yield passed
    finally:
        sys.setprofile(None)


def _is_ours(code: CodeType) -> bool:
    return code.co_filename.startswith(f"{PACKAGE}/") and code.co_name != "<module>"


def _arguments(code: CodeType) -> tuple[str, ...]:
    return code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]


@pytest.fixture(scope="module")
def carried(trained: Path) -> Carried:
    model = regard.load(trained, device="cpu")
    assert isinstance(model, TranslationModel)
    output = model.search_tokens(LINE)
    sources, text = model.task.encode_sources([LINE]), model.task.target.decode(output)
    assert len(text) > 1  # otherwise other texts would contain it
    return Carried([LINE, text], [*sources, output])


def files(passed: Sequence[str]) -> list[str]:
    """Return the files in the order in which the line first reaches them."""
    return [file for file in dict.fromkeys(passed) if file.removesuffix(".py").split("/")[0] not in BELOW]


def walk_in_map() -> list[str]:
    """Return the files that the map names for a line of text, in its order."""
    section = (
        MAP.read_text(encoding="utf-8").split("\n## A line of text, and what it becomes\n", 1)[1].split("\n## ", 1)[0]
    )
    return re.findall(r"^\| `regard/([a-z_0-9/]+\.py)` \|", section, re.MULTILINE)


def test_a_line_passes_the_files_that_the_map_names(
    trained: Path, carried: Carried, capsys: pytest.CaptureFixture[str]
) -> None:
    with followed(carried) as passed:
        assert main(["translate", str(trained), "--text", LINE, "--engine", "torch"]) == 0
    assert capsys.readouterr().out == f"{carried.texts[1]}\n"
    assert files(passed) == walk_in_map()
    assert len(files(passed)) <= MOST_FILES


def test_python_plans_and_searches_in_the_same_files(trained: Path, carried: Carried) -> None:
    model = regard.load(trained, device="cpu")
    with followed(carried) as passed:
        assert model.translate([LINE])[0].text == carried.texts[1]
    passed_here, walk = files(passed), walk_in_map()
    assert passed_here[:3] == ["model.py", "verbs/translate/request.py", "verbs/translate/run.py"]
    from_the_plan_on = walk[walk.index("verbs/translate/run.py") + 1 :]
    assert "verbs/translate/plan.py" in passed_here
    assert [file for file in passed_here if file in from_the_plan_on] == from_the_plan_on


def test_a_line_is_found_in_whatever_holds_it(carried: Carried) -> None:
    tokens = carried.rows[0]
    holding = [
        f"({LINE})",
        [LINE],
        {"text": (LINE,)},
        Piece(LINE),
        tokens,
        torch.tensor([[*tokens, 0], [*tokens, 1]]),
    ]
    assert all(carried.is_in(value) for value in holding)
    others = ["I love", ["books."], Piece("books."), tokens[1:], torch.tensor(tokens[1:]), 3, None]
    assert not any(carried.is_in(value) for value in others)


def test_work_without_the_line_passes_no_file(trained: Path, carried: Carried) -> None:
    model = regard.load(trained, device="cpu")
    with followed(carried) as passed:
        model.translate(["We read."])
    assert passed == []
