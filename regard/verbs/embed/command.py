"""`regard embed`: write the vectors of texts and their tokens, in every layer of a model."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated

import typer

from regard.base.faults import Fault, TextFault
from regard.base.progress import Progress
from regard.console import console_progress, options, refuse_existing, refuse_folder, remark, remark_written
from regard.console.inputs import inputs_after_model, or_standard_input
from regard.console.lines import TextInput


def command(
    model: Annotated[Path, typer.Argument(help="A model folder.")],
    inputs: options.Inputs = None,
    text: options.Texts = None,
    out: Annotated[Path | None, typer.Option("-o", "--out", help="The .npz file for the vectors.")] = None,
    layer: Annotated[
        int | None, typer.Option(min=0, help="The layer; 0 is the plain embedding. By default all layers.")
    ] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace the output file.")] = False,
) -> None:
    """Write the vectors of every line and its tokens as arrays for numpy.load."""
    if out is None:
        raise Fault("Vectors go into a file; name one, as in -o vectors.npz.")
    if out.suffix.lower() != ".npz":
        raise Fault(f"{out} does not end in .npz, the format of vectors.")
    refuse_folder(out)
    refuse_existing(out, overwrite)
    sources = or_standard_input(inputs_after_model(inputs, text))
    from regard.loading import load_able
    from regard.verbs.embed.archive import write_vectors
    from regard.verbs.embed.run import embed_each

    loaded = load_able(model, "embed")
    try:
        with console_progress() as progress:
            tokens = write_vectors(out, embed_each(loaded.task, _counted(sources, progress), layer))
    except TextFault as fault:
        raise Fault(f"Line {fault.number + 1}: {fault.sentence}") from None
    remark(f"The vectors of {tokens:,} token{'' if tokens == 1 else 's'}.")
    remark_written(out)


def _counted(sources: Sequence[TextInput], progress: Progress) -> Iterator[str]:
    """Yield the lines and report progress."""
    counts = [source.count() for source in sources]
    total = None if None in counts else sum(filter(None, counts))
    for number, line in enumerate((line for source in sources for line in source.lines()), 1):
        progress("embedding", number, total)
        yield line
