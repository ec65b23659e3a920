"""`regard distil`: train a small model to give what a larger one gives."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from regard.base.faults import Fault
from regard.console import console_progress, print_json, remark, say_table

if TYPE_CHECKING:
    from regard.runs.distil.subjects import Report

_Teachers = Annotated[
    list[Path],
    typer.Argument(metavar="TEACHER", help="Model folders of one task with the same tokens; several teach as one."),
]
_Text = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="Sentences to teach, one per line; for translators also a table of pairs (.tsv, .csv, .jsonl).",
        show_default="the teacher's training text",
    ),
]
_Reference = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Translations of --text by people, line by line, for nearest.")
]
_Student = Annotated[
    Literal["base", "tiny", "micro", "lstm", "gru", "ngram"],
    typer.Option(
        help="Size: at most a quarter, a tenth or a twentieth of the teacher's parameters. Of language models also an "
        "LSTM or GRU of a quarter, or n-grams."
    ),
]
_Decoder = Annotated[
    Literal["attention", "ssru", "gru"],
    typer.Option(help="What the decoder remembers its output by: attention to all of it, or a recurrent cell."),
]
_Int8 = Annotated[
    bool, typer.Option("--int8", help="Train with weights and states rounded as 8-bit engines round them.")
]
_Targets = Annotated[
    Literal["best", "n-best", "nearest", "reference"],
    typer.Option(
        help="What to learn: the teacher's best output, its N best, that of N nearest to the reference, or the "
        "reference itself."
    ),
]
_N = Annotated[
    int | None,
    typer.Option("--n", min=2, max=64, help="Outputs of the teacher for n-best and nearest.", show_default="4"),
]
_Words = Annotated[
    float,
    typer.Option(min=0, max=1, help="Share of the teacher's distribution over each word in the loss; 0 is off."),
]
_Temperature = Annotated[
    float | None,
    typer.Option(min=0.01, max=100, help="With --words: temperature of the distributions.", show_default="1"),
]
_Tokens = Annotated[
    int | None,
    typer.Option(
        min=0,
        help="Tokens that language models write, for the student to learn next to the text.",
        show_default="as many as the text has",
    ),
]
_Out = Annotated[Path | None, typer.Option("-o", "--out", help="Folder for the student and what it is taught.")]
_Beam = Annotated[int | None, typer.Option(min=1, max=64, help="Beam size of the teacher.")]
_Settings = Annotated[
    list[str] | None, typer.Option("--set", metavar="NAME=VALUE", help="Change the recipe: training.steps=200.")
]
_Minutes = Annotated[float | None, typer.Option(min=0, help="Plan the training to finish in this many minutes.")]
_Workers = Annotated[
    int | None,
    typer.Option(min=1, max=1024, help="Processes that translate.", show_default="one per core, or 1 with a GPU"),
]


def command(
    teachers: _Teachers,
    out: _Out = None,
    text: _Text = None,
    reference: _Reference = None,
    student: _Student = "base",
    decoder: _Decoder = "attention",
    int8: _Int8 = False,
    targets: _Targets = "best",
    n: _N = None,
    beam: _Beam = None,
    words: _Words = 0.0,
    temperature: _Temperature = None,
    tokens: _Tokens = None,
    settings: _Settings = None,
    seed: Annotated[int | None, typer.Option(min=0, help="Random seed.")] = None,
    minutes: _Minutes = None,
    workers: _Workers = None,
    resume: Annotated[bool, typer.Option("--resume", help="Continue where the same command was stopped.")] = False,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace the run in --out.")] = False,
    report: Annotated[bool, typer.Option("--report", help="Measure again a student that is already there.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Machine-readable output.")] = False,
) -> None:
    """Distil TEACHER into a smaller, faster student, and report on both: scores, size, speed and attention.

    The teacher translates the text, writes more of it, tags it or captions its pictures, and the student learns this as
    an ordinary run does.
    """
    from regard.runs.distil.request import DistilRequest, open_teachers
    from regard.runs.distil.run import distil
    from regard.runs.distil.subjects import subject_of
    from regard.runs.start import console_audience

    if report:
        _report_again(teachers, out, as_json)
        return
    if out is None:
        raise Fault("Name a folder for the student with -o.")
    changes = [*(settings or []), *([f"seed={seed}"] if seed is not None else [])]
    how = student, decoder, int8, targets, n, beam, words, temperature, tokens
    request = DistilRequest(teachers, out, text, reference, *how, changes, minutes, workers, resume, overwrite)
    run, measured = distil(request, console_audience())
    if run.interrupted:
        raise typer.Exit(130)
    if measured is not None:
        _say(measured, as_json)
        example = subject_of(open_teachers(teachers)[0]).example.format(out)
        remark(f"The student is in {out}; try: regard {example}")


def _report_again(folders: list[Path], out: Path | None, as_json: bool) -> None:
    from regard.runs.distil.run import report_on

    if len(folders) != 1 or out is not None:
        raise Fault("--report measures one student again; name its folder alone: regard distil RUN --report.")
    with console_progress() as progress:
        _say(report_on(folders[0], progress, remark), as_json)


def _say(report: "Report", as_json: bool) -> None:
    if as_json:
        print_json(report.as_dict())
        return
    say_table(report.columns, report.table())
    for note in report.notes():
        remark(note)
