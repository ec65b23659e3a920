"""Lessons as they are written: the steps of `code.py`, the exercises of `lesson.toml`, a text in each language.

A step is a cell of `code.py` that begins with `# %% name`. Lines `name = literal  # set: …` at its top are values that
a reader may change. A text is Markdown whose fenced blocks `step NAME` and `exercise NAME` say where those belong.
"""

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, model_validator

from regard.base.faults import Fault
from regard.base.files import read_bounded
from regard.base.parsing import parse_toml
from regard.base.recipe import Options, check

MATERIAL = Path(__file__).parent / "material"
Language = Literal["en", "pt", "ru"]
LANGUAGES: tuple[Language, ...] = ("en", "pt", "ru")

_LARGEST = 1_000_000  # bytes of a source
_FOLDER = re.compile(r"(\d\d)_([a-z_]+)")
_CELL = re.compile(r"^# %% ([a-z][a-z0-9_]*)(?: \[data ([a-z0-9-]+)\])?$", re.MULTILINE)
_VALUE = re.compile(r"([a-z][a-z0-9_]*) = (.+?)  # set: (.+)")
_RANGE = re.compile(r"(-?[\d.]+) to (-?[\d.]+)")
_COMMAND = re.compile(r'run\((["\'])(regard .*)\1\)')
_FENCE = re.compile(r"```(step|exercise) ([a-z][a-z0-9_]*)")
_CHOICE = re.compile(r"- ([a-f]): (.+)")


@dataclass(frozen=True)
class Value:
    """A value of a step that a reader may change: a number within bounds, or one of several words."""

    name: str
    default: int | float | str
    least: float = 0
    most: float = 0
    choices: tuple[str, ...] = ()

    def read(self, given: object) -> int | float | str:
        """Return the value that a reader gave; refuse one of another kind or out of bounds."""
        if self.choices:
            if given not in self.choices:
                raise Fault(f"{self.name} must be one of {', '.join(self.choices)}.")
            return str(given)
        if isinstance(given, bool) or not isinstance(given, int | float) or not self.least <= given <= self.most:
            raise Fault(f"{self.name} must be a number from {self.least:g} to {self.most:g}.")
        if isinstance(self.default, float):
            return float(given)
        if given != int(given):
            raise Fault(f"{self.name} must be a whole number.")
        return int(given)


@dataclass(frozen=True)
class Step:
    """A cell of code; `data` names the data set that it needs, if it must be fetched first."""

    name: str
    code: str
    values: tuple[Value, ...] = ()
    data: str | None = None

    @property
    def shown(self) -> str:
        """Return the code as it is shown: commands as they are typed, without marks for the page."""
        return "\n".join(_COMMAND.sub(r"\2", line).split("  # set: ")[0] for line in self.code.split("\n"))

    @property
    def is_command(self) -> bool:
        """Return True if the step only runs commands."""
        return all(_COMMAND.fullmatch(line) for line in self.code.split("\n"))

    def code_with(self, given: Mapping[str, object]) -> str:
        """Return the code with the values that a reader gave; refuse names and values that it does not have."""
        by_name = {value.name: value for value in self.values}
        if strange := sorted(set(given) - set(by_name)):
            raise Fault(f"The step {self.name} has no value {strange[0]} to set.")
        lines = self.code.split("\n")
        for place, line in enumerate(lines[: len(self.values)]):
            if match := _VALUE.fullmatch(line):
                name = match[1]
                if name in given:
                    lines[place] = f"{name} = {by_name[name].read(given[name])!r}  # set: {match[3]}"
        return "\n".join(lines)


class Exercise(Options):
    """An exercise and its answer."""

    name: str = Field(pattern=r"^[a-z][a-z0-9_]*$", description="The name that texts call it by.")
    kind: Literal["number", "choice", "choices", "option"] = Field(description="The kind of answer.")
    answer: float | str | list[str] = Field(description="A number, a letter, letters, or options of a command.")
    tolerance: float = Field(default=0.0, ge=0, description="How far a number may be from the answer.")
    percent: bool = Field(
        default=False, description="Whether the number is in percent; a share such as 1/3 is right too."
    )
    given: str = Field(default="", description="Options that the question names; an answer may repeat them.")

    @model_validator(mode="after")
    def _fits(self) -> "Exercise":
        kinds = {"number": float, "choice": str, "choices": list, "option": str}
        if not isinstance(self.answer, kinds[self.kind]):
            raise ValueError(f"the answer of {self.name} does not fit its kind, {self.kind}")
        return self


class _LessonTable(Options):
    """The table of a lesson."""

    reads: list[str] = Field(min_length=1, description="Pages of the documents to read next.")
    claims: list[str] = Field(default=[], description="Sections of claims.md that the lesson rests on.")
    ledger: list[str] = Field(default=[], description="Sections of ledger.md that the lesson rests on.")
    exercises: list[Exercise] = Field(min_length=2, max_length=3, description="The exercises, in their order.")


@dataclass(frozen=True)
class Prose:
    """Markdown between steps and exercises."""

    markdown: str


@dataclass(frozen=True)
class StepPart:
    """The place of a step, with labels for its values."""

    name: str
    labels: Mapping[str, str]


@dataclass(frozen=True)
class ExercisePart:
    """An exercise as a reader sees it: question, choices by letter, and what is said after an answer."""

    name: str
    question: str
    choices: Mapping[str, str]
    right: str
    hint: str


