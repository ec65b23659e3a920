"""`regard transcribe`: what each sound says, in a line of its own."""

from pathlib import Path
from typing import Annotated

import typer

from regard.base.faults import Fault, printable
from regard.base.requests.fields import Held
from regard.console import options, print_json
from regard.console.inputs import names_after_model
from regard.console.option_names import OptionNames
from regard.verbs.transcribe.request import TranscribeRequest


def command(
    model: Annotated[Path, typer.Argument(help="A model folder.")],
    sounds: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="SOUND",
            help="Files of sounds, wav or flac; - or nothing is their names on standard input.",
        ),
    ] = None,
    text: options.NoTexts = None,
    beam: Annotated[
        int | None,
        typer.Option(min=1, max=1024, help="Prefixes that a search keeps; else the most probable symbol a frame."),
    ] = None,
    fuse: Annotated[
        Path | None,
        typer.Option(help="A language model of the same symbols, which has its say in the search.", metavar="LM"),
    ] = None,
    fuse_weight: Annotated[
        float | None, typer.Option(help="How much that language model counts (0.5).", min=0, max=1e6)
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="One object for each sound, with the seconds of each symbol.")
    ] = False,
) -> None:
    """Write down what each SOUND says, in a line of its own; any rate and number of channels will do."""
    from regard.loading import load_able
    from regard.verbs.opening import model_in
    from regard.verbs.transcribe.run import run

    if fuse is None and fuse_weight is not None:
        raise Fault("--fuse-weight would do nothing without --fuse.")
    loaded = load_able(model, "transcribe")
    given = {"beam": beam, "fuse": fuse and Held(model_in(fuse)), "fuse_weight": fuse_weight}
    named = names_after_model(sounds, text, loaded.recipe)
    if not named:
        return
    table = {"sounds": [Held(name) for name in named]} | {
        name: value for name, value in given.items() if value is not None
    }
    request = TranscribeRequest.read(table, OptionNames())
    for name, found in zip(named, run(loaded, request), strict=True):
        if as_json:
            print_json({"file": name, **found.as_dict()}, indent=None)
        else:
            print(printable(found.text), flush=True)
