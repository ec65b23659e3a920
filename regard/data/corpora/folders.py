"""Folders of parallel text files, as mtdata, OpusCleaner and OpusFilter leave them: NAME.eng.gz beside NAME.deu.gz."""

from collections.abc import Sequence
from pathlib import Path

from regard.base.faults import Fault
from regard.data.catalogue.unpack import bare

_OF_MTDATA = "mtdata.signature.txt"  # in a folder whose text is to learn from, to validate and to test with


def parallel_files(folder: Path, endings: Sequence[str]) -> list[tuple[Path, Path]]:
    """The files of both sides of each text in a folder, by the endings that their names have but for their packing."""
    if (folder / _OF_MTDATA).is_file():
        raise Fault(
            f"{folder} was made by mtdata and holds text to learn from beside text to test with; "
            f"name {folder}/train-parts, or two files such as {folder}/train.{endings[0]}."
        )
    sources, targets = (_by_text(folder, ending) for ending in endings)
    for text in sources.keys() ^ targets.keys():
        there, missing = endings if text in sources else endings[::-1]
        raise Fault(f"{folder} has {text}.{there} and no {text}.{missing}; each text needs both sides.")
    if not sources:
        raise Fault(f"{folder} has no files that end in .{endings[0]} and .{endings[1]}, packed or not.")
    return [(sources[text], targets[text]) for text in sorted(sources)]


def _by_text(folder: Path, ending: str) -> dict[str, Path]:
    """The files of one side by the names of their texts."""
    files = sorted(path for path in folder.iterdir() if path.is_file() and bare(path.name).endswith(f".{ending}"))
    found: dict[str, Path] = {}
    for file in files:
        text = bare(file.name).removesuffix(f".{ending}")
        if text in found:
            raise Fault(f"{folder} has {found[text].name} and {file.name}, which would be the same text twice.")
        found[text] = file
    return found
