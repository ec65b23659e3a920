"""sketch-rnn's archives of drawings: .npz files with pickled arrays, read so that nothing in them can run.

A member such as `train.npy` is an array of objects, each of them an array (move, 3) of small integers. The objects are
pickled, by Python 2 or by Python 3.
"""

import io
import pickle
import zipfile
from pathlib import Path
from typing import Any

import numpy as np

from regard.base.faults import Fault
from regard.data.pickles import ARRAYS, Admitted, PickledArray, unpickle

LARGEST = 1e6  # a coordinate, counted in units
_MOST_BYTES = 2**28  # of a member; the largest of the sets has 12 MB


def read_archive(path: Path, member: str) -> list[np.ndarray]:
    """The drawings (move, 3) of one member of an archive, such as `train`."""
    try:
        with zipfile.ZipFile(path) as archive, archive.open(f"{member}.npy") as stream:
            content = stream.read(_MOST_BYTES + 1)
    except KeyError:
        raise Fault(f"{path} has no part '{member}'.") from None
    except (zipfile.BadZipFile, NotImplementedError, EOFError) as error:
        raise _damage(path, f"it is not an .npz archive ({error})") from None
    if len(content) > _MOST_BYTES:
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
    whole = unpickle(stream, _ADMITTED)
    if not isinstance(whole, PickledArray) or not isinstance(whole.content, list) or len(whole.content) != shape[0]:
        raise ValueError("it holds something else")
    return [_numbers_of(each) for each in whole.content]


def _numbers_of(array: Any) -> np.ndarray:
    if (
        not isinstance(array, PickledArray)
        or not isinstance(array.content, np.ndarray)
        or array.content.shape[1:] != (3,)
    ):
        raise ValueError("a drawing in it is not a list of moves (dx, dy, pen)")
    moves = array.content
    if not (np.abs(moves) <= LARGEST).all():  # neither is NaN
        raise ValueError(f"a move in it is not a pair of numbers of at most {LARGEST:,.0f}")
    if not np.isin(moves[:, 2], (0, 1)).all():
        raise ValueError("what the pen does is neither 0 nor 1 everywhere in it")
    return moves


def _encode(text: str, encoding: str) -> bytes:
    """Stands for codecs.encode, by which Python 3 writes bytes for older readers."""
    if encoding != "latin1":
        raise pickle.UnpicklingError(f"it asks for the encoding {encoding}")
    return text.encode("latin1")


_ADMITTED: Admitted = {**ARRAYS, ("_codecs", "encode"): _encode}


def _damage(path: Path, why: str) -> Fault:
    return Fault(f"{path} is not an archive of drawings, or it is damaged: {why}.")
