"""`regard data`: list data sets with their licences, download them, check prepared ones, and filter pairs."""

from pathlib import Path
from typing import Annotated, Any

import typer

from regard.commands.data_filter import command as filter_pairs
from regard.console import console_progress, print_json, say_table
from regard.data.catalogue.entries import Entry, data_folder, entries, find, presence
from regard.data.catalogue.get import get as get_set
from regard.data.catalogue.get import lacking, unverified

app = typer.Typer(add_completion=False, help="List data sets, download them, check prepared data, and filter pairs.")
app.command("filter")(filter_pairs)

_AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]


def _names() -> list[str]:
    return list(entries())


@app.command("list")
def list_sets(as_json: _AsJson = False) -> None:
    """List the data sets with their licences, and which are on this machine.

    Sizes are unpacked. The sets are in the folder that REGARD_DATA names, or else in your cache folder.
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
    """Download data sets, or copy them from a folder.

    This prints the licence, gets the missing files into the data folder, and verifies their checksums. An interrupted
    download continues where it stopped. Files that regard did not write are not changed.
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
            for path, sha256 in unverified(entry).items():
                print(
                    f"  {path} is not verified: the catalogue has no checksum for it; its sha256 is {sha256}",
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
    """Read a whole prepared corpus and compare it with its checksums.

    Opening a corpus verifies only the files that changed since they were last verified. This command verifies all of
    them, and so finds disk errors too.
    """
    from regard.data.corpora.prepared import verify_prepared

    size = verify_prepared(folder)
    print(f"{folder} is intact: {size / 1e6:,.1f} MB match their checksums.")
