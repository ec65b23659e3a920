"""The export of a language model, classifier, tagger or BERT in its model folder: what is read before its graph."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, NamedTuple

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from regard.base.faults import Fault
from regard.base.model_folder import RECIPE, WEIGHTS, read_folder, read_recipe
from regard.base.parsing import parse_json
from regard.base.recipe import Options, check, faults_of
from regard.engines.exported import ONNX, again, has_graphs, is_export, no_graphs, read_export, read_record
from regard.engines.fast import TextChoice

ABOUT = "about.json"
Kind = Literal["language", "classification", "tagging", "masked"]


class Framing(BaseModel):
    """Marks before and after a text, and whether the middle of one that is too long is dropped."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    before: Literal[0, 1]
    behind: Literal[0, 1]
    drops_middle: bool


class Chain(BaseModel):
    """Scores of neighbouring tags, of first tags and of last tags."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    between: list[list[float]]
    first: list[float]
    last: list[float]


class Facts(BaseModel):
    """Facts of `about.json` that readers need; each kind of model has some of them."""

    model_config = ConfigDict(frozen=True, extra="ignore", strict=True)

    kind: Kind
    longest: int = Field(default=0, ge=0)
    framing: Framing = Framing(before=0, behind=0, drops_middle=False)
    classes: list[str] = []
    tags: list[str] = []
    chain: Chain | None = None

    @property
    def fits_chain(self) -> bool:
        """True if the chain, if there is one, has scores for all tags."""
        if self.chain is None:
            return True
        lengths = {len(row) for row in (*self.chain.between, self.chain.first, self.chain.last)}
        return {*lengths, len(self.chain.between)} == {len(self.tags)}


class TextExport(NamedTuple):
    """An export whose files are intact and up to date with the model."""

    folder: Path
    facts: Facts
    files: Mapping[str, bytes]  # files of the model folder: tokeniser, lexicon
    recipe: Mapping[str, Any]

    def options(self, kind: type[Options], *tables: str) -> Any:
        """Return a table of the model's recipe, named from the outside in, as checked options."""
        values: Any = self.recipe
        for table in tables:
            values = values.get(table, {})
        with faults_of(self.folder.parent / RECIPE):
            return check(kind, values)


def open_text_export(folder: Path, choice: TextChoice, kinds: tuple[Kind, ...]) -> TextExport | None:
    """Open the ONNX export of a model folder; None for torch, for auto without an export, and for other models.

    With onnx, an export must exist.
    """
    export = folder / ONNX
    if choice == "torch" or (choice == "auto" and not is_export(export)):
        return None
    recipe = read_recipe(folder)
    if not is_export(export) and not has_graphs(recipe["family"]):
        raise no_graphs(recipe["family"])
    content = read_export(export)
    about = parse_json(content[ABOUT], str(export / ABOUT)) if ABOUT in content else {}
    if not isinstance(about, dict) or about.get("kind") not in kinds:
        return None
    record = read_record(export)
    try:
        facts = Facts.model_validate(about)
    except ValidationError:
        raise Fault(f"{export} was made by another version of regard; {again(export, record)}.") from None
    files = read_folder(folder, [name for name in record.made_from if name != WEIGHTS])
    return TextExport(export, facts, files, recipe)
