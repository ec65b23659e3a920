"""`regard answer`: one answer for each input, or a tag for each of its words."""

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from regard.base.faults import Fault, TextFault, printable
from regard.console import options, print_json, refuse_existing, refuse_folder, remark, remark_written, wants_colour
from regard.console.inputs import inputs_after_model, or_standard_input, questions_in
from regard.console.lines import TextInput
from regard.tasks import TASKS

if TYPE_CHECKING:
    from regard.answers import Answer, Tags
    from regard.base.recipe import Recipe
    from regard.data.stories.telling import Asked
    from regard.engines.fast import TextChoice
    from regard.engines.onnx.reading import OnnxReader
    from regard.loading import Loaded
    from regard.verbs.answer.tagging import TagSearch
    from regard.viewing.tags import TaggedWords

    _Answering = Callable[[Sequence[Any]], Sequence[Answer | Tags]]

_HOW_TO_BEGIN_ANEW = " An empty line begins another story."  # because a fact cannot be taken back


def command(
    model: Annotated[Path, typer.Argument(help="A model folder.")],
    inputs: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="INPUT",
            help="Texts, sentences, stories, node numbers, or files with one per line; files of pictures or "
            "drawings; - or nothing is standard input.",
        ),
    ] = None,
    text: options.Texts = None,
    beam: Annotated[
        int | None,
        typer.Option(min=1, max=64, help="Beam size, for taggers that choose each tag knowing the one before."),
    ] = None,
    raw: Annotated[
        bool, typer.Option("--raw", help="For taggers: split sentences into words and punctuation, not only at spaces.")
    ] = False,
    tagger: Annotated[
        list[Path] | None,
        typer.Option(
            "--tagger", help="A tagger for another column that the model reads, such as parts of speech; repeatable."
        ),
    ] = None,
    engine: options.TextEngine = "auto",
    as_is: Annotated[
        bool, typer.Option("--as-is", help="Refuse pictures of the wrong size instead of scaling them.")
    ] = False,
    spans: Annotated[bool, typer.Option("--spans", help="For taggers: show spans, as in [NP Ana] [VP reads].")] = False,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="Write an .html page of words with their tags instead of printing lines."),
    ] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace the page.")] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print a JSON object for each input, with all probabilities.")
    ] = False,
) -> None:
    """Answer each INPUT, or each line of standard input, on its own line.

    A node, picture, text or drawing gets its class; a sentence gets a tag for each word. In a story, one fact per line,
    each line that ends with a question mark gets an answer; an empty line begins another story.
    """
    if out is not None:
        refuse_folder(out)
        refuse_existing(out, overwrite)
    asked = _Asked(model, inputs, text, raw, spans, out)
    reader = _open_reader(model, engine, {"--beam": beam, "--tagger": tagger, "--as-is": as_is})
    if reader is not None:
        answers, is_typed = _answers_by_export(reader, asked)
    else:
        answers, is_typed = _answers_by_torch(asked, beam, tagger or [], as_is)
    if out is not None:
        _write_page(model, answers, out)
    else:
        _print_answers(answers, as_json, spans, is_typed)


class _Asked(NamedTuple):
    """Options of the command that every engine needs."""

    model: Path
    inputs: list[str] | None
    text: list[str] | None
    raw: bool
    spans: bool
    out: Path | None

    def sources(self, recipe: "Recipe | None" = None) -> tuple[list[TextInput], bool]:
        """Return the inputs, and True if a person types them."""
        sources = or_standard_input(inputs_after_model(self.inputs, self.text, recipe))
        return sources, len(sources) == 1 and sources[0].is_typed and self.out is None

    def check_tags(self, tags_words: bool, has_spans: bool) -> None:
        """Refuse options for tags if the model gives none."""
        if self.spans and not has_spans:
            raise Fault(f"--spans is for models whose tags mark spans; those of {self.model} do not.")
        if self.out is not None and not tags_words:
            raise Fault(f"--out is for models that tag each word; {self.model} does not.")


def _open_reader(model: Path, engine: "TextChoice", others: dict[str, Any]) -> "OnnxReader | None":
    """Load the export of the model, if it may be used; none of the other options has an effect on it."""
    given = next((name for name, value in others.items() if value), None)
    if engine == "torch" or (given and engine == "auto"):
        return None
    from regard.engines.fast import CALLED, CANNOT
    from regard.engines.onnx.reading import load_reader

    if given:
        raise Fault((CANNOT % CALLED[engine]).format(other=given, engine="--engine"))
    return load_reader(model, engine)


