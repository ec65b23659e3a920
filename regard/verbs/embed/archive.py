"""The file of vectors: an .npz for numpy, written as the vectors arrive, however many there are.

Its arrays hold all lines one after another. `tokens` and `words` are texts, and `word_of_token` gives the word of each
token. Line i has the tokens from token_offsets[i] to token_offsets[i + 1], and its words likewise. For each of the
`layers` there are `tokens_N` (token, width) and `sentences_N` (line, width), the means of the lines.
"""

import shutil
from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from itertools import islice
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO
from zipfile import ZipFile, ZipInfo

import numpy as np

from regard.base.faults import Fault
from regard.base.files import whole_file
from regard.protocols import TextVectors

LONGEST_TEXT = 256  # letters kept of a token or word: numpy gives every text of an array the same room
_AT_ONCE = 2**16  # texts that are written together
_NO_TIME = (1980, 1, 1, 0, 0, 0)  # so that the same vectors make the same file


def write_vectors(path: Path, texts: Iterable[TextVectors]) -> int:
    """Write the vectors of all texts, taken one by one, and return the number of tokens.

    Each array grows in its own temporary file; in the end they are joined into one archive.
    """
    with whole_file(path) as file, ExitStack() as files:
        arrays = _Arrays(path.resolve().parent, files)
        for text in texts:
            arrays.add(text)
        if not arrays.tokens.rows:
            raise Fault("There is no text to embed; give a line that is not blank.")
        with ZipFile(file, "w") as archive:
            for name, array in arrays.by_name().items():
                with archive.open(ZipInfo(f"{name}.npy", _NO_TIME), "w", force_zip64=True) as member:
                    array.write(member)
        return arrays.tokens.rows


class _Numbers:
    """An array of numbers or vectors that grows in a file."""

    def __init__(self, file: IO[bytes], kind: type[np.generic] = np.int64) -> None:
        self.file, self.kind, self.rows, self.width = file, np.dtype(kind), 0, ()

    def append(self, rows: np.ndarray) -> None:
        self.file.write(np.ascontiguousarray(rows, self.kind).tobytes())
        self.rows, self.width = self.rows + len(rows), rows.shape[1:]

    def write(self, out: IO[bytes]) -> None:
        _write_head(out, self.kind, (self.rows, *self.width))
        self.file.seek(0)
        shutil.copyfileobj(self.file, out)


class _Texts:
    """An array of short texts that grows in a file, one line each."""

    def __init__(self, file: IO[bytes]) -> None:
        self.file, self.rows, self.longest = file, 0, 1

    def append(self, texts: Sequence[str]) -> None:
        for text in texts:
            shortened = text if len(text) <= LONGEST_TEXT else f"{text[: LONGEST_TEXT - 1]}…"
            self.file.write(f"{shortened}\n".encode())
            self.rows, self.longest = self.rows + 1, max(self.longest, len(shortened))

    def write(self, out: IO[bytes]) -> None:
        kind = np.dtype(f"<U{self.longest}")
        _write_head(out, kind, (self.rows,))
        self.file.seek(0)
        while lines := list(islice(self.file, _AT_ONCE)):
            out.write(np.array([line[:-1].decode() for line in lines], kind).tobytes())


def _write_head(out: IO[bytes], kind: np.dtype, shape: tuple[int, ...]) -> None:
    head = {"descr": np.lib.format.dtype_to_descr(kind), "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(out, head)


class _Arrays:
    """All arrays of the archive."""

    def __init__(self, folder: Path, files: ExitStack) -> None:
        self._folder, self._files = folder, files
        self.tokens, self.words = _Texts(self._new_file()), _Texts(self._new_file())
        self.word_of_token = _Numbers(self._new_file())
        self.token_offsets, self.word_offsets = _Numbers(self._new_file()), _Numbers(self._new_file())
        self.vectors: dict[str, _Numbers] = {}
        self.layers: list[int] = []
        self._note_offsets()

    def _new_file(self) -> IO[bytes]:
        return self._files.enter_context(TemporaryFile(dir=self._folder))

    def _note_offsets(self) -> None:
        self.token_offsets.append(np.array([self.tokens.rows]))
        self.word_offsets.append(np.array([self.words.rows]))

    def add(self, vectors: TextVectors) -> None:
        """Add the vectors of one line."""
        self.word_of_token.append(np.array(vectors.text.places, np.int64) + self.words.rows)
        self.tokens.append(vectors.text.tokens)
        self.words.append(vectors.text.words)
        self._note_offsets()
        self.layers, means = list(vectors.layers), vectors.sentence
        for layer, states in vectors.layers.items():
            for name, rows in ((f"tokens_{layer}", states), (f"sentences_{layer}", means[layer][None])):
                if name not in self.vectors:
                    self.vectors[name] = _Numbers(self._new_file(), np.float32)
                self.vectors[name].append(rows.float().numpy())

    def by_name(self) -> dict[str, _Numbers | _Texts]:
        layers = _Numbers(self._new_file())
        layers.append(np.array(self.layers))
        return {
            "tokens": self.tokens,
            "words": self.words,
            "word_of_token": self.word_of_token,
            "token_offsets": self.token_offsets,
            "word_offsets": self.word_offsets,
            "layers": layers,
            **self.vectors,
        }
