"""`regard back-translate`: make training pairs from text of the target language."""

from pathlib import Path
from typing import Annotated

import typer

from regard.console import console_progress, options, refuse_folder, remark

Sample = Annotated[
    bool, typer.Option("--sample", help="Sample sources instead of searching for them: more varied, less exact.")
]
Noise = Annotated[bool, typer.Option("--noise", help="Drop, blank and shuffle words of the sources.")]


def command(
    model: Annotated[Path, typer.Argument(help="A translator from the target language into the source language.")],
    file: Annotated[Path, typer.Argument(help="Text of the target language, a sentence on each line.")],
    out: Annotated[Path, typer.Option("-o", "--out", metavar="OUT.tsv", help="File for the pairs.")],
    beam: options.Beam = None,
    sample: Sample = False,
    top_k: options.TopK = None,
    noise: Noise = False,
    seed: Annotated[int | None, typer.Option(min=0, help="Random seed of samples and noise.", show_default="0")] = None,
    precision: options.Precision = "float32",
    workers: options.Workers = None,
    resume: Annotated[bool, typer.Option("--resume", help="Continue where the same command was stopped.")] = False,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace the output file.")] = False,
) -> None:
    """Translate text of the target language back into the source language, as pairs to train on.

    Each line of the output has the machine's text, a tab, and the line of FILE. Train on it with `regard train --pairs
    REAL.tsv --mono FILE --back MODEL`, which does both, or name it in data.train with tagged = true.
    """
    from regard.runs.mono.back_translating import back_translate, writing_of

    writing = writing_of(beam=beam, sample=sample, top_k=top_k or None, noise=noise, seed=seed, precision=precision)
    refuse_folder(out)
    with console_progress() as progress:
        report = back_translate(
            model, file, out, writing, workers or 1, resume=resume, overwrite=overwrite, progress=progress
        )
    remark(f"{out}: {report}")
