"""Check the headers of safetensors files before the library creates an object for every tensor they name.

A file begins with the length of its header in eight bytes; the header is a JSON table of names, types, shapes and
offsets.
"""

from typing import BinaryIO

from regard.base.faults import Fault
from regard.base.parsing import parse_json

MOST_TENSORS = 50_000  # most tensors in a file; 512 layers have about 15,000
_MOST_HEAD = 2**24  # bytes; that many tensors need half of it
_LENGTH = 8  # bytes of the length at the start of a file


def read_shapes(file: BinaryIO, name: str) -> dict[str, tuple[int, ...]]:
    """Read the shape of every tensor in a safetensors file; refuse a damaged one or one with too many tensors."""
    length = int.from_bytes(file.read(_LENGTH), "little")
    if not 0 < length <= _MOST_HEAD:
        raise Fault(f"{name} is damaged and does not hold tensors: its header claims to have {length:,} bytes.")
    table = parse_json(file.read(length), f"The header of {name}", _MOST_HEAD)
    if not isinstance(table, dict):
        raise Fault(f"{name} is damaged and does not hold tensors: its header is not a table.")
    table.pop("__metadata__", None)
    if len(table) > MOST_TENSORS:
        raise Fault(f"{name} names {len(table):,} tensors, but a model may have at most {MOST_TENSORS:,}.")
    try:
        shapes = {tensor: tuple(about["shape"]) for tensor, about in table.items()}
    except (KeyError, TypeError):
        shapes = {"": (-1,)}
    if not all(type(size) is int and size >= 0 for shape in shapes.values() for size in shape):
        raise Fault(f"{name} is damaged and does not hold tensors: its header does not give the shape of each.")
    return shapes
