"""Read and write .npy and .npz arrays as bytes, without trusting them: nothing pickled is loaded.

numpy allocates whatever a file's header claims and unpacks whatever an archive holds. Here an array is built only once
all of its bytes are present.
"""

import io
from collections.abc import Mapping
from math import prod

import numpy as np

from regard.data.catalogue.unpack import Unusable, zip_contents

_ENDING = ".npy"
_NUMBERS = "biuf"  # numpy's kind letters: booleans, integers and floats
_HEADS = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}


def arrays_to_bytes(arrays: Mapping[str, np.ndarray]) -> bytes:
    """Return the content of an .npz file with these arrays."""
    buffer = io.BytesIO()
    np.savez(buffer, allow_pickle=False, **arrays)
    return buffer.getvalue()


def arrays_in(content: bytes, *names: str) -> dict[str, np.ndarray]:
    """Return the named arrays of an .npz file, or all of them; raise ValueError if the file is unusable."""
    try:
        members = zip_contents(io.BytesIO(content), [name + _ENDING for name in names] or None)
    except Unusable as reason:
        raise ValueError(f"it {reason}") from None
    arrays = {name.removesuffix(_ENDING): array_in(member) for name, member in members.items()}
    if missing := [name for name in names if name not in arrays]:
        raise ValueError(f"it has no array '{missing[0]}'")
    return {name: arrays[name] for name in names or arrays}


def array_in(content: bytes) -> np.ndarray:
    """Return the array of an .npy file; raise ValueError if the file is unusable."""
    stream = io.BytesIO(content)
    try:
        shape, by_columns, kind = read_head(stream)
        if kind.kind not in _NUMBERS:
            raise ValueError("it holds something other than numbers")
        rest = len(content) - stream.tell()
        if prod(shape) * kind.itemsize > rest:
            raise ValueError(f"its header claims {prod(shape):,} numbers, but only {rest:,} bytes follow")
        flat = np.frombuffer(content, kind, prod(shape), stream.tell()).copy()  # the copy is writable
        return flat.reshape(shape, order="F" if by_columns else "C")
    except ValueError:
        raise
    except Exception as error:  # a damaged header fails in many ways
        raise ValueError(f"its header is damaged ({error})") from None


def read_head(stream: io.BytesIO) -> tuple[tuple[int, ...], bool, np.dtype]:
    """Read the header of an .npy file: its shape, True for column-major order, and its dtype."""
    version = np.lib.format.read_magic(stream)
    if version not in _HEADS:
        raise ValueError(f"it uses version {version[0]}.{version[1]} of the format")
    shape, by_columns, kind = _HEADS[version](stream)
    if any(size < 0 for size in shape):
        raise ValueError("one of its axes has a negative size")
    return shape, by_columns, kind
