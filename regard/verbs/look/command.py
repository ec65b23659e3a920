"""`regard look`: what a model looks at and what it may write, as a picture, a page, as numbers or in the terminal."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from regard.base.faults import Fault
from regard.console import refuse_existing, refuse_folder, remark, remark_written, terminal_width, wants_colour
from regard.console.inputs import inputs_after_model, or_standard_input, questions_in, what_it_reads
from regard.console.lines import TextInput
from regard.tasks import TASKS

if TYPE_CHECKING:
    from regard.loading import Loaded
    from regard.verbs.translate.model import TranslationModel
    from regard.viewing.view import DrawingRequest, View

_Model = Annotated[Path, typer.Argument(help="A model folder.")]
_Inputs = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="INPUT",
        help="What the model reads: a sentence, a story, a node, or a file of it; with --contexts, several sentences.",
    ),
]
_Text = Annotated[str | None, typer.Option(metavar="TEXT", help="A text to read, never a file's name.")]
_Target = Annotated[str | None, typer.Option(help="The translation to look at; without it, the model's own.")]
_Out = Annotated[
    Path | None,
    typer.Option(
        "-o",
        "--out",
        help="A .png, .svg, .html or .json file, of a machine with a memory also a .gif; without it, the terminal.",
    ),
]
_Side = Annotated[
    Literal["cross", "encoder", "decoder", "copying", "pooling"] | None,
    typer.Option(
        help="Of several attentions: from target to source, within the source, within the target, what is copied, or "
        "from an answer to the source; by default the first that the model has."
    ),
]
_Layer = Annotated[int | None, typer.Option(min=1, help="The block, counted from 1; by default the last but one.")]
_Head = Annotated[int | None, typer.Option(min=1, help="The head, counted from 1; by default all joined.")]
_Heads = Annotated[
    Literal["mean", "max"] | None, typer.Option(help="How all heads are joined: their mean or their maximum.")
]
_Rings = Annotated[int | None, typer.Option(min=1, max=2, help="How far around a node a graph is drawn.")]
_Sheet = Annotated[bool, typer.Option("--sheet", help="All blocks and heads on one sheet.")]
_Lines = Annotated[bool, typer.Option("--lines", help="Two lines of text with links, in place of a matrix.")]
_Tokens = Annotated[bool, typer.Option("--tokens", help="Tokens in place of whole words.")]
_Speaker = Annotated[str | None, typer.Option(help="Who speaks, of a model that does; by default the first it knows.")]
_AsIs = Annotated[bool, typer.Option("--as-is", help="Refuse a picture of another size than the model reads.")]
_Beam = Annotated[bool, typer.Option("--beam", help="The beam as a tree: all that the search kept, step by step.")]
_Width = Annotated[int | None, typer.Option(min=1, max=64, help="With --beam: its width; by default the recipe's.")]
_Penalty = Annotated[float | None, typer.Option(min=0, help="With --beam: alpha of the length penalty.")]
_Next = Annotated[
    bool, typer.Option("--next", help="The distribution of the next token, and what sampling makes of it.")
]
_Prefix = Annotated[str | None, typer.Option(help="With --next: the beginning of the output, after which it follows.")]
_At = Annotated[int | None, typer.Option(min=0, help="With --next: after so many tokens of the model's best output.")]
_Bars = Annotated[int, typer.Option(min=1, max=100, help="With --next: how many tokens are shown.")]
_Contexts = Annotated[
    str | None,
    typer.Option(metavar="WORD", help="One word in several sentences, given or from standard input, layer by layer."),
]
_Temperature = Annotated[float | None, typer.Option(min=0, max=100, help="With --next: the temperature of sampling.")]
_TopK = Annotated[int | None, typer.Option(min=1, help="With --next: only so many most probable tokens.")]
_TopP = Annotated[float | None, typer.Option(min=0, max=1, help="With --next: the fewest tokens that reach this.")]
_MinP = Annotated[float | None, typer.Option(min=0, max=1, help="With --next: at least this fraction of the best.")]
_Typical = Annotated[float | None, typer.Option(min=0, max=1, help="With --next: the most typical that reach this.")]
_Overwrite = Annotated[bool, typer.Option("--overwrite", help="Replace the output file.")]

# The options that go with one view alone.
_ATTENTION = ("target", "side", "layer", "head", "heads", "rings", "sheet", "lines", "tokens", "speaker")
_SAMPLING = ("temperature", "top_k", "top_p", "min_p", "typical")
_VIEWS = {"--beam": ("width", "length_penalty"), "--next": ("prefix", "at", "bars", *_SAMPLING)}
# The options of a model that translates.
_OF_TRANSLATORS = ("target", "beam", "following")


def command(
    context: typer.Context,
    model: _Model,
    inputs: _Inputs = None,
    text: _Text = None,
    target: _Target = None,
    out: _Out = None,
    side: _Side = None,
    layer: _Layer = None,
    head: _Head = None,
    heads: _Heads = None,
    rings: _Rings = None,
    sheet: _Sheet = False,
    lines: _Lines = False,
    tokens: _Tokens = False,
    speaker: _Speaker = None,
    as_is: _AsIs = False,
    beam: _Beam = False,
    width: _Width = None,
    length_penalty: _Penalty = None,
    following: _Next = False,
    prefix: _Prefix = None,
    at: _At = None,
    bars: _Bars = 12,
    temperature: _Temperature = None,
    top_k: _TopK = None,
    top_p: _TopP = None,
    min_p: _MinP = None,
    typical: _Typical = None,
    contexts: _Contexts = None,
    overwrite: _Overwrite = False,
) -> None:
    """Draw what a model looks at while it reads and answers or writes; with --beam or --next, what it may write.

    With --contexts, draw where the vectors of one word lie that stands in several sentences.
    """
    view = _view(context)
    kind = _kind(out, overwrite)
    from regard.verbs.opening import model_in
    from regard.viewing.view import DrawingRequest

    wanted = DrawingRequest(layer, head, heads, rings, sheet, lines, tokens)
    _check(wanted, kind)
    loaded = model_in(model)
    _check_model(loaded, view)
    shown = _shown(context, loaded, inputs_after_model(inputs, text, loaded.recipe), view, wanted)
    # A drawing that is refused is refused before anything is said of it.
    drawn = shown.drawing.lines(terminal_width(), wants_colour(sys.stdout)) if out is None else []
    missing = set() if out is None else shown.write(out)
    if contexts is None:
        remark(shown.heading)
    if out is None:
        print("\n".join(drawn))
    else:
        remark_written(out, missing)


def _check_model(model: "Loaded", view: str) -> None:
    """Refuse a model that does not have the view."""
    from regard.families.abilities import needs
    from regard.tasks import TASKS
    from regard.verbs.generate.model import LanguageModel

    if not isinstance(model, LanguageModel):
        needs(model.recipe, "embed" if view == "--contexts" else "look")
    elif view == "--contexts":
        needs(model.recipe, "embed")
    elif view != "--next" and "look" not in model.verbs:
        raise Fault(
            f"This model has no attention to look at: it gives {TASKS[model.recipe.task].gives}; "
            "use `regard look --next` to see what may follow a text."
        )


def _shown(
    context: typer.Context, model: "Loaded", sources: list[TextInput], view: str, wanted: "DrawingRequest"
) -> "View":
    """The view that is asked for, of what the model is given."""
    from regard.verbs.generate.model import LanguageModel
    from regard.verbs.translate.model import TranslationModel

    if isinstance(model, LanguageModel) and view == "--next":
        return _view_next(context, model, _one(model, sources))
    if view == "--contexts":
        return _view_contexts(model, context.params["contexts"], sources)
    if isinstance(model, TranslationModel):
        return _view_translation(context, model, _one(model, sources), view, wanted)
    from regard.seeing.looking import view_answer
    from regard.verbs.pictures import mark_as_is, remark_on

    _refuse_options(context, model)
    looked_at = _one(model, sources)
    (looked_at,) = mark_as_is(model.task, [looked_at]) if context.params["as_is"] else [looked_at]
    if changed := remark_on(model.task, looked_at):
        remark(f"{changed} --as-is refuses it instead.")
    return view_answer(model, looked_at, context.params["side"], wanted, context.params["speaker"])


def _view_contexts(model: "Loaded", word: str, sources: list[TextInput]) -> "View":
    """Return where a word lies in the texts of some sources, or else in the lines of standard input."""
    from regard.verbs.look.run import look_contexts

    return look_contexts(model, word, [text for source in or_standard_input(sources) for text in source.inputs()])


def _view_next(context: typer.Context, model: "Loaded", text: str) -> "View":
    """Return what may follow a text, or the beginning of an output."""
    from regard.verbs.look.run import look_next

    given = context.params
    return look_next(model, text, given["prefix"], given["at"], _steps(context), given["bars"])


def _steps(context: typer.Context) -> dict[str, float]:
    """The options of sampling that are given."""
    return {name: context.params[name] for name in _SAMPLING if context.params[name] is not None}


def _view_translation(
    context: typer.Context, model: "TranslationModel", text: str, view: str, wanted: "DrawingRequest"
) -> "View":
    """Return the view of a translator's attention, or of what it may write."""
    from regard.seeing.gazes import refuse_speaker
    from regard.seeing.looking import view_beam, view_translation

    given = context.params
    refuse_speaker(given["speaker"])
    if view == "--beam":
        return view_beam(model, text, given["width"], given["length_penalty"])
    if view == "--next":
        return _view_next(context, model, text)
    return view_translation(model, text, given["target"], given["side"], wanted, remark)


