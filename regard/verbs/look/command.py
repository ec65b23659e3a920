"""`regard look`: a model's attention or its next outputs, as a picture, page, numbers or terminal text."""

import sys
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from regard.base.faults import Fault
from regard.console import (
    refuse_existing,
    refuse_folder,
    refuse_input,
    remark,
    remark_written,
    terminal_width,
    wants_colour,
)
from regard.console.inputs import inputs_after_model, or_standard_input, questions_in, what_it_reads
from regard.console.lines import TextInput
from regard.tasks import TASKS
from regard.verbs.look import nearest, sampling
from regard.verbs.look.edits import EDITS, EditFile, SaveEdit, ZeroHead, check_record, edits_of

if TYPE_CHECKING:
    from regard.loading import Loaded
    from regard.verbs.translate.model import TranslationModel
    from regard.viewing.view import DrawingRequest, View

_Model = Annotated[Path, typer.Argument(help="A model folder.")]
_Inputs = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="INPUT",
        help="What the model reads: a sentence, story, node or file; with --contexts, several sentences.",
    ),
]
_Text = Annotated[str | None, typer.Option(metavar="TEXT", help="A text to read, never a file name.")]
_Target = Annotated[str | None, typer.Option(help="The translation to look at; by default the model's own.")]
_Out = Annotated[
    Path | None,
    typer.Option(
        "-o",
        "--out",
        help="A .png, .svg, .html or .json file, or a .gif for memory models; otherwise print to the terminal.",
    ),
]
_Side = Annotated[
    Literal["cross", "encoder", "decoder", "copying", "pooling"] | None,
    typer.Option(
        help="Which attention: from target to source, within the source, within the target, copying, or from an "
        "answer to the source; by default the first that the model has."
    ),
]
_Layer = Annotated[int | None, typer.Option(min=1, help="The block, counted from 1; by default the second to last.")]
_Head = Annotated[int | None, typer.Option(min=1, help="The head, counted from 1; by default all heads joined.")]
_Heads = Annotated[Literal["mean", "max"] | None, typer.Option(help="How to join the heads: mean or maximum.")]
_Rings = Annotated[
    int | None, typer.Option(min=1, max=2, help="For graphs: number of rings of neighbours to draw around a node.")
]
_Sheet = Annotated[bool, typer.Option("--sheet", help="Draw all blocks and heads on one sheet.")]
_Lines = Annotated[bool, typer.Option("--lines", help="Draw two lines of text with links instead of a matrix.")]
_Tokens = Annotated[bool, typer.Option("--tokens", help="Show tokens instead of whole words.")]
_Speaker = Annotated[str | None, typer.Option(help="For models that speak: the speaker; by default the first.")]
_AsIs = Annotated[bool, typer.Option("--as-is", help="Refuse a picture of the wrong size instead of scaling it.")]
_Beam = Annotated[
    bool, typer.Option("--beam", help="Draw the beam as a tree: all hypotheses that the search kept, step by step.")
]
_Width = Annotated[int | None, typer.Option(min=1, max=64, help="With --beam: beam size; by default the recipe's.")]
_Penalty = Annotated[float | None, typer.Option(min=0, help="With --beam: length penalty alpha.")]
_Next = Annotated[
    bool, typer.Option("--next", help="Draw the distribution of the next token, before and after sampling options.")
]
_Prefix = Annotated[str | None, typer.Option(help="With --next: the beginning of the output.")]
_At = Annotated[
    int | None,
    typer.Option(min=0, help="With --next or --examples: the place after N tokens of the model's best output."),
]
_Bars = Annotated[int, typer.Option(min=1, max=100, help="With --next: number of tokens to show.")]
_Contexts = Annotated[
    str | None,
    typer.Option(metavar="WORD", help="Draw the vectors of one word in several sentences, layer by layer."),
]
_Why = Annotated[
    str | None,
    typer.Option(
        metavar="METHOD",
        help="Show which parts of the input made the model write or answer this: attention, rollout, flow, gradient, "
        "input-x-gradient, integrated-gradients, occlusion, leave-one-out, or all; or what happens inside: lens, "
        "patching, heads, units.",
    ),
]
_Output = Annotated[
    str | None, typer.Option(help="With --why: the output to explain, or a class; by default the model's own.")
]
_Place = Annotated[
    int | None, typer.Option(min=1, help="With --why: the output's token, from 1 on; by default the last with letters.")
]
_Word = Annotated[
    str | None, typer.Option(help="With --why: the word of the output to explain; with --place, the one at that token.")
]
_From = Annotated[
    str | None, typer.Option("--from", help="With --why patching: the input whose states are put into this one.")
]
_Trust = Annotated[
    bool,
    typer.Option(
        "--trust", help="With --why: also print how far to trust the map, compared with chance and with the truth."
    ),
]
_Overwrite = Annotated[bool, typer.Option("--overwrite", help="Replace the output files.")]

