"""Questions for word vectors: analogies in sections, and word pairs with human ratings."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from regard.base.faults import Fault
from regard.data.lines import read_lines

Analogy = tuple[str, str, str, str]  # the first is to the second as the third is to the fourth


@dataclass(frozen=True)
class Section:
    """Analogies of one kind, such as capitals of countries."""

    name: str
    analogies: list[Analogy]


@dataclass(frozen=True)
class JudgedPair:
    """Two words and their human similarity rating; only the order of ratings counts, whatever their scale."""

    first: str
    second: str
    judgement: float


def read_analogies(path: Path) -> list[Section]:
    """Read the sections of a file like word2vec's questions-words.txt: ': name', then four words per line."""
    sections: list[Section] = []
    for number, line in _filled_lines(path):
        if line.startswith(":"):
            sections.append(Section(line.lstrip(":").strip(), []))
            continue
        words = line.split()
        if len(words) != 4:
            raise Fault(f"{path}, line {number}: an analogy needs four words, but this line has {len(words)}.")
        if not sections:
            sections.append(Section(path.name, []))
        a, b, c, d = words
        sections[-1].analogies.append((a, b, c, d))
    filled = [section for section in sections if section.analogies]
    if not filled:
        raise Fault(f"{path} holds no analogies.")
    return filled


def read_judged_pairs(path: Path) -> list[JudgedPair]:
    """Read the pairs of a file with tab-separated columns: two words and a rating, which is the last column.

    A fourth column of single letters, the first as in LX-WordSim-353 or the third as in LX-SimLex-999, gives the kind
    of a pair. Lines with # are comments, and a first line without a number names the columns.
    """
    rows: list[list[str]] = []
    for number, line in _filled_lines(path):
        if line.startswith("#"):
            continue
        cells = [cell.strip() for cell in (line.split("\t") if "\t" in line else line.split())]
        if not rows and not _is_number(cells[-1]):
            continue
        if len(cells) not in (3, 4) or not _is_number(cells[-1]):
            raise Fault(f"{path}, line {number}: a line must hold two words and a number, separated by tabs.")
        rows.append(cells)
    if not rows:
        raise Fault(f"{path} holds no word pairs with ratings.")
    sort_is_first = all(len(cells) == 4 and len(cells[0]) == 1 for cells in rows)
    place = 1 if sort_is_first else 0
    return [JudgedPair(cells[place], cells[place + 1], float(cells[-1])) for cells in rows]


def _filled_lines(path: Path) -> Iterator[tuple[int, str]]:
    for number, line in enumerate(read_lines(path), 1):
        if line.strip():
            yield number, line.strip()


def _is_number(cell: str) -> bool:
    try:
        return abs(float(cell)) < float("inf")
    except ValueError:
        return False
