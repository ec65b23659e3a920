"""`regard speak`: speak a text into a sound file."""

from pathlib import Path
from typing import Annotated

import typer

from regard.base.faults import Fault, TextFault
from regard.console import options, refuse_existing, refuse_folder, remark, remark_written
from regard.console.inputs import inputs_after_model, one_text


def command(
    model: Annotated[Path, typer.Argument(help="A model folder.")],
    inputs: options.OneInput = None,
    text: Annotated[str | None, typer.Option(metavar="TEXT", help="The text to speak.")] = None,
    out: Annotated[Path | None, typer.Option("-o", "--out", help="The .wav file for the sound.")] = None,
    speaker: Annotated[str | None, typer.Option(help="The speaker; by default the first that the model knows.")] = None,
    seconds: Annotated[
        float | None,
        typer.Option(help="Cut a sound that has not ended after this many seconds (1, plus 0.5 per letter)."),
    ] = None,
    rounds: Annotated[
        int | None, typer.Option(help="Rounds of Griffin-Lim, which reconstructs the phases of the sound (60).")
    ] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace the output file.")] = False,
) -> None:
    """Speak a text and write it to a .wav file."""
    sources = inputs_after_model(inputs, text)
    if not sources:
        raise Fault('There is nothing to speak; give a text, as in --text "3 1 4".')
    if out is None:
        raise Fault("A sound is written to a file; name one, as in -o sound.wav.")
    if out.suffix.lower() != ".wav":
        raise Fault(f"{out} does not end in .wav, the format of sounds.")
    refuse_folder(out)
    refuse_existing(out, overwrite)
    from regard.console.option_names import OptionNames
    from regard.verbs.speak.request import SpeakRequest

    options_by_name = {"speaker": speaker, "seconds": seconds, "rounds": rounds}
    fields = {name: value for name, value in options_by_name.items() if value is not None}
    request = SpeakRequest.read({"text": [one_text(sources)], **fields}, OptionNames())
    from regard.base.files import write_file
    from regard.loading import load_able
    from regard.verbs.speak.run import speak_each

    loaded = load_able(model, "speak")
    try:
        (sound,) = speak_each(loaded.task, request)
    except TextFault as fault:
        raise fault.without_number() from None
    write_file(out, sound.as_wav())
    remark(f"{sound.speaker} speaks for {sound.seconds:.2f} seconds.")
    if not sound.ended:
        remark("The sound had not ended and was cut there; --seconds sets how long it may last.")
    remark_written(out)
