"""`regard answer`: one answer for each input, or one for each word of it."""

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from regard.base.faults import Fault, printable
from regard.cli.console import print_json
from regard.cli.lines import TextInput

if TYPE_CHECKING:
    from regard.protocols import Answer, Tags


def command(
    model: Annotated[Path, typer.Argument(help="A model folder.")],
    inputs: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="INPUT…",
            help="Texts, sentences to tag, numbers of nodes, or files of pictures; by default standard input.",
        ),
    ] = None,
    beam: Annotated[
        int | None,
        typer.Option(min=1, max=64, help="Width of the search for tags that are chosen knowing the one before."),
    ] = None,
    raw: Annotated[
        bool, typer.Option("--raw", help="Cut sentences to tag into words and punctuation marks, not just at spaces.")
    ] = False,
    spans: Annotated[
        bool, typer.Option("--spans", help="Show the spans that tags spell, as in [NP Ana] [VP reads].")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="One object for each input, with all probabilities.")] = False,
) -> None:
    """Answer each INPUT, or each line of standard input, in a line of its own.

    A node, a picture or a text gets its class, a sentence as many tags as it has words.
    """
    from regard.model import load
    from regard.verbs.answer import AT_ONCE, answer_each
    from regard.verbs.table import needs
    from regard.verbs.tagging import TagSearch

    lines = TextInput()
    if not inputs:
        lines.check()
    loaded = load(model)
    needs(loaded.recipe, "answer")
    if spans and not getattr(loaded.task, "has_spans", False):
        raise Fault(f"--spans is for models whose tags spell spans, and {model} is none.")
    at_once = 1 if not inputs and lines.is_typed else AT_ONCE
    for answer in answer_each(loaded.task, inputs or lines.lines(), at_once, TagSearch(beam, raw)):
        if as_json:
            print_json(asdict(answer), indent=None)
        else:
            print(printable(_bracketed(answer) if spans else answer.answer), flush=at_once == 1)


def _bracketed(answer: "Answer | Tags") -> str:
    """The words of a sentence with brackets around its spans, each with its type."""
    from regard.protocols import Tags

    assert isinstance(answer, Tags)
    assert answer.spans is not None
    words = list(answer.words)
    for type_, start, end in answer.spans:
        words[start] = f"[{type_} {words[start]}"
        words[end - 1] += "]"
    return " ".join(words)
