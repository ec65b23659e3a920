"""`regard look`: what a model looks at and what it may write, as a picture, a page, as numbers or in the terminal."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from regard.base.faults import Fault
from regard.base.files import write_file
from regard.cli.console import refuse_existing, refuse_folder, remark, remark_written, terminal_width, wants_colour

if TYPE_CHECKING:
    from regard.seeing.gazes import Sight
    from regard.verbs.translate.model import TranslationModel
    from regard.viewing.matrix import Matrix
    from regard.viewing.page import Start

_Model = Annotated[Path, typer.Argument(help="A model folder.")]
_Text = Annotated[str, typer.Option(help="A sentence for the model to read.")]
_Target = Annotated[str | None, typer.Option(help="The output to look at; without it, the model's own.")]
_Out = Annotated[
    Path | None, typer.Option("-o", "--out", help="A .png, .svg, .html or .json file; without it, the terminal.")
]
_Side = Annotated[
    Literal["cross", "encoder", "decoder"],
    typer.Option(help="From target to source, within the source, or within the target."),
]
_Layer = Annotated[int | None, typer.Option(min=1, help="The block, counted from 1; by default the last but one.")]
_Head = Annotated[int | None, typer.Option(min=1, help="The head, counted from 1; by default all joined.")]
_Heads = Annotated[
    Literal["mean", "max"] | None, typer.Option(help="How all heads are joined: their mean or their maximum.")
]
_Sheet = Annotated[bool, typer.Option("--sheet", help="All blocks and heads on one sheet.")]
_Lines = Annotated[bool, typer.Option("--lines", help="Two lines of text with links, in place of a matrix.")]
_Tokens = Annotated[bool, typer.Option("--tokens", help="Tokens in place of whole words.")]
_Beam = Annotated[bool, typer.Option("--beam", help="The beam as a tree: all that the search kept, step by step.")]
_Width = Annotated[int | None, typer.Option(min=1, max=64, help="With --beam: its width; by default the recipe's.")]
_Penalty = Annotated[float | None, typer.Option(min=0, help="With --beam: alpha of the length penalty.")]
_Next = Annotated[
    bool, typer.Option("--next", help="The distribution of the next token, and what sampling makes of it.")
]
_Prefix = Annotated[str | None, typer.Option(help="With --next: the beginning of the output, after which it follows.")]
_At = Annotated[int | None, typer.Option(min=0, help="With --next: after so many tokens of the model's best output.")]
_Bars = Annotated[int, typer.Option(min=1, max=100, help="With --next: how many tokens are shown.")]
_Temperature = Annotated[float | None, typer.Option(min=0, max=100, help="With --next: the temperature of sampling.")]
_TopK = Annotated[int | None, typer.Option(min=1, help="With --next: only so many most probable tokens.")]
_TopP = Annotated[float | None, typer.Option(min=0, max=1, help="With --next: the fewest tokens that reach this.")]
_MinP = Annotated[float | None, typer.Option(min=0, max=1, help="With --next: at least this fraction of the best.")]
_Typical = Annotated[float | None, typer.Option(min=0, max=1, help="With --next: the most typical that reach this.")]
_Overwrite = Annotated[bool, typer.Option("--overwrite", help="Replace the output file.")]

# The options that go with one view alone.
_ATTENTION = ("target", "side", "layer", "head", "heads", "sheet", "lines", "tokens")
_SAMPLING = ("temperature", "top_k", "top_p", "min_p", "typical")
_VIEWS = {"--beam": ("width", "length_penalty"), "--next": ("prefix", "at", "bars", *_SAMPLING)}


def command(
    context: typer.Context,
    model: _Model,
    text: _Text,
    target: _Target = None,
    out: _Out = None,
    side: _Side = "cross",
    layer: _Layer = None,
    head: _Head = None,
    heads: _Heads = None,
    sheet: _Sheet = False,
    lines: _Lines = False,
    tokens: _Tokens = False,
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
    overwrite: _Overwrite = False,
) -> None:
    """Draw what a model looks at while it reads and writes; with --beam or --next, what it may write."""
    view = _view(context, beam, following)
    kind = _kind(out, overwrite)
    if view == "--beam":
        from regard.cli.look_ahead import show_beam

        missing = show_beam(model, text, out, width, length_penalty)
    elif view == "--next":
        from regard.cli.look_ahead import Place, show_next

        steps = {name: context.params[name] for name in _SAMPLING if context.params[name] is not None}
        missing = show_next(model, Place(text, prefix, at), out, steps, bars)
    else:
        asked = _Asked(side, layer, head, heads, sheet, lines, tokens)
        asked.check(kind)
        missing = _show_attention(model, text, target, asked, out)
    if out is not None:
        remark_written(out, missing)


def _view(context: typer.Context, beam: bool, following: bool) -> str:
    """Which view is asked for, "" being that of attention; refuses options of the others."""
    if beam and following:
        raise Fault("--beam shows whole hypotheses and --next a single token; give one of the two.")
    view = "--beam" if beam else "--next" if following else ""
    for name in context.params:
        source = context.get_parameter_source(name)
        if source is None or source.name != "COMMANDLINE":
            continue
        option = f"--{name.replace('_', '-')}"
        if view and name in _ATTENTION:
            raise Fault(f"{option} says what attention to look at; leave it away with {view}.")
        if wanted := next((other for other, own in _VIEWS.items() if name in own and other != view), None):
            raise Fault(f"{option} goes with {wanted}; {'leave it away' if view else 'give that too'}.")
    return view


def _kind(out: Path | None, overwrite: bool) -> str:
    """The kind of file that is asked for, by its suffix; none for the terminal."""
    if out is None:
        return ""
    refuse_folder(out)
    refuse_existing(out, overwrite)
    kind = out.suffix.lower()
    if kind not in (".png", ".svg", ".html", ".json"):
        raise Fault(f"{out} is neither .png, .svg, .html nor .json; the suffix says what to draw.")
    return kind


@dataclass(frozen=True)
class _Asked:
    """What attention to show, and how."""

    side: Literal["cross", "encoder", "decoder"]
    layer: int | None
    head: int | None
    heads: Literal["mean", "max"] | None
    sheet: bool
    lines: bool
    tokens: bool

    def check(self, kind: str) -> None:
        """Refuse options that contradict each other."""
        if self.heads and self.head:
            raise Fault("--head shows one head and --heads joins them all; give one of the two.")
        if self.sheet and (self.layer or self.head):
            raise Fault("--sheet shows every block and head; leave --layer and --head away.")
        if self.sheet and (self.heads or self.lines):
            surplus = "--heads" if self.heads else "--lines"
            raise Fault(f"--sheet shows a matrix for every head; leave {surplus} away.")
        if self.sheet and kind == ".html":
            raise Fault("A page has its sheet already; leave --sheet away.")
        if self.lines and kind not in (".png", ".svg"):
            raise Fault("--lines draws a .png or an .svg; name one with -o.")


def _show_attention(folder: Path, text: str, target: str | None, asked: _Asked, out: Path | None) -> set[str]:
    """Show it in the terminal or in a file; gives the characters that no font here can draw."""
    import json

    from regard.seeing.gazes import see
    from regard.verbs.translate.model import load_translation_model
    from regard.viewing.canvas import shown
    from regard.viewing.matrix import to_json
    from regard.viewing.page import Start

    model = load_translation_model(folder)
    sight = see(model, text, target)
    remark(f"{shown(text)} → {shown(sight.output)}")
    joining = asked.heads or "mean"
    if out is not None and out.suffix.lower() == ".html":
        sight.seen(asked.side).one(asked.layer, asked.head, joining)  # what the page is to show first must be there
        mode: Literal["words", "tokens"] = "tokens" if asked.tokens else "words"
        write_sight(model, sight, Start(asked.side, asked.layer, asked.head or joining, mode), out)
        return set()
    seen = sight.seen(asked.side, by_word=not asked.tokens)
    matrices = seen.every() if asked.sheet else [seen.one(asked.layer, asked.head, joining)]
    if out is None:
        _print(matrices)
    elif out.suffix.lower() == ".json":
        numbers = {"text": text, "output": sight.output, "side": asked.side, **to_json(matrices)}
        write_file(out, (json.dumps(numbers, ensure_ascii=False, indent=1) + "\n").encode())
    else:
        return _draw(matrices, seen.heads if asked.sheet else None, asked.lines, out)
    return set()


def _print(matrices: "list[Matrix]") -> None:
    import sys

    from regard.viewing.terminal import matrix_lines

    for matrix in matrices:
        print("\n".join(matrix_lines(matrix, terminal_width(), wants_colour(sys.stdout))))


def _draw(matrices: "list[Matrix]", across: list[int] | None, lines: bool, out: Path) -> set[str]:
    from regard.viewing.lines import draw_lines
    from regard.viewing.matrix import draw_matrix, draw_sheet

    if across:
        return draw_sheet(matrices, out, across)
    return draw_lines(matrices[0], out) if lines else draw_matrix(matrices[0], out)


def write_sight(model: "TranslationModel", sight: "Sight", start: "Start", out: Path) -> None:
    """The page of all that can be seen of a sentence, without what would make it too large."""
    from regard.seeing.next_token import beam_tree, choices_along
    from regard.viewing.page import MOST_WEIGHTS, Scene, fits, write_page
    from regard.viewing.tree.page import MOST_NODES

    data, target, (written,) = model.recipe.data, model.task.target, sight.outputs
    words, tokens = (sight.every(by_word) for by_word in (True, False))
    if fits(words) and not fits([*words, *tokens]):
        remark(f"The page shows words alone: with the tokens it would have more than {MOST_WEIGHTS:,} weights.")
        tokens = []
    tree = beam_tree(model, sight.text)
    if len(tree.nodes) > MOST_NODES:
        remark(f"The page leaves the beam away: it has more than {MOST_NODES:,} hypotheses.")
    scene = Scene(
        sight.text,
        sight.output,
        words,
        tokens,
        (data.source_language, data.target_language),
        start,
        target.pieces([*written, model.task.end]),
        choices_along(model, sight.text, written),
        tree if len(tree.nodes) <= MOST_NODES else None,
    )
    write_page(scene, out)
