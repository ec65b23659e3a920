"""`regard show attention` and `regard show forward`: inside one head, and from token to logits."""

from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from regard.base.faults import Fault
from regard.commands.show.view import AsJson, Overwrite, View, check_out, show_view
from regard.console import terminal_width

Run = Annotated[
    Path | None, typer.Argument(metavar="[RUN]", help="A Transformer translator, GPT or BERT; otherwise an example.")
]
Text = Annotated[str | None, typer.Option(help="A sentence for the model to read.")]
Target = Annotated[str | None, typer.Option(help="The translation to write; by default the model's own.")]
FormFile = Annotated[
    Path | None,
    typer.Option("-o", "--out", help="A .png, .svg, .html or .json file; otherwise print to the terminal."),
]


def attention(
    model: Run = None,
    text: Text = None,
    target: Target = None,
    side: Annotated[
        Literal["encoder", "decoder", "cross"] | None, typer.Option(help="Attention of a translator; default: encoder.")
    ] = None,
    layer: Annotated[int | None, typer.Option(min=1, help="The block, counted from 1; the first by default.")] = None,
    head: Annotated[int | None, typer.Option(min=1, help="The head, counted from 1; the first by default.")] = None,
    query: Annotated[
        int | None, typer.Option(min=1, help="The token that looks, counted from 1; the last by default.")
    ] = None,
    out: FormFile = None,
    overwrite: Overwrite = False,
    as_json: AsJson = False,
) -> None:
    """Show one attention head step by step.

    From embeddings and positions through queries, keys, values, raw scores, scaling, mask, softmax and weighted values
    to their sum, W_O and the residual. Without a model, three words with round numbers to check by hand; with one, any
    head of a Transformer translator, GPT or BERT. An .html page plays the steps.
    """
    check_out(out, overwrite, has_page=True)
    from regard.seeing.lessons.head_steps import example_steps, trained_steps
    from regard.viewing.head_steps import draw_steps, steps_lines, steps_page, steps_to_json

    if model is None:
        _refuse_options("attention", text=text, target=target, side=side, layer=layer, head=head)
        steps = example_steps(query)
    else:
        sentence = _sentence(text)
        steps = trained_steps(_load(model), sentence, target, side=side, layer=layer or 1, head=head or 1, query=query)
    view = View(
        lambda: steps_to_json(steps),
        lambda path: draw_steps(steps, path),
        lambda: print("\n".join(steps_lines(steps, terminal_width()))),
        lambda: steps_page(steps),
    )
    show_view(view, out, as_json)


def forward(
    model: Run = None,
    text: Text = None,
    target: Target = None,
    query: Annotated[
        int | None,
        typer.Option(min=1, help="The token whose numbers are shown, counted from 1; default: the last, or the mask."),
    ] = None,
    depth: Annotated[
        int, typer.Option(min=1, max=9, help="Levels of the tree to print or draw; pages and .json files have all.")
    ] = 3,
    out: FormFile = None,
    overwrite: Overwrite = False,
    as_json: AsJson = False,
) -> None:
    """Show the whole pass of one sentence, from tokens to logits.

    Every layer with its shape, its norm and its first numbers, and at the end the most probable tokens. Without a
    model, a GPT of width 4 that has just learnt two sentences; with one, a Transformer translator, GPT or BERT. On an
    .html page every block opens and closes.
    """
    check_out(out, overwrite, has_page=True)
    from regard.seeing.lessons.forward import example_pass, forward_pass
    from regard.viewing.forward import draw_forward, forward_lines, forward_page, forward_to_json

    if model is None:
        _refuse_options("forward", text=text, target=target)
        followed = example_pass(query)
    else:
        sentence = _sentence(text)
        followed = forward_pass(_load(model), sentence, target, query)
    view = View(
        lambda: forward_to_json(followed),
        lambda path: draw_forward(followed, path, depth),
        lambda: print("\n".join(forward_lines(followed, depth))),
        lambda: forward_page(followed),
    )
    show_view(view, out, as_json)


def _load(model: Path) -> Any:
    from regard.model import load

    return load(model)


def _sentence(text: str | None) -> str:
    if text is None:
        raise Fault("There is no text to read; give a sentence with --text.")
    return text


def _refuse_options(lesson: str, **options: Any) -> None:
    """Refuse options of a trained model where there is none."""
    for name, value in options.items():
        if value is not None:
            raise Fault(f"--{name} needs a model; name its folder, as in `regard show {lesson} runs/demo --text …`.")
