"""The body of a model card: what the model is, its data, figures, limits, licence and files."""

import re
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from regard.base.faults import printable
from regard.base.figures import quantity
from regard.base.recipe import Recipe
from regard.base.scores import Score
from regard.families import FAMILIES
from regard.families.abilities import verbs_of
from regard.runs.card.facts import CardFacts, FileFact
from regard.runs.card.head import data_name, head_of
from regard.tasks import TASKS

_TEXT_VERBS = ("translate", "generate", "answer")  # verbs that take an example with --text
_UNKNOWN = "not recorded"
_SEARCH = re.compile(r"\bbeam:(\d+)\|lp:([^|]+)")  # in the signature of a score


@dataclass(frozen=True)
class Card:
    """A model card: its head in YAML, and its body in Markdown."""

    head: str
    body: str

    @property
    def text(self) -> str:
        """The whole card, as hubs expect it."""
        return f"{self.head}\n\n{self.body}"


def make_card(facts: CardFacts, licence: str | None = None) -> Card:
    """Return the card of a model; `licence` is that of its weights."""
    return Card(head_of(facts, licence), page_of(facts, licence))


def page_of(facts: CardFacts, licence: str | None) -> str:
    """Return the body of a card as Markdown."""
    parts = (_model(facts), _use(facts), _data(facts), _figures(facts), _limits(facts), _licence(facts, licence))
    lines = [f"# {_plain(facts.name)}", "", *(line for part in parts for line in [*part, ""]), *_files(facts)]
    return "\n".join(lines)


def _plain(text: str) -> str:
    """Escape a text so that Markdown shows it unchanged on one line; names come from outside."""
    escaped = printable(text).replace("&", "&amp;").replace("<", "&lt;")
    return "".join(f"\\{letter}" if letter in "\\`*_[]|#" else letter for letter in escaped)


def _code(text: str) -> str:
    return f"`{printable(text).replace('`', '’').replace('|', '¦')}`"


def _table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    return [f"| {' | '.join(row)} |" for row in (columns, ["---"] * len(columns), *rows)]


def _commands(*lines: Sequence[str]) -> list[str]:
    """Return a shell block with these regard commands."""
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
    examples_shown = [[verb, facts.name, "--text", example] for example in examples[:1]]
    yield from ["## How to use it", "", *_commands(*examples_shown, ["serve", facts.name], ["info", facts.name])]


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
        yield "Its recipe names no files: the data is generated, or the model was imported."
    if facts.prepared:
        yield from ["", "Files prepared from the data before training:", ""]
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
            yield from ["", f"To repeat the scores on `{split}` ({_plain(data_name(facts, split))}):", ""]
            of_split = [score for score in facts.scores if score["split"] == split]
            yield from _commands(
                *(["evaluate", facts.name, "--split", split, *words] for words in _scorings(of_split, facts.recipe))
            )
    if facts.course:
        yield from ["", "To repeat the training, with the recipe's files in their old places:", ""]
        yield from _commands(["train", f"{facts.name}/recipe.toml", "--out", f"{facts.name}-again"])


def _scorings(scores: Sequence[dict[str, Any]], recipe: Recipe) -> list[list[str]]:
    """Return the options that compute these scores again, once for each search whose outputs were scored."""
    searches: dict[tuple[str, ...], dict[str, None]] = {}
    for score in sorted(scores, key=lambda score: _SEARCH.search(score["signature"]) is None):
        search = _search_options(score["signature"], recipe)
        if search is None:  # it is of the model alone, so any command computes it
            search = next(iter(searches), ())
        searches.setdefault(search, {})[score["metric"]] = None
    return [
        [*(word for metric in metrics for word in ("--metric", metric)), *search]
        for search, metrics in searches.items()
    ]


def _search_options(signature: str, recipe: Recipe) -> tuple[str, ...] | None:
    """Return the options for the search in a signature, none for that of the recipe; None if there is no search."""
    if (match := _SEARCH.search(signature)) is None:
        return None
    usual = getattr(recipe, "decoding", None)
    is_usual = usual is not None and match.groups() == (str(usual.beam), f"{usual.length_penalty:g}")
    return () if is_usual else ("--beam", match[1], "--length-penalty", match[2])


def _figure(record: dict) -> list[str]:
    value = float("nan") if record["value"] is None else record["value"]
    score = Score(
        record["metric"], value, record["signature"], record.get("n", 0), record["split"], record.get("deviation")
    )
    count = f"{score.n:,}" if "n" in record else _UNKNOWN
    return [_plain(str(score.split)), _code(score.metric), score.shown, count, _plain(score.signature)]


def _limits(facts: CardFacts) -> Iterator[str]:
    yield from ["## Limits", ""]
    if facts.course is None:
        yield "- The folder does not record how far the training got."
    elif caution := facts.course.caution():
        yield f"- {_plain(caution)}"
    if not any(score["split"] == "test" for score in facts.scores):
        yield "- The folder records no scores on test data."
    yield "- Its figures hold for the data named above and say nothing about other data."
    if (longest := getattr(facts.recipe.model, "longest", None)) is not None:
        meaning = type(facts.recipe.model).model_fields["longest"].description or ""
        yield f"- `model.longest` is {longest:,}. {_plain(meaning)}"
    if facts.unsure:
        yield f"- It is unsure {_plain(facts.unsure)}."
    unhashed = [file for file in facts.data if not file.sha256]
    if unhashed:
        yield f"- There is no checksum for {quantity(len(unhashed), 'file')} of its data."


def _licence(facts: CardFacts, licence: str | None) -> Iterator[str]:
    yield from ["## Licence", ""]
    yield f"The weights: {_plain(licence)}." if licence else "The folder states no licence for the weights."
    for entry in facts.sets:
        yield f"- Data {_code(entry.name)}: {_plain(entry.licence)}. {_plain(entry.terms)}"


def _files(facts: CardFacts) -> Iterator[str]:
    rows = [[_code(file.name), *_content(file)] for file in facts.files]
    yield from ["## Files", "", *_table(["file", "bytes", "SHA-256"], rows), ""]
