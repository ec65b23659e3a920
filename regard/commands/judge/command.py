"""`regard judge`: a page on which people judge two outputs blind, and a report on their votes."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from regard.base.faults import Fault
from regard.base.figures import quantity
from regard.console import print_json, remark, say_table

if TYPE_CHECKING:
    from regard.serving.judging.comparison import Comparison
    from regard.serving.judging.votes import VotesFile

_OUTPUTS = "A text file with one output a line, a folder of pictures or sounds, a model folder"
_Person = Annotated[
    Literal["A", "B"] | None,
    typer.Option(
        case_sensitive=False, help="The side that a person made; the report then has M1 or, with --turing, M2."
    ),
]


def command(
    a: Annotated[str | None, typer.Argument(metavar="A", help=f"{_OUTPUTS}, or `reference`.")] = None,
    b: Annotated[str | None, typer.Argument(metavar="B", help="The outputs to compare them with, likewise.")] = None,
    source: Annotated[
        Path | None,
        typer.Option(
            help="What the outputs belong to: a text file, one source a line, or a folder of pictures or sounds."
        ),
    ] = None,
    split: Annotated[
        Literal["test", "valid"] | None, typer.Option(help="For models: a split of their data; test by default.")
    ] = None,
    person: _Person = None,
    turing: Annotated[
        bool, typer.Option("--turing", help="Ask which output a person made, not which is better.")
    ] = False,
    count: Annotated[
        int | None, typer.Option(min=1, help="Number of items to judge, chosen at random; all by default.")
    ] = None,
    votes: Annotated[
        Path | None, typer.Option(help="File for the votes, one JSON object a line.", show_default="votes.jsonl")
    ] = None,
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port of the page; 0 picks a free one.")] = 5001,
    report: Annotated[Path | None, typer.Option(help="Report on a file of votes instead of asking for more.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Machine-readable report.")] = False,
) -> None:
    """Let people judge the outputs A and B on a page that does not say which is which."""
    if report is not None:
        others = {"A": a, "--source": source, "--split": split, "--person": person, "--count": count, "--votes": votes}
        others["--turing"] = turing or None
        if given := [name for name, value in others.items() if value is not None]:
            raise Fault(f"--report reads votes that were given; omit {given[0]}.")
        _report(report, as_json)
        return
    if as_json:
        raise Fault("--json is for --report.")
    if a is None or b is None:
        raise Fault("Name two outputs to compare, A and B, or a file of votes with --report.")
    from regard.commands.judge.gathering import JudgeRequest, gather

    side: Literal["a", "b"] | None = None if person is None else "a" if person == "A" else "b"
    question: Literal["better", "person"] = "person" if turing else "better"
    comparison = gather(JudgeRequest(a, b, source, split, side, question, count))
    if same := sum(item.a == item.b for item in comparison.items):
        remark(f"{same:,} of {quantity(len(comparison.items), 'item')} have the same output on both sides.")
    from regard.serving.judging.votes import VotesFile

    file = VotesFile(votes or Path("votes.jsonl"), comparison)
    _serve(comparison, file, port)


def _report(path: Path, as_json: bool) -> None:
    from regard.commands.judge.report import as_dict, notes, table
    from regard.serving.judging.votes import read_votes

    read = read_votes(path)
    if not read.votes:
        raise Fault(f"{path} has no votes yet.")
    if as_json:
        print_json(as_dict(read))
        return
    say_table(*table(read))
    for note in notes(read):
        remark(note)


def _serve(comparison: "Comparison", votes: "VotesFile", port: int) -> None:
    """Serve the page on this machine until Ctrl-C."""
    import secrets

    from regard.serving.http.server import address_of, bind, serve
    from regard.serving.judging.app import judging_app

    token = secrets.token_urlsafe(16)
    listener = bind("127.0.0.1", port)
    page = f"{address_of(listener)}/{token}/"
    ready = f"regard: {len(comparison.items):,} to judge at {page}\nregard: votes go to {votes.path}; Ctrl-C ends."
    app = judging_app(comparison, votes, token, lambda sentence: remark(f"regard: {sentence}"))
    try:
        serve(app, listener, app.options.limits.seconds, lambda: remark(ready))
    finally:
        listener.close()
