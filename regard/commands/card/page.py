"""The page of a model card below its head: what the model is, its data, figures, limits, licence and files."""

import shlex
from collections.abc import Iterator, Sequence

from regard.base.faults import printable
from regard.base.figures import quantity
from regard.base.scores import Score
from regard.commands.card.facts import CardFacts, FileFact
from regard.commands.card.head import data_name
from regard.families import FAMILIES
from regard.families.abilities import verbs_of
from regard.tasks import TASKS

_TEXT_VERBS = ("translate", "generate", "answer")  # take an example by --text
_UNKNOWN = "not recorded"


def page_of(facts: CardFacts, licence: str | None) -> str:
    """Return a card without its head, as Markdown."""
    parts = (_model(facts), _use(facts), _data(facts), _figures(facts), _limits(facts), _licence(facts, licence))
    lines = [f"# {_plain(facts.name)}", "", *(line for part in parts for line in [*part, ""]), *_files(facts)]
    return "\n".join(lines)


def _plain(text: str) -> str:
    """Return a text that Markdown shows as it is, on one line; names come from whoever made the folder."""
    shown = printable(text).replace("&", "&amp;").replace("<", "&lt;")
    return "".join(f"\\{letter}" if letter in "\\`*_[]|#" else letter for letter in shown)


def _code(text: str) -> str:
    return f"`{printable(text).replace('`', '’').replace('|', '¦')}`"


def _table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    return [f"| {' | '.join(row)} |" for row in (columns, ["---"] * len(columns), *rows)]


def _commands(*lines: Sequence[str]) -> list[str]:
    """Return a block of shell with these commands of regard."""
    return ["```sh", *(printable(shlex.join(["regard", *words])) for words in lines), "```"]


def _model(facts: CardFacts) -> Iterator[str]:
    recipe, family = facts.recipe, FAMILIES[facts.recipe.family]
    if recipe.description:
        yield from (_plain(recipe.description), "")
    rows = [
        ["family", f"`{recipe.family}`: {_plain(family.summary)}"],
        ["paper", _plain(family.paper)],
        ["task", f"`{recipe.task}`: {_plain(TASKS[recipe.task].summary)}"],
    ]
    rows += [[name, _plain(_shown(value))] for name, value in facts.described.items() if name not in ("family", "task")]
    rows += [["can", ", ".join(verbs_of(recipe.family, recipe.task))]]
    rows += [["started from", _plain(recipe.start_from)]] if recipe.start_from else []
    rows += [["trained", _plain(facts.course.in_words())]] if facts.course else []
    rows += [["made by", f"regard {facts.version}"]] if facts.version else []
    yield from ["## What it is", "", *_table(["", ""], rows)]


def _shown(value: object) -> str:
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)


def _use(facts: CardFacts) -> Iterator[str]:
    verb = TASKS[facts.recipe.task].verb
    examples = (facts.about.examples or []) if verb in _TEXT_VERBS and facts.recipe.task != "answering" else []
    asked = [[verb, facts.name, "--text", example] for example in examples[:1]]
    yield from ["## How to use it", "", *_commands(*asked, ["serve", facts.name], ["info", facts.name])]


def _data(facts: CardFacts) -> Iterator[str]:
    yield from ["## Data", ""]
    if facts.about.amount:
        yield from (f"It learnt from {facts.about.amount.count:,} {_plain(facts.about.amount.unit)}.", "")
    if facts.data:
        rows = [
            [file.split or "all", _code(file.name), *_content(file), file.licence or "not stated"]
            for file in facts.data
        ]
        yield from _table(["split", "file", "bytes", "SHA-256", "licence"], rows)
    else:
        yield "Its recipe names no files: the data is generated, or came with a model that was imported."
    if facts.prepared:
        yield from ["", "What the data was made into before training:", ""]
        yield from _table(
            ["file", "bytes", "SHA-256"], [[_code(file.name), *_content(file)] for file in facts.prepared]
        )
    for entry in facts.sets:
        yield from ["", f"**{_plain(entry.title)}** ({_code(entry.name)}), from {_plain(entry.source)}"]


def _content(file: FileFact) -> tuple[str, str]:
    return _UNKNOWN if file.size is None else f"{file.size:,}", f"`{file.sha256}`" if file.sha256 else _UNKNOWN


def _figures(facts: CardFacts) -> Iterator[str]:
    yield from ["## Figures", ""]
    if not facts.scores:
        yield "The folder holds no scores."
    else:
        yield from _table(["split", "metric", "value", "examples", "signature"], list(map(_figure, facts.scores)))
        splits = list(dict.fromkeys(score["split"] for score in facts.scores if score["split"] in ("valid", "test")))
        for split in splits:
            metrics = dict.fromkeys(score["metric"] for score in facts.scores if score["split"] == split)
            words = [word for metric in metrics for word in ("--metric", metric)]
            yield from ["", f"Those of `{split}` ({_plain(data_name(facts, split))}) again:", ""]
            yield from _commands(["evaluate", facts.name, "--split", split, *words])
    if facts.course:
        yield from ["", "The training again, where the files of its recipe lie as they did:", ""]
        yield from _commands(["train", f"{facts.name}/recipe.toml", "--out", f"{facts.name}-again"])


def _figure(kept: dict) -> list[str]:
    value = float("nan") if kept["value"] is None else kept["value"]
    score = Score(kept["metric"], value, kept["signature"], kept.get("n", 0), kept["split"], kept.get("deviation"))
    count = f"{score.n:,}" if "n" in kept else _UNKNOWN
    return [_plain(str(score.split)), _code(score.metric), score.shown, count, _plain(score.signature)]


def _limits(facts: CardFacts) -> Iterator[str]:
    yield from ["## Limits", ""]
    if facts.course is None:
        yield "- The folder does not say how far the training came."
    elif caution := facts.course.caution():
        yield f"- {_plain(caution)}"
    if not any(score["split"] == "test" for score in facts.scores):
        yield "- It was never scored on test data, as far as the folder knows."
    yield "- Its figures hold for the data named above, and say nothing of other data."
    if (longest := getattr(facts.recipe.model, "longest", None)) is not None:
        meaning = type(facts.recipe.model).model_fields["longest"].description or ""
        yield f"- `model.longest` is {longest:,}. {_plain(meaning)}"
    if facts.unsure:
        yield f"- It is unsure {_plain(facts.unsure)}."
    unhashed = [file for file in facts.data if not file.sha256]
    if unhashed:
        yield f"- No checksum was kept of {quantity(len(unhashed), 'file')} of its data."


def _licence(facts: CardFacts, licence: str | None) -> Iterator[str]:
    yield from ["## Licence", ""]
    yield f"The weights: {_plain(licence)}." if licence else "The folder states no licence for the weights."
    for entry in facts.sets:
        yield f"- Data {_code(entry.name)}: {_plain(entry.licence)}. {_plain(entry.terms)}"


def _files(facts: CardFacts) -> Iterator[str]:
    rows = [[_code(file.name), *_content(file)] for file in facts.files]
    yield from ["## Files", "", *_table(["file", "bytes", "SHA-256"], rows), ""]