def _view(context: typer.Context) -> str:
    """Which view is asked for, "" being that of attention; refuses options of the others."""
    views = [_option(name) for name in ("beam", "following", "contexts") if _is_given(context, name)]
    if views == ["--beam", "--next"]:
        raise Fault("--beam shows whole hypotheses and --next a single token; give one of the two.")
    if len(views) > 1:
        raise Fault(f"{' and '.join(views)} are views of different things; give one of them.")
    view = next(iter(views), "")
    for name in (name for name in context.params if _is_given(context, name)):
        if view and name in _ATTENTION:
            raise Fault(f"{_option(name)} says what attention to look at; omit it with {view}.")
        if wanted := next((other for other, own in _VIEWS.items() if name in own and other != view), None):
            raise Fault(f"{_option(name)} goes with {wanted}; {'omit it' if view else 'give that too'}.")
    return view


def _is_given(context: typer.Context, name: str) -> bool:
    """Return True if an option is on the command line."""
    source = context.get_parameter_source(name)
    return source is not None and source.name == "COMMANDLINE"


def _option(name: str) -> str:
    return "--next" if name == "following" else f"--{name.replace('_', '-')}"


def _kind(out: Path | None, overwrite: bool) -> str:
    """The kind of file that is asked for, by its suffix; none for the terminal."""
    if out is None:
        return ""
    refuse_folder(out)
    refuse_existing(out, overwrite)
    kind = out.suffix.lower()
    if kind not in (".png", ".svg", ".html", ".json", ".gif"):
        raise Fault(f"{out} is neither .png, .svg, .html nor .json; the suffix says what to draw.")
    return kind


