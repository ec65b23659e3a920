"""Requests for a distillation, and the teachers that they name."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

from regard.base.faults import Fault
from regard.base.model_folder import WEIGHTS, read_manifest
from regard.data.tokenisers.tokeniser import Tokeniser, tokenisers_in
from regard.families import task_class
from regard.families.model_folder import open_folder
from regard.models.shapes import ShapesOnly
from regard.runs.open import parameters_of
from regard.runs.planning.allowance import check_minutes

StudentName = Literal["base", "tiny", "micro", "lstm", "gru", "ngram"]
Decoder = Literal["attention", "ssru", "gru"]
Targets = Literal["best", "n-best", "nearest", "reference"]
# Options that only some tasks have.
OPTIONS = ("text", "reference", "decoder", "int8", "targets", "n", "beam", "words", "temperature", "tokens", "workers")
CANDIDATES = 4  # outputs of a teacher among which `nearest` chooses, or that `n-best` teaches


@dataclass(frozen=True)
class DistilRequest:
    """Request for a student, from the command line or Python; without a text, the teacher's training text is taught.

    `words` is the share of the teachers' distribution in the loss, `tokens` is how much text language models write, and
    `settings` change the student's recipe.
    """

    teachers: Sequence[Path]
    out: Path
    text: Path | None = None
    reference: Path | None = None
    student: StudentName = "base"
    decoder: Decoder = "attention"
    int8: bool = False
    targets: Targets = "best"
    n: int | None = None
    beam: int | None = None
    words: float = 0.0
    temperature: float | None = None
    tokens: int | None = None
    settings: Sequence[str] = ()
    minutes: float | None = None
    workers: int | None = None
    resume: bool = False
    overwrite: bool = False

    def check(self) -> None:
        """Refuse options that contradict each other, or have no effect."""
        if not self.teachers:
            raise Fault("Name a model to learn from, as in `regard distil TEACHER -o RUN`.")
        if self.resume and self.overwrite:
            raise Fault("--resume continues a run and --overwrite replaces it; give one of them.")
        check_minutes(self.minutes)
        if self.minutes == 0:
            raise Fault("--minutes is 0, which leaves no time to train a student; give it more minutes.")
        if self.n is not None and self.targets in ("best", "reference"):
            raise Fault(f"--n is for --targets n-best and nearest; it has no effect with --targets {self.targets}.")
        if self.beam is not None and self.targets == "reference":
            raise Fault("--beam is for the teacher's outputs, which --targets reference does not use.")
        if self.temperature is not None and not self.words:
            raise Fault("--temperature is for the teacher's distribution; give its share of the loss with --words.")
        if self.reference is not None and self.text is None:
            raise Fault("--reference has the translations of --text; give both.")
        for path in filter(None, (self.text, self.reference)):
            if not path.is_file():
                raise Fault(f"There is no file {path}.")

    @property
    def candidates(self) -> int:
        """Outputs of the teacher for each sentence; none if only references are taught."""
        if self.targets == "reference":
            return 0
        return 1 if self.targets == "best" else self.n or CANDIDATES


@dataclass(frozen=True)
class Teacher:
    """A model to learn from, without its weights."""

    folder: Path
    recipe: Any
    files: Mapping[str, bytes]

    @cached_property
    def checksum(self) -> str:
        """Checksum of its weights file."""
        return read_manifest(self.folder)[WEIGHTS][0]

    @cached_property
    def tokenisers(self) -> tuple[Tokeniser, Tokeniser]:
        """Its tokenisers; a model of one text has the same one twice."""
        options = self.recipe.data.tokeniser
        return tokenisers_in(self.files, options.full() if hasattr(options, "full") else options)

    @cached_property
    def parameters(self) -> int:
        return count_parameters(self.recipe, self)

    @property
    def languages(self) -> tuple[str, str]:
        return self.recipe.data.source_language, self.recipe.data.target_language

    @property
    def tokens(self) -> list[dict[str, bytes]]:
        """Files of its tokenisers; none if its words are in another form."""
        if getattr(self.recipe.data, "tokeniser", None) is None:
            return []
        return [self.tokenisers[0].files("source"), self.tokenisers[1].files("target")]


def count_parameters(recipe: Any, teacher: Teacher) -> int:
    """Count the parameters of a recipe's network with a teacher's tokens, without making them."""
    with ShapesOnly():
        return parameters_of(task_class(recipe).build(recipe, teacher.files))


def open_teachers(folders: Sequence[Path]) -> list[Teacher]:
    """Open the teachers; refuse models that cannot teach together."""
    teachers = [Teacher(folder, *open_folder(folder)) for folder in folders]
    first = teachers[0]
    if len({teacher.folder.resolve() for teacher in teachers}) < len(teachers):
        raise Fault("The same teacher is named twice; name each once.")
    for other in teachers[1:]:
        ours, theirs = first.recipe.task, other.recipe.task
        if ours != theirs:
            raise Fault(
                f"{first.folder} is a model for {ours} and {other.folder} for {theirs}; teachers need one task."
            )
        if ours == "translation" and other.languages != first.languages:
            ours, theirs = ("-".join(teacher.languages) for teacher in (first, other))
            raise Fault(f"{first.folder} translates {ours} and {other.folder} {theirs}; teachers need equal languages.")
        if other.tokens != first.tokens:
            raise Fault(f"{other.folder} and {first.folder} have different tokens; choose teachers of one corpus.")
    return teachers
