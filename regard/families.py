"""Which families of models there are, where each lives, and what a recipe for one looks like."""

from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Generic, Literal, Self, TypeVar, cast

from pydantic import Field, model_validator

from regard.base.faults import Fault
from regard.base.recipe import Options, apply_settings, check, check_alone, described
from regard.data.corpora.options import DataOptions
from regard.decoding.options import DecodingOptions
from regard.tasks.translation.options import TranslationTraining


@dataclass(frozen=True)
class Family:
    """One kind of model: what it is for, the paper that describes it, and where its code stands."""

    summary: str
    paper: str
    task: str
    module: str
    model: str
    options: str

    def load(self) -> tuple[type[Any], type[Options]]:
        """The model's class and its options' class; torch is imported here and not before."""
        module = import_module(self.module)
        return getattr(module, self.model), getattr(module, self.options)


FAMILIES: dict[str, Family] = {
    "transformer": Family(
        summary="encoder and decoder of multi-head attention, for any text to any text",
        paper="Vaswani et al. 2017, Attention Is All You Need",
        task="translation",
        module="regard.models.transformer.network",
        model="Transformer",
        options="TransformerOptions",
    ),
    "seq2seq": Family(
        summary="recurrent encoder and decoder, without attention or with Bahdanau's or Luong's",
        paper="Sutskever et al. 2014; Bahdanau et al. 2015; Luong et al. 2015",
        task="translation",
        module="regard.models.recurrent.seq2seq",
        model="Seq2Seq",
        options="Seq2SeqOptions",
    ),
}

Model = TypeVar("Model", bound=Options)


class Recipe(Options, Generic[Model]):
    """All that decides a result: family, task, data, model, training and search."""

    family: str = Field(default="transformer", description="The family of the model: `regard families` lists them.")
    task: Literal["translation"] = Field(default="translation", description="What the model is to do.")
    seed: int = Field(default=1, ge=0, lt=2**63, description="The seed of everything random.")
    start_from: str | None = Field(
        default=None,
        description="A model folder whose weights and tokenisers the run begins with; "
        "what this recipe does not say of its model, tokenisers and search is as there.",
    )
    data: DataOptions = Field(description="The text and how it is cut into tokens.")
    model: Model = Field(description="What the model is built like.")
    training: TranslationTraining = Field(default_factory=TranslationTraining, description="How it is trained.")
    decoding: DecodingOptions = Field(default_factory=DecodingOptions, description="How outputs are chosen.")

    @model_validator(mode="after")
    def _check_lengths(self) -> Self:
        longest = getattr(self.model, "longest", None)
        if longest is not None and self.data.cleaning.longest >= longest:
            kept = self.data.cleaning.longest
            raise ValueError(f"data.cleaning.longest {kept} and an end token do not fit model.longest {longest}")
        return self


def with_settings(recipe: Recipe, settings: Sequence[str]) -> Recipe:
    """A recipe changed by settings such as `training.steps=200`."""
    return check_recipe(apply_settings(recipe.model_dump(exclude_none=True), settings))


def check_recipe(table: dict[str, Any]) -> Recipe:
    """The recipe in a table, with every fault in it named at once."""
    return check(_kind_of_recipe(table), {"model": {}} | table)


def check_settings(table: dict[str, Any]) -> None:
    """Refuse what no recipe can have, before the rest of the recipe is known."""
    check_alone(_kind_of_recipe(table), {"model": {}} | table)


def described_options() -> dict[str, str]:
    """Every option of a Transformer's recipe by its path, with its sentence."""
    return described(_kind_of_recipe({}))


def _kind_of_recipe(table: dict[str, Any]) -> type[Recipe]:
    family = table.get("family", Recipe.model_fields["family"].default)
    if not isinstance(family, str) or family not in FAMILIES:
        raise Fault(f"family is {family!r}, expected one of {', '.join(map(repr, FAMILIES))}")
    _, options = FAMILIES[family].load()
    return cast(type[Recipe], Recipe.__class_getitem__(options))
