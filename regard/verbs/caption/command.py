"""`regard caption`: describe each picture on one line."""

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
            help="Picture files, GIFs or folders of frames for a video model, .npy files of features, or names of "
            "pictures in the model's own data; - or nothing reads the names from standard input.",
        ),
    ] = None,
    text: options.NoTexts = None,
    beam: Annotated[
        int | None, typer.Option(min=1, max=64, help="Beam size; 1 is greedy search. By default the recipe's.")
    ] = None,
    length_penalty: Annotated[float | None, typer.Option(min=0, help="Length penalty alpha; 0 is none.")] = None,
    sample: Annotated[bool, typer.Option("--sample", help="Sample captions at random instead of searching.")] = False,
    temperature: options.Temperature = None,
    top_k: options.TopK = None,
    top_p: options.TopP = None,
    seed: options.Seed = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print a JSON object for each picture, with the attention of each word.")
    ] = False,
) -> None:
    """Describe each PICTURE on one line."""
    steps = {"temperature": temperature, "top_k": top_k, "top_p": top_p, "seed": seed}
    drawing = {name: value for name, value in steps.items() if value is not None}
    if drawing and not sample:
        raise Fault(f"--{next(iter(drawing)).replace('_', '-')} has no effect without --sample.")
    from regard.loading import load_able
    from regard.verbs.caption.run import run

    loaded = load_able(model, "caption")
    names = names_after_model(pictures, text, loaded.recipe)
    if not names:
        return
    settings = {"beam": beam, "length_penalty": length_penalty, "sample": drawing if sample else None}
    table = {"pictures": [Held(name) for name in names], "attention": as_json}
    table |= {name: value for name, value in settings.items() if value is not None}
    request = CaptionRequest.read(table, OptionNames())
    for name, caption in zip(names, run(loaded, request, remark), strict=True):
        if as_json:
            print_json({"file": name, **caption.as_dict()}, indent=None)
        else:
            print(printable(caption.text), flush=True)