# Options for one view only.
_ATTENTION = ("target", "side", "layer", "head", "heads", "rings", "sheet", "lines", "tokens", "speaker")
_VIEWS = {
    "--beam": ("width", "length_penalty"),
    "--next": ("prefix", "at", "bars", *sampling.SAMPLING),
    "--why": ("output", "place", "word", "other", "trust"),
    "--examples": nearest.OPTIONS,
}
_OF_STATES = ("--contexts", "--examples")  # views of states instead of attention
_ALSO_WHY = ("layer", "head", "tokens")  # options of attention that go with --why too
_CHOSEN = ("beam", "following", "contexts", "why", "examples")  # parameters that choose a view
# Options for translators.
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
    temperature: sampling.Temperature = None,
    top_k: sampling.TopK = None,
    top_p: sampling.TopP = None,
    min_p: sampling.MinP = None,
    typical: sampling.Typical = None,
    contexts: _Contexts = None,
    examples: nearest.Examples = None,
    states: nearest.States = None,
    by: nearest.By = "cosine",
    from_lines: nearest.FromLines = 5000,
    why: _Why = None,
    output: _Output = None,
    place: _Place = None,
    word: _Word = None,
    other: _From = None,
    trust: _Trust = False,
    zero_head: ZeroHead = None,
    edit: EditFile = None,
    save_edit: SaveEdit = None,
    overwrite: _Overwrite = False,
) -> None:
    """Draw the attention of a model while it reads and answers or writes; with --beam or --next, what it may write.

    With --contexts, draw the vectors of one word in several sentences; with --why, what made the model decide so; with
    --examples, list the nearest training data.
    """
    _look(context)


def _look(context: typer.Context) -> None:
    """Run the command with the options of its context."""
    params = context.params
    out: Path | None = params["out"]
    view, kind = _view(context), _kind(out, params["overwrite"])
    if out is not None:
        refuse_input(out, [*(params["inputs"] or ()), params["edit"]])
    check_record(context)
    sampling.steps_of(context)  # refused before the model is loaded
    sampling.check_penalty(params["length_penalty"])
    from regard.verbs.opening import model_in
    from regard.viewing.view import DrawingRequest

    drawing = DrawingRequest(**{field.name: params[field.name] for field in fields(DrawingRequest)})
    _check(drawing, kind)
    model = model_in(params["model"])
    _check_model(model, view)
    if params["as_is"]:
        _check_as_is(model, view)
    shown = _shown(context, model, inputs_after_model(params["inputs"], params["text"], model.recipe), view, drawing)
    if params["save_edit"] is not None and (edits := edits_of(context, model)) is not None:
        edits.save(params["save_edit"])
    # A drawing that is refused must be refused before the heading is printed.
    lines = shown.drawing.lines(terminal_width(), wants_colour(sys.stdout)) if out is None else []
    missing = set() if out is None else shown.write(out)
    if params["contexts"] is None:
        remark(shown.heading)
    if out is None:
        print("\n".join(lines))
    else:
        remark_written(out, missing)


