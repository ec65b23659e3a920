"""`regard transcribe`: transcribe each sound on one line."""

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
            help="Sound files, wav or flac; - or nothing reads their names from standard input.",
        ),
    ] = None,
    text: options.NoTexts = None,
    beam: Annotated[
        int | None,
        typer.Option(
            min=1, max=1024, help="Beam size: prefixes that the search keeps. By default the best symbol of each frame."
        ),
    ] = None,
    fuse: Annotated[
        Path | None,
        typer.Option(help="A language model with the same symbols, mixed in at each step (fusion).", metavar="LM"),
    ] = None,
    fuse_weight: Annotated[float | None, typer.Option(help="Weight of the --fuse model (0.5).", min=0, max=1e6)] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print a JSON object for each sound, with the times of each symbol.")
    ] = False,
) -> None:
    """Transcribe each SOUND on one line; any sample rate and number of channels will do."""
    from regard.loading import load_able
    from regard.verbs.opening import model_in
    from regard.verbs.transcribe.run import run

    if fuse is None and fuse_weight is not None:
        raise Fault("--fuse-weight has no effect without --fuse.")
    loaded = load_able(model, "transcribe")
    settings = {"beam": beam, "fuse": fuse and Held(model_in(fuse)), "fuse_weight": fuse_weight}
    names = names_after_model(sounds, text, loaded.recipe)
    if not names:
        return
    table = {"sounds": [Held(name) for name in names]} | {
        name: value for name, value in settings.items() if value is not None
    }
    request = TranscribeRequest.read(table, OptionNames())
    for name, transcript in zip(names, run(loaded, request), strict=True):
        if as_json:
            print_json({"file": name, **transcript.as_dict()}, indent=None)
        else:
            print(printable(transcript.text), flush=True)
