"""Networks for weights that lie in a file: to see what a recipe asks for, and to make room for it."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode


class ShapesOnly(TorchFunctionMode):
    """Weights made inside are one number seen from everywhere, and nothing is written into them.

    torch has a device for this, meta, but whatever is computed there imports torch._dynamo, which takes seconds.
    """

    def __torch_function__(
        self,
        func: Callable[..., Any],
        types: Iterable[type],
        args: tuple[Any, ...] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        kwargs = kwargs or {}
        if func is torch.empty:
            return _unmade(*args, **kwargs)
        name = func.__name__
        if name == "__setitem__":
            return None
        if name.endswith("_") and not name.endswith("__"):
            return args[0] if args else kwargs["tensor"]
        return func(*args, **kwargs)


class Unfilled(TorchFunctionMode):
    """Weights made inside have room and no values yet: nothing is drawn for them, which takes longer than all else."""

    def __torch_function__(
        self,
        func: Callable[..., Any],
        types: Iterable[type],
        args: tuple[Any, ...] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        if func.__name__ in _DRAWS:
            return args[0] if args else (kwargs or {})["tensor"]
        return func(*args, **(kwargs or {}))


_DRAWS = frozenset({"normal_", "uniform_", "kaiming_uniform_", "xavier_uniform_", "orthogonal_"})


def _unmade(*size: Any, dtype: torch.dtype | None = None, **others: Any) -> Tensor:
    shape = size[0] if len(size) == 1 and not isinstance(size[0], int) else size
    return torch.zeros((), dtype=dtype).expand(*shape)
