"""`regard answer`: one answer for each input, or one for each word of it."""

import sys
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from regard.base.faults import Fault, printable
from regard.cli.console import print_json, refuse_existing, refuse_folder, remark, remark_written, wants_colour
from regard.cli.lines import TextInput
from regard.tasks import TASKS

if TYPE_CHECKING:
    from regard.model import Model
    from regard.protocols import Answer, Tags
    from regard.viewing.tags import TaggedWords


def command(
    model: Annotated[Path, typer.Argument(help="A model folder.")],
    inputs: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="INPUT…",
            help="Texts, sentences, numbers of nodes, files of pictures, drawings or stories; or on standard input.",
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
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="An .html page of words with their tags, in place of lines.")
    ] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace the page.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="One object for each input, with all probabilities.")] = False,
) -> None:
    """Answer each INPUT, or each line of standard input, in a line of its own.

    A node, a picture, a drawing or a text gets its class, a sentence as many tags as it has words. Of a story, told
    fact by fact, each line that ends with a question mark gets an answer; an empty line begins another story.
    """
    from regard.model import load
    from regard.verbs.answer import AT_ONCE, answer_each
    from regard.verbs.table import needs
    from regard.verbs.tagging import TagSearch

    lines = TextInput()
    if not inputs:
        lines.check()
    if out is not None:
        refuse_folder(out)
        refuse_existing(out, overwrite)
    loaded = load(model)
    needs(loaded.recipe, "answer")
    _check_tags(loaded, model, spans, out)
    at_once = 1 if not inputs and lines.is_typed and out is None else AT_ONCE
    asked = _stories(inputs, lines) if TASKS[loaded.recipe.task].reads == "story" else inputs or lines.lines()
    answers = answer_each(loaded.task, asked, at_once, TagSearch(beam, raw))
    if out is not None:
        _write_page(model, answers, out)
        return
    for answer in answers:
        if as_json:
            print_json(asdict(answer), indent=None)
        else:
            print(_line(answer, spans), flush=at_once == 1)
        if forgotten := getattr(answer, "forgotten", 0):
            remark(f"The story is longer than the model remembers: its first {forgotten} facts are dropped.")


def _stories(files: list[str] | None, typed: TextInput) -> Iterator[str]:
    """Each question in files of stories, or in those that are typed, with the facts told before it."""
    from regard.data.stories.telling import stories_in

    for name in files or ["-"]:
        given = typed if name == "-" else TextInput(file=Path(name))
        yield from stories_in(given.lines(), "standard input" if name == "-" else name)


def _check_tags(loaded: "Model", folder: Path, spans: bool, out: Path | None) -> None:
    """Refuse what is asked of tags, where a model gives none."""
    from regard.tasks.tagging.task import Tagging

    if spans and not (isinstance(loaded.task, Tagging) and loaded.task.has_spans):
        raise Fault(f"--spans is for models whose tags spell spans, and {folder} is none.")
    if out is not None and not isinstance(loaded.task, Tagging):
        raise Fault(f"--out is for models that give a tag to each word, and {folder} is none.")


def _line(answer: "Answer | Tags", spans: bool) -> str:
    """An answer on a line of its own; of a sentence its tags, or its words with brackets around spans."""
    if not spans:
        return printable(answer.answer)
    from regard.viewing.tags import bracketed

    return bracketed(_tagged(answer), wants_colour(sys.stdout))


def _write_page(folder: Path, answers: Iterator["Answer | Tags"], out: Path) -> None:
    from regard.viewing.tags import tags_page

    tags_page(str(folder), [_tagged(answer) for answer in answers]).write(out)
    remark_written(out, set())


def _tagged(tags: Any) -> "TaggedWords":
    from regard.viewing.tags import TaggedWords

    return TaggedWords(tags.words, tags.answers, tags.probabilities, tags.spans or ())
