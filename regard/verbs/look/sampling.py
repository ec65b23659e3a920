"""Options of `regard look --next` that change the distribution of the next token, and the length penalty of --beam."""

from typing import Annotated

import typer

Temperature = Annotated[float | None, typer.Option(min=0, max=100, help="With --next: sampling temperature.")]
TopK = Annotated[int | None, typer.Option(min=1, help="With --next: keep the K most probable tokens.")]
TopP = Annotated[
    float | None,
    typer.Option(help="With --next: keep the fewest tokens that add up to this probability, above 0 and up to 1."),
]
MinP = Annotated[
    float | None,
    typer.Option(
        min=0, max=1, help="With --next: keep tokens with at least this fraction of the best one's probability."
    ),
]
Typical = Annotated[
    float | None,
    typer.Option(
        help="With --next: keep the most typical tokens that add up to this probability, above 0 and up to 1."
    ),
]

SAMPLING = ("temperature", "top_k", "top_p", "min_p", "typical")  # names of these options


def steps_of(context: typer.Context) -> dict[str, float]:
    """Return the sampling options on the command line; refuse values that have no meaning."""
    from regard.base.recipe import check
    from regard.console.option_names import OptionNames
    from regard.decoding.options import SamplingOptions

    steps = {name: context.params[name] for name in SAMPLING if context.params[name] is not None}
    check(SamplingOptions, dict(steps), name_place=OptionNames().place)
    return steps


def check_penalty(penalty: float | None) -> None:
    """Refuse a length penalty of --beam that is not a finite number."""
    from regard.base.recipe import check
    from regard.console.option_names import OptionNames
    from regard.decoding.options import DecodingOptions

    if penalty is not None:
        check(DecodingOptions, {"length_penalty": penalty}, name_place=OptionNames().place)
