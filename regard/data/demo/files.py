"""Write the demo corpora to files: sentences line by line, links in Pharaoh's format, roles as JSON lines."""

import json
from collections.abc import Sequence
from pathlib import Path

from regard.base.faults import Fault
from regard.base.files import naming, write_file
from regard.data.demo.corpus import SPLITS, LinkedPair, linked_pairs


def write_corpus(folder: Path, corpus: str, languages: Sequence[str], overwrite: bool) -> list[Path]:
    """Write a corpus with its links into a folder; refuse to replace existing files unless `overwrite` is True.

    Each split has four files: `train.en`, `train.pt` (or `train.ru`), `train.links` and `train.roles.jsonl`.
    """
    endings = [*languages, "links", "roles.jsonl"]
    files = [folder / f"{split}.{ending}" for split in SPLITS for ending in endings]
    if not overwrite and (existing := [file for file in files if file.exists()]):
        raise Fault(f"{existing[0]} exists already; give --overwrite to replace it.")
    with naming(folder):
        folder.mkdir(parents=True, exist_ok=True)
    for split in SPLITS:
        columns = zip(*(_lines(pair) for pair in linked_pairs(split, corpus)), strict=True)
        for ending, lines in zip(endings, columns, strict=True):
            write_file(folder / f"{split}.{ending}", "".join(f"{line}\n" for line in lines).encode())
    return files


def _lines(pair: LinkedPair) -> tuple[str, str, str, str]:
    """Return a line for each of the four files."""
    roles = json.dumps({"source": pair.source_roles, "target": pair.target_roles}, ensure_ascii=False)
    return pair.source, pair.target, str(pair.links), roles
