"""Folders of parallel text files, as mtdata, OpusCleaner and OpusFilter leave them: NAME.eng.gz and NAME.deu.gz."""

from collections.abc import Sequence
from pathlib import Path

from regard.base.faults import Fault
from regard.data.catalogue.unpack import bare

_OF_MTDATA = "mtdata.signature.txt"  # marks a folder with training, validation and test text


def parallel_files(folder: Path, endings: Sequence[str]) -> list[tuple[Path, Path]]:
    """Return the two files of each text in a folder, by their endings (before any packing suffix)."""
    if (folder / _OF_MTDATA).is_file():
        raise Fault(
            f"{folder} was made by mtdata and holds training and test text; name {folder}/train-parts, or two "
            f"files such as {folder}/train.{endings[0]}."
        )
    sources, targets = (_by_text(folder, ending) for ending in endings)
    for text in sources.keys() ^ targets.keys():
        there, missing = endings if text in sources else endings[::-1]
        raise Fault(f"{folder} has {text}.{there} but no {text}.{missing}; each text needs both sides.")
    if not sources:
        raise Fault(f"{folder} has no files that end in .{endings[0]} and .{endings[1]}, packed or not.")
    return [(sources[text], targets[text]) for text in sorted(sources)]


def _by_text(folder: Path, ending: str) -> dict[str, Path]:
    """Return the files of one side by the names of their texts."""
    files = sorted(path for path in folder.iterdir() if path.is_file() and bare(path.name).endswith(f".{ending}"))
    by_text: dict[str, Path] = {}
    for file in files:
        text = bare(file.name).removesuffix(f".{ending}")
        if text in by_text:
            raise Fault(f"{folder} has {by_text[text].name} and {file.name}, which are the same text; remove one.")
        by_text[text] = file
    return by_text
