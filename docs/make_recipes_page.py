"""Prints docs/recipes.md from the option classes: `.venv/bin/python docs/make_recipes_page.py > docs/recipes.md`."""

import json
import sys
from collections.abc import Iterator
from importlib import import_module
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin

from pydantic.fields import FieldInfo

from regard.base.places import find_place
from regard.base.recipe import Options, TextRecipe
from regard.data.corpora.forms import Form
from regard.data.corpora.options import Corpus, PairData
from regard.data.texts.options import LanguageData, TextFile
from regard.families import FAMILIES
from regard.tasks import TASKS

HEAD = """# Every option of a recipe

<!-- Made by docs/make_recipes_page.py from the option classes; change those, not this page. -->

A recipe is a TOML file. What it does not say is as in the column "default", and what it misspells is refused with the
nearest right name. `--set training.steps=200` changes one option on the command line, through the same checks. The
`recipe.toml` of a trained model has every option written out. `regard recipes` lists the recipes that come with regard.
"""

CORPORA = """\
A name is a path, `SET:path` for a file of the [data catalogue](data.md), or one of `demo:train`, `demo:valid` and
`demo:test`, a generated corpus with `demo-ru`, `demo-pronouns` and `demo-pronouns-ru` beside it
([demo-corpus.md](demo-corpus.md)); others are `politeness`, `paraphrase` and `talks`
([text-to-text.md](text-to-text.md)), `names` and `summaries` ([copying.md](copying.md)). One corpus may be written
short, and several are a list of tables.
With the weights 3 and 1 three of four pairs come from the first, whatever their sizes, so a small corpus is gone
through more often than a large one. Either every corpus of `train` has a weight or none has; with none, every pair
comes equally often:

```toml
[data]
train = [{ source = "news.en", target = "news.pt", weight = 3 }, { pairs = "talks.tsv", weight = 1 }]
valid = ["valid.en", "valid.pt"]    # two files of parallel lines
test = "test.tsv"                   # a file of pairs
```
"""

TEXT_FILES = """\
```toml
family = "word2vec"

[data]
train = ["brown:brown.txt.gz", { file = "tatoeba-en-pt:eng-por.train.tsv.gz", column = 1, split_words = true }]
```
"""

BOUNDS = {"minimum": "≥ {}", "exclusiveMinimum": "> {}", "maximum": "≤ {}", "exclusiveMaximum": "< {}"}
KINDS = {
    "integer": "whole number",
    "number": "number",
    "boolean": "true, false",
    "string": "text",
    "object": "table",
}
# Lists by the type of their elements; those that are tables have a section of their own.
LISTS = {
    None: "corpora",
    "string": "list of texts",
    "integer": "list of whole numbers",
    "number": "list of numbers",
    "array": "list of pairs of whole numbers",
}


def page() -> str:
    """The whole page."""
    return "\n".join([HEAD, *_sections()])


def _sections() -> Iterator[str]:
    yield from _section("## At the top", TextRecipe, {})
    for task, kind in TASKS.items():
        for learning, way in kind.ways.items():
            yield f"## The task `{task}`, learnt by {learning}\n\nIt {way.trains}.\n"
            for name, field in find_place(way.recipe).model_fields.items():
                if name != "model" and (inner := _options_of(field)):
                    yield from _nested(name, inner)
            for name, family in FAMILIES.items():
                if task in family.tasks and family.learns == learning:
                    yield from _family(name)
            if way.model is not None:
                yield "### `[model]` of each of these families, for this task\n"
                yield from _nested("model", find_place(way.model))


def _nested(path: str, kind: type[Options]) -> Iterator[str]:
    """The section of some options, then those of the options inside them, one for all of the same kind."""
    yield from _section(f"### `[{path}]`", kind, {})
    if kind is PairData:
        yield from _section("#### Each corpus of `train`, `valid` and `test`", Corpus, {})
        yield CORPORA
        yield from _section("#### The `form` of a corpus that is not pairs of lines", Form, {})
    if issubclass(kind, LanguageData):
        yield from _section("#### A file of `train`, `valid` and `test` that is more than lines of text", TextFile, {})
        yield TEXT_FILES
    tables: dict[type[Options], list[str]] = {}
    for name, field in kind.model_fields.items():
        if inner := _options_of(field):
            tables.setdefault(inner, []).append(f"{path}.{name}")
    for inner, paths in tables.items():
        yield from _nested("]`, `[".join(paths), inner)


def _family(name: str) -> Iterator[str]:
    """The section of a family's model, and its presets."""
    family = FAMILIES[name]
    _, kind = family.load()
    presets: dict[str, dict[str, Any]] = getattr(import_module(kind.__module__), "PRESETS", {})
    sizes = {size: "of the preset" for preset in presets.values() for size in preset}
    yield from _section(f'### `[model]` of `family = "{name}"`', kind, sizes)
    if presets:
        yield _row("preset", *sizes)
        yield _row(*["---"] * (len(sizes) + 1))
        for preset, values in presets.items():
            yield _row(f"`{preset}`", *(str(values[size]) for size in sizes))
        yield ""


def _section(title: str, kind: type[Options], defaults: dict[str, str]) -> Iterator[str]:
    if kind.model_fields and all(_options_of(field) for field in kind.model_fields.values()):
        return  # there are only tables, which have sections of their own
    yield f"{title}\n"
    yield _row("option", "default", "may be", "what it is")
    yield _row("---", "---", "---", "---")
    schemas = kind.model_json_schema()["properties"]
    for name, field in kind.model_fields.items():
        if field.annotation is Any or (_options_of(field) and not _is_also_text(field)):
            continue  # a table, which has a section of its own
        written = field.alias or name
        default, values = defaults.get(name) or _default(field), _values(schemas[written])
        if _options_of(field):
            values = f"{values}, or a table"
        yield _row(f"`{written}`", default, values, field.description or "")
    yield ""


def _options_of(field: FieldInfo) -> type[Options] | None:
    """The options that a field is a table of, if it is one."""
    is_union = get_origin(field.annotation) in (UnionType, Union)  # a table or none, or a word instead
    kinds = get_args(field.annotation) if is_union else [field.annotation]
    return next((kind for kind in kinds if isinstance(kind, type) and issubclass(kind, Options)), None)


def _is_also_text(field: FieldInfo) -> bool:
    """Whether some words may stand in place of a table."""
    return any(get_origin(kind) is Literal for kind in get_args(field.annotation))


def _default(field: FieldInfo) -> str:
    if field.is_required():
        return "must be given"
    value = field.get_default(call_default_factory=True)
    return "–" if value is None else f"`{json.dumps(value, ensure_ascii=False)}`"


def _values(schema: dict[str, Any]) -> str:
    """What a value may be, in a few words."""
    schema = next(each for each in schema.get("anyOf", [schema]) if "$ref" not in each)
    if "enum" in schema or "const" in schema:
        return ", ".join(f'`"{value}"`' for value in schema.get("enum", [schema.get("const")]))
    if schema["type"] == "array":
        items = schema.get("items") or {}
        return "list of texts and tables" if "anyOf" in items else LISTS[items.get("type")]
    bounds = [text.format(schema[name]) for name, text in BOUNDS.items() if name in schema]
    return ", ".join([KINDS[schema["type"]], *bounds])


def _row(*cells: str) -> str:
    return f"| {' | '.join(cell.replace('|', '&#124;') for cell in cells)} |"


if __name__ == "__main__":
    sys.stdout.write(page())