def _check(wanted: "DrawingRequest", kind: str) -> None:
    """Refuse options that contradict each other."""
    if wanted.heads and wanted.head:
        raise Fault("--head shows one head and --heads joins them all; give one of the two.")
    if wanted.sheet and (wanted.layer or wanted.head):
        raise Fault("--sheet shows every block and head; omit --layer and --head.")
    if wanted.sheet and (wanted.heads or wanted.lines):
        surplus = "--heads" if wanted.heads else "--lines"
        raise Fault(f"--sheet shows a matrix for every head; omit {surplus}.")
    if wanted.sheet and kind == ".html":
        raise Fault("A page has its sheet already; omit --sheet.")
    if wanted.lines and kind not in (".png", ".svg"):
        raise Fault("--lines draws a .png or an .svg; name one with -o.")


def _refuse_options(context: typer.Context, model: "Loaded") -> None:
    """Refuse options of translators for a model that is none."""
    if given := next((name for name in _OF_TRANSLATORS if _is_given(context, name)), None):
        raise Fault(f"{_option(given)} is for translators; {what_it_reads(model.recipe)}.")


def _one(model: "Loaded", sources: list[TextInput]) -> str:
    """Return the one input to look at; of a story that is its last question, with the facts told before it."""
    if len(sources) == 1 and TASKS[model.recipe.task].reads == "story":
        *_, last = questions_in(sources)
        return last.text
    inputs = [text for source in sources for text in source.inputs()]
    if len(inputs) != 1:
        reading = what_it_reads(model.recipe)
        raise Fault(f"{reading[0].upper()}{reading[1:]}; give one to look at, not {len(inputs) or 'none'}.")
    return inputs[0]
