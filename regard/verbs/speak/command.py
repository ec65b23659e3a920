"""`regard speak`: a text goes in, and a sound comes out in which someone says it."""

from pathlib import Path
from typing import Annotated

import typer

from regard.base.faults import Fault, TextFault
from regard.console import options, refuse_existing, refuse_folder, remark, remark_written
from regard.console.inputs import inputs_after_model, one_text


def command(
    model: Annotated[Path, typer.Argument(help="A model folder.")],
    inputs: options.OneInput = None,
    text: Annotated[str | None, typer.Option(metavar="TEXT", help="What is to be said.")] = None,
    out: Annotated[Path | None, typer.Option("-o", "--out", help="The .wav file for the sound.")] = None,
    speaker: Annotated[
        str | None, typer.Option(help="Who is to speak; by default the first that the model knows.")
    ] = None,
    seconds: Annotated[
        float | None,
        typer.Option(
            help="After how many seconds a sound is cut that does not end by itself (1, and 0.5 for each letter)."
        ),
    ] = None,
    rounds: Annotated[int | None, typer.Option(help="How often the phases of the sound are mended (60).")] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace the output file.")] = False,
) -> None:
    """Write a sound in which a text is said."""
    sources = inputs_after_model(inputs, text)
    if not sources:
        raise Fault('There is nothing to speak; give a text, as --text "3 1 4".')
    if out is None:
        raise Fault("A sound is written to a file; name one, as in -o sound.wav.")
    if out.suffix.lower() != ".wav":
        raise Fault(f"{out} does not end in .wav, the format in which sounds are written.")
    refuse_folder(out)
    refuse_existing(out, overwrite)
    from regard.console.option_names import OptionNames
    from regard.verbs.speak.request import SpeakRequest

    named = {"speaker": speaker, "seconds": seconds, "rounds": rounds}
    given = {name: value for name, value in named.items() if value is not None}
    request = SpeakRequest.read({"text": [one_text(sources)], **given}, OptionNames())
    from regard.base.files import write_file
    from regard.loading import load_able
    from regard.verbs.speak.run import speak_each

    loaded = load_able(model, "speak")
    try:
        (spoken,) = speak_each(loaded.task, request)
    except TextFault as fault:
        raise fault.without_number() from None
    write_file(out, spoken.as_wav())
    remark(f"{spoken.speaker} says it in {spoken.seconds:.2f} seconds.")
    if not spoken.ended:
        remark("It did not end by itself and was cut there; --seconds says how long it may last.")
    remark_written(out)
