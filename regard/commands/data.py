"""`regard data`: which data sets there are, under which licence, and how they come onto this machine."""

from pathlib import Path
from typing import Annotated, Any

import typer

from regard.console import console_progress, print_json, say_table
from regard.data.catalogue.entries import Entry, data_folder, entries, find, presence
from regard.data.catalogue.get import get as get_set
from regard.data.catalogue.get import lacking, unverified

app = typer.Typer(add_completion=False, help="List the data sets and get them; check what was prepared.")

_AsJson = Annotated[bool, typer.Option("--json", help="Print it as JSON.")]


def _names() -> list[str]:
    return list(entries())


@app.command("list")
def list_sets(as_json: _AsJson = False) -> None:
    """List the data sets, their licences and what is here.

    Sizes are of the unpacked content. The sets lie in the folder that REGARD_DATA names, otherwise in your cache.
    """
    if as_json:
        print_json({"folder": str(data_folder()), "sets": [_description(entry) for entry in entries().values()]})
        return
    rows = [
        (entry.name, presence(entry), f"{entry.size / 1e6:.1f} MB", entry.licence, entry.what)
        for entry in entries().values()
    ]
    say_table(["set", "here", "size", "licence", "what it is"], rows)


def _description(entry: Entry) -> dict[str, Any]:
    return {**entry.model_dump(), "size": entry.size, "folder": str(entry.folder), "presence": presence(entry)}


@app.command("get")
def get_sets(
    names: Annotated[list[str], typer.Argument(metavar="NAME", help="The sets to get.", autocompletion=_names)],
    source: Annotated[
        Path | None,
        typer.Option("--from", metavar="DIR", help="Take the files from this folder instead of downloading them."),
    ] = None,
    as_json: _AsJson = False,
) -> None:
    """Get data sets, by download or from a folder.

    The licence is shown, what is missing is brought into the data folder, and the checksums of its content are
    verified. A download that was cut short goes on where it stopped; files that regard did not write are not touched.
    """
    results = []
    for entry in [find(name) for name in names]:
        if not as_json:
            print(f"{entry.name}: {entry.title}\n  licence: {entry.licence}. {entry.terms}", flush=True)
            print(f"  source: {entry.source}", flush=True)
        complete = not lacking(entry)
        if not complete:
            with console_progress() as progress:
                get_set(entry.name, source, progress)
        if not as_json:
            for path, found in unverified(entry).items():
                print(
                    f"  {path} is not verified, for the catalogue has no checksum of it; its sha256 is {found}",
                    flush=True,
                )
            print(f"  {'complete already' if complete else 'now'} in {entry.folder}", flush=True)
        results.append(_description(entry))
    if as_json:
        print_json({"sets": results})


@app.command("check")
def check_corpus(
    folder: Annotated[
        Path,
        typer.Argument(metavar="FOLDER", help="A prepared corpus of pairs: data.prepared, or RUN/training/corpus."),
    ],
) -> None:
    """Read a prepared corpus from end to end and compare it with its checksums.

    Whoever opens a corpus verifies the files that have changed since they were last found whole. This verifies all of
    them, and so finds what only the disk has got wrong.
    """
    from regard.data.corpora.prepared import verify_prepared

    size = verify_prepared(folder)
    print(f"{folder} is whole: {size / 1e6:,.1f} MB are as they were written.")
