"""The tables of a transformers folder, and writing weights as safetensors."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, BinaryIO

import torch
from torch import Tensor

from regard.base.faults import Fault
from regard.base.files import read_bounded
from regard.base.parsing import MOST_LISTED, parse_json

CONFIG, GENERATION, TOKENISER = "config.json", "generation_config.json", "tokenizer_config.json"

_MOST_LINES = 2**20  # in a vocabulary; the largest have a quarter of that
Shape = tuple[int, ...]


def read_json(path: Path) -> dict[str, Any]:
    """Read the table in a JSON file, without null values."""
    table = parse_json(read_bounded(path, MOST_LISTED), str(path), MOST_LISTED)
    if not isinstance(table, dict):
        raise Fault(f"{path} is damaged: it does not hold a table.")
    return {name: value for name, value in table.items() if value is not None}


def read_listed(path: Path) -> list[str]:
    """Read the lines of a vocabulary, or of its merges."""
    content = read_bounded(path, MOST_LISTED)
    if content.count(b"\n") > _MOST_LINES:
        raise Fault(f"{path} has more than {_MOST_LINES:,} lines, more than any vocabulary needs.")
    try:
        text = content.decode()
    except UnicodeDecodeError as error:
        raise Fault(f"{path} is not UTF-8 text: {error.reason} at byte {error.start}.") from None
    return [line.removesuffix("\r") for line in text.removesuffix("\n").split("\n")]


def read_config_of(folder: Path, kind: str) -> dict[str, Any]:
    """Read the `config.json` of a model of this kind; refuse other kinds."""
    if not folder.is_dir():
        raise Fault(f"There is no folder {folder}.")
    if not (folder / CONFIG).is_file():
        raise Fault(f"{folder} is not a Hugging Face model folder: it has no {CONFIG}.")
    table = read_json(folder / CONFIG)
    if (model_type := table.get("model_type")) != kind:
        raise Fault(f"{folder / CONFIG} describes a model of type {model_type!r}; only {kind!r} can be imported here.")
    return table


def to_json(table: Mapping[str, Any]) -> bytes:
    """Return a table as JSON in the format of such folders."""
    return (json.dumps(table, indent=2, ensure_ascii=False) + "\n").encode()


def write_tensors(
    file: BinaryIO, shapes: Mapping[str, Shape], tensor: Callable[[str], Tensor], metadata: Mapping[str, str] | None
) -> None:
    """Write float32 tensors as safetensors, each made in its turn, so that memory never holds a second copy of all.

    The bytes are those that the safetensors library would write.
    """
    header: dict[str, object] = {} if metadata is None else {"__metadata__": dict(metadata)}
    end = 0
    for name in sorted(shapes):
        start, end = end, end + 4 * torch.Size(shapes[name]).numel()
        header[name] = {"dtype": "F32", "shape": list(shapes[name]), "data_offsets": [start, end]}
    text = json.dumps(header, separators=(",", ":"), ensure_ascii=False).encode()
    text += b" " * (-len(text) % 8)
    file.write(len(text).to_bytes(8, "little") + text)
    for name in sorted(shapes):
        values = tensor(name).detach().to("cpu", torch.float32)
        if values.shape != shapes[name]:
            raise ValueError(f"{name} has the shape {tuple(values.shape)}, but {shapes[name]} was announced")
        file.write(values.contiguous().numpy().astype("<f4", copy=False).data)