Part = Prose | StepPart | ExercisePart


@dataclass(frozen=True)
class LessonText:
    """A lesson in one language."""

    title: str
    parts: tuple[Part, ...]

    def exercise(self, name: str) -> ExercisePart:
        return next(part for part in self.parts if isinstance(part, ExercisePart) and part.name == name)


@dataclass(frozen=True)
class Lesson:
    """A lesson: its steps and exercises by name, in their order, and where its files are."""

    number: int
    name: str
    folder: Path
    steps: Mapping[str, Step]
    exercises: Mapping[str, Exercise]
    reads: tuple[str, ...]
    claims: tuple[str, ...]
    ledger: tuple[str, ...]

    @cached_property
    def code(self) -> str:
        """The whole code, whose checksum recorded outputs carry."""
        return "\n\n".join(f"# %% {step.name}\n{step.code}" for step in self.steps.values())

    def text(self, language: Language) -> LessonText:
        """Read the text in a language."""
        path = self.folder / f"{language}.md"
        title, _, rest = _read(path).partition("\n")
        if not title.startswith("# "):
            raise Fault(f"{path} does not begin with a title.")
        return LessonText(title[2:].strip(), tuple(_parts(rest, path)))


def lesson_numbers(material: Path = MATERIAL) -> list[int]:
    """Return the numbers of all lessons."""
    return sorted(_folders(material))


def read_lesson(number: int, material: Path = MATERIAL) -> Lesson:
    """Read a lesson by its number."""
    folders = _folders(material)
    if number not in folders:
        raise Fault(f"There is no lesson {number}; `regard course` lists them all.")
    folder = folders[number]
    path = folder / "lesson.toml"
    table = check(_LessonTable, parse_toml(_read(path), str(path)), str(path))
    return Lesson(
        number,
        folder.name[3:],
        folder,
        {step.name: step for step in _steps(_read(folder / "code.py"), folder / "code.py")},
        {exercise.name: exercise for exercise in table.exercises},
        tuple(table.reads),
        tuple(table.claims),
        tuple(table.ledger),
    )


def title_of(number: int, language: Language, material: Path = MATERIAL) -> str:
    """Return the title of a lesson without reading the rest."""
    return _read(_folders(material)[number] / f"{language}.md").partition("\n")[0].removeprefix("# ").strip()


def _folders(material: Path) -> dict[int, Path]:
    matches = ((_FOLDER.fullmatch(path.name), path) for path in material.iterdir())
    return {int(match[1]): path for match, path in matches if match}


def _read(path: Path) -> str:
    return read_bounded(path, _LARGEST).decode("utf-8")


def _steps(code: str, path: Path) -> Iterator[Step]:
    heads = list(_CELL.finditer(code))
    if not heads or code[: heads[0].start()].strip():
        raise Fault(f"{path} does not begin with a step, `# %% name`.")
    ends = [head.start() for head in heads[1:]] + [len(code)]
    for head, end in zip(heads, ends, strict=True):
        body = code[head.end() : end].strip("\n")
        yield Step(head[1], body, tuple(_values(body)), head[2])


def _values(code: str) -> Iterator[Value]:
    """Yield the values at the top of a cell."""
    for line in code.split("\n"):
        match = _VALUE.fullmatch(line)
        if match is None:
            return
        default: Any = ast.literal_eval(match[2])
        if bounds := _RANGE.fullmatch(match[3]):
            yield Value(match[1], default, float(bounds[1]), float(bounds[2]))
        else:
            yield Value(match[1], default, choices=tuple(word.strip() for word in match[3].split(",")))


def _parts(text: str, path: Path) -> Iterator[Part]:
    """Yield the parts of a text in their order."""
    prose: list[str] = []
    lines = iter(text.split("\n"))
    for line in lines:
        fence = _FENCE.fullmatch(line.strip())
        if fence is None:
            prose.append(line)
            continue
        if "".join(prose).strip():
            yield Prose("\n".join(prose).strip())
        prose = []
        block = list(_until_fence(lines, path))
        if fence[1] == "step":
            pairs = (line.partition(":") for line in block if line.strip())
            yield StepPart(fence[2], {name.strip(): label.strip() for name, _, label in pairs})
        else:
            yield _exercise(fence[2], block, path)
    if "".join(prose).strip():
        yield Prose("\n".join(prose).strip())


def _until_fence(lines: Iterator[str], path: Path) -> Iterator[str]:
    for line in lines:
        if line.strip() == "```":
            return
        yield line
    raise Fault(f"{path} has a block that does not end.")


def _exercise(name: str, block: list[str], path: Path) -> ExercisePart:
    question: list[str] = []
    choices: dict[str, str] = {}
    said = {"right": "", "hint": ""}
    place: str | None = None
    for line in block:
        head, _, rest = line.partition(": ")
        choice = _CHOICE.fullmatch(line)
        if head in said:
            place, said[head] = head, rest
        elif place is not None:
            said[place] += " " + line.strip()
        elif choice:
            choices[choice[1]] = choice[2]
        elif choices and line.strip():
            last = next(reversed(choices))
            choices[last] += " " + line.strip()
        else:
            question.append(line)
    if not all(said.values()):
        raise Fault(f"The exercise {name} of {path} lacks `right:` or `hint:`.")
    stripped = {key: text.strip() for key, text in said.items()}
    return ExercisePart(name, "\n".join(question).strip(), choices, stripped["right"], stripped["hint"])
