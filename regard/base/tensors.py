"""The heads of safetensors files, looked at before the library makes an object of every tensor that one names.

A file begins with the length of its head in eight bytes; the head is a table in JSON of names, kinds, shapes and
places.
"""

from typing import BinaryIO

from regard.base.faults import Fault
from regard.base.parsing import parse_json

MOST_TENSORS = 50_000  # of a file; 512 layers have some 15,000
_MOST_HEAD = 2**24  # bytes; of so many tensors it has half of that
_LENGTH = 8  # bytes of the number that a file begins with


def read_shapes(file: BinaryIO, name: str) -> dict[str, tuple[int, ...]]:
    """Read the shape of every tensor in a safetensors file; one that names too many or is damaged is refused."""
    length = int.from_bytes(file.read(_LENGTH), "little")
    if not 0 < length <= _MOST_HEAD:
        raise Fault(f"{name} is damaged and does not hold tensors: its head is said to have {length:,} bytes.")
    table = parse_json(file.read(length), f"The head of {name}", _MOST_HEAD)
    if not isinstance(table, dict):
        raise Fault(f"{name} is damaged and does not hold tensors: its head is no table.")
    table.pop("__metadata__", None)
    if len(table) > MOST_TENSORS:
        raise Fault(f"{name} names {len(table):,} tensors, and no model has more than {MOST_TENSORS:,}.")
    try:
        shapes = {tensor: tuple(about["shape"]) for tensor, about in table.items()}
    except (KeyError, TypeError):
        shapes = {"": (-1,)}
    if not all(type(size) is int and size >= 0 for shape in shapes.values() for size in shape):
        raise Fault(f"{name} is damaged and does not hold tensors: its head does not tell the shape of each.")
    return shapes
