"""`regard caption`: what each picture shows, in a line of its own."""

from pathlib import Path
from typing import Annotated

import typer

from regard.base.faults import Fault, printable
from regard.base.requests.fields import Held
from regard.console import options, print_json, remark
from regard.console.inputs import names_after_model
from regard.console.option_names import OptionNames
from regard.verbs.caption.request import CaptionRequest


def command(
    model: Annotated[Path, typer.Argument(help="A model folder.")],
    pictures: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="PICTURE",
            help="Files of pictures, GIFs or folders of frames for a model of videos, .npy files with features, or "
            "names of pictures of the model's own data; - or nothing is these names on standard input.",
        ),
    ] = None,
    text: options.NoTexts = None,
    beam: Annotated[
        int | None, typer.Option(min=1, max=64, help="Width of the beam; 1 is greedy. By default the recipe's.")
    ] = None,
    length_penalty: Annotated[float | None, typer.Option(min=0, help="Alpha of the length penalty.")] = None,
    sample: Annotated[bool, typer.Option("--sample", help="Draw captions at random, in place of a search.")] = False,
    temperature: options.Temperature = None,
    top_k: options.TopK = None,
    top_p: options.TopP = None,
    seed: options.Seed = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="One object for each picture, with where every word looked.")
    ] = False,
) -> None:
    """Say what each PICTURE shows, in a line of its own."""
    steps = {"temperature": temperature, "top_k": top_k, "top_p": top_p, "seed": seed}
    drawing = {name: value for name, value in steps.items() if value is not None}
    if drawing and not sample:
        raise Fault(f"--{next(iter(drawing)).replace('_', '-')} would do nothing without --sample.")
    from regard.loading import load_able
    from regard.verbs.caption.run import run

    loaded = load_able(model, "caption")
    named = names_after_model(pictures, text, loaded.recipe)
    if not named:
        return
    given = {"beam": beam, "length_penalty": length_penalty, "sample": drawing if sample else None}
    table = {"pictures": [Held(name) for name in named], "attention": as_json}
    table |= {name: value for name, value in given.items() if value is not None}
    request = CaptionRequest.read(table, OptionNames())
    for name, found in zip(named, run(loaded, request, remark), strict=True):
        if as_json:
            print_json({"file": name, **found.as_dict()}, indent=None)
        else:
            print(printable(found.text), flush=True)
