"""Arrays as the bytes of a file, .npy and .npz, read without trusting them: nothing in them may be pickled.

numpy makes room for what the head of a file promises, and unpacks whatever an archive holds. Here the bytes come first
and must be there before an array is made of them.
"""

import io
from collections.abc import Mapping
from math import prod

import numpy as np

from regard.data.catalogue.unpack import Unusable, zip_contents

_ENDING = ".npy"
_NUMBERS = "biuf"  # kinds of numpy: truth values, whole numbers and numbers with a fraction
_HEADS = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}


def arrays_to_bytes(arrays: Mapping[str, np.ndarray]) -> bytes:
    """Return the content of an .npz file with these arrays."""
    buffer = io.BytesIO()
    np.savez(buffer, allow_pickle=False, **arrays)
    return buffer.getvalue()


def arrays_in(content: bytes, *names: str) -> dict[str, np.ndarray]:
    """Return the arrays of an .npz file by their names: these, or all. A ValueError says what is wrong with it."""
    try:
        members = zip_contents(io.BytesIO(content), [name + _ENDING for name in names] or None)
    except Unusable as reason:
        raise ValueError(f"it {reason}") from None
    found = {name.removesuffix(_ENDING): array_in(member) for name, member in members.items()}
    if missing := [name for name in names if name not in found]:
        raise ValueError(f"it has no array '{missing[0]}'")
    return {name: found[name] for name in names or found}


def array_in(content: bytes) -> np.ndarray:
    """Return the array of an .npy file. A ValueError says what is wrong with it."""
    stream = io.BytesIO(content)
    try:
        shape, by_columns, kind = read_head(stream)
        if kind.kind not in _NUMBERS:
            raise ValueError("it holds something other than numbers")
        rest = len(content) - stream.tell()
        if prod(shape) * kind.itemsize > rest:
            raise ValueError(f"it promises {prod(shape):,} numbers, but {rest:,} bytes follow")
        flat = np.frombuffer(content, kind, prod(shape), stream.tell()).copy()  # which may be written to
        return flat.reshape(shape, order="F" if by_columns else "C")
    except ValueError:
        raise
    except Exception as error:  # a damaged head is met in many ways
        raise ValueError(f"its head is damaged ({error})") from None


def read_head(stream: io.BytesIO) -> tuple[tuple[int, ...], bool, np.dtype]:
    """Read the head of an .npy file: the shape, whether numbers lie column by column, and their kind."""
    version = np.lib.format.read_magic(stream)
    if version not in _HEADS:
        raise ValueError(f"it is of version {version[0]}.{version[1]} of the format")
    shape, by_columns, kind = _HEADS[version](stream)
    if any(size < 0 for size in shape):
        raise ValueError("an axis of it has fewer than no places")
    return shape, by_columns, kind