def _check_model(model: "Loaded", view: str) -> None:
    """Refuse a model that cannot show the view."""
    from regard.families.abilities import needs
    from regard.tasks import TASKS
    from regard.verbs.generate.model import LanguageModel

    if view == "--why":
        from regard.seeing.why.question import refuse_unasked

        refuse_unasked(model)
    elif view in _OF_STATES:
        nearest.refuse_without_states(model, view)
    elif not isinstance(model, LanguageModel):
        needs(model.recipe, "look")
    elif view != "--next" and "look" not in model.verbs:
        raise Fault(
            f"This model has no attention to look at: it gives {TASKS[model.recipe.task].gives}; "
            "use `regard look --next` to see what may follow a text."
        )


def _check_as_is(model: "Loaded", view: str) -> None:
    """Refuse --as-is for models that scale no pictures, and for views that do not read it."""
    from regard.verbs.pictures import refuse_as_is

    refuse_as_is(model.task, "--as-is")
    if view:
        raise Fault(f"--as-is goes with a picture of attention; omit it with {view}.")


def _shown(
    context: typer.Context, model: "Loaded", sources: list[TextInput], view: str, drawing: "DrawingRequest"
) -> "View":
    """Return the requested view of the model's input."""
    from regard.verbs.generate.model import LanguageModel
    from regard.verbs.translate.model import TranslationModel

    if view == "--why":
        return _view_why(context, model, _one(model, sources))
    if isinstance(model, LanguageModel) and view == "--next":
        return _view_next(context, model, _one(model, sources))
    if view == "--contexts":
        return _view_contexts(model, context.params["contexts"], sources)
    if view == "--examples":
        return nearest.view_examples(context, model, _one(model, sources))
    if isinstance(model, TranslationModel):
        return _view_translation(context, model, _one(model, sources), view, drawing)
    from regard.seeing.edited import view_edited
    from regard.seeing.looking import view_answer
    from regard.verbs.pictures import mark_as_is, remark_on

    _refuse_options(context, model)
    item = _one(model, sources)
    (item,) = mark_as_is(model.task, [item], "--as-is") if context.params["as_is"] else [item]
    if note := remark_on(model.task, item):
        remark(f"{note} --as-is refuses it instead.")
    side, speaker = context.params["side"], context.params["speaker"]
    return view_edited(model, edits_of(context, model), lambda: view_answer(model, item, side, drawing, speaker))


def _view_why(context: typer.Context, model: "Loaded", item: str) -> "View":
    """Return which parts of an input made the model decide so."""
    from regard.seeing.why.views import WhyRequest, view_why

    params = context.params
    place = None if params["place"] is None else params["place"] - 1
    chosen = (params["output"], place, params["word"], params["layer"], params["head"], params["tokens"])
    return view_why(model, item, WhyRequest(params["why"], *chosen, params["other"], params["trust"]), remark)


def _view_contexts(model: "Loaded", word: str, sources: list[TextInput]) -> "View":
    """Return the vectors of a word in the texts of the sources, or in the lines of standard input."""
    from regard.verbs.look.run import look_contexts

    return look_contexts(model, word, [text for source in or_standard_input(sources) for text in source.inputs()])


def _view_next(context: typer.Context, model: "Loaded", text: str) -> "View":
    """Return what may follow a text or the beginning of an output."""
    from regard.verbs.look.run import look_next

    params = context.params
    return look_next(model, text, params["prefix"], params["at"], sampling.steps_of(context), params["bars"])


def _view_translation(
    context: typer.Context, model: "TranslationModel", text: str, view: str, drawing: "DrawingRequest"
) -> "View":
    """Return the view of a translator's attention, beam or next token."""
    from regard.seeing.edited import view_edited
    from regard.seeing.gazes import refuse_speaker
    from regard.seeing.looking import view_beam, view_translation

    params = context.params
    refuse_speaker(params["speaker"])
    if view == "--beam":
        return view_beam(model, text, params["width"], params["length_penalty"])
    if view == "--next":
        return _view_next(context, model, text)
    return view_edited(
        model,
        edits_of(context, model),
        lambda: view_translation(model, text, params["target"], params["side"], drawing, remark),
    )


