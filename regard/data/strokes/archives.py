"""sketch-rnn's archives of drawings: .npz files with pickled arrays, read so that nothing in them can run.

A member such as `train.npy` is an array of objects, each of them an array (move, 3) of small integers. The objects are
pickled, by Python 2 or by Python 3, and a pickle may ask for anything: this reader knows the names that such arrays ask
for, gives stand-ins for each, and refuses every other.
"""

import io
import pickle
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from regard.base.faults import Fault

_LARGEST = 2**28  # bytes of a member; the largest of the sets has 12 MB
_NUMBERS = {"i1": np.int8, "i2": np.int16, "i4": np.int32, "i8": np.int64, "f4": np.float32, "f8": np.float64}


def read_archive(path: Path, member: str) -> list[np.ndarray]:
    """The drawings (move, 3) of one member of an archive, such as `train`."""
    try:
        with zipfile.ZipFile(path) as archive, archive.open(f"{member}.npy") as stream:
            content = stream.read(_LARGEST + 1)
    except KeyError:
        raise Fault(f"{path} has no part '{member}'.") from None
    except (zipfile.BadZipFile, NotImplementedError, EOFError) as error:
        raise _damage(path, f"it is no .npz archive ({error})") from None
    if len(content) > _LARGEST:
        raise _damage(path, "it is far too large")
    try:
        return _read_objects(content)
    except Exception as error:  # a damaged or hostile pickle may raise anything; it runs nothing
        raise _damage(path, str(error).rstrip(".") or type(error).__name__) from None


def _read_objects(content: bytes) -> list[np.ndarray]:
    """The arrays in an array of objects, as numpy saves one: a header, then a pickle."""
    stream = io.BytesIO(content)
    readers = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}
    shape, _, kind = readers[np.lib.format.read_magic(stream)](stream)
    if kind != np.dtype(object) or len(shape) != 1:
        raise ValueError("it holds no list of drawings")
    whole = _Unpickler(stream, encoding="latin1").load()
    if not isinstance(whole, _Array) or not isinstance(whole.content, list) or len(whole.content) != shape[0]:
        raise ValueError("it holds something else")
    return [_numbers_of(each) for each in whole.content]


def _numbers_of(array: Any) -> np.ndarray:
    if not isinstance(array, _Array) or not isinstance(array.content, np.ndarray) or array.content.shape[1:] != (3,):
        raise ValueError("a drawing in it is no list of moves (dx, dy, pen)")
    return array.content


class _Kind:
    """Stands for numpy.dtype: the letters of a type and, from its state, the order of its bytes."""

    def __init__(self, letters: Any, *flags: Any) -> None:
        self.letters, self.is_swapped = str(letters), False

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        self.is_swapped = state[1] == ">"

    @property
    def as_numpy(self) -> np.dtype:
        return np.dtype(_NUMBERS[self.letters]).newbyteorder(">" if self.is_swapped else "<")


class _Array:
    """Stands for numpy.ndarray: numbers of some shape, or a list of objects."""

    content: np.ndarray | list[Any] | None = None

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        _, shape, kind, by_columns, content = state
        if kind.letters == "O8":
            self.content = list(content)
        else:
            raw = content.encode("latin1") if isinstance(content, str) else content
            found = np.frombuffer(raw, kind.as_numpy)
            self.content = found.reshape(shape, order="F" if by_columns else "C")


def _begin_array(kind: Any, shape: Any, letter: Any) -> _Array:
    """Stands for numpy's function that makes an empty array, to be filled by what follows in the pickle."""
    return _Array()


def _encode(text: str, encoding: str) -> bytes:
    """Stands for codecs.encode, by which Python 3 writes bytes for older readers."""
    if encoding != "latin1":
        raise pickle.UnpicklingError(f"it asks for the encoding {encoding}")
    return text.encode("latin1")


_ADMITTED: dict[tuple[str, str], Callable[..., Any]] = {
    ("numpy.core.multiarray", "_reconstruct"): _begin_array,
    ("numpy._core.multiarray", "_reconstruct"): _begin_array,
    ("numpy", "ndarray"): _Array,
    ("numpy", "dtype"): _Kind,
    ("_codecs", "encode"): _encode,
}


class _Unpickler(pickle.Unpickler):
    """Knows the names that arrays of arrays ask for and no others."""

    def find_class(self, module: str, name: str) -> Any:
        if (module, name) not in _ADMITTED:
            raise pickle.UnpicklingError(f"it asks for {module}.{name}, which is not admitted")
        return _ADMITTED[module, name]


def _damage(path: Path, why: str) -> Fault:
    return Fault(f"{path} is no archive of drawings, or a damaged one: {why}.")
