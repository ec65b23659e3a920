"""Facts in a model folder for people who try the model: what it learnt from, its size, and examples."""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from regard.base.faults import Fault
from regard.base.model_folder import ABOUT, read_folder, read_manifest
from regard.data.examples import Amount, beginnings, choose_examples, with_hidden_words
from regard.training.pace import Course, read_course

if TYPE_CHECKING:
    from regard.protocols import HoldsTexts

# Tasks whose inputs are not whole texts -> how to make example inputs from texts.
_AS_READ: dict[str, Callable[[Iterable[str]], Iterable[str]]] = {"language": beginnings, "masked": with_hidden_words}
_FILES = ("source", "target", "pairs", "file")  # the keys that name files when a corpus is given as a table


class About(BaseModel):
    """Facts known when a run begins; older folders have none."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    amount: Amount | None = None
    parameters: int | None = Field(None, ge=0)
    examples: list[str] | None = Field(None, max_length=10)  # None in folders from before there were examples

    def to_bytes(self) -> bytes:
        return self.model_dump_json(indent=1).encode()


def about_data(prepared: "HoldsTexts", parameters: int | None, count: int, task: str) -> About:
    """Return facts about the prepared data, with `count` examples in the form that the task reads."""
    texts: Iterable[str] = prepared.unlearnt_texts()
    examples = choose_examples(_AS_READ[task](texts) if task in _AS_READ else texts, count) if count else []
    return About(amount=prepared.amount, parameters=parameters, examples=examples)


def read_about(folder: Path) -> About:
    """Read a model folder's facts; they are empty if the folder has none."""
    if ABOUT not in read_manifest(folder):
        return About()
    try:
        return About.model_validate_json(read_folder(folder, [ABOUT])[ABOUT])
    except ValidationError:
        raise Fault(f"{folder / ABOUT} is damaged: it does not say what the model is about.") from None


def hardly_trained(folder: Path) -> Course | None:
    """Return how far training got if the model has hardly been trained, else None."""
    course = read_course(folder / "training")
    return course if course and course.caution() else None


def about_in_words(about: About, recipe: dict[str, Any]) -> dict[str, str]:
    """Return the facts as texts for people, keyed by what each says; `recipe` is the one in the folder."""
    names = ", ".join(data_names(recipe))
    learnt = [f"{about.amount.count:,} {about.amount.unit}"] if about.amount else []
    facts = {"knows": recipe.get("description", ""), "learnt from": " of ".join([*learnt, *([names] if names else [])])}
    if about.examples:
        facts["try"] = about.examples[0]
    return {name: value for name, value in facts.items() if value}


def data_names(recipe: dict[str, Any]) -> list[str]:
    """Return the names of a model's data: `SET:path` of the catalogue, or a file's name without its folder."""
    train = recipe["data"].get("train", [])
    files: list[Any] = []
    for corpus in train if isinstance(train, list) else [train]:
        files += [corpus.get(name) for name in _FILES] if isinstance(corpus, dict) else [corpus]
    names = [file if ":" in file else Path(file).name for file in files if isinstance(file, str)]
    return list(dict.fromkeys(names))