def _view(context: typer.Context) -> str:
    """Return the requested view, "" for attention; refuse options of the other views."""
    views = [_option(name) for name in _CHOSEN if _is_given(context, name)]
    if views == ["--beam", "--next"]:
        raise Fault("--beam shows whole hypotheses and --next a single token; give one of the two.")
    if len(views) > 1:
        raise Fault(f"{' and '.join(views)} are views of different things; give one of them.")
    view = next(iter(views), "")
    for name in (name for name in context.params if _is_given(context, name)):
        if name in _VIEWS.get(view, ()):
            continue
        if view and name in EDITS:
            raise Fault(f"{_option(name)} edits what attention shows; omit it with {view}.")
        if view and name in _ATTENTION and not (view == "--why" and name in _ALSO_WHY):
            raise Fault(f"{_option(name)} chooses an attention; omit it with {view}.")
        needed = [other for other, names in _VIEWS.items() if name in names]
        if needed and name not in _ATTENTION:
            raise Fault(f"{_option(name)} goes with {' or '.join(needed)}; {'omit it' if view else 'give that too'}.")
    return view


def _is_given(context: typer.Context, name: str) -> bool:
    """Return True if an option is on the command line."""
    source = context.get_parameter_source(name)
    return source is not None and source.name == "COMMANDLINE"


def _option(name: str) -> str:
    return {"following": "--next", "other": "--from"}.get(name, f"--{name.replace('_', '-')}")


def _kind(out: Path | None, overwrite: bool) -> str:
    """Return the suffix of the output file, or "" for the terminal; refuse unknown ones."""
    if out is None:
        return ""
    refuse_folder(out)
    refuse_existing(out, overwrite)
    kind = out.suffix.lower()
    if kind not in (".png", ".svg", ".html", ".json", ".gif"):
        raise Fault(f"{out} does not end in .png, .svg, .html or .json; the suffix chooses the format.")
    return kind


def _check(drawing: "DrawingRequest", kind: str) -> None:
    """Refuse options that contradict each other."""
    if drawing.heads and drawing.head:
        raise Fault("--head shows one head and --heads joins them all; give one of the two.")
    if drawing.sheet and (drawing.layer or drawing.head):
        raise Fault("--sheet shows every block and head; omit --layer and --head.")
    if drawing.sheet and (drawing.heads or drawing.lines):
        surplus = "--heads" if drawing.heads else "--lines"
        raise Fault(f"--sheet shows a matrix for every head; omit {surplus}.")
    if drawing.sheet and kind == ".html":
        raise Fault("A page has its sheet already; omit --sheet.")
    if drawing.lines and kind not in (".png", ".svg"):
        raise Fault("--lines draws a .png or an .svg; name one with -o.")


def _refuse_options(context: typer.Context, model: "Loaded") -> None:
    """Refuse translator options for other models."""
    if name_ := next((name for name in _OF_TRANSLATORS if _is_given(context, name)), None):
        raise Fault(f"{_option(name_)} is for translators; {what_it_reads(model.recipe)}.")


def _one(model: "Loaded", sources: list[TextInput]) -> str:
    """Return the one input to look at; for a story, its last question with the facts before it."""
    if len(sources) == 1 and TASKS[model.recipe.task].reads == "story":
        *_, last = questions_in(sources)
        return last.text
    inputs = [text for source in sources for text in source.inputs()]
    if len(inputs) != 1:
        clause = what_it_reads(model.recipe)
        raise Fault(f"{clause[0].upper()}{clause[1:]}; give one to look at, not {len(inputs) or 'none'}.")
    return inputs[0]