def _answers_by_export(reader: "OnnxReader", asked: _Asked) -> tuple[Iterator["Answer | Tags"], bool]:
    """Return the answers of an export, and True if a person types the inputs."""
    from regard.verbs.answer.batching import answer_each

    asked.check_tags(reader.tags_words, reader.has_spans)
    sources, is_typed = asked.sources()
    answer = partial(reader.answers, raw=asked.raw)
    items = (text for source in sources for text in source.inputs())
    return (_answers_as_typed(answer, items) if is_typed else answer_each(answer, items)), is_typed


def _answers_by_torch(
    asked: _Asked, beam: int | None, tagger: list[Path], as_is: bool
) -> tuple[Iterator["Answer | Tags"], bool]:
    """Return the answers of the model, and True if a person types the inputs."""
    from regard.loading import Loaded, load_able, load_as
    from regard.tasks.tagging.task import Tagging
    from regard.verbs.answer.tagging import own_taggers, tag_search

    loaded = load_able(asked.model, "answer")
    tags_words = isinstance(loaded.task, Tagging)
    asked.check_tags(tags_words, tags_words and loaded.task.has_spans)
    sources, is_typed = asked.sources(loaded.recipe)
    taggers = [load_as(Loaded, folder) for folder in tagger]
    search = tag_search(loaded, beam, asked.raw, taggers or (own_taggers(loaded) if asked.raw else []))
    return _answers(loaded, sources, search, is_typed, as_is), is_typed


def _answers(
    model: "Loaded", sources: list[TextInput], search: "TagSearch", is_typed: bool, as_is: bool
) -> Iterator["Answer | Tags"]:
    """Return the answers to the inputs; a file may hold several stories or drawings."""
    from regard.verbs.answer.batching import answer_each
    from regard.verbs.answer.run import answer_batch
    from regard.verbs.pictures import mark_as_is, with_remarks

    reads = TASKS[model.recipe.task].reads
    questions = questions_in(sources) if reads == "story" else None
    items: Iterable[Any] = (text for source in sources for text in source.inputs())
    if reads == "drawing":
        items = _drawings(model, items)
    items = mark_as_is(model.task, items, "--as-is") if as_is else with_remarks(model.task, items, remark)
    answer = partial(answer_batch, model.task, search=search)
    if is_typed:
        typed = items if questions is None else (question.text for question in questions)
        return _answers_as_typed(answer, typed, "" if questions is None else _HOW_TO_BEGIN_ANEW)
    if questions is not None:
        return _answers_to_stories(answer, questions)
    return answer_each(answer, items)


def _print_answers(answers: Iterable["Answer | Tags"], as_json: bool, spans: bool, is_typed: bool) -> None:
    """Print a line for each answer, and remark on stories that are too long: at once if the input is typed."""
    from regard.answers import StoryAnswer

    dropped: list[int] = []
    for answer in answers:
        if as_json:
            print_json(asdict(answer), indent=None)
        else:
            print(_line(answer, spans), flush=is_typed)
        dropped.append(answer.forgotten if isinstance(answer, StoryAnswer) else 0)
        if is_typed:
            _remark_dropped([dropped.pop()])
    _remark_dropped(dropped)


def _drawings(model: "Loaded", files: Iterable[str]) -> Iterator[Any]:
    """Yield all drawings in the files, as the model reads them."""
    for file in files:
        yield from model.task.reader.drawings_in(file)


def _answers_as_typed(answer: "_Answering", inputs: Iterable[Any], advice: str = "") -> Iterator["Answer | Tags"]:
    """Yield the answer to each input as soon as it is typed; a bad input gets a remark, and the next may follow."""
    for item in inputs:
        try:
            yield from answer([item])
        except TextFault as fault:
            remark(f"{fault.without_number()}{advice}")


def _answers_to_stories(answer: "_Answering", questions: Iterable["Asked"]) -> Iterator["Answer | Tags"]:
    """Yield the answers to questions about stories; errors name the line of the question."""
    from regard.verbs.answer.batching import answer_each

    places: list[str] = []

    def texts() -> Iterator[str]:
        for question in questions:
            places.append(question.where)
            yield question.text

    try:
        yield from answer_each(answer, texts())
    except TextFault as fault:
        raise Fault(f"{places[fault.number]}: {fault.sentence}") from None


def _remark_dropped(counts: Sequence[int]) -> None:
    """Remark on stories longer than the model remembers, given the number of facts dropped for each question."""
    longer = [count for count in counts if count]
    if len(longer) == 1:
        facts = "fact is" if longer == [1] else f"{longer[0]:,} facts are"
        remark(f"The story is longer than the model remembers: its first {facts} dropped.")
    elif longer:
        remark(
            f"{len(longer):,} of {len(counts):,} questions are about more facts than the model remembers; "
            "the first facts of these stories are dropped."
        )


def _line(answer: "Answer | Tags", spans: bool) -> str:
    """Return an answer as one line: a class, the tags of a sentence, or its words with brackets around spans."""
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
