"""Networks for weights that lie in a file: to see what a recipe asks for, and to make room for it."""

import os
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import torch
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

from regard.base.faults import Fault


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
            return self.instead(args[0] if args else (kwargs or {})["tensor"])
        return func(*args, **(kwargs or {}))

    def instead(self, weight: Tensor) -> Tensor:
        """What a weight is that would have been drawn."""
        return weight


class AllAlike(Unfilled):
    """Weights made inside are one small number, all of them: enough to see how a model computes, and soon there."""

    @torch.no_grad()
    def instead(self, weight: Tensor) -> Tensor:
        return weight.fill_(0.01)


_DRAWS = frozenset({"normal_", "uniform_", "kaiming_uniform_", "xavier_uniform_", "orthogonal_"})


def _unmade(*size: Any, dtype: torch.dtype | None = None, **others: Any) -> Tensor:
    shape = size[0] if len(size) == 1 and not isinstance(size[0], int) else size
    return torch.zeros((), dtype=dtype).expand(*shape)


def refuse_too_large(module: nn.Module) -> None:
    """Refuse a network of which the weights alone would fill the memory of this machine."""
    parameters = sum(parameter.numel() for parameter in module.parameters())
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    if parameters * torch.float32.itemsize > memory:
        raise Fault(
            f"The model would have {parameters:,} parameters, which take {parameters * 4 / 2**30:,.0f} GiB, and this "
            f"machine has {memory / 2**30:,.0f} GiB of memory; make model.width or the number of layers smaller."
        )
