"""Arrays out of pickles that need not be trusted: nothing of numpy is called, and nothing in them can run.

A pickle may ask for anything by its name. What reads one here admits the names that it is given, with a stand-in for
each that only takes in what is described, and refuses every other.
"""

import pickle
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, BinaryIO

import numpy as np

Admitted = Mapping[tuple[str, str], Callable[..., Any]]

_NUMBERS = {"i1": np.int8, "i2": np.int16, "i4": np.int32, "i8": np.int64, "f4": np.float32, "f8": np.float64}


class PickledKind:
    """Stands for numpy.dtype: which numbers an array holds, and the order of their bytes."""

    def __init__(self, letters: Any, *flags: Any) -> None:
        self.letters, self.byte_order = str(letters), ""

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        self.byte_order = state[1]

    @property
    def as_numpy(self) -> np.dtype:
        if self.letters not in _NUMBERS:
            raise pickle.UnpicklingError("an array of something other than plain numbers")
        return np.dtype(_NUMBERS[self.letters]).newbyteorder(">" if self.byte_order == ">" else "<")


class PickledArray:
    """Stands for numpy.ndarray: numbers of some shape, or a list of objects."""

    content: np.ndarray | list[Any] | None = None

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        _, shape, kind, by_columns, content = state
        if not isinstance(kind, PickledKind):
            raise pickle.UnpicklingError("an array whose kind is not told")
        if kind.letters == "O8":
            self.content = list(content)
        else:
            raw = content.encode("latin1") if isinstance(content, str) else content
            self.content = np.frombuffer(raw, kind.as_numpy).reshape(shape, order="F" if by_columns else "C")


def _begin_array(kind: Any, shape: Any, letter: Any) -> PickledArray:
    """Stands for numpy's function that makes an empty array, to be filled by what follows in the pickle."""
    return PickledArray()


ARRAYS: Admitted = MappingProxyType(
    {
        ("numpy.core.multiarray", "_reconstruct"): _begin_array,
        ("numpy._core.multiarray", "_reconstruct"): _begin_array,
        ("numpy", "ndarray"): PickledArray,
        ("numpy", "dtype"): PickledKind,
    }
)


class _Unpickler(pickle.Unpickler):
    def __init__(self, stream: BinaryIO, admitted: Admitted) -> None:
        super().__init__(stream, fix_imports=False, encoding="latin1")
        self._admitted = admitted

    def find_class(self, module: str, name: str) -> Any:
        if (module, name) not in self._admitted:
            raise pickle.UnpicklingError(f"it asks for {module}.{name}, which is not admitted")
        return self._admitted[module, name]


def unpickle(stream: BinaryIO, admitted: Admitted) -> Any:
    """What a pickle of Python 2 or 3 holds; a damaged or hostile one may raise anything, and runs nothing."""
    return _Unpickler(stream, admitted).load()
