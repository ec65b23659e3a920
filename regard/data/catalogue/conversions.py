"""Make files of data sets from members of public archives: whole corpora in one file, one sentence per line.

Each conversion takes the members that the catalogue names, sorted by name, and yields the content of the file.
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from io import BytesIO
from pathlib import Path, PurePosixPath

import numpy as np
from PIL import Image

from regard.data.catalogue.unpack import archive_members

_MOST_BYTES = 1 << 28  # the catalogue has the archive's checksum, so this only limits our own mistakes
_ENDS = ("._.", "?_?", "!_!")
_FINER = 3  # pixels per side that are averaged into one

_Members = Iterable[tuple[str, bytes]]  # path inside the archive's folder, and content


def make_from_archives(archives: Sequence[Path], members: str, conversion: str, target: Path) -> None:
    """Write what a conversion makes of the archive members whose whole path matches the regular expression `members`.

    A member that is in several archives is used once.
    """
    pattern = re.compile(members)
    all_members = (member for archive in archives for member in archive_members(archive, _MOST_BYTES))
    contents = {name: stream.read() for name, stream in all_members if pattern.fullmatch(name)}
    with target.open("wb") as file:
        file.writelines(CONVERSIONS[conversion](sorted(contents.items())))


def _as_they_are(members: _Members) -> Iterator[bytes]:
    return (content for _, content in members)


def _words_before_slashes(members: _Members) -> Iterator[bytes]:
    """Convert the Brown corpus: `The/at jury/nn` becomes `The jury`; lines are sentences, empty ones are dropped."""
    for _, content in members:
        for line in content.splitlines():
            if words := [token.rpartition(b"/")[0] for token in line.split()]:
                yield b" ".join(words) + b"\n"


def _tagged_sentences(members: _Members) -> Iterator[bytes]:
    """Convert Mac-Morpho: one `word_TAG` per line in ISO-8859-1; an empty line or `. ? !` ends a sentence."""
    for _, content in members:
        sentence: list[str] = []
        for line in [*content.decode("latin-1").split("\n"), ""]:
            token = line.strip()
            if token:
                sentence.append(token)
            if sentence and (not token or token in _ENDS):
                yield " ".join(sentence).encode() + b"\n"
                sentence = []


def _labelled_documents(members: _Members) -> Iterator[bytes]:
    """Convert movie reviews: `neg/cv000_29416.txt` becomes a line of label, number and text, separated by tabs."""
    for name, content in members:
        path = PurePosixPath(name)
        columns = (path.parent.name.encode(), path.name.partition("_")[0].encode(), b" ".join(content.split()))
        yield b"\t".join(columns) + b"\n"


def _trees(members: _Members) -> Iterator[bytes]:
    """Convert the Penn Treebank: put each tree on its own line, with single spaces."""
    for _, content in members:
        depth = begin = 0
        for bracket in re.finditer(rb"[()]", content):
            if bracket.group() == b"(":
                begin = begin if depth else bracket.start()
                depth += 1
            else:
                depth -= 1
                if not depth:
                    yield b" ".join(content[begin : bracket.end()].split()) + b"\n"


def _drawn_letters(members: _Members) -> Iterator[bytes]:
    """Convert Omniglot's strokes: `Greek/character01/0394_01.txt`, lines of x, y and time, becomes a line of JSON.

    Coordinates are rounded to whole units, of which a picture has 105 per side. In Omniglot y grows upwards; here it
    grows downwards.
    """
    for name, content in members:
        strokes: list[list[tuple[int, int]]] = [[]]
        for line in content.decode().split():
            if line == "BREAK":
                strokes.append([])
            elif line != "START":
                x, y, _ = map(float, line.split(","))
                strokes[-1].append((round(x), round(-y)))
        drawing = {"label": _alphabet(name), "strokes": [stroke for stroke in strokes if stroke]}
        yield json.dumps(drawing, separators=(",", ":")).encode() + b"\n"


def _pictured_letters(members: _Members) -> Iterator[bytes]:
    """Convert Omniglot's pictures, black on white, to one idx file, white on black, a third as wide and high."""
    pictures = []
    for _, content in members:
        with Image.open(BytesIO(content)) as picture:
            ink = 255 - np.asarray(picture.convert("L"))
        height, width = (side // _FINER for side in ink.shape)
        squares = ink.reshape(height, _FINER, width, _FINER)
        pictures.append(squares.mean(axis=(1, 3)).round().astype(np.uint8))
    whole = np.stack(pictures)
    yield bytes([0, 0, 8, 3]) + np.array(whole.shape, ">u4").tobytes() + whole.tobytes()


def _alphabets_of_letters(members: _Members) -> Iterator[bytes]:
    """Yield the alphabet of each of Omniglot's letters, one per line."""
    return (_alphabet(name).encode() + b"\n" for name, _ in members)


def _alphabet(name: str) -> str:
    return PurePosixPath(name).parts[0]


CONVERSIONS: dict[str, Callable[[_Members], Iterator[bytes]]] = {
    "as they are": _as_they_are,
    "words before slashes": _words_before_slashes,
    "tagged sentences": _tagged_sentences,
    "labelled documents": _labelled_documents,
    "trees": _trees,
    "drawn letters": _drawn_letters,
    "pictured letters": _pictured_letters,
    "alphabets of letters": _alphabets_of_letters,
}
