"""Read weights of other tools tensor by tensor: safetensors, or torch pickles without running any code in them."""

import io
import pickletools
import struct
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import torch
from safetensors import SafetensorError, safe_open
from torch import Tensor

from regard.base.faults import Fault
from regard.base.tensors import read_shapes
from regard.data.catalogue.unpack import Unusable, open_zip

SAFETENSORS, PICKLED = "model.safetensors", "pytorch_model.bin"
_ARCHIVE = b"PK\3\4"  # the prefix by which torch tells its archives from pickles of torch 1.5 and older
_MOST_PICKLED = 2**20  # bytes that list the tensors; a thousand tensors take a tenth of that
# The last bytes of a large archive: end of the list for large files, its position, end of the list.
_TAIL = struct.Struct("<4s36xQQ4s4xQ4x4s8xIIH")
_END = 22  # bytes of the last of the three, with which other archives end
_TIMES_SHARED = 4  # most bytes of all tensors together, per byte of the file
_PICKLES = 5  # at the start of an old file, before the numbers


@dataclass(frozen=True)
class StoredWeights:
    """Weights in a file: their shapes are known, their values are read one by one."""

    path: Path
    shapes: dict[str, tuple[int, ...]]
    _read: Callable[[str], Tensor]

    def __getitem__(self, name: str) -> Tensor:
        """Return one tensor in float32; refuse it if it has NaN or infinity."""
        tensor = self._read(name)
        if tensor.layout != torch.strided or tensor.is_meta or not tensor.is_floating_point():
            raise Fault(f"'{name}' in {self.path} does not hold floating-point numbers but {tensor.dtype}.")
        tensor = tensor.detach().to(torch.float32)
        if tensor.numel() and not all(bound.isfinite() for bound in tensor.aminmax()):  # isfinite() alone copies
            raise Fault(f"'{name}' in {self.path} holds a value that is not a finite number.")
        return tensor

    def expect(self, name: str, shape: tuple[int, ...]) -> None:
        """Refuse weights in which this tensor is missing or has another shape."""
        if name not in self.shapes:
            raise Fault(f"{self.path} has no '{name}', which config.json requires.")
        if self.shapes[name] != shape:
            raise Fault(f"'{name}' in {self.path} has the shape {self.shapes[name]}, but config.json says {shape}.")


@contextmanager
def open_weights(folder: Path) -> Iterator[StoredWeights]:
    """Open the weights in a Hugging Face folder; prefer safetensors."""
    if (folder / SAFETENSORS).is_file():
        with _open_safetensors(folder / SAFETENSORS) as weights:
            yield weights
    elif (folder / PICKLED).is_file():
        yield _unpickle(folder / PICKLED)
    else:
        split = next(folder.glob("*.index.json"), None)
        reason = "; its weights are in several files, but regard reads only one" if split else ""
        raise Fault(f"{folder} has neither {SAFETENSORS} nor {PICKLED}{reason}.")


@contextmanager
def _open_safetensors(path: Path) -> Iterator[StoredWeights]:
    try:
        with path.open("rb") as file:
            shapes = read_shapes(file, str(path))
        opened = safe_open(path, framework="pt")
    except (SafetensorError, OSError) as error:
        raise Fault(f"{path} is damaged: {error}.") from None
    with opened:
        yield StoredWeights(path, shapes, opened.get_tensor)


def _unpickle(path: Path) -> StoredWeights:
    try:
        # A file of torch 1.5 or older is not an archive and cannot be memory-mapped.
        is_archive = _start(path, len(_ARCHIVE)) == _ARCHIVE
        (_check_archive if is_archive else _check_pickles)(path)
        table: Any = torch.load(path, map_location="cpu", weights_only=True, mmap=is_archive)
    except Exception as error:  # a damaged or hostile pickle may raise anything; no code in it runs
        reason = str(error).partition("\n")[0].partition(". ")[0].rstrip(".") or type(error).__name__
        raise Fault(f"{path} is damaged or holds more than weights, so it is not loaded: {reason}.") from None
    if not isinstance(table, dict) or not all(isinstance(k, str) and isinstance(v, Tensor) for k, v in table.items()):
        raise Fault(f"{path} does not hold a table of tensors.")
    # Tensors may share numbers, as tied embeddings do; in a hostile file a few numbers stand for billions.
    if sum(tensor.numel() * tensor.element_size() for tensor in table.values()) > _TIMES_SHARED * path.stat().st_size:
        raise Fault(f"{path} holds tensors that are far larger than the file.")
    return StoredWeights(path, {name: tuple(tensor.shape) for name, tensor in table.items()}, table.__getitem__)


def _start(path: Path, size: int) -> bytes:
    with path.open("rb") as file:
        return file.read(size)


def _check_archive(path: Path) -> None:
    """Refuse an archive that torch has not written; the ValueError says why.

    Torch would read into memory whatever a record unpacks to, and would make many objects from a long pickle. Its own
    archives are not compressed, so no record is larger than the file.
    """
    size = path.stat().st_size
    with path.open("rb") as file:
        _check_list(file, size)
        try:
            with open_zip(file) as archive:
                members = archive.infolist()
        except Unusable as reason:
            raise ValueError(f"it {reason}") from None
    if any(member.compress_type != zipfile.ZIP_STORED for member in members):
        raise ValueError("its records are compressed, and torch's never are")
    if sum(member.file_size for member in members) > size:
        raise ValueError("its records claim to be larger than the file")
    if any(member.file_size > _MOST_PICKLED for member in members if member.filename.endswith(".pkl")):
        raise ValueError("it describes too many tensors")


def _check_list(file: BinaryIO, size: int) -> None:
    """Refuse an archive in which Python and torch might find two different lists of records.

    There must be one list, one record of where it is, and one last record, whose numbers are too small for large files:
    at the very end, without a gap.
    """
    file.seek(max(0, size - _TAIL.size))
    tail = file.read().rjust(_TAIL.size, b"\0")
    _, length64, start64, mark, place64, end, length, start, comment = _TAIL.unpack(tail)
    place = size - _END
    if mark == b"PK\6\7":
        place, length, start = size - _TAIL.size, length64, start64
        if place64 != place:
            raise ValueError("its list of records is not where it should be")
    if end != b"PK\5\6" or comment or start + length != place:
        raise ValueError("it does not end like torch's archives")


def _check_pickles(path: Path) -> None:
    """Refuse an old file whose pickles are longer than necessary; they are parsed but not run."""
    start = io.BytesIO(_start(path, _MOST_PICKLED))
    try:
        for _ in range(_PICKLES):
            for _ in pickletools.genops(start):
                pass
    except ValueError:
        raise ValueError("its pickles do not end where they should") from None
