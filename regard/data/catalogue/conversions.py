"""Files of data sets that are made of the members of a public archive: corpora in one file, one sentence a line.

Each conversion takes the members that the catalogue names, sorted by name, and gives the text of the file.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path, PurePosixPath

from regard.data.catalogue.unpack import archive_members

_MOST_BYTES = 1 << 28  # the archive is one that the catalogue knows by its checksum; this bounds a mistake of ours
_ENDS = ("._.", "?_?", "!_!")

_Members = Iterable[tuple[str, bytes]]  # each a path inside the archive's folder, and its content


def make_from_archive(archive: Path, members: str, conversion: str, target: Path) -> None:
    """Write what a conversion makes of those members of an archive whose whole path matches `members`."""
    wanted = re.compile(members)
    contents = {name: stream.read() for name, stream in archive_members(archive, _MOST_BYTES) if wanted.fullmatch(name)}
    with target.open("wb") as file:
        file.writelines(CONVERSIONS[conversion](sorted(contents.items())))


def _as_they_are(members: _Members) -> Iterator[bytes]:
    return (content for _, content in members)


def _words_before_slashes(members: _Members) -> Iterator[bytes]:
    """The Brown corpus: `The/at jury/nn` gives `The jury`; its lines are sentences, with empty ones between."""
    for _, content in members:
        for line in content.splitlines():
            if words := [token.rpartition(b"/")[0] for token in line.split()]:
                yield b" ".join(words) + b"\n"


def _tagged_sentences(members: _Members) -> Iterator[bytes]:
    """Mac-Morpho: one `word_TAG` a line in ISO-8859-1; a sentence ends at an empty line or behind `. ? !`."""
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
    """Movie reviews: `neg/cv000_29416.txt` becomes a line of label, number and text, between tabs."""
    for name, content in members:
        path = PurePosixPath(name)
        columns = (path.parent.name.encode(), path.name.partition("_")[0].encode(), b" ".join(content.split()))
        yield b"\t".join(columns) + b"\n"


def _trees(members: _Members) -> Iterator[bytes]:
    """The Penn Treebank: each tree on a line of its own, its spaces made single."""
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


CONVERSIONS: dict[str, Callable[[_Members], Iterator[bytes]]] = {
    "as they are": _as_they_are,
    "words before slashes": _words_before_slashes,
    "tagged sentences": _tagged_sentences,
    "labelled documents": _labelled_documents,
    "trees": _trees,
}
