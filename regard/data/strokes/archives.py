"""Read sketch-rnn's archives of drawings: .npz files with pickled arrays, read so that nothing in them can run.

A member such as `train.npy` is an array of objects, each an array (move, 3) of small integers, pickled by Python 2 or
Python 3.
"""

import io
import pickle
from pathlib import Path
from typing import Any

import numpy as np

from regard.base.faults import Fault
from regard.data.arrays import read_head
from regard.data.catalogue.unpack import Unusable, zip_contents
from regard.data.pickles import ARRAYS, Admitted, PickledArray, unpickle

LARGEST = 1e6  # largest coordinate, in
_TIMES_SHARED = 4  # how often bytes of a file may be shared by drawings; honest files share none


def read_archive(path: Path, member: str) -> list[np.ndarray]:
    """Read the drawings (move, 3) of one member of an archive, such as `train`."""
    name = f"{member}.npy"
    try:
        with path.open("rb") as file:
            contents = zip_contents(file, [name])
    except Unusable as reason:
        raise _damage(path, f"it {reason}") from None
    if name not in contents:
        raise Fault(f"{path} has no part '{member}'.")
    try:
        return _read_objects(contents[name])
    except Exception as error:  # a damaged or hostile pickle may raise anything; it runs nothing
        raise _damage(path, str(error).rstrip(".") or type(error).__name__) from None


def _read_objects(content: bytes) -> list[np.ndarray]:
    """Return the arrays in an array of objects, as numpy saves one: a header, then a pickle."""
    stream = io.BytesIO(content)
    shape, _, kind = read_head(stream)
    if kind != np.dtype(object) or len(shape) != 1:
        raise ValueError("it does not hold a list of drawings")
    whole = unpickle(stream.read(), _ADMITTED)
    if not isinstance(whole, PickledArray) or not isinstance(whole.content, list) or len(whole.content) != shape[0]:
        raise ValueError("it holds something else")
    drawings = [_moves_of(array) for array in whole.content]
    if sum(moves.nbytes for moves in drawings) > _TIMES_SHARED * len(content):
        raise ValueError("its drawings share more than an honest file's do")
    return [_check_moves(moves) for moves in drawings]


def _moves_of(array: Any) -> np.ndarray:
    if (
        not isinstance(array, PickledArray)
        or not isinstance(array.content, np.ndarray)
        or array.content.shape[1:] != (3,)
    ):
        raise ValueError("a drawing in it is not a list of moves (dx, dy, pen)")
    return array.content


def _check_moves(moves: np.ndarray) -> np.ndarray:
    if not (np.abs(moves) <= LARGEST).all():  # NaN fails this too
        raise ValueError(f"a move in it is not a pair of numbers of at most {LARGEST:,.0f}")
    if not ((moves[:, 2] == 0) | (moves[:, 2] == 1)).all():
        raise ValueError("a pen value in it is neither 0 nor 1")
    return moves


def _encode(text: str, encoding: str) -> bytes:
    """Stand-in for codecs.encode, which Python 3 uses to write bytes for older readers."""
    if encoding != "latin1":
        raise pickle.UnpicklingError(f"it asks for the encoding {encoding}")
    return text.encode("latin1")


_ADMITTED: Admitted = {**ARRAYS, ("_codecs", "encode"): _encode}


def _damage(path: Path, why: str) -> Fault:
    return Fault(f"{path} is not an archive of drawings, or it is damaged: {why}.")
