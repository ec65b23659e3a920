"""Weights of other tools, tensor by tensor: safetensors, or torch's pickles, read so that no code in them can run."""

import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from torch import Tensor

from regard.faults import Fault

SAFETENSORS, PICKLED = "model.safetensors", "pytorch_model.bin"


@dataclass(frozen=True)
class StoredWeights:
    """Weights that lie in a file, their shapes known, their values read one by one."""

    path: Path
    shapes: dict[str, tuple[int, ...]]
    _read: Callable[[str], Tensor]

    def __getitem__(self, name: str) -> Tensor:
        """One tensor in float32; what is not made of finite numbers is refused."""
        tensor = self._read(name)
        if tensor.layout != torch.strided or tensor.is_meta or not tensor.is_floating_point():
            raise Fault(f"'{name}' in {self.path} is not made of plain numbers with a fraction, but of {tensor.dtype}.")
        tensor = tensor.detach().to(torch.float32)
        if tensor.numel() and not all(bound.isfinite() for bound in tensor.aminmax()):  # isfinite() alone makes a copy
            raise Fault(f"'{name}' in {self.path} holds what is not a finite number.")
        return tensor

    def expect(self, name: str, shape: tuple[int, ...]) -> None:
        """Refuse weights in which this tensor is missing or of another shape."""
        if name not in self.shapes:
            raise Fault(f"{self.path} has no '{name}', which config.json asks for.")
        if self.shapes[name] != shape:
            raise Fault(f"'{name}' in {self.path} is of shape {self.shapes[name]}, but config.json says {shape}.")


@contextmanager
def open_weights(folder: Path) -> Iterator[StoredWeights]:
    """The weights in a Hugging Face folder; safetensors, where there are both."""
    if (folder / SAFETENSORS).is_file():
        with _open_safetensors(folder / SAFETENSORS) as weights:
            yield weights
    elif (folder / PICKLED).is_file():
        yield _unpickled(folder / PICKLED)
    else:
        split = next(folder.glob("*.index.json"), None)
        reason = "; its weights are in several files, and regard reads one" if split else ""
        raise Fault(f"{folder} has neither {SAFETENSORS} nor {PICKLED}{reason}.")


@contextmanager
def _open_safetensors(path: Path) -> Iterator[StoredWeights]:
    try:
        opened = safe_open(path, framework="pt")
        names = opened.keys()
        shapes = {name: tuple(opened.get_slice(name).get_shape()) for name in names}
    except (SafetensorError, OSError) as error:
        raise Fault(f"{path} is damaged: {error}.") from None
    with opened:
        yield StoredWeights(path, shapes, opened.get_tensor)


def _unpickled(path: Path) -> StoredWeights:
    try:
        # A file of torch 1.5 or older is no archive and cannot be mapped into memory.
        table: Any = torch.load(path, map_location="cpu", weights_only=True, mmap=zipfile.is_zipfile(path))
    except Exception as error:  # a damaged or hostile pickle may raise anything; it runs nothing
        reason = str(error).partition("\n")[0].partition(". ")[0].rstrip(".") or type(error).__name__
        raise Fault(f"{path} is damaged, or holds more than weights and is not loaded: {reason}.") from None
    if not isinstance(table, dict) or not all(isinstance(k, str) and isinstance(v, Tensor) for k, v in table.items()):
        raise Fault(f"{path} does not hold a table of tensors.")
    return StoredWeights(path, {name: tuple(tensor.shape) for name, tensor in table.items()}, table.__getitem__)
