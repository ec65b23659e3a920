"""Options of `regard look --examples`, and its view: the training examples whose states are nearest."""

from typing import TYPE_CHECKING, Annotated, Literal

import typer

from regard.console import console_progress

if TYPE_CHECKING:
    from regard.loading import Loaded
    from regard.viewing.view import View

Examples = Annotated[
    int | None,
    typer.Option(min=1, max=50, metavar="N", help="List the N training examples whose states are nearest."),
]
States = Annotated[
    Literal["encoder", "decoder"] | None,
    typer.Option(
        help="With --examples, for translators: compare words read by the encoder, or tokens written by the decoder "
        "(the default)."
    ),
]
By = Annotated[Literal["cosine", "l2"], typer.Option(help="With --examples: how states are compared.")]
FromLines = Annotated[
    int, typer.Option(min=1, max=1_000_000, help="With --examples: most training texts to compare with.")
]
OPTIONS = ("at", "target", "states", "by", "from_lines")  # options that go with --examples


def refuse_without_states(model: "Loaded", view: str) -> None:
    """Refuse a view of states for a model without vectors of tokens."""
    from regard.families.abilities import needs_kind

    kinds = "translators, language models, masked models and text classifiers"
    needs_kind(model.recipe, "embed", f"{view} is for models with a vector for each token: {kinds}")


def view_examples(context: typer.Context, model: "Loaded", text: str) -> "View":
    """Return the training examples nearest to a text, and report progress on the way."""
    from regard.verbs.look.run import look_examples

    params = context.params
    chosen = {name: params[name] for name in OPTIONS}
    with console_progress() as progress:
        return look_examples(model, text, params["examples"], **chosen, progress=progress)
