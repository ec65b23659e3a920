"""Gather what is to be judged: two sides, each from files, a model or the references of a split."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from regard.base.faults import Fault
from regard.base.model_folder import MANIFEST, is_mapped
from regard.commands.judge.given import Given, check_same_items, choose_places, names_of, read_given
from regard.console import remark
from regard.metrics.judgements import Question, Side
from regard.serving.judging.comparison import Comparison, Item, Shown

if TYPE_CHECKING:
    from regard.model import Model

REFERENCE = "reference"  # names the side of the references of a split
_RANDOM_DRAWINGS = 20  # of models that draw without a source, unless --count says otherwise


@dataclass(frozen=True)
class JudgeRequest:
    """Two sides, their sources or the split, what a person wrote, the question, and the number of items."""

    a: str
    b: str
    source: Path | None = None
    split: str | None = None
    person: Side | None = None
    question: Question = "better"
    count: int | None = None

    @property
    def sides(self) -> tuple[str, str]:
        return self.a, self.b

    @property
    def human(self) -> Side | None:
        """The side that a person wrote: as given, or that of the references."""
        if self.person is None and REFERENCE in self.sides:
            return "a" if self.a == REFERENCE else "b"
        return self.person

    def check(self) -> None:
        """Refuse options that contradict each other."""
        if self.source is not None and self.split is not None:
            raise Fault("Give either --split or --source, not both.")
        if self.a == self.b:
            raise Fault(f"A and B are both {self.a}; name two different outputs.")
        if REFERENCE in self.sides and self.source is not None:
            raise Fault(f"'{REFERENCE}' means the references of a split; with --source, name a file of references.")
        if REFERENCE in self.sides and self.person is not None and self.sides["ab".index(self.person)] != REFERENCE:
            raise Fault(f"A person wrote the references; omit --person {self.person.upper()}.")
        if self.question == "person" and self.human is None:
            raise Fault("--turing asks which output a person made; say which it is with --person A or --person B.")


def gather(request: JudgeRequest) -> Comparison:
    """Read files, ask models, and return the comparison."""
    request.check()
    models = {name: _open_model(Path(name)) for name in request.sides if _is_model(name)}
    given = {name: read_given(Path(name)) for name in request.sides if name not in models and name != REFERENCE}
    if not models and REFERENCE in request.sides:
        raise Fault(f"'{REFERENCE}' means the references of a model's data; one side must be a model folder.")
    if not models and request.split is not None:
        raise Fault("--split is for models; the outputs in files already belong to their sources.")
    items = _items(request, models, given)
    return Comparison(items, *request.sides, question=request.question, person=request.human)


def _is_model(name: str) -> bool:
    return name != REFERENCE and ((Path(name) / MANIFEST).is_file() or is_mapped(Path(name)))


def _open_model(folder: Path) -> "Model":
    from regard.commands.judge.asked import verb_of
    from regard.model import load

    model = load(folder)
    verb_of(model, folder)
    return model


def _items(request: JudgeRequest, models: "dict[str, Model]", given: dict[str, Given]) -> list[Item]:
    """Return the chosen items, with the outputs of both sides."""
    files = [*given.values()]
    source = None if request.source is None else read_given(request.source)
    if source is None and models and _reads_a_source(models):
        return _items_of_split(request, models, given)
    parts = files if source is None else [source, *files]
    if parts:
        check_same_items(parts)
    names = names_of(parts) if parts else [str(number + 1) for number in range(request.count or _RANDOM_DRAWINGS)]
    places = choose_places(len(names), request.count)
    sources: list[Shown | None] = [None] * len(places) if source is None else [*source.show(places)]
    outputs = {name: part.show(places) for name, part in given.items()}
    outputs |= {name: _ask(name, model, sources) for name, model in models.items()}
    return _paired(request, [names[place] for place in places], sources, outputs)


def _reads_a_source(models: "dict[str, Model]") -> bool:
    from regard.commands.judge.asked import reads

    return any(reads(model, Path(name)) is not None for name, model in models.items())


def _items_of_split(request: JudgeRequest, models: "dict[str, Model]", given: dict[str, Given]) -> list[Item]:
    """Return items of the data of the first model."""
    from regard.commands.judge.asked import items_of_split

    owner = next(iter(models))
    if given:
        raise Fault(f"{next(iter(given))} holds outputs for some sources; name those with --source.")
    split = items_of_split(models[owner], Path(owner), request.split or "test", request.count)
    outputs = {REFERENCE: list(split.references)}
    for name, model in models.items():
        knows_names = model.recipe.data == models[owner].recipe.data
        outputs[name] = _ask(name, model, list(split.sources), list(split.pictures or []) if knows_names else [])
    return _paired(request, split.names, list(split.sources), outputs)


def _ask(
    name: str, model: "Model", sources: list[Shown | None] | list[Shown], pictures: list[str] | None = None
) -> list[Shown]:
    from regard.commands.judge.asked import outputs_of

    remark(f"Asking {name} for {len(sources):,} outputs.")
    return outputs_of(model, Path(name), sources, pictures or None)


def _paired(
    request: JudgeRequest,
    names: "list[str] | tuple[str, ...]",
    sources: "list[Shown | None] | list[Shown]",
    outputs: dict[str, list[Shown]],
) -> list[Item]:
    a, b = (outputs[name] for name in request.sides)
    if a[0].kind != b[0].kind:
        raise Fault(f"{request.a} gives {a[0].kind}s and {request.b} {b[0].kind}s; only outputs of one kind compare.")
    return [Item(*parts) for parts in zip(names, sources, a, b, strict=True)]
